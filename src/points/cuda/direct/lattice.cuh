// The filter among all sites (points/cuda/direct.cu) by products of tensor cores, between points of a lattice.
#pragma once

#include "points/cuda/direct/plan.cuh"

namespace fathom::points::cuda::direct_search {

/// The nearest whole number, where that is below 2²²: two sums are faster than the instruction that rounds.
__device__ inline float to_lattice(float x) {
  constexpr float kUnitsInLastPlace = 0x1.8p23f;
  return (x + kUnitsInLastPlace) - kUnitsInLastPlace;
}

/// From the lattice's center to a coordinate, in float32.
struct LatticeOffset {
  float value;
  bool whole;  ///< the coordinate, before the center was taken off it; on exact lattices, where that is asked for

  /// @tparam Site  type of the sites' coordinates
  template <class Site, class X>
  __device__ static LatticeOffset of(const Lattice& lattice, int k, X x) {
    if constexpr (std::is_same_v<X, std::int32_t>)  // differences of 2³² minus a few do not occur
      if (lattice.exact) return {static_cast<float>(wrapped(x, static_cast<std::int32_t>(lattice.middle[k]))), true};
    if constexpr (std::is_same_v<X, float>)
      if (lattice.exact || std::is_same_v<Site, float>) return {x - lattice.middle[k], x == floorf(x)};
    const auto at = static_cast<double>(x);
    return {static_cast<float>(at - lattice.center[k]), at == floor(at)};
  }

 private:
  __device__ static std::int32_t wrapped(std::int32_t x, std::int32_t y) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) - static_cast<std::uint32_t>(y));
  }
};

/// A site's factors.
template <class T, int kAxes>
__device__ Factors factors_of(const Lattice& lattice, const Fetched<T, kAxes>& site) {
  if (!site.present) return Factors::of_nobody();
  float at[3] = {};
  for (int k = 0; k < kAxes; ++k) at[k] = LatticeOffset::of<T>(lattice, k, site.at[k]).value;
  if (!lattice.exact) {
    const auto scale = static_cast<float>(lattice.scale);
    for (int k = 0; k < kAxes; ++k) at[k] = to_lattice(at[k] * scale);
  }
  return Factors::of_site(at[0], at[1], at[2]);
}

/// A thread's share of the block's queries, on the lattice.
template <class T, int kAxes>
struct LatticeQueries {
  static constexpr int kCount = kTile / kFilterBlock;
  float at[kCount][3] = {};
  bool near = true;   ///< on the part of the lattice that products.cuh serves
  bool exact = true;  ///< nothing was rounded

  __device__ LatticeQueries(const DeviceRequest& request, const Plan& plan, const Part& part) {
    switch (request.queries.dtype) {
      case DType::int32: put<std::int32_t>(request.queries, plan, part); break;
      case DType::float32: put<float>(request.queries, plan, part); break;
      default: put<double>(request.queries, plan, part);
    }
  }

  /// The q-th one's among the block's.
  __device__ static int number(int q) { return q * kFilterBlock + static_cast<int>(threadIdx.x); }

 private:
  template <class X>
  __device__ void put(const Cloud& queries, const Plan& plan, const Part& part) {
    std::int64_t index[kCount];
#pragma unroll
    for (int q = 0; q < kCount; ++q) index[q] = plan.first + smaller(part.first + number(q), plan.count - 1);
    X place[kCount][kAxes];
    fetch_points(queries, index, place);
    exact = plan.lattice.exact;
    if constexpr (std::is_same_v<X, std::int32_t>)
      if (exact) return put_whole(plan.lattice, place);
    const auto scale = static_cast<float>(plan.lattice.scale);
#pragma unroll
    for (int q = 0; q < kCount; ++q)
      for (int k = 0; k < kAxes; ++k) {
        const auto offset = LatticeOffset::of<T>(plan.lattice, k, place[q][k]);
        at[q][k] = to_lattice(offset.value * scale);
        near &= fabsf(at[q][k]) <= kProductReach;
        exact &= offset.whole && at[q][k] == offset.value;
      }
  }

  /// Nothing is to be rounded.
  __device__ void put_whole(const Lattice& lattice, const std::int32_t (&place)[kCount][kAxes]) {
#pragma unroll
    for (int q = 0; q < kCount; ++q)
      for (int k = 0; k < kAxes; ++k) {
        at[q][k] = LatticeOffset::of<T>(lattice, k, place[q][k]).value;
        near &= fabsf(at[q][k]) <= kProductReach;
      }
  }
};

inline constexpr int kRows =
    4 * kDirectQueries;  ///< of a lane: two of each product of 16 queries and 8 sites, two columns

/// The queries whose least distances a lane gets from three others.
__device__ inline void rows_of(const Part& part, Queries& query) {
  const int warp = part.thread / 32;
  for (int i = 0; i < kDirectQueries; ++i)
    query[i] = part.first + (warp * kDirectQueries + i) * 32 + lane_id() % 4 * 8 + lane_id() / 4;
}

/// The least of two words' halves that this lane and the one at `step` hold: of the first where the lane's bit is 0.
__device__ inline unsigned share(unsigned first, unsigned second, int step) {
  const bool odd = (lane_id() & step) != 0;
  return __vmins2(odd ? second : first, from_lane(odd ? first : second, lane_id() ^ step));
}

/// The least of each of four rows' two columns, of the lanes that have parts of these rows: in the halves of a word the
/// two rows of those that go to this lane's pair of lanes.
__device__ inline unsigned least_of_rows(const unsigned* row) {
  const auto of_columns = [](unsigned first, unsigned second) {
    return __vmins2(low_halves(first, second), high_halves(first, second));
  };
  return share(of_columns(row[0], row[1]), of_columns(row[2], row[3]), 2);
}

/// The least distances of the lane's queries (rows_of) from those that lanes have found for all rows.
__device__ inline void share_rows(const unsigned (&row)[kRows], int (&least)[kDirectQueries]) {
#pragma unroll
  for (int i = 0; i < kDirectQueries; i += 2) {
    const unsigned first = least_of_rows(row + 4 * i), second = least_of_rows(row + 4 * i + 4);
    const unsigned both = share(low_halves(first, second), high_halves(first, second), 1);
    least[i] = product_bits(both);
    least[i + 1] = product_bits(both >> 16);
  }
}

/// Lowers the least of a warp's rows to two products with 8 sites each.
__device__ inline void multiply_two(const unsigned (&row)[kRows], unsigned sites, unsigned more,
                                    unsigned (&least)[kRows]) {
#pragma unroll
  for (int m = 0; m < kRows; m += 2) {
    unsigned first[2], second[2];
    multiply(first, row[m], row[m + 1], sites);
    multiply(second, row[m], row[m + 1], more);
    for (int r = 0; r < 2; ++r) least[m + r] = __vimin3_s16x2(least[m + r], first[r], second[r]);
  }
}

/// What a block multiplies: factors of its queries and of its teams' sites.
struct ProductTiles {
  uint4 queries[kTile];
  uint4 sites[kDirectTeams][2][kGroup];

  /// One for all ways to use it.
  __device__ static ProductTiles& of_block() {
    __shared__ ProductTiles tiles;
    return tiles;
  }

  template <class T, int kAxes>
  __device__ void put(const LatticeQueries<T, kAxes>& places) {
#pragma unroll
    for (int q = 0; q < places.kCount; ++q)
      queries[places.number(q)] = Factors::of_query(places.at[q][0], places.at[q][1], places.at[q][2]).words;
  }
  template <class T, int kAxes>
  __device__ void put(const Plan& plan, const Part& part, unsigned turn, const Fetched<T, kAxes>& site) {
    sites[part.team][turn % 2][part.thread] = factors_of(plan.lattice, site).words;
  }
};

/// A warp takes 128 queries, whose factors all threads of the block have put there, and the team's first sites', too.
/// Lanes that have parts of the same rows share out what they have found.
template <class T, int kAxes, class Sink>
__device__ void filter_on_lattice(const DeviceTree& tree, const Plan& plan, const Part& part, const Sink& sink) {
  auto& tiles = ProductTiles::of_block();
  unsigned row[kRows];
#pragma unroll
  for (int r = 0; r < kRows; r += 4) load_words(&tiles.queries[(part.thread / 32 * kRows + r) * 8], row + r);
  unsigned turn = 0;
  for (std::int64_t group = part.slice;; ++turn) {
    const uint4* sites = tiles.sites[part.team][turn % 2];
    const std::int64_t next_group = group + plan.slices;
    Fetched<T, kAxes> next;
    if (next_group < plan.groups) next.fetch(tree, next_group * kGroup + part.thread);
    sink.refresh(turn);
    unsigned least[kRows];  // of two columns each
#pragma unroll
    for (unsigned& pair : least) pair = kFarProducts;
#pragma unroll
    for (int j = 0; j < kGroup; j += 32) {
      unsigned site[4];
      load_words(sites + j, site);
      multiply_two(row, site[0], site[1], least);
      multiply_two(row, site[2], site[3], least);
    }
    unsigned lowest = kFarProducts;
#pragma unroll
    for (int r = 0; r < kRows; r += 2) lowest = __vimin3_s16x2(lowest, least[r], least[r + 1]);
    if (sink.has_use_for(product_bits(__vmins2(lowest, lowest >> 16)))) {
      int shared[kDirectQueries];
      share_rows(least, shared);
      sink.take(group, shared);
    }
    if (next_group >= plan.groups) return;
    group = next_group;
    tiles.put(plan, part, turn + 1, next);
    part.meet();
  }
}

}  // namespace fathom::points::cuda::direct_search
