// Random calls for values, distances and directions of nearest sites, of few elements.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "apps/spread.h"
#include "cases.h"
#include "fathom/apps/nearest_value.h"

namespace fathom::test {

struct NearestValueCase {
  grid::DistanceOptions options;
  Spread input, value, distance, direction;

  bool is_plane() const { return input.view.rank() - options.batch_axes == 2; }
  apps::NearestValueOutputs outputs() const {
    return {value.view, distance.view, is_plane() ? direction.view : AnyView()};
  }
};

/// Sites are the elements above 3.
inline NearestValueCase nearest_value_case(std::uint64_t seed) {
  Random random(seed);
  Shape space, shape;
  const bool plane = chance(random, 0.7);
  for (std::int64_t k = 0, rank = plane ? 2 : 1 + 2 * below(random, 2); k < rank; ++k)
    space.push_back(1 + below(random, plane ? 9 : 5));
  const double unit = pick(random, std::vector<double>{1, 0.5, 1.25});
  grid::DistanceOptions options;
  for (int k = 0; k < space.rank(); ++k) {
    options.spacing.push_back(unit * static_cast<double>(1 + below(random, 2)));
    options.border.push_back(chance(random, 0.3) ? grid::Border::periodic : grid::Border::open);
  }
  options.sites = {grid::Sites::Rule::greater, 3};
  options.max_distance = chance(random, 0.5) ? INFINITY : static_cast<double>(below(random, 500)) / 100;
  options.execution.threads = 1 + static_cast<int>(below(random, 3));
  options.batch_axes = chance(random, 0.3) ? 1 : 0;
  if (options.batch_axes > 0) shape.push_back(2);
  for (const std::int64_t extent : space) shape.push_back(extent);

  const DType type = pick(random, std::vector{DType::uint8, DType::int16, DType::float32, DType::int64});
  Spread input(type, shape, random), value(type, shape, random), direction(DType::float32, shape, random);
  Spread distance(DType::float64, shape, random);
  const double density = pick(random, std::vector<double>{0, 0.05, 0.4});
  input.each([&]<class T>(std::int64_t, T& element) {
    element = static_cast<T>(chance(random, density) ? 4 + below(random, 90) : below(random, 4));
  });
  return {options, std::move(input), std::move(value), std::move(distance), std::move(direction)};
}

}  // namespace fathom::test
