#include "apps/cpu/axis_balls.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "apps/cpu/balls.h"
#include "apps/squares.h"

namespace fathom::apps::cpu {

namespace {

/// Squared radii of the balls, 0 where there is none; 1 in the elements of `out` that have one.
/// @returns false: one has no end
template <class T, class Index>
bool read_radii(const AxisBalls& balls, std::vector<T>& squared) {
  const auto [depth, height, width] = balls.lattice.extent;
  const Measure<T> measure(balls.lattice.weights());
  std::size_t i = 0;
  for (std::int64_t z = 0; z < depth; ++z)
    for (std::int64_t y = 0; y < height; ++y) {
      const Index* nearest = balls.nearest.at<Index>(z, y);
      std::uint8_t* out = balls.out.at<std::uint8_t>(z, y);
      for (std::int64_t x = 0; x < width; ++x, ++i) {
        out[x] = 0;
        if (!balls.chosen[i]) continue;
        const std::int64_t site = nearest[x];
        if (site < 0) return false;
        squared[i] = measure(site / width / height - z, site / width % height - y, site % width - x);
        out[x] = squared[i] > 0;
      }
    }
  return true;
}

template <class T>
void draw(const AxisBalls& balls, const Execution& execution) {
  const Lattice3& lattice = balls.lattice;
  std::vector<T> squared(static_cast<std::size_t>(lattice.size()));
  const bool bounded = balls.nearest.size == 4 ? read_radii<T, std::int32_t>(balls, squared)
                                               : read_radii<T, std::int64_t>(balls, squared);
  if (!bounded) {
    for (std::int64_t row = 0; row < lattice.extent[0] * lattice.extent[1]; ++row)
      std::fill_n(balls.out.element<std::uint8_t>(row * lattice.extent[2]), lattice.extent[2], std::uint8_t{1});
    return;
  }
  draw_balls<T>(squared.data(), lattice, Extent::everywhere, balls.instruction_set, balls.threads, execution,
                [&](T, const std::vector<Covered>& covered) {
                  for (const Covered& some : covered) {
                    std::uint8_t* out = balls.out.element<std::uint8_t>(some.first);
                    for (std::uint32_t left = some.bits; left != 0; left &= left - 1) out[std::countr_zero(left)] = 1;
                  }
                });
}

}  // namespace

void draw_axis_balls(const AxisBalls& balls, const Execution& execution) {
  visit_squares(squares_of(balls.lattice), [&](auto tag) { draw<typename decltype(tag)::type>(balls, execution); });
}

std::size_t axis_balls_bytes(const Lattice3& lattice, int threads) {
  const std::size_t value = size_of(squares_of(lattice));
  return static_cast<std::size_t>(lattice.size()) * (1 + value) + balls_bytes(lattice, threads, value);
}

}  // namespace fathom::apps::cpu
