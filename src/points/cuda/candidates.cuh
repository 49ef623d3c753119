// What a pass over all sites has found for each query: the least float32 distance, and the groups of sites that may
// hold the nearest of all, as far as their distances and the least one so far tell. Blocks share it, in any order.
#pragma once

#include "core/cuda/scratch.h"
#include "points/cuda/float_bound.cuh"
#include "points/cuda/products.cuh"
#include "points/cuda/tuning.h"

namespace fathom::points::cuda {

inline constexpr int kFarBits = 0x7F800000;  ///< of +inf: non-negative floats rise with their bits

/// How far a query's distances are off.
struct Accuracy {
  double error = 0;            ///< because points were rounded
  float exact_below = 0;       ///< squared distances that are exact, as between whole numbers
  bool from_products = false;  ///< on a lattice (products.cuh), else in float32
  bool of_slices = false;      ///< kept of slices of groups, not of each group (direct.cu)

  /// Between points rounded to a lattice, or points of it.
  __device__ static Accuracy of_products(bool exact, int axes) {
    constexpr double kOff = 2 * 0.51;  // of site and query along an axis; the rest of a hundredth is float32's
    return {exact ? 0 : kOff * sqrt(static_cast<double>(axes)), exact ? kExactProducts : 0, true};
  }

  /// Whether a squared distance, in bits, is exact.
  __device__ bool holds(int bits) const { return __int_as_float(bits) < exact_below; }

  /// Bits of the largest squared distance that the nearest site may have where some site has `least`: of both the true
  /// one may be off. In float32, subtractions, squares and sums err by less than 4u of the distance, u = 2⁻²⁴.
  __device__ int limit(int least) const {
    const auto squared = static_cast<double>(__int_as_float(least));
    const double apart = 1 + (from_products ? kProductError : 0x1p-20);
    const double reach = error == 0 ? 0 : (sqrt(squared) + 2 * error) * apart;
    const double most = error == 0 ? squared * (apart * apart) : reach * reach;
    return __float_as_int(__double2float_ru(most * (1 + 0x1p-40) + 0x1p-120));
  }
};

/// Queries of a thread.
using Queries = std::int64_t[kDirectQueries];

struct Candidate {
  int least;  ///< bits of the group's least squared distance
  unsigned group;
};

/// Rises with the distance, then with the group.
__device__ inline unsigned long long key_of(int least, unsigned group) {
  return static_cast<unsigned long long>(least) << 32 | group;
}

/// One query's.
struct Found {
  unsigned long long key;  ///< of the least distance, and the lowest group that has it
  int limit;               ///< only groups up to this, in bits, may hold the nearest
  unsigned count;          ///< of candidates; beyond kCandidates they are not kept

  __device__ bool is_full() const { return count > kCandidates; }
  __device__ int least() const { return static_cast<int>(key >> 32); }
  __device__ unsigned group() const { return static_cast<unsigned>(key); }
};

/// Those of some queries.
struct Candidates {
  Found* found;        ///< [query]
  Candidate* entries;  ///< [query][kCandidates]

  static Candidates take(fathom::cuda::Scratch& scratch, std::int64_t queries) {
    return {scratch.take<Found>(queries), scratch.take<Candidate>(queries * kCandidates)};
  }

  __device__ void clear(std::int64_t query) const { found[query] = {~0ull, kFarBits, 0}; }

  /// Up to where groups count for a query, as far as is known by now.
  __device__ int limit_of(std::int64_t query) const { return *const_cast<volatile int*>(&found[query].limit); }

  /// Tells of a group of each of kOffers queries, if it is up to the query's limit, and lowers the limits. A query with
  /// too many candidates, or past the group that is the lowest anyway, gets a limit that no later group is up to.
  /// @param accuracy  called with the number of a query
  template <class Of>
  __device__ void offer(const Queries& query, const int (&least)[kDirectQueries], int (&limit)[kDirectQueries],
                        unsigned group, const Of& accuracy) const {
    unsigned long long key[kDirectQueries];
#pragma unroll
    for (int i = 0; i < kDirectQueries; ++i) {
      if (least[i] > limit[i]) continue;
      const unsigned long long own = key_of(least[i], group);
      key[i] = min(atomicMin(&found[query[i]].key, own), own);
    }
#pragma unroll
    for (int i = 0; i < kDirectQueries; ++i) {
      if (least[i] > limit[i]) continue;
      const int best = static_cast<int>(key[i] >> 32);
      const Accuracy mine = accuracy(query[i]);
      if (mine.holds(best)) {
        atomicMin(&found[query[i]].limit, best);
        limit[i] = static_cast<unsigned>(key[i]) <= group ? best - 1 : best;
        continue;
      }
      limit[i] = mine.limit(best);
      atomicMin(&found[query[i]].limit, limit[i]);
      if (least[i] > limit[i]) continue;
      const unsigned place = atomicAdd(&found[query[i]].count, 1u);
      if (place < kCandidates) entries[query[i] * kCandidates + place] = {least[i], group};
      else limit[i] = -1;
    }
  }
};

}  // namespace fathom::points::cuda
