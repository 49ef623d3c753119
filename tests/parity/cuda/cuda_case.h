// What the tests of the CUDA backend through the call for host arrays share: the same bytes as the CPU and the brute
// force, whatever the options.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "cases.h"
#include "fathom/core/device.h"
#include "run.h"

namespace fathom::test {

/// Large problems take too long where a device is emulated, and so do all of them.
class SizeLimit {
 public:
  /// Whether a problem is one of those to try: the first of its test, and one in FATHOM_TEST_ONE_IN of the others.
  bool chooses() { return number_++ == 0 || draw_() % one_in() == 0; }
  bool takes(const Shape& shape) {
    const bool is_small = element_count(shape) <= largest_problem();
    ++(is_small ? taken_ : left_out_);
    return is_small;
  }
  bool left_all_out() const { return taken_ == 0 && left_out_ > 0; }

 private:
  static unsigned one_in() {
    const char* text = std::getenv("FATHOM_TEST_ONE_IN");
    return text ? static_cast<unsigned>(std::atoi(text)) : 1;
  }

  int taken_ = 0, left_out_ = 0, number_ = 0;
  std::mt19937 draw_;
};

inline SizeLimit size_limit;  ///< of the test that runs

class Cuda : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device, or a build without CUDA";
    size_limit = {};
  }

  void TearDown() override {
    if (size_limit.left_all_out()) GTEST_SKIP() << "no problem is small enough for an emulated device";
  }
};

inline Results run_on(Backend backend, const Case& c) {
  grid::DistanceOptions options = c.options;
  options.execution.backend = backend;
  return run(c.input.view(), options, c.wanted);
}

/// The CPU's bytes, from a device that says its name.
inline void check_against_cpu(const Case& c) {
  if (!size_limit.takes(c.input.shape()) || !size_limit.chooses()) return;
  SCOPED_TRACE(describe(c));
  try {
    const Results device = run_on(Backend::cuda, c);
    ASSERT_EQ(device.report.backend, Backend::cuda);
    ASSERT_FALSE(device.report.device.empty());
    ASSERT_TRUE(equal(run_on(Backend::cpu, c), device));
  } catch (const std::exception& error) {
    FAIL() << error.what();
  }
}

/// Distances, squares and a signed field, which the case is left with.
inline void check_squares_and_sign(Case& c) {
  c.wanted = {.distance = DType::float32};
  check_against_cpu(c);
  c.wanted = {.squared = DType::uint32};
  check_against_cpu(c);
  c.wanted = {.distance = DType::float32};
  c.options.signed_distance = true;
  check_against_cpu(c);
}

/// A mask of bytes with rows of nx elements, or three of them in a batch, whose distances are wanted.
inline Case volume_of_bytes(std::int64_t nx, Random& random) {
  const std::int64_t nz = pick<std::int64_t>(random, {1, 3, 31, 33, 70});
  const bool is_batch = chance(random, 0.3), zero = chance(random, 0.5);
  const std::int64_t ny = below(random, 9) + 1;
  const Shape shape = is_batch ? Shape{3, nz, ny, nx} : Shape{nz, ny, nx};
  Case c{.structure = Structure::sparse};
  const auto sites = scatter(shape, pick<double>(random, {0.9, 0.1, 0.01, 1e-3, 0.0}), random);
  c.input = mask_array(sites, shape, pick<DType>(random, {DType::uint8, DType::boolean}), zero);
  c.options.sites.rule = zero ? grid::Sites::Rule::zero : grid::Sites::Rule::nonzero;
  c.options.batch_axes = is_batch;
  c.wanted.distance = DType::float32;
  return c;
}

/// The places whose squared distance from the middle is this, steps along the axes being so long.
inline std::vector<bool> places_on_sphere(const Shape& shape, const std::vector<std::int64_t>& lengths,
                                          std::int64_t square) {
  std::vector<bool> places(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), distance = 0;
    for (int k = shape.rank() - 1; k >= 0; --k) {
      const std::int64_t way = (rest % shape[k] - shape[k] / 2) * lengths[static_cast<std::size_t>(k)];
      distance += way * way;
      rest /= shape[k];
    }
    places[i] = distance == square;
  }
  return places;
}

/// A budget is kept or refused before anything is touched, and the bytes are the same.
inline void check_budgets(Case& c) {
  if (!size_limit.takes(c.input.shape()) || !size_limit.chooses()) return;
  SCOPED_TRACE(describe(c));
  c.options.execution = {.backend = Backend::cpu};
  const Results expected = run(c.input.view(), c.options, c.wanted);
  c.options.execution.backend = Backend::cuda;
  Results results = make_results(c.input.shape(), c.options, c.wanted);
  const std::size_t enough = grid::scratch_bytes(c.input.view(), c.options, results.views());
  const std::size_t smallest = grid::least_scratch_bytes(c.input.view(), c.options, results.views());
  ASSERT_LE(smallest, enough);
  for (const std::size_t budget : {smallest, smallest + (enough - smallest) / 3, enough}) {
    c.options.execution.scratch_limit = budget;
    results = run(c.input.view(), c.options, c.wanted);
    ASSERT_LE(results.report.scratch_bytes, budget);
    ASSERT_TRUE(equal(expected, results)) << "with " << budget << " bytes, " << smallest << " being the least";
  }
  if (smallest == 0) return;  // nothing to do
  c.options.execution.scratch_limit = smallest - 1;
  results = make_results(c.input.shape(), c.options, c.wanted);
  ASSERT_THROW(grid::distance_transform(c.input.view(), c.options, results.views()), InvalidArgument);
  grid::for_each_output(
      [](const grid::OutputKind&, const std::optional<Array>& array) { ASSERT_TRUE(!array || is_poisoned(*array)); },
      results);
}

/// Results of many kinds, of a region now and then.
inline void ask_for_any(Case& c, Random& random) {
  c.wanted = {.distance = pick<DType>(random, {DType::float32, DType::float32, DType::float64})};
  c.options.border.clear();
  c.options.region.clear();
  c.options.max_distance = std::numeric_limits<double>::infinity();
  if (chance(random, 0.2)) c.options.border = {grid::Border::sites};
  if (chance(random, 0.2)) c.options.max_distance = pick<double>(random, {3.5, 10, 3000});
  switch (below(random, 4)) {
    case 0: c.wanted.squared = pick<DType>(random, {DType::uint64, DType::float64}); break;
    case 1:
      c.wanted.nearest = pick<DType>(random, {DType::int32, DType::int64});
      if (chance(random, 0.3)) c.wanted.distance.reset();
      if (chance(random, 0.3)) c.wanted.coordinates = DType::int32;
      if (chance(random, 0.3)) c.wanted.offset = DType::float32;
      break;
    default: break;
  }
  if (chance(random, 0.7)) return;
  const Shape& shape = c.input.shape();
  for (int k = c.options.batch_axes; k < shape.rank(); ++k) {
    const std::int64_t begin = below(random, shape[k]);
    c.options.region.push_back({begin, begin + 1 + below(random, shape[k] - begin)});
  }
}

/// Now and then.
inline void give_sign(Case& c, Random& random) {
  c.options.signed_distance = chance(random, 0.4);
  if (!c.options.signed_distance) return;
  c.wanted.squared.reset();  // has none
  if (!c.wanted.distance) c.wanted.distance = DType::float32;
}

}  // namespace fathom::test
