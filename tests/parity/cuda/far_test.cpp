// Images whose sites are far, lie between long lines, or tie.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cuda_case.h"

namespace fathom::test {
namespace {

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

}  // namespace
}  // namespace fathom::test
