// Nodes that compute each pixel from those of their children at the same place: masks, thresholds, expressions, dither.
#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <string>

#include "fathom/core/error.h"
#include "fathom/stream/nodes.h"
#include "stream/expression.h"
#include "stream/operation.h"
#include "stream/pointwise.h"

namespace fathom::stream {

namespace {

class Mask final : public Pointwise<Mask> {
 public:
  static constexpr std::array kRoles{RoleRule{Role::mask}, RoleRule{Role::data}};

  Mask(const NodeRef& data, Child mask, double background)
      : Pointwise("mask", data->dtype(), {{data, Role::data}, std::move(mask)}), background_(background) {
    if (saturated(background, dtype()) != background && dtype() != DType::float32)
      throw InvalidArgument("the background of 'mask' is no value of " + std::string(name_of(dtype())));
  }
  std::string_view type() const override { return "mask"; }
  void describe(Description& to) const override { to.number("background", background_); }
  std::size_t scratch_bytes(Size part) const override { return padding_bytes(part); }
  double bound() const override { return std::max(children()[0].node->bound(), background_); }
  std::shared_ptr<const Operation> operation() const override { return make_operation(operation::Masked{background_}); }

  struct Work {
    Pixels mask;
    std::optional<double> constant;
  };
  Work begin(const Step&) const { return {}; }
  void reduce(As<Role::mask>, std::size_t child, Work& work, const Step& step) const { work.mask = fetch(child, step); }
  /// Where the mask has nothing the data are not computed.
  void reduce(As<Role::data>, std::size_t child, Work& work, const Step& step) const {
    if (work.mask.constant && *work.mask.constant == 0) {
      work.constant = background_;
      return;
    }
    const auto value = step.children.fetch_into(*children()[child].node, step.part, step.out);
    if (work.mask.constant || (value && is_same(*value, background_))) {
      work.constant = value;
      return;
    }
    if (value) fill(step.out, *value);
    visit_element(work.mask.view.dtype(), [&](auto of_mask) {
      visit_element(dtype(), [&](auto of_data) {
        using T = typename decltype(of_data)::type;
        const Rows<T> out(step.out);
        const T background = static_cast<T>(background_);
        for_pixels<typename decltype(of_mask)::type>(work.mask.view, [&](std::int64_t y, std::int64_t x, auto in) {
          out[y][x] = in != 0 ? out[y][x] : background;
        });
      });
    });
  }
  std::optional<double> end(Work& work, const Step&) const { return work.constant; }

 private:
  double background_;
};

/// Nodes of one child whose value decides alone: a table of its 256 or 65,536 values, or a function.
template <class N>
class OfOne : public Pointwise<N> {
 public:
  static constexpr std::array kRoles{RoleRule{Role::data}};
  using Step = typename Pointwise<N>::Step;

  struct Work {
    std::optional<double> constant;
  };
  Work begin(const Step&) const { return {}; }
  void reduce(As<Role::data>, std::size_t child, Work& work, const Step& step) const {
    const N& node = static_cast<const N&>(*this);
    const Pixels pixels = this->fetch(child, step);
    if (pixels.constant) {
      work.constant = node.value_at(*pixels.constant);
      return;
    }
    node.map(pixels.view, step);
  }
  std::optional<double> end(Work& work, const Step&) const { return work.constant; }

 protected:
  OfOne(std::string_view type, DType dtype, NodeRef data)
      : Pointwise<N>(type, dtype, {{std::move(data), Role::data}}) {}
};

class Threshold final : public OfOne<Threshold> {
 public:
  Threshold(NodeRef data, double value, bool above)
      : OfOne("threshold", DType::boolean, std::move(data)), value_(value), above_(above) {
    if (value != value) throw InvalidArgument("the value of 'threshold' is no number");
  }
  std::string_view type() const override { return "threshold"; }
  void describe(Description& to) const override {
    to.number("value", value_);
    to.truth("above", above_);
  }
  std::shared_ptr<const Operation> operation() const override {
    return make_operation(operation::Limit{value_, above_});
  }
  double value_at(double value) const { return above_ ? value > value_ : value >= value_; }
  void map(const AnyConstView& pixels, const Step& step) const {
    const Rows<bool> out(step.out);
    visit_element(pixels.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      for_pixels<T>(pixels, [&](std::int64_t y, std::int64_t x, T value) {
        const double wide = static_cast<double>(value);
        out[y][x] = above_ ? wide > value_ : wide >= value_;
      });
    });
  }

 private:
  double value_;
  bool above_;
};

/// Bayer's matrix: bits of x ^ y and y, interleaved from the lowest to the highest.
int bayer(int y, int x, int side) {
  int value = 0;
  for (int bit = 1, weight = side * side / 4; bit < side; bit *= 2, weight /= 4)
    value += weight * (2 * ((x ^ y) / bit % 2) + y / bit % 2);
  return value;
}

class Halftone final : public OfOne<Halftone> {
 public:
  Halftone(NodeRef data, int side) : OfOne("halftone", DType::boolean, std::move(data)), side_(side) {
    if (side != 2 && side != 4 && side != 8 && side != 16)
      throw InvalidArgument("the matrix of 'halftone' is 2, 4, 8 or 16, not " + std::to_string(side));
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) limits_.push_back((bayer(y, x, side) + 0.5) / (side * side) * largest());
  }
  std::string_view type() const override { return "halftone"; }
  void describe(Description& to) const override { to.whole("matrix", side_); }
  std::optional<Period> period() const override {
    return common(Pointwise::period(), Period{side_, side_, 0, whole()});
  }
  std::shared_ptr<const Operation> operation() const override {
    return make_operation(operation::Dither{side_, limits_});
  }
  struct Work {
    std::optional<double> constant;
  };
  Work begin(const Step&) const { return {}; }
  void reduce(As<Role::data>, std::size_t child, Work& work, const Step& step) const {
    const Pixels pixels = fetch(child, step);
    const Rows<bool> out(step.out);
    if (pixels.constant && (*pixels.constant <= 0 || *pixels.constant >= largest())) {
      work.constant = *pixels.constant > 0;
    } else if (pixels.constant) {
      for (std::int64_t y = 0; y < out.height; ++y)
        for (std::int64_t x = 0; x < out.width; ++x) out[y][x] = *pixels.constant > limit(y, x, step);
    } else {
      visit_element(pixels.view.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        for_pixels<T>(pixels.view, [&](std::int64_t y, std::int64_t x, T value) {
          out[y][x] = static_cast<double>(value) > limit(y, x, step);
        });
      });
    }
  }
  std::optional<double> end(Work& work, const Step&) const { return work.constant; }

 private:
  double largest() const {
    const DType of = children()[0].node->dtype();
    return of == DType::uint8 ? 255 : of == DType::uint16 ? 65535 : 1;
  }
  double limit(std::int64_t y, std::int64_t x, const Step& step) const {
    return limits_[static_cast<std::size_t>((step.part.y0 + y) % side_ * side_ + (step.part.x0 + x) % side_)];
  }

  int side_;
  std::vector<double> limits_;  ///< values above are set
};

class Math final : public Pointwise<Math> {
 public:
  static constexpr std::array kRoles{RoleRule{Role::data, 1, 26}};

  Math(const std::string& expression, std::vector<Child> data, DType dtype)
      : Pointwise("math", dtype, std::move(data)),
        expression_(expression, names(children().size())),
        has_table_(children().size() == 1 && children()[0].node->dtype() != DType::float32) {}
  std::string_view type() const override { return "math"; }
  void describe(Description& to) const override {
    to.text("expression", expression_.text());
    to.text("dtype", name_of(dtype()));
  }
  std::size_t scratch_bytes(Size part) const override { return padding_bytes(part); }
  std::shared_ptr<const Operation> operation() const override {
    const auto value = [this](std::span<const double> values) { return Expression::Use(expression_)(values); };
    return make_operation(operation::Function{
        [this, value](std::span<const double> values) { return saturated(value(values), dtype()); },
        [this, value] { return arithmetic_of(expression_.text(), static_cast<int>(children().size()), value); }});
  }

  struct Work {
    std::vector<Pixels> pixels;
  };
  Work begin(const Step&) const { return {}; }
  void reduce(As<Role::data>, std::size_t child, Work& work, const Step& step) const {
    work.pixels.push_back(fetch(child, step));
  }
  std::optional<double> end(Work& work, const Step& step) const {
    const Expression::Use value_of(expression_);
    std::array<double, 26> values{};
    const std::size_t count = work.pixels.size();
    bool constant = true;
    for (std::size_t k = 0; k < count; ++k) {
      constant = constant && work.pixels[k].constant;
      values[k] = work.pixels[k].constant.value_or(0);
    }
    if (constant) return saturated(value_of({values.data(), count}), dtype());
    if (has_table_) return map_by_table(work.pixels[0].view, step);
    visit_element(dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const Rows<T> out(step.out);
      std::array<double, 26> last = values;
      T result = saturated<T>(value_of({values.data(), count}));
      for (std::int64_t y = 0; y < out.height; ++y)
        for (std::int64_t x = 0; x < out.width; ++x) {
          for (std::size_t k = 0; k < count; ++k)
            if (!work.pixels[k].constant) values[k] = value_at(work.pixels[k].view, y, x);
          if (!std::equal(values.begin(), values.begin() + count, last.begin(), is_same))
            result = saturated<T>(value_of({values.data(), count}));
          last = values;
          out[y][x] = result;
        }
    });
    return std::nullopt;
  }

 private:
  static std::vector<std::string> names(std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < count; ++k) names.emplace_back(1, static_cast<char>('a' + k));
    return names;
  }
  static double value_at(const AnyConstView& view, std::int64_t y, std::int64_t x) {
    return visit_element(view.dtype(), [&](auto tag) {
      return static_cast<double>(Rows<const typename decltype(tag)::type>(view)[y][x]);
    });
  }

  /// Of one child of integers: of each of its values. Not before it is needed: a document may have many such nodes.
  void make_table() const {
    const DType of = children()[0].node->dtype();
    const Expression::Use value_of(expression_);
    const int most = of == DType::uint16 ? 65535 : of == DType::uint8 ? 255 : 1;
    for (int value = 0; value <= most; ++value) table_.push_back(saturated(value_of(value), dtype()));
  }
  std::optional<double> map_by_table(const AnyConstView& pixels, const Step& step) const {
    std::call_once(once_, [this] { make_table(); });
    visit_element(pixels.dtype(), [&](auto of) {
      using From = typename decltype(of)::type;
      if constexpr (!std::is_same_v<From, float>)
        visit_element(dtype(), [&](auto tag) {
          using T = typename decltype(tag)::type;
          const Rows<T> out(step.out);
          for_pixels<From>(pixels, [&](std::int64_t y, std::int64_t x, From value) {
            out[y][x] = static_cast<T>(table_[static_cast<std::size_t>(value)]);
          });
        });
    });
    return std::nullopt;
  }

  Expression expression_;
  bool has_table_;
  mutable std::once_flag once_;  ///< of the table
  mutable std::vector<double> table_;
};

}  // namespace

NodeRef mask(NodeRef data, Child mask, double background) {
  if (!data) throw InvalidArgument("'mask' has no child");
  mask.role = Role::mask;
  return std::make_shared<Mask>(data, std::move(mask), background);
}

NodeRef threshold(NodeRef data, double value, bool above) {
  return std::make_shared<Threshold>(std::move(data), value, above);
}

NodeRef halftone(NodeRef data, int matrix) { return std::make_shared<Halftone>(std::move(data), matrix); }

NodeRef math(const std::string& expression, std::vector<Child> data, DType dtype) {
  return std::make_shared<Math>(expression, std::move(data), dtype);
}

}  // namespace fathom::stream
