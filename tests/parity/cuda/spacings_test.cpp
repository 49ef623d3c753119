// Spacings that are multiples of one unit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cuda_case.h"

namespace fathom::test {
namespace {

/// Unequal spacings, in a unit or in none: lines that are sites throughout along z in some rows along y, or
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

}  // namespace
}  // namespace fathom::test
