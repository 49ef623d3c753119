// Nodes that compute each pixel from those of their children at the same place: masks, thresholds, expressions, dither.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
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
  static constexpr auto kRoles = roles::kMask;

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
        const T background = static_cast<T>(background_);
        map_rows<typename decltype(of_mask)::type, T>(
            work.mask.view, step.out, [background](auto in, T& data) { data = select(in != 0, data, background); });
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
  static constexpr auto kRoles = roles::kData;
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

/// Of the values of T that are at least, or above, a number; in the type that T's values are compared in.
template <class T>
auto least(double value, bool above) {
  if constexpr (std::is_same_v<T, float>) {
    if (above && value == INFINITY) return std::numeric_limits<float>::quiet_NaN();
    const float near = static_cast<float>(value);
    return (above ? near <= value : near < value) ? std::nextafter(near, INFINITY) : near;
  } else {
    constexpr double kBeyond = 65536;
    return static_cast<std::int32_t>(std::clamp(above ? std::floor(value) + 1 : std::ceil(value), 0.0, kBeyond));
  }
}

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
    visit_element(pixels.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      map_rows<T, bool>(pixels, step.out,
                        [least = least<T>(value_, above_)](T value, bool& out) { out = value >= least; });
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
        const Rows<const typename decltype(tag)::type> values(pixels.view);
        for (std::int64_t y = 0; y < out.height; ++y)
          for (std::int64_t x = 0; x < out.width; ++x)
            out[y][x] = static_cast<double>(values[y][x]) > limit(y, x, step);
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

/// Of children of few values together there is a table: of each combination.
class Math final : public Pointwise<Math> {
 public:
  static constexpr auto kRoles = roles::kMath;

  Math(const std::string& expression, std::vector<Child> data, DType dtype)
      : Pointwise("math", dtype, std::move(data)), expression_(expression, names(children().size())) {
    constexpr double kMostEntries = 1 << 16, kWorthIt = 16;  // pixels for each
    double entries = 1;
    for (const Child& child : children()) {
      const DType of = child.node->dtype();
      values_.push_back(of == DType::uint16 ? 65536 : of == DType::uint8 ? 256 : 2);
      entries *= of == DType::float32 ? INFINITY : static_cast<double>(values_.back());
    }
    if (entries <= kMostEntries && kWorthIt * entries <= static_cast<double>(height()) * static_cast<double>(width()))
      entries_ = static_cast<std::size_t>(entries);
  }
  std::string_view type() const override { return "math"; }
  void describe(Description& to) const override {
    to.text("expression", expression_.text());
    to.text("dtype", name_of(dtype()));
  }
  std::size_t scratch_bytes(Size part) const override { return padding_bytes(part); }
  std::size_t kept_bytes() const override { return entries_ * sizeof(float); }
  std::shared_ptr<const Operation> operation() const override {
    return make_operation(operation::Function{
        [this](std::span<const double> values) { return saturated(Expression::Use(expression_)(values), dtype()); },
        expression_.arithmetic()});
  }

  struct Work {
    std::vector<Pixels> pixels;
  };
  Work begin(const Step&) const { return {}; }
  void reduce(As<Role::data>, std::size_t child, Work& work, const Step& step) const {
    work.pixels.push_back(fetch(child, step));
  }
  std::optional<double> end(Work& work, const Step& step) const {
    const bool is_constant = std::all_of(work.pixels.begin(), work.pixels.end(),
                                         [](const Pixels& pixels) { return pixels.constant.has_value(); });
    if (is_constant) {
      std::array<double, kMostChildren> values{};
      for (std::size_t k = 0; k < work.pixels.size(); ++k) values[k] = *work.pixels[k].constant;
      return saturated(Expression::Use(expression_)({values.data(), work.pixels.size()}), dtype());
    }
    if (entries_ > 0) std::call_once(once_, [this] { make_table(); });
    visit_element(dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      entries_ > 0 ? look_up<T>(work.pixels, step.out) : evaluate<T>(work.pixels, step.out);
    });
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kMostChildren = 26;
  static constexpr std::int64_t kChunk = Expression::Use::kMost;  ///< pixels of a row that are computed at once

  static std::vector<std::string> names(std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < count; ++k) names.emplace_back(1, static_cast<char>('a' + k));
    return names;
  }

  /// Calls function(y, x, pixels) for the pieces of rows that are computed at once.
  template <class Function>
  static void visit_chunks(const AnyView& out, const Function& function) {
    for (std::int64_t y = 0; y < out.shape()[0]; ++y)
      for (std::int64_t x = 0; x < out.shape()[1]; x += kChunk) function(y, x, std::min(kChunk, out.shape()[1] - x));
  }
  template <class T>
  void evaluate(const std::vector<Pixels>& pixels, const AnyView& view) const {
    const Rows<T> out(view);
    Expression::Use values_of(expression_);
    std::array<std::array<double, kChunk>, kMostChildren> rows;
    std::array<Expression::Use::Values, kMostChildren> values{};
    for (std::size_t k = 0; k < pixels.size(); ++k)
      if (pixels[k].constant) values[k] = {&*pixels[k].constant, false};
      else values[k] = {rows[k].data()};
    visit_chunks(view, [&](std::int64_t y, std::int64_t x0, std::int64_t count) {
      for (std::size_t k = 0; k < pixels.size(); ++k)
        if (values[k].is_row) load_row(pixels[k], y, x0, count, rows[k].data());
      const double* const found = values_of(std::span(values).first(pixels.size()), count);
      std::transform(found, found + count, out[y] + x0, saturated<T>);
    });
  }
  template <class T>
  void look_up(const std::vector<Pixels>& pixels, const AnyView& view) const {
    const Rows<T> out(view);
    const float* const table = table_.data();
    std::array<std::int32_t, kChunk> at, row;
    visit_chunks(view, [&](std::int64_t y, std::int64_t x0, std::int64_t count) {
      load_row(pixels[0], y, x0, count, at.data());
      for (std::size_t k = 1; k < pixels.size(); ++k) {
        load_row(pixels[k], y, x0, count, row.data());
        for (std::size_t x = 0; x < static_cast<std::size_t>(count); ++x) at[x] = at[x] * values_[k] + row[x];
      }
      T* const __restrict to = out[y] + x0;
      for (std::size_t x = 0; x < static_cast<std::size_t>(count); ++x)
        to[x] = static_cast<T>(table[static_cast<std::size_t>(at[x])]);
    });
  }

  /// Not before it is needed: a document may have many such nodes.
  void make_table() const {
    Expression::Use value_of(expression_);
    std::array<double, kMostChildren> values{};
    for (std::size_t entry = 0; entry < entries_; ++entry) {
      auto rest = static_cast<std::int32_t>(entry);
      for (std::size_t k = values_.size(); k-- > 0; rest /= values_[k]) values[k] = rest % values_[k];
      table_.push_back(static_cast<float>(saturated(value_of({values.data(), values_.size()}), dtype())));
    }
  }

  Expression expression_;
  std::vector<std::int32_t> values_;  ///< how many each child may have, if it is of integers
  std::size_t entries_ = 0;           ///< of the table; 0: there is none
  mutable std::once_flag once_;       ///< of the table
  mutable std::vector<float> table_;  ///< float32 holds all values of the types
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
