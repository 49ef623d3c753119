// Label images and volumes.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "cuda_case.h"

namespace fathom::test {
namespace {

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

/// Labels in runs along rows of about one length, which rows have in common or not, or anywhere.
Array labels_of_few_rows(DType dtype, const Shape& shape, Random& random) {
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

/// As masks; also in rows that are too long for the engine for images.
TEST_F(Cuda, LabelsOfFewRows) {
  Random random(1820000);
  for (const Shape& shape : {Shape{129}, Shape{1000}, Shape{2, 255}, Shape{4, 256}, Shape{5, 257}, Shape{8, 513},
                             Shape{9, 513}, Shape{31, 1025}, Shape{3, 32769}, Shape{2, 65537}, Shape{140000},
                             Shape{9, 46001}, Shape{31, 46017}, Shape{7, 3, 300}, Shape{300, 140}, Shape{5, 7, 129}})
    for (int i = 0; i < scaled(element_count(shape) > 300000 ? 3 : 15); ++i) {
      Case c{.structure = Structure::sparse};
      const auto dtype = pick<DType>(
          random, {DType::uint8, DType::int16, DType::int32, DType::uint64, DType::float32, DType::float64});
      c.input = labels_of_few_rows(dtype, shape, random);
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

}  // namespace
}  // namespace fathom::test
