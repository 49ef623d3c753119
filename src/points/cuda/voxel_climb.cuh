// The nearest voxel of a query, found by one lane: from the word about the query up, until the ball of what is found
// lies inside of what was looked at, as exact searches of the CPU go (points/cpu/voxel_search.cpp). Of a word only the
// bits that the box about the ball reaches are looked at, one after the other; what is left of the words above waits as
// bits, each level's in a place of its own. Cost: where voxels are spread out five to eight words for a query, so that
// the lanes of a warp end at about the same time; a query that needs many words is better shared out among them.
#pragma once

#include "points/cuda/voxel_query.cuh"
#include "points/cuda/voxel_tuning.h"

namespace fathom::points::cuda {

template <int kAxes>
class VoxelClimb {
 public:
  /// @param place  somewhere
  __device__ VoxelClimb(const DevicePyramid& pyramid, const DeviceRequest& request, const Place<kAxes>& place)
      : pyramid_(pyramid), own_(pyramid, request, place), place_(place) {
    reach();
  }

  /// @returns whether the nearest is known; else there was too much to look at
  __device__ bool run() {
    for (int k = 0; k < kAxes; ++k) {
      const double last = static_cast<double>(pyramid_.extents[k] - 1);
      start_[k] = static_cast<int>(larger(0.0, smaller(place_.at[k], last)));
    }
    ShortCell cell = parent_of(start_, kAxes);
    take(cell);
    for (int level = 1; level < pyramid_.levels && !is_enough(cell, level); ++level) {
      const ShortCell word = parent_of(cell, kAxes);
      if (!search(level, word, *pyramid_.level[level].word_at(word, kAxes) & ~(1ull << bit_of(cell, kAxes))))
        return false;
      cell = word;
    }
    return true;
  }

  __device__ void write(const DeviceRequest& request, std::int64_t query) const {
    put_nearest(request, query, own_.found().squared, own_.found().id);
  }

 private:
  static constexpr int kShift = word_shift(kAxes);

  struct Child {
    float bound;
    int bit;
  };

  /// Sets the box about the elements that the limit leaves.
  __device__ void reach() {
    const bool any = own_.limit() == kNoLimit;
    const float way = __fsqrt_ru(own_.limit());
    for (int k = 0; k < kAxes; ++k) {
      low_[k] = any ? 0 : max(__float2int_rd(__fsub_rd(own_.around(k).low, way)), 0);
      high_[k] = any ? INT32_MAX : max(__float2int_ru(__fadd_ru(own_.around(k).high, way)), -1);
    }
  }

  /// Whether none of them lies outside of a word of the level below.
  __device__ bool is_enough(const ShortCell& word, int level) const {
    bool enough = true;
    for (int k = 0; k < kAxes; ++k) {
      const int last = min(high_[k], static_cast<int>(pyramid_.extents[k] - 1)), shift = kShift * level;
      enough &= low_[k] >> shift >= word[k] && last >> shift <= word[k];
    }
    return enough;
  }

  __device__ unsigned long long near_bits(const ShortCell& word, int shift) const {
    return bits_within(low_, high_, word, shift, kAxes);
  }

  /// The elements of a word of level 0.
  __device__ void take(const ShortCell& word) {
    unsigned long long bits = *pyramid_.level[0].word_at(word, kAxes) & near_bits(word, 0);
    const float before = own_.limit();
    for (; bits != 0; bits &= bits - 1)
      own_.measure(child_of(word, __ffsll(static_cast<long long>(bits)) - 1, kAxes));
    if (own_.limit() < before) reach();
  }

  __device__ Child child_at(const ShortCell& word, int shift, int bit) const {
    return {own_.bound_of(child_of(word, bit, kAxes), shift), bit};
  }

  /// The nearest of a word's children, or nearly: where some are about the query's own cell, one of these.
  __device__ Child nearest_of(const ShortCell& word, int shift, unsigned long long bits) const {
    ShortCell low, high;
    for (int k = 0; k < kAxes; ++k) {
      const int side = 1 << shift;
      low[k] = max(start_[k] - side, 0);
      high[k] = start_[k] + min(side, INT32_MAX - start_[k]);
    }
    const unsigned long long about = bits & bits_within(low, high, word, shift, kAxes);
    Child nearest{INFINITY, 0};
    for (unsigned long long rest = about != 0 ? about : bits; rest != 0; rest &= rest - 1) {
      const Child child = child_at(word, shift, __ffsll(static_cast<long long>(rest)) - 1);
      if (child.bound < nearest.bound) nearest = child;
    }
    return nearest;
  }

  /// Some children of a word, and all that is below them. Until a first one is found the nearest child leads to it;
  /// after that the limit leaves few, in whatever order.
  /// @returns whether it went to the end
  __device__ bool search(const int top, ShortCell word, unsigned long long rest) {
    unsigned long long waiting[DevicePyramid::kMostLevels];
    int level = top;
    while (true) {
      const int shift = kShift * level;
      rest &= near_bits(word, shift);
      if (rest == 0) {
        if (level == top) return true;
        word = parent_of(word, kAxes);
        rest = waiting[++level];
        continue;
      }
      const Child child = own_.found().id == kNobody ? nearest_of(word, shift, rest)
                                                     : child_at(word, shift, __ffsll(static_cast<long long>(rest)) - 1);
      rest &= ~(1ull << child.bit);
      const ShortCell cell = child_of(word, child.bit, kAxes);
      if (!(child.bound <= own_.limit()) || !own_.may_better(child.bound, cell, shift)) continue;
      if (++words_ > kWordsOfLane) return false;
      if (level == 1) {
        take(cell);
      } else {
        waiting[level--] = rest;
        word = cell;
        rest = *pyramid_.level[level].word_at(cell, kAxes);
      }
    }
  }

  const DevicePyramid& pyramid_;
  NearestOfLane<kAxes> own_;
  const Place<kAxes>& place_;
  ShortCell start_;       ///< the element at the query, or the grid's nearest
  ShortCell low_, high_;  ///< the box about the ball of what is found
  int words_ = 0;         ///< that were looked at
};

}  // namespace fathom::points::cuda
