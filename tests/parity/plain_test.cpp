// The fast engine against integer references that share nothing with it: every instruction set and thread count,
// regions, limits, strides, types.
#include "grid/cpu/plain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "cases.h"
#include "fathom/grid/distance.h"

namespace fathom::grid {
namespace {

using test::scaled;

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

/// Squared distances in a dense volume [z][y][x].
struct Volume {
  std::int64_t z = 1, y = 1, x = 1;
  std::vector<std::int64_t> squared;
  std::int64_t size() const { return z * y * x; }
};

/// out[i] = min over j of f[j] + (i − j)² by the lower envelope of parabolas, in integers (Meijster et al. 2000).
void transform_line(const std::vector<std::int64_t>& f, std::vector<std::int64_t>& out) {
  const auto n = static_cast<std::int64_t>(f.size());
  const auto at = [&](std::int64_t i) { return f[static_cast<std::size_t>(i)]; };
  // First integer position where parabola j, right of i, is below parabola i.
  const auto crossing = [&](std::int64_t i, std::int64_t j) {
    const std::int64_t numerator = j * j - i * i + at(j) - at(i), denominator = 2 * (j - i);
    return numerator >= 0 ? numerator / denominator + 1 : 0;
  };
  std::vector<std::int64_t> envelope, start;
  for (std::int64_t j = 0; j < n; ++j) {
    if (at(j) == kNone) continue;
    std::int64_t from = 0;
    while (!envelope.empty() && (from = crossing(envelope.back(), j)) <= start.back()) {
      envelope.pop_back();
      start.pop_back();
      from = 0;
    }
    if (from >= n) continue;
    envelope.push_back(j);
    start.push_back(from);
  }
  for (std::int64_t i = 0, k = 0; i < n; ++i) {
    if (envelope.empty()) {
      out[static_cast<std::size_t>(i)] = kNone;
      continue;
    }
    while (k + 1 < static_cast<std::int64_t>(envelope.size()) && start[static_cast<std::size_t>(k + 1)] <= i) ++k;
    const std::int64_t j = envelope[static_cast<std::size_t>(k)];
    out[static_cast<std::size_t>(i)] = at(j) + (i - j) * (i - j);
  }
}

void transform_axis(Volume& v, std::int64_t length, std::int64_t step) {
  std::vector<std::int64_t> line(static_cast<std::size_t>(length)), out(line.size());
  for (std::int64_t start = 0; start < v.size(); ++start) {
    if (start / step % length != 0) continue;
    for (std::int64_t i = 0; i < length; ++i)
      line[static_cast<std::size_t>(i)] = v.squared[static_cast<std::size_t>(start + i * step)];
    transform_line(line, out);
    for (std::int64_t i = 0; i < length; ++i)
      v.squared[static_cast<std::size_t>(start + i * step)] = out[static_cast<std::size_t>(i)];
  }
}

Volume separable_reference(const std::vector<std::uint8_t>& sites, std::int64_t z, std::int64_t y, std::int64_t x) {
  Volume v{z, y, x, {}};
  for (const std::uint8_t site : sites) v.squared.push_back(site ? 0 : kNone);
  transform_axis(v, x, 1);
  transform_axis(v, y, x);
  transform_axis(v, z, x * y);
  return v;
}

Volume brute_force(const std::vector<std::uint8_t>& sites, std::int64_t z, std::int64_t y, std::int64_t x) {
  struct Point {
    std::int64_t z, y, x;
  };
  std::vector<Point> points;
  Volume v{z, y, x, {}};
  for (std::int64_t i = 0; i < v.size(); ++i)
    if (sites[static_cast<std::size_t>(i)]) points.push_back({i / (x * y), i / x % y, i % x});
  for (std::int64_t i = 0; i < v.size(); ++i) {
    std::int64_t best = kNone;
    for (const Point& p : points) {
      const std::int64_t dz = i / (x * y) - p.z, dy = i / x % y - p.y, dx = i % x - p.x;
      best = std::min(best, dz * dz + dy * dy + dx * dx);
    }
    v.squared.push_back(best);
  }
  return v;
}

struct Case {
  Shape shape;
  std::vector<std::uint8_t> sites;
  Volume reference;
  std::string name;
};

/// `kind` of arrangement of the sites.
std::vector<std::uint8_t> arrange(int kind, std::int64_t z, std::int64_t y, std::int64_t x, std::mt19937& random) {
  std::vector<std::uint8_t> sites(static_cast<std::size_t>(z * y * x));
  const auto below = [&](std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random); };
  const std::int64_t row = below(y), slice = below(z), column = below(x), size = z * y * x;
  static constexpr double kDensity[] = {0, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 0.99, 1};
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t zi = i / (x * y), yi = i / x % y, xi = i % x;
    bool site = false;
    switch (kind) {
      case 8: site = yi == row; break;
      case 9: site = zi == slice; break;
      case 10: site = xi == column; break;
      case 11: site = (xi + yi + zi) % 37 == 0; break;
      case 12: site = xi == yi; break;
      case 13: {
        const std::int64_t r2 = (zi - slice) * (zi - slice) + (yi - row) * (yi - row) + (xi - column) * (xi - column);
        site = r2 >= x * x / 9 && r2 <= x * x / 9 + x;
        break;
      }
      case 14: site = zi == slice && yi == row && xi == column; break;
      default: site = std::uniform_real_distribution<>(0, 1)(random) < kDensity[kind]; break;
    }
    sites[static_cast<std::size_t>(i)] = site;
  }
  return sites;
}
constexpr int kArrangements = 15;

Case make_case(const Shape& shape, int kind, std::mt19937& random, bool brute) {
  const int r = shape.rank();
  const std::int64_t z = r == 3 ? shape[0] : 1, y = r >= 2 ? shape[r - 2] : 1, x = shape[r - 1];
  Case c{shape, arrange(kind, z, y, x, random), {}, to_string(shape) + ", arrangement " + std::to_string(kind)};
  c.reference = brute ? brute_force(c.sites, z, y, x) : separable_reference(c.sites, z, y, x);
  return c;
}

std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets;
  for (const auto set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512})
    if (is_supported(set)) sets.push_back(set);
  return sets;
}

/// The caller's region, or all.
std::vector<Range> region_of(const Case& c, const DistanceOptions& options) {
  std::vector<Range> region = options.region;
  if (region.empty())
    for (const std::int64_t n : c.shape) region.push_back({0, n});
  while (region.size() < 3) region.insert(region.begin(), Range{0, 1});
  return region;
}

/// What T must hold for a squared distance.
template <class T>
T expected(std::int64_t squared, double max_distance, double unit, bool root) {
  using Limits = std::numeric_limits<T>;
  const T far = Limits::has_infinity ? Limits::infinity() : Limits::max();
  if (unit != std::floor(unit)) max_distance *= 1 + 0x1p-50;
  if (squared == kNone || std::sqrt(static_cast<double>(squared)) * unit > max_distance) return far;
  const auto d2 = static_cast<double>(squared);
  return root ? static_cast<T>(std::sqrt(d2) * unit) : static_cast<T>(d2 * (unit * unit));
}

template <class T>
void expect_equal(const Case& c, const DistanceOptions& options, const Array& result, bool root) {
  const double unit = options.spacing.empty() ? 1 : options.spacing[0];
  const std::vector<Range> region = region_of(c, options);
  const T* value = reinterpret_cast<const T*>(result.data());
  for (std::int64_t z = region[0].begin; z < region[0].end; ++z)
    for (std::int64_t y = region[1].begin; y < region[1].end; ++y)
      for (std::int64_t x = region[2].begin; x < region[2].end; ++x, ++value) {
        const std::int64_t index = (z * c.reference.y + y) * c.reference.x + x;
        const std::int64_t squared = c.reference.squared[static_cast<std::size_t>(index)];
        const T wanted = expected<T>(squared, options.max_distance, unit, root);
        ASSERT_EQ(*value, wanted) << c.name << " at " << z << ", " << y << ", " << x << ", "
                                  << name_of(options.execution.instruction_set) << ", " << options.execution.threads
                                  << " threads";
      }
}

void expect_distances(const Case& c, const DistanceOptions& options, const AnyConstView& input) {
  Array distance(DType::float32, result_shape(c.shape, options));
  DistanceOutputs outputs;
  outputs.distance = distance.view();
  ASSERT_TRUE(cpu::plain_serves(make_problem(input, options, outputs))) << c.name;
  distance_transform(input, options, outputs);
  expect_equal<float>(c, options, distance, true);
}

AnyConstView dense_view(const Case& c) {
  return AnyConstView(reinterpret_cast<const std::byte*>(c.sites.data()), DType::uint8, c.shape);
}

DistanceOptions nonzero_options() {
  DistanceOptions options;
  options.sites.rule = Sites::Rule::nonzero;
  return options;
}

void expect_everywhere(const Case& c, DistanceOptions options = nonzero_options()) {
  for (const InstructionSet set : instruction_sets())
    for (const int threads : {1, 2, 3}) {
      options.execution.instruction_set = set;
      options.execution.threads = threads;
      expect_distances(c, options, dense_view(c));
      if (::testing::Test::HasFatalFailure()) return;
    }
}

/// Of three rows or more.
Shape random_shape(std::mt19937& random, std::int64_t longest_2d, std::int64_t longest_3d) {
  const int rank = std::uniform_int_distribution<>(2, 3)(random);
  Shape shape;
  for (int k = 0; k < rank; ++k) {
    const std::int64_t least = k == 0 ? 3 : k == rank - 1 ? 2 : 1, longest = rank == 3 ? longest_3d : longest_2d;
    shape.push_back(std::uniform_int_distribution<std::int64_t>(least, longest)(random));
  }
  return shape;
}

TEST(Plain, EqualsBruteForceOnSmallShapes) {
  std::mt19937 random(1);
  for (int i = 0; i < scaled(600); ++i) {
    const Shape shape = random_shape(random, 70, i % 10 == 0 ? 40 : 12);
    expect_everywhere(make_case(shape, i % kArrangements, random, true));
    if (HasFatalFailure()) return;
  }
}

/// Narrow images are solved by as few vectors as hold them; those no larger than a window's reach without tables.
TEST(Plain, EqualsSeparableReferenceAroundVectorsAndWindows) {
  std::mt19937 random(12);
  std::vector<Shape> shapes;
  for (const std::int64_t width : {8, 16, 32, 64, 128})
    for (const std::int64_t x : {width - 1, width, width + 1, width + width / 2}) shapes.push_back({20, x});
  for (std::int64_t n = 32; n <= 48; ++n) shapes.push_back({n, n});
  int arrangement = 0;
  for (const Shape& shape : shapes)
    for (int i = 0; i < scaled(kArrangements); ++i) {
      expect_everywhere(make_case(shape, arrangement++ % kArrangements, random, false));
      if (HasFatalFailure()) return;
    }
}

TEST(Plain, EqualsSeparableReferenceOnMediumShapes) {
  std::mt19937 random(2);
  const Shape shapes[] = {{1000, 777}, {61, 1500},      {1500, 61},    {333, 3},     {3, 333},
                          {3, 20000},  {130, 131, 129}, {40, 300, 20}, {300, 17, 33}};
  int arrangement = 0;
  for (const Shape& shape : shapes)
    for (int i = 0; i < scaled(kArrangements); ++i) {
      expect_everywhere(make_case(shape, arrangement++ % kArrangements, random, false));
      if (HasFatalFailure()) return;
    }
}

/// A line of sites, straight or with a bend, in some of the columns.
struct Line {
  std::int64_t fall, rise, bend, at, first, last;
  bool holds(std::int64_t x, std::int64_t y) const {
    return first <= x && x <= last && fall * std::abs(x - bend) + rise * y == at;
  }
};

/// Beside lines that fall by whole rows per column, rows of distances are convex, but not beside bends and gaps.
TEST(Plain, EqualsSeparableReferenceBesideLines) {
  std::mt19937 random(10);
  const auto below = [&](std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random); };
  for (int i = 0; i < scaled(40); ++i) {
    const bool volume = i % 4 == 0, thin = i % 8 == 0;
    const std::int64_t z = !volume ? 1 : thin ? 2 + below(5) : 50 + below(50);
    const std::int64_t y = volume && !thin ? 60 + below(40) : 250 + below(300);
    const std::int64_t x = volume ? 60 + below(250) : 250 + below(600);
    Line line{below(4), 1 + below(2), i % 3 == 0 ? below(x) : 0, below(2 * y), 0, x};
    if (i % 5 == 0) line.first = below(x), line.last = line.first + below(x);
    Case c{volume ? Shape{z, y, x} : Shape{y, x}, {}, {}, "line " + std::to_string(i)};
    for (std::int64_t e = 0; e < z * y * x; ++e)
      c.sites.push_back(line.holds(e % x, e / x % y + (volume ? e / x / y : 0)) || (i % 7 == 0 && below(9999) == 0));
    c.reference = separable_reference(c.sites, z, y, x);
    expect_everywhere(c);
    if (HasFatalFailure()) return;
  }
}

/// Where all but a patch of an image is dense, 8 bits are taken for rows of which some need more.
TEST(Plain, EqualsSeparableReferenceAroundAnEmptyPatch) {
  std::mt19937 random(11);
  const auto below = [&](std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random); };
  for (int i = 0; i < scaled(20); ++i) {
    const std::int64_t y = 60 + below(60), x = 1100 + below(500);
    const std::int64_t left = below(x), right = left + 30 + below(60), top = below(y), bottom = top + 20 + below(60);
    Case c{{y, x}, {}, {}, "patch " + std::to_string(i)};
    for (std::int64_t e = 0; e < y * x; ++e) {
      const bool empty = e % x >= left && e % x < right && e / x >= top && e / x < bottom;
      c.sites.push_back(!empty && below(20) == 0);
    }
    c.reference = separable_reference(c.sites, 1, y, x);
    expect_everywhere(c);
    if (HasFatalFailure()) return;
  }
}

/// Distances from 4096 on, whose squares a float does not hold.
TEST(Plain, RootsLargeSquaresCorrectly) {
  std::mt19937 random(3);
  for (const Shape& shape : {Shape{3, 46340}, Shape{9, 30000}, Shape{32767, 11}, Shape{3, 5, 20000}, Shape{9000, 4, 3}})
    for (const int kind : {1, 12, 14}) {
      expect_everywhere(make_case(shape, kind, random, false));
      if (HasFatalFailure()) return;
    }
}

TEST(Plain, LeavesLongAxesAndFewRowsToTheGeneralEngine) {
  const auto serves = [](const Shape& shape) {
    const Array input(DType::uint8, shape);
    Array distance(DType::float32, shape);
    DistanceOutputs outputs;
    outputs.distance = distance.view();
    return cpu::plain_serves(make_problem(input.view(), nonzero_options(), outputs));
  };
  EXPECT_TRUE(serves({32767, 2}));
  EXPECT_FALSE(serves({32768, 2}));
  EXPECT_FALSE(serves({3, 46342}));
  EXPECT_TRUE(serves({3, 46340}));
  EXPECT_FALSE(serves({2, 46340}));
  EXPECT_FALSE(serves({100}));
}

std::vector<Range> random_region(const Shape& shape, std::mt19937& random) {
  std::vector<Range> region;
  for (const std::int64_t n : shape) {
    const std::int64_t begin = std::uniform_int_distribution<std::int64_t>(0, n - 1)(random);
    region.push_back({begin, std::uniform_int_distribution<std::int64_t>(begin + 1, n)(random)});
  }
  return region;
}

TEST(Plain, ComputesRegionsFromTheWholeInput) {
  std::mt19937 random(4);
  for (int i = 0; i < scaled(150); ++i) {
    const Case c = make_case(random_shape(random, 400, 90), i % kArrangements, random, false);
    DistanceOptions options = nonzero_options();
    options.region = random_region(c.shape, random);
    expect_everywhere(c, options);
    if (HasFatalFailure()) return;
  }
}

TEST(Plain, KeepsMaximumDistance) {
  std::mt19937 random(5);
  for (int i = 0; i < scaled(200); ++i) {
    const Case c = make_case(random_shape(random, 500, 90), i % kArrangements, random, false);
    DistanceOptions options = nonzero_options();
    static constexpr double kLimits[] = {0, 1, 1.5, 2, 5, 9.99, 30, 64.5, 100, 254.2, 300};
    options.max_distance = kLimits[i % 11];
    if (i % 3 == 1) options.region = random_region(c.shape, random);
    if (i % 2 == 1) options.spacing = {0.1};
    expect_everywhere(c, options);
    if (HasFatalFailure()) return;
  }
}

/// Elements in memory that are no part of the array, and rows in reverse.
TEST(Plain, ReadsStridedInputs) {
  std::mt19937 random(6);
  for (int i = 0; i < 60; ++i) {
    const Case c = make_case(random_shape(random, 200, 50), i % kArrangements, random, false);
    const int rank = c.shape.rank();
    Strides strides = dense_strides(c.shape);
    std::int64_t step = c.shape[rank - 1] + 13, first = 0;
    for (int k = rank - 2; k >= 0; --k) {
      const bool reverse = (i >> k) & 1;
      strides[k] = reverse ? -step : step;
      if (reverse) first += (c.shape[k] - 1) * step;
      step *= c.shape[k];
      step += 7;
    }
    std::vector<std::uint8_t> memory(static_cast<std::size_t>(step + c.shape[rank - 1] + 64), 1);
    for (std::int64_t e = 0; e < c.reference.size(); ++e) {
      std::int64_t rest = e, offset = first;
      for (int k = rank - 1; k >= 0; --k) {
        offset += rest % c.shape[k] * strides[k];
        rest /= c.shape[k];
      }
      memory[static_cast<std::size_t>(offset)] = c.sites[static_cast<std::size_t>(e)];
    }
    const AnyConstView input(reinterpret_cast<const std::byte*>(memory.data()) + first, DType::uint8, c.shape, strides);
    for (const InstructionSet set : instruction_sets()) {
      DistanceOptions options = nonzero_options();
      options.execution.instruction_set = set;
      options.execution.threads = 1 + i % 3;
      expect_distances(c, options, input);
      if (HasFatalFailure()) return;
    }
  }
}

/// Padded and reversed outputs get the same bytes, and nothing is written between their rows.
TEST(Plain, WritesStridedOutputs) {
  std::mt19937 random(7);
  for (int i = 0; i < 30; ++i) {
    const Case c = make_case({20 + i, 100 + i}, i % kArrangements, random, false);
    const std::int64_t rows = c.shape[0], width = c.shape[1], pitch = width + 5;
    for (const InstructionSet set : instruction_sets()) {
      std::vector<float> memory(static_cast<std::size_t>(rows * pitch), -1.0f);
      DistanceOptions options = nonzero_options();
      options.execution.instruction_set = set;
      DistanceOutputs outputs;
      auto* const last_row = reinterpret_cast<std::byte*>(memory.data() + (rows - 1) * pitch);
      outputs.distance = AnyView(last_row, DType::float32, c.shape, Strides{-pitch, 1});
      distance_transform(dense_view(c), options, outputs);
      for (std::int64_t y = 0; y < rows; ++y)
        for (std::int64_t x = 0; x < pitch; ++x) {
          const std::int64_t squared = x < width ? c.reference.squared[static_cast<std::size_t>(y * width + x)] : 0;
          const float wanted = x < width ? expected<float>(squared, options.max_distance, 1, true) : -1.0f;
          const auto place = static_cast<std::size_t>((rows - 1 - y) * pitch + x);
          ASSERT_EQ(memory[place], wanted) << c.name << ": " << y << ", " << x;
        }
    }
  }
}

/// Outputs too large for the caches: rows that begin anywhere in a line of the cache get the same bytes, and nothing is
/// written before, between and after them.
TEST(Plain, WritesLargeOutputsToAnyAddress) {
  std::mt19937 random(17);
  static constexpr int kKinds[] = {2, 3, 8, 13};
  int first = 0;
  for (const Shape& shape : {Shape{1100, 1999}, Shape{1040, 2048}, Shape{61, 200, 192}, Shape{3, 30, 25000}})
    for (const int kind : kKinds) {
      const Case c = make_case(shape, kind, random, false);
      const std::int64_t width = shape[shape.rank() - 1], rows = c.reference.size() / width;
      // Volumes are streamed if rows begin at one place in lines of the cache.
      const std::int64_t pitch = shape.rank() == 3 ? (width + 15 + kind % 2 * 16) / 16 * 16 : width + kind % 2 * 5;
      first = (first + 3) % 16;
      for (const InstructionSet set : instruction_sets()) {
        std::vector<float> memory(static_cast<std::size_t>(first + rows * pitch + 16), -1.0f);
        DistanceOptions options = nonzero_options();
        options.execution.instruction_set = set;
        options.execution.threads = 1 + kind % 2;
        if (kind == 3) options.max_distance = 9.5;
        Strides strides{pitch, 1};
        if (shape.rank() == 3) strides = {shape[1] * pitch, pitch, 1};
        DistanceOutputs outputs;
        outputs.distance = AnyView(reinterpret_cast<std::byte*>(memory.data() + first), DType::float32, shape, strides);
        distance_transform(dense_view(c), options, outputs);
        const auto size = static_cast<std::int64_t>(memory.size());
        for (std::int64_t i = 0; i < size; ++i) {
          const std::int64_t y = (i - first) / pitch, x = (i - first) % pitch;
          const bool inside = i >= first && y < rows && x < width;
          const std::int64_t squared = inside ? c.reference.squared[static_cast<std::size_t>(y * width + x)] : 0;
          const float wanted = inside ? expected<float>(squared, options.max_distance, 1, true) : -1.0f;
          // Of so many, asked before: the assertion takes long.
          if (memory[static_cast<std::size_t>(i)] != wanted) {
            ASSERT_EQ(memory[static_cast<std::size_t>(i)], wanted)
                << c.name << ": " << y << ", " << x << ", " << name_of(set);
          }
        }
      }
    }
}

template <class Distance, class Squared>
void expect_types(const Case& c, DistanceOptions options) {
  Array distance(dtype_of<Distance>(), result_shape(c.shape, options));
  Array squared(dtype_of<Squared>(), result_shape(c.shape, options));
  DistanceOutputs outputs;
  outputs.distance = distance.view();
  outputs.squared = squared.view();
  for (const InstructionSet set : instruction_sets()) {
    options.execution.instruction_set = set;
    distance_transform(dense_view(c), options, outputs);
    expect_equal<Distance>(c, options, distance, true);
    expect_equal<Squared>(c, options, squared, false);
  }
}

TEST(Plain, WritesEveryTypeOfOutput) {
  std::mt19937 random(8);
  for (int i = 0; i < 60; ++i) {
    const Case c = make_case(random_shape(random, 300, 60), i % kArrangements, random, false);
    DistanceOptions options = nonzero_options();
    if (i % 2) options.max_distance = 7.3;
    expect_types<float, std::uint32_t>(c, options);
    expect_types<double, std::uint64_t>(c, options);
    options.spacing = {0.3};
    expect_types<float, double>(c, options);
    expect_types<double, double>(c, options);
    if (HasFatalFailure()) return;
  }
}

template <class T>
void expect_rule(const Case& c, Sites::Rule rule, double value, T site, T other) {
  std::vector<T> input;
  for (const std::uint8_t s : c.sites) input.push_back(s ? site : other);
  for (const InstructionSet set : instruction_sets()) {
    DistanceOptions options;
    options.sites = {rule, value};
    options.execution.instruction_set = set;
    expect_distances(c, options, {reinterpret_cast<const std::byte*>(input.data()), dtype_of<T>(), c.shape});
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(Plain, FindsSitesOfEveryRuleAndType) {
  std::mt19937 random(9);
  for (const Shape& shape : {Shape{50, 1100}, Shape{9, 20, 70}}) {
    const Case c = make_case(shape, 3, random, false);
    expect_rule<std::uint8_t>(c, Sites::Rule::zero, 0, 0, 200);
    expect_rule<std::int8_t>(c, Sites::Rule::nonzero, 0, -1, 0);
    expect_rule<std::uint8_t>(c, Sites::Rule::greater_equal, 128, 128, 127);
    expect_rule<std::int16_t>(c, Sites::Rule::less_equal, -3, -3, -2);
    expect_rule<std::uint16_t>(c, Sites::Rule::zero, 0, 0, 256);
    expect_rule<std::int64_t>(c, Sites::Rule::equal, 5, 5, 6);
    expect_rule<float>(c, Sites::Rule::nonzero, 0, 0.25f, -0.0f);
    expect_rule<double>(c, Sites::Rule::greater_equal, 0.5, 0.5, 0.4999);
  }
}

}  // namespace
}  // namespace fathom::grid
