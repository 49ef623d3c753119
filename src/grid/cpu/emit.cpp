#include "grid/cpu/emit.h"

#include <algorithm>
#include <limits>

#include "core/root.hd.h"
#include "grid/cpu/prefetch.h"
#include "grid/cpu/roots.h"

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

/// Rows that begin or end inside a line of the cache wait for it to come: asks for those of the next block.
void prefetch_ends(const RootRows& block) {
  const float* next = block.out + block.rows * block.out_pitch;
  for (int r = 0; r < block.rows; ++r, next += block.out_pitch) {
    prefetch(next, 1);
    prefetch(next + block.count, 1);
  }
}

}  // namespace

template <class V>
Emitter<V>::Emitter(const Problem& problem, const Classes& classes, InstructionSet instruction_set)
    : p_(problem), classes_(classes), instruction_set_(instruction_set), kept_(largest_kept<V>(problem)) {
  for (int k = 0; k < problem.rank; ++k) {
    cost_[axis(k)] = axis_cost<V>(problem, k);
    has_border_ |= problem.border[axis(k)] == Border::sites;
  }
  constexpr std::int64_t kStaysInCache = std::int64_t{2} << 20;
  const DistanceOutputs& out = problem.outputs;
  scaled_ = problem.metric == Metric::euclidean && (problem.unit == 1 || !problem.isotropic);
  plain_ = scaled_ && out.distance.present() && out.distance.dtype() == DType::float32 && !out.squared.present() &&
           !problem.signed_distance && !has_border_ && kept_ >= no_cap<V>();
  stream_ = out.distance.present() && element_count(out.distance.shape()) > kStaysInCache;
}

template <class V>
void Emitter<V>::emit(PerAxis<std::int64_t> at, int rows, int count, const std::uint16_t* values) const {
  if (plain_) {
    const AnyView& view = p_.outputs.distance;
    float* out = reinterpret_cast<float*>(view.data()) + offset_in(view, p_, at);
    const RootRows block{values, kRun, rows, count, out, view.strides()[view.rank() - p_.rank]};
    if (stream_ && at[0] + 2 * rows <= p_.range(0).end) prefetch_ends(block);
    return roots(block, static_cast<float>(p_.unit), stream_, instruction_set_);
  }
  alignas(64) V wide[kRun];
  for (int r = 0; r < rows; ++r, ++at[0]) {
    std::copy_n(values + r * kRun, count, wide);
    emit(at, count, wide, nullptr);
  }
}

template <class V>
void Emitter<V>::finish() const {
  if (stream_) finish_roots();
}

template <class V>
void Emitter<V>::emit(const PerAxis<std::int64_t>& at, int count, V* values, IndexOf<V>* index) const {
  std::uint8_t bytes[kRun];
  const std::uint8_t* inside = nullptr;
  if (p_.signed_distance) {
    classes_.inside(p_.input.data() + offset_of(p_.input, at), count, bytes);
    inside = bytes;
  }
  if (has_border_) clamp_to_border(at, count, inside, values, index);
  if (kept_ < no_cap<V>()) apply_limit(count, values, index);

  const DistanceOutputs& out = p_.outputs;
  if (out.distance.present()) write_distance(offset_in(out.distance, p_, at), count, inside, values);
  if (out.squared.present()) write_squared(offset_in(out.squared, p_, at), count, values);
  if (!index) return;
  for (int i = 0; i < count; ++i)
    if (values[i] >= no_value<V>()) index[i] = -1;
  if (out.nearest.present()) write_nearest(offset_in(out.nearest, p_, at), count, index);
  if (!out.coordinates.present()) return;
  const std::int64_t offset = offset_in(out.coordinates, p_, at);
  if (out.coordinates.dtype() == DType::int32)
    write_coordinates(offset, count, index, reinterpret_cast<std::int32_t*>(out.coordinates.data()));
  else write_coordinates(offset, count, index, reinterpret_cast<std::int64_t*>(out.coordinates.data()));
}

template <class V>
void Emitter<V>::clamp_to_border(const PerAxis<std::int64_t>& at, int count, const std::uint8_t* inside, V* values,
                                 IndexOf<V>* index) const {
  const auto to_end = [&](int k, std::int64_t c) { return cost_[axis(k)](std::min(c + 1, p_.extent(k) - c)); };
  const int last = p_.rank - 1;
  V row = no_value<V>();
  for (int k = 0; k < last; ++k)
    if (p_.border[axis(k)] == Border::sites) row = std::min(row, to_end(k, at[axis(k)]));
  V border[kRun];
  std::fill_n(border, count, row);
  if (p_.border[axis(last)] == Border::sites)
    for (int i = 0; i < count; ++i) border[i] = std::min(row, to_end(last, at[axis(last)] + i));
  const std::uint8_t border_class = classes_.border_is_inside() ? 1 : 0;
  for (int i = 0; inside && i < count; ++i)
    if (inside[i] == border_class) border[i] = no_value<V>();
  for (int i = 0; index && i < count; ++i)
    if (border[i] < values[i]) index[i] = -1;
  for (int i = 0; i < count; ++i) values[i] = std::min(values[i], border[i]);
}

template <class V>
void Emitter<V>::apply_limit(int count, V* values, IndexOf<V>* index) const {
  for (int i = 0; i < count; ++i) {
    if (values[i] <= kept_) continue;
    values[i] = no_value<V>();
    if (index) index[i] = -1;
  }
}

template <class V>
void Emitter<V>::write_distance(std::int64_t offset, int count, const std::uint8_t* inside, const V* values) const {
  const bool euclidean = p_.metric == Metric::euclidean;
  visit_dtype(p_.outputs.distance.dtype(), [&](auto tag) {
    using Out = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<Out>) {
      Out* out = reinterpret_cast<Out*>(p_.outputs.distance.data()) + offset;
      if constexpr (std::is_same_v<Out, float> && std::is_same_v<V, std::int32_t>)
        if (scaled_ && !inside)
          return roots(values, count, static_cast<float>(p_.unit), stream_, out, instruction_set_);
      if constexpr (std::is_same_v<Out, float> && std::is_same_v<V, double>)
        if (euclidean && !inside) return roots(values, count, stream_, out, instruction_set_);
      const double half = inside && p_.surface == Surface::faces ? 0.5 * p_.unit : 0.0;
      if constexpr (!std::is_same_v<V, double>)
        if (scaled_ && half == 0) {
          for (int i = 0; i < count; ++i) {
            const Out magnitude = scaled_distance_of<Out>(values[i], p_.unit);
            out[i] = inside && inside[i] ? -magnitude : magnitude;
          }
          return;
        }
      for (int i = 0; i < count; ++i) {
        const double magnitude = distance_of(values[i], euclidean, p_.unit) - half;
        out[i] = static_cast<Out>(inside && inside[i] ? -magnitude : magnitude);
      }
    }
  });
}

template <class V>
void Emitter<V>::write_squared(std::int64_t offset, int count, const V* values) const {
  const double unit2 = p_.unit * p_.unit;
  visit_dtype(p_.outputs.squared.dtype(), [&](auto tag) {
    using Out = typename decltype(tag)::type;
    Out* out = reinterpret_cast<Out*>(p_.outputs.squared.data()) + offset;
    constexpr Out kNone =
        std::is_floating_point_v<Out> ? static_cast<Out>(no_value<double>()) : std::numeric_limits<Out>::max();
    for (int i = 0; i < count; ++i) {
      if (values[i] >= no_value<V>()) out[i] = kNone;
      else if constexpr (std::is_floating_point_v<Out>)
        out[i] = static_cast<Out>(static_cast<double>(values[i]) * unit2);
      else out[i] = static_cast<Out>(values[i]);
    }
  });
}

template <class V>
void Emitter<V>::write_nearest(std::int64_t offset, int count, const IndexOf<V>* index) const {
  const auto write = [&](auto* out) {
    using Out = std::remove_pointer_t<decltype(out)>;
    for (int i = 0; i < count; ++i) out[offset + i] = static_cast<Out>(index[i]);
  };
  if (p_.outputs.nearest.dtype() == DType::int32) write(reinterpret_cast<std::int32_t*>(p_.outputs.nearest.data()));
  else write(reinterpret_cast<std::int64_t*>(p_.outputs.nearest.data()));
}

template <class V>
template <class Out>
void Emitter<V>::write_coordinates(std::int64_t offset, int count, const IndexOf<V>* index, Out* out) const {
  const auto component = [&](int k) { return out + offset + k * p_.outputs.coordinates.strides()[0]; };
  alignas(64) IndexOf<V> rest[kRun] = {}, coordinate[kRun];  // whole vectors
  std::copy_n(index, count, rest);
  int left = p_.rank;  // axes that `rest` is of
  for (int k = p_.caller_rank - 1; k >= 0; --k) {
    const auto kept = std::find(p_.caller_axis.begin(), p_.caller_axis.begin() + p_.rank, k) - p_.caller_axis.begin();
    if (kept == p_.rank) {  // an axis of one element
      for (int i = 0; i < count; ++i) component(k)[i] = index[i] < 0 ? -1 : 0;
    } else if (--left > 0) {
      split_indices(p_.extent(static_cast<int>(kept)), count, rest, coordinate, instruction_set_);
      std::copy_n(coordinate, count, component(k));
    } else {
      std::copy_n(rest, count, component(k));
    }
  }
}

template class Emitter<std::int32_t>;
template class Emitter<std::int64_t>;
template class Emitter<double>;

}  // namespace fathom::grid::cpu
