// The front of the published bands: validates, takes a mesh apart, runs an algorithm, and puts its points into tiles.
#include "fathom/published/band.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <tuple>

#include "core/parallel.h"
#include "fathom/core/array.h"
#include "fathom/core/error.h"
#include "mesh/band_rule.h"
#include "mesh/surface.h"
#include "published/cpu/band.h"
#include "published/front.h"
#include "published/primitives.h"
#ifdef FATHOM_HAS_CUDA
#include "published/cuda/octree.h"
#endif

namespace fathom::published {

namespace {

bool is_octree(const BandOptions& options) { return options.algorithm == BandAlgorithm::octree; }

bool is_exact(const BandOptions& options) {
  return !is_octree(options) || (options.corrected && options.points && options.edges && options.faces);
}

/// @throws InvalidArgument
bool plan_backend(const BandOptions& options) {
  if (is_octree(options)) return runs_on_device(options.execution);
  if (options.execution.backend == Backend::cuda)
    throw InvalidArgument("the algorithms mauch and naive are of the CPU; take the backend auto or cpu, or the octree");
  return false;
}

/// @throws InvalidArgument what is beyond an algorithm's arithmetic
BandProblem problem_of(const PrimitiveLists& lists, const mesh::Bounds& bounds, const mesh::Lattice& lattice,
                       const BandOptions& options) {
  const double least = *std::min_element(lattice.spacing.begin(), lattice.spacing.end());
  double farthest = 0;
  for (std::size_t k = 0; k < 3; ++k)
    for (const double x : {lattice.origin[k], lattice.at(k, lattice.shape[k]), bounds.low[k], bounds.high[k]})
      farthest = std::max(farthest, std::abs(x));
  const double slack = 0x1p-20 * least + 0x1p-48 * farthest;
  if (options.algorithm != BandAlgorithm::naive && slack > least / 4)
    throw InvalidArgument(
        "the lattice's steps are too small beside the coordinates of the mesh and the lattice for the algorithms "
        "octree and mauch; move both to 0");
  constexpr double kMostSteps = 64;
  const auto [x, y, z] = lattice.spacing;
  if (is_octree(options) && options.cutoff + std::sqrt(x * x + y * y + z * z) / 2 > kMostSteps * least)
    throw InvalidArgument(
        "the cutoff and half a cell's diagonal are more than 64 of the lattice's shortest steps; the octree is for "
        "narrow bands, and for steps of about the same length along all axes");
  Primitives mesh = lists.view();
  mesh.yield = options.corrected || !is_octree(options);
  return {mesh::grid_of(lattice), mesh, options.cutoff, mesh::largest_square(options.cutoff), slack,
          options.corrected};
}

BandFound run_on_cpu(const BandProblem& problem, const BandOptions& options, int threads) {
  switch (options.algorithm) {
    case BandAlgorithm::octree: return cpu::octree(problem, options, threads);
    case BandAlgorithm::mauch: return cpu::mauch(problem, options, threads);
    case BandAlgorithm::naive: break;
  }
  return cpu::naive(problem, options, threads);
}

/// Where a point is, in the order of tiles.
auto order_of(const BandFound::Point& point) {
  const auto& [x, y, z] = point.at;
  return std::tuple(z / mesh::kTileSide, y / mesh::kTileSide, x / mesh::kTileSide, z, y, x);
}

bool are_in_one_tile(const BandFound::Point& a, const BandFound::Point& b) {
  return std::equal(a.at, a.at + 3, b.at, [](int p, int q) { return p / mesh::kTileSide == q / mesh::kTileSide; });
}

template <class T>
void fill_tiles(const std::vector<BandFound::Point>& points, mesh::Band& band) {
  T* const distances = band.distances.as<T>().data();
  std::fill_n(distances, band.distances.size(), static_cast<T>(band.cutoff));
  std::uint64_t* const masks = band.masks.as<std::uint64_t>().data();
  std::fill_n(masks, band.masks.size(), 0);
  std::int32_t* const tiles = band.tiles.as<std::int32_t>().data();
  std::int64_t tile = -1;
  for (std::size_t n = 0; n < points.size(); ++n) {
    const BandFound::Point& point = points[n];
    if (n == 0 || !are_in_one_tile(point, points[n - 1])) {
      ++tile;
      for (int k = 0; k < 3; ++k) tiles[3 * tile + k] = point.at[k] / mesh::kTileSide;
    }
    const auto in = [&](int k) { return point.at[k] % mesh::kTileSide; };
    const int of_slice = in(0) + mesh::kTileSide * in(1);
    masks[mesh::kTileSide * tile + in(2)] |= std::uint64_t{1} << of_slice;
    distances[mesh::kTilePoints * tile + 64 * in(2) + of_slice] = static_cast<T>(std::sqrt(point.squared));
  }
}

/// In the order of tiles: each thread sorts a part, and then parts are merged by pairs.
void sort_points(std::vector<BandFound::Point>& points, int threads) {
  const auto in_order = [](const BandFound::Point& a, const BandFound::Point& b) { return order_of(a) < order_of(b); };
  const auto parts = static_cast<std::int64_t>(threads);
  const auto begin_of = [&](std::int64_t part) {
    return points.begin() + static_cast<std::int64_t>(points.size()) * std::min(part, parts) / parts;
  };
  parallel_jobs(threads, parts, [&](int, std::int64_t k) { std::sort(begin_of(k), begin_of(k + 1), in_order); });
  for (std::int64_t width = 1; width < parts; width *= 2)
    parallel_jobs(threads, (parts + 2 * width - 1) / (2 * width), [&](int, std::int64_t k) {
      const std::int64_t first = 2 * width * k;
      std::inplace_merge(begin_of(first), begin_of(first + width), begin_of(first + 2 * width), in_order);
    });
}

mesh::Band band_of(std::vector<BandFound::Point>& points, const mesh::Lattice& lattice, const BandOptions& options,
                   int threads) {
  sort_points(points, threads);
  std::int64_t count = points.empty() ? 0 : 1;
  for (std::size_t n = 1; n < points.size(); ++n) count += !are_in_one_tile(points[n], points[n - 1]);
  mesh::Band band;
  band.lattice = lattice;
  band.cutoff = options.cutoff;
  band.active = static_cast<std::int64_t>(points.size());
  band.tiles = Array(DType::int32, {count, 3});
  band.masks = Array(DType::uint64, {count, mesh::kTileSide});
  band.distances = Array(options.dtype, {count, mesh::kTilePoints});
  options.dtype == DType::float32 ? fill_tiles<float>(points, band) : fill_tiles<double>(points, band);
  const auto tiles = band.tile_shape();
  band.row_inside = Array(DType::uint8, {tiles[2], tiles[1]});
  band.after_inside = Array(DType::uint8, {count});
  for (Array* sides : {&band.row_inside, &band.after_inside})
    std::fill_n(sides->as<std::uint8_t>().data(), sides->size(), std::uint8_t{0});
  return band;
}

/// In the order of a band's tiles.
bool is_before(const std::int32_t* a, const std::int32_t* b) {
  return std::tuple(a[2], a[1], a[0]) < std::tuple(b[2], b[1], b[0]);
}

/// Of the points of the exact band. What was found besides is within the cutoff by rounding alone.
template <class T>
BandDeviation deviation_of(const mesh::Band& found, const mesh::Band& exact) {
  BandDeviation deviation;
  const std::int32_t *tiles = found.tiles.as<std::int32_t>().data(), *all = exact.tiles.as<std::int32_t>().data();
  std::int64_t at = 0;
  for (std::int64_t tile = 0; tile < exact.count(); ++tile) {
    while (at < found.count() && is_before(tiles + 3 * at, all + 3 * tile)) ++at;
    const bool is_there = at < found.count() && std::equal(all + 3 * tile, all + 3 * tile + 3, tiles + 3 * at);
    for (std::int64_t z = 0; z < mesh::kTileSide; ++z) {
      const std::uint64_t wanted = exact.masks.as<std::uint64_t>().data()[mesh::kTileSide * tile + z];
      const std::uint64_t had = is_there ? found.masks.as<std::uint64_t>().data()[mesh::kTileSide * at + z] : 0;
      deviation.missed += std::popcount(wanted & ~had);
      for (std::uint64_t word = had; word != 0; word &= word - 1) {
        const std::int64_t place = 64 * z + std::countr_zero(word);
        const double beyond =
            static_cast<double>(found.distances.as<T>().data()[mesh::kTilePoints * at + place]) -
            static_cast<double>(exact.distances.as<T>().data()[mesh::kTilePoints * tile + place]);
        deviation.farther += beyond > 0;
        deviation.largest = std::max(deviation.largest, beyond);
      }
    }
    at += is_there;
  }
  if (exact.active > 0) deviation.share = static_cast<double>(deviation.missed) / static_cast<double>(exact.active);
  return deviation;
}

BandDeviation measure_error(const mesh::Triangles& mesh, const BandOptions& options, const mesh::Band& found) {
  mesh::TriangleSetOptions plain;
  plain.sign = mesh::Sign::none;
  plain.execution = options.execution;
  plain.execution.backend = Backend::cpu;
  plain.execution.progress = {};
  plain.execution.scratch_limit = {};
  mesh::BandOptions wanted;
  wanted.cutoff = options.cutoff;
  wanted.dtype = options.dtype;
  wanted.execution = plain.execution;
  const mesh::Band exact = mesh::TriangleSet(mesh, plain).band(found.lattice, wanted);
  return options.dtype == DType::float32 ? deviation_of<float>(found, exact) : deviation_of<double>(found, exact);
}

}  // namespace

BandResult band(const mesh::Triangles& mesh, const mesh::Lattice& lattice, const BandOptions& options) {
  mesh::BandOptions plain;
  plain.cutoff = options.cutoff;
  plain.dtype = options.dtype;
  mesh::check_band(lattice, plain);
  const bool on_device = plan_backend(options);
  const int threads = threads_of(options.execution);
  const mesh::Surface surface = mesh::make_surface(mesh);
  const PrimitiveLists lists = primitives_of(surface);
  const BandProblem problem = problem_of(lists, surface.bounds, lattice, options);
  BandFound found;
  if (element_count(lattice.array_shape()) > 0) {
#ifdef FATHOM_HAS_CUDA
    found = on_device ? cuda::octree(problem, options) : run_on_cpu(problem, options, threads);
#else
    found = run_on_cpu(problem, options, threads);
#endif
  }
  BandResult result;
  result.band = band_of(found.points, lattice, options, threads);
  BandReport& report = result.report;
  report.backend = on_device ? Backend::cuda : Backend::cpu;
  report.threads = threads;
  if (on_device) report.device = describe_device(current_device()).name;
  report.scratch_bytes = found.scratch_bytes;
  report.exact = is_exact(options);
  report.nodes = found.nodes;
  report.visited = found.visited;
  report.phases = found.phases;
  result.band.threads = threads;
  result.band.scratch_bytes = found.scratch_bytes;
  if (options.measure_error) report.error = measure_error(mesh, options, result.band);
  if (options.execution.progress) options.execution.progress(1);
  return result;
}

}  // namespace fathom::published
