// The integer medial axis against its definition, pair by pair, and the balls it tells of.
#include "fathom/apps/medial_axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "apps/axis_cases.h"
#include "cases.h"
#include "oracle.h"
#include "run.h"

namespace fathom::test {
namespace {

using apps::Pruning;
using apps::Ties;
using Point = std::array<double, 3>;
using Problem = AxisProblem;

struct Axis {
  explicit Axis(const Shape& shape, DType index = DType::int64)
      : axis(DType::uint8, shape), distance(DType::float64, shape), nearest(index, shape), witness(index, shape) {
    for (Array* array : {&axis, &distance, &nearest, &witness}) poison(*array);
  }
  apps::MedialAxisOutputs views() { return {axis.view(), distance.view(), nearest.view(), witness.view()}; }
  Array axis, distance, nearest, witness;
};

Axis run_axis(const Problem& p, DType index = DType::int64) {
  Axis result(p.mask.shape(), index);
  apps::medial_axis(p.mask.view(), p.options, result.views());
  return result;
}

/// Whether the definition takes m and n; where rounding decides, it is not sure.
struct Verdict {
  bool m = false, n = false, sure = true;
  double apart = 0;  ///< |f − g|²
};

double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Point plus(const Point& a, const Point& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

class Definition {
 public:
  explicit Definition(const Problem& p) : p_(p), shape_(p.mask.shape()) {
    for (int k = 0; k < shape_.rank(); ++k) {
      const auto& given = p.options.spacing;
      spacing_[static_cast<std::size_t>(k)] =
          given.empty() ? 1 : given[given.size() == 1 ? 0 : static_cast<std::size_t>(k)];
    }
    whole_ = true;
    for (int k = 0; k < shape_.rank(); ++k) whole_ = whole_ && spacing_[static_cast<std::size_t>(k)] == spacing_[0];
  }

  Point place(std::int64_t i) const {
    const Index index = unravel(i, shape_);
    Point point{};
    for (int k = 0; k < shape_.rank(); ++k)
      point[static_cast<std::size_t>(k)] =
          static_cast<double>(index[static_cast<std::size_t>(k)]) * spacing_[static_cast<std::size_t>(k)];
    return point;
  }

  /// @param f, g  nearest zeros of the neighbours m and n, m the one with the lower index
  Verdict pair(std::int64_t m, std::int64_t f, std::int64_t n, std::int64_t g) const {
    const Index a = unravel(f, shape_), b = unravel(g, shape_);
    std::int64_t steps = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(shape_.rank()); ++k) steps += (a[k] - b[k]) * (a[k] - b[k]);
    const Point at_m = place(m), at_n = place(n), at_f = place(f), at_g = place(g);
    const Point apart = minus(at_f, at_g), sum = minus(plus(at_f, at_g), plus(at_m, at_n)), step = minus(at_m, at_n);
    const double length = dot(apart, apart), side = dot(apart, sum), h = std::sqrt(dot(step, step));
    const double bound = p_.options.pruning == Pruning::constant ? p_.options.gamma * p_.options.gamma
                         : p_.options.pruning == Pruning::linear ? p_.options.gamma * p_.options.gamma * dot(sum, sum)
                                                                 : h * std::sqrt(dot(sum, sum)) + 2 * dot(step, apart) +
                                                                       (shape_.rank() == 3 ? 1.5 : 1) * h * h;
    const bool exact =
        whole_ && spacing_[0] != .7 && spacing_[0] != 1.3 && p_.options.gamma != .3 && p_.options.gamma != 1.7;
    const auto near = [&](double x, double y) { return std::abs(x - y) < 1e-9 * (1 + std::abs(y)); };
    Verdict verdict{.apart = length};
    // Halves and whole numbers are added and multiplied without rounding.
    verdict.sure = exact || !(near(length, bound) || near(side, 0));
    if (steps <= 1 || !(length > bound)) return verdict;
    verdict.m = side >= 0;
    verdict.n = p_.options.ties == Ties::both ? side <= 0 : side < 0;
    return verdict;
  }

 private:
  const Problem& p_;
  Shape shape_;
  Point spacing_{1, 1, 1};
  bool whole_;
};

TEST(MedialAxis, IsWhatTheDefinitionSays) {
  const int cases = scaled(4000);
  for (int k = 0; k < cases; ++k) {
    const std::uint64_t seed = seed_to_replay().value_or(static_cast<std::uint64_t>(k));
    const Problem p = axis_problem(seed);
    const Axis got = run_axis(p);
    const Definition definition(p);
    const Shape& shape = p.mask.shape();
    const Strides strides = dense_strides(shape);
    const auto size = static_cast<std::size_t>(p.mask.size());
    std::vector<bool> expected(size), sure(size, true);
    std::vector<double> widest(size, 0);
    for (std::int64_t m = 0; m < p.mask.size(); ++m) {
      const std::int64_t f = integer_at(got.nearest, m);
      for (int axis = 0; axis < shape.rank(); ++axis) {
        const std::int64_t n = m + strides[axis];
        if (unravel(m, shape)[static_cast<std::size_t>(axis)] + 1 >= shape[axis] || f < 0) continue;
        const Verdict v = definition.pair(m, f, n, integer_at(got.nearest, n));
        const auto at_m = static_cast<std::size_t>(m), at_n = static_cast<std::size_t>(n);
        if (!v.sure) sure[at_m] = sure[at_n] = false;
        if (v.m) expected[at_m] = true, widest[at_m] = std::max(widest[at_m], v.apart);
        if (v.n) expected[at_n] = true, widest[at_n] = std::max(widest[at_n], v.apart);
      }
    }
    for (std::int64_t i = 0; i < p.mask.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (!sure[at]) continue;
      ASSERT_EQ(value_at(got.axis, i) != 0, expected[at]) << "element " << i << " seed " << seed;
      const std::int64_t witness = integer_at(got.witness, i);
      ASSERT_EQ(witness >= 0, expected[at]) << "element " << i << " seed " << seed;
      if (witness < 0) continue;
      ASSERT_NE(value_at(p.mask, i), 0) << "background on the axis, seed " << seed;
      ASSERT_EQ(value_at(p.mask, witness), 0) << "seed " << seed;
      const Point apart = minus(definition.place(integer_at(got.nearest, i)), definition.place(witness));
      ASSERT_NEAR(dot(apart, apart), widest[at], 1e-9 * widest[at]) << "element " << i << " seed " << seed;
    }
    if (seed_to_replay()) break;
  }
}

TEST(MedialAxis, TellsDistancesAndSitesAsTheTransformDoes) {
  for (int k = 0; k < scaled(100); ++k) {
    const Problem p = axis_problem(static_cast<std::uint64_t>(20000 + k));
    const Axis got = run_axis(p);
    Axis plain(p.mask.shape());
    grid::DistanceOptions options;
    options.spacing = p.options.spacing;
    grid::DistanceOutputs outputs;
    outputs.distance = plain.distance.view();
    outputs.nearest = plain.nearest.view();
    grid::distance_transform(p.mask.view(), options, outputs);
    ASSERT_TRUE(equal(got.distance, plain.distance)) << k;
    ASSERT_TRUE(equal(got.nearest, plain.nearest)) << k;
  }
}

TEST(MedialAxis, IsTheSameFromNearestSitesOnThreadsAndInAnyTypes) {
  for (int k = 0; k < scaled(400); ++k) {
    Problem p = axis_problem(static_cast<std::uint64_t>(30000 + k));
    p.options.execution.threads = 1;
    p.options.execution.instruction_set = InstructionSet::baseline;
    Axis alone = run_axis(p);
    p.options.execution.threads = 4;
    p.options.execution.instruction_set = InstructionSet::automatic;
    Axis narrow(p.mask.shape(), DType::int32);
    apps::medial_axis(p.mask.view(), p.options,
                      {.axis = {}, .distance = {}, .nearest = narrow.nearest.view(), .witness = {}});
    apps::medial_axis_of_nearest(narrow.nearest.view(), p.options, {narrow.axis.view(), {}, {}, narrow.witness.view()});
    ASSERT_TRUE(equal(narrow.axis, alone.axis)) << k;
    for (std::int64_t i = 0; i < p.mask.size(); ++i)
      ASSERT_EQ(integer_at(narrow.witness, i), integer_at(alone.witness, i)) << k;
    Axis without(p.mask.shape());
    apps::medial_axis(p.mask.view(), p.options,
                      {.axis = without.axis.view(), .distance = {}, .nearest = {}, .witness = {}});
    ASSERT_TRUE(equal(without.axis, alone.axis)) << k;
  }
}

TEST(MedialAxis, OfABarIsItsMiddle) {
  const auto middle = [](std::int64_t width, Ties ties) {
    std::vector<bool> sites(static_cast<std::size_t>(5 * (width + 2)));
    for (std::int64_t y = 0; y < 5; ++y)
      for (std::int64_t x : {std::int64_t{0}, width + 1}) sites[static_cast<std::size_t>(y * (width + 2) + x)] = true;
    Problem p{.mask = mask_array(sites, {5, width + 2})};
    p.options.ties = ties;
    const Axis axis = run_axis(p);
    std::string row;
    for (std::int64_t x = 0; x < width + 2; ++x) row += value_at(axis.axis, 2 * (width + 2) + x) != 0 ? '#' : '.';
    return row;
  };
  EXPECT_EQ(middle(5, Ties::both), "...#...");
  EXPECT_EQ(middle(5, Ties::thin), "...#...");
  EXPECT_EQ(middle(6, Ties::both), "...##...");
  EXPECT_EQ(middle(6, Ties::thin), "...#....");
}

TEST(MedialAxis, IsThePatternOfItsSpacing) {
  // In a spacing of 3, with γ in its units, all is as in a spacing of 1.
  for (int k = 0; k < scaled(200); ++k) {
    Problem p = axis_problem(static_cast<std::uint64_t>(40000 + k));
    p.options.spacing = {};
    p.options.gamma = 2;
    const Axis unit = run_axis(p);
    p.options.spacing = {4};
    if (p.options.pruning == Pruning::constant) p.options.gamma = 8;
    ASSERT_TRUE(equal(run_axis(p).axis, unit.axis)) << k;
  }
}

/// The union of open balls, by testing all pairs.
std::vector<bool> balls(const Array& axis, const Array& nearest, const Definition& definition) {
  std::vector<bool> covered(static_cast<std::size_t>(axis.size()));
  for (std::int64_t p = 0; p < axis.size(); ++p) {
    if (value_at(axis, p) == 0) continue;
    const Point to_site = minus(definition.place(integer_at(nearest, p)), definition.place(p));
    for (std::int64_t i = 0; i < axis.size(); ++i) {
      const Point way = minus(definition.place(i), definition.place(p));
      if (dot(way, way) < dot(to_site, to_site) * (1 - 1e-11)) covered[static_cast<std::size_t>(i)] = true;
    }
  }
  return covered;
}

TEST(AxisBalls, CoverWhatTheDefinitionSays) {
  for (int k = 0; k < scaled(600); ++k) {
    const Problem p = axis_problem(static_cast<std::uint64_t>(50000 + k));
    const Axis axis = run_axis(p);
    Array out(DType::boolean, p.mask.shape());
    apps::AxisBallsOptions options;
    options.spacing = p.options.spacing;
    options.execution.threads = 2;
    apps::axis_balls(axis.axis.view(), axis.nearest.view(), options, out.view());
    const std::vector<bool> expected = balls(axis.axis, axis.nearest, Definition(p));
    for (std::int64_t i = 0; i < out.size(); ++i) {
      ASSERT_EQ(value_at(out, i) != 0, expected[static_cast<std::size_t>(i)]) << "element " << i << " case " << k;
      ASSERT_TRUE(value_at(out, i) == 0 || value_at(p.mask, i) != 0) << k;
    }
  }
}

TEST(AxisBalls, OfAnAxisThatIsNotPrunedCoverNearlyAll) {
  std::int64_t inside = 0, missing = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    const Shape shape{100, 120};
    std::vector<bool> sites = make_sites(Structure::blobs, shape, random);
    for (std::int64_t i = 0; i < element_count(shape); ++i)
      if (i / 120 == 0 || i / 120 == 99 || i % 120 == 0 || i % 120 == 119) sites[static_cast<std::size_t>(i)] = true;
    const Problem p{.mask = mask_array(sites, shape)};
    const Axis axis = run_axis(p);
    Array out(DType::uint8, shape);
    apps::axis_balls(axis.axis.view(), axis.nearest.view(), {}, out.view());
    for (std::int64_t i = 0; i < out.size(); ++i) {
      inside += value_at(p.mask, i) != 0;
      missing += value_at(p.mask, i) != value_at(out, i);
    }
  }
  EXPECT_GT(inside, 1000);
  EXPECT_LT(static_cast<double>(missing), .001 * static_cast<double>(inside)) << missing << " of " << inside;
}

TEST(AxisBalls, WithoutEndCoverAll) {
  Array axis(DType::uint8, {2, 2}), nearest(DType::int32, {2, 2}), out(DType::uint8, {2, 2});
  std::fill_n(axis.data(), 4, std::byte{1});
  std::fill_n(nearest.data(), 16, std::byte{0xFF});
  apps::axis_balls(axis.view(), nearest.view(), {}, out.view());
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(value_at(out, i), 1);
}

TEST(MedialAxis, OfAFullMaskIsEmpty) {
  Problem p{.mask = mask_array(std::vector<bool>(60), {6, 10})};
  const Axis axis = run_axis(p);
  for (std::int64_t i = 0; i < 60; ++i) {
    EXPECT_EQ(value_at(axis.axis, i), 0);
    EXPECT_EQ(integer_at(axis.witness, i), -1);
    EXPECT_TRUE(std::isinf(value_at(axis.distance, i)));
  }
}

TEST(MedialAxis, TakesBatches) {
  Random random(3);
  Problem p{.mask = mask_array(scatter({4, 15, 20}, .1, random), {4, 15, 20})};
  p.options.batch_axes = 1;
  const Axis all = run_axis(p);
  for (std::int64_t item = 0; item < 4; ++item) {
    Axis one({15, 20});
    apps::medial_axis(AnyConstView(p.mask.data() + item * 300, DType::uint8, {15, 20}), {}, one.views());
    EXPECT_TRUE(std::equal(one.axis.data(), one.axis.data() + 300, all.axis.data() + item * 300));
    EXPECT_TRUE(std::equal(one.witness.data(), one.witness.data() + 2400, all.witness.data() + item * 2400));
  }
}

TEST(MedialAxis, RefusesWhatItCannotDo) {
  Array mask(DType::uint8, {4, 4}), wrong(DType::uint8, {4, 5}), real(DType::float32, {4, 4});
  apps::MedialAxisOptions options;
  const auto refused = [&](const apps::MedialAxisOutputs& outputs) {
    return refusal([&] { apps::medial_axis(mask.view(), options, outputs); });
  };
  EXPECT_EQ(refused({}), "no output was given; give axis, distance, nearest or witness");
  EXPECT_EQ(refused({wrong.view(), {}, {}, {}}), "'axis' has the shape 4 × 5; it must have 4 × 4, as the input");
  EXPECT_EQ(refused({real.view(), {}, {}, {}}), "'axis' is float32; it must be bool or uint8");
  options.gamma = -1;
  EXPECT_EQ(refused({mask.view(), {}, {}, {}}), "gamma is -1; give a finite number of at least 0");
  options.gamma = 0;
  EXPECT_EQ(refusal([&] {
              apps::medial_axis_of_nearest(mask.view(), {}, {mask.view(), {}, {}, {}});
            }),
            "'nearest' is uint8; it must be int32 or int64");
}

/// Arrays that nobody makes.
TEST(MedialAxis, TakesIndicesThatHoldThoseOfAnImage) {
  const Shape large{1, 50000, 50000}, many{2500, 1000, 1000};
  apps::MedialAxisOptions options;
  options.batch_axes = 1;
  const auto refused = [&](const Shape& shape, DType dtype, bool is_witness) {
    const AnyView indices(nullptr, dtype, shape);
    const apps::MedialAxisOutputs outputs{{}, {}, is_witness ? AnyView() : indices, is_witness ? indices : AnyView()};
    return refusal([&] { apps::scratch_bytes(AnyConstView(nullptr, DType::uint8, shape), options, outputs); });
  };
  for (const bool is_witness : {false, true}) {
    EXPECT_EQ(refused(many, DType::int32, is_witness), "not refused");
    EXPECT_EQ(refused(large, DType::int64, is_witness), "not refused");
    EXPECT_NE(refused(large, DType::int32, is_witness)
                  .find("does not hold the indices of images of 2500000000 elements; it must be int64"),
              std::string::npos);
  }
}

TEST(MedialAxis, RefusesIndicesThatAreNone) {
  Array nearest(DType::int64, {2, 40, 3}), out(DType::uint8, {2, 40, 3}), axis(DType::uint8, {2, 40, 3});
  apps::MedialAxisOptions options;
  options.execution.threads = 2;
  const auto again = [&] { apps::medial_axis_of_nearest(nearest.view(), options, {out.view(), {}, {}, {}}); };
  const auto balls = [&] { apps::axis_balls(axis.view(), nearest.view(), {}, out.view()); };
  for (std::int64_t k = 0; k < 240; ++k) store(nearest, k, 7);
  for (std::int64_t k = 0; k < 240; ++k) store(axis, k, k == 238);
  EXPECT_NO_THROW(again());
  for (const auto& [index, name] : {std::pair{240.0, "240"}, {-1.0, "-1"}, {-2.0, "-2"}, {1e18, "1000000000000000000"}}) {
    store(nearest, 239, 999);
    store(nearest, 238, index);
    const std::string why = std::string("'nearest' holds ") + name +
                            " as element 238 of an image of 240; give the index of one of them, or -1 everywhere where "
                            "there is no zero";
    EXPECT_EQ(refusal(again), why);
    if (index == -1) EXPECT_NO_THROW(balls());
    else EXPECT_EQ(refusal(balls), why);
  }
  for (std::int64_t k = 0; k < 240; ++k) store(nearest, k, k == 5 ? 5 : -1);
  EXPECT_EQ(refusal(again).substr(0, 32), "'nearest' holds 5 as element 5 o");
}

TEST(MedialAxis, SaysWhatItTakes) {
  Array mask(DType::uint8, {50, 60}), out(DType::uint8, {50, 60});
  const apps::MedialAxisOutputs outputs{out.view(), {}, {}, {}};
  std::fill_n(mask.data(), mask.bytes(), std::byte{0});
  apps::MedialAxisOptions options;
  options.execution.threads = 1;
  const std::size_t needed = apps::scratch_bytes(mask.view(), options, outputs);
  options.execution.scratch_limit = needed;
  EXPECT_EQ(apps::medial_axis(mask.view(), options, outputs).scratch_bytes, needed);
  options.execution.scratch_limit = needed - 1;
  EXPECT_THROW(apps::medial_axis(mask.view(), options, outputs), InvalidArgument);
}

}  // namespace
}  // namespace fathom::test
