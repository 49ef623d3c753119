// Small images, and images of few rows.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "cuda_case.h"

namespace fathom::test {
namespace {

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
          if (chance(random, 0.3)) c.wanted.offset = DType::float64;
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
std::vector<bool> sites_of_few_rows(const Shape& shape, int kind, Random& random) {
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

/// Images of few rows, up to those of a band and one more, and lines: as long as what a block has, and as what 32 bits
/// hold the square of, a bit less or more. Whole and in pieces.
TEST_F(Cuda, ImagesOfFewRows) {
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
      c.input = mask_array(sites_of_few_rows(shape, i % 5, random), shape, dtype, is_zero);
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

/// Long rows whose sites are far.
TEST_F(Cuda, LongRowsOfImages) {
  Random random(1810000);
  constexpr std::int64_t kMost = 1 << 20;
  for (const Shape& shape : {Shape{kMost}, Shape{kMost + 1}, Shape{2, kMost - 31}, Shape{4, kMost + 1}})
    for (int kind : {3, 4}) {
      Case c{.structure = Structure::sparse};
      const auto masks = c.options.sites.rule;
      c.input = mask_array(sites_of_few_rows(shape, kind, random), shape);
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

}  // namespace
}  // namespace fathom::test
