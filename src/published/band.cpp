// The front of the published bands: validates, takes a mesh apart, runs an algorithm, and puts its points into tiles.
#include "fathom/published/band.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

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

/// A tile's number in its lattice, in the order of a band's tiles.
/// @param tiles  along each axis
std::int64_t number_of(const std::array<std::int64_t, 3>& tiles, std::int64_t x, std::int64_t y, std::int64_t z) {
  return (z * tiles[1] + y) * tiles[0] + x;
}

std::int64_t number_of(const std::array<std::int64_t, 3>& tiles, const BandFound::Point& point) {
  const auto& [x, y, z] = point.at;
  return number_of(tiles, x / mesh::kTileSide, y / mesh::kTileSide, z / mesh::kTileSide);
}

/// Where a number is in a list in ascending order, or would be.
std::int64_t place_in(const std::vector<std::int64_t>& numbers, std::int64_t number) {
  return std::lower_bound(numbers.begin(), numbers.end(), number) - numbers.begin();
}

void sort_once(std::vector<std::int64_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

/// Calls work(part) for the parts of what was found, by all threads.
template <class Work>
void each_part(const BandFound& found, int threads, const Work& work) {
  parallel_jobs(threads, static_cast<std::int64_t>(found.parts.size()),
                [&](int, std::int64_t k) { work(found.parts[static_cast<std::size_t>(k)]); });
}

/// The numbers of the tiles that points are in, each once, in order.
std::vector<std::int64_t> tiles_of(const BandFound& found, const std::array<std::int64_t, 3>& tiles, int threads) {
  std::vector<std::int64_t> all;
  std::mutex adding;
  each_part(found, threads, [&](const std::vector<BandFound::Point>& points) {
    std::vector<std::int64_t> numbers;
    for (const BandFound::Point& point : points)
      if (const std::int64_t number = number_of(tiles, point); numbers.empty() || numbers.back() != number)
        numbers.push_back(number);
    sort_once(numbers);
    const std::lock_guard lock(adding);
    all.insert(all.end(), numbers.begin(), numbers.end());
  });
  sort_once(all);
  return all;
}

/// @param numbers  of the band's tiles. Parts of what was found may have points in the same ones.
template <class T>
void fill_tiles(const BandFound& found, const std::vector<std::int64_t>& numbers, int threads, mesh::Band& band) {
  T* const distances = band.distances.as<T>().data();
  std::uint64_t* const masks = band.masks.as<std::uint64_t>().data();
  std::int32_t* const tiles = band.tiles.as<std::int32_t>().data();
  const auto shape = band.tile_shape();
  parallel_jobs(threads, band.count(), [&](int, std::int64_t tile) {
    const std::int64_t number = numbers[static_cast<std::size_t>(tile)];
    const std::int64_t at[3] = {number % shape[0], number / shape[0] % shape[1], number / shape[0] / shape[1]};
    std::copy_n(at, 3, tiles + 3 * tile);
    std::fill_n(masks + mesh::kTileSide * tile, mesh::kTileSide, 0);
    std::fill_n(distances + mesh::kTilePoints * tile, mesh::kTilePoints, static_cast<T>(band.cutoff));
  });
  each_part(found, threads, [&](const std::vector<BandFound::Point>& points) {
    std::int64_t number = -1, tile = -1;
    for (const BandFound::Point& point : points) {
      if (number != number_of(shape, point)) {
        number = number_of(shape, point);
        tile = place_in(numbers, number);
      }
      const auto in = [&](int k) { return point.at[k] % mesh::kTileSide; };
      const int of_slice = in(0) + mesh::kTileSide * in(1);
      std::atomic_ref(masks[mesh::kTileSide * tile + in(2)]) |= std::uint64_t{1} << of_slice;
      distances[mesh::kTilePoints * tile + 64 * in(2) + of_slice] = static_cast<T>(std::sqrt(point.squared));
    }
  });
}

mesh::Band band_of(const BandFound& found, const mesh::Lattice& lattice, const BandOptions& options, int threads) {
  mesh::Band band;
  band.lattice = lattice;
  band.cutoff = options.cutoff;
  band.active = found.count();
  const auto tiles = band.tile_shape();
  const std::vector<std::int64_t> numbers = tiles_of(found, tiles, threads);
  const auto count = static_cast<std::int64_t>(numbers.size());
  band.tiles = Array(DType::int32, {count, 3});
  band.masks = Array(DType::uint64, {count, mesh::kTileSide});
  band.distances = Array(options.dtype, {count, mesh::kTilePoints});
  options.dtype == DType::float32 ? fill_tiles<float>(found, numbers, threads, band)
                                  : fill_tiles<double>(found, numbers, threads, band);
  band.row_inside = Array(DType::uint8, {tiles[2], tiles[1]});
  band.after_inside = Array(DType::uint8, {count});
  for (Array* sides : {&band.row_inside, &band.after_inside})
    std::fill_n(sides->as<std::uint8_t>().data(), sides->size(), std::uint8_t{0});
  return band;
}

/// Of the points of a tile of the exact band. What was found besides is within the cutoff by rounding alone.
/// @param at  the tile's place among those that were found, if it is there
template <class T>
BandDeviation deviation_of(const mesh::Band& found, const std::optional<std::int64_t>& at, const mesh::Band& exact,
                           std::int64_t tile) {
  const auto distances = [](const mesh::Band& band, std::int64_t n) {
    return band.distances.as<T>().data() + mesh::kTilePoints * n;
  };
  const auto masks = [](const mesh::Band& band, std::int64_t n) {
    return band.masks.as<std::uint64_t>().data() + mesh::kTileSide * n;
  };
  const std::uint64_t* const wanted = masks(exact, tile);
  BandDeviation deviation;
  if (!at) {
    for (int z = 0; z < mesh::kTileSide; ++z) deviation.missed += std::popcount(wanted[z]);
    return deviation;
  }
  const std::uint64_t* const had = masks(found, *at);
  const T *is = distances(found, *at), *should = distances(exact, tile);
  for (int z = 0; z < mesh::kTileSide; ++z) {
    deviation.missed += std::popcount(wanted[z] & ~had[z]);
    for (std::uint64_t word = had[z]; word != 0; word &= word - 1) {
      const int place = 64 * z + std::countr_zero(word);
      const double beyond = static_cast<double>(is[place]) - static_cast<double>(should[place]);
      deviation.farther += beyond > 0;
      deviation.largest = std::max(deviation.largest, beyond);
    }
  }
  return deviation;
}

void add(const BandDeviation& more, BandDeviation& sum) {
  sum.missed += more.missed;
  sum.farther += more.farther;
  sum.largest = std::max(sum.largest, more.largest);
}

/// Of all tiles.
template <class T>
BandDeviation deviation_of(const mesh::Band& found, const mesh::Band& exact, int threads) {
  const auto number = [&](const mesh::Band& band, std::int64_t tile) {
    const std::int32_t* const at = band.tiles.as<std::int32_t>().data() + 3 * tile;
    return number_of(band.tile_shape(), at[0], at[1], at[2]);
  };
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(found.count()));
  for (std::int64_t tile = 0; tile < found.count(); ++tile)
    numbers[static_cast<std::size_t>(tile)] = number(found, tile);
  std::vector<BandDeviation> sums(static_cast<std::size_t>(threads));
  parallel_jobs(threads, exact.count(), [&](int worker, std::int64_t tile) {
    const std::int64_t wanted = number(exact, tile), at = place_in(numbers, wanted);
    const bool is_there = at < found.count() && numbers[static_cast<std::size_t>(at)] == wanted;
    add(deviation_of<T>(found, is_there ? std::optional(at) : std::nullopt, exact, tile),
        sums[static_cast<std::size_t>(worker)]);
  });
  BandDeviation all;
  for (const BandDeviation& sum : sums) add(sum, all);
  if (exact.active > 0) all.share = static_cast<double>(all.missed) / static_cast<double>(exact.active);
  return all;
}

BandDeviation measure_error(const mesh::Triangles& mesh, const BandOptions& options, const mesh::Band& found,
                            int threads) {
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
  return options.dtype == DType::float32 ? deviation_of<float>(found, exact, threads)
                                         : deviation_of<double>(found, exact, threads);
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
    found = on_device ? cuda::octree(problem, options, threads) : run_on_cpu(problem, options, threads);
#else
    found = run_on_cpu(problem, options, threads);
#endif
  }
  BandResult result;
  result.band = band_of(found, lattice, options, threads);
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
  if (options.measure_error) report.error = measure_error(mesh, options, result.band, threads);
  if (options.execution.progress) options.execution.progress(1);
  return result;
}

}  // namespace fathom::published
