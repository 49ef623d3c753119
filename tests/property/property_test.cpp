// What holds for distance fields whatever their values: found without an oracle, on sizes an oracle cannot reach.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cases.h"
#include "oracle.h"
#include "run.h"

namespace fathom::test {
namespace {

using grid::Border;
using grid::DistanceOptions;
using grid::Metric;
using Permutation = std::vector<int>;

const std::vector<Shape> kShapes = {{700, 513}, {129, 2000}, {61, 90, 77}, {12, 300, 40}, {9, 14, 11, 30}, {40000}};

Array random_mask(const Shape& shape, Random& random) {
  const auto structure = static_cast<Structure>(below(random, kStructures));
  return mask_array(make_sites(structure, shape, random), shape);
}

/// The element at each index of the result, taken from where `source` says.
template <class Source>
Array rearranged(const Array& array, const Shape& shape, Source source) {
  Array result(array.dtype(), shape);
  visit_dtype(array.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t i = 0; i < result.size(); ++i)
      result.as<T>().data()[i] = array.as<T>().data()[ravel(source(unravel(i, shape)), array.shape())];
  });
  return result;
}

Array flipped(const Array& array, int axis) {
  return rearranged(array, array.shape(), [&](Index at) {
    const auto k = static_cast<std::size_t>(axis);
    at[k] = array.shape()[axis] - 1 - at[k];
    return at;
  });
}

Array permuted(const Array& array, const Permutation& axes) {
  Shape shape;
  for (int axis : axes) shape.push_back(array.shape()[axis]);
  return rearranged(array, shape, [&](const Index& at) {
    Index source{};
    for (std::size_t k = 0; k < axes.size(); ++k) source[static_cast<std::size_t>(axes[k])] = at[k];
    return source;
  });
}

/// Moved along an axis, what leaves at one end enters at the other.
Array rolled(const Array& array, int axis, std::int64_t shift) {
  return rearranged(array, array.shape(), [&](Index at) {
    const auto k = static_cast<std::size_t>(axis);
    at[k] = (at[k] + shift) % array.shape()[axis];
    return at;
  });
}

Array distances(const Array& input, const DistanceOptions& options = {}) {
  return grid::distance_transform(input.view(), options);
}

class Property : public testing::TestWithParam<std::size_t> {
 protected:
  const Shape& shape() const { return kShapes[GetParam()]; }
  int repeats() const { return scaled(4); }
  Random random_{GetParam() + 40};
};

TEST_P(Property, FlipsWithTheInput) {
  for (int i = 0; i < repeats(); ++i) {
    const Array mask = random_mask(shape(), random_);
    const Array field = distances(mask);
    for (int axis = 0; axis < shape().rank(); ++axis)
      ASSERT_TRUE(equal(flipped(field, axis), distances(flipped(mask, axis))))
          << to_string(shape()) << " axis " << axis;
  }
}

TEST_P(Property, PermutesWithTheInput) {
  Permutation axes;
  for (int k = 0; k < shape().rank(); ++k) axes.push_back(k);
  for (int i = 0; i < repeats(); ++i) {
    const Array mask = random_mask(shape(), random_);
    const Array field = distances(mask);
    std::shuffle(axes.begin(), axes.end(), random_);
    ASSERT_TRUE(equal(permuted(field, axes), distances(permuted(mask, axes)))) << to_string(shape());
  }
}

TEST_P(Property, RollsWithAPeriodicInput) {
  const DistanceOptions options{.border = {Border::periodic}};
  for (int i = 0; i < repeats(); ++i) {
    const Array mask = random_mask(shape(), random_);
    const auto axis = static_cast<int>(below(random_, shape().rank()));
    const std::int64_t shift = below(random_, shape()[axis]);
    ASSERT_TRUE(equal(rolled(distances(mask, options), axis, shift), distances(rolled(mask, axis, shift), options)))
        << to_string(shape()) << " axis " << axis << " by " << shift;
  }
}

/// Sites in a box, far from the ends: moving the box moves the field.
TEST_P(Property, TranslatesWithTheInput) {
  std::vector<bool> sites = scatter(shape(), 0.003, random_);
  Index shift{};
  for (int k = 0; k < shape().rank(); ++k) shift[static_cast<std::size_t>(k)] = shape()[k] / 5;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const Index at = unravel(static_cast<std::int64_t>(i), shape());
    for (int k = 0; k < shape().rank(); ++k)
      if (at[static_cast<std::size_t>(k)] >= shape()[k] - shift[static_cast<std::size_t>(k)]) sites[i] = false;
  }
  std::vector<bool> moved(sites.size());
  const auto target = [&](std::size_t i) {
    Index at = unravel(static_cast<std::int64_t>(i), shape());
    for (std::size_t k = 0; k < at.size(); ++k) at[k] += shift[k];
    return at;
  };
  for (std::size_t i = 0; i < sites.size(); ++i)
    if (sites[i]) moved[static_cast<std::size_t>(ravel(target(i), shape()))] = true;
  const Array before = distances(mask_array(sites, shape())), after = distances(mask_array(moved, shape()));
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const Index to = target(i);
    bool within = true;
    for (int k = 0; k < shape().rank(); ++k) within &= to[static_cast<std::size_t>(k)] < shape()[k];
    if (within) {
      ASSERT_EQ(value_at(before, static_cast<std::int64_t>(i)), value_at(after, ravel(to, shape())));
    }
  }
}

/// Neighbours along an axis differ by no more than the step between them.
TEST_P(Property, IsLipschitz) {
  for (Metric metric : {Metric::euclidean, Metric::taxicab, Metric::chessboard})
    for (const std::vector<double>& spacing : std::vector<std::vector<double>>{{}, {0.25}, {3}}) {
      const DistanceOptions options{.metric = metric, .spacing = spacing};
      const double step = spacing.empty() ? 1 : spacing[0];
      std::vector<bool> sites = scatter(shape(), 1e-3, random_);
      sites[0] = true;
      const Array field = grid::distance_transform(mask_array(sites, shape()).view(), options, DType::float64);
      const Strides strides = dense_strides(shape());
      for (std::int64_t i = 0; i < field.size(); ++i)
        for (int k = 0; k < shape().rank(); ++k) {
          if (i / strides[k] % shape()[k] + 1 == shape()[k]) continue;
          const double difference = std::abs(value_at(field, i) - value_at(field, i + strides[k]));
          ASSERT_LE(difference, step * (1 + 1e-12)) << "at " << i << " along axis " << k;
        }
    }
}

TEST_P(Property, ASiteMoreNeverRaisesADistance) {
  for (int i = 0; i < repeats(); ++i) {
    Array mask = random_mask(shape(), random_);
    Array before = distances(mask);
    for (int added = 0; added < 3; ++added) {
      const std::int64_t site = below(random_, mask.size());
      mask.as<std::uint8_t>().data()[site] = 0;
      const Array after = distances(mask);
      ASSERT_EQ(value_at(after, site), 0);
      for (std::int64_t e = 0; e < mask.size(); ++e) ASSERT_LE(value_at(after, e), value_at(before, e)) << "at " << e;
      before = distances(mask);
    }
  }
}

/// Every box of a field, computed alone from the whole input, equals that part of the whole.
TEST_P(Property, RegionsTileTheWhole) {
  const std::vector<DistanceOptions> variants = {{},
                                                 {.sites = {grid::Sites::Rule::labels}},
                                                 {.border = {Border::periodic}},
                                                 {.border = {Border::sites}},
                                                 {.max_distance = 9.5},
                                                 {.signed_distance = true}};
  for (const DistanceOptions& whole_options : variants) {
    const Array mask = random_mask(shape(), random_);
    const Wanted wanted{.distance = DType::float32, .nearest = DType::int64};
    for (bool with_nearest : {false, true}) {
      const Wanted ask{.distance = wanted.distance, .nearest = with_nearest ? wanted.nearest : std::nullopt};
      const Results whole = run(mask.view(), whole_options, ask);
      for (int i = 0; i < 3; ++i) {
        DistanceOptions options = whole_options;
        for (std::int64_t n : shape()) {
          const std::int64_t begin = below(random_, n);
          options.region.push_back({begin, begin + 1 + below(random_, n - begin)});
        }
        const Results part = run(mask.view(), options, ask);
        const auto cut = [&](const Array& from) {
          return rearranged(from, grid::result_shape(shape(), options), [&](Index at) {
            for (std::size_t k = 0; k < options.region.size(); ++k) at[k] += options.region[k].begin;
            return at;
          });
        };
        SCOPED_TRACE(to_string(shape()) + ", " + describe(options));
        ASSERT_TRUE(equal(cut(*whole.distance), *part.distance));
        if (with_nearest) {
          ASSERT_TRUE(equal(cut(*whole.nearest), *part.nearest));
        }
      }
    }
  }
}

/// The site that `nearest` names is a site, lies at the distance given, and `coordinates` name the same.
TEST_P(Property, NearestLiesAtTheDistance) {
  for (int i = 0; i < repeats(); ++i) {
    const Array mask = random_mask(shape(), random_);
    const Results got =
        run(mask.view(), {}, {.squared = DType::uint64, .nearest = DType::int64, .coordinates = DType::int64});
    for (std::int64_t e = 0; e < mask.size(); ++e) {
      const std::int64_t site = integer_at(*got.nearest, e);
      if (site < 0) {
        ASSERT_EQ(got.squared->as<std::uint64_t>().data()[e], UINT64_MAX);
        continue;
      }
      ASSERT_EQ(value_at(mask, site), 0);
      const Index a = unravel(e, shape()), b = unravel(site, shape());
      std::int64_t squared = 0;
      for (int k = 0; k < shape().rank(); ++k) {
        const auto axis = static_cast<std::size_t>(k);
        squared += (a[axis] - b[axis]) * (a[axis] - b[axis]);
        ASSERT_EQ(integer_at(*got.coordinates, k * mask.size() + e), b[axis]);
      }
      ASSERT_EQ(integer_at(*got.squared, e), squared);
    }
  }
}

/// Signed fields change sign with the mask, and their magnitudes are the two one-sided fields.
TEST_P(Property, SignedIsTwoSided) {
  for (int i = 0; i < repeats(); ++i) {
    const Array mask = random_mask(shape(), random_);
    const DistanceOptions centers{.signed_distance = true, .surface = grid::Surface::centers};
    const Array both = distances(mask, centers), faces = distances(mask, {.signed_distance = true});
    const Array to_zero = distances(mask), to_nonzero = distances(mask, {.sites = {grid::Sites::Rule::nonzero}});
    for (std::int64_t e = 0; e < mask.size(); ++e) {
      const double expected = value_at(mask, e) != 0 ? -value_at(to_zero, e) : value_at(to_nonzero, e);
      ASSERT_EQ(value_at(both, e), expected);
      if (std::isinf(expected)) {
        ASSERT_EQ(value_at(faces, e), expected);
        continue;
      }
      // float32 of d − ½ and of d: the half is exact below 2²³.
      ASSERT_NEAR(value_at(faces, e), expected > 0 ? expected - 0.5 : expected + 0.5, std::abs(expected) * 1e-7);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Property, testing::Range(std::size_t{0}, kShapes.size()));

}  // namespace
}  // namespace fathom::test
