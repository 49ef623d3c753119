// Volumes by the lengths of their lines and rows: what is packed, searched and written in another way at each.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "cuda_case.h"

namespace fathom::test {
namespace {

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

}  // namespace
}  // namespace fathom::test
