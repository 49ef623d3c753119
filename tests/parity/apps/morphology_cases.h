// Random calls of morphology: arrays of few elements, so that brute force may look at all pairs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "apps/spread.h"
#include "cases.h"
#include "fathom/apps/morphology.h"

namespace fathom::test {

inline constexpr apps::MorphologyOperation kOperations[] = {
    apps::MorphologyOperation::erosion,       apps::MorphologyOperation::dilation,
    apps::MorphologyOperation::opening,       apps::MorphologyOperation::closing,
    apps::MorphologyOperation::gradient,      apps::MorphologyOperation::white_top_hat,
    apps::MorphologyOperation::black_top_hat, apps::MorphologyOperation::remove_thin,
    apps::MorphologyOperation::fill_thin};
inline constexpr apps::MorphologyBorder kBorders[] = {apps::MorphologyBorder::ignore, apps::MorphologyBorder::pad,
                                                      apps::MorphologyBorder::background};

inline Shape small_shape(Random& random) {
  const std::int64_t most[] = {40, 9, 5};
  const auto rank = 1 + below(random, 3);
  Shape shape;
  for (std::int64_t k = 0; k < rank; ++k) shape.push_back(1 + below(random, most[rank - 1]));
  return shape;
}

inline std::vector<double> some_spacing(Random& random, int rank) {
  const std::vector<double> sizes =
      pick(random, std::vector<std::vector<double>>{{1}, {1, 2, 3}, {0.5}, {0.1, 0.3, 0.2}, {1.37, 0.71, 2.9}});
  std::vector<double> spacing;
  for (int k = 0; k < rank; ++k) spacing.push_back(sizes[static_cast<std::size_t>(k) % sizes.size()]);
  return spacing;
}

/// One that some distance equals, one between, 0, or beyond everything.
inline double some_size(Random& random, const std::vector<double>& spacing, bool finite) {
  const auto along = [&](double steps, std::size_t k) { return spacing[k % spacing.size()] * steps; };
  switch (below(random, 6)) {
    case 0: return 0;
    case 1: return finite ? 2.2 * spacing[0] : pick(random, std::vector<double>{1e9, INFINITY});
    case 2: return static_cast<double>(below(random, 400)) / 100 * spacing[0];
    default:
      return std::hypot(along(static_cast<double>(below(random, 4)), 0),
                        along(static_cast<double>(below(random, 3)), 1));
  }
}

struct MorphologyCase {
  apps::MorphologyOptions options;
  Spread input, output;
};

inline MorphologyCase morphology_case(std::uint64_t seed) {
  Random random(seed);
  const Shape space = small_shape(random);
  const std::vector<double> spacing = some_spacing(random, space.rank());
  apps::MorphologyOptions options;
  options.operation = kOperations[below(random, std::size(kOperations))];
  options.border = kBorders[below(random, 3)];
  options.labels = chance(random, 0.4);
  const bool is_spaced = chance(random, 0.8) || spacing[0] != 1;
  if (is_spaced) options.spacing = spacing;
  const std::vector<double> sizes = is_spaced ? spacing : std::vector<double>(spacing.size(), 1.0);
  options.size = some_size(random, sizes, options.border == apps::MorphologyBorder::pad);
  options.execution.threads = chance(random, 0.5) ? 1 : 3;

  const std::int64_t images = chance(random, 0.3) ? 1 + below(random, 3) : 1;
  options.batch_axes = images > 1 || chance(random, 0.2) ? 1 : 0;
  Shape shape;
  if (options.batch_axes > 0) shape.push_back(images);
  for (const std::int64_t extent : space) shape.push_back(extent);
  const DType type = pick(
      random, options.labels ? std::vector{DType::uint8, DType::int16, DType::int64, DType::boolean}
                             : std::vector{DType::boolean, DType::uint8, DType::int32, DType::float32, DType::float64});
  Spread input(type, shape, random);
  const double density = pick(random, std::vector<double>{0, 0.05, 0.3, 0.7, 0.95, 1});
  input.each([&]<class T>(std::int64_t, T& element) {
    const std::int64_t label = 1 + below(random, 4);
    element = chance(random, density) ? static_cast<T>(std::is_signed_v<T> && label == 4 ? -2 : label) : T{};
  });
  Spread output(options.labels ? type : chance(random, 0.5) ? DType::uint8 : DType::boolean, shape, random);
  return {options, std::move(input), std::move(output)};
}

inline std::string describe(const MorphologyCase& c) {
  std::string text = "operation " + std::to_string(static_cast<int>(c.options.operation)) + ", size " +
                     std::to_string(c.options.size) + ", border " + std::to_string(static_cast<int>(c.options.border)) +
                     (c.options.labels ? ", labels" : "") + ", " + std::string(name_of(c.input.view.dtype())) +
                     " of the shape " + to_string(c.input.view.shape()) + ", spacing";
  for (const double size : c.options.spacing) text += " " + std::to_string(size);
  return text;
}

}  // namespace fathom::test
