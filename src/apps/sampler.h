// Positions drawn at random by weight.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/sampler.hd.h"
#include "apps/weights.h"

namespace fathom::apps {

/// Position k of a stream is drawn from the seed, the stream's number and k alone, in whatever order they are asked
/// for.
class Sampler {
 public:
  /// @param weights  not all 0; referred to
  Sampler(const Weights& weights, std::uint64_t seed);
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// As Draws does. @param position  [axes]
  void draw(std::uint64_t stream, std::int64_t k, double* position) const { draws_.draw(stream, k, position); }

 private:
  std::vector<std::int64_t> before_;
  Draws draws_;
};

}  // namespace fathom::apps
