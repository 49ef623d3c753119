// The CUDA backend through the call for host arrays: the same bytes as the CPU and the brute force, whatever the
// options.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <thread>

#include "cases.h"
#include "fathom/core/device.h"
#include "oracle.h"
#include "run.h"

namespace fathom::test {
namespace {

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
SizeLimit size_limit;  ///< of the test that runs

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

Results run_on(Backend backend, const Case& c) {
  grid::DistanceOptions options = c.options;
  options.execution.backend = backend;
  return run(c.input.view(), options, c.wanted);
}

/// The CPU's bytes, from a device that says its name.
void check_against_cpu(const Case& c) {
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

/// Nearest sites of a volume. @param cut  how often not all of its columns are asked for
Case nearest_in_volume(const std::vector<bool>& sites, const Shape& shape, double cut, Random& random) {
  Case c{.structure = Structure::sparse};
  c.input = mask_array(sites, shape);
  c.wanted = {.distance = DType::float32, .nearest = pick<DType>(random, {DType::int32, DType::int64})};
  if (chance(random, cut)) c.options.region = {{0, shape[0]}, {0, shape[1]}, {0, shape[2] - 3}};
  return c;
}

/// Distances, squares and a signed field, which the case is left with.
void check_squares_and_sign(Case& c) {
  c.wanted = {.distance = DType::float32};
  check_against_cpu(c);
  c.wanted = {.squared = DType::uint32};
  check_against_cpu(c);
  c.wanted = {.distance = DType::float32};
  c.options.signed_distance = true;
  check_against_cpu(c);
}

void check_random(std::uint64_t first_seed, int count, std::int64_t most_elements, bool oracle) {
  std::uint64_t first = first_seed;
  int cases = scaled(count);
  if (const auto seed = seed_to_replay()) first = *seed, cases = 1;
  for (int i = 0; i < cases; ++i) {
    const Case c = random_case(first + static_cast<std::uint64_t>(i), most_elements);
    check_against_cpu(c);
    if (oracle) {
      SCOPED_TRACE(describe(c));
      ASSERT_TRUE(matches(Oracle(c.input.view(), c.options), run_on(Backend::cuda, c)));
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST_F(Cuda, TinyProblems) { check_random(1, 3000, 40, true); }
TEST_F(Cuda, SmallProblems) { check_random(100000, 2500, 300, true); }
TEST_F(Cuda, MediumProblems) { check_random(200000, 500, 1500, true); }
TEST_F(Cuda, LargeProblems) { check_random(600000, 400, 200000, false); }

/// Masks as most people have them, in shapes that no tile fits.
TEST_F(Cuda, PlainShapes) {
  std::uint64_t seed = 700000;
  OneOf some(3);
  for (const Shape& shape :
       {Shape{1000, 1777},   Shape{3, 40000},     Shape{40000, 3},     Shape{1, 5000},      Shape{5000, 1},
        Shape{1024, 1024},   Shape{31, 33},       Shape{32, 32},       Shape{33, 511},      Shape{64, 513},
        Shape{65, 1025},     Shape{997, 1009},    Shape{2048, 96},     Shape{1999, 2222},   Shape{2, 2},
        Shape{1, 1},         Shape{61, 53, 47},   Shape{32, 64, 96},   Shape{33, 65, 129},  Shape{128, 128, 128},
        Shape{7, 300, 301},  Shape{300, 7, 301},  Shape{301, 300, 7},  Shape{100, 1, 2000}, Shape{1, 700, 700},
        Shape{1100, 40, 40}, Shape{40, 1100, 40}, Shape{40, 40, 1100}, Shape{1024, 40, 33}, Shape{40, 1024, 33},
        Shape{33, 40, 1024},  // the longest axes of the engine for volumes
        Shape{641, 9, 70},   Shape{1023, 31, 5},  Shape{1025, 9, 33}}) {
    if (!size_limit.takes(shape)) continue;
    for (int s = 0; s < kStructures; ++s)
      for (bool sparse : {false, true}) {
        Random random(++seed);
        if (!some.is_next()) continue;
        Case c{.seed = seed, .structure = static_cast<Structure>(s)};
        auto sites = make_sites(c.structure, shape, random);
        if (sparse) sites = scatter(shape, pick<double>(random, {0.5, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4}), random);
        c.input = mask_array(sites, shape, pick<DType>(random, {DType::uint8, DType::boolean, DType::float32}),
                             chance(random, 0.5));
        c.options.sites.rule = chance(random, 0.5) ? grid::Sites::Rule::zero : grid::Sites::Rule::nonzero;
        c.wanted.distance = chance(random, 0.8) ? DType::float32 : DType::float64;
        if (chance(random, 0.3)) c.wanted.squared = DType::uint32;
        if (chance(random, 0.1)) c.options.border = {grid::Border::sites};
        if (chance(random, 0.1)) c.options.max_distance = 10;
        if (chance(random, 0.1)) c.wanted.squared.reset(), c.options.spacing = {0.3};
        if (chance(random, 0.3)) c.wanted.nearest = pick<DType>(random, {DType::int32, DType::int64});
        if (chance(random, 0.1)) c.wanted.coordinates = DType::int32;
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
  }
}

/// A mask of bytes with rows of nx elements, or three of them in a batch, whose distances are wanted.
Case volume_of_bytes(std::int64_t nx, Random& random) {
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

/// Volumes of bytes whose rows begin at multiples of sixteen: several rows are packed at once.
TEST_F(Cuda, ShortRowsOfVolumes) {
  Random random(760000);
  for (std::int64_t nx : {16, 32, 48, 112, 128, 144, 240, 256, 272, 480, 496, 512, 528})
    for (int i = 0; i < scaled(5); ++i) {
      Case c = volume_of_bytes(nx, random);
      c.options.signed_distance = chance(random, 0.3);
      if (chance(random, 0.3)) c.options.spacing = {2, 1, 3}, c.options.surface = grid::Surface::centers;
      check_against_cpu(c);
      c.input = label_input(DType::uint8, c.input.shape(), random);
      c.options.sites.rule = grid::Sites::Rule::labels;
      if (chance(random, 0.3)) c.wanted.nearest = DType::int32;
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Volumes of bytes whose rows begin anywhere, up to the lengths at which they are packed in another way.
TEST_F(Cuda, LooseRowsOfVolumes) {
  Random random(765000);
  for (std::int64_t nx : {1,   17,  31,  33,  100, 225, 227, 241, 242, 243, 353, 355,  369,  370, 371,
                          497, 498, 513, 515, 544, 609, 625, 626, 627, 639, 700, 1009, 1010, 1023})
    for (int i = 0; i < scaled(5); ++i) {
      Case c = volume_of_bytes(nx, random);
      check_against_cpu(c);
      c.options.signed_distance = true;
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Lines of the lengths at which the blocks that search them change, in volumes whose rows of results begin with sectors
/// of memory, at pairs of floats or anywhere: near sites, with gaps in which they are far, at the beginning of lines
/// alone or everywhere.
TEST_F(Cuda, BlocksOfVolumes) {
  const std::int64_t lengths[] = {224, 225, 256, 257, 288, 289, 320, 321, 384,
                                  385, 448, 512, 513, 576, 577, 640, 641, 1024};
  const std::int64_t widths[] = {40, 68, 37, 8, 9};  // the last for the sanitizers, which take small volumes alone
  const std::vector<std::vector<double>> spacings = {{1, 1, 1}, {3, 1, 1}, {1.25, 0.7421, 0.7421}};
  for (const std::int64_t i : some_of(static_cast<int>(std::size(lengths)) * 10, 54)) {
    Random random(771000 + static_cast<std::uint64_t>(i));
    const std::int64_t length = lengths[i / 10], width = widths[i % 5], across = width < 32 ? 2 : 5;
    const bool is_along_z = i / 5 % 2 == 0, has_end = chance(random, 0.5);
    const Shape shape = is_along_z ? Shape{length, across, width} : Shape{across, length, width};
    if (element_count(shape) > largest_problem()) continue;
    auto sites = scatter(shape, pick<double>(random, {1.0, 0.3, 0.01}), random);
    const std::int64_t end = below(random, length) + 1, last_column = below(random, width) + 1;
    const std::int64_t gap = below(random, length), gap_end = gap + 40 + below(random, 100);
    for (std::size_t k = 0; k < sites.size(); ++k) {
      const auto x = static_cast<std::int64_t>(k) % width, row = static_cast<std::int64_t>(k) / width;
      const std::int64_t along = is_along_z ? row / across : row % length;
      const bool is_behind = has_end && (along >= end || x >= last_column);
      if (is_behind || (along >= gap && along < gap_end)) sites[k] = false;
    }
    Case c{.structure = Structure::sparse};
    c.input = mask_array(sites, shape);
    for (const std::vector<double>& spacing : spacings) {
      c.options.spacing = spacing;
      c.wanted = {.distance = DType::float32};
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
    c.options.spacing = {};
    for (const Wanted& wanted :
         {Wanted{.squared = DType::uint32}, {.distance = DType::float32, .nearest = DType::int32}}) {
      c.wanted = wanted;
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
  }
}

/// Volumes whose rows of distances begin inside sectors of memory: of tiles that lie side by side, and write to the same
/// sectors, some have sites near, others far ones or none, which are left to the envelope.
TEST_F(Cuda, TilesSideBySideInVolumes) {
  Random random(770000);
  for (const Shape& shape :
       {Shape{3, 200, 97}, Shape{5, 300, 259}, Shape{2, 700, 130}, Shape{2, 1030, 67}, Shape{9, 60, 515},
        Shape{40, 33, 284}, Shape{300, 70, 75}, Shape{3, 257, 36}, Shape{2, 90, 1000}, Shape{3, 2, 100, 75}})
    for (int i = 0; i < scaled(12); ++i) {
      const std::int64_t ny = shape[shape.rank() - 2], nx = shape[shape.rank() - 1], even = chance(random, 0.3) ? 2 : 1;
      auto sites = scatter(shape, pick<double>(random, {1.0, 0.3, 0.02}), random);
      std::vector<int> kinds(static_cast<std::size_t>(nx / 32 + 1));
      for (int& kind : kinds) kind = static_cast<int>(below(random, 4));
      const std::int64_t hole = below(random, ny);
      for (std::size_t k = 0; k < sites.size(); ++k) {
        const auto x = static_cast<std::int64_t>(k) % nx, y = static_cast<std::int64_t>(k) / nx % ny;
        const int kind = kinds[static_cast<std::size_t>(x / 32 / even)];
        if (kind == 2 && y >= ny / 8) sites[k] = false;
        if (kind == 3 || (i % 4 == 3 && y > hole)) sites[k] = false;
      }
      Case c{.structure = Structure::sparse};
      c.input = mask_array(sites, shape);
      c.options.batch_axes = shape.rank() - 3;
      c.wanted = {.distance = DType::float32};
      check_against_cpu(c);
      if (i % 4 > 1) c.wanted.nearest = DType::int32, check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Volumes with an axis beyond those whose indices fit the keys of an envelope, with what may be asked for of them.
TEST_F(Cuda, LongVolumes) {
  std::uint64_t seed = 750000;
  for (const Shape& shape : {Shape{5, 30, 2048}, Shape{30, 5, 1025}, Shape{2048, 5, 40}, Shape{33, 2048, 7},
                             Shape{1500, 33, 70}, Shape{3, 1300, 1400}, Shape{40, 9, 2049}, Shape{3, 5, 2047},
                             Shape{3, 4, 1023}, Shape{2, 4, 511}, Shape{513, 4, 2048}, Shape{2, 257, 2047}})
    for (int i = 0; i < scaled(4 * kStructures); ++i) {
      Random random(++seed);
      Case c{.seed = seed, .structure = static_cast<Structure>(i % kStructures)};
      auto sites = make_sites(c.structure, shape, random);
      if (c.structure == Structure::none) sites = scatter(shape, pick<double>(random, {1e-2, 1e-3, 1e-4}), random);
      c.input = mask_array(sites, shape, pick<DType>(random, {DType::uint8, DType::float32}), chance(random, 0.3));
      c.wanted.distance = DType::float32;
      switch (below(random, 6)) {
        case 0: c.wanted.nearest = pick<DType>(random, {DType::int32, DType::int64}); break;
        case 1: c.wanted.squared = DType::uint32; break;
        case 2:
          c.options.signed_distance = true;
          if (chance(random, 0.5)) break;
          c.options.spacing = {pick<double>(random, {2, 3}), 1, pick<double>(random, {1, 5})};
          c.options.surface = grid::Surface::centers;
          break;
        case 3:
          c.options.spacing = {pick<double>(random, {2, 3, 9}), 1, pick<double>(random, {1, 5})};
          if (chance(random, 0.5)) c.wanted.nearest = DType::int32;
          break;
        default: break;
      }
      if (chance(random, 0.2)) c.options.border = {grid::Border::sites};
      if (chance(random, 0.2)) c.options.max_distance = pick<double>(random, {10, 1100});
      if (chance(random, 0.2)) c.options.region = {{1, 2}, {0, 4}, {3, 7}};
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Of lines along y and z all rows are about as far from sites, so that most of them are candidates, but two are near
/// to some: where the nearest changes from one of these to the other, hundreds of candidates lie between. Lines end
/// about where keys change their form.
TEST_F(Cuda, FarRowsOfLongLines) {
  const std::vector<std::array<std::int64_t, 2>> lines_and_widths = {
      {1024, 1025}, {1025, 1024}, {1025, 261}, {1472, 261}, {2047, 261}, {2048, 261},
      {2049, 261},  {256, 1030},  {257, 1030}, {512, 1030}, {513, 1030}, {640, 1030}};
  for (const std::int64_t i : some_of(static_cast<int>(lines_and_widths.size()) * 4, 8)) {
    const auto [length, width] = lines_and_widths[static_cast<std::size_t>(i / 4)];
    const bool is_along_z = i / 2 % 2 == 1, is_level = i % 2 == 0;
    const Shape shape = is_along_z ? Shape{length, 2, width} : Shape{2, length, width};
    std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
    const auto put = [&, width = width](std::int64_t row, std::int64_t x) {
      sites[static_cast<std::size_t>((is_along_z ? 2 * row : row) * width + x)] = true;
    };
    for (std::int64_t row = 0; row < length; ++row) put(row, is_level ? 0 : row * row % 29);
    const std::int64_t apart = std::min<std::int64_t>(200, length / 2 - 1);
    put(length / 2 - apart, width - 1);
    put(length / 2 + apart, width - 1);
    Case c{.structure = Structure::plane};
    c.input = mask_array(sites, shape);
    for (const Wanted& wanted : {Wanted{.distance = DType::float32}, {.squared = DType::uint32}}) {
      c.wanted = wanted;
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
  }
}

/// Lines beyond 1024 elements along y and z, and shorter ones beside a row as long, all of whose rows are as far from a
/// site; or all but the first, the last, or some from one on, where threads begin.
TEST_F(Cuda, ConstantLongLines) {
  const std::pair<std::int64_t, std::int64_t> lines_and_widths[] = {{1025, 261}, {2017, 261}, {2047, 300},
                                                                    {2048, 261}, {513, 1030}, {257, 1025}};
  OneOf some(7);
  for (const auto& [length, width] : lines_and_widths)
    for (const bool is_along_z : {false, true})
      for (const auto& [first, end] : {std::pair<std::int64_t, std::int64_t>{0, 0},
                                       {0, 1},
                                       {length - 1, length},
                                       {length / 2, length / 2 + 1},
                                       {length / 64 * 32, length}}) {
        if (!some.is_next()) continue;
        const Shape shape = is_along_z ? Shape{length, 2, width} : Shape{2, length, width};
        std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
        for (std::int64_t row = 0; row < length; ++row) {
          const std::int64_t x = row >= first && row < end ? 1 : 0;
          sites[static_cast<std::size_t>((is_along_z ? 2 * row : row) * width + x)] = true;
        }
        Case c{.structure = Structure::plane};
        c.input = mask_array(sites, shape);
        check_squares_and_sign(c);
        if (HasFatalFailure()) return;
      }
}

/// Lines of few rows along y or z, whose sites are far, near in other rows, or fill some, of one volume or three: up to
/// the lengths at which all rows are tried, always or where sites are far, and one more.
TEST_F(Cuda, FarSitesOfShortLines) {
  Random random(751000);
  for (std::int64_t length : {1, 5, 7, 8, 9, 15, 16, 17, 24, 25, 31, 32, 33})
    for (const bool is_along_z : {false, true})
      for (int i = 0; i < scaled(6); ++i) {
        const std::int64_t other = below(random, 40) + 1, nx = pick<std::int64_t>(random, {261, 400, 515, 1030, 1500});
        const std::int64_t items = i % 2 == 0 ? 3 : 1;
        const Shape shape = is_along_z ? Shape{items, length, other, nx} : Shape{items, other, length, nx};
        std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
        const int kinds = i % 3 == 0 ? 1 : 4;  // of rows: with a far site, none, one anywhere, a run of them
        for (std::int64_t row = 0; row < items * length * other; ++row) {
          const auto begin = static_cast<std::size_t>(row * nx);
          switch (below(random, kinds)) {
            case 0: sites[begin + static_cast<std::size_t>(below(random, 40))] = true; break;
            case 2: sites[begin + static_cast<std::size_t>(below(random, nx))] = true; break;
            case 3: std::fill_n(sites.begin() + static_cast<std::ptrdiff_t>(begin) + 96, 100, true); break;
            default: break;
          }
        }
        Case c{.structure = Structure::sparse};
        c.input = mask_array(sites, shape);
        c.options.sites.rule = chance(random, 0.5) ? grid::Sites::Rule::zero : grid::Sites::Rule::nonzero;
        c.options.batch_axes = 1;
        check_squares_and_sign(c);
        if (HasFatalFailure()) return;
      }
}

/// Sites of volumes in few rows along y, near and far along z; in some tiles in all rows, but around a hole.
TEST_F(Cuda, FewRowsOfVolumes) {
  Random random(900000);
  for (const Shape& shape : {Shape{130, 48, 515}, Shape{65, 300, 96}, Shape{200, 9, 66}, Shape{300, 4, 40}})
    for (int kind = 0; kind < 4; ++kind) {
      const std::int64_t ny = shape[1], nx = shape[2];
      auto sites = scatter(shape, kind % 2 == 0 ? 0.05 : 1e-3, random);
      for (std::size_t i = 0; i < sites.size(); ++i) {
        const auto x = static_cast<std::int64_t>(i) % nx, y = static_cast<std::int64_t>(i) / nx % ny;
        const bool is_hole = y >= ny / 3 && x >= nx / 8 && x < nx / 2, is_row = y % (ny / 2) == 1;
        if (kind < 2 ? is_hole : !is_row) sites[i] = false;
      }
      Case c{.structure = Structure::sparse};
      c.input = mask_array(sites, shape);
      c.wanted = {.distance = DType::float32};
      check_against_cpu(c);
      c.wanted.squared = DType::uint32;
      check_against_cpu(c);
      c.wanted = {.distance = DType::float32, .nearest = DType::int32};
      check_against_cpu(c);
      c.wanted.coordinates = DType::int64;
      check_against_cpu(c);
      c.wanted = {.distance = DType::float32};
      c.options.signed_distance = true;
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Lines along z that are sites throughout, in words of which they fill all or not, the last ones with up to 8, 16 or
/// more columns: in all rows along y, in each other one, in all but a wide gap, or in three; the others have few sites,
/// or none.
TEST_F(Cuda, FullLinesOfVolumes) {
  Random random(907000);
  const std::vector<Shape> shapes = {Shape{40, 70, 33},  Shape{20, 300, 72}, Shape{300, 9, 41},   Shape{64, 130, 96},
                                     Shape{17, 520, 48}, Shape{40, 32, 130}, Shape{1040, 40, 33}, Shape{17, 1040, 24}};
  for (const std::int64_t i : some_of(static_cast<int>(shapes.size()) * 8, 20)) {
    const Shape& shape = shapes[static_cast<std::size_t>(i / 8)];
    const std::int64_t ny = shape[1], nx = shape[2], begin = pick<std::int64_t>(random, {0, 0, 16, 5});
    const std::int64_t end = pick<std::int64_t>(random, {nx, nx, 32, nx - 1}), gap = below(random, ny / 3);
    auto sites = scatter(shape, i % 8 < 4 ? 0.0 : 1e-3, random);
    for (std::size_t k = 0; k < sites.size(); ++k) {
      const auto x = static_cast<std::int64_t>(k) % nx, y = static_cast<std::int64_t>(k) / nx % ny;
      const bool in_row[] = {true, y % 2 == 0, y < gap || y >= gap + ny * 2 / 3, y % (ny / 3) == 1};
      if (x >= begin && x < end && in_row[i % 4]) sites[k] = true;
    }
    Case c{.structure = Structure::sparse};
    c.input = mask_array(sites, shape);
    check_squares_and_sign(c);
    c.options.signed_distance = false;
    c.wanted.nearest = DType::int32;
    check_against_cpu(c);
    c.wanted.coordinates = DType::int64;
    check_against_cpu(c);
    if (HasFatalFailure()) return;
  }
}

/// The same with unequal spacings, in a unit or in none: lines that are sites throughout along z in some rows along y, or
/// along y in some planes, between which others have no site or few; rows far from all of these, and few rows in all.
TEST_F(Cuda, FullLinesWithSpacings) {
  Random random(911000);
  const std::vector<Shape> shapes = {Shape{40, 70, 33},    Shape{70, 40, 48}, Shape{20, 300, 40}, Shape{300, 20, 41},
                                     Shape{3, 300, 40},    Shape{30, 3, 70},  Shape{9, 660, 33},  Shape{660, 9, 20},
                                     Shape{2, 20, 30, 40}, Shape{12, 40, 40}, Shape{40, 12, 40},  Shape{6, 530, 35},
                                     Shape{530, 6, 35},    Shape{20, 9, 131}, Shape{3, 9, 14, 37}};
  const std::vector<std::vector<double>> spacings = {{3, 1, 1}, {2.5, 1.25, 0.7}, {1.25, 0.742188, 0.742188}};
  for (const std::int64_t i : some_of(static_cast<int>(shapes.size()) * 30, 20)) {
    const Shape& shape = shapes[static_cast<std::size_t>(i / 30)];
    const int last = shape.rank() - 1;
    const std::int64_t nz = shape[last - 2], ny = shape[last - 1], nx = shape[last], rows = i % 2 == 0 ? ny : nz;
    const std::int64_t begin = pick<std::int64_t>(random, {0, 0, 16, 5}), gap = below(random, rows / 3 + 1);
    const std::int64_t end = pick<std::int64_t>(random, {nx, nx, 32, nx - 1});
    auto sites = scatter(shape, chance(random, 0.5) ? 0.0 : 1e-3, random);
    for (std::size_t k = 0; k < sites.size(); ++k) {
      const auto x = static_cast<std::int64_t>(k) % nx, line = static_cast<std::int64_t>(k) / nx;
      const std::int64_t row = i % 2 == 0 ? line % ny : line / ny % nz;
      const bool in_row[] = {row % 8 == 0 && row < 40, true, row % 2 == 0, row < gap || row >= gap + rows * 2 / 3,
                             row == rows / 2};
      if (x >= begin && x < end && in_row[i / 2 % 5]) sites[k] = true;
    }
    Case c{.structure = Structure::sparse};
    c.input = mask_array(sites, shape);
    c.options.spacing = spacings[static_cast<std::size_t>(i / 10 % 3)];
    c.options.batch_axes = last - 2;
    for (const Wanted wanted : {Wanted{.distance = DType::float32}, Wanted{.squared = DType::float64}}) {
      c.wanted = wanted;
      check_against_cpu(c);
    }
    c.wanted = {.distance = DType::float32};
    if (nx > 32) {
      c.options.region = {{0, nz}, {0, ny}, {32, nx}};
      check_against_cpu(c);
      c.options.region = {};
    }
    c.options.border = {grid::Border::sites};
    check_against_cpu(c);
    c.options.border = {};
    c.options.signed_distance = true;
    c.options.surface = grid::Surface::centers;
    check_against_cpu(c);
    if (HasFatalFailure()) return;
  }
}

/// Nearest of few sites in volumes: a tile's are in one row along y or in up to six of them, and many are as near.
TEST_F(Cuda, NearestOfFewSitesInVolumes) {
  std::uint64_t seed = 1510000;
  for (const Shape& shape :
       {Shape{61, 53, 47}, Shape{40, 200, 100}, Shape{130, 66, 33}, Shape{5, 1024, 20}, Shape{300, 7, 130}})
    for (int i = 0; i < scaled(30); ++i) {
      Random random(++seed);
      std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
      const std::int64_t apart = pick<std::int64_t>(random, {2, 6, 40});
      for (int k = 1 + i % 6; k > 0; --k) {
        std::int64_t place = 0;
        for (std::int64_t extent : shape) {
          const std::int64_t step = std::min(apart, extent - 1);
          place = place * extent + extent / 4 + below(random, (extent - 1 - extent / 4) / step + 1) * step;
        }
        sites[static_cast<std::size_t>(place)] = true;
      }
      Case c{.seed = seed, .structure = Structure::sparse};
      c.input = mask_array(sites, shape);
      c.wanted = {.distance = DType::float32, .nearest = pick<DType>(random, {DType::int32, DType::int64})};
      if (chance(random, 0.3)) c.wanted.distance.reset();
      if (chance(random, 0.3)) c.options.max_distance = 30;
      if (chance(random, 0.3)) c.options.spacing = {3, 1, 1};
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Volumes whose sites are far along z: in all rows less than 181 away, which 16 bits hold, or only in some, by rows or
/// in one half of a tile; beside rows where sites are near, and with and without a site on the way along y.
TEST_F(Cuda, FarSitesOfVolumesInBothWidths) {
  Random random(910000);
  int next = 0;
  for (const Shape& shape : {Shape{420, 70, 70}, Shape{230, 300, 40}, Shape{90, 530, 33}, Shape{700, 40, 48},
                             Shape{1500, 20, 40}, Shape{130, 1100, 18}})
    for (int i = 0; i < scaled(5); ++i) {
      const std::int64_t nz = shape[0], ny = shape[1], nx = shape[2];
      const int kind = next++ % 5;
      auto sites = scatter(shape, kind < 2 ? 2e-4 : 2e-3, random);
      if (kind == 4) sites = scatter(shape, 0.05, random);
      for (std::size_t k = 0; k < sites.size(); ++k) {
        const auto x = static_cast<std::int64_t>(k) % nx, y = static_cast<std::int64_t>(k) / nx % ny;
        const std::int64_t z = static_cast<std::int64_t>(k) / nx / ny;
        if (kind == 1 && z >= nz / 3) sites[k] = false;
        if (kind == 2 && (z >= nz / 8 || x >= 20)) sites[k] = false;
        if (kind == 3) sites[k] = z * ny / nz == y && x % 16 == 3;
        if (kind == 4 && y % 64 >= 20) sites[k] = z == y / 2 && x == y % nx;
      }
      Case c{.structure = Structure::sparse};
      c.input = mask_array(sites, shape);
      check_squares_and_sign(c);
      if (HasFatalFailure()) return;
    }
}

/// Results of 64 bits, in each of which a square of 32 lies between the passes, where 16 bits do not hold it: in all
/// tiles, those of few rows, in one half, or far from a plane on a slant.
TEST_F(Cuda, SquaresBetweenPassesInResultsOf64Bits) {
  Random random(920000);
  const std::vector<Wanted> all_wanted{{.distance = DType::float64},
                                       {.squared = DType::uint64},
                                       {.squared = DType::float64},
                                       {.distance = DType::float64, .squared = DType::float64},
                                       {.distance = DType::float64, .squared = DType::uint32},
                                       {.distance = DType::float32, .squared = DType::uint64}};
  OneOf some(7);
  int next = 0;
  for (const Shape& shape : {Shape{420, 9, 70}, Shape{230, 33, 33}, Shape{33, 230, 34}, Shape{300, 17, 48},
                             Shape{420, 70, 70}, Shape{1100, 20, 40}})
    for (int kind = 0; kind < 4; ++kind)
      for (const Wanted& wanted : all_wanted) {
        const int option = next++ % 5;
        if (!some.is_next() || !size_limit.takes(shape)) continue;
        const std::int64_t nz = shape[0], ny = shape[1], nx = shape[2];
        auto sites = scatter(shape, kind == 0 ? 2e-4 : kind == 3 ? 0 : 2e-3, random);
        for (std::size_t k = 0; k < sites.size(); ++k) {
          const auto x = static_cast<std::int64_t>(k) % nx, y = static_cast<std::int64_t>(k) / nx % ny;
          const std::int64_t z = static_cast<std::int64_t>(k) / nx / ny;
          if (kind == 1 && (z >= nz / 8 || x >= 20)) sites[k] = false;
          if (kind == 2) sites[k] = z * ny / nz == y && x % 16 == 3;
          if (kind == 3) sites[k] = z + y < 2 && x == 1;
        }
        Case c{.structure = Structure::sparse};
        c.input = mask_array(sites, shape);
        c.wanted = wanted;
        if (option == 1) c.options.sites.rule = grid::Sites::Rule::labels;
        if (option == 2) c.options.region = {{0, nz}, {0, ny}, {32, nx}};
        if (option == 3) c.options.border = {grid::Border::open, grid::Border::open, grid::Border::sites};
        if (option == 4) c.options.spacing = {3, 1, 1};
        if (option == 4 && wanted.squared) c.wanted.squared = DType::float64;
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
}

/// Volumes whose lines meet sites in stretches, with gaps between them that searches pass over: balls; planes, as far
/// apart as a search reaches, or not quite, for distances or for nearest sites; and planes of which some hold a single
/// site, that is farther than 16 bits hold along z, though others are near along y.
TEST_F(Cuda, GapsInLinesOfVolumes) {
  Random random(920000);
  int next = 0;
  for (const Shape& shape : {Shape{380, 60, 50}, Shape{60, 380, 50}, Shape{730, 20, 33}, Shape{20, 730, 33},
                             Shape{1100, 16, 40}, Shape{16, 1100, 40}, Shape{250, 140, 18}})
    for (int i = 0; i < scaled(10); ++i) {
      const std::int64_t ny = shape[1], nx = shape[2];
      const int kind = next++ % 5;
      const std::int64_t reach = chance(random, 0.4) ? 232 : 344;
      const std::int64_t gap = kind < 2 ? 20 + below(random, 110) : reach + below(random, 14);
      const std::int64_t radius = gap / (3 + below(random, 3)), first = below(random, 30), column = below(random, nx);
      auto sites = scatter(shape, kind == 4 ? 0.02 : 0, random);
      for (std::size_t k = 0; k < sites.size(); ++k) {
        const auto x = static_cast<std::int64_t>(k) % nx, y = static_cast<std::int64_t>(k) / nx % ny;
        const std::int64_t z = static_cast<std::int64_t>(k) / nx / ny;
        const std::int64_t dz = z % gap - gap / 2, dy = y % gap - gap / 2, dx = x % gap - gap / 2;
        if (kind == 0) sites[k] = dz * dz + dy * dy + dx * dx < radius * radius;
        if (kind == 1) sites[k] = dz * dz + dy * dy < radius * radius / 4 && x % 7 == 0;
        if (kind == 2) sites[k] = z % gap == first && (x == column || y % 9 == 4);
        if (kind == 3) sites[k] = y % gap == first && (x == column || z % 9 == 4);
        if (kind == 4 && y % 40 == 17) sites[k] = z == first && x == column;
      }
      Case c{.structure = Structure::sparse};
      c.input = mask_array(sites, shape);
      c.wanted = {.distance = DType::float32};
      check_against_cpu(c);
      c.wanted = {.squared = DType::uint32};
      check_against_cpu(c);
      c.wanted = {.distance = DType::float32, .nearest = DType::int32};
      check_against_cpu(c);
      c.wanted = {.distance = DType::float32};
      c.options.sites.rule = grid::Sites::Rule::labels;
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Columns of sites along z that are left out in stretches, so that rows of a tile have no site near along x, or just
/// one: stretches about as long and as many as tell that a search would be long. Along y, where sites lie in bands, rows
/// are as far apart. Lines are of all the lengths at which blocks of threads and anchors change.
TEST_F(Cuda, FarStretchesOfVolumes) {
  const std::vector<Shape> shapes = {Shape{512, 15, 140}, Shape{385, 20, 140}, Shape{384, 20, 140}, Shape{640, 12, 140},
                                     Shape{641, 12, 140}, Shape{1024, 9, 140}, Shape{1500, 6, 140}, Shape{128, 90, 215},
                                     Shape{129, 90, 215}, Shape{400, 512, 9},  Shape{300, 640, 7},  Shape{64, 128, 60},
                                     Shape{513, 65, 66}};
  for (const std::int64_t i : some_of(static_cast<int>(shapes.size()) * 6, 10)) {
    Random random(950000 + static_cast<std::uint64_t>(i));
    const Shape& shape = shapes[static_cast<std::size_t>(i / 6)];
    const std::int64_t ny = shape[1], nx = shape[2], length = 20 * (2 + i % 9) + below(random, 3) - 1;
    const std::int64_t first = below(random, shape[0]), times = 2 + below(random, 5);
    const std::int64_t column = pick<std::int64_t>(random, {0, nx / 2, nx - 1}), band = 1 + i % 3 * 70;
    std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t k = 0; k < sites.size(); ++k) {
      const auto x = static_cast<std::int64_t>(k) % nx, y = static_cast<std::int64_t>(k) / nx % ny;
      const std::int64_t z = static_cast<std::int64_t>(k) / nx / ny;
      sites[k] = x == column && (z + first) % (length * times) >= length && y / band % 2 == 0;
    }
    Case c{.structure = Structure::sparse};
    c.input = mask_array(sites, shape);
    check_squares_and_sign(c);
    c.options.signed_distance = false;
    c.wanted = {.distance = DType::float32, .nearest = DType::int32};
    check_against_cpu(c);
    if (HasFatalFailure()) return;
  }
}

/// Sites of volumes in few planes along z, of which lines meet one, up to four, some or many: near and far
/// along all axes.
TEST_F(Cuda, FewPlanesOfVolumes) {
  Random random(930000);
  std::size_t next = 0;
  for (const Shape& shape : {Shape{300, 40, 70}, Shape{700, 20, 33}, Shape{130, 48, 515}, Shape{1500, 6, 40},
                             Shape{60, 300, 31}, Shape{9, 70, 200}, Shape{513, 33, 96}})
    for (int i = 0; i < scaled(12); ++i) {
      const std::int64_t nz = shape[0], plane = shape[1] * shape[2];
      const std::int64_t counts[] = {1, 2, 3, 4, 5, nz / 16 + 6, nz / 5, nz / 4, nz / 4 + 1, nz / 3};
      const std::int64_t planes = counts[next++ % std::size(counts)];
      const auto in_planes = scatter(shape, pick<double>(random, {1.0, 0.3, 0.01, 1e-3}), random);
      std::vector<bool> sites(in_planes.size());
      for (std::int64_t k = 0; k < planes; ++k) {
        const std::int64_t first = below(random, nz) * plane;
        for (std::int64_t at = first; at < first + plane; ++at)
          sites[static_cast<std::size_t>(at)] = in_planes[static_cast<std::size_t>(at)];
      }
      Case c{.structure = Structure::sparse};
      c.input = mask_array(sites, shape);
      if (i % 4 == 3) c.options.region = {{0, nz}, {1, shape[1]}, {5, shape[2] - 3}};
      check_squares_and_sign(c);
      if (HasFatalFailure()) return;
    }
}

/// Rows along z that have a site at one end of x, many together and others apart: where those are farther along x than
/// 16 bits hold, all of them are tried in vain, and tiles are given up.
TEST_F(Cuda, SparseRowsThatAreGivenUp) {
  for (const Shape& shape : {Shape{1000, 3, 600}, Shape{500, 5, 300}, Shape{200, 2, 400}}) {
    const std::int64_t nz = shape[0], plane = shape[1] * shape[2], nx = shape[2];
    std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t k = 0; k < sites.size(); ++k) {
      const auto at = static_cast<std::int64_t>(k), z = at / plane;
      sites[k] = at % nx == 0 && (z % 8 == 0 || (z > nz / 3 && z < nz / 3 + 120));
    }
    Case c{.structure = Structure::sparse};
    c.input = mask_array(sites, shape);
    check_squares_and_sign(c);
  }
}

/// A row with a site one step farther away than 16 bits hold, and one straight behind, much farther away.
TEST_F(Cuda, SparseRowsJustBeyondSixteenBits) {
  const Shape shape{600, 2, 137};
  std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
  for (std::int64_t y = 0; y < 2; ++y) {
    sites[static_cast<std::size_t>((100 * 2 + y) * 137)] = true;
    for (std::int64_t z : {400, 450, 500, 550}) sites[static_cast<std::size_t>((z * 2 + y) * 137 + 136)] = true;
  }
  Case c{.structure = Structure::sparse};
  c.input = mask_array(sites, shape);
  check_squares_and_sign(c);
}

/// One row of a volume whose sites are just farther along z than 16 bits hold, beside rows that are full, and far from
/// others whose sites are much farther: near it a search succeeds, but behind all of them it does not, and there that
/// one row is the nearest.
TEST_F(Cuda, SearchThatFailsBehindWideRows) {
  const Shape shape{512, 512, 5};
  const std::int64_t ny = shape[1], nx = shape[2];
  std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t k = 0; k < sites.size(); ++k) {
    const auto y = static_cast<std::int64_t>(k) / nx % ny, z = static_cast<std::int64_t>(k) / nx / ny;
    if (y > 32 && y <= 40) sites[k] = true;
    if (y == 80) sites[k] = z == 318;
    if (y >= 150 && (y - 150) % 60 == 0) sites[k] = z == 0;
    if (y == 505) sites[k] = z == 0;
  }
  Case c{.structure = Structure::sparse};
  c.input = mask_array(sites, shape);
  c.wanted = {.distance = DType::float32};
  check_against_cpu(c);
}

/// Far rows of volumes about the reach of 16 bits: two bands of rows whose sites lie anywhere, and which are as far apart
/// as twice as many rows; rows with sites at one end that others are as far from; paraboloids, so that of each row the
/// nearest one is another; and one band, from which it is as far to the end. Lines are of the lengths at which blocks of
/// threads and groups of rows change.
TEST_F(Cuda, RangesOfFarRows) {
  const std::int64_t lengths[] = {250, 256, 257, 263, 384, 385, 400, 500, 512, 513, 640, 641, 700, 1024, 1030};
  for (const std::int64_t i : some_of(static_cast<int>(std::size(lengths)) * 16, 32)) {
    Random random(985000 + static_cast<std::uint64_t>(i));
    const std::int64_t length = lengths[i / 16];
    const std::int64_t kind = i % 4, option = i / 4 % 4;
    const bool is_along_z = option % 2 == 0, has_labels = option > 1;
    const std::int64_t width = kind == 1 ? 260 : 40;
    const Shape shape = is_along_z ? Shape{length, 5, width} : Shape{5, length, width};
    const std::int64_t gap = std::min<std::int64_t>(332 + below(random, 40), length - 60), from = (length - gap) / 2;
    const std::int64_t end = length - 166 - below(random, 20);
    const std::int64_t vertex = below(random, length), slope = 16 + below(random, 200);
    std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t k = 0; k < sites.size(); ++k) {
      const auto x = static_cast<std::int64_t>(k) % width, y = static_cast<std::int64_t>(k) / width % shape[1];
      const std::int64_t z = static_cast<std::int64_t>(k) / width / shape[1], row = is_along_z ? z : y;
      const std::int64_t apart = row - vertex, other = is_along_z ? y : z;
      if (kind == 0) sites[k] = (row < from || row >= from + gap) && x == (row * row + other) % 37;
      if (kind == 1) sites[k] = x == (row % 2 == 0 ? 0 : other) || (row / 100 % 2 == 1 && x == 20);
      if (kind == 2) sites[k] = x == (apart * apart / slope + other) % (3 * width);
      if (kind == 3) sites[k] = row < end && x == (row * row + other) % 37;
    }
    Case c{.structure = Structure::sparse};
    c.input = mask_array(sites, shape);
    if (has_labels) {
      std::uint8_t* labels = c.input.as<std::uint8_t>().data();
      for (std::size_t k = 0; k < sites.size(); ++k) ++labels[k];  // none is background
      c.options.sites.rule = grid::Sites::Rule::labels;
    }
    check_squares_and_sign(c);
    if (HasFatalFailure()) return;
  }
}

/// Rows of volumes with sites at one end, or another label there, to which it is just as many steps as searches take,
/// in all rows or in some: one step more, and the squares that they begin with are too small.
TEST_F(Cuda, RowsAsLongAsSearchesReach) {
  constexpr int kWidths = 22;
  for (const std::int64_t i : some_of(kWidths * 3, 12)) {
    const std::int64_t nx = 170 + i % kWidths, root = i / kWidths + 1, apart = root * root;
    const Shape shape{65, 70, nx};
    std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t k = 0; k < sites.size(); ++k) {
      const auto at = static_cast<std::int64_t>(k), z = at / nx / shape[1];
      sites[k] = z % apart == 0 && at % nx == (at / nx % shape[1] < 35 ? 0 : nx - 1);
    }
    Case c{.structure = Structure::sparse};
    c.input = mask_array(sites, shape);
    c.wanted = {.distance = DType::float32};
    check_against_cpu(c);
    std::uint8_t* labels = c.input.as<std::uint8_t>().data();
    for (std::size_t k = 0; k < sites.size(); ++k) ++labels[k];  // none is background
    c.options.sites.rule = grid::Sites::Rule::labels;
    check_against_cpu(c);
    if (HasFatalFailure()) return;
  }
}

/// Volumes along whose lines nothing changes, or only at the end of one, though sites are far.
TEST_F(Cuda, ConstantLinesOfVolumes) {
  Random random(940000);
  int next = 0;
  for (const Shape& shape : {Shape{300, 70, 40}, Shape{70, 300, 40}, Shape{40, 9, 500}, Shape{700, 33, 33},
                             Shape{33, 700, 35}, Shape{130, 96, 640}})
    for (int i = 0; i < scaled(6); ++i) {
      const int kind = next++ % 6;
      const std::int64_t nz = shape[0], ny = shape[1], nx = shape[2];
      std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
      const std::int64_t hole = below(random, ny), axis = kind % 3;
      for (std::size_t k = 0; k < sites.size(); ++k) {
        const auto x = static_cast<std::int64_t>(k) % nx, y = static_cast<std::int64_t>(k) / nx % ny;
        const std::int64_t z = static_cast<std::int64_t>(k) / nx / ny;
        sites[k] = axis == 0 ? z == nz - 1 : axis == 1 ? y == ny - 1 : x == nx - 1;
        if (kind >= 3 && (axis == 1 ? z < 9 : y == hole)) sites[k] = false;
      }
      Case c{.structure = Structure::sparse};
      c.input = mask_array(sites, shape);
      c.wanted = {.distance = DType::float32, .nearest = DType::int32};
      check_against_cpu(c);
      c.wanted = {.distance = DType::float32};
      check_against_cpu(c);
      c.wanted = {.squared = DType::uint32};
      check_against_cpu(c);
      c.options.sites.rule = grid::Sites::Rule::labels;
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// The places whose squared distance from the middle is this, steps along the axes being so long.
std::vector<bool> places_on_sphere(const Shape& shape, const std::vector<std::int64_t>& lengths, std::int64_t square) {
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

/// As many equally near sites as there can be, near and far, in all directions, also with unequal spacings.
TEST_F(Cuda, Ties) {
  for (const Shape& shape : {Shape{401, 401}, Shape{81, 83, 85}})
    for (const std::vector<std::int64_t>& lengths :
         {std::vector<std::int64_t>{1, 1, 1}, {2, 1, 1}, {1, 3, 2}, {5, 3, 4}, {3, 4, 12}})
      for (std::int64_t square : {1, 25, 81, 325, 1105, 32045}) {  // sums of many pairs of squares
        Case c{.structure = Structure::ring};
        c.input = mask_array(places_on_sphere(shape, lengths, square), shape);
        const bool equal = lengths[0] == lengths[1];
        if (!equal) c.options.spacing.assign(lengths.begin(), lengths.begin() + shape.rank());
        c.wanted = {
            .squared = equal ? DType::uint32 : DType::float64, .nearest = DType::int64, .coordinates = DType::int32};
        check_against_cpu(c);
        c.wanted = {.distance = DType::float32, .nearest = DType::int32};
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
}

/// Far sites on a sphere, by whole elements, on both sides of which squares along lines are nearly convex; exactly on a
/// sphere, to whose middle all are as near; and those of two balls, between which lines are bent the other way. Lines
/// end about where the rows do that a thread takes, and blocks change.
TEST_F(Cuda, SmoothFarFieldsOfVolumes) {
  for (const Shape& shape :
       {Shape{210, 128, 17}, Shape{129, 240, 17}, Shape{230, 257, 20}, Shape{256, 213, 33}, Shape{380, 513, 17},
        Shape{512, 345, 18}, Shape{410, 641, 17}, Shape{1024, 300, 17}, Shape{300, 1025, 17}})
    for (int kind = 0; kind < 3; ++kind) {
      if (!size_limit.takes(shape)) continue;
      const std::int64_t ny = shape[1], nx = shape[2], longest = std::max(shape[0], ny);
      const double radius = static_cast<double>(longest) * (kind == 0 ? 0.4 : 0.05);
      std::vector<bool> sites = places_on_sphere(shape, {1, 1, 1}, longest > 400 ? 32045 : 5525);
      if (kind != 1)
        for (std::size_t k = 0; k < sites.size(); ++k) {
          const auto x = static_cast<double>(static_cast<std::int64_t>(k) % nx - nx / 2);
          const auto y = static_cast<double>(static_cast<std::int64_t>(k) / nx % ny);
          const auto z = static_cast<double>(static_cast<std::int64_t>(k) / nx / ny);
          const auto from = [&](double share) {
            return std::hypot(x, y - share * static_cast<double>(ny), z - share * static_cast<double>(shape[0]));
          };
          sites[k] = kind == 0 ? std::abs(from(0.5) - radius) < 1 : std::min(from(0.1), from(0.85)) < radius;
        }
      Case c{.structure = Structure::ring};
      c.input = mask_array(sites, shape);
      for (const Wanted& wanted : {Wanted{.distance = DType::float32},
                                   {.squared = DType::uint32},
                                   {.distance = DType::float32, .nearest = DType::int32}}) {
        c.wanted = wanted;
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
    }
}

/// Many lines with far sites, of which a block takes several, one after the other: some have many candidates, others few
/// or none, so that parts of a block still store one while others read the next.
TEST_F(Cuda, FarLinesOneAfterTheOther) {
  for (const Shape& shape : {Shape{250, 300, 160}, Shape{300, 250, 160}, Shape{480, 390, 96}, Shape{390, 512, 96},
                             Shape{600, 300, 96}, Shape{300, 900, 96}, Shape{120, 700, 130}}) {
    if (!size_limit.takes(shape)) continue;
    const std::int64_t nz = shape[0], ny = shape[1], nx = shape[2];
    std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t k = 0; k < sites.size(); ++k) {
      const auto x = static_cast<std::int64_t>(k) % nx, y = static_cast<std::int64_t>(k) / nx % ny;
      const std::int64_t z = static_cast<std::int64_t>(k) / nx / ny, kind = (x / 16 + y / 13 + z / 29) % 5;
      const auto from = [](std::int64_t at, std::int64_t extent) { return static_cast<double>(2 * at - extent) / 2; };
      const double away = std::hypot(from(x, nx), from(y, ny), from(z, nz));
      const double radius = 0.45 * static_cast<double>(std::max(nz, ny));
      sites[k] = kind < 3 ? std::abs(away - radius) < 1 : kind == 3 ? y == ny - 1 && z == 0 : false;
    }
    Case c{.structure = Structure::ring};
    c.input = mask_array(sites, shape);
    for (const Wanted& wanted : {Wanted{.distance = DType::float32},
                                 {.squared = DType::uint32},
                                 {.distance = DType::float32, .nearest = DType::int32}}) {
      c.wanted = wanted;
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
    for (std::size_t k = 0; k < sites.size(); ++k) sites[k] = !sites[k];
    c.input = mask_array(sites, shape);
    c.wanted = {.distance = DType::float32};
    c.options.signed_distance = true;
    check_against_cpu(c);
    if (HasFatalFailure()) return;
  }
}

/// Two parallel lines of sites, level or not, between which those above and below are equally near, nearer and farther
/// than where the way to far sites no longer fits behind their squares.
TEST_F(Cuda, SitesBetweenLines) {
  const Shape shape{1500, 700};
  for (std::int64_t slope : {0, 1, 5})
    for (std::int64_t apart : {300, 1370, 1400, 1440, 1449, 1470}) {
      std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
      for (std::int64_t x = 0; x < shape[1]; ++x)
        for (std::int64_t y : {7 + x * slope / 9, 7 + x * slope / 9 + apart})
          if (y < shape[0]) sites[static_cast<std::size_t>(y * shape[1] + x)] = true;
      Case c{.structure = Structure::plane};
      c.input = mask_array(sites, shape);
      c.wanted = {.distance = DType::float32, .nearest = DType::int32};
      for (const std::vector<double>& spacing : {std::vector<double>{}, {1, 2}, {2, 1}}) {
        c.options.spacing = spacing;
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
    }
}

/// Few sites and their mirror images: far from all of them, the planes between are as near to several.
TEST_F(Cuda, FarTies) {
  for (const Shape& shape : {Shape{61, 301, 33}, Shape{301, 61, 35}, Shape{33, 31, 401}, Shape{3, 1001, 65},
                             Shape{1024, 61, 33}, Shape{1024, 1024, 2}, Shape{701, 333}})
    for (int count : {1, 2, 5}) {
      Random random(static_cast<std::uint64_t>(shape[1] + count));
      std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
      for (int i = 0; i < count; ++i) {
        Shape at;
        for (std::int64_t extent : shape) at.push_back(below(random, extent));
        for (int mirrored = 0; mirrored < 1 << shape.rank(); ++mirrored) {
          std::int64_t linear = 0;
          for (int k = 0; k < shape.rank(); ++k)
            linear = linear * shape[k] + (mirrored >> k & 1 ? shape[k] - 1 - at[k] : at[k]);
          sites[static_cast<std::size_t>(linear)] = true;
        }
      }
      Case c{.structure = Structure::sparse};
      c.input = mask_array(sites, shape);
      c.wanted = {.distance = DType::float32, .nearest = DType::int64};
      std::vector<double> spacing{3, 2, 1};
      spacing.resize(static_cast<std::size_t>(shape.rank()));
      for (bool spaced : {false, true}) {
        if (spaced) c.options = {.spacing = spacing};
        c.wanted.coordinates.reset();
        check_against_cpu(c);
        c.wanted.coordinates = DType::int32;
        c.options.max_distance = 200;
        for (std::int64_t extent : shape) c.options.region.push_back({std::min<std::int64_t>(1, extent - 1), extent});
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
    }
}

TEST_F(Cuda, LongLines) {
  for (const Shape& shape : {Shape{70001}, Shape{2, 70001}, Shape{70001, 2}, Shape{65536, 2}, Shape{46342, 1},
                             Shape{3, 70001, 2}, Shape{1000003}}) {
    Random random(static_cast<std::uint64_t>(shape[0]));
    for (double share : {0.0, 1e-5, 1e-3, 0.3}) {
      Case c{.structure = Structure::sparse};
      c.input = mask_array(scatter(shape, share, random), shape);
      c.wanted = {.distance = DType::float32, .squared = DType::uint64, .nearest = DType::int64};
      check_against_cpu(c);
      c.options.border = {grid::Border::sites};
      c.wanted = {.distance = DType::float64};
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
  }
}

/// Each item of a batch as it is alone.
TEST_F(Cuda, Batches) {
  for (int i = 0; i < scaled(300); ++i) {
    Random random(800000 + static_cast<std::uint64_t>(i));
    Case c = random_case(800000 + static_cast<std::uint64_t>(i), i % 10 == 0 ? 20000 : 500);
    if (c.input.shape().rank() > 7) continue;
    SCOPED_TRACE(describe(c));
    const std::int64_t count = below(random, 5);
    Shape shape{count};
    for (std::int64_t n : c.input.shape()) shape.push_back(n);
    Array batch(c.input.dtype(), shape);
    for (std::int64_t b = 0; b < count; ++b)
      for (std::size_t k = 0, n = c.input.bytes(); k < n; ++k)  // each item another rotation of the case's bytes
        batch.data()[static_cast<std::size_t>(b) * n + k] =
            c.input.data()[(k + static_cast<std::size_t>(b) * size_of(c.input.dtype()) * 5) % n];
    grid::DistanceOptions options = c.options;
    options.batch_axes = 1;
    options.execution.backend = Backend::cuda;
    const Results device = run(batch.view(), options, c.wanted);
    options.execution.backend = Backend::cpu;
    ASSERT_TRUE(equal(run(batch.view(), options, c.wanted), device));
    options.batch_axes = 0;
    for (std::int64_t b = 0; b < count; ++b) {
      const AnyConstView item(batch.data() + static_cast<std::size_t>(b) * c.input.bytes(), c.input.dtype(),
                              c.input.shape());
      ASSERT_TRUE(equal_item(device, run(item, options, c.wanted), b)) << "item " << b;
    }
  }
}

/// More images of one band than a launch has rows for.
TEST_F(Cuda, LargeBatches) {
  Random random(1);
  OneOf some(2);
  Case c{.structure = Structure::sparse};
  for (const Shape& shape : {Shape{33000, 3, 5}, Shape{66000, 9}}) {
    if (!some.is_next()) continue;
    c.input = mask_array(scatter(shape, 0.05, random), shape);
    c.options = {.batch_axes = 1};
    c.wanted = {.distance = DType::float32};
    if (shape.rank() == 3) {
      c.options.spacing = {2, 1};
    } else {
      c.options.sites.rule = grid::Sites::Rule::labels;
      c.wanted.nearest = DType::int32;
    }
    check_against_cpu(c);
  }
}

TEST_F(Cuda, SeveralThreads) {
  std::vector<Case> cases;
  std::vector<Results> expected, results(20);
  for (std::size_t i = 0; i < results.size(); ++i) {
    cases.push_back(random_case(900000 + i, 20000));
    expected.push_back(run_on(Backend::cpu, cases.back()));
  }
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < results.size(); ++i)
    threads.emplace_back([&, i] {
      for (int again = 0; again < 3; ++again) results[i] = run_on(Backend::cuda, cases[i]);
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < results.size(); ++i) EXPECT_TRUE(equal(expected[i], results[i])) << describe(cases[i]);
}

/// A budget is kept or refused before anything is touched, and the bytes are the same.
void check_budgets(Case& c) {
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
  for (const auto* array : {&results.distance, &results.squared, &results.nearest, &results.coordinates})
    ASSERT_TRUE(!*array || is_poisoned(**array));
}

TEST_F(Cuda, SmallBudgets) {
  for (int i = 0; i < scaled(600); ++i) {
    Case c = random_case(1200000 + static_cast<std::uint64_t>(i), 5000);
    check_budgets(c);
    if (HasFatalFailure()) return;
  }
}

/// Many pieces of what the fast engines serve, and of a batch.
TEST_F(Cuda, SmallBudgetsOfPlainShapes) {
  Random random(1300000);
  for (const Shape& shape : {Shape{300, 700}, Shape{1001, 333}, Shape{70, 80, 333}, Shape{100, 33, 160}, Shape{20000}})
    for (double share : {0.0, 1e-4, 0.003, 0.3}) {
      Case c{.structure = Structure::sparse};
      c.input = mask_array(scatter(shape, share, random), shape, pick<DType>(random, {DType::uint8, DType::float64}));
      c.wanted.distance = DType::float32;
      check_budgets(c);
      c.options.border = {grid::Border::sites};
      c.options.max_distance = 30;
      c.wanted.squared = DType::uint32;
      check_budgets(c);
      if (shape.rank() > 1) {
        c.options = {.batch_axes = 1};
        check_budgets(c);
      }
      c.options = {.sites = {grid::Sites::Rule::labels}};
      c.wanted = {.distance = DType::float32, .nearest = DType::int32, .coordinates = DType::int32};
      check_budgets(c);
      if (HasFatalFailure()) return;
    }
}

/// Signed volumes whose words are turned to the other side more than once: for each part of the results, and where all
/// columns of a large one are not solved together.
TEST_F(Cuda, SignedVolumesInParts) {
  Random random(1310000);
  for (const Shape& shape : {Shape{20, 33, 40}, Shape{70, 41, 333}, Shape{33, 70, 160}, Shape{203, 205, 230}})
    for (const double share : {0.0, 1e-4, 0.3, 1.0}) {
      if (!size_limit.takes(shape)) continue;
      Case c{.structure = Structure::sparse};
      c.input = mask_array(scatter(shape, share, random), shape);
      c.wanted.distance = DType::float32;
      c.options.signed_distance = true;
      c.options.surface = pick<grid::Surface>(random, {grid::Surface::faces, grid::Surface::centers});
      check_budgets(c);
      if (HasFatalFailure()) return;
    }
}

/// Rows of sites so far apart that what lies between is just within the reach of the search for near sites, or beyond,
/// wherever these are in bands of 32 rows: whole and in pieces.
TEST_F(Cuda, RowsAroundTheReach) {
  OneOf some(3);
  for (std::int64_t apart : {33, 62, 63, 64, 65, 66, 67})
    for (std::int64_t first : {0, 1, 31, 32})
      for (std::int64_t width : {543, 768}) {  // rows are not aligned, or are
        const Shape shape{first + 2 * apart + 3, width};
        if (!some.is_next() || !size_limit.takes(shape)) continue;
        std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
        for (std::int64_t y : {first, first + apart, first + 2 * apart})
          for (std::int64_t x = 0; x < width; ++x) sites[static_cast<std::size_t>(y * width + x)] = true;
        Case c{.structure = Structure::plane};
        c.input = mask_array(sites, shape);
        for (const Wanted& wanted :
             {Wanted{.distance = DType::float32}, Wanted{.distance = DType::float32, .nearest = DType::int32},
              Wanted{.squared = DType::uint32}})
          for (const std::vector<double>& spacing : {std::vector<double>{}, {2, 1}, {1, 3}})
            for (bool labels : {false, true}) {
              if (wanted.squared && !spacing.empty()) continue;  // these are no integers
              c.wanted = wanted;
              c.options = {.spacing = spacing};
              if (labels) c.options.sites.rule = grid::Sites::Rule::labels;
              check_against_cpu(c);
              if (HasFatalFailure()) return;
            }
        c.wanted = {.distance = DType::float32};
        c.options = {.signed_distance = true};
        check_budgets(c);
        if (HasFatalFailure()) return;
      }
}

/// Volumes of few elements, or rows along y, that differ from all others, which are sites or labels or none: as signed
/// fields and by labels, in whole, in pieces and in batches. What is far has its squares where the other side's results
/// are, and rows are longer than what is turned from one side to the other at a time.
TEST_F(Cuda, FewOfOneSideInVolumes) {
  Random random(905000);
  for (const Shape& shape : {Shape{70, 40, 330}, Shape{230, 60, 33}, Shape{40, 230, 48}, Shape{9, 12, 1100},
                             Shape{3, 20, 1, 270}, Shape{4, 200, 9, 260}, Shape{1040, 9, 20}, Shape{9, 1040, 20}})
    for (int i = 0; i < scaled(12); ++i) {
      const int rank = static_cast<int>(shape.rank());
      const std::int64_t nx = shape[rank - 1], ny = shape[rank - 2], first = below(random, ny);
      const std::int64_t rows = i % 4 < 2 ? ny : 1 + below(random, 6);  // along y that may have some
      auto sites = scatter(shape, pick<double>(random, {0.0, 1e-5, 1e-4, 1e-3, 0.3}), random);
      for (std::size_t k = 0; k < sites.size(); ++k) {
        const std::int64_t y = static_cast<std::int64_t>(k) / nx % ny;
        sites[k] = (sites[k] && y >= first && y < first + rows) != (i % 2 == 1);
      }
      Case c{.structure = Structure::sparse};
      const auto dtype = pick<DType>(random, {DType::uint8, DType::uint8, DType::float32});
      c.input = mask_array(sites, shape, dtype, chance(random, 0.5));
      c.options.batch_axes = rank - 3;
      c.options.signed_distance = true;
      if (chance(random, 0.3)) c.options.surface = grid::Surface::centers;
      if (chance(random, 0.2)) c.options.border = {grid::Border::sites};
      c.wanted = {.distance = DType::float32};
      check_budgets(c);
      c.options.execution = {};
      c.options.sites.rule = grid::Sites::Rule::labels;
      check_against_cpu(c);
      c.options.signed_distance = false;
      check_against_cpu(c);
      c.wanted = {.squared = DType::uint32};
      check_against_cpu(c);
      c.options.sites.rule = grid::Sites::Rule::nonzero;
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Signed volumes in which planes are of one side alone, as many along y as are tried one by one, more, or all, but for
/// a few elements elsewhere: where all is of one side, nothing is searched or left along z. Rows of up to eight words and
/// more are turned from one side to the other.
TEST_F(Cuda, PlanesOfOneSideInVolumes) {
  Random random(906000);
  for (const Shape& shape : {Shape{33, 64, 40}, Shape{20, 129, 70}, Shape{64, 130, 256}, Shape{40, 257, 31},
                             Shape{9, 300, 300}, Shape{256, 90, 34}, Shape{70, 520, 33}, Shape{5, 1030, 66}})
    for (const std::int64_t planes : {1, 4, 5, 40}) {
      const std::int64_t ny = shape[1], nx = shape[2], first = below(random, ny - planes + 1);
      const bool turned = chance(random, 0.5);
      auto sites = scatter(shape, pick<double>(random, {0.0, 0.0, 1e-5, 1e-3}), random);
      for (std::size_t k = 0; k < sites.size(); ++k) {
        const std::int64_t y = static_cast<std::int64_t>(k) / nx % ny;
        sites[k] = (sites[k] != (y >= first && y < first + planes)) != turned;
      }
      Case c{.structure = Structure::sparse};
      c.input = mask_array(sites, shape);
      c.options.signed_distance = true;
      if (chance(random, 0.5)) c.options.surface = grid::Surface::centers;
      c.wanted = {.distance = DType::float32};
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Nearest sites where few rows of lines along z have some, as many as are solved by themselves and one more among them,
/// near and far; in every row along y alike, or in all but one.
TEST_F(Cuda, NearestOfFewPlanesOfVolumes) {
  Random random(960000);
  for (const Shape& shape : {Shape{300, 40, 70}, Shape{700, 20, 33}, Shape{130, 48, 515}, Shape{60, 300, 31},
                             Shape{9, 70, 200}, Shape{1024, 9, 48}, Shape{512, 12, 64}})
    for (int i = 0; i < scaled(16); ++i) {
      const std::int64_t nz = shape[0], ny = shape[1], nx = shape[2];
      const bool is_edge = i < 2;
      const std::int64_t few = std::clamp<std::int64_t>(nz / 16, 4, 32);
      const std::int64_t planes = std::min(is_edge ? few + i : 1 + below(random, 36), nz);
      const double share = is_edge ? 0.3 : pick<double>(random, {1.0, 0.3, 0.01, 1e-3});  // 0.3: in each row
      const auto in_planes = scatter(shape, share, random);
      const bool is_alike = chance(random, 0.5), has_hole = chance(random, 0.3);
      const std::int64_t hole = below(random, ny);
      std::vector<bool> sites(in_planes.size()), is_plane(static_cast<std::size_t>(nz));
      for (std::int64_t k = 0; k < planes;) {
        const std::int64_t z = below(random, nz);
        if (is_plane[static_cast<std::size_t>(z)]) continue;
        is_plane[static_cast<std::size_t>(z)] = true;
        ++k;
        for (std::int64_t y = 0; y < ny; ++y)
          for (std::int64_t x = 0; x < nx; ++x) {
            const std::int64_t from = (z * ny + (is_alike ? 0 : y)) * nx + x;
            sites[static_cast<std::size_t>((z * ny + y) * nx + x)] =
                in_planes[static_cast<std::size_t>(from)] && !(has_hole && y == hole);
          }
      }
      Case c = nearest_in_volume(sites, shape, 0.2, random);
      check_against_cpu(c);
      c.options.sites.rule = grid::Sites::Rule::labels;
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Nearest sites where rows of lines along z that have some lie apart, at random or at one distance from one another, in
/// which case many are as near; or many together besides, so that tiles are given up; up to the longest line that keys
/// reach, whose ends have one another's sites.
TEST_F(Cuda, NearestOfSparseRowsInVolumes) {
  Random random(965000);
  for (const Shape& shape : {Shape{512, 5, 130}, Shape{1024, 3, 70}, Shape{1024, 2, 1023}, Shape{300, 9, 260},
                             Shape{257, 5, 33}, Shape{33, 40, 64}, Shape{8, 30, 40}, Shape{1000, 3, 600}})
    for (int i = 0; i < scaled(10); ++i) {
      const std::int64_t nz = shape[0], plane = shape[1] * shape[2], nx = shape[2];
      const int kind = i % 5;
      const std::int64_t apart = pick<std::int64_t>(random, {3, 4, 7, 20}), first = below(random, apart);
      auto sites = scatter(shape, pick<double>(random, {1e-4, 5e-4, 2e-3, 0.01}), random);
      for (std::size_t k = 0; k < sites.size(); ++k) {
        const auto at = static_cast<std::int64_t>(k), z = at / plane, x = at % nx;
        const bool is_row = z % apart == first;
        if (kind == 1) sites[k] = is_row && x % 40 == 3;
        if (kind == 2) sites[k] = x == 0 && (is_row || (z > nz / 3 && z < nz / 3 + 120));
        if (kind == 3) sites[k] = sites[k] && is_row;
        if (kind == 4) sites[k] = (z == 0 && x == 0) || (z == nz - 1 && x == nx - 1);
      }
      const Case c = nearest_in_volume(sites, shape, 0.3, random);
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Nearest sites beside planes along y that have none: alone, in turns, or many together, as at both ends; with sites near
/// along z beside them, far, or both, so that lines along y are searched, left to envelopes, or have few rows with sites.
TEST_F(Cuda, NearestBesideEmptyPlanesOfVolumes) {
  Random random(990000);
  int next = 0;
  for (const Shape& shape : {Shape{40, 90, 70}, Shape{200, 60, 33}, Shape{24, 530, 16}, Shape{390, 40, 49},
                             Shape{5, 300, 17}, Shape{33, 700, 15}, Shape{9, 1024, 64}})
    for (int i = 0; i < scaled(12); ++i) {
      const std::int64_t nz = shape[0], ny = shape[1], nx = shape[2], kind = next++ % 4;
      const std::int64_t band = 1 + below(random, 20), every = 2 + below(random, 3), end = below(random, ny / 2);
      auto sites = scatter(shape, kind == 1 ? 2e-4 : 0.02, random);
      for (std::size_t k = 0; k < sites.size(); ++k) {
        const auto x = static_cast<std::int64_t>(k) % nx, y = static_cast<std::int64_t>(k) / nx % ny;
        const std::int64_t z = static_cast<std::int64_t>(k) / nx / ny;
        if (kind == 2 && y % 3 != 0) sites[k] = z == nz / 3 && x == y % nx;
        if (kind == 3) sites[k] = z == y * (nz - 1) / ny && x % 9 == 4;
        if (y / band % every == 0 || y < end / 2 || y >= ny - end) sites[k] = false;
      }
      const Case c = nearest_in_volume(sites, shape, 0.2, random);
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Nearest sites about 121 steps away along x and z together, from which on a lead tells the plane alone: in all columns
/// of half a tile or in some, in all rows of lines along y or in bands; to the left and to the right, of which one or both
/// are as near, in lines that the envelope takes at once or after a search.
TEST_F(Cuda, NearestAboutTheReachOfLeads) {
  Random random(968000);
  int next = 0;
  for (const Shape& shape : {Shape{512, 40, 150}, Shape{385, 67, 145}, Shape{640, 33, 137}, Shape{257, 70, 140},
                             Shape{700, 31, 150}, Shape{400, 515, 16}, Shape{250, 260, 31}})
    for (int i = 0; i < scaled(8); ++i) {
      const std::int64_t ny = shape[1], nx = shape[2], kind = next++ % 4;
      const std::int64_t left = i % 2 == 0 ? 5 + i / 2 % 3 : below(random, 20);  // 5 to 7: 120 to 122 of a half's end
      const std::int64_t right = pick<std::int64_t>(random, {nx, nx - 1 - left, 2 * 120});
      const std::int64_t gap = 236 + below(random, 10), first = below(random, gap), band = 1 + below(random, 40);
      std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
      for (std::size_t k = 0; k < sites.size(); ++k) {
        const auto x = static_cast<std::int64_t>(k) % nx, y = static_cast<std::int64_t>(k) / nx % ny;
        const std::int64_t z = static_cast<std::int64_t>(k) / nx / ny, in_gap = (z + first) % gap;
        const bool is_column = x == left + (kind == 3 ? y % 16 : 0) || x == right;
        sites[k] = is_column && (kind == 0 ? in_gap < 30 : in_gap < 1 + y % 3) && !(kind == 2 && y / band % 2 == 0);
      }
      const Case c = nearest_in_volume(sites, shape, 0.2, random);
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Nearest sites across gaps about twice as wide as ranges of rows reach, along z or y, between bands of rows that are
/// alike from both ends, or in each other's planes: in the middle two are as near. Some gaps along y have sites at the
/// ends of rows, about as far away.
TEST_F(Cuda, NearestAboutTheReachOfRanges) {
  Random random(969000);
  for (int i = 0; i < scaled(40); ++i) {
    const bool is_along_y = i % 2 != 0;
    const std::int64_t gap = 214 + below(random, 44), band = 9 + below(random, 8), bands = i % 5 == 4 ? 3 : 2;
    const std::int64_t rows = bands * band + (bands - 1) * gap, others = 3 + below(random, 8);
    const bool has_ends = i % 4 == 1;
    const std::int64_t nx = has_ends ? 130 : pick<std::int64_t>(random, {17, 32, 47, 64});
    const Shape shape = is_along_y ? Shape{others, rows, nx} : Shape{rows, others, nx};
    const double share = pick<double>(random, {0.02, 0.3, 1.0});
    std::vector<bool> drawn(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t k = 0; k < drawn.size(); ++k) drawn[k] = chance(random, share);
    std::vector<bool> sites(drawn.size());
    for (std::size_t k = 0; k < sites.size(); ++k) {
      const auto at = static_cast<std::int64_t>(k), x = at % nx, y = at / nx % shape[1], z = at / nx / shape[1];
      const std::int64_t row = is_along_y ? y : z, other = is_along_y ? z : y;
      const bool is_gap = row % (band + gap) >= band;
      if (is_gap) sites[k] = has_ends && x == 0;
      if (is_gap) continue;
      const bool is_behind = row * 2 >= rows;
      const std::int64_t from = is_behind ? rows - 1 - row : row;
      const std::int64_t beside = is_behind && i % 3 == 0 ? others - 1 - other : other;
      sites[k] =
          drawn[static_cast<std::size_t>((is_along_y ? beside * shape[1] + from : from * shape[1] + beside) * nx + x)];
    }
    const Case c = nearest_in_volume(sites, shape, 0.2, random);
    check_against_cpu(c);
    if (HasFatalFailure()) return;
  }
}

/// Nearest sites of lines along z with gaps about twice as long as what 16 bits hold of a search, between rows with
/// sites at the same columns, so that those before and behind are as near; or with sites so far to the side, of every
/// row, in one half of a tile or in both; up to the lines at which blocks change, and beyond.
TEST_F(Cuda, NearestAboutTheReachOfPairs) {
  Random random(967000);
  for (const Shape& shape : {Shape{130, 5, 65}, Shape{256, 4, 40}, Shape{257, 3, 48}, Shape{333, 3, 33},
                             Shape{640, 2, 31}, Shape{641, 2, 64}, Shape{61, 9, 80}})
    for (int i = 0; i < scaled(24); ++i) {
      const std::int64_t plane = shape[1] * shape[2], nx = shape[2];
      const std::int64_t rows = 7 + below(random, 12), gap = 46 + i % 8, aside = 23 + i % 4;
      const bool is_aside = i % 3 == 0;
      const double share = pick<double>(random, {0.02, 0.1, 0.5});
      const auto columns = scatter({nx}, share, random);
      auto sites = scatter(shape, is_aside ? 1e-3 : 0.05, random);
      for (std::size_t k = 0; k < sites.size(); ++k) {
        const auto at = static_cast<std::int64_t>(k), z = at / plane, x = at % nx;
        const bool is_filled = (z + at / nx % shape[1]) % (rows + gap) < rows;
        if (is_aside) sites[k] = sites[k] || x % (2 * aside) == 5;
        else sites[k] = is_filled && (sites[k] || columns[static_cast<std::size_t>(x)]);
      }
      Case c{.structure = Structure::sparse};
      c.input = mask_array(sites, shape);
      c.wanted = {.distance = DType::float32, .nearest = pick<DType>(random, {DType::int32, DType::int64})};
      if (chance(random, 0.2)) c.wanted.distance.reset();
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Few elements of other labels, or of the other side, far from most: along lines as long as the blocks of an envelope
/// have rows, and one row more.
TEST_F(Cuda, FarLabelsOfVolumes) {
  std::uint64_t seed = 966000;
  for (const Shape& shape :
       {Shape{256, 9, 40}, Shape{257, 9, 40}, Shape{9, 256, 40}, Shape{9, 257, 40}, Shape{512, 7, 33},
        Shape{513, 7, 33}, Shape{7, 512, 33}, Shape{7, 513, 33}, Shape{100, 130, 48}, Shape{300, 300, 18}})
    for (int i = 0; i < scaled(6); ++i) {
      Random random(++seed);
      const auto others = scatter(shape, pick<double>(random, {3e-5, 3e-4, 2e-3}), random);
      Case c{.seed = seed, .structure = Structure::sparse};
      c.input = Array(DType::uint8, shape);
      const std::int64_t half = element_count(shape) / 2;
      for (std::int64_t k = 0; k < element_count(shape); ++k)
        store(c.input, k, others[static_cast<std::size_t>(k)] ? i % 3 : i % 2 == 0 && k < half ? 8 : 9);
      check_squares_and_sign(c);
      c.options.signed_distance = false;
      c.options.sites.rule = grid::Sites::Rule::labels;
      check_squares_and_sign(c);
      if (HasFatalFailure()) return;
    }
}

/// The first rows of a tall image, whose sites are a row at its end: squares near 2³¹.
TEST_F(Cuda, RegionFarFromALine) {
  const Shape shape{46000, 310};
  std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
  std::fill(sites.end() - 310, sites.end(), true);
  Case c{.structure = Structure::plane};
  c.input = mask_array(sites, shape);
  c.options.region = {{0, 33}, {0, 310}};
  for (const Wanted& wanted :
       {Wanted{.distance = DType::float32}, Wanted{.distance = DType::float32, .nearest = DType::int32}}) {
    c.wanted = wanted;
    check_against_cpu(c);
  }
}

/// Nearest sites of images with one column of sites, or none: of a single site, or of two that are as far from rows
/// between them; with tiles that lie inside the image as a whole, and some that do not.
TEST_F(Cuda, NearestOfOneColumn) {
  Random random(970000);
  for (const Shape& shape : {Shape{160, 1024}, Shape{97, 1027}, Shape{700, 772}, Shape{1500, 2052}, Shape{64, 40000}})
    for (int i = 0; i < scaled(8); ++i) {
      std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
      const std::int64_t x = below(random, shape[1]), y = below(random, shape[0]), apart = 1 + below(random, 90);
      const auto put = [&](std::int64_t row) { sites[static_cast<std::size_t>(row * shape[1] + x)] = true; };
      if (i % 8 != 7) put(y);
      if (i % 2 == 1 && i % 8 != 7) put(std::max<std::int64_t>(y - apart, 0));
      Case c{.structure = Structure::sparse};
      c.input = mask_array(sites, shape);
      c.wanted = {.distance = DType::float32, .nearest = pick<DType>(random, {DType::int32, DType::int64})};
      if (chance(random, 0.2)) c.wanted.distance.reset();
      for (const std::vector<double>& spacing : {std::vector<double>{}, {2, 1}, {1, 3}}) {
        c.options.spacing = spacing;
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
    }
}

/// Lines of sites, of which every column, or every second, may be nearest to what is far: straight ones, bent towards
/// or away from one side, and two that are as far from what lies between.
TEST_F(Cuda, FarFromLines) {
  using Line = std::int64_t (*)(std::int64_t);
  const std::vector<std::vector<Line>> kLines{
      {[](std::int64_t) { return std::int64_t{5}; }},
      {[](std::int64_t x) { return x; }},
      {[](std::int64_t x) { return 900 - 2 * x; }},
      {[](std::int64_t x) { return x / 2; }},
      {[](std::int64_t x) { return (x - 500) * (x - 500) / 900; }},
      {[](std::int64_t x) { return 350 - (x - 300) * (x - 300) / 700; }},
      {[](std::int64_t x) { return x < 600 ? 600 - x : x - 600; }},
      {[](std::int64_t) { return std::int64_t{0}; }, [](std::int64_t) { return std::int64_t{406}; }},
      {[](std::int64_t x) { return x - 300; }, [](std::int64_t x) { return x + 301; }},
  };
  const std::vector<Shape> shapes{{700, 1101}, {513, 1024}, {100, 40000}, {1100, 1500}};
  const int all = static_cast<int>(2 * shapes.size() * kLines.size());
  for (int i = 0; i < std::min(scaled(all), all); ++i) {
    const auto n = static_cast<std::size_t>(i);
    const Shape& shape = shapes[n % shapes.size()];
    const std::vector<Line>& lines = kLines[n / shapes.size() % kLines.size()];
    const std::int64_t step = i < all / 2 ? 1 : 2;
    std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
    for (Line line : lines)
      for (std::int64_t x = 0; x < shape[1]; x += step)
        if (const std::int64_t y = line(x); y >= 0 && y < shape[0])
          sites[static_cast<std::size_t>(y * shape[1] + x)] = true;
    Case c{.structure = Structure::plane};
    c.input = mask_array(sites, shape);
    for (const Wanted& wanted :
         {Wanted{.distance = DType::float32}, Wanted{.distance = DType::float32, .nearest = DType::int32}})
      for (const std::vector<double>& spacing : {std::vector<double>{}, {2, 1}, {1, 3}}) {
        c.wanted = wanted;
        c.options = {.spacing = spacing};
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
    c.options = {};
    c.wanted = {.squared = DType::uint32};
    check_against_cpu(c);
    c.options.sites.rule = grid::Sites::Rule::labels;
    c.wanted = {.distance = DType::float32, .nearest = DType::int64};
    check_against_cpu(c);
    c.options = {.signed_distance = true};
    c.wanted = {.distance = DType::float32};
    check_against_cpu(c);
    for (bool is_signed : {false, true}) {  // without a small unit
      c.options = {.spacing = {1.25, 0.742188}, .signed_distance = is_signed, .surface = grid::Surface::centers};
      check_against_cpu(c);
    }
    c.options = {.spacing = {0.3, 7.1}};
    c.wanted = {.distance = DType::float64, .squared = DType::float64};
    check_against_cpu(c);
    c.wanted = {.distance = DType::float32};
    for (const std::vector<double>& spacing : {std::vector<double>{}, {2, 1}, {1.25, 0.742188}}) {  // parts
      c.options = {.spacing = spacing, .region = {{32, 97}, {3, shape[1] - 1}}};
      check_against_cpu(c);
    }
    if (HasFatalFailure()) return;
  }
}

/// Takes the sites out of a disk of an image.
void clear_disk(std::vector<bool>& sites, const Shape& shape, std::int64_t y, std::int64_t x, std::int64_t radius) {
  for (std::int64_t dy = std::max(-radius, -y); dy <= std::min(radius, shape[0] - 1 - y); ++dy)
    for (std::int64_t dx = std::max(-radius, -x); dx <= std::min(radius, shape[1] - 1 - x); ++dx)
      if (dy * dy + dx * dx < radius * radius) sites[static_cast<std::size_t>((y + dy) * shape[1] + x + dx)] = false;
}

/// Disks without sites, some of which meet, in a background of sites: in images of few tiles and of many, of as many
/// columns as tiles that list theirs may have, and of more; with all that may be asked for.
TEST_F(Cuda, InsideDisks) {
  Random random(870000);
  for (const Shape& shape : {Shape{1024, 1024}, Shape{700, 777}, Shape{1100, 1060}, Shape{250, 1023}, Shape{250, 1027}})
    for (int i = 0; i < scaled(5); ++i) {
      std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)), true);
      for (int disk = 0; disk < 12; ++disk) {
        const std::int64_t radius = 33 + below(random, std::min(shape[0], shape[1]) / 4);
        const std::int64_t y = below(random, shape[0]), x = below(random, shape[1]);
        clear_disk(sites, shape, y, x, radius);
      }
      Case c{.structure = Structure::blobs};
      c.input = mask_array(sites, shape);
      check_squares_and_sign(c);
      for (const std::vector<double>& spacing : {std::vector<double>{}, {3, 1}, {1, 2}})
        for (bool nearest : {false, true})
          for (auto rule : {grid::Sites::Rule::nonzero, grid::Sites::Rule::labels}) {
            c.options = {.spacing = spacing};
            c.options.sites.rule = rule;
            c.wanted = {.distance = DType::float32};
            if (nearest) c.wanted.nearest = DType::int32;
            check_against_cpu(c);
            if (HasFatalFailure()) return;
          }
      c.wanted = {.distance = DType::float32};
      c.options = {.spacing = {1.25, 0.742188}};
      check_against_cpu(c);
      c.options = {.border = {grid::Border::sites}, .max_distance = 70};
      check_against_cpu(c);
      c.options = {.region = {{shape[0] / 3, shape[0] - 5}, {7, shape[1] / 2}}};
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Few holes in scattered sites, from less than a cell to several bands wide, so that rows of a cell are open, or all of
/// it, and those beside it, or not: in an image, a part of it and a batch.
TEST_F(Cuda, HolesAmongSites) {
  Random random(880000);
  for (const Shape& shape : {Shape{330, 1100}, Shape{520, 2011}, Shape{1030, 4452}, Shape{20, 500, 1021}})
    for (double share : {0.004, 0.05, 1.0}) {
      if (!size_limit.takes(shape)) continue;
      const std::int64_t columns = shape.back(), rows = element_count(shape) / columns;
      auto sites = scatter(shape, share, random);
      for (std::int64_t hole = 0; hole < rows * columns / 250000 + 1; ++hole)
        clear_disk(sites, {rows, columns}, below(random, rows), below(random, columns), 20 + below(random, 90));
      Case c{.structure = Structure::sparse};
      c.input = mask_array(sites, shape);
      c.options.batch_axes = shape.rank() - 2;
      c.wanted.distance = DType::float32;
      check_against_cpu(c);
      if (shape.rank() == 2) c.options.region = {{64, rows}, {5, columns}};
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Images of a batch of which some are settled by the search for near sites, and others are not; the last ones of so
/// many bands that smaller blocks list them.
TEST_F(Cuda, BatchesOfNearAndFarSites) {
  Random random(850000);
  OneOf some(3);
  for (const Shape& image : {Shape{300, 700}, Shape{31, 1100}, Shape{530, 130}, Shape{700, 330}}) {
    const std::vector<double> shares{0.5, 1e-5, 0.3, 0, 1, 0.02, 0.001};
    const Shape shape{static_cast<std::int64_t>(shares.size()), image[0], image[1]};
    std::vector<bool> sites;
    for (double share : shares) {
      const std::vector<bool> of_image = scatter(image, share, random);
      sites.insert(sites.end(), of_image.begin(), of_image.end());
    }
    for (const std::vector<double>& spacing : {std::vector<double>{}, {2, 1}})
      for (auto rule : {grid::Sites::Rule::zero, grid::Sites::Rule::labels})
        for (bool nearest : {false, true}) {
          if (!some.is_next()) continue;
          Case c{.structure = Structure::sparse};
          c.input = mask_array(sites, shape);
          c.options = {.spacing = spacing, .batch_axes = 1};
          c.options.sites.rule = rule;
          c.wanted.distance = DType::float32;
          if (nearest) c.wanted.nearest = DType::int32;
          check_budgets(c);
          if (HasFatalFailure()) return;
        }
    Case c{.structure = Structure::sparse};
    c.input = mask_array(sites, shape);
    c.options = {.spacing = {1.25, 0.742188}, .batch_axes = 1};
    c.wanted.distance = DType::float32;
    check_budgets(c);
    if (HasFatalFailure()) return;
  }
}

/// Up to the longest axis of the engine for small images, and one beyond: with all, some or no sites in an item; whole
/// and in pieces, and an item alone.
TEST_F(Cuda, SmallImages) {
  std::uint64_t seed = 1700000;
  for (const Shape& shape :
       {Shape{300, 64, 64}, Shape{5, 128, 128}, Shape{40, 28, 28}, Shape{4, 127, 126}, Shape{3, 128, 1},
        Shape{6, 1, 128}, Shape{5, 33, 97}, Shape{9, 9, 32}, Shape{700, 2, 3}, Shape{4, 129, 128}, Shape{4, 128, 129},
        Shape{128, 128}, Shape{90, 112}, Shape{1, 1}, Shape{5, 40, 90}, Shape{3, 21, 65}})
    for (int s = 0; s < kStructures; ++s) {
      Random random(++seed);
      Case c{.seed = seed, .structure = static_cast<Structure>(s)};
      const auto sites = chance(random, 0.5) ? make_sites(c.structure, shape, random)
                                             : scatter(shape, pick<double>(random, {0.1, 0.003, 2e-4}), random);
      c.input =
          mask_array(sites, shape, pick<DType>(random, {DType::boolean, DType::uint8, DType::uint8, DType::float32}),
                     chance(random, 0.5));
      if (chance(random, 0.5)) c.options.sites.rule = grid::Sites::Rule::nonzero;
      if (chance(random, 0.2)) c.options.border = {grid::Border::sites};
      if (chance(random, 0.2)) c.options.max_distance = 10;
      c.wanted.distance = DType::float32;
      check_against_cpu(c);
      c.options.batch_axes = 1;
      check_budgets(c);
      if (HasFatalFailure()) return;
    }
}

/// What else can be asked of them: labels, a sign, nearest sites, squares, other types, regions; in batches, in pieces
/// and alone.
TEST_F(Cuda, SmallImagesWithOtherOptions) {
  std::uint64_t seed = 1750000;
  for (const Shape& shape :
       {Shape{40, 64, 64}, Shape{5, 128, 128}, Shape{40, 28, 28}, Shape{4, 127, 126}, Shape{3, 128, 1},
        Shape{6, 1, 128}, Shape{5, 33, 97}, Shape{9, 9, 32}, Shape{100, 2, 3}, Shape{7, 17, 16}, Shape{9, 1, 1},
        Shape{6, 77}, Shape{5, 40, 90}, Shape{7, 20, 48}, Shape{3, 30, 96}})
    for (int i = 0; i < scaled(40); ++i) {
      Random random(++seed);
      Case c{.seed = seed, .structure = static_cast<Structure>(below(random, kStructures))};
      const auto sites = chance(random, 0.5) ? make_sites(c.structure, shape, random)
                                             : scatter(shape, pick<double>(random, {0.1, 0.003, 2e-4}), random);
      const auto dtype = pick<DType>(random, {DType::boolean, DType::uint8, DType::int16, DType::float64});
      c.input = mask_array(sites, shape, dtype, chance(random, 0.5));
      c.options.batch_axes = 1;
      c.wanted.distance = pick<DType>(random, {DType::float32, DType::float32, DType::float64});
      const auto take_labels = [&] {
        c.options.sites.rule = grid::Sites::Rule::labels;
        if (chance(random, 0.7)) c.input = label_input(dtype, shape, random);
        c.options.signed_distance = chance(random, 0.3);
      };
      switch (i % 4) {
        case 0: take_labels(); break;
        case 1: c.options.signed_distance = true; break;
        case 2:
          if (chance(random, 0.4)) take_labels();
          c.wanted.nearest = pick<DType>(random, {DType::int32, DType::int64});
          if (chance(random, 0.3)) c.wanted.distance.reset();
          if (chance(random, 0.3)) c.wanted.coordinates = DType::int32;
          break;
        default: c.wanted.squared = pick<DType>(random, {DType::uint32, DType::float64});
      }
      if (chance(random, 0.5)) c.options.surface = grid::Surface::centers;
      if (chance(random, 0.2)) c.options.border = {grid::Border::sites};
      if (chance(random, 0.2)) c.options.max_distance = 10;
      if (chance(random, 0.2) && c.wanted.squared != DType::uint32) c.options.spacing = {0.3};
      if (chance(random, 0.2))
        for (int k = 1; k < shape.rank(); ++k) {
          const std::int64_t begin = below(random, shape[k]);
          c.options.region.push_back({begin, begin + 1 + below(random, shape[k] - begin)});
        }
      check_budgets(c);
      if (HasFatalFailure()) return;
    }
}

/// Sites anywhere, in a few columns, in one row, beside a gap as long as may be, or only at a row's ends.
std::vector<bool> sites_of_shallow(const Shape& shape, int kind, Random& random) {
  const std::int64_t nx = shape[shape.rank() - 1], rows = element_count(shape) / nx;
  auto sites = scatter(shape, pick<double>(random, {1.0, 0.3, 0.02, 1e-3, 1e-4}), random);
  const std::int64_t row = below(random, rows), begin = below(random, nx), end = begin + below(random, nx - begin + 1);
  for (std::size_t k = 0; k < sites.size(); ++k) {
    const auto x = static_cast<std::int64_t>(k) % nx, y = static_cast<std::int64_t>(k) / nx;
    const bool at_end = x < 2 || x == nx - 1;
    if (kind == 1 && x % 37 != 5) sites[k] = false;
    if (kind == 2 && y != row) sites[k] = false;
    if (kind == 3 && x >= begin && x < end) sites[k] = false;
    if (kind == 4) sites[k] = at_end && (x + y + row) % 3 == 0;
  }
  return sites;
}

/// Results of many kinds, of a region now and then.
void ask_for_any(Case& c, Random& random) {
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
void give_sign(Case& c, Random& random) {
  c.options.signed_distance = chance(random, 0.4);
  if (!c.options.signed_distance) return;
  c.wanted.squared.reset();  // has none
  if (!c.wanted.distance) c.wanted.distance = DType::float32;
}

/// Up to the most rows of the engine for shallow images, and one more, as many as its kernels are made for or one more,
/// and lines. As long as what a block has, a summary of words, and as many of these as are looked at together, and as
/// what 32 bits hold the square of: a bit less or more. Whole and in pieces.
TEST_F(Cuda, ShallowImages) {
  Random random(1800000);
  for (const Shape& shape :
       {Shape{129},      Shape{1000},      Shape{2, 255},   Shape{4, 256},     Shape{5, 257},    Shape{8, 511},
        Shape{9, 513},   Shape{16, 1023},  Shape{17, 1024}, Shape{31, 1025},   Shape{32, 1025},  Shape{30, 2049},
        Shape{3, 32767}, Shape{3, 32769},  Shape{2, 33100}, Shape{3, 40000},   Shape{65500},     Shape{2, 65537},
        Shape{140000},   Shape{7, 3, 300}, Shape{300, 140}, Shape{5, 31, 129}, Shape{3, 20, 160}})
    for (int i = 0; i < scaled(15); ++i) {
      Case c{.structure = Structure::sparse};
      const auto dtype = pick<DType>(random, {DType::uint8, DType::uint8, DType::boolean, DType::float32});
      const bool is_zero = chance(random, 0.5);
      c.input = mask_array(sites_of_shallow(shape, i % 5, random), shape, dtype, is_zero);
      c.options.sites.rule = is_zero ? grid::Sites::Rule::zero : grid::Sites::Rule::nonzero;
      c.options.batch_axes = shape.rank() == 3 || shape[0] == 300;
      c.options.surface = pick<grid::Surface>(random, {grid::Surface::faces, grid::Surface::centers});
      c.wanted = {.distance = DType::float32};
      for (const bool sign : {true, false}) {
        c.options.signed_distance = sign;
        check_against_cpu(c);
      }
      ask_for_any(c, random);
      give_sign(c, random);
      check_budgets(c);
      if (HasFatalFailure()) return;
    }
}

/// The longest rows of that engine, and longer ones, whose sites are far.
TEST_F(Cuda, LongestShallowImages) {
  Random random(1810000);
  constexpr std::int64_t kMost = 1 << 20;
  for (const Shape& shape : {Shape{kMost}, Shape{kMost + 1}, Shape{2, kMost - 31}, Shape{4, kMost + 1}})
    for (int kind : {3, 4}) {
      Case c{.structure = Structure::sparse};
      const auto masks = c.options.sites.rule;
      c.input = mask_array(sites_of_shallow(shape, kind, random), shape);
      c.wanted = {.distance = DType::float32};
      check_against_cpu(c);
      c.options.signed_distance = true;
      check_against_cpu(c);
      c.options.sites.rule = grid::Sites::Rule::labels;
      check_against_cpu(c);
      c.options.signed_distance = false;
      for (const auto rule : {grid::Sites::Rule::labels, masks}) {
        c.options.sites.rule = rule;
        c.wanted = {.distance = DType::float32, .nearest = DType::int64};
        check_against_cpu(c);
        c.wanted = {.squared = DType::uint64};
        check_against_cpu(c);
      }
      if (HasFatalFailure()) return;
    }
}

/// Labels in that engine: in runs along rows of about one length, which rows have in common or not, or anywhere.
Array labels_of_shallow(DType dtype, const Shape& shape, Random& random) {
  Array input(dtype, shape);
  const std::int64_t nx = shape[shape.rank() - 1];
  const double ends = pick<double>(random, {0.5, 0.1, 0.01, 1e-4}), others = pick<double>(random, {0, 0.05, 0.7});
  const std::int64_t labels = pick<std::int64_t>(random, {2, 3, 20});
  const bool is_float = dtype == DType::float32 || dtype == DType::float64;
  double label = 1;
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    if (i % nx == 0 || chance(random, ends)) label = static_cast<double>(below(random, labels));
    const bool is_as_above = i >= nx && !chance(random, others);
    store(input, i, is_as_above ? static_cast<double>(value_at(input, i - nx)) : label);
    if (is_float && chance(random, 0.01)) store(input, i, std::numeric_limits<double>::quiet_NaN());
  }
  return input;
}

/// As masks in that engine; with more than eight rows if these are too long for the one for images.
TEST_F(Cuda, ShallowLabels) {
  Random random(1820000);
  for (const Shape& shape : {Shape{129}, Shape{1000}, Shape{2, 255}, Shape{4, 256}, Shape{5, 257}, Shape{8, 513},
                             Shape{9, 513}, Shape{31, 1025}, Shape{3, 32769}, Shape{2, 65537}, Shape{140000},
                             Shape{9, 46001}, Shape{31, 46017}, Shape{7, 3, 300}, Shape{300, 140}, Shape{5, 7, 129}})
    for (int i = 0; i < scaled(element_count(shape) > 300000 ? 3 : 15); ++i) {
      Case c{.structure = Structure::sparse};
      const auto dtype = pick<DType>(
          random, {DType::uint8, DType::int16, DType::int32, DType::uint64, DType::float32, DType::float64});
      c.input = labels_of_shallow(dtype, shape, random);
      c.options.sites.rule = grid::Sites::Rule::labels;
      c.options.batch_axes = shape.rank() == 3 || shape[0] == 300;
      c.wanted = {.distance = DType::float32};
      check_against_cpu(c);
      c.wanted.nearest = DType::int32;
      check_against_cpu(c);
      ask_for_any(c, random);
      give_sign(c, random);
      check_budgets(c);
      if (HasFatalFailure()) return;
    }
}

/// Labels in tiles of one size, with background here and there.
Array tiled_labels(DType dtype, const Shape& shape, Random& random) {
  Array input(dtype, shape);
  const std::int64_t nx = shape[shape.rank() - 1], side = pick<std::int64_t>(random, {1, 2, 5, 40, 90});
  const std::int64_t height = pick<std::int64_t>(random, {1, 3, 40, 1000}),
                     labels = pick<std::int64_t>(random, {2, 3, 5});
  const double background = pick<double>(random, {0, 1e-3});
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    const double label = 1 + static_cast<double>((i % nx / side + i / nx / height) % labels);
    store(input, i, chance(random, background) ? 0 : label);
  }
  return input;
}

/// Segments of many sizes, and masks, in shapes that no tile fits; whole and in pieces.
TEST_F(Cuda, Labels) {
  std::uint64_t seed = 1400000;
  for (const Shape& shape :
       {Shape{300, 700},     Shape{1000, 1777},  Shape{3, 40000},    Shape{9000, 3},     Shape{1, 5000},
        Shape{32, 32},       Shape{33, 511},     Shape{65, 1025},    Shape{61, 53, 47},  Shape{33, 65, 129},
        Shape{7, 300, 301},  Shape{300, 7, 130}, Shape{64, 96, 128}, Shape{40, 1030, 5}, Shape{1024, 40, 33},
        Shape{40, 1024, 33}, Shape{641, 9, 70},  Shape{33, 9, 48},   Shape{33, 9, 208},  Shape{37, 11, 400},
        Shape{37, 11, 1008}, Shape{70, 1300}})
    for (int i = 0; i < scaled(8); ++i) {
      Random random(++seed);
      Case c{.seed = seed, .structure = static_cast<Structure>(below(random, kStructures))};
      const auto dtype = pick<DType>(random, {DType::boolean, DType::uint8, DType::int8, DType::int16, DType::uint32,
                                              DType::int64, DType::float32, DType::float64});
      c.input = chance(random, 0.3)
                    ? mask_array(make_sites(c.structure, shape, random), shape, dtype, chance(random, 0.5))
                    : label_input(dtype, shape, random);
      c.options.sites.rule = grid::Sites::Rule::labels;
      if (chance(random, 0.2)) c.options.border = {grid::Border::sites};
      if (chance(random, 0.2)) c.options.max_distance = 10;
      c.wanted.distance = DType::float32;
      if (element_count(shape) < 300000) check_budgets(c);
      else check_against_cpu(c);
      if (HasFatalFailure()) return;
      c.options.batch_axes = 1;
      c.options.execution = {};
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Volumes whose rows of labels begin anywhere; also in pieces, of which each is compared with the last plane of the
/// one before.
TEST_F(Cuda, LooseLabelsOfVolumes) {
  Random random(767000);
  for (std::int64_t nx : {1, 15, 17, 31, 33, 100, 127, 129, 241, 255, 257, 300, 497, 511, 513, 700, 1023})
    for (int i = 0; i < scaled(6); ++i) {
      Case c = volume_of_bytes(nx, random);
      const auto dtype = pick<DType>(random, {DType::uint8, DType::uint8, DType::int8, DType::int32});
      c.input = label_input(dtype, c.input.shape(), random);
      c.options.sites.rule = grid::Sites::Rule::labels;
      c.options.signed_distance = chance(random, 0.5);
      if (chance(random, 0.3)) c.options.surface = grid::Surface::centers;
      if (chance(random, 0.3)) c.wanted.nearest = DType::int32;
      if (c.options.batch_axes == 0 && chance(random, 0.5)) check_budgets(c);
      else check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Nearest elements of other labels in images: of few labels and many, in patterns full of ties; whole and in pieces.
TEST_F(Cuda, NearestOfLabels) {
  std::uint64_t seed = 1480000;
  for (const Shape& shape :
       {Shape{300, 700}, Shape{1000, 1777}, Shape{3, 40000}, Shape{9000, 3}, Shape{5000}, Shape{64, 1024},
        Shape{33, 511}, Shape{129, 128}, Shape{60, 70}, Shape{2, 40, 300}, Shape{130, 164}, Shape{150, 288}})
    for (int i = 0; i < scaled(24); ++i) {
      Random random(++seed);
      Case c{.seed = seed, .structure = static_cast<Structure>(below(random, kStructures))};
      const auto dtype = pick<DType>(random, {DType::uint8, DType::int16, DType::float32});
      switch (i % 3) {
        case 0: c.input = label_input(dtype, shape, random); break;
        case 1: c.input = mask_array(make_sites(c.structure, shape, random), shape, dtype); break;
        default: c.input = tiled_labels(dtype, shape, random);
      }
      c.options.sites.rule = grid::Sites::Rule::labels;
      c.options.batch_axes = shape.rank() == 3 ? 1 : 0;
      c.wanted = {.distance = DType::float32, .nearest = pick<DType>(random, {DType::int32, DType::int64})};
      if (chance(random, 0.2)) c.options.spacing = {2.5, 1.25};
      if (c.options.spacing.size() > 1) c.options.spacing.resize(static_cast<std::size_t>(shape.rank() == 1 ? 1 : 2));
      if (chance(random, 0.2)) c.options.signed_distance = true, c.options.surface = grid::Surface::centers;
      if (chance(random, 0.1)) c.wanted.distance.reset();
      if (element_count(shape) < 300000) check_budgets(c);
      else check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Labels in boxes, each axis with a size of its own, with background here and there, or as a label of boxes.
Array boxes_of_labels(DType dtype, const Shape& shape, Random& random) {
  Array input(dtype, shape);
  std::int64_t size[3];
  for (std::int64_t& s : size) s = pick<std::int64_t>(random, {1, 2, 7, 45, 5000});
  const auto labels = pick<std::int64_t>(random, {2, 3, 5});
  const double background = pick<double>(random, {0, 1e-3, 0.1}), first = chance(random, 0.5) ? 1 : 0;
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    const std::int64_t x = i % shape[2], y = i / shape[2] % shape[1], z = i / shape[2] / shape[1];
    const std::int64_t box = x / size[2] + y / size[1] + z / size[0];
    store(input, i, chance(random, background) ? 0 : first + static_cast<double>(box % labels));
  }
  return input;
}

/// The same in volumes, where ends of runs along every axis meet sites beyond those along the others.
TEST_F(Cuda, NearestOfLabelsInVolumes) {
  std::uint64_t seed = 1490000;
  for (const Shape& shape :
       {Shape{61, 53, 47}, Shape{33, 65, 129}, Shape{7, 300, 301}, Shape{200, 9, 130}, Shape{64, 96, 128},
        Shape{40, 1024, 5}, Shape{1024, 40, 17}, Shape{641, 9, 70}, Shape{33, 9, 48}, Shape{70, 11, 208},
        Shape{33, 9, 400}, Shape{20, 11, 1008}, Shape{1, 40, 64}, Shape{90, 1, 33}})
    for (int i = 0; i < scaled(30); ++i) {
      Random random(++seed);
      Case c{.seed = seed, .structure = static_cast<Structure>(below(random, kStructures))};
      const auto dtype = pick<DType>(random, {DType::uint8, DType::int16, DType::float32, DType::int64});
      switch (i % 3) {
        case 0: c.input = label_input(dtype, shape, random); break;
        case 1: c.input = mask_array(make_sites(c.structure, shape, random), shape, dtype); break;
        default: c.input = boxes_of_labels(dtype, shape, random);
      }
      c.options.sites.rule = grid::Sites::Rule::labels;
      c.wanted = {.distance = DType::float32, .nearest = pick<DType>(random, {DType::int32, DType::int64})};
      if (chance(random, 0.4))
        c.options.spacing = pick<std::vector<double>>(random, {{0.3}, {3, 1, 1}, {2.5, 1.25, 0.7}, {1, 2, 300}});
      if (chance(random, 0.2)) c.options.signed_distance = true, c.options.surface = grid::Surface::centers;
      if (chance(random, 0.2)) c.options.border = {grid::Border::sites};
      if (chance(random, 0.2)) c.options.max_distance = 10;
      if (chance(random, 0.1)) c.wanted.distance.reset();
      if (chance(random, 0.1)) c.wanted.coordinates = DType::int32;
      if (element_count(shape) < 300000) check_budgets(c);
      else check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Lines that just fit the shared memory of a block with 64 or 99 KiB of it, and such as do not with all else that is
/// in there.
TEST_F(Cuda, LinesThatFillSharedMemory) {
  Random random(41);
  OneOf some(5);
  for (std::int64_t length : {520, 522, 524, 712, 720, 728, 756, 760, 764, 800, 816, 832, 840, 864, 868, 872})
    for (const Shape& shape : {Shape{length, 3, 33}, Shape{3, length, 33}})
      for (const std::vector<double>& spacing : {std::vector<double>{}, {3, 1, 1}})
        for (bool labels : {false, true})
          for (bool sites : {false, true}) {
            if (!some.is_next()) continue;
            Case c{.structure = Structure::sparse};
            c.input = labels ? label_input(DType::uint8, shape, random)
                             : mask_array(make_sites(c.structure, shape, random), shape);
            if (labels) c.options.sites.rule = grid::Sites::Rule::labels;
            c.options.spacing = spacing;
            c.wanted.distance = DType::float32;
            if (sites) c.wanted.nearest = DType::int32;
            check_against_cpu(c);
            if (HasFatalFailure()) return;
          }
}

/// Runs along rows over many words: no end, one, or one far away; results of all types.
TEST_F(Cuda, LongRunsOfLabels) {
  OneOf some(3);
  for (const Shape& shape : {Shape{70, 5000}, Shape{3, 40000}, Shape{2100, 33}, Shape{20, 30, 1000}})
    for (int stripes = 0; stripes < 4; ++stripes) {
      Case c;
      c.input = Array(DType::uint16, shape);
      const std::int64_t nx = shape[shape.rank() - 1];
      for (std::int64_t i = 0; i < element_count(shape); ++i) {
        const std::int64_t x = i % nx, y = i / nx;
        const std::int64_t change = nx * stripes / 7 + (stripes == 3 ? y % 5 : 0);
        store(c.input, i, x < change ? 9 : y == 1 && stripes == 2 && x == nx - 1 ? 0 : 300);
      }
      c.options.sites.rule = grid::Sites::Rule::labels;
      for (const Wanted& wanted :
           {Wanted{.distance = DType::float32}, Wanted{.distance = DType::float64, .squared = DType::uint32},
            Wanted{.squared = DType::uint64}, Wanted{.squared = DType::float64}, Wanted{.nearest = DType::int64}}) {
        c.wanted = wanted;
        for (bool is_signed : {false, true}) {
          c.options.signed_distance = is_signed;
          if ((is_signed && wanted.squared) || !some.is_next()) continue;
          check_against_cpu(c);
          if (HasFatalFailure()) return;
        }
      }
    }
}

/// Of labels: a sign, squares, other types, regions and spacings; whole and in pieces.
TEST_F(Cuda, LabelsWithOtherOptions) {
  std::uint64_t seed = 1450000;
  for (const Shape& shape :
       {Shape{300, 700}, Shape{1000, 1777}, Shape{3, 40000}, Shape{9000, 3}, Shape{5000}, Shape{33, 511},
        Shape{61, 53, 47}, Shape{33, 65, 129}, Shape{7, 300, 301}, Shape{40, 1030, 5}, Shape{1024, 40, 33},
        Shape{40, 1024, 33}, Shape{33, 9, 48}, Shape{130, 164}, Shape{150, 288}})
    for (int i = 0; i < scaled(20); ++i) {
      Random random(++seed);
      Case c{.seed = seed, .structure = static_cast<Structure>(below(random, kStructures))};
      const auto dtype = pick<DType>(random, {DType::uint8, DType::int16, DType::uint32, DType::float32});
      c.input = chance(random, 0.3) ? mask_array(make_sites(c.structure, shape, random), shape, dtype)
                                    : label_input(dtype, shape, random);
      c.options.sites.rule = grid::Sites::Rule::labels;
      c.options.signed_distance = chance(random, 0.5);
      if (chance(random, 0.5)) c.options.surface = grid::Surface::centers;
      if (chance(random, 0.2)) c.options.border = {grid::Border::sites};
      if (chance(random, 0.2)) c.options.max_distance = 10;
      c.wanted.distance = pick<DType>(random, {DType::float32, DType::float64});
      if (!c.options.signed_distance && chance(random, 0.3))
        c.wanted.squared = pick<DType>(random, {DType::uint32, DType::float64});
      if (chance(random, 0.3)) c.wanted.nearest = pick<DType>(random, {DType::int32, DType::int64});
      if (chance(random, 0.1)) c.wanted.coordinates = DType::int32;
      if (!c.wanted.squared && chance(random, 0.4)) c.options.spacing = {0.3};
      if (c.wanted.squared != DType::uint32 && chance(random, 0.3)) {
        c.options.spacing = {2.5, 1.25, 0.7};
        c.options.spacing.resize(static_cast<std::size_t>(shape.rank()));
        c.options.surface = grid::Surface::centers;
      }
      if (chance(random, 0.3))
        for (std::int64_t extent : shape) {
          const std::int64_t begin = below(random, extent);
          c.options.region.push_back({begin, begin + 1 + below(random, extent - begin)});
        }
      if (element_count(shape) < 300000) check_budgets(c);
      else check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Shapes for unequal spacings: up to the longest axes of the fast engines and beyond.
const std::vector<Shape> kSpacedShapes = {
    Shape{300, 700},    Shape{701, 1030},    Shape{1000, 1777},   Shape{40, 4000},
    Shape{9000, 3},     Shape{33, 511},      Shape{32, 32},       Shape{61, 53, 47},
    Shape{33, 65, 129}, Shape{7, 300, 301},  Shape{300, 7, 130},  Shape{64, 96, 128},
    Shape{40, 1030, 5}, Shape{1024, 40, 33}, Shape{40, 1024, 33}, Shape{641, 9, 70}};

/// Sites near and far, with spacings out of these; limits with the probability `limits`.
Case spaced_case(std::uint64_t seed, const Shape& shape, Random& random, const std::vector<double>& spacings,
                 double limits) {
  Case c{.seed = seed, .structure = static_cast<Structure>(below(random, kStructures))};
  auto sites = make_sites(c.structure, shape, random);
  if (chance(random, 0.5)) sites = scatter(shape, pick<double>(random, {0.3, 0.03, 0.003, 3e-4, 3e-5}), random);
  c.input = mask_array(sites, shape);
  for (int k = 0; k < shape.rank(); ++k) c.options.spacing.push_back(pick(random, spacings));
  if (chance(random, limits)) c.options.border = {grid::Border::sites};
  if (chance(random, limits)) c.options.max_distance = pick<double>(random, {3, 10.5, 70, 2000, 1e6});
  c.wanted.distance = DType::float32;
  return c;
}

/// A case whole and in pieces, and its parts along the first axis as a batch.
void check_spaced(Case& c) {
  const Shape& shape = c.input.shape();
  if (element_count(shape) < 300000) check_budgets(c);
  else check_against_cpu(c);
  if (testing::Test::HasFatalFailure()) return;
  c.options.batch_axes = 1;
  c.options.spacing.pop_back();
  if (!c.options.region.empty()) c.options.region.pop_back();
  for (std::size_t k = 0; k < c.options.region.size(); ++k) {
    const std::int64_t extent = shape[static_cast<int>(k) + 1];
    c.options.region[k] = {std::min(c.options.region[k].begin, extent - 1), extent};
  }
  c.options.execution = {};
  check_against_cpu(c);
}

/// Squares, and signed distances to other labels, of which four neighbours are written at once where rows are aligned:
/// all of them, or a region, whose first column is a multiple of four or not.
TEST_F(Cuda, ValuesInFours) {
  std::uint64_t seed = 1490000;
  const Shape shape{150, 1040};
  for (int i = 0; i < scaled(100); ++i) {
    Random random(++seed);
    Case c{.seed = seed, .structure = static_cast<Structure>(below(random, kStructures))};
    const bool has_labels = chance(random, 0.7);
    c.input = has_labels ? label_input(DType::uint8, shape, random)
                         : mask_array(make_sites(c.structure, shape, random), shape);
    if (has_labels) c.options.sites.rule = grid::Sites::Rule::labels;
    c.options.signed_distance = has_labels && chance(random, 0.6);
    if (chance(random, 0.5)) c.options.surface = grid::Surface::centers;
    if (c.options.signed_distance) c.wanted = {.distance = DType::float32};
    else c.wanted = {.squared = DType::uint32};
    if (chance(random, 0.5)) {
      const std::int64_t y = below(random, 100), x = 4 * below(random, 20) + (chance(random, 0.3) ? 1 : 0);
      c.options.region = {{y, y + 1 + below(random, 150 - y)}, {x, x + 4 * (1 + below(random, (1040 - x) / 4))}};
    }
    check_against_cpu(c);
    if (HasFatalFailure()) return;
  }
}

/// Multiples of a unit, small and as large as they may be, and none.
TEST_F(Cuda, Spacings) {
  std::uint64_t seed = 1500000;
  for (const Shape& shape : kSpacedShapes)
    for (int i = 0; i < scaled(12); ++i) {
      Random random(++seed);
      Case c =
          spaced_case(seed, shape, random, {1, 1, 2, 3, 0.5, 0.7, 1.25, 0.1, 255, 0.7071067811865476, 0.742188}, 0.3);
      check_spaced(c);
      if (HasFatalFailure()) return;
    }
}

/// A line of sites that leans away from lines along y, so that the nearest of their rows are far away: in steps, in
/// rows of which every third has none, with another line that is as near in the middle. Also so far that brackets
/// measure above the least; lines end about where those do that are left to brackets, where blocks change, and beyond.
/// With a border and a maximum, too.
TEST_F(Cuda, FarRowsWithSpacings) {
  OneOf some(5);
  for (const Shape& shape :
       {Shape{40, 256, 33}, Shape{40, 257, 17}, Shape{33, 300, 70}, Shape{64, 512, 18}, Shape{40, 513, 33},
        Shape{40, 641, 17}, Shape{36, 1024, 17}, Shape{36, 1025, 17}, Shape{40, 257, 32}, Shape{40, 300, 36}})
    for (int kind = 0; kind < 3; ++kind)
      for (const double spacing_z : {7.0, 9.0, 50.0}) {
        if (!some.is_next()) continue;
        const std::int64_t nz = shape[0], ny = shape[1], nx = shape[2];
        std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
        for (std::int64_t y = 0; y < ny; ++y) {
          const std::int64_t z = y * nz / ny, x = y * 7 % nx;
          if (kind == 1 && y % 3 == 0) continue;
          sites[static_cast<std::size_t>((z * ny + y) * nx + x)] = true;
          if (kind == 2) sites[static_cast<std::size_t>(((nz - 1 - z) * ny + y) * nx + x)] = true;
        }
        Case c{.structure = Structure::diagonal};
        c.input = mask_array(sites, shape);
        c.options.spacing = {spacing_z, 1, kind == 1 ? 3.0 : 1.0};
        c.wanted.distance = DType::float32;
        check_against_cpu(c);
        c.options.border = {grid::Border::open, grid::Border::sites, grid::Border::open};
        check_against_cpu(c);
        c.options.max_distance = static_cast<double>(nz);
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
}

/// Volumes with spacings whose sites are at one end of their rows, in two of three lines along z, in few of these, or in
/// none: at the other end half tiles have sites, though none near, and those of the third line have none.
TEST_F(Cuda, SitesAtEndsOfRowsWithSpacings) {
  Random random(930000);
  for (const Shape& shape : {Shape{40, 9, 300}, Shape{130, 5, 200}, Shape{300, 5, 170}, Shape{3, 40, 700}})
    for (const std::vector<double>& spacing : {std::vector<double>{3, 1, 1}, {1, 2, 1}, {1, 1, 3}})
      for (const double share : {0.3, 0.01, 0.0}) {
        auto sites = scatter(shape, share, random);
        for (std::size_t k = 0; k < sites.size(); ++k) {
          const auto x = static_cast<std::int64_t>(k) % shape[2],
                     y = static_cast<std::int64_t>(k) / shape[2] % shape[1];
          if (x >= 3 || y % 3 == 1) sites[k] = false;
        }
        Case c{.structure = Structure::sparse};
        c.input = mask_array(sites, shape);
        c.options.spacing = spacing;
        c.wanted = {.distance = chance(random, 0.7) ? DType::float32 : DType::float64};
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
}

/// Volumes, and batches of them, of which none, a few or a few more rows have sites, so that all is solved from these
/// rows or by passes; lines end about where those do that ask for it, and beyond.
TEST_F(Cuda, FewRowsOfVolumesWithSpacings) {
  const std::vector<Shape> volumes = {{1, 257, 16}, {9, 256, 40},  {5, 257, 33}, {1, 260, 1030},
                                      {3, 641, 17}, {2, 1024, 36}, {3, 1025, 33}};
  const int shapes = static_cast<int>(volumes.size());
  for (const std::int64_t i : some_of(2 * 7 * shapes, 24)) {
    const Shape& volume = volumes[static_cast<std::size_t>(i % shapes)];
    const std::int64_t filled = i / shapes % 7, items = i / (7 * shapes) == 0 ? 1 : 3;
    Random random(1640000 + static_cast<std::uint64_t>(i));
    const Shape shape{items, volume[0], volume[1], volume[2]};
    const std::int64_t rows = element_count(shape) / volume[2];
    std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
    for (std::int64_t k = 0; k < filled; ++k) {
      const std::int64_t row = k == 0 ? rows - 1 : below(random, rows), more = chance(random, 0.2) ? 200 : 2;
      for (std::int64_t n = 0; n < more; ++n)
        sites[static_cast<std::size_t>(row * volume[2] + below(random, volume[2]))] = true;
    }
    Case c{.seed = 1640000 + static_cast<std::uint64_t>(i), .structure = Structure::sparse};
    c.input = mask_array(sites, shape);
    c.options.batch_axes = 1;
    c.options.spacing = {pick<double>(random, {3, 2.5, 50}), pick<double>(random, {1, 1.25}), 0.5};
    if (volume[2] > 64 && items == 1) c.options.region = {{0, volume[0]}, {0, volume[1]}, {64, volume[2]}};
    if (chance(random, 0.2)) c.options.max_distance = 10.5;
    if (chance(random, 0.2)) c.options.border = {grid::Border::sites, grid::Border::open, grid::Border::sites};
    c.wanted.distance = DType::float32;
    check_against_cpu(c);
    if (items == 1 && element_count(shape) < 300000) check_budgets(c);
    if (HasFatalFailure()) return;
  }
}

/// Sites as near as others but for what doubles alone tell: mirrored along the diagonal, with spacings that differ
/// little.
TEST_F(Cuda, AlmostEqualSpacings) {
  std::uint64_t seed = 1650000;
  for (const Shape& shape : {Shape{300, 300}, Shape{130, 2000}, Shape{1300, 700}})
    for (int s = 0; s < kStructures; ++s)
      for (double more : {1e-7, -3e-8, 1e-9, 1e-15}) {
        Random random(++seed);
        Case c{.seed = seed, .structure = static_cast<Structure>(s)};
        c.input = mask_array(make_sites(c.structure, shape, random), shape);
        c.options.spacing = {1, 1 + more};
        c.wanted.distance = chance(random, 0.5) ? DType::float32 : DType::float64;
        if (chance(random, 0.5)) c.wanted.squared = DType::float64;
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
}

/// Images whose squares 31 bits do not hold, wide and high, with sites near and far, and spacings too unequal for
/// floats.
TEST_F(Cuda, AnySpacingsOfLargeImages) {
  std::uint64_t seed = 1600000;
  for (const Shape& shape : {Shape{1500, 2100}, Shape{6, 24000}, Shape{5, 30000}, Shape{20000, 9}, Shape{70, 9001}})
    for (int s = 0; s < kStructures; ++s) {
      Random random(++seed);
      Case c{.seed = seed, .structure = static_cast<Structure>(s)};
      c.input = mask_array(make_sites(c.structure, shape, random), shape);
      c.options.spacing = pick<std::vector<double>>(random, {{0.7, 1.25},
                                                             {255, 254},
                                                             {0.742188, 1.3},
                                                             {0.1249, 1},
                                                             {0.1251, 1},
                                                             {1, 0.33333},
                                                             {0.7071, 170},
                                                             {170.3, 0.7071},
                                                             {1e-9, 1},
                                                             {179.2, 0.7},
                                                             {0.7, 179.2},
                                                             {1e-25, 3e-24},
                                                             {2.5e27, 1.1e28}});
      c.options.signed_distance = chance(random, 0.2);
      c.options.surface = grid::Surface::centers;
      if (chance(random, 0.2)) c.options.border = {grid::Border::sites};
      if (chance(random, 0.2)) c.options.max_distance = 33.3;
      c.wanted.distance = chance(random, 0.7) ? DType::float32 : DType::float64;
      if (!c.options.signed_distance && chance(random, 0.2)) c.wanted.squared = DType::float64;
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

/// Of which squares alone tell sites apart, whose keys are equal where distances are not, in a unit that 31 bits do not
/// hold, very unequal, very small and very large.
const std::vector<std::vector<double>> kAnySpacings = {{1.25, 0.742188, 0.742188},
                                                       {0.742188, 1.25, 0.742188},
                                                       {0.742188, 0.742188, 0.742188 * (1 + 1e-15)},
                                                       {1, 1.000001, 1.0000005},
                                                       {3.00001, 1, 1.0000003},
                                                       {0.1, 0.30000001192092896, 0.20000000298023224},
                                                       {255, 254, 253},
                                                       {1, 1000.1, 0.001},
                                                       {100.3, 0.11, 7.7},
                                                       {1e-25, 3e-24, 2e-25},
                                                       {2.5e27, 1.1e28, 3e27},
                                                       {1e-70, 3e-70, 2.1e-70},
                                                       {3, 1, 1},
                                                       {2.5, 1.25, 0.7}};

/// Volumes, also signed, with any spacings.
TEST_F(Cuda, AnySpacingsOfVolumes) {
  std::uint64_t seed = 1670000;
  OneOf some(3);
  for (const Shape& shape :
       {Shape{61, 53, 47}, Shape{33, 65, 130}, Shape{9, 140, 64}, Shape{140, 9, 33}, Shape{3, 300, 40},
        Shape{270, 2, 70}, Shape{1024, 3, 17}, Shape{2, 1023, 33}, Shape{544, 2, 19}, Shape{3, 513, 17},
        Shape{545, 3, 16}, Shape{3, 321, 17}, Shape{2, 497, 33}, Shape{400, 3, 17}, Shape{481, 2, 19},
        Shape{521, 2, 16}, Shape{610, 3, 9}, Shape{2, 700, 33}})
    for (int s = 0; s < kStructures; ++s)
      for (int i = 0; i < scaled(8); ++i) {
        Random random(++seed);
        if (!some.is_next()) continue;
        Case c{.seed = seed, .structure = static_cast<Structure>(s)};
        c.input = mask_array(make_sites(c.structure, shape, random), shape);
        c.options.spacing = pick(random, kAnySpacings);
        c.options.signed_distance = chance(random, 0.5);
        c.options.surface = grid::Surface::centers;
        c.wanted.distance = DType::float32;
        check_budgets(c);
        if (HasFatalFailure()) return;
      }
}

/// Volumes with any spacings of which few planes have sites, or few rows of these, at the ends and anywhere; up to as
/// many as are tried everywhere, and one more.
TEST_F(Cuda, AnySpacingsOfFewRows) {
  std::uint64_t seed = 1675000;
  OneOf some(3);
  for (const Shape& shape : {Shape{50, 70, 45}, Shape{257, 40, 33}, Shape{40, 257, 17}, Shape{600, 9, 20}})
    for (int planes = 1; planes <= 5; ++planes)
      for (int rows = 1; rows <= 5; ++rows) {
        Random random(++seed);
        if (!some.is_next()) continue;
        std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
        const auto any_of = [&](std::int64_t extent, int number) {
          return number == 0 ? 0 : number == 1 ? extent - 1 : below(random, extent);
        };
        for (int k = 0; k < planes; ++k)
          for (int i = 0; i < rows; ++i) {
            const std::int64_t z = any_of(shape[0], k), y = any_of(shape[1], i), x = below(random, shape[2]);
            sites[static_cast<std::size_t>((z * shape[1] + y) * shape[2] + x)] = true;
          }
        Case c{.seed = seed, .structure = Structure::sparse};
        c.input = mask_array(sites, shape);
        c.options.spacing = pick<std::vector<double>>(random, {{1.25, 0.742188, 0.742188}, {0.3, 7.1, 0.9}});
        c.options.signed_distance = chance(random, 0.3);
        c.options.surface = grid::Surface::centers;
        c.wanted.distance = DType::float32;
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
}

/// Volumes with any spacings whose sites are shells, inside of which nearly every row of a line is the nearest to some
/// element, and others hardly farther: as smooth as voxels are, or with a tenth of the sites left.
TEST_F(Cuda, AnySpacingsOfShells) {
  std::uint64_t seed = 1678000;
  for (const Shape& shape : {Shape{96, 100, 70}, Shape{70, 260, 20}, Shape{330, 12, 33}, Shape{6, 515, 48},
                             Shape{1024, 12, 33}, Shape{6, 1021, 48}, Shape{6, 400, 48}, Shape{450, 7, 33}})
    for (const std::vector<double>& spacing : {std::vector<double>{1.25, 0.742188, 0.742188},
                                               {0.742188, 1.25, 0.9},
                                               {1, 1.0000001, 0.99},
                                               {9.1, 1.3, 1e-3},
                                               {1e-3, 1.3, 9.1},
                                               {0.05, 1.01, 1.7}})
      for (const bool is_whole : {true, false}) {
        Random random(++seed);
        std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
        const auto from_middle = [&](std::int64_t i, int axis) {  // 1 at the shell
          const double half = static_cast<double>(shape[axis]) / 2;
          return (static_cast<double>(i) - half) / (0.8 * half);
        };
        std::size_t at = 0;
        for (std::int64_t z = 0; z < shape[0]; ++z)
          for (std::int64_t y = 0; y < shape[1]; ++y)
            for (std::int64_t x = 0; x < shape[2]; ++x, ++at) {
              const double radius = std::hypot(from_middle(z, 0), from_middle(y, 1), from_middle(x, 2));
              sites[at] = std::abs(radius - 1) < 0.03 && (is_whole || chance(random, 0.1));
            }
        Case c{.seed = seed, .structure = Structure::sparse};
        c.input = mask_array(sites, shape);
        c.options.spacing = spacing;
        c.options.signed_distance = chance(random, 0.3);
        c.options.surface = grid::Surface::centers;
        c.wanted.distance = DType::float32;
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
}

/// Planes of which one row in eight has sites, and one more, with any spacings; in the last so unequal ones that
/// squares of columns are too large for brackets.
TEST_F(Cuda, AnySpacingsOfSparseRows) {
  std::uint64_t seed = 1676000;
  for (const Shape& shape : {Shape{20, 70, 45}, Shape{9, 256, 33}, Shape{7, 257, 17}, Shape{5, 400, 40},
                             Shape{5, 520, 40}, Shape{3, 1024, 70}})
    for (const std::vector<double>& spacing :
         {std::vector<double>{1.25, 0.742188, 0.742188}, {0.3, 7.1, 0.9}, {1, 0.0101, 3.7}})
      for (int i = 0; i < scaled(4); ++i) {
        Random random(++seed);
        std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
        for (std::int64_t z = 0; z < shape[0]; ++z) {
          std::int64_t left = shape[1] / 8 + z % 2;  // rows
          for (std::int64_t y = 0; y < shape[1] && left > 0; ++y) {
            if (below(random, shape[1] - y) >= left) continue;
            --left;
            for (std::int64_t k = below(random, 3); k >= 0; --k)
              sites[static_cast<std::size_t>((z * shape[1] + y) * shape[2] + below(random, shape[2]))] = true;
          }
        }
        Case c{.seed = seed, .structure = Structure::sparse};
        c.input = mask_array(sites, shape);
        c.options.spacing = spacing;
        c.wanted.distance = DType::float32;
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
}

/// Lattices of sites with any spacings, whose holes are as wide as windows reach, and somewhat less and more; in which
/// no element, a few and many are in doubt.
TEST_F(Cuda, AnySpacingsAtTheReachOfWindows) {
  std::uint64_t seed = 1677000;
  OneOf some(3);
  const Shape shape{70, 75, 66};
  for (std::int64_t step : {16, 24, 26, 28, 30, 34, 40, 48})
    for (const std::vector<double>& spacing : {std::vector<double>{1.25, 0.742188, 0.742188},
                                               {0.742188, 0.742188, 0.742188 * (1 + 1e-15)},
                                               {1, 1.000001, 1.0000005},
                                               {1.1, 1.003, 0.9007},
                                               {255, 254, 253}})
      for (bool is_signed : {false, true}) {
        Random random(++seed);
        if (!some.is_next()) continue;
        std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
        for (std::int64_t z = 3; z < shape[0]; z += step)
          for (std::int64_t y = 2; y < shape[1]; y += step)
            for (std::int64_t x = 1; x < shape[2]; x += step) {
              const std::int64_t to_x = std::min(x + below(random, 4), shape[2] - 1);
              sites[static_cast<std::size_t>((z * shape[1] + y) * shape[2] + to_x)] = true;
            }
        Case c{.seed = seed, .structure = Structure::sparse};
        c.input = mask_array(sites, shape);
        c.options = {.spacing = spacing, .signed_distance = is_signed, .surface = grid::Surface::centers};
        c.wanted.distance = DType::float32;
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
}

/// Nearest sites of volumes with any spacings, in all forms and with limits: of which many are as near, in double or but
/// for what it rounds, with squares that brackets take above the least, and such that doubles round too much of.
TEST_F(Cuda, NearestWithAnySpacingsOfVolumes) {
  std::uint64_t seed = 1679000;
  OneOf some(7);
  for (const Shape& shape :
       {Shape{61, 53, 47}, Shape{33, 65, 130}, Shape{140, 9, 33}, Shape{9, 140, 64}, Shape{270, 2, 70},
        Shape{3, 300, 40}, Shape{1024, 3, 17}, Shape{2, 1023, 33}, Shape{513, 2, 19}, Shape{3, 513, 17},
        Shape{1, 70, 90}, Shape{70, 1, 90}, Shape{80, 70, 1}})
    for (int s = 0; s < kStructures; ++s)
      for (int i = 0; i < scaled(8); ++i) {
        Random random(++seed);
        if (!some.is_next()) continue;
        Case c{.seed = seed, .structure = static_cast<Structure>(s)};
        c.input = mask_array(make_sites(c.structure, shape, random), shape);
        c.options.spacing = pick(random, kAnySpacings);
        c.wanted.nearest = pick<DType>(random, {DType::int32, DType::int64});
        if (chance(random, 0.7)) c.wanted.distance = chance(random, 0.8) ? DType::float32 : DType::float64;
        if (chance(random, 0.2)) c.wanted.squared = DType::float64;
        if (chance(random, 0.2)) c.wanted.coordinates = DType::int32;
        if (chance(random, 0.2)) c.options.border = {grid::Border::sites};
        if (chance(random, 0.2)) c.options.max_distance = 10.5 * c.options.spacing[1];
        if (chance(random, 0.2))
          for (std::int64_t extent : shape) c.options.region.push_back({extent / 3, extent - extent / 4});
        else if (chance(random, 0.2))  // columns alone, from a whole word on
          c.options.region = {{0, shape[0]}, {0, shape[1]}, {(shape[2] - 1) / 64 * 32, shape[2]}};
        check_budgets(c);
        if (HasFatalFailure()) return;
      }
}

/// Lattices of sites between which most elements have several that are as near, and rows, columns and planes of which few
/// have sites.
TEST_F(Cuda, NearestOfSeveralWithAnySpacings) {
  std::uint64_t seed = 1679500;
  for (const Shape& shape : {Shape{50, 60, 70}, Shape{130, 20, 40}, Shape{20, 300, 33}})
    for (const std::vector<double>& spacing :
         {std::vector<double>{1.25, 0.742188, 0.742188}, {0.742188, 0.742188, 1.1}, {1.1, 0.742188, 2 * 0.742188}})
      for (const Shape& step : {Shape{2, 2, 2}, Shape{6, 4, 10}, Shape{1, 7, 8}, Shape{16, 1, 6}, Shape{48, 56, 64},
                                Shape{40, 14, 1}, Shape{13, 40, 9}}) {
        std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
        for (std::int64_t z = step[0] / 2; z < shape[0]; z += step[0])
          for (std::int64_t y = step[1] / 2; y < shape[1]; y += step[1])
            for (std::int64_t x = step[2] / 2; x < shape[2]; x += step[2])
              sites[static_cast<std::size_t>((z * shape[1] + y) * shape[2] + x)] = true;
        Case c{.seed = ++seed, .structure = Structure::sparse};
        c.input = mask_array(sites, shape);
        c.options.spacing = spacing;
        c.wanted = {.distance = DType::float32, .nearest = DType::int32};
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
}

/// Labels of volumes with any spacings, of any type, dense and few, among them such of which whole lines and planes are of
/// one label, and of label 0.
TEST_F(Cuda, LabelsWithAnySpacingsOfVolumes) {
  std::uint64_t seed = 1679700;
  OneOf some(2);
  for (const Shape& shape :
       {Shape{61, 53, 47}, Shape{33, 65, 130}, Shape{140, 9, 33}, Shape{9, 140, 64}, Shape{270, 2, 70},
        Shape{3, 300, 40}, Shape{1024, 3, 17}, Shape{2, 1023, 33}, Shape{513, 2, 19}, Shape{3, 513, 17},
        Shape{400, 3, 17}, Shape{1, 70, 90}, Shape{70, 1, 90}})
    for (int i = 0; i < scaled(60); ++i) {
      Random random(++seed);
      if (!some.is_next()) continue;
      Case c{.seed = seed, .structure = static_cast<Structure>(below(random, kStructures))};
      if (chance(random, 0.5)) c.input = label_input(pick<DType>(random, {DType::uint8, DType::uint32}), shape, random);
      else c.input = mask_array(make_sites(c.structure, shape, random), shape);
      c.options.sites.rule = grid::Sites::Rule::labels;
      c.options.spacing = pick(random, kAnySpacings);
      if (chance(random, 0.3)) c.options.border = {grid::Border::sites};  // keeps axes of one element, too
      c.wanted.distance = DType::float32;
      check_budgets(c);
      if (HasFatalFailure()) return;
    }
}

/// What else can be asked for with unequal spacings: a sign, nearest sites, labels, regions, other types.
TEST_F(Cuda, SpacingsWithOtherOptions) {
  std::uint64_t seed = 1700000;
  for (const Shape& shape : kSpacedShapes)
    for (int i = 0; i < scaled(24); ++i) {
      Random random(++seed);
      Case c =
          spaced_case(seed, shape, random, {1, 1, 2, 3, 0.5, 0.7, 1.25, 5, 16, 255, 0.7071067811865476, 0.742188}, 0.2);
      switch (i % 4) {
        case 0:
          c.options.signed_distance = true;
          c.options.surface = grid::Surface::centers;
          break;
        case 1:
          c.wanted.nearest = pick<DType>(random, {DType::int32, DType::int64});
          if (chance(random, 0.3)) c.wanted.distance.reset();
          if (chance(random, 0.3)) c.wanted.coordinates = DType::int32;
          break;
        case 2:
          c.options.sites.rule = grid::Sites::Rule::labels;
          if (chance(random, 0.7))
            c.input = label_input(pick<DType>(random, {DType::uint8, DType::uint32}), shape, random);
          break;
        default:
          if (chance(random, 0.3)) c.wanted.distance = DType::float64;
          if (chance(random, 0.3)) c.wanted.squared = DType::float64;
      }
      if (i % 4 == 3 || chance(random, 0.2))
        for (std::int64_t extent : shape) {
          const std::int64_t begin = below(random, extent);
          c.options.region.push_back({begin, begin + 1 + below(random, extent - begin)});
        }
      check_spaced(c);
      if (HasFatalFailure()) return;
    }
}

/// Borders and limits of signed fields, also where roots are just kept and just dropped.
TEST_F(Cuda, LimitsOfSigns) {
  using Rule = grid::Sites::Rule;
  std::uint64_t seed = 1800000;
  for (const Shape& shape : {Shape{300, 700}, Shape{70, 1030}, Shape{5000}, Shape{61, 53, 47}, Shape{33, 65, 130}})
    for (int i = 0; i < scaled(24); ++i) {
      Random random(++seed);
      Case c{.seed = seed, .structure = static_cast<Structure>(below(random, kStructures))};
      c.input = mask_array(make_sites(c.structure, shape, random), shape);
      c.options.sites = {pick<Rule>(random, {Rule::zero, Rule::nonzero, Rule::greater_equal}), 1};
      c.options.signed_distance = true;
      c.options.surface = chance(random, 0.7) ? grid::Surface::faces : grid::Surface::centers;
      for (int k = 0; k < shape.rank(); ++k)
        c.options.border.push_back(pick<grid::Border>(random, {grid::Border::open, grid::Border::sites}));
      if (chance(random, 0.7))
        c.options.max_distance =
            pick<double>(random, {0, 1, 2.5, std::sqrt(5.0), std::nextafter(7.0, 0.0), 7, 30, 3000});
      c.wanted.distance = DType::float32;
      check_budgets(c);
      if (HasFatalFailure()) return;
    }
}

/// Every comparison of elements of every type, with values at the ends of the types and between their elements.
TEST_F(Cuda, Comparisons) {
  using Rule = grid::Sites::Rule;
  const double infinity = std::numeric_limits<double>::infinity();
  const std::int64_t two53 = std::int64_t{1} << 53;
  const grid::Sites::Value values[] = {0,         2.5,       0.1,        -1,      127,    255,  two53 + 1, -two53 - 1,
                                       INT64_MIN, INT64_MAX, UINT64_MAX, -0x1p63, 0x1p64, 1e30, -1e30,     infinity,
                                       -infinity, std::nan("")};
  Random random(1900000);
  for (const DType dtype : {DType::boolean, DType::int8, DType::uint8, DType::int16, DType::uint16, DType::int32,
                            DType::uint32, DType::int64, DType::uint64, DType::float32, DType::float64})
    for (const Rule rule :
         {Rule::greater_equal, Rule::greater, Rule::less_equal, Rule::less, Rule::equal, Rule::not_equal})
      for (const grid::Sites::Value& value : values) {
        if (value.is_nan() && rule != Rule::equal && rule != Rule::not_equal) continue;
        Case c{.seed = 1900000};
        c.input = Array(dtype, {3, 67});
        for (std::int64_t i = 0; i < c.input.size(); ++i) {
          const auto& near = values[static_cast<std::size_t>(below(random, std::ssize(values)))];
          store(c.input, i, near.real() + pick<double>(random, {-1, 0, 1}));
        }
        if (dtype == DType::int64 || dtype == DType::uint64) {  // what no double holds
          auto* whole = reinterpret_cast<std::int64_t*>(c.input.data());
          for (const std::int64_t here : {two53 + 1, two53, -two53 - 1, INT64_MAX, INT64_MIN, std::int64_t{-1}})
            *whole++ = here;
        }
        c.options.sites = {rule, value};
        c.wanted = {.distance = DType::float32, .nearest = DType::int32};
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
}

/// Limits where roots are just kept and just dropped, those that leave the fast engines, and those that drop nothing.
TEST_F(Cuda, LimitsOfSpacings) {
  std::uint64_t seed = 1600000;
  for (const Shape& shape : {Shape{61, 53, 47}, Shape{300, 700}})
    for (double unit : {1.0, 0.7}) {
      Random random(++seed);
      Case c{.seed = seed, .structure = Structure::sparse};
      c.input = mask_array(scatter(shape, 1e-3, random), shape);
      c.options.spacing.assign(static_cast<std::size_t>(shape.rank()), unit);
      c.options.spacing[0] = 3 * unit;
      c.options.border.assign(static_cast<std::size_t>(shape.rank()), grid::Border::open);
      c.options.border[1] = grid::Border::sites;
      c.wanted.distance = DType::float32;
      for (double limit : {7 * unit, std::nextafter(7 * unit, 0.0), 1023 * unit, 1024 * unit, 5000 * unit}) {
        c.options.max_distance = limit;
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
    }
}

/// What a process finds that was forked from this one, in which the device is in use.
std::string found_in_a_fork(Backend backend) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    std::string found = "no error";
    try {
      const Array input(DType::uint8, {30, 40});
      grid::DistanceOptions options;
      options.execution.backend = backend;
      run(input.view(), options, {.distance = DType::float32});
    } catch (const DeviceError& error) {
      found = error.what();
    }
    release_device_memory();
    _exit(write(ends[1], found.data(), found.size()) == static_cast<ssize_t>(found.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string found;
  for (char c = 0; read(ends[0], &c, 1) == 1;) found += c;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return found;
}

TEST_F(Cuda, ForkedProcessesHaveTheCpuAlone) {
  ASSERT_GT(device_count(), 0);
  EXPECT_EQ(found_in_a_fork(Backend::cuda),
            "CUDA was in use before this process was forked, and cannot be used after it; start processes that use a "
            "device afresh: in Python with multiprocessing's start method spawn");
  EXPECT_EQ(found_in_a_fork(Backend::cpu), "no error");
  EXPECT_EQ(found_in_a_fork(Backend::automatic), "no error");
}

}  // namespace
}  // namespace fathom::test
