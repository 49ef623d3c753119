// Voronoi regions and Lloyd's iteration against sums over all pairs of elements and sites, and the laws they obey.
#include "fathom/apps/voronoi.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "cases.h"
#include "fathom/core/error.h"
#include "oracle.h"

namespace fathom::test {
namespace {

using apps::Voronoi;

/// Random weights of a random type, some 0; `as` holds them as voronoi() shall see them.
struct Weighted {
  Array array;
  std::vector<std::int64_t> as;
  double scale = 1;

  Weighted(Random& random, const Shape& shape)
      : array(pick(random, std::vector{DType::uint8, DType::uint16, DType::boolean, DType::int32, DType::float32,
                                       DType::float64}),
              shape) {
    const bool real = array.dtype() == DType::float32 || array.dtype() == DType::float64;
    const std::int64_t most = array.dtype() == DType::boolean ? 1 : array.dtype() == DType::uint8 ? 255 : 65535;
    std::vector<double> values;
    for (std::int64_t k = 0; k < array.size(); ++k) {
      const auto value = static_cast<double>(chance(random, 0.3) ? 0 : below(random, most + 1));
      values.push_back(real ? static_cast<float>(value / 1000) : value);
      store(array, k, values.back());
    }
    const double top = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
    if (real && top > 0) scale = 65535 / top;
    for (double value : values)
      as.push_back(static_cast<std::int64_t>(real && top > 0 ? std::floor(value / top * 65535 + 0.5) : value));
  }
};

/// Sums by the definition; the nearest site by brute force, the lowest index among equals.
Voronoi by_definition(const std::vector<bool>& sites, const std::vector<std::int64_t>& weights, const Shape& shape,
                      const std::vector<double>& spacing, std::vector<std::int64_t>& regions) {
  Voronoi result;
  for (std::size_t k = 0; k < sites.size(); ++k)
    if (sites[k]) result.sites.push_back(static_cast<std::int64_t>(k));
  const auto axes = static_cast<std::size_t>(shape.rank()), n = result.sites.size();
  const auto step = [&](std::size_t axis) { return spacing.empty() ? 1.0 : spacing[spacing.size() == 1 ? 0 : axis]; };
  result.areas.assign(n, 0);
  result.masses.assign(n, 0);
  result.firsts.assign(n * axes, 0);
  result.seconds.assign(n * axes * (axes + 1) / 2, 0);
  regions.assign(sites.size(), -1);
  std::map<std::pair<std::int64_t, std::int64_t>, double> lengths;
  for (std::size_t k = 0; k < sites.size() && n > 0; ++k) {
    const Index p = unravel(static_cast<std::int64_t>(k), shape);
    double least = std::numeric_limits<double>::infinity();
    std::size_t region = 0;
    for (std::size_t site = 0; site < n; ++site) {
      const Index s = unravel(result.sites[site], shape);
      double squared = 0;
      for (std::size_t axis = 0; axis < axes; ++axis)
        squared += std::pow(static_cast<double>(p[axis] - s[axis]) * step(axis), 2);
      if (squared >= least) continue;
      least = squared;
      region = site;
    }
    regions[k] = static_cast<std::int64_t>(region);
    const Index s = unravel(result.sites[region], shape);
    ++result.areas[region];
    result.masses[region] += weights[k];
    std::size_t place = region * axes * (axes + 1) / 2;
    for (std::size_t i = 0; i < axes; ++i) {
      result.firsts[region * axes + i] += weights[k] * (p[i] - s[i]);
      for (std::size_t j = i; j < axes; ++j) result.seconds[place++] += weights[k] * (p[i] - s[i]) * (p[j] - s[j]);
    }
    double cell = 1;
    for (std::size_t axis = 0; axis < axes; ++axis) cell *= step(axis);
    for (std::size_t axis = 0; axis < axes; ++axis) {
      Index before = p;
      if (before[axis]-- == 0) continue;
      const std::int64_t other = regions[static_cast<std::size_t>(ravel(before, shape))];
      if (other != regions[k]) lengths[std::minmax(other, regions[k])] += cell / step(axis);
    }
  }
  for (const auto& [pair, length] : lengths) result.boundaries.push_back({pair.first, pair.second, length});
  return result;
}

Shape small_shape(Random& random) {
  Shape shape;
  const std::int64_t axes = 1 + below(random, 3);
  for (std::int64_t axis = 0; axis < axes; ++axis) shape.push_back(below(random, axes == 1 ? 40 : axes == 2 ? 12 : 6));
  return shape;
}

TEST(Voronoi, IsTheDefinition) {
  for (int k = 0; k < scaled(6000); ++k) {
    Random random(static_cast<std::uint64_t>(k));
    SCOPED_TRACE(k);
    const Shape shape = small_shape(random);
    const auto sites = make_sites(static_cast<Structure>(below(random, kStructures)), shape, random);
    const bool weighted = chance(random, 0.7);
    const Weighted weights(random, shape);
    const std::vector<std::int64_t> ones(sites.size(), 1);
    apps::VoronoiOptions options;
    if (chance(random, 0.5)) options.spacing = {pick(random, std::vector{1.0, 2.0, 0.5})};
    else if (chance(random, 0.5))
      for (int axis = 0; axis < shape.rank(); ++axis)
        options.spacing.push_back(static_cast<double>(1 + below(random, 4)));
    options.moments = options.boundaries = true;
    options.execution.threads = chance(random, 0.5) ? 1 : 3;
    std::vector<std::int64_t> regions;
    const Voronoi expected = by_definition(sites, weighted ? weights.as : ones, shape, options.spacing, regions);

    const Array mask = mask_array(sites, shape, pick(random, std::vector{DType::uint8, DType::float32}), false);
    Array numbers(chance(random, 0.5) ? DType::int32 : DType::int64, shape);
    const Voronoi found =
        apps::voronoi(mask.view(), weighted ? weights.array.view() : AnyConstView(), options, numbers.view());
    EXPECT_EQ(found.sites, expected.sites);
    EXPECT_EQ(found.areas, expected.areas);
    EXPECT_EQ(found.masses, expected.masses);
    EXPECT_EQ(found.firsts, expected.firsts);
    EXPECT_EQ(found.seconds, expected.seconds);
    EXPECT_EQ(found.weight_scale, weighted ? weights.scale : 1);
    ASSERT_EQ(found.boundaries.size(), expected.boundaries.size());
    for (std::size_t b = 0; b < found.boundaries.size(); ++b) {
      EXPECT_EQ(found.boundaries[b].first, expected.boundaries[b].first);
      EXPECT_EQ(found.boundaries[b].second, expected.boundaries[b].second);
      EXPECT_NEAR(found.boundaries[b].length, expected.boundaries[b].length, 1e-9);
    }
    for (std::int64_t at = 0; at < numbers.size(); ++at)
      EXPECT_EQ(numbers.dtype() == DType::int32 ? numbers.as<std::int32_t>().data()[at]
                                                : numbers.as<std::int64_t>().data()[at],
                regions[static_cast<std::size_t>(at)]);
  }
}

/// Sites, weights and regions in rows that lie apart, and a last axis that begins within them.
TEST(Voronoi, TakesStridedViews) {
  const Shape shape{7, 9};
  Array mask(DType::uint8, {7, 20}), weights(DType::uint16, {7, 20}), regions(DType::int32, {7, 20}),
      dense(DType::int32, shape);
  Array mask_copy(DType::uint8, shape), weights_copy(DType::uint16, shape);
  for (std::int64_t k = 0; k < mask.size(); ++k) {
    store(mask, k, k % 11 == 0);
    store(weights, k, static_cast<double>(k * 37 % 100));
    store(regions, k, -7);
  }
  for (std::int64_t y = 0; y < 7; ++y)
    for (std::int64_t x = 0; x < 9; ++x) {
      mask_copy.as<std::uint8_t>().data()[y * 9 + x] = mask.as<std::uint8_t>().data()[y * 20 + x + 4];
      weights_copy.as<std::uint16_t>().data()[y * 9 + x] = weights.as<std::uint16_t>().data()[y * 20 + x + 4];
    }
  const Strides strides{20, 1};
  const apps::VoronoiOptions options;
  const Voronoi a = apps::voronoi({mask.data() + 4, DType::uint8, shape, strides},
                                  {weights.data() + 8, DType::uint16, shape, strides}, options,
                                  {regions.data() + 16, DType::int32, shape, strides});
  const Voronoi b = apps::voronoi(mask_copy.view(), weights_copy.view(), options, dense.view());
  EXPECT_EQ(a.firsts, b.firsts);
  for (std::int64_t k = 0; k < regions.size(); ++k) {
    const bool inside = k % 20 >= 4 && k % 20 < 13;
    EXPECT_EQ(regions.as<std::int32_t>().data()[k],
              inside ? dense.as<std::int32_t>().data()[k / 20 * 9 + k % 20 - 4] : -7);
  }
}

TEST(Voronoi, RefusesWhatHasNoMeaning) {
  Array mask = mask_array({true, false, false, true}, {2, 2}, DType::uint8, false);
  Array weights(DType::float32, {2, 2});
  const auto refuses = [&](const char* why, const AnyConstView& given, apps::VoronoiOptions options = {}) {
    try {
      apps::voronoi(mask.view(), given, options);
      ADD_FAILURE() << why;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  };
  for (double bad : {-1.0, std::nan(""), HUGE_VAL}) {
    for (std::int64_t k = 0; k < 4; ++k) store(weights, k, k == 2 ? bad : 1);
    refuses("weights are finite and not negative", weights.view());
  }
  Array tiny(DType::float64, {2, 2});
  for (std::int64_t k = 0; k < 4; ++k) store(tiny, k, 1e-310);
  refuses("the largest weight is 1e-310", tiny.view());
  Array whole(DType::int32, {2, 2});
  for (std::int64_t k = 0; k < 4; ++k) store(whole, k, 70000);
  refuses("at most 65535", whole.view());
  refuses("the weights have the shape 1", AnyConstView(whole.data(), DType::int32, {1, 4}));
  apps::VoronoiOptions options;
  options.sites.rule = grid::Sites::Rule::labels;
  refuses("cannot be those of labels", {}, options);
  options = {};
  options.execution.scratch_limit = 10;
  refuses("the scratch limit of 10 bytes is too small", {}, options);
}

/// One site has all of some long rows of heavy weights.
TEST(Voronoi, RefusesMomentsThatPass64Bits) {
  apps::VoronoiOptions options;
  const auto run = [&](std::int64_t rows, std::int64_t width) {
    Array weights(DType::uint16, {rows, width}), mask(DType::uint8, {rows, width});
    std::fill_n(weights.as<std::uint16_t>().data(), weights.size(), 65535);
    std::fill_n(mask.as<std::uint8_t>().data(), mask.size(), 0);
    *mask.as<std::uint8_t>().data() = 1;
    return apps::voronoi(mask.view(), weights.view(), options);
  };
  EXPECT_EQ(run(17, 30000).masses, std::vector<std::int64_t>{65535LL * 17 * 30000});
  options.moments = true;
  for (int threads : {1, 3}) {
    options.execution.threads = threads;
    constexpr std::int64_t kWidth = 30000, kSquares = (kWidth - 1) * kWidth * (2 * kWidth - 1) / 6;  // Σ x²
    EXPECT_EQ(run(15, kWidth).seconds.back(), 65535 * 15 * kSquares);
    EXPECT_THROW(run(17, kWidth), InvalidArgument);
  }
  EXPECT_THROW(run(2, 400000), InvalidArgument) << "a row by itself";
}

std::vector<double> random_positions(Random& random, const Shape& shape, std::int64_t count, bool whole) {
  std::vector<double> positions;
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t extent : shape) {
      const auto at = static_cast<double>(below(random, extent));
      positions.push_back(whole ? at : at + static_cast<double>(below(random, 1000)) / 1000 - 0.5);
    }
  return positions;
}

/// Σ w |p − nearest|², the sum over the elements of a grid that is some times as fine.
double energy_of(const std::vector<double>& sites, const std::vector<std::int64_t>& weights, const Shape& shape) {
  const auto axes = static_cast<std::size_t>(shape.rank());
  double sum = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const Index p = unravel(static_cast<std::int64_t>(k), shape);
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t site = 0; site * axes < sites.size(); ++site) {
      double squared = 0;
      for (std::size_t axis = 0; axis < axes; ++axis)
        squared += std::pow(static_cast<double>(p[axis]) - sites[site * axes + axis], 2);
      least = std::min(least, squared);
    }
    sum += static_cast<double>(weights[k]) * least;
  }
  return sum;
}

TEST(Lloyd, OnElementsEnergyNeverRisesAndComesToRest) {
  int rested = 0, shared = 0;
  for (int k = 0; k < scaled(600); ++k) {
    Random random(static_cast<std::uint64_t>(k) + 5000);
    SCOPED_TRACE(k);
    Shape shape = small_shape(random);
    for (int axis = 0; axis < shape.rank(); ++axis) shape[axis] += 2;
    const Weighted weights(random, shape);
    const auto positive = static_cast<std::int64_t>(
        std::count_if(weights.as.begin(), weights.as.end(), [](std::int64_t w) { return w > 0; }));
    if (positive == 0) continue;
    auto sites = random_positions(random, shape, 1 + below(random, std::min<std::int64_t>(positive, 12)), true);
    const std::int64_t count = static_cast<std::int64_t>(sites.size()) / shape.rank();
    apps::LloydOptions options;
    options.on_elements = options.energies = true;
    options.iterations = 200;
    options.execution.threads = chance(random, 0.5) ? 1 : 3;
    const double before = energy_of(sites, weights.as, shape);
    const auto report = apps::lloyd(weights.array.view(), {sites.data(), {count, shape.rank()}}, options);
    ASSERT_EQ(report.energies.size(), static_cast<std::size_t>(report.iterations) + 1);
    EXPECT_EQ(report.energies.front(), before / weights.scale);
    EXPECT_EQ(report.energies.back(), energy_of(sites, weights.as, shape) / weights.scale);
    for (std::size_t i = 1; i < report.energies.size(); ++i) EXPECT_LE(report.energies[i], report.energies[i - 1]);
    EXPECT_TRUE(report.at_rest);
    rested += report.iterations > 1;
    std::vector<std::vector<double>> places;
    for (std::int64_t s = 0; s < count; ++s)
      places.emplace_back(sites.begin() + s * shape.rank(), sites.begin() + (s + 1) * shape.rank());
    std::sort(places.begin(), places.end());
    shared += std::adjacent_find(places.begin(), places.end()) != places.end();
    for (double at : sites) EXPECT_EQ(at, std::floor(at));
  }
  EXPECT_GT(rested, 100 * scaled(600) / 600 - 1);
  EXPECT_GT(shared, 0) << "no case in which sites share an element";
}

/// One step from real positions, by the definition: sites rounded to the finer grid, centroids of its elements.
TEST(Lloyd, RealPositionsGoToCentroids) {
  for (int k = 0; k < scaled(400); ++k) {
    Random random(static_cast<std::uint64_t>(k) + 9000);
    SCOPED_TRACE(k);
    Shape shape = small_shape(random);
    for (int axis = 0; axis < shape.rank(); ++axis) ++shape[axis];
    const auto axes = static_cast<std::size_t>(shape.rank());
    Array weights(DType::uint8, shape);
    for (std::int64_t i = 0; i < weights.size(); ++i) store(weights, i, static_cast<double>(1 + below(random, 255)));
    const auto fine = static_cast<int>(1 + below(random, 3));
    const auto count = static_cast<std::size_t>(1 + below(random, std::min<std::int64_t>(weights.size(), 9)));
    std::vector<double> sites = random_positions(random, shape, static_cast<std::int64_t>(count), false),
                        expected = sites;
    Shape finer = shape;
    for (int axis = 0; axis < shape.rank(); ++axis) finer[axis] *= fine;
    std::map<std::vector<std::int64_t>, std::size_t> taken;  // element of the finer grid: its lowest number
    for (std::size_t s = 0; s < count; ++s) {
      std::vector<std::int64_t> at;
      for (std::size_t axis = 0; axis < axes; ++axis)
        at.push_back(static_cast<std::int64_t>(std::floor((sites[s * axes + axis] + 0.5) * fine)));
      taken.emplace(at, s);
    }
    std::vector<double> mass(count), first(count * axes);
    for (std::int64_t p = 0; p < element_count(finer); ++p) {
      const Index at = unravel(p, finer);
      Index coarse = at;
      double least = std::numeric_limits<double>::infinity();
      std::size_t region = 0;
      for (const auto& [place, site] : taken) {  // in the order of linear indices
        double squared = 0;
        for (std::size_t axis = 0; axis < axes; ++axis)
          squared += std::pow(static_cast<double>(at[axis] - place[axis]), 2);
        if (squared < least) least = squared, region = site;
      }
      for (std::size_t axis = 0; axis < axes; ++axis) coarse[axis] /= fine;
      const double weight = std::as_const(weights).as<std::uint8_t>().data()[ravel(coarse, shape)];
      mass[region] += weight;
      for (std::size_t axis = 0; axis < axes; ++axis)
        first[region * axes + axis] += weight * ((static_cast<double>(at[axis]) + 0.5) / fine - 0.5);
    }
    apps::LloydOptions options;
    options.iterations = 1;
    options.supersample = fine;
    options.execution.threads = chance(random, 0.5) ? 1 : 3;
    apps::lloyd(weights.view(), {sites.data(), {static_cast<std::int64_t>(count), shape.rank()}}, options);
    for (std::size_t s = 0; s < count; ++s)
      for (std::size_t axis = 0; axis < axes; ++axis) {
        const double at = sites[s * axes + axis];
        if (mass[s] > 0) EXPECT_NEAR(at, first[s * axes + axis] / mass[s], 1e-9);
        else EXPECT_TRUE(at >= -0.5 && at < static_cast<double>(shape[static_cast<int>(axis)]) - 0.5);
      }
  }
}

TEST(Lloyd, RefusesWhatHasNoMeaning) {
  Array weights(DType::uint8, {4, 5});
  std::vector<double> sites{1, 1, 2, 3};
  const auto refuses = [&](const char* why, std::vector<double> at, apps::LloydOptions options = {}) {
    try {
      apps::lloyd(weights.view(), {at.data(), {static_cast<std::int64_t>(at.size()) / 2, 2}}, options);
      ADD_FAILURE() << why;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  };
  for (std::int64_t k = 0; k < 20; ++k) store(weights, k, 0);
  refuses("all weights are 0", sites);
  store(weights, 3, 9);
  refuses("2 sites are more than the 1 elements", sites);
  for (std::int64_t k = 0; k < 20; ++k) store(weights, k, 9);
  refuses("site 1 has the coordinate 4.6", {1, 1, 2, 4.6});
  refuses("site 0 has the coordinate nan", {std::nan(""), 1});
  apps::LloydOptions options;
  options.on_elements = true;
  refuses("whole numbers", {1.5, 1}, options);
  options.supersample = 2;
  refuses("supersample 1", sites, options);
  options = {};
  options.supersample = 17;
  refuses("give 1 to 16", sites, options);
  options = {};
  options.tolerance = std::nan("");
  refuses("the tolerance is nan", sites, options);
}

}  // namespace
}  // namespace fathom::test
