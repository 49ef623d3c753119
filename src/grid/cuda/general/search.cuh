// A pass of the general engine along a strided axis: the lower envelope
//
//   result(y) = min over sources i of  source(i) ⊕ cost(|y − i|),   ⊕ = + (Euclidean, taxicab) or max (chessboard),
//
// with the lowest i among equals, by an outwards search in blocks of eight sources that are skipped, or end the search,
// by lower bounds. The result is the brute-force minimum to the last bit, also in floating point, whatever the order of
// the search: one code for every metric, spacing and tie rule.
//
// Source: separable passes of Hirata 1996 and Meijster et al. 2000; departs by searching with bounds where they build
// envelopes, so that 32 lines go in lock step. Cost per line of n: O(n) where sites are near; at worst O(n²/512) tests
// of a bound, and the few blocks that no bound excludes.
#pragma once

#include "grid/cuda/general/line_words.h"
#include "grid/cuda/tuning.h"
#include "grid/value.hd.h"

namespace fathom::grid::cuda::general {

inline constexpr int kTargets = 8;     ///< targets of a search, sources of a block
inline constexpr int kSuperblock = 8;  ///< blocks that share a coarse bound

__host__ __device__ inline std::int32_t source_blocks(std::int64_t extent) {
  return static_cast<std::int32_t>((extent + kTargets - 1) / kTargets);
}
__host__ __device__ inline std::int32_t source_superblocks(std::int64_t extent) {
  return (source_blocks(extent) + kSuperblock - 1) / kSuperblock;
}

/// Arrays of outer × n × inner; the minima have blocks or superblocks in place of elements.
template <class V>
struct Pass {
  Lines lines;
  const V* source = nullptr;
  const std::int64_t* source_site = nullptr;  ///< linear in the axes behind this; null: coordinates of sources instead
  const V* block_least = nullptr;
  const V* super_least = nullptr;
  std::int32_t first_block = 0, blocks = 0;  ///< of targets
  Columns columns;                           ///< which the lines go through …
  std::int64_t site_step = 1;                ///< … and from one of all columns' sites to the next along this axis
  AxisCost<V> cost;
  V cap = 0;  ///< values ≥ cap need not be found
  bool chessboard = false, periodic = false;
  LineWords start;  ///< ends of runs of equal classes; without bits: none
  V* result = nullptr;
  std::int64_t* result_site = nullptr;  ///< linear in this axis and those behind it, or the coordinate along this one
};

/// Least source of each block of a line. Thread = block of one line.
template <class V>
__global__ void __launch_bounds__(kGeneralBlock) find_least(const V* source, V* least, Lines lines, int step) {
  const std::int32_t blocks = (lines.extent + step - 1) / step;
  const std::int64_t i = std::int64_t{blockIdx.x} * kGeneralBlock + threadIdx.x;
  if (i >= lines.count() * blocks) return;
  const Division by_inner(i, lines.inner), by_blocks(by_inner.quotient, blocks);
  const auto first = static_cast<std::int32_t>(by_blocks.remainder) * step;
  const V* line = source + by_blocks.quotient * lines.extent * lines.inner + by_inner.remainder;
  V value = line[first * lines.inner];
  for (std::int32_t k = first + 1; k < min(first + step, lines.extent); ++k) value = min(value, line[k * lines.inner]);
  least[i] = value;
}

/// The search of one warp: lane = line, eight targets in registers.
template <class V, bool kTies>
class Search {
 public:
  __device__ Search(const Pass<V>& pass, std::int64_t line, bool active, std::int32_t first_target)
      : p_(pass),
        outer_(Division(line, pass.lines.inner).quotient),
        inner_(line - outer_ * pass.lines.inner),
        active_(active),
        at_(first_target),
        n_(pass.lines.extent) {}

  __device__ void run() {
    begin();
    const std::int32_t blocks = source_blocks(n_), own = at_ / kTargets;
    // Of a periodic line, half is enough on either side.
    const std::int32_t most = p_.periodic ? min(blocks - 1, n_ / 2 / kTargets + 2) : blocks - 1;
    std::int32_t left = 1, right = 0;
    bool to_left = false;
    while (left <= most || right <= most) {
      std::int32_t& d = to_left ? left : right;
      if (d <= most) d = step(to_left ? -1 : 1, own, d, blocks, most);
      to_left = !to_left;
    }
  }

  __device__ void finish() {
    if (!active_) return;
#pragma unroll
    for (int r = 0; r < kTargets; ++r) {
      const std::int32_t y = at_ + r;
      if (y >= n_) break;
      const std::int64_t place = (outer_ * n_ + y) * p_.lines.inner + inner_;
      p_.result[place] = best_[r];
      if constexpr (kTies) p_.result_site[place] = p_.source_site ? site_of(y, from_[r]) : from_[r];
    }
  }

 private:
  __device__ void offer(int r, V value, std::int32_t from) {
    if constexpr (kTies) {
      const bool better = value < best_[r] || (value == best_[r] && from < from_[r]);
      best_[r] = better ? value : best_[r];
      from_[r] = better ? from : from_[r];
    } else {
      best_[r] = min(best_[r], value);
    }
  }

  __device__ V join(V value, V cost) const { return p_.chessboard ? max(value, cost) : value + cost; }

  /// Targets with the ends of their runs; those that are not there take part with a value that nothing betters.
  __device__ void begin() {
    const bool starts = p_.start.bits != nullptr;
#pragma unroll
    for (int r = 0; r < kTargets; ++r) {
      const bool there = active_ && at_ + r < n_;
      best_[r] = there ? no_value<V>() : V{0};
      from_[r] = there ? INT32_MAX : -1;
      if (!starts || !there) continue;
      const InLine end = p_.start.nearest(outer_, inner_, at_ + r);
      if (end.steps >> 31) continue;
      best_[r] = p_.cost(end.steps);
      from_[r] = end.site;
    }
    find_worst();
  }

  __device__ void find_worst() {
    worst_ = best_[0];
#pragma unroll
    for (int r = 1; r < kTargets; ++r) worst_ = max(worst_, best_[r]);
    worst_ = min(worst_, p_.cap);
  }

  /// Whether no lane gains by values that are at least `least`: none is below its worst (or ties, if ties matter).
  __device__ bool hopeless(V least) const { return __all_sync(0xFFFFFFFFu, kTies ? least > worst_ : least >= worst_); }

  __device__ V least(const V* minima, std::int32_t count, std::int32_t block) const {
    return minima[(outer_ * count + block) * p_.lines.inner + inner_];
  }

  /// Looks at the block `d` blocks away in a direction and returns the next distance; one beyond `most` if all is
  /// found.
  __device__ std::int32_t step(std::int32_t direction, std::int32_t own, std::int32_t d, std::int32_t blocks,
                               std::int32_t most) {
    std::int32_t block = own + direction * d, shift = 0;
    if (block < 0 || block >= blocks) {
      if (!p_.periodic) return most + 1;
      block -= direction * blocks;
      shift = direction * n_;
    }
    const std::int32_t first = block * kTargets + shift, last = min(block * kTargets + kTargets, n_) - 1 + shift;
    const std::int32_t gap = direction < 0 ? at_ - last : first - min(at_ + kTargets, n_) + 1;
    const V cost = p_.cost(max(gap, 0));
    if (hopeless(cost)) return most + 1;
    // At the near end of a superblock, all of it may be skipped at once.
    const bool at_end = direction < 0 ? block % kSuperblock == kSuperblock - 1 : block % kSuperblock == 0;
    if (at_end && hopeless(join(least(p_.super_least, source_superblocks(n_), block / kSuperblock), cost)))
      return d + (direction < 0 ? kSuperblock : min(kSuperblock, blocks - block));
    if (!hopeless(join(least(p_.block_least, blocks, block), cost))) evaluate(block);
    return d + 1;
  }

  /// All pairs of a block of sources and the targets. Which ⊕ it is, is asked once.
  __device__ void evaluate(std::int32_t block) {
    if (p_.chessboard) evaluate(block, [](V value, V cost) { return max(value, cost); });
    else evaluate(block, [](V value, V cost) { return value + cost; });
  }
  template <class Join>
  __device__ void evaluate(std::int32_t block, Join&& join_pair) {
    const std::int32_t first = block * kTargets, count = min(kTargets, n_ - first);
    const V* source = p_.source + (outer_ * n_ + first) * p_.lines.inner + inner_;
    V cost[2 * kTargets - 1];  // of the steps from the block's last element to the first target, and so on
#pragma unroll
    for (int k = 0; k < 2 * kTargets - 1; ++k) {
      std::int32_t steps = abs(at_ - first + k - (kTargets - 1));
      if (p_.periodic) steps = min(steps, abs(n_ - steps));
      cost[k] = p_.cost(steps);
    }
#pragma unroll
    for (int j = 0; j < kTargets; ++j) {
      if (j >= count) break;
      const V value = source[j * p_.lines.inner];
#pragma unroll
      for (int r = 0; r < kTargets; ++r) offer(r, join_pair(value, cost[r - j + kTargets - 1]), first + j);
    }
    find_worst();
  }

  /// Linear index in this axis and those behind it of the nearest site, from the coordinate of the source that won.
  __device__ std::int64_t site_of(std::int32_t y, std::int32_t from) const {
    if (from < 0 || from >= n_) return -1;
    if (p_.start.bits) {  // the end of a run is a site itself; every other source knows its own nearest
      const InLine end = p_.start.nearest(outer_, inner_, y);
      if (!(end.steps >> 31) && end.site == from) return from * p_.site_step + p_.columns.linear(inner_);
    }
    return from * p_.site_step + p_.source_site[(outer_ * n_ + from) * p_.lines.inner + inner_];
  }

  const Pass<V>& p_;
  std::int64_t outer_, inner_;
  bool active_;
  std::int32_t at_;  ///< coordinate of the first target, a multiple of kTargets
  std::int32_t n_;
  V best_[kTargets];
  std::int32_t from_[kTargets];
  V worst_;
};

/// Warp = 32 neighbouring lines × 8 targets; warps of a block take targets that lie side by side in the same lines.
template <class V, bool kTies>
__global__ void __launch_bounds__(kSearchBlock) search(const __grid_constant__ Pass<V> pass) {
  const std::int64_t warp = (std::int64_t{blockIdx.x} * kSearchBlock + threadIdx.x) / 32;
  const Division by_blocks(warp, pass.blocks);
  const std::int64_t line = by_blocks.quotient * 32 + threadIdx.x % 32;
  if (line - threadIdx.x % 32 >= pass.lines.count()) return;
  const bool active = line < pass.lines.count();
  const auto block = pass.first_block + static_cast<std::int32_t>(by_blocks.remainder);
  Search<V, kTies> search(pass, active ? line : pass.lines.count() - 1, active, block * kTargets);
  search.run();
  search.finish();
}

}  // namespace fathom::grid::cuda::general
