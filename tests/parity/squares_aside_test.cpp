// Volumes on a device with spacings in a unit, whose squares may lie aside between the passes: by the engine itself,
// since the call takes it for large ones alone; and one that the call takes it for.
#include <algorithm>

#include "device_case.h"
#include "engine_on_device.h"

namespace fathom::test {
namespace {

EngineOnDevice squares_aside(const Case& c, const OnDevice& device) {
  return {grid::cuda::make_volume_engine_with_squares_aside, c, device};
}

Case case_of(const std::vector<bool>& sites, const Shape& shape, const std::vector<double>& spacing) {
  Case c{.structure = Structure::sparse};
  c.input = mask_array(sites, shape);
  c.options.batch_axes = shape.rank() - 3;
  c.options.spacing = spacing;
  c.wanted = {.distance = DType::float32};
  return c;
}

void check(Case& c) {
  SCOPED_TRACE(describe(c));
  OnDevice device(c);
  const EngineOnDevice engine = squares_aside(c, device);
  ASSERT_TRUE(engine.serves());
  engine.run();
  ASSERT_TRUE(equal(on_cpu(c), device.results()));
}

/// Near everywhere; in some slabs along x, y or z alone, so that squares fit 16 bits in some lines, or some of their
/// rows; one; or all.
std::vector<bool> sites_of_kind(int kind, const Shape& shape, Random& random) {
  const int last = shape.rank() - 1;
  const std::int64_t nz = shape[last - 2], ny = shape[last - 1], nx = shape[last];
  const double shares[] = {0.3, 0.02, 0.1, 0.1, 0.1, 1.0, 0.0};
  auto sites = scatter(shape, shares[kind], random);
  for (std::size_t k = 0; k < sites.size(); ++k) {
    const auto x = static_cast<std::int64_t>(k) % nx, row = static_cast<std::int64_t>(k) / nx;
    const std::int64_t y = row % ny, z = row / ny % nz;
    const bool is_left_out[] = {false, false, z % 96 > 20, y % 64 > 40, x / 48 % 2 == 1, y == ny / 2, false};
    if (is_left_out[kind]) sites[k] = false;
  }
  if (kind == 6) sites[sites.size() / 3] = true;
  return sites;
}
constexpr int kKinds = 7;

/// Lines of all lengths at which blocks change, also beyond those that brackets serve; a last word of few columns or of
/// nearly all; units that make squares large or small; two volumes, whose squares do not lie aside; and one that is
/// worked on in ranges of columns.
TEST_F(Device, SquaresAside) {
  const std::vector<Shape> shapes = {
      Shape{9, 20, 257},   Shape{130, 9, 260},   Shape{33, 250, 263}, Shape{230, 17, 287}, Shape{5, 300, 258},
      Shape{520, 3, 289},  Shape{2, 520, 300},   Shape{17, 3, 515},   Shape{3, 650, 257},  Shape{1100, 2, 257},
      Shape{2, 1030, 257}, Shape{2, 9, 20, 257}, Shape{5, 1024, 1641}};
  const std::vector<std::vector<double>> spacings = {{3, 1, 1}, {2.5, 1.25, 0.7}, {1, 2, 5}};
  for (const std::int64_t i : some_of(static_cast<int>(shapes.size()) * kKinds, 21)) {
    Random random(777000 + static_cast<std::uint64_t>(i));
    const Shape& shape = shapes[static_cast<std::size_t>(i / kKinds)];
    if (element_count(shape) > largest_problem()) continue;
    const auto sites = sites_of_kind(static_cast<int>(i % kKinds), shape, random);
    const bool is_long = std::max(shape[0], shape[1]) > 1000;  // squares must fit 31 bits
    Case c = case_of(sites, shape, is_long ? spacings[0] : pick(random, spacings));
    check(c);
    if (HasFatalFailure()) return;
  }
}

/// A part of the results along x, which begins at a word.
TEST_F(Device, SquaresAsideOfAPart) {
  const Shape shape{40, 30, 300};
  for (const int kind : {0, 1, 4}) {
    Random random(776500 + static_cast<std::uint64_t>(kind));
    Case c = case_of(sites_of_kind(kind, shape, random), shape, {3, 1, 1});
    c.options.region = {{0, 40}, {0, 30}, {32, 291}};
    check(c);
    if (HasFatalFailure()) return;
  }
}

/// What the engine leaves to others.
TEST_F(Device, SquaresAsideAreNotForAll) {
  const Shape shape{9, 20, 257};
  Random random(778000);
  const auto sites = scatter(shape, 0.1, random);
  const auto serves = [](const Case& c) { return squares_aside(c, OnDevice(c)).serves(); };
  Case c = case_of(sites, shape, {3, 1, 1});
  EXPECT_TRUE(serves(c));
  c.options.spacing = {};
  EXPECT_FALSE(serves(c));
  c.options.spacing = {1.25, 0.742188, 0.742188};
  EXPECT_FALSE(serves(c));
  c.options.spacing = {3, 1, 1};
  c.options.max_distance = 5;
  EXPECT_FALSE(serves(c));
  c = case_of(sites, shape, {3, 1, 1});
  c.options.signed_distance = true;
  c.options.surface = grid::Surface::centers;
  EXPECT_FALSE(serves(c));
  c = case_of(sites, shape, {3, 1, 1});
  c.wanted.nearest = DType::int32;
  EXPECT_FALSE(serves(c));
  EXPECT_FALSE(serves(case_of(scatter(Shape{9, 20, 264}, 0.1, random), Shape{9, 20, 264}, {3, 1, 1})));
  EXPECT_FALSE(serves(case_of(scatter(Shape{9, 20, 255}, 0.1, random), Shape{9, 20, 255}, {3, 1, 1})));
}

/// By the call: sites near in some of the rows, so that some squares lie aside and others do not; no more scratch than
/// volumes may take.
TEST_F(Device, LargeVolumesWithSpacingsHaveSquaresAside) {
  const Shape shape{515, 513, 259};
  if (element_count(shape) > largest_problem()) GTEST_SKIP() << "too large";
  Random random(779000);
  Case c = case_of(sites_of_kind(3, shape, random), shape, {3, 1, 1});
  OnDevice device(c);
  const std::size_t scratch = grid::scratch_bytes(device.input_view, c.options, device.outputs);
  EXPECT_GT(scratch, static_cast<std::size_t>(element_count(shape)) * 2);
  EXPECT_LT(static_cast<double>(scratch), static_cast<double>(element_count(shape)) * 2.3);
  device.run();
  must(cudaDeviceSynchronize());
  EXPECT_TRUE(equal(on_cpu(c), device.results()));
}

}  // namespace
}  // namespace fathom::test
