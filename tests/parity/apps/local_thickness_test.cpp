// Local thickness and porosimetry against their definitions.
#include "fathom/apps/local_thickness.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "apps/axis_cases.h"
#include "cases.h"
#include "oracle.h"
#include "run.h"

namespace fathom::test {
namespace {

using Problem = ThicknessProblem;

Array run_thickness(const Problem& p, DType dtype = DType::float64) {
  Array out(dtype, p.mask.shape());
  poison(out);
  apps::local_thickness(p.mask.view(), p.options, out.view());
  return out;
}

/// Distances between elements, squared: in steps where spacings are equal.
class Lengths {
 public:
  explicit Lengths(const Problem& p) : shape_(p.mask.shape()) {
    const auto& given = p.options.spacing;
    for (int k = 0; k < shape_.rank(); ++k)
      spacing_.push_back(given.empty() ? 1 : given[given.size() == 1 ? 0 : static_cast<std::size_t>(k)]);
    isotropic_ = std::all_of(spacing_.begin(), spacing_.end(), [&](double s) { return s == spacing_[0]; });
    for (std::int64_t i = 0; i < p.mask.size(); ++i) places_.push_back(unravel(i, shape_));
  }
  bool isotropic() const { return isotropic_; }
  double unit() const { return isotropic_ ? spacing_[0] : 1; }
  double squared(std::int64_t a, std::int64_t b) const {
    const Index &x = places_[static_cast<std::size_t>(a)], &y = places_[static_cast<std::size_t>(b)];
    double sum = 0;
    for (int k = 0; k < shape_.rank(); ++k) {
      const auto steps = static_cast<double>(x[static_cast<std::size_t>(k)] - y[static_cast<std::size_t>(k)]);
      const double s = isotropic_ ? 1 : spacing_[static_cast<std::size_t>(k)];
      sum += s * s * (steps * steps);
    }
    return sum;
  }

 private:
  Shape shape_;
  std::vector<double> spacing_;
  std::vector<Index> places_;
  bool isotropic_ = true;
};

std::vector<double> squared_distances(const Problem& p, const Lengths& lengths) {
  std::vector<double> squares(static_cast<std::size_t>(p.mask.size()), std::numeric_limits<double>::infinity());
  for (std::int64_t j = 0; j < p.mask.size(); ++j) {
    if (value_at(p.mask, j) != 0) continue;
    for (std::int64_t i = 0; i < p.mask.size(); ++i)
      squares[static_cast<std::size_t>(i)] = std::min(squares[static_cast<std::size_t>(i)], lengths.squared(i, j));
  }
  return squares;
}

/// The largest ball that gets everywhere, by asking again until nothing changes.
std::vector<double> invaded(const Problem& p, const std::vector<double>& squares) {
  std::vector<double> reached(squares.size(), 0);
  const Shape& shape = p.mask.shape();
  const Strides strides = dense_strides(shape);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::int64_t i = 0; i < p.mask.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const Index index = unravel(i, shape);
      bool is_inlet = p.inlets.size() > 0 && value_at(p.inlets, i) != 0;
      for (int k = 0; k < shape.rank() && p.options.from_faces; ++k) {
        const std::int64_t along = index[static_cast<std::size_t>(k)];
        is_inlet = is_inlet || along == 0 || along + 1 == shape[k];
      }
      double best = is_inlet ? squares[at] : 0;
      for (int k = 0; k < shape.rank(); ++k) {
        const std::int64_t along = index[static_cast<std::size_t>(k)];
        if (along > 0) best = std::max(best, std::min(squares[at], reached[static_cast<std::size_t>(i - strides[k])]));
        if (along + 1 < shape[k])
          best = std::max(best, std::min(squares[at], reached[static_cast<std::size_t>(i + strides[k])]));
      }
      changed = changed || best > reached[at];
      reached[at] = std::max(reached[at], best);
    }
  }
  return reached;
}

std::vector<double> by_definition(const Problem& p) {
  const Lengths lengths(p);
  std::vector<double> squares = squared_distances(p, lengths);
  if (p.options.inlets.present() || p.options.from_faces) squares = invaded(p, squares);
  std::vector<double> result(squares.size(), 0);
  for (std::int64_t i = 0; i < p.mask.size(); ++i)
    for (std::int64_t j = 0; j < p.mask.size(); ++j) {
      const double d2 = squares[static_cast<std::size_t>(j)];
      double& most = result[static_cast<std::size_t>(i)];
      if (d2 > most && lengths.squared(i, j) < d2 * (lengths.isotropic() ? 1 : 1 - 0x1p-40)) most = d2;
    }
  for (double& value : result) value = 2 * (std::sqrt(value) * lengths.unit());
  return result;
}

TEST(LocalThickness, IsWhatTheDefinitionSays) {
  const int cases = scaled(3000);
  for (int k = 0; k < cases; ++k) {
    const std::uint64_t seed = seed_to_replay().value_or(static_cast<std::uint64_t>(k));
    const Problem p = thickness_problem(seed);
    const std::vector<double> expected = by_definition(p);
    const Array out = run_thickness(p);
    const bool isotropic = Lengths(p).isotropic();
    for (std::int64_t i = 0; i < out.size(); ++i) {
      const double want = expected[static_cast<std::size_t>(i)], got = value_at(out, i);
      // Where spacings differ the sums of squares are rounded, in some order.
      if (got == want) continue;
      ASSERT_FALSE(isotropic) << got << " for " << want << ", element " << i << " seed " << seed;
      ASSERT_NEAR(got, want, 1e-12 * want) << "element " << i << " seed " << seed;
    }
    if (seed_to_replay()) break;
  }
}

TEST(LocalThickness, IsTheSameOnThreadsInStridesAndInFloat) {
  const int cases = scaled(200);
  for (int k = 0; k < cases; ++k) {
    Problem p = thickness_problem(static_cast<std::uint64_t>(100000 + k));
    p.options.execution.threads = 1;
    p.options.execution.instruction_set = InstructionSet::baseline;
    const Array alone = run_thickness(p), narrow = run_thickness(p, DType::float32);
    for (std::int64_t i = 0; i < alone.size(); ++i)
      ASSERT_EQ(value_at(narrow, i), static_cast<double>(static_cast<float>(value_at(alone, i)))) << k;
    p.options.execution.threads = 5;
    p.options.execution.instruction_set = InstructionSet::automatic;
    ASSERT_TRUE(equal(run_thickness(p), alone)) << k;
    Strides strides = dense_strides(alone.shape());
    for (int axis = 0; axis + 1 < alone.shape().rank(); ++axis) strides[axis] *= 2;
    const auto place = [&](std::int64_t i) {
      const Index index = unravel(i, alone.shape());
      std::int64_t at = 0;
      for (int axis = 0; axis < alone.shape().rank(); ++axis)
        at += index[static_cast<std::size_t>(axis)] * strides[axis];
      return at;
    };
    Array mask(p.mask.dtype(), Shape{4 * alone.size()}), wide(DType::float64, Shape{4 * alone.size()});
    for (std::int64_t i = 0; i < alone.size(); ++i) store(mask, place(i), value_at(p.mask, i));
    apps::local_thickness(AnyConstView(mask.data(), mask.dtype(), alone.shape(), strides), p.options,
                          AnyView(wide.data(), DType::float64, alone.shape(), strides));
    for (std::int64_t i = 0; i < alone.size(); ++i) ASSERT_EQ(value_at(wide, place(i)), value_at(alone, i)) << k;
  }
}

TEST(LocalThickness, IsTransposedWithTheImage) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Random random(seed);
    const std::int64_t height = 1100 + below(random, 300), width = 100 + below(random, 200);
    const std::vector<bool> sites = scatter({height, width}, 3e-5, random);
    std::vector<bool> turned(sites.size());
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x)
        turned[static_cast<std::size_t>(x * height + y)] = sites[static_cast<std::size_t>(y * width + x)];
    const Problem tall{.mask = mask_array(sites, {height, width})}, wide{.mask = mask_array(turned, {width, height})};
    const Array a = run_thickness(tall), b = run_thickness(wide);
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x)
        ASSERT_EQ(value_at(a, y * width + x), value_at(b, x * height + y)) << y << ", " << x << " seed " << seed;
  }
}

TEST(LocalThickness, TakesBatches) {
  Random random(5);
  const Shape shape{3, 17, 40};
  Problem p{.mask = mask_array(scatter(shape, .05, random), shape)};
  p.options.batch_axes = 1;
  const Array all = run_thickness(p);
  for (std::int64_t item = 0; item < 3; ++item) {
    const AnyConstView image(p.mask.data() + item * 17 * 40, DType::uint8, {17, 40});
    Array one(DType::float64, {17, 40});
    apps::local_thickness(image, {}, one.view());
    EXPECT_TRUE(
        std::equal(one.data(), one.data() + one.bytes(), all.data() + item * static_cast<std::int64_t>(one.bytes())));
  }
}

TEST(LocalThickness, OfABallIsItsDiameter) {
  const Shape shape{101, 101};
  std::vector<bool> sites;
  for (std::int64_t i = 0; i < 101 * 101; ++i) {
    const std::int64_t y = i / 101 - 50, x = i % 101 - 50;
    sites.push_back(y * y + x * x >= 1600);
  }
  const Problem p{.mask = mask_array(sites, shape)};
  const Array out = run_thickness(p);
  for (std::int64_t i = 0; i < out.size(); ++i)
    ASSERT_EQ(value_at(out, i), sites[static_cast<std::size_t>(i)] ? 0 : 80);
}

TEST(LocalThickness, RefusesWhatItCannotDo) {
  Array mask(DType::uint8, {4, 4}), out(DType::float32, {4, 4}), wrong(DType::float32, {4, 5});
  apps::LocalThicknessOptions options;
  const auto refused = [&](const AnyView& to) {
    return refusal([&] { apps::local_thickness(mask.view(), options, to); });
  };
  EXPECT_EQ(refused(wrong.view()), "'out' has the shape 4 × 5; it must have 4 × 4, as the input");
  EXPECT_EQ(refused(mask.view()), "'out' is uint8; it must be float32 or float64");
  EXPECT_EQ(refusal([&] { apps::local_thickness(out.view(), options, out.view()); }),
            "'out' shares memory with the input; give an array of its own");
  options.spacing = {1, 2, 3};
  EXPECT_EQ(refused(out.view()), "3 spacings given for 2 axes; give one for all axes or one per axis");
  options.spacing = {0};
  EXPECT_EQ(refused(out.view()), "a spacing is not finite or not above 0");
  for (double spacing : {1e-100, 1e38, 1e100}) {
    options.spacing = {spacing};
    EXPECT_EQ(refused(out.view()), "float32 does not hold thicknesses with such a spacing; give float64");
    EXPECT_NO_THROW(apps::local_thickness(mask.view(), options, Array(DType::float64, {4, 4}).view()));
  }
  options.spacing = {};
  options.batch_axes = 2;
  EXPECT_EQ(refused(out.view()), "an image has 1 to 3 axes; of the shape 4 × 4 with 2 batch axes 0 are left");
  options.batch_axes = 0;
  options.inlets = wrong.view();
  EXPECT_EQ(refused(out.view()), "the inlets have the shape 4 × 5; they must have 4 × 4, as the input");
  options.inlets = mask.view();
  options.from_faces = true;
  EXPECT_EQ(refused(out.view()), "inlets are given, and faces are to be inlets; give one of them");
  options.from_faces = false;
  options.inlets = {};
  options.execution.scratch_limit = 100;
  const std::string needed = std::to_string(apps::scratch_bytes(mask.view(), {}, out.view()));
  EXPECT_EQ(refused(out.view()),
            "the scratch limit of 100 bytes is too small; what works here is " + needed + " bytes");
}

TEST(LocalThickness, StopsAndReports) {
  Random random(7);
  const Shape shape{64, 64, 64};
  const Problem p{.mask = mask_array(scatter(shape, .01, random), shape)};
  Array out(DType::float32, shape);
  std::vector<double> shares;
  apps::LocalThicknessOptions options;
  options.execution.progress = [&](double share) { shares.push_back(share); };
  apps::local_thickness(p.mask.view(), options, out.view());
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.back(), 1);
  std::stop_source source;
  source.request_stop();
  options.execution.stop = source.get_token();
  EXPECT_THROW(apps::local_thickness(p.mask.view(), options, out.view()), Cancelled);
}

TEST(LocalThickness, OfNothingIsNothing) {
  Array mask(DType::uint8, {0, 4}), out(DType::float32, {0, 4});
  EXPECT_EQ(apps::local_thickness(mask.view(), {}, out.view()).scratch_bytes, 0U);
}

}  // namespace
}  // namespace fathom::test
