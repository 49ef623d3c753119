// The nearest of all sites, for many queries and one neighbour each: a filter says which groups of 128 sites may hold
// the nearest, and the arithmetic that decides looks into those alone.
//
// Filter: a block takes 512 queries, in registers, and every n-th group of sites, which pass through shared memory. The
// least distance of each group and query goes into a table, as long as groups are few; else a group whose least distance
// is no farther than what is known so far allows becomes a candidate of the query (candidates.cuh). Distances are those
// between points of a lattice, from tensor cores where these have proved exact on the device: coordinates that are small
// whole numbers are such points; others are rounded to the lattice, at the price of more candidates. Queries that get too
// many that way, and queries away from the sites, go through a filter in float32, but where groups are very few.
//
// Finish: four warps for each query look into its candidates; into all groups, should there still be too many. Launch: as
// many blocks of 4 warps as fill the device. Queries are taken in chunks, so that scratch has a bound.
//
// Bounds: in float32, offsets from a center are rounded, by at most E in all, of site and query together; so the nearest
// site's distance is at most (r + 2E)(1 + 2⁻²⁰), r being the least. Whole numbers below 2²⁴ are exact: the lowest group
// with the least distance has it. On the lattice, where r is exact, E is the way of both from their points to its. Cost:
// O(n) per query. Scratch: 34 MB at most, whatever the number of queries and of sites.
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

/// What a pass has found where groups are few.
struct Table {
  int* least;          ///< [group][query]: bits of the least squared distance
  Accuracy* accuracy;  ///< [query]
  bool* again;         ///< [query]: too many groups may hold its nearest
};

/// Queries [first, first + count) and how their work is cut.
struct Plan {
  std::int64_t first, count, groups;
  int tiles, slices;
  Frame frame;
  Lattice lattice;
  Table table;       ///< of few groups; of more:
  Candidates near;   ///< found on the lattice, or where that does not serve in float32
  Candidates again;  ///< found in float32 for queries that have too many on the lattice
  std::size_t bytes;

  static Plan of(const DeviceTree& tree, std::int64_t queries, std::byte* memory) {
    Plan plan{};
    plan.groups = (tree.count + kGroup - 1) / kGroup;
    plan.count = std::min(queries, plan.chunk());
    plan.tiles = static_cast<int>((plan.count + kTile - 1) / kTile);
    const std::int64_t blocks = std::int64_t{fathom::cuda::multiprocessors()} * kDirectBlocks;
    plan.slices = static_cast<int>(std::clamp<std::int64_t>(blocks / plan.tiles, 1, plan.groups));
    plan.frame = Frame::of(tree);
    plan.lattice = Lattice::of(tree);
    Scratch scratch(memory);
    if (plan.has_table()) {
      plan.table = {scratch.take<int>(plan.groups * plan.count), scratch.take<Accuracy>(plan.count),
                    scratch.take<bool>(plan.count)};
    } else {
      plan.near = Candidates::take(scratch, plan.count);
      if (tree.products) plan.again = Candidates::take(scratch, plan.count);
    }
    plan.bytes = scratch.bytes();
    return plan;
  }

  template <bool kTable>
  __device__ bool is_wanted_again(std::int64_t query) const {
    if constexpr (kTable) return table.again[query];
    else return near.found[query].is_full();
  }

  bool has_table() const { return groups <= kTableGroups; }
  /// Queries at a time, at most.
  std::int64_t chunk() const { return std::min(kDirectChunk, has_table() ? kTableSize / groups : kDirectChunk); }
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
  /// The thread's i-th query, which may be beyond the last.
  __device__ std::int64_t query(int i) const { return first + i * kDirectBlock + static_cast<int>(threadIdx.x); }

  /// Where the thread's queries are; beyond the last, where that is.
  template <int kAxes>
  __device__ void read(const DeviceRequest& request, const Plan& plan, double (&place)[kDirectQueries][kAxes]) const {
    std::int64_t index[kDirectQueries];
    for (int q = 0; q < kDirectQueries; ++q) index[q] = plan.first + smaller(query(q), plan.count - 1);
    read_points(request.queries, index, place);
  }
};

/// A site on its way from memory: what is made of it waits until it is needed.
template <class T, int kAxes>
struct Fetched {
  T at[kAxes];
  bool present;

  __device__ void fetch(const DeviceTree& tree, std::int64_t site) {
    present = site < tree.count;
    for (int k = 0; k < kAxes; ++k) at[k] = tree.sites.get<T>(k, present ? site : 0);
  }
  /// In float32; infinite beyond the last.
  __device__ float4 offset(const double* center) const {
    float result[3] = {};
    for (int k = 0; k < kAxes; ++k) {
      if constexpr (std::is_same_v<T, float>) result[k] = at[k] - static_cast<float>(center[k]);
      else result[k] = static_cast<float>(static_cast<double>(at[k]) - center[k]);
      if (!present) result[k] = INFINITY;
    }
    return {result[0], result[1], result[2], 0};
  }
};

/// Where a thread puts the least distances of its queries, group by group: into the table …
struct IntoTable {
  const Plan& plan;
  const Queries& query;

  __device__ void refresh(unsigned) const {}
  __device__ void take(std::int64_t group, const int (&least)[kDirectQueries]) const {
    int* row = plan.table.least + group * plan.count;
    for (int i = 0; i < kDirectQueries; ++i)
      if (query[i] < plan.count) row[query[i]] = least[i];
  }
};

/// … or, as far as they may matter, among candidates.
template <class Of>
struct AmongCandidates {
  const Candidates& candidates;
  const Queries& query;
  int (&limit)[kDirectQueries];  ///< of what may matter; −1: nothing does
  const Of& accuracy;

  /// Learns in turns 1, 2, 4, 8, … what other blocks have found.
  __device__ void refresh(unsigned turn) const {
    if (turn == 0 || (turn & (turn - 1)) != 0) return;
#pragma unroll
    for (int i = 0; i < kDirectQueries; ++i)
      if (limit[i] >= 0) limit[i] = min(limit[i], candidates.limit_of(query[i]));
  }
  __device__ void take(std::int64_t group, const int (&least)[kDirectQueries]) const {
    candidates.offer(query, least, limit, static_cast<unsigned>(group), accuracy);
  }
};

// On the lattice
// ---------------------------------------------------------------------------------------------------------------------

/// A site's factors.
template <class T, int kAxes>
__device__ Factors factors_of(const Lattice& lattice, const Fetched<T, kAxes>& site) {
  if (!site.present) return Factors::of_nobody();
  const auto scale = static_cast<float>(lattice.scale);
  const float4 offset = site.offset(lattice.center);
  return Factors::of_site(rintf(offset.x * scale), rintf(offset.y * scale), rintf(offset.z * scale));
}

/// The place of a thread's queries on the lattice.
template <int kAxes>
struct LatticePlaces {
  float at[kDirectQueries][3] = {};
  bool near = true;   ///< on the part of the lattice that products.cuh serves
  bool exact = true;  ///< nothing was rounded

  __device__ LatticePlaces(const DeviceRequest& request, const Plan& plan, const Part& part) {
    double place[kDirectQueries][kAxes];
    part.read(request, plan, place);
    exact = plan.lattice.exact;
    for (int q = 0; q < kDirectQueries; ++q)
      for (int k = 0; k < kAxes; ++k) {
        const double offset = place[q][k] - plan.lattice.center[k];
        at[q][k] = static_cast<float>(rint(offset * plan.lattice.scale));
        near &= fabsf(at[q][k]) <= kProductReach;
        exact &= static_cast<double>(at[q][k]) == offset;
      }
  }
};

constexpr int kProducts = 8;  ///< of a warp: of 16 queries with 8 sites each, of which a lane gets two columns
constexpr int kRows = 2 * kProducts;

/// The queries whose least distances a lane gets from three others.
__device__ void rows_of(const Part& part, Queries& query) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  for (int i = 0; i < kDirectQueries; ++i)
    query[i] = part.first + (warp * kDirectQueries + i) * 32 + lane_id() % 4 * 8 + lane_id() / 4;
}

/// The least of two rows' values that this lane and the one at `step` hold: of the first where the lane's bit is 0.
__device__ int share(int first, int second, int step) {
  const bool odd = (lane_id() & step) != 0;
  return min(odd ? second : first, from_lane(odd ? first : second, lane_id() ^ step));
}

/// A warp takes 128 queries. Lanes that have parts of the same rows share out what they have found.
template <class T, int kAxes, class Sink>
__device__ void filter_on_lattice(const DeviceTree& tree, const Plan& plan, const Part& part,
                                  const LatticePlaces<kAxes>& places, const Sink& sink) {
  __shared__ unsigned queries[kTile][4];
  __shared__ __align__(
      16) unsigned sites[2][kGroup * 4];  // [4 products][lane][product]: a lane's word of four products
  const int thread = static_cast<int>(threadIdx.x);
  for (int q = 0; q < kDirectQueries; ++q) {
    const Factors factors = Factors::of_query(places.at[q][0], places.at[q][1], places.at[q][2]);
    for (int w = 0; w < 4; ++w) queries[q * kDirectBlock + thread][w] = factors.words[w];
  }
  __syncthreads();
  unsigned row[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) row[r] = queries[(thread / 32 * kRows + r) * 8 + lane_id() / 4][lane_id() % 4];
  Fetched<T, kAxes> next;
  next.fetch(tree, std::int64_t{part.slice} * kGroup + thread);
  unsigned turn = 0;
  for (std::int64_t group = part.slice; group < plan.groups; group += plan.slices, ++turn) {
    const Factors factors = factors_of(plan.lattice, next);
    unsigned* words = sites[turn % 2];
    for (int w = 0; w < 4; ++w) words[(thread / 32 * 32 + thread % 8 * 4 + w) * 4 + thread / 8 % 4] = factors.words[w];
    __syncthreads();
    next.fetch(tree, (group + plan.slices) * kGroup + thread);
    sink.refresh(turn);
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
    int shared[kDirectQueries];
#pragma unroll
    for (int i = 0; i < kDirectQueries; ++i)
      shared[i] = share(share(least[4 * i], least[4 * i + 1], 1), share(least[4 * i + 2], least[4 * i + 3], 1), 2);
    sink.take(group, shared);
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
  double place[1][kAxes];
  read_points(request.queries, {query}, place);
  for (int k = 0; k < kAxes; ++k) {
    const double offset = place[0][k] - frame.center[k];
    result.error += fabs(static_cast<double>(static_cast<float>(offset)) - offset);
    if (frame.center[k] != 0) result.error += fabs(offset) * kUnit;
    result.exact &= offset == floor(offset) && fabs(offset) <= kWholeInFloat;
  }
  return result;
}

template <class T, int kAxes, class Sink>
__device__ void filter_in_float(const DeviceTree& tree, const DeviceRequest& request, const Plan& plan,
                                const Part& part, const Sink& sink) {
  __shared__ float4 sites[2][kGroup];
  const int thread = static_cast<int>(threadIdx.x);
  double place[kDirectQueries][kAxes];
  part.read(request, plan, place);
  float at[kDirectQueries][kAxes];
#pragma unroll
  for (int q = 0; q < kDirectQueries; ++q)
    for (int k = 0; k < kAxes; ++k) {
      const double x = place[q][k];
      at[q][k] = fabs(x) <= kLargestCoordinate ? static_cast<float>(x - plan.frame.center[k]) : INFINITY;
    }
  Fetched<T, kAxes> next;
  next.fetch(tree, std::int64_t{part.slice} * kGroup + thread);
  unsigned turn = 0;
  for (std::int64_t group = part.slice; group < plan.groups; group += plan.slices, ++turn) {
    const float4* tile = sites[turn % 2];
    sites[turn % 2][thread] = next.offset(plan.frame.center);
    __syncthreads();
    next.fetch(tree, (group + plan.slices) * kGroup + thread);
    sink.refresh(turn);
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
    sink.take(group, least);
  }
}

/// Calls work(sink) for a thread's queries; those beyond the last take no part.
/// @param accuracy  called with the number of a query
template <bool kTable, class Of, class Work>
__device__ void with_sink(const Plan& plan, const Candidates& candidates, const Queries& query, const Of& accuracy,
                          const Work& work) {
  if constexpr (kTable) {
    for (const std::int64_t q : query)
      if (blockIdx.x % plan.slices == 0 && q < plan.count) plan.table.accuracy[q] = accuracy(q);
    work(IntoTable{plan, query});
  } else {
    int limit[kDirectQueries];
    for (int i = 0; i < kDirectQueries; ++i) limit[i] = query[i] < plan.count ? kFarBits : -1;
    work(AmongCandidates<Of>{candidates, query, limit, accuracy});
  }
}

/// The float32 filter of a block.
template <class T, int kAxes, bool kTable>
__device__ void work_in_float(const DeviceTree& tree, const DeviceRequest& request, const Plan& plan, const Part& part,
                              const Candidates& candidates, const Queries& query) {
  with_sink<kTable>(
      plan, candidates, query,
      [&](std::int64_t q) { return accuracy_of<kAxes>(tree, request, plan.frame, plan.first + q); },
      [&](const auto& sink) { filter_in_float<T, kAxes>(tree, request, plan, part, sink); });
}

template <class T, int kAxes, bool kTable>
__global__ void __launch_bounds__(kDirectBlock, kDirectBlocks)
    filter_sites(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request,
                 const __grid_constant__ Plan plan) {
  const Part part = Part::of(plan);
  Queries query;
  if (tree.products) {
    const LatticePlaces<kAxes> places(request, plan, part);
    if (__syncthreads_and(places.near)) {
      constexpr double kOff = 2 * 0.51;  // of site and query along an axis; the rest of a hundredth is float32's
      const bool exact = __syncthreads_and(places.exact);
      const Accuracy accuracy{exact ? 0 : kOff * sqrt(double{kAxes}), exact, !exact};
      rows_of(part, query);
      return with_sink<kTable>(
          plan, plan.near, query, [&](std::int64_t) { return accuracy; },
          [&](const auto& sink) { filter_on_lattice<T, kAxes>(tree, plan, part, places, sink); });
    }
  }
  for (int q = 0; q < kDirectQueries; ++q) query[q] = part.query(q);
  work_in_float<T, kAxes, kTable>(tree, request, plan, part, plan.near, query);
}

/// In float32 for queries that have too many candidates on the lattice.
template <class T, int kAxes, bool kTable>
__global__ void __launch_bounds__(kDirectBlock, kDirectBlocks)
    filter_again(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request,
                 const __grid_constant__ Plan plan) {
  const Part part = Part::of(plan);
  Queries query;
  bool any = false;
  for (int q = 0; q < kDirectQueries; ++q) {
    query[q] = part.query(q);
    if (query[q] < plan.count && !plan.is_wanted_again<kTable>(query[q])) query[q] = plan.count;
    any |= query[q] < plan.count;
  }
  if (!__syncthreads_or(any)) return;
  if constexpr (!kTable)
    if (!__syncthreads_and(LatticePlaces<kAxes>(request, plan, part).near)) return;
  work_in_float<T, kAxes, kTable>(tree, request, plan, part, plan.again, query);
}

// Finish
// ---------------------------------------------------------------------------------------------------------------------

constexpr int kFinishWarps = 4;    ///< of a query
constexpr int kFinishQueries = 4;  ///< of a block: neighbours in the table
constexpr int kFinishBlock = kFinishQueries * kFinishWarps * 32;

/// What finishes the queries of a table: one that looks into as many groups as it takes, or one that leaves queries with
/// too many to a filter in float32 and to a second.
enum class Round { only, first, second };

/// All warps of a query wait for one another, whatever the block's other queries do.
__device__ void meet() {
  const int query = static_cast<int>(threadIdx.x) / (kFinishWarps * 32);
  asm volatile("bar.sync %0, %1;" ::"r"(1 + query), "n"(kFinishWarps * 32) : "memory");
}

/// One warp's share of the groups that may hold a query's nearest.
template <class Query>
class Finish {
 public:
  using Nearest = typename Query::Nearest;

  __device__ Finish(const Query& query, int warp) : query_(query), warp_(warp), nearest_(query.nobody()) {}

  __device__ const Nearest& nearest() const { return nearest_; }

  __device__ void look_at(std::int64_t group) { query_.template look_past<kGroup / kLanes>(group * kGroup, nearest_); }

  __device__ void look_at_candidates(const Plan& plan, std::int64_t number) {
    Found found = plan.near.found[number];
    const Candidates* candidates = &plan.near;
    if (found.is_full() && plan.again.found && plan.again.found[number].key != ~0ull) {
      found = plan.again.found[number];
      candidates = &plan.again;
    }
    if (found.is_full()) {
      for (std::int64_t group = warp_; group < plan.groups; group += kFinishWarps) look_at(group);
      return;
    }
    int turn = 0;
    if (turn++ == warp_) look_at(found.group());
    for (unsigned begin = 0; begin < found.count; begin += kLanes) {
      const unsigned i = begin + static_cast<unsigned>(lane_id());
      const Candidate mine =
          i < found.count ? candidates->entries[number * kCandidates + i] : Candidate{kFarBits, found.group()};
      const bool counts = mine.least <= found.limit && mine.group != found.group();
      for (unsigned left = __ballot_sync(kAllLanes, counts); left != 0; left &= left - 1)
        if (turn++ % kFinishWarps == warp_) look_at(from_lane(mine.group, __ffs(static_cast<int>(left)) - 1));
    }
  }

  /// From the table. @param keys  of the query's warps, to tell one another the least distance and its group
  /// @returns whether it has looked; else too many groups may hold the nearest, as far as a lattice tells
  __device__ bool look_up(const Plan& plan, std::int64_t number, Round round, unsigned long long* keys) {
    constexpr int kStep = kFinishWarps * kLanes, kMine = kTableGroups / kStep;
    const int first = warp_ * kLanes + lane_id();
    int least[kMine];
#pragma unroll
    for (int i = 0; i < kMine; ++i)
      least[i] = first + i * kStep < plan.groups ? plan.table.least[(first + i * kStep) * plan.count + number] : -1;
    const Accuracy accuracy = plan.table.accuracy[number];
    unsigned long long key = ~0ull;
#pragma unroll
    for (int i = 0; i < kMine; ++i)
      if (least[i] >= 0) key = min(key, key_of(least[i], static_cast<unsigned>(first + i * kStep)));
    const Found best{of_all(keys, key, [](auto a, auto b) { return min(a, b); }), 0, 0};
    if (accuracy.holds(best.least())) {
      if (warp_ == 0) look_at(best.group());
      return true;
    }
    const int limit = candidate_limit(best.least(), accuracy.error);
    unsigned long long count = 0;
#pragma unroll
    for (int i = 0; i < kMine; ++i) count += least[i] >= 0 && least[i] <= limit;
    if (round == Round::first && accuracy.on_lattice &&
        of_all(keys + kFinishWarps, count, [](auto a, auto b) { return a + b; }) > kTooMany)
      return false;
#pragma unroll
    for (int i = 0; i < kMine; ++i)
      for (unsigned left = __ballot_sync(kAllLanes, least[i] >= 0 && least[i] <= limit); left != 0; left &= left - 1)
        look_at(warp_ * kLanes + i * kStep + __ffs(static_cast<int>(left)) - 1);
    return true;
  }

 private:
  /// What all lanes of a query's warps have, put together.
  template <class Value, class With>
  __device__ Value of_all(Value* parts, Value value, const With& with) const {
    for (int step = 16; step > 0; step /= 2) value = with(value, from_lane(value, lane_id() ^ step));
    if (lane_id() == 0) parts[warp_] = value;
    meet();
    value = parts[0];
    for (int w = 1; w < kFinishWarps; ++w) value = with(value, parts[w]);
    return value;
  }

  const Query& query_;
  int warp_;
  Nearest nearest_;
};

template <class T, int kAxes, bool kTable>
__global__ void __launch_bounds__(kFinishBlock)
    finish_queries(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request,
                   const __grid_constant__ Plan plan, Round round) {
  __shared__ unsigned long long keys[kFinishQueries][2 * kFinishWarps];
  const int place = static_cast<int>(threadIdx.x) / (kFinishWarps * 32);
  const int warp = static_cast<int>(threadIdx.x) / 32 % kFinishWarps;
  const std::int64_t number = std::int64_t{blockIdx.x} * kFinishQueries + place;
  if (number >= plan.count || (round == Round::second && !plan.table.again[number])) return;
  with_query<T, kAxes, Kind::in_order>(tree, request, plan.first + number, [&](auto& mine) {
    using Query = std::remove_reference_t<decltype(mine)>;
    __shared__ typename Query::Nearest best[kFinishQueries][kFinishWarps];
    Finish<Query> finish(mine, warp);
    if (mine.is_somewhere()) {
      if constexpr (!kTable) finish.look_at_candidates(plan, number);
      else if (!finish.look_up(plan, number, round, keys[place])) {
        plan.table.again[number] = true;
        return;
      }
    }
    if (round == Round::first) plan.table.again[number] = false;
    const auto& nearest = finish.nearest();
    mine.list().offer(nearest.id != kNobody, nearest.squared, nearest.id);
    if (lane_id() == 0) best[place][warp] = {mine.list().worst_squared(), mine.list().worst_id()};
    meet();
    if (warp > 0) return;
    for (const auto& other : best[place]) mine.list().offer_one(other.squared, other.id);
    mine.resume();
    mine.finish();
  });
}

template <class T, int kAxes>
void launch(const DeviceTree& tree, const DeviceRequest& request, const Plan& plan, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(plan.tiles * plan.slices);
  const auto cleared = static_cast<unsigned>((plan.count + kSearchBlock - 1) / kSearchBlock);
  const auto finished = static_cast<unsigned>((plan.count + kFinishQueries - 1) / kFinishQueries);
  const bool exact = plan.lattice.exact && request.may_be_wide, again = tree.products && !exact;
  if (plan.has_table()) {
    const bool twice = again && plan.groups > kFewGroups;
    filter_sites<T, kAxes, true><<<blocks, kDirectBlock, 0, stream>>>(tree, request, plan);
    finish_queries<T, kAxes, true>
        <<<finished, kFinishBlock, 0, stream>>>(tree, request, plan, twice ? Round::first : Round::only);
    if (!twice) return;
    filter_again<T, kAxes, true><<<blocks, kDirectBlock, 0, stream>>>(tree, request, plan);
    finish_queries<T, kAxes, true><<<finished, kFinishBlock, 0, stream>>>(tree, request, plan, Round::second);
  } else {
    clear_candidates<<<cleared, kSearchBlock, 0, stream>>>(plan);
    filter_sites<T, kAxes, false><<<blocks, kDirectBlock, 0, stream>>>(tree, request, plan);
    if (again) filter_again<T, kAxes, false><<<blocks, kDirectBlock, 0, stream>>>(tree, request, plan);
    finish_queries<T, kAxes, false><<<finished, kFinishBlock, 0, stream>>>(tree, request, plan, Round::only);
  }
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
    for (; plan.first < queries; plan.first += plan.chunk()) {
      plan.count = std::min(queries - plan.first, plan.chunk());
      launch<T, decltype(axes)::value>(tree, request, plan, stream);
    }
  });
  fathom::cuda::check_launch("looking for the nearest of all sites");
}

}  // namespace fathom::points::cuda
