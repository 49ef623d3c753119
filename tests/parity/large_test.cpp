// Sizes at which 32-bit indices, 53-bit squares and memory run out. Each test says what memory it needs, and skips
// where there is less.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "cases.h"
#include "oracle.h"
#include "run.h"

namespace fathom::test {
namespace {

using grid::DistanceOptions;

double available_gib() {
  std::ifstream file("/proc/meminfo");
  for (std::string key, unit; file >> key;) {
    double kib = 0;
    if (key == "MemAvailable:" && file >> kib >> unit) return kib / (1 << 20);
    std::getline(file, unit);
  }
  return 0;
}

#define NEEDS_GIB(gib) \
  if (available_gib() < (gib)) GTEST_SKIP() << "needs " << (gib) << " GiB of memory, " << available_gib() << " are free"

Array ones_but(const Shape& shape, const std::vector<std::int64_t>& zeros) {
  Array array(DType::uint8, shape);
  std::fill_n(array.as<std::uint8_t>().data(), array.size(), std::uint8_t{1});
  for (std::int64_t site : zeros) array.as<std::uint8_t>().data()[site] = 0;
  return array;
}

/// Nearest of a few sites: squared distance and lowest index.
std::pair<std::uint64_t, std::int64_t> nearest_of(const std::vector<std::int64_t>& sites, std::int64_t element,
                                                  const Shape& shape) {
  const Index at = unravel(element, shape);
  std::pair<std::uint64_t, std::int64_t> best{UINT64_MAX, -1};
  for (std::int64_t site : sites) {
    const Index s = unravel(site, shape);
    std::uint64_t d2 = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(shape.rank()); ++k)
      d2 += static_cast<std::uint64_t>((at[k] - s[k]) * (at[k] - s[k]));
    best = std::min(best, {d2, site});
  }
  return best;
}

TEST(Large, LineWithSquaresBeyond53Bits) {
  NEEDS_GIB(3);
  const std::int64_t n = 120'000'000;
  const Array input = ones_but({n}, {0});
  const Results whole = run(input.view(), {}, {.distance = DType::float64});
  for (std::int64_t x = 0; x<n; x += x> 94'000'000 ? 1 : 101)
    ASSERT_EQ(whole.distance->as<double>().data()[x], static_cast<double>(x));
  const DistanceOptions end{.region = {{n - 1000, n}}};
  const Results squares =
      run(input.view(), end, {.distance = DType::float32, .squared = DType::uint64, .nearest = DType::int32});
  for (std::int64_t i = 0; i < 1000; ++i) {
    const auto x = static_cast<std::uint64_t>(n - 1000 + i);
    ASSERT_EQ(squares.squared->as<std::uint64_t>().data()[i], x * x);
    ASSERT_EQ(squares.distance->as<float>().data()[i], static_cast<float>(x));
    ASSERT_EQ(squares.nearest->as<std::int32_t>().data()[i], 0);
  }
}

/// x² + 1 beyond 2⁵³: just above the middle of two floats, and equal to it if rounded to double first.
TEST(Large, RootsBeyond53BitsAreRoundedOnce) {
  NEEDS_GIB(3);
  const std::int64_t n = 95'000'000;
  const Array input = ones_but({2, n}, {0});
  const std::int64_t first = 94'906'270;
  const DistanceOptions options{.region = {{1, 2}, {first, n}}};
  const Results got = run(input.view(), options, {.distance = DType::float32});
  for (std::int64_t i = 0; i < n - first; ++i) {
    const auto x = static_cast<std::uint64_t>(first + i);
    ASSERT_EQ(got.distance->as<float>().data()[i], rounded_root<float>(x * x + 1)) << x;
  }
}

void check_whole(const Shape& shape, const std::vector<std::int64_t>& sites, const Array& field) {
  const std::int64_t count = element_count(shape);
  for (std::int64_t e = 0; e < count; e += 99'991) {
    const float expected = rounded_root<float>(nearest_of(sites, e, shape).first);
    ASSERT_EQ(field.as<float>().data()[e], expected) << "at " << e;
  }
  for (std::int64_t e = count - 100'000; e < count; ++e)
    ASSERT_EQ(field.as<float>().data()[e], rounded_root<float>(nearest_of(sites, e, shape).first)) << "at " << e;
}

void check_region(const Shape& shape, const std::vector<std::int64_t>& sites, const Results& got,
                  const DistanceOptions& options) {
  const Shape part = grid::result_shape(shape, options);
  for (std::int64_t i = 0; i < element_count(part); ++i) {
    Index at = unravel(i, part);
    for (std::size_t k = 0; k < static_cast<std::size_t>(shape.rank()); ++k) at[k] += options.region[k].begin;
    const auto [d2, site] = nearest_of(sites, ravel(at, shape), shape);
    ASSERT_EQ(got.nearest->as<std::int64_t>().data()[i], site) << "at " << i;
    ASSERT_EQ(got.distance->as<float>().data()[i], rounded_root<float>(d2)) << "at " << i;
  }
}

TEST(Large, ImageOfMoreThan31Bits) {
  if (!std::getenv("FATHOM_TEST_FULL")) GTEST_SKIP() << "takes long: tried where FATHOM_TEST_FULL is set";
  NEEDS_GIB(15);
  const Shape shape{46342, 46342};
  const std::int64_t count = element_count(shape);
  const std::vector<std::int64_t> sites = {5, 1'000'000'007, count / 2, count - 30'000, count - 2};
  const Array input = ones_but(shape, sites);
  {
    const Array field = grid::distance_transform(input.view(), {});
    check_whole(shape, sites, field);
  }
  DistanceOptions options{.region = {{46342 - 60, 46342}, {46342 - 3000, 46342}}};
  check_region(shape, sites, run(input.view(), options, {.distance = DType::float32, .nearest = DType::int64}),
               options);
  Results narrow = make_results(shape, options, {.nearest = DType::int32});
  EXPECT_THROW(grid::distance_transform(input.view(), options, narrow.views()), InvalidArgument);
}

TEST(Large, VolumeOfMoreThan31Bits) {
  NEEDS_GIB(8);
  const Shape shape{1291, 1290, 1290};
  const std::int64_t count = element_count(shape);
  ASSERT_GT(count, std::int64_t{1} << 31);
  const std::vector<std::int64_t> sites = {123, 777'777'777, count - 1'000'000, count - 1};
  const Array input = ones_but(shape, sites);
  const DistanceOptions options{.region = {{1291 - 3, 1291}, {1290 - 100, 1290}, {1290 - 90, 1290}}};
  check_region(shape, sites, run(input.view(), options, {.distance = DType::float32, .nearest = DType::int64}),
               options);
}

}  // namespace
}  // namespace fathom::test
