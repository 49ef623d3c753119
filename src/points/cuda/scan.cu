// Nearest sites by looking at all of them.
//
// Work: a warp for each query and slice of the sites; a lane for each of 32 sites at a time. Where queries are few they
// share out the sites, and a second kernel, with a warp for each query, merges what the slices have found. Cost: O(n)
// per query. Scratch: k neighbours for each query and slice, independent of the number of sites.
#include <algorithm>

#include "core/cuda/runtime.h"
#include "points/cuda/search.h"
#include "points/cuda/tuning.h"
#include "points/cuda/warp_query.cuh"

namespace fathom::points::cuda {

namespace {

constexpr std::int64_t kSmallestSlice = 1024;

template <class Value>
struct Neighbour {
  Value squared;
  std::int64_t id;
};

/// How a call is cut.
struct Slices {
  int count = 1;
  std::int64_t size = 0;  ///< sites of each but the last: a multiple of 32

  static Slices of(const DeviceTree& tree, std::int64_t queries) {
    const std::int64_t warps = std::int64_t{fathom::cuda::multiprocessors()} * kScanWarps;
    const std::int64_t wanted = std::clamp<std::int64_t>(warps / queries, 1, tree.count / kSmallestSlice + 1);
    const std::int64_t size =
        std::max<std::int64_t>((tree.count + wanted - 1) / wanted + kLanes - 1, kLanes) / kLanes * kLanes;
    return {static_cast<int>(std::max<std::int64_t>((tree.count + size - 1) / size, 1)), size};
  }
};

template <class T>
std::size_t neighbour_bytes() {
  return std::is_same_v<T, std::int32_t> ? sizeof(Neighbour<Wide>) : sizeof(Neighbour<double>);
}

/// What the slices have found for a query, one after another.
template <class Value>
__device__ Neighbour<Value>* found_for(std::byte* scratch, std::int64_t query, const Slices& slices, int k,
                                       std::size_t bytes) {
  return reinterpret_cast<Neighbour<Value>*>(scratch + static_cast<std::size_t>(query * slices.count * k) * bytes);
}

template <class T, int kAxes, Kind kKind>
__global__ void __launch_bounds__(kSearchBlock)
    scan_sites(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request, Slices slices,
               std::byte* scratch, std::size_t bytes) {
  const std::int64_t number = (std::int64_t{blockIdx.x} * kSearchBlock + threadIdx.x) / 32;
  if (number >= request.queries.count * slices.count) return;
  const std::int64_t query = number / slices.count, slice = number % slices.count;
  const std::int64_t first = slice * slices.size, end = smaller(first + slices.size, tree.count);
  with_query<T, kAxes, kKind>(tree, request, query, [&](auto& mine) {
    if (slices.count == 1) mine.resume();
    for (std::int64_t at = first; at < end; at += kLanes)
      mine.look_at(at, static_cast<int>(smaller(end - at, std::int64_t{kLanes})));
    if (slices.count == 1) return mine.finish();
    using Value = typename std::remove_reference_t<decltype(mine)>::Value;
    auto* found = found_for<Value>(scratch, query, slices, request.k, bytes) + slice * request.k;
    mine.list().each([&](int j, Value squared, std::int64_t id) { found[j] = {squared, id}; });
  });
}

template <class T, int kAxes, Kind kKind>
__global__ void __launch_bounds__(kSearchBlock)
    merge_slices(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request, Slices slices,
                 std::byte* scratch, std::size_t bytes) {
  const std::int64_t query = (std::int64_t{blockIdx.x} * kSearchBlock + threadIdx.x) / 32;
  if (query >= request.queries.count) return;
  with_query<T, kAxes, kKind>(tree, request, query, [&](auto& mine) {
    using Value = typename std::remove_reference_t<decltype(mine)>::Value;
    const auto* found = found_for<Value>(scratch, query, slices, request.k, bytes);
    const int count = slices.count * request.k;
    mine.resume();
    for (int at = 0; at < count; at += kLanes) {
      const Neighbour<Value> neighbour = found[min(at + lane_id(), count - 1)];
      mine.list().offer(at + lane_id() < count && neighbour.id != kNobody, neighbour.squared, neighbour.id);
    }
    mine.finish();
  });
}

}  // namespace

std::size_t scan_scratch_bytes(const DeviceTree& tree, std::int64_t queries, int k) {
  const Slices slices = Slices::of(tree, queries);
  if (slices.count == 1) return 0;
  std::size_t bytes = 0;
  visit_coordinates(tree.dtype, [&](auto tag) { bytes = neighbour_bytes<typename decltype(tag)::type>(); });
  return bytes * static_cast<std::size_t>(queries * slices.count * k);
}

void scan(const DeviceTree& tree, const DeviceRequest& request, std::byte* scratch, cudaStream_t stream) {
  constexpr int kWarps = kSearchBlock / 32;
  const Slices slices = Slices::of(tree, request.queries.count);
  const auto blocks = [](std::int64_t warps) { return static_cast<unsigned>((warps + kWarps - 1) / kWarps); };
  visit_kind(tree.dtype, tree.axes, [&](auto tag, auto axes) {
    using T = typename decltype(tag)::type;
    constexpr int kAxes = decltype(axes)::value;
    const std::int64_t queries = request.queries.count;
    visit_general(request.metric, [&](auto kind) {
      scan_sites<T, kAxes, kind><<<blocks(queries * slices.count), kSearchBlock, 0, stream>>>(
          tree, request, slices, scratch, neighbour_bytes<T>());
      constexpr Kind kMerging = kind == Kind::general ? Kind::general : Kind::taxicab;  // of squares, or of distances
      if (slices.count > 1)
        merge_slices<T, kAxes, kMerging>
            <<<blocks(queries), kSearchBlock, 0, stream>>>(tree, request, slices, scratch, neighbour_bytes<T>());
    });
  });
  fathom::cuda::check_launch("looking at all sites");
}

}  // namespace fathom::points::cuda
