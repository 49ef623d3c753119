// Nodes without children.
#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "core/noise.hd.h"
#include "fathom/core/error.h"
#include "fathom/stream/nodes.h"
#include "stream/expression.h"
#include "stream/operation.h"
#include "stream/period.h"
#include "stream/pixels.h"
#include "stream/reduce.h"

namespace fathom::stream {

namespace {

/// What the sources share: nothing to reduce.
template <class N>
class Source : public Reduction<N> {
 public:
  static constexpr auto kRoles = roles::kNone;
  using Step = typename Reduction<N>::Step;

  Rectangle need(std::size_t, const Rectangle&) const override { return {}; }
  Size largest_need(std::size_t, Size) const override { return {}; }
  void describe_extent(Description& to) const {
    to.whole("height", this->height());
    to.whole("width", this->width());
    to.text("dtype", name_of(this->dtype()));
    to.number("pixel", this->pixel().size);
    to.text("unit", this->pixel().unit);
  }
  struct Work {};
  Work begin(const Step&) const { return {}; }

 protected:
  Source(std::string_view type, Extent extent) : Reduction<N>(type, std::move(extent), {}) {}
};

class Constant final : public Source<Constant> {
 public:
  Constant(double value, const Extent& extent) : Source("constant", extent), value_(saturated(value, dtype())) {}
  std::string_view type() const override { return "constant"; }
  void describe(Description& to) const override {
    to.number("value", value_);
    describe_extent(to);
  }
  std::optional<Period> period() const override { return uniform(whole()); }
  std::shared_ptr<const Operation> operation() const override {
    return make_operation(operation::Function{[value = value_](std::span<const double>) { return value; }});
  }
  std::optional<double> end(Work&, const Step&) const { return value_; }

 private:
  double value_;
};

class File final : public Source<File> {
 public:
  File(std::shared_ptr<const RasterSource> raster, std::string kind, std::string name, PixelSize pixel)
      : Source(kind, {raster->height(), raster->width(), raster->dtype(), std::move(pixel)}),
        raster_(std::move(raster)),
        kind_(std::move(kind)),
        name_(std::move(name)) {}
  std::string_view type() const override { return kind_; }
  void describe(Description& to) const override {
    to.text(kind_ == "file" ? "path" : "name", name_);
    to.fingerprint(raster_->fingerprint());
    to.number("pixel", pixel().size);
    to.text("unit", pixel().unit);
  }
  std::size_t scratch_bytes(Size) const override { return aligned(raster_->bytes_of_read()); }
  std::shared_ptr<const Operation> operation() const override {
    const AnyConstDeviceView there = raster_->on_device();
    return there.present() ? make_operation(operation::Resident{there}) : nullptr;
  }
  Size piece() const override { return {raster_->piece()[0], raster_->piece()[1]}; }
  std::size_t kept_bytes() const override { return raster_->kept_bytes(); }
  std::optional<double> end(Work&, const Step& step) const {
    raster_->read(step.part, step.out);
    return std::nullopt;
  }

 private:
  std::shared_ptr<const RasterSource> raster_;
  std::string kind_, name_;
};

class Formula final : public Source<Formula> {
 public:
  Formula(const std::string& expression, const Extent& extent)
      : Source("formula", extent),
        expression_(expression, {"x", "y"}),
        rest_(expression_),
        of_columns_(rest_.take_parts_of(0)),
        of_rows_(rest_.take_parts_of(1)) {}
  std::string_view type() const override { return "formula"; }
  void describe(Description& to) const override {
    to.text("expression", expression_.text());
    describe_extent(to);
  }
  std::shared_ptr<const Operation> operation() const override {
    const auto arithmetic = expression_.arithmetic();
    return arithmetic ? make_operation(operation::OfPlace{*arithmetic}) : nullptr;
  }
  std::optional<double> end(Work&, const Step& step) const {
    Expression::Use values_of(rest_);
    visit_element(dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const Rows<T> out(step.out);
      for (std::int64_t y = 0; y < out.height; y += kMost)
        for (std::int64_t x = 0; x < out.width; x += kMost)
          evaluate<T>(values_of, step, {y, x, std::min(y + kMost, out.height), std::min(x + kMost, out.width)});
    });
    return std::nullopt;
  }

 private:
  using Use = Expression::Use;
  static constexpr std::int64_t kMost = Use::kMost;

  /// Of consecutive rows or columns: their numbers, and what parts of the expression are there.
  static std::vector<Use::Row> along(const std::vector<Expression>& parts, std::int64_t first, std::int64_t count) {
    std::vector<Use::Row> found(1 + parts.size());
    std::iota(found[0].begin(), found[0].end(), static_cast<double>(first));
    const Use::Values at[] = {{found[0].data()}, {found[0].data()}};  // one of them is asked for
    for (std::size_t k = 0; k < parts.size(); ++k) std::copy_n(Use(parts[k])(at, count), count, found[1 + k].begin());
    return found;
  }
  /// @param block  of the output
  template <class T>
  void evaluate(Use& values_of, const Step& step, const Rectangle& block) const {
    const Rows<T> out(step.out);
    const auto columns = along(of_columns_, step.part.x0 + block.x0, block.width()),
               rows = along(of_rows_, step.part.y0 + block.y0, block.height());
    std::vector<Use::Values> at{{columns[0].data()}, {rows[0].data(), false}};
    for (std::size_t k = 1; k < columns.size(); ++k) at.push_back({columns[k].data()});
    for (std::size_t k = 1; k < rows.size(); ++k) at.push_back({rows[k].data(), false});
    for (std::int64_t y = block.y0; y < block.y1; ++y) {
      const double* const found = values_of(at, block.width());
      std::transform(found, found + block.width(), out[y] + block.x0, saturated<T>);
      for (Use::Values& values : at) values.first += !values.is_row;  // of the next row
    }
  }

  Expression expression_, rest_;  ///< of x, y, and the parts of columns and of rows
  std::vector<Expression> of_columns_, of_rows_;
};

class Noise final : public Source<Noise> {
 public:
  Noise(std::uint64_t seed, const Extent& extent) : Source("noise", extent), seed_(seed) {}
  std::string_view type() const override { return "noise"; }
  void describe(Description& to) const override {
    to.whole("seed", static_cast<std::int64_t>(seed_));
    describe_extent(to);
  }
  std::shared_ptr<const Operation> operation() const override { return make_operation(operation::Noise{seed_}); }
  std::optional<double> end(Work&, const Step& step) const {
    visit_element(dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const Rows<T> out(step.out);
      for (std::int64_t y = 0; y < out.height; ++y) {
        const std::uint64_t row = noise_row(seed_, step.part.y0 + y);
        for (std::int64_t x = 0; x < out.width; ++x) {
          const std::uint64_t bits = noise_bits(row, step.part.x0 + x);
          if constexpr (std::is_same_v<T, float>) out[y][x] = static_cast<float>(bits >> 40) * 0x1p-24F;
          else if constexpr (std::is_same_v<T, bool>) out[y][x] = bits >> 63;
          else out[y][x] = static_cast<T>(bits >> (64 - 8 * sizeof(T)));
        }
      }
    });
    return std::nullopt;
  }

 private:
  std::uint64_t seed_;
};

}  // namespace

NodeRef constant(double value, const Extent& extent) { return std::make_shared<Constant>(value, extent); }

NodeRef source(std::shared_ptr<const RasterSource> raster, std::string kind, std::string name, PixelSize pixel) {
  if (!raster) throw InvalidArgument("a source has no raster");
  return std::make_shared<File>(std::move(raster), std::move(kind), std::move(name), std::move(pixel));
}

NodeRef formula(const std::string& expression, const Extent& extent) {
  return std::make_shared<Formula>(expression, extent);
}

NodeRef noise(std::uint64_t seed, const Extent& extent) { return std::make_shared<Noise>(seed, extent); }

}  // namespace fathom::stream
