// The nearest of all sites, for many queries and one neighbour each: a filter says which groups of 128 sites may hold
// the nearest, and the arithmetic that decides looks into those alone.
//
// Filter: a block takes 512 queries, in registers, and every n-th group of sites, which pass through shared memory. A
// group whose least distance is no farther than what is known so far allows becomes a candidate of the query
// (candidates.cuh). Distances are those between points of a lattice, from tensor cores where these have proved exact on
// the device: coordinates that are small whole numbers are such points; others are rounded to the lattice, at the price
// of more candidates. Queries that get too many that way, and queries away from the sites, go through a filter in
// float32. Finish: a block for each query looks into its candidates; into all groups, should there still be too many.
// Launch: as many blocks of 4 warps as fill the device. Queries are taken in chunks, so that scratch has a bound.
//
// Bounds: in float32, offsets from a center are rounded, by at most E in all, of site and query together; so the nearest
// site's distance is at most (r + 2E)(1 + 2⁻²⁰), r being the least. Whole numbers below 2²⁴ are exact: the lowest group
// with the least distance has it. On the lattice, where r is exact, E is the way of both from their points to its. Cost:
// O(n) per query. Scratch: candidates of 16,384 queries at most, whatever their number and that of the sites.
#include <algorithm>
#include <cmath>

#include "core/cuda/runtime.h"
#include "points/cuda/candidates.cuh"
#include "points/cuda/products.cuh"
#include "points/cuda/products.h"
#include "points/cuda/search.h"
#include "points/cuda/tuning.h"
#include "points/cuda/warp_query.cuh"

namespace fathom::points::cuda {

namespace {

using fathom::cuda::Scratch;

constexpr int kGroup = kDirectBlock;  ///< sites: one for each thread to fetch
constexpr int kTile = kDirectBlock * kDirectQueries;

/// Where float32 offsets are measured from, and how far those of sites are rounded off at most, all axes together.
struct Frame {
  double center[3] = {};
  double error = 0;

  static Frame of(const DeviceTree& tree) {
    constexpr double kUnit = 0x1.04p-24, kUnderflow = 0x1p-140;
    Frame frame;
    if (tree.whole || tree.dtype == DType::float32) return frame;
    for (int k = 0; k < tree.axes; ++k) {
      frame.center[k] = 0.5 * tree.low[k] + 0.5 * tree.high[k];
      frame.error += std::max(tree.high[k] - frame.center[k], frame.center[k] - tree.low[k]) * kUnit + kUnderflow;
    }
    return frame;
  }
};

/// Queries [first, first + count) and how their work is cut.
struct Plan {
  std::int64_t first, count, groups;
  int tiles, slices;
  Frame frame;
  Lattice lattice;
  Candidates near;   ///< found on the lattice, or where that does not serve in float32
  Candidates again;  ///< found in float32 for queries that have too many on the lattice

  static Plan of(const DeviceTree& tree, std::int64_t queries, std::byte* memory) {
    Plan plan{};
    plan.count = std::min(queries, kDirectChunk);
    plan.groups = (tree.count + kGroup - 1) / kGroup;
    plan.tiles = static_cast<int>((plan.count + kTile - 1) / kTile);
    const std::int64_t blocks = std::int64_t{fathom::cuda::multiprocessors()} * kDirectBlocks;
    plan.slices = static_cast<int>(std::clamp<std::int64_t>(blocks / plan.tiles, 1, plan.groups));
    plan.frame = Frame::of(tree);
    plan.lattice = Lattice::of(tree);
    Scratch scratch(memory);
    plan.near = Candidates::take(scratch, plan.count);
    if (tree.products) plan.again = Candidates::take(scratch, plan.count);
    plan.bytes = scratch.bytes();
    return plan;
  }

  std::size_t bytes;
};

__global__ void __launch_bounds__(kSearchBlock) clear_candidates(const __grid_constant__ Plan plan) {
  const std::int64_t query = std::int64_t{blockIdx.x} * kSearchBlock + threadIdx.x;
  if (query >= plan.count) return;
  plan.near.clear(query);
  if (plan.again.found) plan.again.clear(query);
}

/// One block's part of the work.
struct Part {
  int slice;
  std::int64_t first;  ///< query of the plan

  __device__ static Part of(const Plan& plan) {
    return {static_cast<int>(blockIdx.x) % plan.slices, std::int64_t{blockIdx.x} / plan.slices * kTile};
  }
  /// The thread's i-th query; at the end the last, again.
  __device__ std::int64_t query(const Plan& plan, int i) const {
    return smaller(first + i * kDirectBlock + static_cast<int>(threadIdx.x), plan.count - 1);
  }
};

/// Offsets of a site in float32; infinite beyond the last.
template <class T, int kAxes>
__device__ float4 offset_of(const DeviceTree& tree, const double* center, std::int64_t site) {
  if (site >= tree.count) return {INFINITY, INFINITY, INFINITY, 0};
  float at[3] = {};
  for (int k = 0; k < kAxes; ++k) {
    const T x = tree.sites.get<T>(k, site);
    if constexpr (std::is_same_v<T, float>) at[k] = x - static_cast<float>(center[k]);
    else at[k] = static_cast<float>(static_cast<double>(x) - center[k]);
  }
  return {at[0], at[1], at[2], 0};
}

// On the lattice
// ---------------------------------------------------------------------------------------------------------------------

/// A site's factors.
template <class T, int kAxes>
__device__ Factors factors_of(const Lattice& lattice, const float4& offset) {
  if (isinf(offset.x)) return Factors::of_nobody();
  const auto scale = static_cast<float>(lattice.scale);
  return Factors::of_site(rintf(offset.x * scale), rintf(offset.y * scale), rintf(offset.z * scale));
}

/// The place of a thread's queries on the lattice.
template <int kAxes>
struct LatticePlaces {
  float at[kDirectQueries][3] = {};
  bool near = true;   ///< on the part of the lattice that products.cuh serves
  bool exact = true;  ///< nothing was rounded

  __device__ LatticePlaces(const DeviceRequest& request, const Plan& plan, const Part& part) {
    exact = plan.lattice.exact;
    for (int q = 0; q < kDirectQueries; ++q)
      for (int k = 0; k < kAxes; ++k) {
        const double offset = request.queries.at(k, plan.first + part.query(plan, q)) - plan.lattice.center[k];
        at[q][k] = static_cast<float>(rint(offset * plan.lattice.scale));
        near &= fabsf(at[q][k]) <= kProductReach;
        exact &= static_cast<double>(at[q][k]) == offset;
      }
  }
};

/// A warp takes 128 queries, as eight products of 16 with 8 sites each. A lane keeps the least of the two columns that it
/// gets of each; four lanes share theirs where one of them is up to the limit.
template <class T, int kAxes>
__device__ void filter_on_lattice(const DeviceTree& tree, const Plan& plan, const Part& part,
                                  const LatticePlaces<kAxes>& places, Accuracy accuracy) {
  constexpr int kProducts = 8, kRows = 2 * kProducts, kOffers = kRows / 4;
  __shared__ unsigned queries[kTile][4];
  __shared__ __align__(
      16) unsigned sites[2][kGroup * 4];  // [4 products][lane][product]: a lane's word of four products
  const int thread = static_cast<int>(threadIdx.x), g = lane_id() / 4, t = lane_id() % 4;
  for (int q = 0; q < kDirectQueries; ++q) {
    const Factors factors = Factors::of_query(places.at[q][0], places.at[q][1], places.at[q][2]);
    for (int w = 0; w < 4; ++w) queries[q * kDirectBlock + thread][w] = factors.words[w];
  }
  __syncthreads();
  const int first_row = thread / 32 * kRows * 8 + g;
  unsigned row[kRows];
  int limit[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    row[r] = queries[first_row + 8 * r][t];
    limit[r] = part.first + first_row + 8 * r < plan.count ? kFarBits : -1;
  }
  float4 next = offset_of<T, kAxes>(tree, plan.lattice.center, std::int64_t{part.slice} * kGroup + thread);
  unsigned turn = 0;
  for (std::int64_t group = part.slice; group < plan.groups; group += plan.slices, ++turn) {
    const Factors factors = factors_of<T, kAxes>(plan.lattice, next);
    unsigned* words = sites[turn % 2];
    for (int w = 0; w < 4; ++w)
      words[(thread / 32 * 32 + thread % 8 * 4 + w) * 4 + thread / 8 % 4] = factors.words[w];
    __syncthreads();
    next = offset_of<T, kAxes>(tree, plan.lattice.center, (group + plan.slices) * kGroup + thread);
    if (turn > 0 && (turn & (turn - 1)) == 0)
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        if (limit[r] >= 0) limit[r] = min(limit[r], plan.near.limit_of(part.first + first_row + 8 * r));
    int least[kRows];
#pragma unroll
    for (int& bits : least) bits = kFarBits;
#pragma unroll
    for (int j = 0; j < kGroup; j += 32) {
      const uint4 word_of = *reinterpret_cast<const uint4*>(&words[(j + lane_id()) * 4]);
      for (const unsigned word : {word_of.x, word_of.y, word_of.z, word_of.w})
#pragma unroll
        for (int m = 0; m < kProducts; ++m) {
          int bits[4];
          multiply(bits, row[2 * m], row[2 * m + 1], word);
          least[2 * m] = __vimin3_s32(least[2 * m], bits[0], bits[1]);
          least[2 * m + 1] = __vimin3_s32(least[2 * m + 1], bits[2], bits[3]);
        }
    }
    bool any = false;
#pragma unroll
    for (int r = 0; r < kRows; ++r) any |= least[r] <= limit[r];
    if (!__any_sync(kAllLanes, any)) continue;
    std::int64_t query[kOffers];
    int nearest[kOffers], bound[kOffers];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {  // lane t offers rows t, 4 + t, …
      int both = min(least[r], from_lane(least[r], lane_id() ^ 1));
      both = min(both, from_lane(both, lane_id() ^ 2));
      if (r % 4 != t) continue;
      query[r / 4] = part.first + first_row + 8 * r;
      nearest[r / 4] = both;
      bound[r / 4] = limit[r];
    }
    plan.near.offer(query, nearest, bound, static_cast<unsigned>(group), [&](std::int64_t) { return accuracy; });
#pragma unroll
    for (int r = 0; r < kRows; ++r) limit[r] = from_lane(bound[r / 4], lane_id() / 4 * 4 + r % 4);
  }
}

// In float32
// ---------------------------------------------------------------------------------------------------------------------

/// Bits of the squared distance in float32. No distance is a NaN that comes before another: inf − inf has a NaN's bits.
template <int kAxes>
__device__ int float_bits(const float* query, const float4& site) {
  const float x = query[0] - site.x, y = query[1] - site.y;
  float sum = fmaf(x, x, y * y);
  if constexpr (kAxes == 3) {
    const float z = query[2] - site.z;
    sum = fmaf(z, z, sum);
  }
  return __float_as_int(sum);
}

/// How far a query's distances are rounded off.
template <int kAxes>
__device__ Accuracy accuracy_of(const DeviceTree& tree, const DeviceRequest& request, const Frame& frame,
                                std::int64_t query) {
  constexpr double kUnit = 0x1p-52;
  Accuracy result{frame.error, tree.whole};
  for (int k = 0; k < kAxes; ++k) {
    const double offset = request.queries.at(k, query) - frame.center[k];
    result.error += fabs(static_cast<double>(static_cast<float>(offset)) - offset);
    if (frame.center[k] != 0) result.error += fabs(offset) * kUnit;
    result.exact &= offset == floor(offset) && fabs(offset) <= kWholeInFloat;
  }
  return result;
}

/// @param limit  −1: a query that takes no part
template <class T, int kAxes>
__device__ void filter_in_float(const DeviceTree& tree, const DeviceRequest& request, const Plan& plan,
                                const Part& part, const Candidates& candidates, int (&limit)[kDirectQueries]) {
  __shared__ float4 sites[2][kGroup];
  const int thread = static_cast<int>(threadIdx.x);
  float at[kDirectQueries][kAxes];
  std::int64_t query[kDirectQueries];
#pragma unroll
  for (int q = 0; q < kDirectQueries; ++q) {
    query[q] = part.query(plan, q);
    for (int k = 0; k < kAxes; ++k) {
      const double x = request.queries.at(k, plan.first + query[q]);
      at[q][k] = fabs(x) <= kLargestCoordinate ? static_cast<float>(x - plan.frame.center[k]) : INFINITY;
    }
  }
  float4 next = offset_of<T, kAxes>(tree, plan.frame.center, std::int64_t{part.slice} * kGroup + thread);
  unsigned turn = 0;
  for (std::int64_t group = part.slice; group < plan.groups; group += plan.slices, ++turn) {
    const float4* tile = sites[turn % 2];
    sites[turn % 2][thread] = next;
    __syncthreads();
    next = offset_of<T, kAxes>(tree, plan.frame.center, (group + plan.slices) * kGroup + thread);
    if (turn > 0 && (turn & (turn - 1)) == 0)
#pragma unroll
      for (int q = 0; q < kDirectQueries; ++q)
        if (limit[q] >= 0) limit[q] = min(limit[q], candidates.limit_of(query[q]));
    int least[kDirectQueries];
#pragma unroll
    for (int& bits : least) bits = kFarBits;
#pragma unroll 8
    for (int j = 0; j < kGroup; j += 2) {
      const float4 a = tile[j], b = tile[j + 1];
#pragma unroll
      for (int q = 0; q < kDirectQueries; ++q)
        least[q] = __vimin3_s32(least[q], float_bits<kAxes>(at[q], a), float_bits<kAxes>(at[q], b));
    }
    candidates.offer(query, least, limit, static_cast<unsigned>(group), [&](std::int64_t number) {
      return accuracy_of<kAxes>(tree, request, plan.frame, plan.first + number);
    });
  }
}

template <class T, int kAxes>
__global__ void __launch_bounds__(kDirectBlock, kDirectBlocks)
    filter_sites(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request,
                 const __grid_constant__ Plan plan) {
  const Part part = Part::of(plan);
  if (tree.products) {
    const LatticePlaces<kAxes> places(request, plan, part);
    if (__syncthreads_and(places.near)) {
      constexpr double kOff = 2 * 0.51;  // of site and query along an axis; the rest of a hundredth is float32's
      const bool exact = __syncthreads_and(places.exact);
      return filter_on_lattice<T, kAxes>(tree, plan, part, places, {exact ? 0 : kOff * sqrt(double{kAxes}), exact});
    }
  }
  int limit[kDirectQueries];
  for (int q = 0; q < kDirectQueries; ++q)
    limit[q] = part.first + q * kDirectBlock + static_cast<int>(threadIdx.x) < plan.count ? kFarBits : -1;
  filter_in_float<T, kAxes>(tree, request, plan, part, plan.near, limit);
}

/// In float32 for queries that have too many candidates on the lattice.
template <class T, int kAxes>
__global__ void __launch_bounds__(kDirectBlock, kDirectBlocks)
    filter_again(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request,
                 const __grid_constant__ Plan plan) {
  const Part part = Part::of(plan);
  int limit[kDirectQueries];
  bool any = false;
  for (int q = 0; q < kDirectQueries; ++q) {
    const std::int64_t query = part.first + q * kDirectBlock + static_cast<int>(threadIdx.x);
    limit[q] = query < plan.count && plan.near.found[query].is_full() ? kFarBits : -1;
    any |= limit[q] >= 0;
  }
  if (!__syncthreads_or(any) || !__syncthreads_and(LatticePlaces<kAxes>(request, plan, part).near)) return;
  filter_in_float<T, kAxes>(tree, request, plan, part, plan.again, limit);
}

// Finish
// ---------------------------------------------------------------------------------------------------------------------

/// One warp's share of a query's candidates.
template <class Query>
class Finish {
 public:
  using Nearest = typename Query::Nearest;

  __device__ Finish(const Query& query, int warp) : query_(query), warp_(warp), nearest_(query.nobody()) {}

  __device__ Nearest of_all(std::int64_t groups) {
    for (std::int64_t group = warp_; group < groups; group += kWarps) look_at(group);
    return nearest_;
  }

  __device__ Nearest of(const Found& found, const Candidate* entries) {
    int number = 0;
    if (warp_ == number++) look_at(found.group());
    for (unsigned begin = 0; begin < found.count; begin += kLanes) {
      const unsigned i = begin + static_cast<unsigned>(lane_id());
      const Candidate mine = i < found.count ? entries[i] : Candidate{kFarBits, 0};
      const bool counts = i < found.count && mine.least <= found.limit && mine.group != found.group();
      for (unsigned left = __ballot_sync(kAllLanes, counts); left != 0; left &= left - 1)
        if (number++ % kWarps == warp_) look_at(from_lane(mine.group, __ffs(static_cast<int>(left)) - 1));
    }
    return nearest_;
  }

 private:
  static constexpr int kWarps = kSearchBlock / 32;

  __device__ void look_at(std::int64_t group) {
    query_.template look_past<kGroup / kLanes>(group * kGroup, nearest_);
  }

  const Query& query_;
  int warp_;
  Nearest nearest_;
};

template <class T, int kAxes>
__global__ void __launch_bounds__(kSearchBlock)
    finish_queries(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request,
                   const __grid_constant__ Plan plan) {
  const std::int64_t number = blockIdx.x;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  with_query<T, kAxes, false>(tree, request, plan.first + number, [&](auto& mine) {
    using Query = std::remove_reference_t<decltype(mine)>;
    __shared__ typename Query::Nearest best[kSearchBlock / 32];
    if (mine.is_somewhere()) {
      Found found = plan.near.found[number];
      const bool again = found.is_full() && plan.again.found && plan.again.found[number].key != ~0ull;
      if (again) found = plan.again.found[number];
      const Candidates& candidates = again ? plan.again : plan.near;
      Finish<Query> finish(mine, warp);
      const auto nearest = found.is_full() ? finish.of_all(plan.groups)
                                           : finish.of(found, candidates.entries + number * kCandidates);
      mine.list().offer(nearest.id != kNobody, nearest.squared, nearest.id);
      if (lane_id() == 0) best[warp] = {mine.list().worst_squared(), mine.list().worst_id()};
    }
    __syncthreads();
    if (warp > 0) return;
    if (mine.is_somewhere())
      for (int w = 1; w < kSearchBlock / 32; ++w) mine.list().offer_one(best[w].squared, best[w].id);
    mine.resume();
    mine.finish();
  });
}

template <class T, int kAxes>
void launch(const DeviceTree& tree, const DeviceRequest& request, const Plan& plan, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(plan.tiles * plan.slices);
  const auto count = static_cast<unsigned>(plan.count);
  clear_candidates<<<(count + kSearchBlock - 1) / kSearchBlock, kSearchBlock, 0, stream>>>(plan);
  filter_sites<T, kAxes><<<blocks, kDirectBlock, 0, stream>>>(tree, request, plan);
  if (tree.products && !(plan.lattice.exact && request.may_be_wide))
    filter_again<T, kAxes><<<blocks, kDirectBlock, 0, stream>>>(tree, request, plan);
  finish_queries<T, kAxes><<<count, kSearchBlock, 0, stream>>>(tree, request, plan);
}

}  // namespace

bool direct_serves(const DeviceTree& tree, std::int64_t queries, bool simple) {
  constexpr double kFarthest = 1e37;  // offsets are float32 numbers
  bool near = true;
  for (int k = 0; k < tree.axes; ++k) near &= tree.low[k] >= -kFarthest && tree.high[k] <= kFarthest;
  return simple && near && tree.count > 0 && queries >= kFewQueries;
}

std::size_t direct_scratch_bytes(const DeviceTree& tree, std::int64_t queries) {
  return Plan::of(tree, queries, nullptr).bytes;
}

void direct(const DeviceTree& tree, const DeviceRequest& request, std::byte* scratch, cudaStream_t stream) {
  const std::int64_t queries = request.queries.count;
  Plan plan = Plan::of(tree, queries, scratch);
  visit_kind(tree.dtype, tree.axes, [&](auto tag, auto axes) {
    using T = typename decltype(tag)::type;
    for (; plan.first < queries; plan.first += kDirectChunk) {
      plan.count = std::min(queries - plan.first, kDirectChunk);
      launch<T, decltype(axes)::value>(tree, request, plan, stream);
    }
  });
  fathom::cuda::check_launch("looking for the nearest of all sites");
}

}  // namespace fathom::points::cuda
