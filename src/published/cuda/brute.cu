// Brute force on a device: every element against every site. Thread = element; a block takes sites into shared memory,
// as many at a time as it has threads, and all of its threads look at each. Cost: O(N · sites), and all sites' order
// does not matter: of equally near ones the lowest place wins, places being ordered as indices are.
#include "published/cuda/task.h"

namespace fathom::published::cuda {

namespace {

/// Appends the places of sites, in any order. Thread = element.
__global__ void __launch_bounds__(kBlock)
    list_sites(const __grid_constant__ Places places, const std::uint8_t* mask, std::uint32_t* sites, unsigned* count) {
  const std::int64_t at = std::int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (at < places.size() && mask[at]) sites[atomicAdd(count, 1u)] = places.pack(places.point(at));
}

__global__ void __launch_bounds__(kBlock) compare_all(const __grid_constant__ Places places, const std::uint32_t* sites,
                                                      const unsigned* count, std::uint32_t* nearest) {
  __shared__ std::uint32_t some[kBlock];
  const std::int64_t at = std::int64_t{blockIdx.x} * kBlock + threadIdx.x;
  const Point own = places.point(at < places.size() ? at : 0);
  const unsigned all = *count;
  std::uint32_t best = kNone;
  int least = 0;
  for (unsigned first = 0; first < all; first += kBlock) {
    __syncthreads();
    if (first + threadIdx.x < all) some[threadIdx.x] = sites[first + threadIdx.x];
    __syncthreads();
    for (unsigned k = 0; k < min(all - first, static_cast<unsigned>(kBlock)); ++k) {
      const int squared = squared_distance(places.unpack(some[k]), own);
      if (best == kNone || squared < least || (squared == least && some[k] < best)) {
        best = some[k];
        least = squared;
      }
    }
  }
  if (at < places.size()) nearest[at] = best;
}

__global__ void __launch_bounds__(kBlock)
    place(const __grid_constant__ Places places, const std::uint8_t* mask, std::uint32_t* out) {
  const std::int64_t at = std::int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (at < places.size()) out[at] = mask[at] ? places.pack(places.point(at)) : kNone;
}

}  // namespace

void place_sites(const Task& task, std::uint32_t* places) {
  place<<<blocks_of(task.places.size()), kBlock, 0, task.stream>>>(task.places, task.mask, places);
  fathom::cuda::check_launch("placing sites");
  task.watch->lap("placing sites");
}

void brute_force(const Task& task) {
  const Places& p = task.places;
  auto* const sites = task.scratch.take<std::uint32_t>(p.size());
  auto* const count = task.scratch.take<unsigned>(1);
  if (task.counts_only()) return;
  fathom::cuda::check(cudaMemsetAsync(count, 0, sizeof *count, task.stream), "counting sites");
  list_sites<<<blocks_of(p.size()), kBlock, 0, task.stream>>>(p, task.mask, sites, count);
  task.watch->lap("listing sites");
  compare_all<<<blocks_of(p.size()), kBlock, 0, task.stream>>>(p, sites, count, task.nearest);
  fathom::cuda::check_launch("comparing with all sites");
  task.watch->lap("comparisons");
}

}  // namespace fathom::published::cuda
