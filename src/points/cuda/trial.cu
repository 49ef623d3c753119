// A trial of some queries, spread evenly over the box of a set's sites: of how many groups of sites the lattice of
// products.cuh leaves open whether they hold the nearest. Sites that are about equally far, as on a sphere from its
// middle, or close together, as in clusters, are not told apart by it, and all the work behind it is float32's.
//
// Work: a block for each query, which measures up to 512 groups, evenly among all, in float32; a warp takes every 16th
// of these. Then a thread for each group counts it. Cost: 65,536 sites for each of 32 queries.
#include <algorithm>
#include <array>

#include "core/cuda/runtime.h"
#include "points/cuda/candidates.cuh"
#include "points/cuda/products.h"
#include "points/cuda/trial.h"
#include "points/cuda/tuning.h"

namespace fathom::points::cuda {

namespace {

constexpr int kTrialQueries = 32;
constexpr int kTrialGroups = 512;
constexpr int kGroup = kDirectBlock;

/// Whether a query has too many of what Trial tells of.
struct Finding {
  bool vague, tied;
};

/// The groups that are measured.
struct Sample {
  std::int64_t all;
  int count;

  explicit Sample(const DeviceTree& tree)
      : all((tree.count + kGroup - 1) / kGroup), count(static_cast<int>(std::min<std::int64_t>(all, kTrialGroups))) {}

  __device__ std::int64_t group(int i) const { return all * i / count; }
  /// Whether so many of them say that float32 alone is faster for all, as far as a table of groups reaches.
  __device__ bool is_too_many(int found) const {
    const std::int64_t groups = smaller(all, std::int64_t{kTableGroups});
    return found * groups > most_open(groups) * count;
  }

 private:
  __device__ static std::int64_t most_open(std::int64_t groups) {
    return smaller(larger(groups / kOpenShare, std::int64_t{kFewOpen}), std::int64_t{kTooMany});
  }
};

/// On the lattice, but not rounded to it.
template <int kAxes>
struct Spot {
  float at[kAxes];

  /// Number `i` of a sequence that fills the box evenly (Roberts 2018): multiples of powers of a number, modulo 1.
  __device__ static Spot of_query(const DeviceTree& tree, const Lattice& lattice, unsigned i) {
    constexpr double kStep[3] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
    Spot spot;
    for (int k = 0; k < kAxes; ++k) {
      const double turn = (i + 1) * kStep[k], x = tree.low[k] + (turn - floor(turn)) * (tree.high[k] - tree.low[k]);
      spot.at[k] = static_cast<float>(((lattice.exact ? floor(x) : x) - lattice.center[k]) * lattice.scale);
    }
    return spot;
  }

  template <class T>
  __device__ static Spot of_site(const Cloud& sites, const Lattice& lattice, std::int64_t i) {
    Spot spot;
    for (int k = 0; k < kAxes; ++k)
      spot.at[k] = static_cast<float>((static_cast<double>(sites.get<T>(k, i)) - lattice.center[k]) * lattice.scale);
    return spot;
  }

  /// Bits of the squared distance.
  __device__ unsigned bits_to(const Spot& other) const {
    float sum = 0;
    for (int k = 0; k < kAxes; ++k) sum = fmaf(at[k] - other.at[k], at[k] - other.at[k], sum);
    return __float_as_uint(sum);
  }
};

/// Bits of the least squared distance to a group's sites. By a warp.
template <class T, int kAxes>
__device__ unsigned measure(const Cloud& sites, const Lattice& lattice, std::int64_t group, const Spot<kAxes>& query) {
  unsigned least = kFarBits;
#pragma unroll
  for (int s = 0; s < kGroup; s += kLanes) {
    const std::int64_t site = smaller(group * kGroup + s + lane_id(), sites.count - 1);
    least = min(least, query.bits_to(Spot<kAxes>::template of_site<T>(sites, lattice, site)));
  }
  return warp_min(least);
}

template <class T, int kAxes>
__global__ void __launch_bounds__(kTrialGroups)
    count_groups(const __grid_constant__ DeviceTree tree, const __grid_constant__ Lattice lattice, Sample sample,
                 Finding* findings) {
  __shared__ unsigned least[kTrialGroups], best;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) best = kFarBits;
  const auto query = Spot<kAxes>::of_query(tree, lattice, blockIdx.x);
#pragma unroll 4
  for (int i = thread / 32; i < sample.count; i += kTrialGroups / 32) {
    const unsigned bits = measure<T>(tree.sites, lattice, sample.group(i), query);
    if (lane_id() == 0) least[i] = bits;
  }
  __syncthreads();
  const unsigned mine = thread < sample.count ? least[thread] : ~0u, lowest = warp_min(mine);
  if (lane_id() == 0) atomicMin(&best, lowest);
  __syncthreads();
  const Accuracy accuracy = Accuracy::of_products(lattice.exact, kAxes);
  const auto bits = static_cast<int>(best);
  const bool is_open = !accuracy.holds(bits) && mine <= static_cast<unsigned>(accuracy.limit(bits));
  const int open = __syncthreads_count(is_open), tied = __syncthreads_count(mine == best);
  if (thread == 0) findings[blockIdx.x] = {sample.is_too_many(open), sample.is_too_many(tied)};
}

}  // namespace

Trial try_queries(const DeviceTree& tree, cudaStream_t stream) {
  using fathom::cuda::check;
  const Sample sample(tree);
  if (sample.all <= kFewOpen) return {};
  std::array<Finding, kTrialQueries> findings;
  const fathom::cuda::DeviceMemory memory(sizeof findings, stream);
  auto* result = reinterpret_cast<Finding*>(memory.data());
  visit_kind(tree.dtype, tree.axes, [&](auto tag, auto axes) {
    count_groups<typename decltype(tag)::type, decltype(axes)::value>
        <<<kTrialQueries, kTrialGroups, 0, stream>>>(tree, Lattice::of(tree), sample, result);
  });
  fathom::cuda::check_launch("trying queries");
  check(cudaMemcpyAsync(findings.data(), result, sizeof findings, cudaMemcpyDeviceToHost, stream), "reading findings");
  check(cudaStreamSynchronize(stream), "trying queries");
  constexpr int kMost = kTrialQueries / 8;  // more, and most blocks of eight queries, which finish together, have one
  return {std::ranges::count_if(findings, &Finding::vague) > kMost,
          std::ranges::count_if(findings, &Finding::tied) > kMost};
}

}  // namespace fathom::points::cuda
