// Volumes with nearest sites on a device whose rows of results begin inside sectors of memory: the engine that solves
// them transposed, by itself, since the call takes it for large ones alone; and one that the call takes it for.
#include "core/cuda/runtime.h"
#include "device_case.h"
#include "engine_on_device.h"
#include "padded.h"

namespace fathom::test {
namespace {

constexpr EngineOnDevice::Maker kTransposed = grid::cuda::make_transposed_volume_engine;

EngineOnDevice transposed(const Case& c, const OnDevice& device) { return {kTransposed, c, device}; }

bool is_served(const Case& c) { return transposed(c, OnDevice(c)).serves(); }

/// Whether a block may have the shared memory that the longest lines here take. Devices with less leave these to the
/// engine for volumes.
bool has_shared_memory() { return fathom::cuda::block_memory() >= 131072; }

void check(Case& c) {
  SCOPED_TRACE(describe(c));
  OnDevice device(c);
  const EngineOnDevice engine = transposed(c, device);
  if (!engine.serves() && !has_shared_memory()) return;
  ASSERT_TRUE(engine.serves());
  engine.run();
  ASSERT_TRUE(equal(on_cpu(c), device.results()));
}

Case case_of(const Shape& shape, double share = 0.01) {
  Random random(776000);
  Case c{.structure = Structure::sparse};
  c.input = mask_array(scatter(shape, share, random), shape);
  c.wanted = {.distance = DType::float32, .nearest = DType::int32};
  return c;
}

/// Of each 32 neighbours along y: sites everywhere, at the beginning of rows alone, in few planes alone, or none.
std::vector<bool> sites_by_words_along_y(const Shape& shape, double share, Random& random) {
  const int last = shape.rank() - 1;
  const std::int64_t nz = shape[last - 2], ny = shape[last - 1], nx = shape[last];
  auto sites = scatter(shape, share, random);
  std::vector<int> kinds(static_cast<std::size_t>(ny / 32 + 1));
  for (int& kind : kinds) kind = static_cast<int>(below(random, 4));
  for (std::size_t k = 0; k < sites.size(); ++k) {
    const auto x = static_cast<std::int64_t>(k) % nx, row = static_cast<std::int64_t>(k) / nx;
    const int kind = kinds[static_cast<std::size_t>(row % ny / 32)];
    if ((kind == 1 && x > nx / 8) || (kind == 2 && row / ny % nz > nz / 4) || kind == 3) sites[k] = false;
  }
  return sites;
}

/// As check(), of a mask, or of a batch of masks.
void check_sites(const std::vector<bool>& sites, const Shape& shape) {
  Case c{.structure = Structure::sparse};
  c.input = mask_array(sites, shape);
  c.options.batch_axes = shape.rank() - 3;
  c.wanted = {.distance = DType::float32, .nearest = DType::int32};
  check(c);
}

/// Lines of all lengths at which blocks change; of the last 32 rows one, half, one more than half, or all but one; and a
/// batch.
TEST_F(Device, TransposedVolumes) {
  const std::vector<Shape> shapes = {Shape{3, 33, 33},  Shape{9, 31, 12},    Shape{40, 64, 33}, Shape{5, 116, 127},
                                     Shape{6, 49, 129}, Shape{3, 63, 193},   Shape{2, 95, 255}, Shape{3, 128, 257},
                                     Shape{2, 64, 383}, Shape{3, 112, 385},  Shape{2, 63, 511}, Shape{4, 225, 515},
                                     Shape{2, 96, 543}, Shape{3, 32, 545},   Shape{2, 60, 641}, Shape{3, 63, 799},
                                     Shape{2, 60, 500}, Shape{4, 3, 33, 35}, Shape{3, 513, 45}};
  const double shares[] = {1.0, 0.3, 0.02, 1e-3};
  for (const std::int64_t i : some_of(static_cast<int>(shapes.size()) * 4, 17)) {
    Random random(775000 + static_cast<std::uint64_t>(i));
    const Shape& shape = shapes[static_cast<std::size_t>(i / 4)];
    if (element_count(shape) > largest_problem()) continue;
    Case c{.structure = Structure::sparse};
    const bool zero = chance(random, 0.5);
    c.input = mask_array(sites_by_words_along_y(shape, shares[i % 4], random), shape,
                         pick<DType>(random, {DType::uint8, DType::boolean, DType::int8, DType::float32}), zero);
    c.options.sites.rule = zero ? grid::Sites::Rule::zero : grid::Sites::Rule::nonzero;
    c.options.batch_axes = shape.rank() - 3;
    c.wanted = {.distance = DType::float32, .nearest = DType::int32};
    check(c);
    if (HasFatalFailure()) return;
  }
}

/// The same with sites far away along each axis: squares of more than 16 bits lie where results go, also of the last
/// rows, which are fewer than 32 or 16, beside planes that must stay as they are.
TEST_F(Device, FarSitesOfTransposedVolumes) {
  const std::vector<Shape> shapes = {Shape{300, 34, 34},  Shape{260, 49, 36},   Shape{40, 300, 303},
                                     Shape{300, 60, 300}, Shape{1024, 33, 37},  Shape{9, 1024, 500},
                                     Shape{3, 60, 700},   Shape{2, 300, 34, 34}};
  for (const std::int64_t i : some_of(static_cast<int>(shapes.size()) * 6, 16)) {
    const Shape& shape = shapes[static_cast<std::size_t>(i / 6)];
    if (element_count(shape) > largest_problem()) continue;
    const int last = shape.rank() - 1;
    const std::int64_t nz = shape[last - 2], ny = shape[last - 1], nx = shape[last];
    std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t k = 0; k < sites.size(); ++k) {
      const auto x = static_cast<std::int64_t>(k) % nx, y = static_cast<std::int64_t>(k) / nx % ny;
      const std::int64_t z = static_cast<std::int64_t>(k) / nx / ny % nz;
      const bool at[] = {z == 0, x == nx - 1, y == 0, z == nz - 1 && y == 7, x == 2 && z == 1, (x + y + z) % 290 == 3};
      sites[k] = at[i % 6];
    }
    check_sites(sites, shape);
    if (HasFatalFailure()) return;
  }
}

/// Lines along z that are sites throughout, in whole words along y or all but one row: along all of x, each other
/// element, a few, or in a fourth.
TEST_F(Device, FullLinesOfTransposedVolumes) {
  Random random(779000);
  const std::vector<Shape> shapes = {Shape{18, 225, 250}, Shape{17, 60, 515}, Shape{300, 33, 36}, Shape{2, 20, 96, 45},
                                     Shape{17, 60, 555}};
  for (const std::int64_t i : some_of(static_cast<int>(shapes.size()) * 8, 16)) {
    const Shape& shape = shapes[static_cast<std::size_t>(i / 8)];
    const int last = shape.rank() - 1;
    const std::int64_t ny = shape[last - 1], nx = shape[last], end = pick<std::int64_t>(random, {ny, ny - 1, 32});
    auto sites = scatter(shape, i % 8 < 4 ? 0.0 : 1e-3, random);
    for (std::size_t k = 0; k < sites.size(); ++k) {
      const auto x = static_cast<std::int64_t>(k) % nx, y = static_cast<std::int64_t>(k) / nx % ny;
      const bool at[] = {true, x % 2 == 0, x % (nx / 3) == 1, x < nx / 4};
      if (y < end && at[i % 4]) sites[k] = true;
    }
    check_sites(sites, shape);
    if (HasFatalFailure()) return;
  }
}

/// Sites that are as near as others along all axes, near ones and far ones: of lattices, of mirrored points, and of
/// spheres, from whose middle all are as far. The first by its index counts.
TEST_F(Device, TiesOfTransposedVolumes) {
  for (const Shape& shape : {Shape{40, 63, 65}, Shape{200, 95, 211}, Shape{65, 257, 260}, Shape{60, 230, 515}})
    for (int kind = 0; kind < 5 && element_count(shape) <= largest_problem(); ++kind) {
      std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
      const std::int64_t nz = shape[0], ny = shape[1], nx = shape[2];
      for (std::size_t k = 0; k < sites.size(); ++k) {
        const auto i = static_cast<std::int64_t>(k), x = i % nx, y = i / nx % ny, z = i / nx / ny;
        const auto off = [](std::int64_t at, std::int64_t n) { return (2 * at + 1 - n) * (2 * at + 1 - n); };
        const std::int64_t radius = off(x, nx) + off(y, ny) + off(z, nz);
        const bool at[] = {(x + y + z) % 2 == 0, x % 6 + y % 6 + z % 6 == 0, x % 50 + y % 50 + z % 50 == 0,
                           radius > 4 * 31 * 31, (x - y) % 32 == 0 && (x + z) % 40 == 0};
        sites[k] = at[kind];
      }
      Case c{.structure = Structure::sparse};
      c.input = mask_array(sites, shape);
      c.wanted = {.distance = DType::float32, .nearest = DType::int32};
      check(c);
      if (HasFatalFailure()) return;
    }
}

/// Nearest sites along x across gaps about twice as wide as ranges of rows reach, from bands that are alike from both
/// ends, or mirrored along y besides: in the middle two are as near. Some gaps have sites along one edge, about as far
/// away.
TEST_F(Device, TransposedSitesAboutTheReachOfRanges) {
  for (int i = 0; i < scaled(24); ++i) {
    Random random(777000 + static_cast<std::uint64_t>(i));
    const std::int64_t gap = 214 + below(random, 44), band = 9 + below(random, 30), nx = 2 * band + gap;
    const std::int64_t ny = pick<std::int64_t>(random, {64, 127, 128});
    const Shape shape{3 + below(random, 8), ny, nx % 8 == 0 ? nx + 1 : nx};
    if (element_count(shape) > largest_problem()) continue;
    const std::int64_t last = shape[2] - 1;
    const double share = pick<double>(random, {0.02, 0.3, 1.0});
    const auto drawn = scatter(shape, share, random);
    std::vector<bool> sites(drawn.size());
    for (std::size_t k = 0; k < sites.size(); ++k) {
      const auto at = static_cast<std::int64_t>(k), x = at % (last + 1), row = at / (last + 1), y = row % ny;
      const bool is_gap = std::min(x, last - x) >= band;
      if (is_gap) sites[k] = i % 2 == 0 && y == 0;
      if (is_gap) continue;
      const bool is_behind = x > last / 2;
      const std::int64_t of_row = row - y + (is_behind && i % 3 == 0 ? ny - 1 - y : y);
      sites[k] = drawn[static_cast<std::size_t>(of_row * (last + 1) + (is_behind ? last - x : x))];
    }
    Case c{.structure = Structure::sparse};
    c.input = mask_array(sites, shape);
    c.wanted = {.distance = DType::float32, .nearest = DType::int32};
    check(c);
    if (HasFatalFailure()) return;
  }
}

/// Masks and outputs with gaps between rows and planes, at any address; masks that run backwards. Nothing but elements is
/// written.
TEST_F(Device, LayoutsOfTransposedSites) {
  for (int i = 0; i < scaled(20); ++i) {
    Random random(778000 + static_cast<std::uint64_t>(i));
    const Shape shape{2 + below(random, 5), 33 + below(random, 90), 33 + 8 * below(random, 30) + below(random, 7)};
    Case c = case_of(shape, pick<double>(random, {0.3, 0.01, 0.001}));
    if (element_count(shape) > largest_problem() || !is_served(c)) continue;
    SCOPED_TRACE(describe(c));
    const Padded distance(shape, random), nearest(shape, random);
    Padded input(shape, random);
    if (chance(random, 0.5)) input.turn_rows();
    const Block device_input(input.spread(c.input));
    const Array distances = distance.spread(*on_cpu(c).distance), sites = nearest.spread(*on_cpu(c).nearest);
    const Block device_distance(distances.bytes()), device_nearest(sites.bytes());
    grid::DistanceOutputs outputs;
    outputs.distance = distance.view<AnyView>(device_distance, DType::float32);
    outputs.nearest = nearest.view<AnyView>(device_nearest, DType::int32);
    EngineOnDevice(kTransposed, input.view<AnyConstView>(device_input, c.input.dtype()), c.options, outputs).run();
    Array found(DType::float32, distances.shape()), found_sites(DType::int32, sites.shape());
    device_distance.download(found);
    device_nearest.download(found_sites);
    ASSERT_TRUE(equal(distances, found));
    ASSERT_TRUE(equal(sites, found_sites));
  }
}

/// What the engine leaves to others: whole sectors, long lines, and rows that fill few of their words.
TEST_F(Device, TransposedNever) {
  EXPECT_TRUE(is_served(case_of({4, 33, 35})));
  for (const Shape& shape : {Shape{4, 40, 40}, Shape{4, 40, 801}, Shape{4, 33, 63}, Shape{4, 1025, 33}, Shape{40, 33}})
    EXPECT_FALSE(is_served(case_of(shape))) << describe(case_of(shape));
}

/// The same: options that it knows nothing of.
TEST_F(Device, TransposedNeverWith) {
  using Options = grid::DistanceOptions;
  const std::vector<void (*)(Options&)> settings = {
      [](Options& o) {
        o.spacing = {2, 1, 1};
      },
      [](Options& o) {
        o.spacing = {2.5, 2.5, 2.5};
      },
      [](Options& o) { o.signed_distance = true; },
      [](Options& o) { o.metric = grid::Metric::chessboard; },
      [](Options& o) {
        o.border = {grid::Border::open, grid::Border::open, grid::Border::periodic};
      },
      [](Options& o) { o.sites.rule = grid::Sites::Rule::labels; },
      [](Options& o) {
        o.region = {{0, 4}, {0, 32}, {0, 35}};
      },
  };
  for (std::size_t k = 0; k < settings.size(); ++k) {
    Case c = case_of({4, 33, 35});
    settings[k](c.options);
    EXPECT_FALSE(is_served(c)) << "setting " << k;
  }
  for (const Wanted& wanted :
       {Wanted{.distance = DType::float32}, Wanted{.distance = DType::float64}, Wanted{.squared = DType::uint32},
        Wanted{.distance = DType::float32, .nearest = DType::int64},
        Wanted{.distance = DType::float64, .nearest = DType::int32}, Wanted{.nearest = DType::int32}}) {
    Case c = case_of({4, 33, 35});
    c.wanted = wanted;
    EXPECT_FALSE(is_served(c)) << describe(c);
  }
  Case c = case_of({4, 33, 35});
  EXPECT_TRUE(is_served(c));
  c.options.max_distance = 4.5;
  EXPECT_FALSE(is_served(c));
  c.options = {.border = {grid::Border::sites}};
  EXPECT_FALSE(is_served(c));
}

/// What the last word of rows lacks takes half as much where that is half a word.
TEST_F(Device, LeadsOfTransposedVolumesTakeLittleScratch) {
  if (!has_shared_memory()) GTEST_SKIP() << "blocks have too little shared memory";
  Case c = case_of({300, 300, 300});
  const OnDevice device(c);
  const std::size_t bytes = grid::scratch_bytes(device.input_view, device.options, device.outputs);
  EXPECT_LE(static_cast<double>(bytes), 2.3 * static_cast<double>(element_count(c.input.shape())));
}

/// Volumes with nearest sites from 2²² voxels on are. As they are, words hold 192 columns of 165.
TEST_F(Device, SitesTransposedByTheCall) {
  if (!has_shared_memory()) GTEST_SKIP() << "blocks have too little shared memory";
  for (const Shape& shape : {Shape{159, 160, 165}, Shape{158, 160, 165}})
    for (const bool with_sites : {true, false}) {
      Case c = case_of(shape);
      if (!with_sites) c.wanted.nearest = {};
      OnDevice device(c);
      const std::size_t bytes = grid::scratch_bytes(device.input_view, device.options, device.outputs);
      const double per_voxel = static_cast<double>(bytes) / static_cast<double>(element_count(shape));
      EXPECT_EQ(per_voxel < 2.3, with_sites && element_count(shape) >= (1 << 22)) << describe(c) << ": " << per_voxel;
      if (element_count(shape) > largest_problem()) continue;
      device.run();
      must(cudaDeviceSynchronize());
      ASSERT_TRUE(equal(on_cpu(c), device.results())) << describe(c);
    }
}

}  // namespace
}  // namespace fathom::test
