// Nearest sites of volumes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cuda_case.h"

namespace fathom::test {
namespace {

/// Nearest sites of a volume. @param cut  how often not all of its columns are asked for
Case nearest_in_volume(const std::vector<bool>& sites, const Shape& shape, double cut, Random& random) {
  Case c{.structure = Structure::sparse};
  c.input = mask_array(sites, shape);
  c.wanted = {.distance = DType::float32, .nearest = pick<DType>(random, {DType::int32, DType::int64})};
  if (chance(random, cut)) c.options.region = {{0, shape[0]}, {0, shape[1]}, {0, shape[2] - 3}};
  return c;
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

}  // namespace
}  // namespace fathom::test
