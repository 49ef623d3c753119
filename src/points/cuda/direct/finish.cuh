// The second half of a search among all sites (points/cuda/direct.cu): looks into the groups that the filter has left.
#pragma once

#include <climits>

#include "core/cuda/early_launch.cuh"
#include "points/cuda/direct/plan.cuh"

namespace fathom::points::cuda::direct_search {

inline constexpr int kListedQueries = 8;      ///< of a block that finishes from the table
inline constexpr int kCandidatesQueries = 4;  ///< of one that does from candidates
inline constexpr int kWarpsOfCandidates = 4;  ///< of each of these
inline constexpr int kCandidatesBlock = kCandidatesQueries * kWarpsOfCandidates * 32;

/// How blocks finish from a table of many rows, …
struct ManyRows {
  static constexpr int kWarps = 2;  ///< of a query
  static constexpr int kBlock = kListedQueries * kWarps * 32;
  static constexpr int kRows = kTableGroups;  ///< at most
};
/// … or of few, where blocks are small enough to begin beside those of the filter.
struct FewRows {
  static constexpr int kWarps = 1;
  static constexpr int kBlock = kListedQueries * kWarps * 32;
  static constexpr int kRows = 256;
};

/// Which groups may hold the nearest of a block's queries, neighbours in the table, whose rows are read 32 bytes at a
/// time. In shared memory.
template <class Rows>
class GroupLists {
 public:
  static constexpr int kQueries = kListedQueries;

  /// By all threads of the block, in each of whose warps all of its queries have lanes.
  /// @param first  of the block's queries
  /// @returns whether any list is long
  __device__ bool fill(const Plan& plan, std::int64_t first) {
    const int q = static_cast<int>(threadIdx.x) % kQueries, row = static_cast<int>(threadIdx.x) / kQueries;
    const std::int64_t number = first + q;
    const bool known = number < plan.count;
    if (row == 0) {
      best_[q] = INT_MAX;
      lowest_[q] = UINT_MAX;
      count_[q] = 0;
    }
    const unsigned query = known ? static_cast<unsigned>(number) : 0;
    Column column(plan, query, row);
    const Accuracy accuracy = plan.table.accuracy[query];  // on its way together with the column
    column.know(plan, query, accuracy.of_slices);
    __syncthreads();
    int best = INT_MAX;
    column.each([&](int i) { best = min(best, column.entry[i]); });
    for (int step = kQueries; step < 32; step *= 2) best = min(best, from_lane(best, lane_id() ^ step));
    if (lane_id() < kQueries) atomicMin(&best_[q], best);
    __syncthreads();
    if (row == 0) judge(q, accuracy, column.no_bits);
    const bool exact = accuracy.holds(best_[q] & ~column.no_bits), settled = !known || (exact && accuracy.of_slices);
    __syncthreads();
    if (__all_sync(kAllLanes, settled)) return false;  // in all warps, then
    if (!settled) exact ? find_lowest(q, column) : list(q, column);
    __syncthreads();
    return __syncthreads_or(is_long(q));
  }

  /// Makes entries of slices those of all their groups, which are no nearer. By all threads of the block.
  __device__ void spread(const Plan& plan, std::int64_t first) const {
    const std::int64_t number = first + static_cast<int>(threadIdx.x) % kQueries;
    const bool of_slices = number < plan.count && plan.table.accuracy[number].of_slices;
    __syncthreads();
    if (!of_slices) return;
    constexpr int kNext = Table::kGroups + 1;  // what float16 holds next
    int* const column = plan.table.least + number;
    for (std::int64_t row = threadIdx.x / kQueries; row < plan.slices; row += kRows) {
      const int entry = column[row * plan.count], bits = entry & ~Table::kGroups, nearest = entry & Table::kGroups;
      for (std::int64_t group = row; group < plan.groups; group += plan.slices)
        column[group * plan.count] = group < nearest ? bits + kNext : bits;
    }
    if (threadIdx.x < kQueries) plan.table.accuracy[number].of_slices = false;
  }

  /// Too many, which float32 may tell apart.
  __device__ bool is_long(int q) const { return from_products_[q] && size(q) > kTooMany; }
  /// Of the least distances, in bits, of the groups on the list.
  __device__ int limit(int q) const { return limit_[q]; }
  /// Whether squared distances to all sites that may be the nearest are whole numbers that float32 holds.
  __device__ bool is_whole(int q) const { return whole_[q]; }
  __device__ unsigned size(int q) const { return exact_[q] ? 1 : count_[q]; }
  __device__ unsigned group(int q, unsigned i) const { return exact_[q] ? lowest_[q] : groups_[q][i]; }

 private:
  static constexpr int kRows = Rows::kBlock / kQueries, kMine = Rows::kRows / kRows;
  static constexpr int kAtOnce = 4;

  /// A thread's part of a query's column in the table, which has less than 2³² elements.
  struct Column {
    int row, rows;  ///< of the first entry; of the table
    int groups, no_bits = 0;
    int entry[kMine];

    /// Of exact products slices alone, to begin with.
    __device__ Column(const Plan& plan, unsigned query, int first_row)
        : row(first_row),
          rows(plan.lattice.exact ? plan.slices : static_cast<int>(plan.groups)),
          groups(static_cast<int>(plan.groups)) {
      read(plan, query);
    }

    /// Learns what the entries are of.
    __device__ void know(const Plan& plan, unsigned query, bool of_slices) {
      if (of_slices) no_bits = Table::kGroups;
      if (of_slices || rows == groups) return;
      rows = groups;
      read(plan, query);
    }

    __device__ void read(const Plan& plan, unsigned query) {
      const auto count = static_cast<unsigned>(plan.count);
      each([&](int i) {
        const int at = row + i * kRows;
        entry[i] = INT_MAX;
        if (at < rows) entry[i] = plan.table.least[static_cast<unsigned>(at) * count + query];
      });
    }

    /// Calls visit(i) for the entries that there are, and a few more.
    template <class Visit>
    __device__ void each(const Visit& visit) const {
#pragma unroll
      for (int begin = 0; begin < kMine; begin += kAtOnce) {
        if (begin * kRows >= rows) return;
#pragma unroll
        for (int i = begin; i < begin + kAtOnce; ++i) visit(i);
      }
    }

    __device__ int bits(int i) const { return entry[i] & ~no_bits; }
    /// Calls visit(group) for all that some entries tell of. @param some  bit i for entry i
    template <class Visit>
    __device__ void each_group(unsigned some, const Visit& visit) const {
#pragma unroll 1
      for (; some != 0; some &= some - 1)
        for (int group = row + (__ffs(static_cast<int>(some)) - 1) * kRows; group < groups; group += rows) visit(group);
    }
  };

  /// @param no_bits  of the best entry, which name the lowest group that has it
  __device__ void judge(int q, const Accuracy& accuracy, int no_bits) {
    const int least = best_[q] & ~no_bits;
    exact_[q] = accuracy.holds(least);
    if (no_bits != 0) lowest_[q] = static_cast<unsigned>(best_[q] & no_bits);
    from_products_[q] = accuracy.from_products;
    limit_[q] = exact_[q] ? least : accuracy.limit(least);
    whole_[q] = accuracy.exact_below > 0 && __int_as_float(limit_[q]) < kWholeInFloat;
  }

  __device__ void find_lowest(int q, const Column& column) {
    int lowest = INT_MAX;
    column.each([&](int i) {
      if (column.entry[i] == limit_[q]) lowest = min(lowest, column.row + i * kRows);
    });
    if (lowest != INT_MAX) atomicMin(&lowest_[q], static_cast<unsigned>(lowest));
  }

  __device__ void list(int q, const Column& column) {
    static_assert(kMine <= 32);
    unsigned open = 0;
    column.each([&](int i) { open |= (column.bits(i) <= limit_[q] ? 1u : 0u) << i; });
    if (open == 0) return;
    unsigned count = 0;
    column.each_group(open, [&](int) { ++count; });
    unsigned place = atomicAdd(&count_[q], count);
    column.each_group(open, [&](int group) { groups_[q][place++] = static_cast<std::uint16_t>(group); });
  }

  int best_[kQueries];   ///< entry of the table
  int limit_[kQueries];  ///< bits of a squared distance
  unsigned lowest_[kQueries], count_[kQueries];
  bool exact_[kQueries], whole_[kQueries], from_products_[kQueries];
  std::uint16_t groups_[kQueries][Rows::kRows];
};

/// Measures the groups of queries with long lists again, in float32, into the table. By all threads of the block: each
/// warp takes its share of the groups, four sites in each lane, which are on their way one group ahead, for all of the
/// queries.
template <class T, int kAxes, class Rows>
__device__ void measure_again(const DeviceTree& tree, const DeviceRequest& request, const Plan& plan,
                              const GroupLists<Rows>& lists, std::int64_t first) {
  constexpr int kQueries = kListedQueries, kShare = kGroup / kLanes, kStep = Rows::kBlock / 32;
  __shared__ float places[kQueries][kAxes];
  const int q = lane_id() % kQueries;
  const bool is_open = lane_id() < kQueries && lists.is_long(q);
  const int limit = is_open ? lists.limit(q) : -1;
  if (threadIdx.x < kQueries) {
    const std::int64_t query = plan.first + smaller(first + q, plan.count - 1);
    double place[1][kAxes];
    read_points(request.queries, {query}, place);
    for (int k = 0; k < kAxes; ++k) places[q][k] = static_cast<float>(place[0][k] - plan.frame.center[k]);
    if (is_open) plan.table.accuracy[first + q] = accuracy_of<kAxes>(tree, request, plan.frame, query);
  }
  __syncthreads();
  const Cloud sites = tree.sites;  // in registers: what is stored below might change them otherwise
  const std::int64_t count = tree.count, groups = plan.groups, queries = plan.count;
  int* const column = plan.table.least + first + q;
  double center[kAxes];
  for (int k = 0; k < kAxes; ++k) center[k] = plan.frame.center[k];

  Fetched<T, kAxes> next[kShare];
  int next_bits = kFarBits;
  const auto fetch = [&](std::int64_t group) {
#pragma unroll
    for (int s = 0; s < kShare; ++s) next[s].fetch(sites, count, group * kGroup + s * kLanes + lane_id());
    if (is_open && group < groups) next_bits = column[group * queries];
  };
  std::int64_t group = threadIdx.x / 32;
  for (fetch(group); group < groups; group += kStep) {
    float4 at[kShare];
#pragma unroll
    for (int s = 0; s < kShare; ++s) at[s] = next[s].offset(center);
    const unsigned wanted = __ballot_sync(kAllLanes, next_bits <= limit);
    fetch(group + kStep);
    unsigned least = kFarBits;
#pragma unroll
    for (int other = 0; other < kQueries; ++other) {
      if ((wanted >> other & 1) == 0) continue;
      int bits = kFarBits;
#pragma unroll
      for (int s = 0; s < kShare; s += 2)
        bits = __vimin3_s32(bits, float_bits<kAxes>(places[other], at[s]), float_bits<kAxes>(places[other], at[s + 1]));
      const unsigned found = warp_min(static_cast<unsigned>(bits));
      if (other == lane_id()) least = found;
    }
    if (is_open) column[group * queries] = static_cast<int>(least);
  }
  __syncthreads();
}

/// Not inlined: its registers would be taken from what queries with short lists need.
template <class T, int kAxes, class Rows>
__device__ __noinline__ void shorten(const DeviceTree& tree, const DeviceRequest& request, const Plan& plan,
                                     GroupLists<Rows>& lists, std::int64_t first) {
  do {
    if (plan.lattice.exact) lists.spread(plan, first);
    measure_again<T, kAxes>(tree, request, plan, lists, first);
  } while (lists.fill(plan, first));
}

/// A warp's part in a query, one of `kQueries` of a block, that `kWarps` share.
template <int kQueries, int kWarps>
struct Share {
  int place;  ///< of the query in the block
  int warp;

  __device__ Share()
      : place(static_cast<int>(threadIdx.x) / (kWarps * 32)), warp(static_cast<int>(threadIdx.x) / 32 % kWarps) {}

  __device__ std::int64_t number() const { return std::int64_t{blockIdx.x} * kQueries + place; }

  /// All warps of the query wait for one another, whatever the block's other queries do.
  __device__ void meet() const { asm volatile("bar.sync %0, %1;" ::"r"(1 + place), "n"(kWarps * 32) : "memory"); }
};

using ShareOfCandidates = Share<kCandidatesQueries, kWarpsOfCandidates>;

template <class Query>
__device__ void look_into(const Query& query, std::int64_t group, typename Query::Nearest& nearest) {
  query.template look_past<kGroup / kLanes>(group * kGroup, nearest);
}

/// Looks into a warp's share of the candidates; into all groups, if there are too many.
template <class Query>
__device__ void look_into_candidates(const Query& query, const Plan& plan, const ShareOfCandidates& share,
                                     typename Query::Nearest& nearest) {
  const std::int64_t number = share.number();
  Found found = plan.near.found[number];
  const Candidates* candidates = &plan.near;
  if (found.is_full() && plan.again.found && plan.again.found[number].key != ~0ull) {
    found = plan.again.found[number];
    candidates = &plan.again;
  }
  if (found.is_full()) {
    for (std::int64_t group = share.warp; group < plan.groups; group += kWarpsOfCandidates)
      look_into(query, group, nearest);
    return;
  }
  int turn = 0;
  if (turn++ == share.warp) look_into(query, found.group(), nearest);
  for (unsigned begin = 0; begin < found.count; begin += kLanes) {
    const unsigned i = begin + static_cast<unsigned>(lane_id());
    const Candidate mine =
        i < found.count ? candidates->entries[number * kCandidates + i] : Candidate{kFarBits, found.group()};
    const bool counts = mine.least <= found.limit && mine.group != found.group();
    for (unsigned left = __ballot_sync(kAllLanes, counts); left != 0; left &= left - 1)
      if (turn++ % kWarpsOfCandidates == share.warp)
        look_into(query, from_lane(mine.group, __ffs(static_cast<int>(left)) - 1), nearest);
  }
}

/// Answers a query. @param look  called with the query and what a warp looks for: fills in what it has found
template <class T, int kAxes, int kQueries, int kWarps, class Look>
__device__ void finish_query(const DeviceTree& tree, const DeviceRequest& request, const Plan& plan,
                             const Share<kQueries, kWarps>& share, const Place<kAxes>& place, const Look& look) {
  with_query_at<T, Kind::in_order>(place, tree, request, plan.first + share.number(), [&](auto& mine) {
    using Query = std::remove_reference_t<decltype(mine)>;
    __shared__ typename Query::Nearest best[kQueries][kWarps];
    auto nearest = mine.nobody();
    if (mine.is_somewhere()) look(mine, nearest);
    mine.list().offer(nearest.id != kNobody, nearest.squared, nearest.id);
    if (lane_id() == 0) best[share.place][share.warp] = {mine.list().worst_squared(), mine.list().worst_id()};
    share.meet();
    if (share.warp > 0) return;
    for (const auto& other : best[share.place]) mine.list().offer_one(other.squared, other.id);
    mine.resume();
    mine.finish();
  });
}

/// Answers a query, by a warp, where float32 tells exactly how far the sites are that may be the nearest.
template <class T, int kAxes, class Rows>
__device__ void finish_in_float(const DeviceTree& tree, const DeviceRequest& request, std::int64_t query,
                                const float (&at)[kAxes], const GroupLists<Rows>& lists, int q) {
  constexpr int kShare = kGroup / kLanes;
  unsigned best = kFarBits, position = ~0u;
  for (unsigned i = 0; i < lists.size(q); ++i) {
    const unsigned first = lists.group(q, i) * kGroup + static_cast<unsigned>(lane_id());
    Fetched<T, kAxes> sites[kShare];
#pragma unroll
    for (int s = 0; s < kShare; ++s) sites[s].fetch(tree, first + s * kLanes);
#pragma unroll
    for (int s = 0; s < kShare; ++s) {
      const auto bits = static_cast<unsigned>(float_bits<kAxes>(at, sites[s].rounded()));
      const unsigned mine = first + s * kLanes;
      if (bits > best || (bits == best && mine > position)) continue;
      best = bits;
      position = mine;
    }
  }
  const unsigned least = warp_min(best), lowest = warp_min(best == least ? position : ~0u);
  if (lane_id() != 0) return;
  const double squared = __uint_as_float(least);
  const bool near = squared <= request.limit;
  put_answer(tree, request, query, 0, squared, near ? (tree.first + lowest) * tree.sites.every : kNobody);
  put_root(request.answers.lower, query, 0, near, squared);
}

/// A query, as far as it is known before there is a table.
template <int kAxes>
struct Asked {
  Place<kAxes> place;
  float at[kAxes];
  bool in_float;  ///< finish_in_float() serves, as far as the query goes

  __device__ static Asked of(const DeviceRequest& request, std::int64_t query) {
    Asked asked{Place<kAxes>::template of<false>(request, query), {}, false};
    for (int k = 0; k < kAxes; ++k) asked.at[k] = static_cast<float>(asked.place.at[k]);
    asked.in_float = !request.carried.begun && !request.carried.more && asked.place.is_small();
    return asked;
  }
};

template <class T, int kAxes, class Rows>
__global__ void __launch_bounds__(Rows::kBlock)
    finish_listed(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request,
                  const __grid_constant__ Plan plan) {
  __shared__ GroupLists<Rows> lists;
  __shared__ Asked<kAxes> queries[kListedQueries];
  const Share<kListedQueries, Rows::kWarps> share;
  const std::int64_t first = share.number() - share.place;
  const std::int64_t number = plan.first + smaller(share.number(), plan.count - 1);
  const Asked<kAxes>& asked = queries[share.place];
  if (share.warp == 0 && lane_id() == 0) queries[share.place] = Asked<kAxes>::of(request, number);
  fathom::cuda::wait_for_last();
  if (lists.fill(plan, first)) shorten<T, kAxes>(tree, request, plan, lists, first);
  if (share.number() >= plan.count) return;
  if (asked.in_float && lists.is_whole(share.place)) {
    if (share.warp == 0) finish_in_float<T>(tree, request, number, asked.at, lists, share.place);
    return;
  }
  finish_query<T>(tree, request, plan, share, asked.place, [&](const auto& query, auto& nearest) {
    for (unsigned i = static_cast<unsigned>(share.warp); i < lists.size(share.place); i += Rows::kWarps)
      look_into(query, lists.group(share.place, i), nearest);
  });
}

template <class T, int kAxes>
__global__ void __launch_bounds__(kCandidatesBlock)
    finish_candidates(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request,
                      const __grid_constant__ Plan plan) {
  const ShareOfCandidates share;
  if (share.number() >= plan.count) return;
  const auto place = Place<kAxes>::template of<false>(request, plan.first + share.number());
  finish_query<T>(tree, request, plan, share, place,
                  [&](const auto& query, auto& nearest) { look_into_candidates(query, plan, share, nearest); });
}

}  // namespace fathom::points::cuda::direct_search
