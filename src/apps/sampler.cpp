// No position is thrown away, so that a picture with a single element of weight takes no longer than others.
#include "apps/sampler.h"

#include <algorithm>
#include <numeric>

namespace fathom::apps {

Sampler::Sampler(const Weights& weights, std::uint64_t seed) {
  const std::int64_t width = weights.width(), rows = row_count(weights.shape);
  before_.push_back(0);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::uint16_t* const values = weights.row(row);
    std::int64_t sum = width;
    if (values != nullptr) sum = std::accumulate(values, values + width, std::int64_t{0});
    before_.push_back(before_.back() + sum);
  }
  draws_ = {weights.shape.rank(), {}, weights.row(0), before_.data(), rows, seed};
  std::copy(weights.shape.begin(), weights.shape.end(), draws_.extent);
}

}  // namespace fathom::apps
