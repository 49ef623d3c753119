// A random share of the whole weight is looked up: by bisection among sums of rows, then along the row. No position is
// thrown away, so that a picture with a single element of weight takes no longer than others.
#include "apps/sampler.h"

#include <algorithm>
#include <numeric>

#include "core/noise.hd.h"

namespace fathom::apps {

Sampler::Sampler(const Weights& weights, std::uint64_t seed) : weights_(weights), seed_(seed) {
  const std::int64_t width = weights.width(), rows = row_count(weights.shape);
  before_.push_back(0);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::uint16_t* const values = weights.row(row);
    std::int64_t sum = width;
    if (values != nullptr) sum = std::accumulate(values, values + width, std::int64_t{0});
    before_.push_back(before_.back() + sum);
  }
}

void Sampler::draw(std::uint64_t stream, std::int64_t k, double* position) const {
  const std::uint64_t source = noise_row(mixed(seed_) + stream, k);
  // The upper half of a product of 128 bits: a share of the whole in [0, total).
  const auto share = static_cast<std::int64_t>(
      static_cast<Wide>(noise_bits(source, 0)) * static_cast<std::uint64_t>(before_.back()) >> 64);
  std::int64_t row = std::upper_bound(before_.begin(), before_.end(), share) - before_.begin() - 1;
  std::int64_t left = share - before_[static_cast<std::size_t>(row)], x = 0;
  if (const std::uint16_t* const values = weights_.row(row)) {
    while (left >= values[x]) left -= values[x++];
  } else {
    x = left;
  }
  for (int axis = weights_.shape.rank() - 1; axis >= 0; --axis) {
    const double within = static_cast<double>(noise_bits(source, axis + 1) >> 11) * 0x1p-53;  // [0, 1)
    position[axis] = static_cast<double>(x) + within - 0.5;
    if (axis == 0) break;
    x = row % weights_.shape[axis - 1];
    row /= weights_.shape[axis - 1];
  }
}

}  // namespace fathom::apps
