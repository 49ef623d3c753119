// What has no meaning is refused before any output is touched, and the message says what was wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cases.h"
#include "fathom/core/workspace.h"
#include "run.h"

namespace fathom::test {
namespace {

using grid::Border;
using grid::DistanceOptions;
using grid::DistanceOutputs;
using grid::Metric;
using Rule = grid::Sites::Rule;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Arguments : public testing::Test {
 protected:
  Arguments() {
    std::fill_n(input_.as<std::uint8_t>().data(), input_.size(), std::uint8_t{1});
    for (Array* array : {&distance_, &squared_, &nearest_, &coordinates_}) poison(*array);
    outputs_.distance = distance_.view();
  }

  /// The call is refused with a message that contains `words`, and so is the question for its scratch.
  void expect_refused(const std::string& words) {
    expect_refused_by([&] { (void)grid::scratch_bytes(input_.view(), options_, outputs_); }, words);
    expect_call_refused(words);
  }

  void expect_call_refused(const std::string& words) {
    expect_refused_by([&] { grid::distance_transform(input_.view(), options_, outputs_); }, words);
    for (const Array* array : {&distance_, &squared_, &nearest_, &coordinates_}) EXPECT_TRUE(is_poisoned(*array));
  }

  template <class Call>
  static void expect_refused_by(Call call, const std::string& words) {
    try {
      call();
      ADD_FAILURE() << "was not refused: " << words;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "one line: " << error.what();
    } catch (const std::exception& error) {
      ADD_FAILURE() << "another error: " << error.what();
    }
  }

  Array input_{DType::uint8, {6, 7}};
  Array distance_{DType::float32, {6, 7}};
  Array squared_{DType::uint32, {6, 7}};
  Array nearest_{DType::int32, {6, 7}};
  Array coordinates_{DType::int32, {2, 6, 7}};
  DistanceOptions options_;
  DistanceOutputs outputs_;
};

TEST_F(Arguments, FixtureIsAccepted) {
  outputs_.squared = squared_.view();
  outputs_.nearest = nearest_.view();
  outputs_.coordinates = coordinates_.view();
  EXPECT_NO_THROW(grid::distance_transform(input_.view(), options_, outputs_));
  EXPECT_FALSE(is_poisoned(distance_));
}

TEST_F(Arguments, NoOutput) {
  outputs_ = {};
  expect_refused("output");
}

TEST_F(Arguments, OutputShape) {
  const Array tall(DType::float32, {7, 6}), flat(DType::float32, {42});
  Array wrong(DType::float32, {7, 6});
  outputs_.distance = wrong.view();
  expect_refused("6 × 7");
  wrong = Array(DType::float32, {42});
  outputs_.distance = wrong.view();
  expect_refused("6 × 7");
  outputs_ = {};
  wrong = Array(DType::int32, {6, 7, 2});
  outputs_.coordinates = wrong.view();
  expect_refused("2 × 6 × 7");
  wrong = Array(DType::int32, {6, 7});
  outputs_.coordinates = wrong.view();
  expect_refused("2 × 6 × 7");
  outputs_ = {};
  wrong = Array(DType::float32, {6, 7});
  outputs_.offset = wrong.view();
  expect_refused("'offset' has the shape 6 × 7; it must have 2 × 6 × 7");
}

TEST_F(Arguments, OutputShapeFollowsRegion) {
  options_.region = {{0, 3}, {0, 7}};
  expect_refused("3 × 7");
}

TEST_F(Arguments, OutputTypes) {
  Array wrong(DType::int32, {6, 7});
  outputs_.distance = wrong.view();
  expect_refused("float32");
  outputs_ = {};
  wrong = Array(DType::float32, {6, 7});
  outputs_.squared = wrong.view();
  expect_refused("uint32");
  outputs_ = {};
  outputs_.nearest = wrong.view();
  expect_refused("int32");
  outputs_ = {};
  wrong = Array(DType::uint32, {2, 6, 7});
  outputs_.coordinates = wrong.view();
  expect_refused("int32");
  outputs_ = {};
  wrong = Array(DType::int32, {2, 6, 7});
  outputs_.offset = wrong.view();
  expect_refused("'offset' is int32; it must be float32 or float64");
}

TEST_F(Arguments, Overlaps) {
  outputs_.nearest = AnyView(distance_.data(), DType::int32, {6, 7});
  expect_call_refused("overlap");
  outputs_ = {};
  Array bytes(DType::uint8, {6 * 7 * 4 + 42});
  poison(bytes);
  outputs_.distance = AnyView(bytes.data(), DType::float32, {6, 7});
  expect_refused_by(
      [&] {
        grid::distance_transform(AnyConstView(bytes.data() + 6 * 7 * 4 - 1, DType::uint8, Shape{6, 7}), options_,
                                 outputs_);
      },
      "overlap");
  EXPECT_TRUE(is_poisoned(bytes));
  // Beside one another is fine.
  EXPECT_NO_THROW(
      grid::distance_transform(AnyConstView(bytes.data() + 6 * 7 * 4, DType::uint8, Shape{6, 7}), options_, outputs_));
}

TEST_F(Arguments, ReversedViewsOverlapToo) {
  outputs_.distance = AnyView(distance_.data() + 5 * 7 * 4, DType::float32, {6, 7}, {-7, 1});
  outputs_.nearest = AnyView(distance_.data(), DType::int32, {6, 7});
  expect_call_refused("overlap");
}

TEST_F(Arguments, Spacing) {
  for (const std::vector<double>& spacing : std::vector<std::vector<double>>{
           {1, 2, 3}, {1, 1, 1}, {0}, {-1}, {kNaN}, {kInfinity}, {1, 0}, {1, -2}, {kNaN, 1}, {-0.0, 1}}) {
    options_.spacing = spacing;
    expect_refused("spacing");
  }
}

TEST_F(Arguments, Borders) {
  options_.border = {Border::open, Border::open, Border::sites};
  expect_refused("border");
}

TEST_F(Arguments, Region) {
  for (const std::vector<grid::Range>& region :
       std::vector<std::vector<grid::Range>>{{{0, 6}},
                                             {{0, 6}, {0, 7}, {0, 1}},
                                             {{-1, 5}, {0, 7}},
                                             {{0, 7}, {0, 7}},
                                             {{4, 2}, {0, 7}},
                                             {{0, 6}, {7, 8}},
                                             {{INT64_MIN, INT64_MAX}, {0, 7}}}) {
    options_.region = region;
    expect_refused("region");
  }
}

TEST_F(Arguments, MaxDistance) {
  for (double bad : {-1.0, -1e-300, kNaN, -kInfinity}) {
    options_.max_distance = bad;
    expect_refused("maximum distance");
  }
}

TEST_F(Arguments, SquaredNeedsPlainEuclidean) {
  outputs_.squared = squared_.view();
  options_.metric = Metric::taxicab;
  expect_refused("Euclidean");
  options_.metric = Metric::chessboard;
  expect_refused("Euclidean");
  options_ = {.signed_distance = true};
  expect_refused("sign");
  options_ = {.spacing = {0.5}};
  expect_refused("float64");
  options_ = {.spacing = {1, 2}};
  expect_refused("float64");
}

TEST_F(Arguments, SignedFacesNeedOneSpacing) {
  options_ = {.spacing = {1, 2}, .signed_distance = true};
  expect_refused("centers");
}

TEST_F(Arguments, SitesComparedWithNaN) {
  for (Rule rule : {Rule::greater_equal, Rule::less_equal, Rule::greater, Rule::less}) {
    options_.sites = {rule, kNaN};
    expect_refused("NaN");
  }
}

TEST_F(Arguments, Rank) {
  const std::uint8_t one = 1;
  float result = 7;
  outputs_.distance = HostView<float>(&result, Shape{});
  expect_refused_by([&] { grid::distance_transform(HostView<const std::uint8_t>(&one, Shape{}), options_, outputs_); },
                    "1 to 8");
  const Shape nine{1, 1, 1, 1, 1, 1, 1, 1, 1};
  outputs_.distance = HostView<float>(&result, nine);
  expect_refused_by([&] { grid::distance_transform(HostView<const std::uint8_t>(&one, nine), options_, outputs_); },
                    "1 to 8");
  EXPECT_EQ(result, 7);
}

TEST_F(Arguments, LinearIndicesBeyond32Bits) {
  // Refused by the shapes alone: nothing is read or written, so one row may stand for all.
  const std::vector<std::uint8_t> row(4096);
  const Shape huge{std::int64_t{1} << 20, 4096};
  std::vector<std::int32_t> indices(1);
  options_.region = {{0, 1}, {0, 1}};
  outputs_ = {};
  outputs_.nearest = HostView<std::int32_t>(indices.data(), {1, 1});
  expect_refused_by(
      [&] {
        (void)grid::scratch_bytes(HostView<const std::uint8_t>(row.data(), huge, {0, 1}), options_, outputs_);
      },
      "int64");
}

TEST_F(Arguments, SquaredBeyond32Bits) {
  const std::vector<std::uint8_t> row(65537);  // stands for all rows
  std::uint32_t result = 0;
  outputs_ = {};
  outputs_.squared = HostView<std::uint32_t>(&result, {1, 1});
  options_.region = {{0, 1}, {0, 1}};
  const auto ask = [&](const Shape& shape) {
    return grid::scratch_bytes(HostView<const std::uint8_t>(row.data(), shape, {0, 1}), options_, outputs_);
  };
  expect_refused_by([&] { (void)ask({65536, 65536}); }, "uint64");
  expect_refused_by([&] { (void)ask({2, 65537}); }, "uint64");
  EXPECT_NO_THROW((void)ask({1, 65536}));
  EXPECT_NO_THROW((void)ask({46340, 46340}));
  options_.max_distance = 1000;  // what is kept fits again
  EXPECT_NO_THROW((void)ask({65536, 65536}));
}

TEST_F(Arguments, InstructionSetThatTheMachineLacks) {
  bool all = true;
  for (InstructionSet set : {InstructionSet::avx2, InstructionSet::avx512}) {
    if (is_supported(set)) continue;
    all = false;
    options_.execution.instruction_set = set;
    expect_refused(std::string(name_of(set)));
  }
  if (all) GTEST_SKIP() << "this machine has every instruction set";
}

TEST_F(Arguments, Threads) {
  options_.execution.threads = -1;
  expect_refused("threads");
}

TEST_F(Arguments, CudaIsNotThere) {
  if (device_count() > 0) GTEST_SKIP() << "this machine has a CUDA device";
  options_.execution.backend = Backend::cuda;
  EXPECT_THROW(grid::distance_transform(input_.view(), options_, outputs_), DeviceError);
  EXPECT_TRUE(is_poisoned(distance_));
}

TEST_F(Arguments, AllocatingFormTakesFloatsOnly) {
  for (DType dtype : {DType::uint8, DType::int32, DType::uint64})
    EXPECT_THROW(grid::distance_transform(input_.view(), {}, dtype), InvalidArgument);
  EXPECT_EQ(grid::distance_transform(input_.view(), {}, DType::float64).dtype(), DType::float64);
}

TEST_F(Arguments, AxesTooLong) {
  constexpr std::int64_t n = (std::int64_t{1} << 31) + 11;
  for (const Shape& shape : {Shape{n}, Shape{n, 1}, Shape{1, n, 2}}) {
    outputs_.distance = AnyView(nullptr, DType::float32, shape);
    expect_refused_by([&] { (void)grid::scratch_bytes(AnyConstView(nullptr, DType::uint8, shape), {}, outputs_); },
                      "2147483659 elements; up to 1073741760 along an axis are served");
  }
}

TEST_F(Arguments, ViewsWithoutMemory) {
  outputs_.distance = AnyView(nullptr, DType::float32, {6, 7});
  expect_call_refused("memory");
}

}  // namespace
}  // namespace fathom::test
