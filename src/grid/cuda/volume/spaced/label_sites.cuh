// Nearest elements of other labels in the engine for volumes: what labels change in volume/spaced/sites.cuh, whose
// passes take them with equal spacings, too. Small images (small/small_sites.cuh) have them by the same argument.
//
// As for distances (volume/labels.cuh), each pass is that of a mask whose sites lie beyond the ends of the runs along
// the axes before, and takes the ends of the runs along its own axis besides. What is found beyond such an end is
// farther than the end, whatever it is taken for: all of its ways have a step across, but that to an element of label
// 0, which is a site to the others indeed. So whatever is as near as an end lies within the run, behind the end before
// the element and before the one behind it, and of those the search finds the first.
//
// Words hold changes here instead of ends: bit x tells that element x differs from the one before it. So it is known on
// which side of an element the site lies.
//
// Cost: the changes around eight rows are looked for once for a window, which takes the ends as rows like others;
// twice for a search, as bounds before it, and behind it.
#pragma once

#include "grid/cuda/volume/spaced/spaced.cuh"

namespace fathom::grid::cuda::volume {

/// The nearer ends of the runs of eight rows of a line; of a mask there are none.
template <bool kLabels>
class EightEnds {
 public:
  /// @param most  steps to look at least; an end beyond may be as good as none
  __device__ EightEnds(const RunEnds& runs, int group, int line, int most, unsigned weight)
      : first_row_(group * 8), weight_(weight) {
    if constexpr (kLabels) runs.nearest(group, line, most, steps_);
  }

  /// Takes part in a window: an end is a row like others there, before or behind all that are as near.
  __device__ void offer(unsigned* best) const {
    if constexpr (kLabels) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const bool is_near = abs(steps_[j]) <= WindowWinners::kMostSteps;
        if (is_near) best[j] = min(best[j], WindowWinners::from(square(j)) + static_cast<unsigned>(steps_[j]));
      }
    }
  }
  /// Bounds what a search begins with. One more than the ends' squares: rows that are as near are found.
  __device__ void bound(unsigned* best) const {
    if constexpr (kLabels) {
#pragma unroll
      for (int j = 0; j < 8; ++j) best[j] = min(best[j], square(j) + 1);
    }
  }
  /// Of what a search found for row j and the end the nearer one, the first of two.
  __device__ Winner nearer(int j, const Winner& found) const {
    if constexpr (!kLabels) return found;
    const bool is_end = square(j) < found.square || (square(j) == found.square && steps_[j] < 0);
    return is_end ? Winner{square(j), first_row_ + j + steps_[j]} : found;
  }

 private:
  __device__ unsigned square(int j) const {
    return steps_[j] ? weight_ * static_cast<unsigned>(steps_[j] * steps_[j]) : kNoneSpaced;
  }

  const int first_row_;
  const unsigned weight_;
  int steps_[kLabels ? 8 : 1];
};

}  // namespace fathom::grid::cuda::volume
