// Nodes that show their child from elsewhere: parts, mirrored, turned, of other pixels.
#include <cmath>
#include <string>

#include "fathom/core/error.h"
#include "fathom/stream/nodes.h"
#include "stream/operation.h"
#include "stream/period.h"
#include "stream/pixels.h"
#include "stream/reduce.h"

namespace fathom::stream {

namespace {

class Crop final : public Reduction<Crop> {
 public:
  static constexpr auto kRoles = roles::kData;

  Crop(const NodeRef& data, const Rectangle& part)
      : Reduction("crop", {part.height(), part.width(), data->dtype(), data->pixel()}, {{data, Role::data}}),
        part_(part) {
    if (part.empty() || !data->whole().contains(part))
      throw InvalidArgument("'crop' reaches beyond its child of " + to_string(data->whole().shape()) + " pixels");
  }
  std::string_view type() const override { return "crop"; }
  void describe(Description& to) const override {
    to.whole("y", part_.y0);
    to.whole("x", part_.x0);
    to.whole("height", height());
    to.whole("width", width());
  }
  Rectangle need(std::size_t, const Rectangle& part) const override { return part.moved(part_.y0, part_.x0); }
  Size largest_need(std::size_t, Size part) const override { return part; }
  double bound() const override { return children()[0].node->bound(); }
  std::optional<Period> period() const override {
    return within(moved(children()[0].node->period(), -part_.y0, -part_.x0), whole());
  }
  std::shared_ptr<const Operation> operation() const override {
    return make_operation(operation::Look{.y = part_.y0, .x = part_.x0});
  }

  struct Work {
    std::optional<double> constant;
  };
  Work begin(const Step&) const { return {}; }
  void reduce(As<Role::data>, std::size_t child, Work& work, const Step& step) const {
    work.constant = step.children.fetch_into(*children()[child].node, need(child, step.part), step.out);
  }
  std::optional<double> end(Work& work, const Step&) const { return work.constant; }

 private:
  Rectangle part_;
};

/// Mirrored and turned: pixel (y, x) is the child's (a, b), or (b, a), each counted from the front or from the end.
struct Symmetry {
  bool transposed = false, rows_reversed = false, columns_reversed = false;  ///< of the child's rows and columns
};

class Mirrored final : public Reduction<Mirrored> {
 public:
  static constexpr auto kRoles = roles::kData;

  /// @param type  "flip" or "rotate"
  Mirrored(const NodeRef& data, std::string_view type, Symmetry how)
      : Reduction(type,
                  {how.transposed ? data->width() : data->height(), how.transposed ? data->height() : data->width(),
                   data->dtype(), data->pixel()},
                  {{data, Role::data}}),
        type_(type),
        how_(how) {}
  std::string_view type() const override { return type_; }
  void describe(Description& to) const override {
    if (type_ == "rotate") {
      to.whole("quarters", how_.transposed ? (how_.columns_reversed ? 1 : 3) : 2);
    } else {
      to.truth("rows", how_.rows_reversed);
      to.truth("columns", how_.columns_reversed);
    }
  }
  Rectangle need(std::size_t, const Rectangle& part) const override {
    const Node& data = *children()[0].node;
    Rectangle from = how_.transposed ? Rectangle{part.x0, part.y0, part.x1, part.y1} : part;
    if (how_.rows_reversed) from = {data.height() - from.y1, from.x0, data.height() - from.y0, from.x1};
    if (how_.columns_reversed) from = {from.y0, data.width() - from.x1, from.y1, data.width() - from.x0};
    return from;
  }
  Size largest_need(std::size_t, Size part) const override {
    return how_.transposed ? Size{part.width, part.height} : part;
  }
  double bound() const override { return children()[0].node->bound(); }
  std::optional<Period> period() const override {
    const auto of = children()[0].node->period();
    if (!of || (how_.transposed && of->skew != 0)) return std::nullopt;
    Period period = *of;
    if (how_.transposed) std::swap(period.height, period.width);
    if (how_.rows_reversed != how_.columns_reversed) period.skew = (period.width - period.skew) % period.width;
    period.region = back(of->region);
    return period;
  }
  std::shared_ptr<const Operation> operation() const override {
    operation::Look look{.transposed = how_.transposed};
    if (how_.rows_reversed) look.y = children()[0].node->height() - 1, look.row_step = -1;
    if (how_.columns_reversed) look.x = children()[0].node->width() - 1, look.column_step = -1;
    return make_operation(look);
  }

  struct Work {
    std::optional<double> constant;
  };
  Work begin(const Step&) const { return {}; }
  void reduce(As<Role::data>, std::size_t child, Work& work, const Step& step) const {
    const Pixels pixels = step.children.fetch(*children()[child].node, need(child, step.part));
    work.constant = pixels.constant;
    if (!pixels.constant)
      visit_element(dtype(), [&](auto tag) { arrange<typename decltype(tag)::type>(pixels.view, step.out); });
  }
  std::optional<double> end(Work& work, const Step&) const { return work.constant; }

 private:
  /// Of a rectangle of the child: where it is seen.
  Rectangle back(Rectangle from) const {
    const Node& data = *children()[0].node;
    if (how_.rows_reversed) from = {data.height() - from.y1, from.x0, data.height() - from.y0, from.x1};
    if (how_.columns_reversed) from = {from.y0, data.width() - from.x1, from.y1, data.width() - from.x0};
    return how_.transposed ? Rectangle{from.x0, from.y0, from.x1, from.y1} : from;
  }

  template <class T>
  void arrange(const AnyConstView& from, const AnyView& to) const {
    const Rows<const T> source(from);
    const Rows<T> out(to);
    for (std::int64_t y = 0; y < source.height; ++y) {
      const std::int64_t row = how_.rows_reversed ? source.height - 1 - y : y;
      for (std::int64_t x = 0; x < source.width; ++x) {
        const std::int64_t column = how_.columns_reversed ? source.width - 1 - x : x;
        (how_.transposed ? out[column][row] : out[row][column]) = source[y][x];
      }
    }
  }

  std::string_view type_;
  Symmetry how_;
};

/// Pixels of another size: each takes the value of the one in which its middle lies.
class Resample final : public Reduction<Resample> {
 public:
  static constexpr auto kRoles = roles::kData;

  Resample(const NodeRef& data, PixelSize pixel)
      : Reduction("resample", extent_of(*data, pixel), {{data, Role::data}}), ratio_(pixel.size / data->pixel().size) {}
  std::string_view type() const override { return "resample"; }
  void describe(Description& to) const override {
    to.number("pixel", pixel().size);
    to.text("unit", pixel().unit);
  }
  Rectangle need(std::size_t, const Rectangle& part) const override {
    const Node& data = *children()[0].node;
    return {at(part.y0, data.height()), at(part.x0, data.width()), at(part.y1 - 1, data.height()) + 1,
            at(part.x1 - 1, data.width()) + 1};
  }
  Size largest_need(std::size_t, Size part) const override {
    const Node& data = *children()[0].node;
    const auto reach = [&](std::int64_t count, std::int64_t most) {
      const double reached = std::ceil(static_cast<double>(count) * ratio_) + 2;
      return static_cast<std::int64_t>(std::min(static_cast<double>(most), reached));
    };
    return {reach(part.height, data.height()), reach(part.width, data.width())};
  }
  double bound() const override { return children()[0].node->bound(); }
  std::shared_ptr<const Operation> operation() const override {
    return make_operation(operation::Look{.ratio = ratio_});
  }

  struct Work {
    std::optional<double> constant;
  };
  Work begin(const Step&) const { return {}; }
  void reduce(As<Role::data>, std::size_t child, Work& work, const Step& step) const {
    const Rectangle from = need(child, step.part);
    const Pixels pixels = step.children.fetch(*children()[child].node, from);
    work.constant = pixels.constant;
    if (!pixels.constant)
      visit_element(dtype(), [&](auto tag) { pick<typename decltype(tag)::type>(pixels.view, from, step); });
  }
  std::optional<double> end(Work& work, const Step&) const { return work.constant; }

 private:
  static Extent extent_of(const Node& data, const PixelSize& pixel) {
    if (!(pixel.size > 0) || !std::isfinite(pixel.size))
      throw InvalidArgument("the size of a pixel is not finite or not above 0");
    if (pixel.unit != data.pixel().unit)
      throw InvalidArgument("'resample' is to pixels in '" + pixel.unit + "', its child has them in '" +
                            data.pixel().unit + "'; give both in one unit");
    const auto count = [&](std::int64_t pixels) {
      const double size = static_cast<double>(pixels) * data.pixel().size / pixel.size;
      return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::llround(std::min(size, 1e18))));
    };
    return {count(data.height()), count(data.width()), data.dtype(), pixel};
  }
  std::int64_t at(std::int64_t i, std::int64_t most) const {
    const double middle = (static_cast<double>(i) + 0.5) * ratio_;  // of huge pixels beyond all integers
    return static_cast<std::int64_t>(std::min(static_cast<double>(most - 1), middle));
  }
  template <class T>
  void pick(const AnyConstView& pixels, const Rectangle& from, const Step& step) const {
    const Node& data = *children()[0].node;
    const Rows<const T> source(pixels);
    const Rows<T> out(step.out);
    for (std::int64_t y = 0; y < out.height; ++y) {
      const T* const row = source[at(step.part.y0 + y, data.height()) - from.y0];
      for (std::int64_t x = 0; x < out.width; ++x) out[y][x] = row[at(step.part.x0 + x, data.width()) - from.x0];
    }
  }

  double ratio_;
};

NodeRef present(NodeRef node, const char* type) {
  if (!node) throw InvalidArgument("'" + std::string(type) + "' has no child");
  return node;
}

}  // namespace

NodeRef crop(NodeRef data, const Rectangle& part) {
  return std::make_shared<Crop>(present(std::move(data), "crop"), part);
}

NodeRef flip(NodeRef data, bool rows, bool columns) {
  return std::make_shared<Mirrored>(present(std::move(data), "flip"), "flip", Symmetry{false, rows, columns});
}

NodeRef rotate(NodeRef data, int quarters) {
  data = present(std::move(data), "rotate");
  const auto turns = modulo(quarters, 4);
  if (turns == 0) return data;
  return std::make_shared<Mirrored>(data, "rotate", Symmetry{turns != 2, turns == 2 || turns == 3, turns != 3});
}

NodeRef resample(NodeRef data, PixelSize pixel) {
  return std::make_shared<Resample>(present(std::move(data), "resample"), std::move(pixel));
}

}  // namespace fathom::stream
