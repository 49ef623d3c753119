#include "statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <unordered_set>
#include <utility>

namespace fathom::cli {

namespace {

template <class T>
std::span<const T> elements(const AnyConstView& data) {
  const auto typed = data.as<T>();
  return {typed.data(), static_cast<std::size_t>(element_count(typed.shape()))};
}

/// The values from `lowest` to `highest`, both included.
template <class T>
struct Interval {
  T lowest = std::numeric_limits<T>::lowest();
  T highest = std::numeric_limits<T>::max();
};

/// Extremes of the values that `finite` accepts, and how many it does not. Independent lanes let the compiler use
/// vectors, which the order of a single running minimum forbids.
template <class T, class Finite>
std::pair<Interval<T>, std::int64_t> extremes(std::span<const T> values, Finite finite) {
  constexpr std::size_t kLanes = 16;
  constexpr T kMost = std::numeric_limits<T>::max();
  constexpr T kLeast = std::numeric_limits<T>::lowest();
  std::array<T, kLanes> low;
  std::array<T, kLanes> high;
  low.fill(kMost);
  high.fill(kLeast);
  std::int64_t others = 0;
  const auto take = [&](std::size_t lane, T value) {
    const bool good = finite(value);
    others += !good;
    const T for_low = good ? value : kMost;
    const T for_high = good ? value : kLeast;
    low[lane] = for_low < low[lane] ? for_low : low[lane];
    high[lane] = for_high > high[lane] ? for_high : high[lane];
  };
  std::size_t k = 0;
  for (; k + kLanes <= values.size(); k += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) take(lane, values[k + lane]);
  for (; k < values.size(); ++k) take(0, values[k]);
  return {{*std::min_element(low.begin(), low.end()), *std::max_element(high.begin(), high.end())}, others};
}

template <class T>
ValueRange to_range(const std::pair<Interval<T>, std::int64_t>& found, std::size_t total) {
  ValueRange range;
  const bool any = found.second < static_cast<std::int64_t>(total);
  range.lowest = any ? static_cast<double>(found.first.lowest) : 1.0;
  range.highest = any ? static_cast<double>(found.first.highest) : 0.0;
  range.infinite = found.second;
  return range;
}

}  // namespace

std::int64_t count_labels(const AnyConstView& data) {
  return visit_dtype(data.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::unordered_set<T> labels;
    T previous{};  // labels come in runs: most elements cost one comparison
    for (const T label : elements<T>(data)) {
      if (label == previous || label != label) continue;
      previous = label;
      if (label != T{}) labels.insert(label);
    }
    return static_cast<std::int64_t>(labels.size());
  });
}

ValueRange value_range(const AnyConstView& data) {
  return visit_dtype(data.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto values = elements<T>(data);
    if constexpr (std::is_floating_point_v<T>) {
      ValueRange range = to_range(extremes(values, [](T v) { return std::abs(v) <= std::numeric_limits<T>::max(); }),
                                  values.size());
      if (range.infinite > 0) range.nan = std::count_if(values.begin(), values.end(), [](T v) { return v != v; });
      range.infinite -= range.nan;
      return range;
    } else {
      return to_range(extremes(values, [](T) { return true; }), values.size());
    }
  });
}

std::int64_t first_not_finite(const AnyConstView& data) {
  return visit_dtype(data.dtype(), [&](auto tag) {
    const auto values = elements<typename decltype(tag)::type>(data);
    const auto is_finite = [](auto value) { return std::isfinite(static_cast<double>(value)); };
    return static_cast<std::int64_t>(std::find_if_not(values.begin(), values.end(), is_finite) - values.begin());
  });
}

ValueRange field_range(const AnyConstView& field) {
  return visit_dtype(field.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<T>) {
      return value_range(field);
    } else {
      const auto values = elements<T>(field);
      return to_range(extremes(values, [](T v) { return v != std::numeric_limits<T>::max(); }), values.size());
    }
  });
}

}  // namespace fathom::cli
