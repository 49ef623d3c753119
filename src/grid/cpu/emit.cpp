#include "grid/cpu/emit.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "grid/cpu/roots.h"
#include "grid/root.hd.h"

namespace fathom::grid::cpu {

namespace {

std::size_t axis(int k) { return static_cast<std::size_t>(k); }

/// Elements from the start of an output (of the region's shape) to the element at `at`, along the last axes of `view`.
std::int64_t offset_in(const AnyView& view, const Problem& p, const PerAxis<std::int64_t>& at) {
  const int leading = view.rank() - p.rank;
  std::int64_t offset = 0;
  for (int k = 0; k < p.rank; ++k) offset += (at[axis(k)] - p.range(k).begin) * view.strides()[leading + k];
  return offset;
}

/// Distance in double, in the caller's units.
template <class V>
double distance_of(V value, bool euclidean, double unit) {
  if (value >= no_value<V>()) return no_value<double>();
  if constexpr (std::is_floating_point_v<V>) return euclidean ? std::sqrt(value) : value;
  else if (euclidean) return exact_sqrt(static_cast<std::uint64_t>(value)) * unit;
  else return static_cast<double>(value) * unit;
}

}  // namespace

template <class V>
Emitter<V>::Emitter(const Problem& problem, const Classes& classes, InstructionSet instruction_set)
    : p_(problem), classes_(classes), instruction_set_(instruction_set), kept_(largest_kept<V>(problem)) {
  for (int k = 0; k < problem.rank; ++k) {
    cost_[axis(k)] = AxisCost<V>(problem, k);
    has_border_ |= problem.border[axis(k)] == Border::sites;
  }
}

template <class V>
void Emitter<V>::emit(const PerAxis<std::int64_t>& at, V* values, std::int64_t* index) const {
  const Range& range = p_.range(p_.rank - 1);
  const std::int64_t x0 = at[axis(p_.rank - 1)];
  const int first = static_cast<int>(std::max<std::int64_t>(range.begin - x0, 0));
  const int count = static_cast<int>(std::min<std::int64_t>(range.end - x0, kStrip)) - first;
  std::uint32_t inside = 0;
  if (p_.signed_distance) {
    const std::int64_t here = offset_of(p_.input, at);
    inside = classes_.inside(p_.input.data() + here, static_cast<int>(std::min<std::int64_t>(
                                                          kStrip, p_.extent(p_.rank - 1) - x0)));
  }
  if (has_border_) {
    const bool all = !p_.signed_distance;
    clamp_to_border(at, all ? ~0u : classes_.border_is_inside() ? ~inside : inside, values, index);
  }
  if (kept_ < no_cap<V>()) apply_limit(values, index);

  const DistanceOutputs& out = p_.outputs;
  if (out.distance.present()) write_distance(offset_in(out.distance, p_, at), first, count, inside, values);
  if (out.squared.present()) write_squared(offset_in(out.squared, p_, at), first, count, values);
  if (!index) return;
  for (int i = first; i < first + count; ++i)
    if (values[i] >= no_value<V>()) index[i] = -1;
  if (out.nearest.present()) write_nearest(offset_in(out.nearest, p_, at), first, count, index);
  if (out.coordinates.present()) write_coordinates(at, first, count, index);
}

template <class V>
void Emitter<V>::clamp_to_border(const PerAxis<std::int64_t>& at, std::uint32_t lanes, V* values,
                                 std::int64_t* index) const {
  const auto to_end = [&](int k, std::int64_t c) { return cost_[axis(k)](std::min(c + 1, p_.extent(k) - c)); };
  const int last = p_.rank - 1;
  V row = no_value<V>();
  for (int k = 0; k < last; ++k)
    if (p_.border[axis(k)] == Border::sites) row = std::min(row, to_end(k, at[axis(k)]));
  const bool ends = p_.border[axis(last)] == Border::sites;
  const int valid = static_cast<int>(std::min<std::int64_t>(kStrip, p_.extent(last) - at[axis(last)]));
  for (int i = 0; i < valid; ++i) {
    const V border = ends ? std::min(row, to_end(last, at[axis(last)] + i)) : row;
    if (border >= values[i] || !(lanes >> i & 1)) continue;
    values[i] = border;
    if (index) index[i] = -1;
  }
}

template <class V>
void Emitter<V>::apply_limit(V* values, std::int64_t* index) const {
  for (int i = 0; i < kStrip; ++i) {
    if (values[i] <= kept_) continue;
    values[i] = no_value<V>();
    if (index) index[i] = -1;
  }
}

template <class V>
void Emitter<V>::write_distance(std::int64_t offset, int first, int count, std::uint32_t inside,
                                const V* values) const {
  const bool euclidean = p_.metric == Metric::euclidean;
  visit_dtype(p_.outputs.distance.dtype(), [&](auto tag) {
    using Out = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<Out>) {
      Out* out = reinterpret_cast<Out*>(p_.outputs.distance.data()) + offset;
      if constexpr (std::is_same_v<Out, float> && !std::is_same_v<V, std::int64_t>)
        if (euclidean && !p_.signed_distance && p_.unit == 1)
          return roots(values + first, count, out + first, instruction_set_);
      const double half = p_.surface == Surface::faces ? 0.5 * p_.unit : 0.0;
      for (int i = first; i < first + count; ++i) {
        const double d = distance_of(values[i], euclidean, p_.unit);
        const double magnitude = p_.signed_distance ? d - half : d;
        out[i] = static_cast<Out>(inside >> i & 1 ? -magnitude : magnitude);
      }
    }
  });
}

template <class V>
void Emitter<V>::write_squared(std::int64_t offset, int first, int count, const V* values) const {
  const double unit2 = p_.unit * p_.unit;
  visit_dtype(p_.outputs.squared.dtype(), [&](auto tag) {
    using Out = typename decltype(tag)::type;
    Out* out = reinterpret_cast<Out*>(p_.outputs.squared.data()) + offset;
    constexpr Out kNone = std::is_floating_point_v<Out> ? static_cast<Out>(no_value<double>())
                                                        : std::numeric_limits<Out>::max();
    for (int i = first; i < first + count; ++i) {
      if (values[i] >= no_value<V>()) out[i] = kNone;
      else if constexpr (std::is_floating_point_v<Out>) out[i] = static_cast<Out>(static_cast<double>(values[i]) * unit2);
      else out[i] = static_cast<Out>(values[i]);
    }
  });
}

template <class V>
void Emitter<V>::write_nearest(std::int64_t offset, int first, int count, const std::int64_t* index) const {
  const auto write = [&](auto* out) {
    using Out = std::remove_pointer_t<decltype(out)>;
    for (int i = first; i < first + count; ++i) out[offset + i] = static_cast<Out>(index[i]);
  };
  if (p_.outputs.nearest.dtype() == DType::int32) write(reinterpret_cast<std::int32_t*>(p_.outputs.nearest.data()));
  else write(reinterpret_cast<std::int64_t*>(p_.outputs.nearest.data()));
}

template <class V>
void Emitter<V>::write_coordinates(const PerAxis<std::int64_t>& at, int first, int count,
                                   const std::int64_t* index) const {
  const AnyView& view = p_.outputs.coordinates;
  const std::int64_t offset = offset_in(view, p_, at);
  const auto write = [&](auto* out) {
    using Out = std::remove_pointer_t<decltype(out)>;
    const auto component = [&](int k) { return out + offset + k * view.strides()[0]; };
    for (int i = first; i < first + count; ++i) {
      const bool none = index[i] < 0;
      for (int k = 0; k < p_.caller_rank; ++k) component(k)[i] = none ? Out{-1} : Out{0};
      std::int64_t rest = index[i];
      for (int k = p_.rank - 1; k >= 0 && !none; --k) {
        component(p_.caller_axis[axis(k)])[i] = static_cast<Out>(rest % p_.extent(k));
        rest /= p_.extent(k);
      }
    }
  };
  if (view.dtype() == DType::int32) write(reinterpret_cast<std::int32_t*>(view.data()));
  else write(reinterpret_cast<std::int64_t*>(view.data()));
}

template class Emitter<std::int32_t>;
template class Emitter<std::int64_t>;
template class Emitter<double>;

}  // namespace fathom::grid::cpu
