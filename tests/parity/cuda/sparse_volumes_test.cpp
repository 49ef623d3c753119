// Volumes whose sites are few, or far from some rows and lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cuda_case.h"

namespace fathom::test {
namespace {

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

}  // namespace
}  // namespace fathom::test
