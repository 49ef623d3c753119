// Positions drawn at random by weight.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/weights.h"

namespace fathom::apps {

/// Position k of a stream is drawn from the seed, the stream's number and k alone, in whatever order they are asked for.
class Sampler {
 public:
  /// @param weights  not all 0; referred to
  Sampler(const Weights& weights, std::uint64_t seed);

  /// Within an element that is chosen in proportion to its weight, each place in it as likely as others.
  /// @param position  [axes], the middle of the first element being 0
  void draw(std::uint64_t stream, std::int64_t k, double* position) const;

 private:
  const Weights& weights_;
  std::uint64_t seed_;
  std::vector<std::int64_t> before_;  ///< [rows + 1] weight of all rows before
};

}  // namespace fathom::apps
