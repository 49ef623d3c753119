// The nearest of all sites, for many queries and one neighbour each: distances in float32 say which groups of 64 sites
// may hold the nearest, and the arithmetic that decides looks into those alone.
//
// Filter: a block takes 512 queries, four to a thread, in registers, and every n-th stage of 128 sites, which pass
// through shared memory; of each slice a query keeps its best group, that group's distance, and the distance of the
// second best. Finish: a warp for each query finds the least distance of all slices, and looks into each slice's best
// group that may be as near, or into the whole slice if its second best may be, too. Launch: as many blocks as fill the
// device. Small whole numbers go through tensor cores instead, where these have proved exact on the device.
//
// Bound: offsets from a center are rounded to float32, by at most E in all; subtractions, squares and sums then err by
// less than 4u of the distance, u = 2⁻²⁴. So the nearest site's float32 distance is at most (r + 2E)(1 + 2⁻²⁰), r being
// the least. Whole numbers below 2²⁴ are exact, and so are their squared distances: the lowest group with the least
// distance has it. Cost: O(n) per query. Scratch: 12 bytes for each query and slice, independent of the number of
// sites.
#include <algorithm>
#include <cmath>

#include "core/cuda/runtime.h"
#include "points/cuda/products.cuh"
#include "points/cuda/search.h"
#include "points/cuda/tuning.h"
#include "points/cuda/warp_query.cuh"

namespace fathom::points::cuda {

namespace {

constexpr int kStage = kDirectBlock;  ///< sites: one for each thread to fetch
constexpr int kGroup = 64;            ///< sites
constexpr int kTile = kDirectBlock * kDirectQueries;
constexpr int kFarBits = 0x7F800000;  ///< of +inf: non-negative floats rise with their bits

/// Where float32 offsets are measured from, and how far they are rounded off at most, all axes together.
struct Frame {
  double center[3] = {};
  double error = 0;

  static Frame of(const DeviceTree& tree) {
    constexpr double kUnit = 0x1.04p-24, kUnderflow = 0x1p-140;
    Frame frame;
    if (tree.products)
      for (int k = 0; k < tree.axes; ++k) frame.center[k] = std::floor(0.5 * tree.low[k] + 0.5 * tree.high[k]);
    if (tree.whole || tree.dtype == DType::float32) return frame;
    for (int k = 0; k < tree.axes; ++k) {
      frame.center[k] = 0.5 * tree.low[k] + 0.5 * tree.high[k];
      frame.error += std::max(tree.high[k] - frame.center[k], frame.center[k] - tree.low[k]) * kUnit + kUnderflow;
    }
    return frame;
  }
};

/// What one slice has for one query.
struct Found {
  int best, second;  ///< bits of squared distances
  unsigned group;    ///< that the best is in
};

struct Cut {
  int tiles, slices;
  std::int64_t stages;

  static Cut of(const DeviceTree& tree, std::int64_t queries) {
    const std::int64_t tiles = (queries + kTile - 1) / kTile, stages = (tree.count + kStage - 1) / kStage;
    const std::int64_t blocks = std::int64_t{fathom::cuda::multiprocessors()} * kDirectBlocks;
    return {static_cast<int>(tiles), static_cast<int>(std::clamp<std::int64_t>(blocks / tiles, 1, stages)), stages};
  }
};

template <class T, int kAxes>
__device__ float4 offset_of(const DeviceTree& tree, const Frame& frame, std::int64_t site) {
  if (site >= tree.count) return {INFINITY, INFINITY, INFINITY, 0};
  float at[3] = {};
  for (int k = 0; k < kAxes; ++k)
    at[k] = static_cast<float>(static_cast<double>(tree.sites.get<T>(k, site)) - frame.center[k]);
  return {at[0], at[1], at[2], 0};
}

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

/// One block's part of the work.
struct Part {
  int slice;
  std::int64_t first;  ///< query

  __device__ static Part of(const Cut& cut) {
    return {static_cast<int>(blockIdx.x) % cut.slices, std::int64_t{blockIdx.x} / cut.slices * kTile};
  }
  __device__ void write(const DeviceRequest& request, int number, const Found& mine, Found* found) const {
    const std::int64_t queries = request.queries.count, query = first + number;
    if (query < queries) found[slice * queries + query] = mine;
  }
};

/// Offsets of a query of the part; one that is nowhere is infinitely far.
template <int kAxes>
__device__ void offsets_of(const DeviceRequest& request, const double* center, std::int64_t query, float (&at)[kAxes]) {
  for (int k = 0; k < kAxes; ++k) {
    const double x = request.queries.at(k, smaller(query, request.queries.count - 1));
    at[k] = fabs(x) <= kLargestCoordinate ? static_cast<float>(x - center[k]) : INFINITY;
  }
}

template <int kAxes>
__device__ float third(const float* offset) {
  if constexpr (kAxes == 3) return offset[2];
  else return 0;
}

/// The filter for small whole numbers, on tensor cores (products.cuh): a warp takes 128 queries, as eight products of
/// 16 with 8 sites each. A lane keeps the best of the two columns that it gets of each; in the end four lanes share
/// theirs. All is exact, so that nobody asks for the second best.
template <class T, int kAxes>
__device__ void multiply_sites(const DeviceTree& tree, const Frame& frame, const Cut& cut, const Part& part,
                               const float (&at)[kDirectQueries][kAxes], const DeviceRequest& request, Found* found) {
  constexpr int kProducts = 8, kRows = 2 * kProducts;
  __shared__ unsigned queries[kTile][4];
  __shared__ __align__(
      16) unsigned sites[2][kStage * 4];  // [4 products][lane][product]: a lane's word of four products
  const int thread = static_cast<int>(threadIdx.x), g = lane_id() / 4, t = lane_id() % 4;
  for (int q = 0; q < kDirectQueries; ++q) {
    const Factors factors = Factors::of_query(at[q][0], at[q][1], third<kAxes>(at[q]));
    for (int w = 0; w < 4; ++w) queries[q * kDirectBlock + thread][w] = factors.words[w];
  }
  __syncthreads();
  const int first_row = thread / 32 * kRows * 8 + g;
  unsigned row[kRows], group[kRows];
  int best[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    row[r] = queries[first_row + 8 * r][t];
    best[r] = kFarBits;
    group[r] = 0;
  }
  float4 next = offset_of<T, kAxes>(tree, frame, std::int64_t{part.slice} * kStage + thread);
  int side = 0;
  for (std::int64_t stage = part.slice; stage < cut.stages; stage += cut.slices, side ^= 1) {
    const Factors factors = isinf(next.x) ? Factors::of_nobody() : Factors::of_site(next.x, next.y, next.z);
    for (int w = 0; w < 4; ++w)
      sites[side][(thread / 32 * 32 + thread % 8 * 4 + w) * 4 + thread / 8 % 4] = factors.words[w];
    __syncthreads();
    next = offset_of<T, kAxes>(tree, frame, (stage + cut.slices) * kStage + thread);
    for (int begin = 0; begin < kStage; begin += kGroup) {
      int least[kRows];
#pragma unroll
      for (int& bits : least) bits = kFarBits;
#pragma unroll
      for (int j = begin; j < begin + kGroup; j += 32) {
        const uint4 words = *reinterpret_cast<const uint4*>(&sites[side][(j + lane_id()) * 4]);
        for (const unsigned word : {words.x, words.y, words.z, words.w})
#pragma unroll
          for (int m = 0; m < kProducts; ++m) {
            int bits[4];
            multiply(bits, row[2 * m], row[2 * m + 1], word);
            least[2 * m] = __vimin3_s32(least[2 * m], bits[0], bits[1]);
            least[2 * m + 1] = __vimin3_s32(least[2 * m + 1], bits[2], bits[3]);
          }
      }
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        if (least[r] < best[r]) {
          best[r] = least[r];
          group[r] = static_cast<unsigned>((stage * kStage + begin) / kGroup);
        }
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    for (int step = 1; step < 4; step *= 2) {
      const int other = from_lane(best[r], lane_id() ^ step);
      const unsigned other_group = from_lane(group[r], lane_id() ^ step);
      if (other < best[r] || (other == best[r] && other_group < group[r])) best[r] = other, group[r] = other_group;
    }
    if (t == 0) part.write(request, first_row + 8 * r, {best[r], best[r], group[r]}, found);
  }
}

template <class T, int kAxes>
__global__ void __launch_bounds__(kDirectBlock)
    filter_sites(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request, Frame frame,
                 Cut cut, Found* found) {
  __shared__ float4 tile[2][kStage];
  const Part part = Part::of(cut);
  const int thread = static_cast<int>(threadIdx.x);
  float at[kDirectQueries][kAxes];
  Found mine[kDirectQueries];
  bool near = true;
#pragma unroll
  for (int q = 0; q < kDirectQueries; ++q) {
    mine[q] = {kFarBits, kFarBits, 0};
    offsets_of(request, frame.center, part.first + q * kDirectBlock + thread, at[q]);
    near &= is_near(at[q]);
  }
  if (tree.products && __syncthreads_and(near))
    return multiply_sites<T, kAxes>(tree, frame, cut, part, at, request, found);
  float4 next = offset_of<T, kAxes>(tree, frame, std::int64_t{part.slice} * kStage + thread);
  int side = 0;
  for (std::int64_t stage = part.slice; stage < cut.stages; stage += cut.slices, side ^= 1) {
    tile[side][thread] = next;
    __syncthreads();
    next = offset_of<T, kAxes>(tree, frame, (stage + cut.slices) * kStage + thread);
    for (int begin = 0; begin < kStage; begin += kGroup) {
      int least[kDirectQueries];
#pragma unroll
      for (int& bits : least) bits = kFarBits;
#pragma unroll 8
      for (int j = begin; j < begin + kGroup; j += 2) {
        const float4 a = tile[side][j], b = tile[side][j + 1];
#pragma unroll
        for (int q = 0; q < kDirectQueries; ++q)
          least[q] = __vimin3_s32(least[q], float_bits<kAxes>(at[q], a), float_bits<kAxes>(at[q], b));
      }
#pragma unroll
      for (int q = 0; q < kDirectQueries; ++q) {
        mine[q].second = min(mine[q].second, max(mine[q].best, least[q]));
        if (least[q] < mine[q].best) {
          mine[q].best = least[q];
          mine[q].group = static_cast<unsigned>((stage * kStage + begin) / kGroup);
        }
      }
    }
  }
#pragma unroll
  for (int q = 0; q < kDirectQueries; ++q) part.write(request, q * kDirectBlock + thread, mine[q], found);
}

/// How far a query's offset is rounded off, and whether its coordinates are whole numbers that float32 holds.
struct Rounding {
  double error = 0;
  bool whole = true, somewhere = true;

  __device__ static Rounding of(const DeviceRequest& request, const Frame& frame, std::int64_t query) {
    constexpr double kUnit = 0x1p-52;
    Rounding result;
    for (int k = 0; k < request.queries.axes; ++k) {
      const double x = request.queries.at(k, query), offset = x - frame.center[k];
      result.error += fabs(static_cast<double>(static_cast<float>(offset)) - offset);
      if (frame.center[k] != 0) result.error += fabs(offset) * kUnit;
      result.whole &= offset == floor(offset) && fabs(offset) <= kWholeInFloat;
      result.somewhere &= fabs(x) <= kLargestCoordinate;
    }
    return result;
  }
};

/// Bits of the largest float32 distance, squared, that the nearest site may have if `least` are the least one's.
__device__ int limit_of(int least, double error) {
  const double root = sqrt(static_cast<double>(__int_as_float(least))), reach = (root + 2 * error) * (1 + 0x1p-20);
  return __float_as_int(__double2float_ru(reach * reach * (1 + 0x1p-40) + 0x1p-120));
}

template <class Query>
class Finish {
 public:
  __device__ Finish(const DeviceTree& tree, Query& query, const Cut& cut, const Found* found, std::int64_t step)
      : tree_(tree), query_(query), cut_(cut), found_(found), step_(step) {
    least_ = kFarBits;
    for (int s = lane_id(); s < cut.slices; s += kLanes) least_ = min(least_, found[s * step].best);
    least_ = static_cast<int>(warp_min(static_cast<unsigned>(least_)));
  }

  __device__ void run(const Rounding& rounding) {
    if (tree_.whole && rounding.whole && __int_as_float(least_) < kWholeInFloat) look_at_lowest();
    else look_at_all(limit_of(least_, rounding.error));
  }

 private:
  __device__ void look_at_lowest() {
    unsigned lowest = ~0u;
    for (int s = lane_id(); s < cut_.slices; s += kLanes) {
      const Found& slice = found_[s * step_];
      if (slice.best == least_) lowest = min(lowest, slice.group);
    }
    look_at_group(warp_min(lowest));
  }

  __device__ void look_at_all(int limit) {
    for (int begin = 0; begin < cut_.slices; begin += kLanes) {
      const int s = begin + lane_id();
      const Found slice = s < cut_.slices ? found_[s * step_] : Found{kFarBits, kFarBits, 0};
      unsigned near = __ballot_sync(kAllLanes, s < cut_.slices && slice.best <= limit);
      const unsigned whole = __ballot_sync(kAllLanes, slice.second <= limit);
      for (; near != 0; near &= near - 1) {
        const int lane = __ffs(static_cast<int>(near)) - 1;
        if (whole >> lane & 1u) look_at_slice(begin + lane);
        else look_at_group(from_lane(slice.group, lane));
      }
    }
  }

  __device__ void look_at_slice(int slice) {
    for (std::int64_t stage = slice; stage < cut_.stages; stage += cut_.slices)
      for (int group = 0; group < kStage / kGroup; ++group) look_at_group(stage * (kStage / kGroup) + group);
  }

  __device__ void look_at_group(std::int64_t group) {
    const std::int64_t end = smaller((group + 1) * kGroup, tree_.count);
    for (std::int64_t at = group * kGroup; at < end; at += kLanes)
      query_.look_at(at, static_cast<int>(smaller(end - at, std::int64_t{kLanes})));
  }

  const DeviceTree& tree_;
  Query& query_;
  const Cut& cut_;
  const Found* found_;
  const std::int64_t step_;  ///< from slice to slice
  int least_;
};

template <class T, int kAxes>
__global__ void __launch_bounds__(kSearchBlock)
    finish_queries(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request, Frame frame,
                   Cut cut, const Found* found) {
  const std::int64_t query = (std::int64_t{blockIdx.x} * kSearchBlock + threadIdx.x) / 32;
  if (query >= request.queries.count) return;
  const Rounding rounding = Rounding::of(request, frame, query);
  with_query<T, kAxes, false>(tree, request, query, [&](auto& mine) {
    using Query = std::remove_reference_t<decltype(mine)>;
    mine.resume();
    if (rounding.somewhere) Finish<Query>(tree, mine, cut, found + query, request.queries.count).run(rounding);
    mine.finish();
  });
}

}  // namespace

bool direct_serves(const DeviceTree& tree, std::int64_t queries, bool simple) {
  constexpr double kFarthest = 1e37;  // offsets are float32 numbers
  bool near = true;
  for (int k = 0; k < tree.axes; ++k) near &= tree.low[k] >= -kFarthest && tree.high[k] <= kFarthest;
  return simple && near && tree.count > 0 && queries >= kFewQueries;
}

std::size_t direct_scratch_bytes(const DeviceTree& tree, std::int64_t queries) {
  return static_cast<std::size_t>(Cut::of(tree, queries).slices * queries) * sizeof(Found);
}

void direct(const DeviceTree& tree, const DeviceRequest& request, std::byte* scratch, cudaStream_t stream) {
  constexpr int kWarps = kSearchBlock / 32;
  const Cut cut = Cut::of(tree, request.queries.count);
  const Frame frame = Frame::of(tree);
  auto* found = reinterpret_cast<Found*>(scratch);
  const auto blocks = static_cast<unsigned>(cut.tiles * cut.slices);
  const auto finishing = static_cast<unsigned>((request.queries.count + kWarps - 1) / kWarps);
  visit_kind(tree.dtype, tree.axes, [&](auto tag, auto axes) {
    using T = typename decltype(tag)::type;
    constexpr int kAxes = decltype(axes)::value;
    filter_sites<T, kAxes><<<blocks, kDirectBlock, 0, stream>>>(tree, request, frame, cut, found);
    finish_queries<T, kAxes><<<finishing, kSearchBlock, 0, stream>>>(tree, request, frame, cut, found);
  });
  fathom::cuda::check_launch("looking for the nearest of all sites");
}

}  // namespace fathom::points::cuda
