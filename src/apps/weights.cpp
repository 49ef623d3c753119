#include "apps/weights.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "core/text.h"
#include "fathom/core/error.h"

namespace fathom::apps {

namespace {

/// The largest. @throws InvalidArgument as weights_of()
template <class T>
double check(const HostView<const T>& view) {
  double most = 0;
  each_row(view, [&](const T* row, std::int64_t) {
    for (std::int64_t x = 0; x < view.shape().back(); ++x) {
      const auto value = static_cast<double>(row[x]);
      if (!(value >= 0) || std::isinf(value))
        throw InvalidArgument("a weight is " + text(value) + "; weights are finite and not negative");
      most = std::max(most, value);
    }
  });
  if (!std::is_floating_point_v<T> && most > kMostWeight)
    throw InvalidArgument("a weight is " + text(most) + "; weights that are integers are at most 65535");
  return most;
}

}  // namespace

void check_weights_shape(const Shape& given, const Shape& shape) {
  if (!(given == shape))
    throw InvalidArgument("the weights have the shape " + to_string(given) + "; it must be " + to_string(shape));
}

Weights weights_of(const AnyConstView& given, const Shape& shape) {
  Weights weights{shape, {}};
  if (!given.present()) {
    weights.positive = weights.total = element_count(shape);
    return weights;
  }
  check_weights_shape(given.shape(), shape);
  weights.values.resize(static_cast<std::size_t>(element_count(shape)));
  visit_dtype(given.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto view = given.as<T>();
    const double most = check<T>(view);
    if (std::is_floating_point_v<T> && most > 0) weights.scale = kMostWeight / most;
    if (std::isinf(weights.scale))
      throw InvalidArgument("the largest weight is " + text(most) + "; give weights of which one is at least 1e-300");
    each_row<T>(view, [&](const T* row, std::int64_t number) {
      std::uint16_t* const to = weights.values.data() + number * weights.width();
      for (std::int64_t x = 0; x < weights.width(); ++x) {
        if constexpr (std::is_floating_point_v<T>) {
          const double share = static_cast<double>(row[x]) / (most > 0 ? most : 1);
          to[x] = static_cast<std::uint16_t>(std::floor(share * kMostWeight + 0.5));
        } else {
          to[x] = static_cast<std::uint16_t>(row[x]);
        }
      }
    });
  });
  tally(weights);
  return weights;
}

void tally(Weights& weights) {
  weights.positive = weights.total = 0;
  for (const std::uint16_t value : weights.values) {
    weights.positive += value > 0;
    weights.total += value;
  }
}

void throw_moments_too_large() {
  throw InvalidArgument("the second moments of a region pass 64 bits; give smaller weights, or leave them out");
}

Shape finer(const Shape& shape, int supersample) {
  Shape result = shape;
  for (int axis = 0; axis < shape.rank(); ++axis) result[axis] *= supersample;
  return result;
}

}  // namespace fathom::apps
