// Where other distance transforms go wrong: long lines, squares that pass 2²⁴ and 2³², exact comparisons, odd spacing,
// arrays without elements.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cases.h"
#include "oracle.h"
#include "run.h"

namespace fathom::test {
namespace {

using grid::Border;
using grid::DistanceOptions;
using Rule = grid::Sites::Rule;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Array all_but(const Shape& shape, const std::vector<std::int64_t>& zeros) {
  Array array(DType::uint8, shape);
  std::fill_n(array.as<std::uint8_t>().data(), array.size(), std::uint8_t{1});
  for (std::int64_t site : zeros) array.as<std::uint8_t>().data()[site] = 0;
  return array;
}

/// Brute force over few sites at every element; the sites' own list keeps long lines cheap.
void check_sites(const Shape& shape, std::vector<std::int64_t> sites, const DistanceOptions& options) {
  SCOPED_TRACE(to_string(shape) + ", " + describe(options));
  std::sort(sites.begin(), sites.end());
  const Array input = all_but(shape, sites);
  const bool border_has_sites = !options.border.empty() && options.border[0] == Border::sites;
  const Results got =
      run(input.view(), options, {.distance = DType::float32, .squared = DType::uint64, .nearest = DType::int32});
  const Results plain = run(input.view(), options, {.distance = DType::float32});
  const Results plain64 = run(input.view(), options, {.distance = DType::float64, .squared = DType::uint64});
  ASSERT_TRUE(equal(*got.distance, *plain.distance));
  ASSERT_TRUE(equal(*got.squared, *plain64.squared));
  for (std::int64_t e = 0; e < element_count(shape); ++e) {
    const Index at = unravel(e, shape);
    std::uint64_t best = UINT64_MAX;
    std::int64_t nearest = -1;
    for (std::int64_t site : sites) {
      const Index s = unravel(site, shape);
      std::uint64_t d2 = 0;
      for (std::size_t k = 0; k < static_cast<std::size_t>(shape.rank()); ++k)
        d2 += static_cast<std::uint64_t>((at[k] - s[k]) * (at[k] - s[k]));
      if (d2 < best) best = d2, nearest = site;
    }
    for (int k = 0; border_has_sites && k < shape.rank(); ++k) {
      const std::int64_t x = at[static_cast<std::size_t>(k)];
      const auto gap = static_cast<std::uint64_t>(std::min(x + 1, shape[k] - x));
      if (gap * gap < best) best = gap * gap, nearest = -1;
    }
    ASSERT_EQ(got.squared->as<std::uint64_t>().data()[e], best) << "at " << e;
    ASSERT_EQ(got.distance->as<float>().data()[e], rounded_root<float>(best)) << "at " << e;
    ASSERT_EQ(plain64.distance->as<double>().data()[e], rounded_root<double>(best)) << "at " << e;
    ASSERT_EQ(got.nearest->as<std::int32_t>().data()[e], nearest) << "at " << e;
  }
}

TEST(LongLines, RowsEqualBruteForce) {
  for (InstructionSet set : instruction_sets()) {
    DistanceOptions options;
    options.execution.instruction_set = set;
    options.execution.threads = 2;
    check_sites({1, 70000}, {0}, options);
    check_sites({1, 70000}, {3, 65535, 65536}, options);
    check_sites({3, 70001}, {0, 140001}, options);
    check_sites({2, 65536}, {131071}, options);
    check_sites({65537}, {65536}, options);
    check_sites({1, 1, 66000}, {7}, options);
    check_sites({2, 1, 66000}, {131999}, options);
    check_sites({100000}, {0, 99999}, options);
    check_sites({1, 100000}, {99999}, options);
    options.border = {Border::sites};
    check_sites({1, 46342}, {}, options);
    check_sites({70000}, {}, options);
    check_sites({70000}, {35000}, options);
  }
}

/// Columns this long take seconds without wide vectors: each once, in turn on another instruction set.
TEST(LongLines, ColumnsEqualBruteForce) {
  const std::vector<InstructionSet> sets = instruction_sets();
  std::size_t turn = 0;
  DistanceOptions options;
  options.execution.threads = 2;
  const auto check = [&](const Shape& shape, const std::vector<std::int64_t>& sites) {
    options.execution.instruction_set = sets[turn++ % sets.size()];
    check_sites(shape, sites, options);
  };
  check({70000, 1}, {69999});
  check({70000, 1}, {3, 65535, 65536});
  check({65536, 2}, {0});
  check({70001, 3}, {1, 210002});
  check({66000, 1, 2}, {7, 66000});
  check({2, 66000, 1}, {131999});
  options.border = {Border::sites};
  check({46342, 1}, {});
  check({65536, 2}, {});
}

TEST(LongLines, SquaresBeyond32Bits) {
  // 99999² > 2³²: uint64 holds it, and uint32 is refused before any output is touched.
  const Array input = all_but({1, 100000}, {0});
  const Results wide = run(input.view(), {}, {.squared = DType::uint64});
  EXPECT_EQ(wide.squared->as<std::uint64_t>().data()[99999], 99999ull * 99999ull);
  Results narrow = make_results(input.shape(), {}, {.squared = DType::uint32});
  EXPECT_THROW(grid::distance_transform(input.view(), {}, narrow.views()), InvalidArgument);
  EXPECT_TRUE(is_poisoned(*narrow.squared));
}

TEST(LongLines, SquaresBeyond24Bits) {
  // Odd squares past 2²⁴ have no float: rounding on the way would show in the integers.
  const Array input = all_but({1, 9001}, {0});
  for (DType dtype : {DType::uint32, DType::uint64, DType::float64}) {
    const Results got = run(input.view(), {}, {.squared = dtype});
    for (std::int64_t x = 4000; x <= 9000; ++x) ASSERT_EQ(value_at(*got.squared, x), static_cast<double>(x * x));
  }
  // 4097² + 2² and the like: float32 distances beyond 2²⁴ are rounded once.
  const Array plane = all_but({70, 6000}, {0});
  const Results got = run(plane.view(), {}, {.distance = DType::float32, .squared = DType::uint32});
  for (std::int64_t e = 0; e < plane.size(); ++e)
    ASSERT_EQ(got.distance->as<float>().data()[e], rounded_root<float>(got.squared->as<std::uint32_t>().data()[e]));
}

TEST(LongLines, Labels) {
  Array input(DType::uint16, {2, 70000});
  for (std::int64_t i = 0; i < input.size(); ++i) store(input, i, i % 70000 < 69000 ? 5 : 6);
  const Results got = run(input.view(), {.sites = {Rule::labels}}, {.squared = DType::uint64, .nearest = DType::int32});
  EXPECT_EQ(got.squared->as<std::uint64_t>().data()[0], 69000ull * 69000ull);
  EXPECT_EQ(got.nearest->as<std::int32_t>().data()[70000], 139000);
  EXPECT_EQ(got.nearest->as<std::int32_t>().data()[139999], 138999);
}

/// NaN differs from every other element; along a periodic axis of one element there is none.
TEST(PeriodicAxes, OneElementIsNotItsOwnNeighbour) {
  for (const grid::Metric metric : {grid::Metric::euclidean, grid::Metric::taxicab, grid::Metric::chessboard})
    for (const Shape& shape : {Shape{1, 1}, Shape{7, 1}, Shape{1, 7}, Shape{3, 1, 1}}) {
      Array input(DType::float32, shape);
      for (std::int64_t i = 0; i < input.size(); ++i) store(input, i, std::numeric_limits<double>::quiet_NaN());
      DistanceOptions options{.sites = {Rule::labels}, .metric = metric, .border = {Border::periodic}};
      options.spacing.assign(static_cast<std::size_t>(shape.rank()), 1);
      options.spacing[0] = 3;
      SCOPED_TRACE(to_string(shape) + ", " + describe(options));
      const Results got = run(input.view(), options, {.distance = DType::float64, .nearest = DType::int32});
      EXPECT_TRUE(matches(Oracle(input.view(), options), got));
    }
}

TEST(LongLines, PeriodicAndSigned) {
  Array input = all_but({1, 80001}, {0});
  const Results around = run(input.view(), {.border = {Border::periodic}}, {.squared = DType::uint64});
  EXPECT_EQ(around.squared->as<std::uint64_t>().data()[40000], 40000ull * 40000ull);
  EXPECT_EQ(around.squared->as<std::uint64_t>().data()[40001], 40000ull * 40000ull);
  const Results both = run(input.view(), {.signed_distance = true}, {.distance = DType::float64});
  EXPECT_EQ(both.distance->as<double>().data()[80000], -79999.5);
  EXPECT_EQ(both.distance->as<double>().data()[0], 0.5);
}

TEST(Spacing, ScalesExactDistances) {
  Random random(11);
  const Shape shape{40, 57};
  const Array input = mask_array(scatter(shape, 0.004, random), shape);
  const Results unit = run(input.view(), {}, {.squared = DType::uint32});
  for (double spacing : {0.5, 0.1, 1e-7, 1e-3, 3.0, 1e8, 1e-100, 1e100}) {
    for (InstructionSet set : instruction_sets()) {
      DistanceOptions options{.spacing = {spacing}};
      options.execution.instruction_set = set;
      const Results got = run(input.view(), options, {.distance = DType::float64});
      options.spacing = {spacing, spacing};
      const Results got32 = run(input.view(), options, {.distance = DType::float32});
      for (std::int64_t e = 0; e < input.size(); ++e) {
        const double expected = std::sqrt(value_at(*unit.squared, e)) * spacing;
        ASSERT_EQ(value_at(*got.distance, e), expected) << spacing;
        ASSERT_EQ(got32.distance->as<float>().data()[e], static_cast<float>(expected)) << spacing;
      }
    }
  }
}

TEST(Spacing, UnequalOverManyMagnitudes) {
  Random random(12);
  const Shape shape{13, 11, 17};
  for (const std::vector<double>& spacing : std::vector<std::vector<double>>{
           {1e-7, 1, 1e8}, {1e8, 1, 1e-7}, {0.1, 0.2, 0.3}, {1, 1, 2.5}, {1e-3, 1e-3, 1}}) {
    const Array input = mask_array(scatter(shape, 0.01, random), shape);
    DistanceOptions options;
    options.spacing = spacing;
    const Oracle oracle(input.view(), options);
    EXPECT_TRUE(matches(oracle, run(input.view(), options, {.distance = DType::float64, .nearest = DType::int64})))
        << describe(options);
  }
}

/// The wide line of an anisotropic image: a float32 predicate decides wrongly here.
TEST(Spacing, NearTiesOnLongLines) {
  const Shape shape{2, 20001};
  const Array input = all_but(shape, {0, 20000, 20001 + 7});
  DistanceOptions options;
  options.spacing = {0.3, 0.1};
  const Results got = run(input.view(), options, {.distance = DType::float64});
  for (std::int64_t e = 0; e < input.size(); ++e) {
    const Index at = unravel(e, shape);
    double best = kInfinity;
    for (const Index& site : {Index{0, 0}, Index{0, 20000}, Index{1, 7}}) {
      const double dy = 0.3 * static_cast<double>(at[0] - site[0]);
      const double dx = 0.1 * static_cast<double>(at[1] - site[1]);
      best = std::min(best, std::sqrt(dy * dy + dx * dx));
    }
    ASSERT_NEAR(value_at(*got.distance, e), best, best * 1e-12) << e;
  }
}

TEST(Comparison, IsExactWhateverTheTypes) {
  const auto sites = [](const Array& input, Rule rule, grid::Sites::Value value) {
    std::vector<bool> result;
    const Results got = run(input.view(), {.sites = {rule, value}}, {.distance = DType::float32});
    for (std::int64_t i = 0; i < input.size(); ++i) result.push_back(value_at(*got.distance, i) == 0);
    return result;
  };
  using Flags = std::vector<bool>;
  Array big(DType::int64, {5});
  const std::int64_t two53 = std::int64_t{1} << 53;
  const std::int64_t values[] = {two53 - 1, two53, two53 + 1, INT64_MAX, INT64_MIN};
  std::copy_n(values, 5, big.as<std::int64_t>().data());
  EXPECT_EQ(sites(big, Rule::greater_equal, 0x1p53), (Flags{false, true, true, true, false}));
  EXPECT_EQ(sites(big, Rule::less_equal, 0x1p53), (Flags{true, true, false, false, true}));
  EXPECT_EQ(sites(big, Rule::equal, 0x1p53), (Flags{false, true, false, false, false}));
  EXPECT_EQ(sites(big, Rule::greater_equal, 0x1p63), (Flags{false, false, false, false, false}));
  EXPECT_EQ(sites(big, Rule::less_equal, 0x1p63), (Flags{true, true, true, true, true}));
  EXPECT_EQ(sites(big, Rule::less_equal, -0x1p63), (Flags{false, false, false, false, true}));
  EXPECT_EQ(sites(big, Rule::equal, -0x1p63), (Flags{false, false, false, false, true}));
  EXPECT_EQ(sites(big, Rule::greater_equal, -kInfinity), (Flags{true, true, true, true, true}));
  EXPECT_EQ(sites(big, Rule::equal, two53 + 1), (Flags{false, false, true, false, false}));
  EXPECT_EQ(sites(big, Rule::not_equal, two53 + 1), (Flags{true, true, false, true, true}));
  EXPECT_EQ(sites(big, Rule::greater, two53), (Flags{false, false, true, true, false}));
  EXPECT_EQ(sites(big, Rule::less, INT64_MAX), (Flags{true, true, true, false, true}));
  EXPECT_EQ(sites(big, Rule::greater, INT64_MAX), (Flags{false, false, false, false, false}));
  EXPECT_EQ(sites(big, Rule::less_equal, INT64_MIN), (Flags{false, false, false, false, true}));
  EXPECT_EQ(sites(big, Rule::less, UINT64_MAX), (Flags{true, true, true, true, true}));
  EXPECT_EQ(sites(big, Rule::greater_equal, std::uint64_t{1} << 63), (Flags{false, false, false, false, false}));
  EXPECT_EQ(sites(big, Rule::not_equal, 2.5), (Flags{true, true, true, true, true}));
  EXPECT_EQ(sites(big, Rule::equal, std::nan("")), (Flags{false, false, false, false, false}));
  EXPECT_EQ(sites(big, Rule::not_equal, std::nan("")), (Flags{true, true, true, true, true}));

  Array natural(DType::uint64, {3});
  const std::uint64_t naturals[] = {0, std::uint64_t{1} << 63, UINT64_MAX};
  std::copy_n(naturals, 3, natural.as<std::uint64_t>().data());
  EXPECT_EQ(sites(natural, Rule::greater_equal, 0x1p64), (Flags{false, false, false}));
  EXPECT_EQ(sites(natural, Rule::less_equal, 0x1p64), (Flags{true, true, true}));
  EXPECT_EQ(sites(natural, Rule::equal, 0x1p64), (Flags{false, false, false}));
  EXPECT_EQ(sites(natural, Rule::greater_equal, 0x1p63), (Flags{false, true, true}));
  EXPECT_EQ(sites(natural, Rule::greater_equal, -1), (Flags{true, true, true}));
  EXPECT_EQ(sites(natural, Rule::equal, -1), (Flags{false, false, false}));
  EXPECT_EQ(sites(natural, Rule::not_equal, -1), (Flags{true, true, true}));
  EXPECT_EQ(sites(natural, Rule::less, INT64_MIN), (Flags{false, false, false}));
  EXPECT_EQ(sites(natural, Rule::equal, UINT64_MAX), (Flags{false, false, true}));
  EXPECT_EQ(sites(natural, Rule::less, UINT64_MAX), (Flags{true, true, false}));
  EXPECT_EQ(sites(natural, Rule::less_equal, -0.5), (Flags{false, false, false}));
  EXPECT_EQ(sites(natural, Rule::less_equal, 0.5), (Flags{true, false, false}));

  Array small(DType::uint8, {4});
  const std::uint8_t bytes[] = {0, 1, 2, 255};
  std::copy_n(bytes, 4, small.as<std::uint8_t>().data());
  EXPECT_EQ(sites(small, Rule::greater_equal, 1.5), (Flags{false, false, true, true}));
  EXPECT_EQ(sites(small, Rule::equal, 257), (Flags{false, false, false, false}));
  EXPECT_EQ(sites(small, Rule::equal, 1.5), (Flags{false, false, false, false}));
  EXPECT_EQ(sites(small, Rule::greater_equal, 256), (Flags{false, false, false, false}));
  EXPECT_EQ(sites(small, Rule::greater, 1.5), (Flags{false, false, true, true}));
  EXPECT_EQ(sites(small, Rule::less, 1.5), (Flags{true, true, false, false}));
  EXPECT_EQ(sites(small, Rule::greater, 255.5), (Flags{false, false, false, false}));
  EXPECT_EQ(sites(small, Rule::greater, -0.5), (Flags{true, true, true, true}));
  EXPECT_EQ(sites(small, Rule::less, kInfinity), (Flags{true, true, true, true}));
  EXPECT_EQ(sites(small, Rule::less_equal, kInfinity), (Flags{true, true, true, true}));

  Array real(DType::float32, {4});
  const float floats[] = {0.1f, std::nanf(""), -0.0f, std::numeric_limits<float>::denorm_min()};
  std::copy_n(floats, 4, real.as<float>().data());
  // 0.1f is a little more than 0.1, and what 0.1 is rounded to.
  EXPECT_EQ(sites(real, Rule::greater_equal, 0.1), (Flags{true, false, false, false}));
  EXPECT_EQ(sites(real, Rule::equal, 0.1), (Flags{true, false, false, false}));
  EXPECT_EQ(sites(real, Rule::greater, 0.1), (Flags{false, false, false, false}));
  EXPECT_EQ(sites(real, Rule::less, 0.1), (Flags{false, false, true, true}));
  EXPECT_EQ(sites(real, Rule::not_equal, 0.1), (Flags{false, true, true, true}));
  EXPECT_EQ(sites(real, Rule::equal, std::nan("")), (Flags{false, true, false, false}));
  EXPECT_EQ(sites(real, Rule::not_equal, std::nan("")), (Flags{true, false, true, true}));
  EXPECT_EQ(sites(real, Rule::less, kInfinity), (Flags{true, false, true, true}));
  EXPECT_EQ(sites(real, Rule::zero, 0), (Flags{false, false, true, false}));
  EXPECT_EQ(sites(real, Rule::nonzero, 0), (Flags{true, true, false, true}));
  EXPECT_EQ(sites(real, Rule::less_equal, 0), (Flags{false, false, true, false}));
}

TEST(MaximumDistance, LeavesRoomForTheRoundingOfSpacings) {
  const auto kept = [](std::vector<double> spacing, const Shape& shape, double limit, grid::Metric metric) {
    Array input(DType::uint8, shape);
    std::fill_n(input.data(), input.size(), std::byte{1});
    input.data()[0] = std::byte{0};
    const Results got = run(input.view(), {.metric = metric, .spacing = std::move(spacing), .max_distance = limit},
                            {.distance = DType::float64, .nearest = DType::int32});
    int count = 0;
    for (std::int64_t i = 0; i < input.size(); ++i) {
      EXPECT_EQ(std::isinf(value_at(*got.distance, i)), value_at(*got.nearest, i) == -1) << i;
      count += !std::isinf(value_at(*got.distance, i));
    }
    return count;
  };
  for (const grid::Metric metric : {grid::Metric::euclidean, grid::Metric::taxicab, grid::Metric::chessboard}) {
    for (int steps = 1; steps < 400; ++steps) {
      const double tenths = steps / 10.0;  // as decimals are read
      EXPECT_EQ(kept({0.1}, {500}, tenths, metric), steps + 1) << steps;
      EXPECT_EQ(kept({0.1}, {500}, std::nextafter(tenths, 0) - 0.01, metric), steps) << steps;
    }
    EXPECT_EQ(kept({0.1, 0.3}, {5, 5}, 0.3, metric), metric == grid::Metric::chessboard ? 8 : 5);
    // Whole numbers are not rounded, and the limit is what it says.
    EXPECT_EQ(kept({1}, {500}, std::nextafter(3, 0), metric), 3);
    EXPECT_EQ(kept({7}, {500}, std::nextafter(21, 0), metric), 3);
  }
}

TEST(CountSites, AgreesWithTheElements) {
  for (const DType dtype : {DType::boolean, DType::uint8, DType::int16, DType::int64, DType::float32, DType::float64}) {
    Array input(dtype, {3, 5, 3000});
    for (std::int64_t i = 0; i < input.size(); ++i)
      store(input, i, i % 7 == 3 && size_of(dtype) > 2 ? std::nan("") : static_cast<double>(i % 5));
    // Every other row, and from the last to the first; a row of 3000 alone.
    const AnyConstView dense = input.view();
    const std::byte* last = dense.data() + 4 * 3000 * static_cast<std::int64_t>(size_of(dtype));
    const AnyConstView padded(last, dtype, {3, 3, 2999}, {15000, -6000, 1});
    for (const AnyConstView& view : {dense, padded, AnyConstView(dense.data(), dtype, {0, 5})})
      for (const Rule rule : {Rule::zero, Rule::nonzero, Rule::labels, Rule::greater_equal, Rule::greater,
                              Rule::less_equal, Rule::less, Rule::equal, Rule::not_equal}) {
        const grid::Sites sites{rule, 2};
        const bool labels = rule == Rule::labels;
        const Results got = run(view, {.sites = labels ? grid::Sites{} : sites}, {.distance = DType::float32});
        std::int64_t count = 0;
        for (std::int64_t i = 0; i < got.distance->size(); ++i) count += value_at(*got.distance, i) == 0;
        EXPECT_EQ(grid::count_sites(view, sites), count) << name_of(dtype) << ' ' << static_cast<int>(rule);
      }
    EXPECT_EQ(grid::count_sites(dense, {Rule::greater, std::nan("")}), 0);
  }
}

TEST(Empty, GivesEmptyResults) {
  for (const Shape& shape :
       {Shape{0}, Shape{0, 5}, Shape{5, 0}, Shape{3, 0, 4}, Shape{0, 0}, Shape{1, 1, 1, 1, 1, 1, 1, 0}})
    for (Border border : {Border::open, Border::sites, Border::periodic}) {
      const Array input(DType::int32, shape);
      const Results got = run(
          input.view(), {.border = {border}},
          {.distance = DType::float32, .squared = DType::uint32, .nearest = DType::int32, .coordinates = DType::int64});
      EXPECT_EQ(got.distance->size(), 0);
      EXPECT_EQ(got.coordinates->size(), 0);
    }
}

TEST(Empty, RegionWithoutElements) {
  const Array input = all_but({4, 5}, {3});
  const Results got = run(input.view(), {.region = {{2, 2}, {0, 5}}}, {.distance = DType::float32});
  EXPECT_EQ(got.distance->shape(), (Shape{0, 5}));
}

TEST(Empty, NullDataIsFine) {
  const AnyConstView nothing(nullptr, DType::uint8, Shape{0, 7});
  EXPECT_EQ(grid::distance_transform(nothing, {}).size(), 0);
}

TEST(NoSites, SayNoneEverywhere) {
  const Array input = all_but({9, 33}, {});
  const Results got =
      run(input.view(), {},
          {.distance = DType::float32, .squared = DType::uint32, .nearest = DType::int32, .coordinates = DType::int64});
  for (std::int64_t e = 0; e < input.size(); ++e) {
    ASSERT_EQ(value_at(*got.distance, e), kInfinity);
    ASSERT_EQ(integer_at(*got.squared, e), UINT32_MAX);
    ASSERT_EQ(integer_at(*got.nearest, e), -1);
    ASSERT_EQ(integer_at(*got.coordinates, e), -1);
    ASSERT_EQ(integer_at(*got.coordinates, input.size() + e), -1);
  }
  const Results wide = run(input.view(), {}, {.squared = DType::uint64});
  ASSERT_EQ(wide.squared->as<std::uint64_t>().data()[5], UINT64_MAX);
  const Results real = run(input.view(), {}, {.distance = DType::float64, .squared = DType::float64});
  ASSERT_EQ(value_at(*real.squared, 0), kInfinity);
  ASSERT_EQ(value_at(*real.distance, 0), kInfinity);
}

}  // namespace
}  // namespace fathom::test
