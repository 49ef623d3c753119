// The places of a set's first sites, in a block's shared memory: a later site at one of them is nobody's nearest, since
// of equally near sites the one with the lowest id counts.
//
// A table that is looked up by the bits of coordinates, the next entry where one is taken. Cost: O(1) per site.
#pragma once

#include "points/cuda/device_tree.h"
#include "points/measure.hd.h"

namespace fathom::points::cuda {

template <class T, int kAxes>
class EarlySites {
 public:
  /// By all threads of a block.
  __device__ void fill(const Cloud& sites) {
    const auto thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    const auto count = static_cast<int>(smaller(sites.count, std::int64_t{kCount}));
    for (int i = thread; i < kEntries; i += threads) entries_[i] = kFree;
    for (int i = thread; i < count; i += threads)
      for (int k = 0; k < kAxes; ++k) places_[i][k] = sites.get<T>(k, i);
    __syncthreads();
    for (int i = thread; i < count; i += threads) put(i);
    __syncthreads();
  }

  /// Whether one of those before position `end` is at a place.
  __device__ bool have(const T (&place)[kAxes], std::int64_t end) const {
    for (unsigned entry = first_entry(place); entries_[entry] != kFree; entry = after(entry))
      if (is_at(place, entries_[entry])) return entries_[entry] < end;
    return false;
  }

 private:
  static constexpr int kCount = 512, kBits = 10, kEntries = 1 << kBits, kFree = -1;

  /// The lowest of several at one place stays.
  __device__ void put(int site) {
    for (unsigned entry = first_entry(places_[site]);; entry = after(entry)) {
      const int other = atomicCAS(&entries_[entry], kFree, site);
      if (other == kFree) return;
      if (!is_at(places_[site], other)) continue;
      atomicMin(&entries_[entry], site);
      return;
    }
  }

  __device__ bool is_at(const T (&place)[kAxes], int site) const {
    bool same = true;
    for (int k = 0; k < kAxes; ++k) same &= places_[site][k] == place[k];
    return same;
  }

  /// Places of 0 and of −0 may differ, so that a copy is missed.
  __device__ static unsigned first_entry(const T (&place)[kAxes]) {
    constexpr unsigned kGolden = 0x9E3779B1;  // 2³² in the golden section
    unsigned mixed = 0;
    for (int k = 0; k < kAxes; ++k) mixed = (mixed ^ bits_of(place[k]) ^ mixed >> 15) * kGolden;
    return mixed >> (32 - kBits);
  }
  __device__ static unsigned after(unsigned entry) { return (entry + 1) % kEntries; }

  __device__ static unsigned bits_of(std::int32_t x) { return static_cast<unsigned>(x); }
  __device__ static unsigned bits_of(float x) { return __float_as_uint(x); }
  __device__ static unsigned bits_of(double x) {
    return static_cast<unsigned>(__double2hiint(x)) ^ static_cast<unsigned>(__double2loint(x));
  }

  T places_[kCount][kAxes];
  int entries_[kEntries];  ///< positions of sites
};

}  // namespace fathom::points::cuda
