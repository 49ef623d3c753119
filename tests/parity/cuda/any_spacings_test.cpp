// Spacings without a unit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cuda_case.h"

namespace fathom::test {
namespace {

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

}  // namespace
}  // namespace fathom::test
