// Map and reduction on a device: see map_reduce.hd.h. Map: block = tile, which its threads load into shared memory;
// thread i = queries i, i + 256, i + 512, …; all threads of a warp look at the same site. Reduction: block = query,
// which is a column of what the map has written in rows of tiles; threads load some of it into shared memory and reduce
// it as a tree.
// Memory: the points, J · ⌈N / K⌉ · m numbers, and J · m results. Atomic operations leave these results alone.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "core/parallel.h"
#include "fathom/core/error.h"
#include "published/cuda/stopwatch.h"
#include "published/map_reduce_problem.h"

namespace fathom::published::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::check_launch;

constexpr int kBlock = 256, kMostTile = 256;

/// What lies on the device.
template <class T>
struct Resident {
  PointList<T> sites, queries;
  ConeList cones;
  int tile;
};

/// Loads tile `number` into shared memory. All threads of the block call it.
template <class T>
__device__ PointList<T> load_tile(const Resident<T>& points, std::int64_t number, T (&shared)[3][kMostTile]) {
  const std::int64_t first = number * points.tile;
  const std::int64_t rest = points.sites.count - first;
  const int count = rest < points.tile ? static_cast<int>(rest) : points.tile;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kBlock)
    for (int k = 0; k < 3; ++k) shared[k][i] = points.sites.at(k, first + i);
  __syncthreads();
  return {{shared[0], shared[1], shared[2]}, count};
}

/// Minima of tiles from first_tile on; a row for each, or all kept in one by atomic operations.
template <class T, bool kAtomic>
__global__ void __launch_bounds__(kBlock)
    map(const __grid_constant__ Resident<T> points, std::int64_t first_tile, Squared<T>* result) {
  __shared__ T shared[3][kMostTile];
  const PointList<T> tile = load_tile(points, first_tile + blockIdx.x, shared);
  const std::int64_t m = points.queries.count;
  for (std::int64_t q = threadIdx.x; q < m; q += kBlock) {
    const Squared<T> least = least_of_tile(Query<T>(points.queries, points.cones, q), tile);
    if constexpr (kAtomic) atomicMin(result + q, least);
    else result[blockIdx.x * m + q] = least;
  }
}

/// The minimum of a column of `count` rows and of the result that is there. blockDim is a power of two.
template <class U>
__global__ void __launch_bounds__(kBlock) reduce(const U* rows, std::int64_t count, U* result) {
  __shared__ U some[kBlock];
  const unsigned thread = threadIdx.x;
  const std::int64_t q = blockIdx.x, m = gridDim.x;
  U least = result[q];
  for (std::int64_t first = 0; first < count; first += blockDim.x) {
    some[thread] = first + thread < count ? rows[(first + thread) * m + q] : kFarthest<U>;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
      if (thread < half) some[thread] = min(some[thread], some[thread + half]);
      __syncthreads();
    }
    least = min(least, some[0]);
    __syncthreads();
  }
  if (thread == 0) result[q] = least;
}

/// Once more a map: the lowest number of a site that is as near as the nearest.
template <class T>
__global__ void __launch_bounds__(kBlock)
    find_sites(const __grid_constant__ Resident<T> points, const Squared<T>* squared, std::uint32_t* site) {
  __shared__ T shared[3][kMostTile];
  const PointList<T> tile = load_tile(points, blockIdx.x, shared);
  for (std::int64_t q = threadIdx.x; q < points.queries.count; q += kBlock) {
    const std::int64_t found = first_of_tile(Query<T>(points.queries, points.cones, q), tile, squared[q]);
    if (found < tile.count)
      atomicMin(site + q, static_cast<std::uint32_t>(std::int64_t{blockIdx.x} * points.tile + found));
  }
}

/// A block has no more threads than rows need: small reductions leave fewer of them idle.
template <class U>
void launch_reduce(const U* rows, std::int64_t count, std::int64_t m, U* result, cudaStream_t stream) {
  unsigned threads = 32;
  while (threads < kBlock && threads < count) threads *= 2;
  reduce<<<static_cast<unsigned>(m), threads, 0, stream>>>(rows, count, result);
  check_launch("reducing");
}

/// Elements that points are spread over.
template <class T>
std::int64_t extent(const PointList<T>& points) {
  return points.count > 0 ? (points.count - 1) * points.step + 1 : 0;
}

/// Where the same points lie on the device.
template <class T>
PointList<T> take(const PointList<T>& points, fathom::cuda::Scratch& scratch) {
  PointList<T> there = points;
  for (const T*& axis : there.axis) axis = scratch.take<T>(extent(points));
  return there;
}

template <class T>
void copy(const PointList<T>& from, const PointList<T>& to, cudaStream_t stream) {
  for (int k = 0; k < 3 && from.count > 0; ++k)
    check(cudaMemcpyAsync(const_cast<T*>(to.axis[k]), from.axis[k], static_cast<std::size_t>(extent(from)) * sizeof(T),
                          cudaMemcpyHostToDevice, stream),
          "copying points");
}

template <class U>
void fill_farthest(U* numbers, std::int64_t count, cudaStream_t stream) {
  check(cudaMemsetAsync(numbers, 0xff, static_cast<std::size_t>(count) * sizeof(U), stream), "making room");
}

template <class T>
struct Arrays {
  Resident<T> points;
  Squared<T>*rows, *results, *squared;
  std::uint32_t* site;

  Arrays(const MapReduceProblem<T>& problem, const Division& division, fathom::cuda::Scratch& scratch)
      : points{take(problem.sites, scratch), take(problem.queries, scratch), problem.cones, problem.options.tile} {
    const std::int64_t m = problem.queries.count;
    points.cones.axes = take(problem.cones.axes, scratch);
    rows = scratch.take<Squared<T>>(problem.options.atomic ? 0 : division.streams * division.tiles_of_kernel() * m);
    results = scratch.take<Squared<T>>(division.streams * m);
    squared = scratch.take<Squared<T>>(m);
    site = scratch.take<std::uint32_t>(problem.site ? m : 0);
  }
};

/// K kernels that map, and K that reduce, by turns in J streams, each with rows and results of its own.
template <class T>
void map_and_reduce(const Arrays<T>& arrays, const Division& division, std::int64_t m, bool atomic,
                    const std::vector<fathom::cuda::OwnStream>& streams) {
  const fathom::cuda::Event ready;
  ready.record(streams[0].get());
  for (const auto& stream : streams) ready.hold_back(stream.get());
  for (std::int64_t kernel = 0; kernel < division.kernels; ++kernel) {
    const std::int64_t first = division.first_tile(kernel), tiles = division.first_tile(kernel + 1) - first,
                       turn = division.stream(kernel);
    if (tiles == 0) break;
    const cudaStream_t stream = streams[static_cast<std::size_t>(turn)].get();
    Squared<T>* const result = arrays.results + turn * m;
    Squared<T>* const rows = arrays.rows + turn * division.tiles_of_kernel() * m;
    if (atomic) map<T, true><<<static_cast<unsigned>(tiles), kBlock, 0, stream>>>(arrays.points, first, result);
    else map<T, false><<<static_cast<unsigned>(tiles), kBlock, 0, stream>>>(arrays.points, first, rows);
    check_launch("mapping");
    if (!atomic) launch_reduce(rows, tiles, m, result, stream);
  }
  for (const auto& stream : streams) {
    const fathom::cuda::Event done;
    done.record(stream.get());
    done.hold_back(streams[0].get());
  }
}

}  // namespace

template <class T>
Phases map_reduce(const MapReduceProblem<T>& problem) {
  const Division division = problem.division();
  const std::int64_t m = problem.queries.count;
  fathom::cuda::Scratch counted(nullptr);
  const Arrays<T> nothing(problem, division, counted);
  const std::vector<fathom::cuda::OwnStream> streams(static_cast<std::size_t>(division.streams));
  const cudaStream_t stream = streams[0].get();
  const fathom::cuda::DeviceMemory memory(counted.bytes(), stream);
  fathom::cuda::Scratch scratch(memory.data());
  const Arrays<T> arrays(problem, division, scratch);
  copy(problem.sites, arrays.points.sites, stream);

  Stopwatch watch(stream);
  copy(problem.queries, arrays.points.queries, stream);
  copy(problem.cones.axes, arrays.points.cones.axes, stream);
  watch.lap("copying queries");
  fill_farthest(arrays.results, division.streams * m, stream);
  fill_farthest(arrays.squared, m, stream);
  map_and_reduce(arrays, division, m, problem.options.atomic, streams);
  watch.lap(problem.options.atomic ? "map" : "map and reduction");
  launch_reduce(arrays.results, division.streams, m, arrays.squared, stream);
  watch.lap("final reduction");
  if (problem.site) {
    fill_farthest(arrays.site, m, stream);
    find_sites<T>
        <<<static_cast<unsigned>(division.tiles()), kBlock, 0, stream>>>(arrays.points, arrays.squared, arrays.site);
    check_launch("finding sites");
    watch.lap("finding sites");
    check(cudaMemcpyAsync(problem.site, arrays.site, static_cast<std::size_t>(m) * sizeof *arrays.site,
                          cudaMemcpyDeviceToHost, stream),
          "copying sites");
  }
  check(cudaMemcpyAsync(problem.squared, arrays.squared, static_cast<std::size_t>(m) * sizeof *arrays.squared,
                        cudaMemcpyDeviceToHost, stream),
        "copying distances");
  streams[0].wait();
  if (problem.options.execution.stop.stop_requested()) throw Cancelled();
  return watch.phases();
}

template <class T>
Phases map_reduce_on_devices(const MapReduceProblem<T>& problem, std::vector<double>& shares) {
  constexpr std::int64_t kTrial = 1 << 16;
  const std::vector<int>& devices = problem.options.devices;
  const std::int64_t n = problem.sites.count, m = problem.queries.count;
  const auto workers = static_cast<std::int64_t>(devices.size());
  std::vector<Squared<T>> squared(static_cast<std::size_t>(workers * m));
  std::vector<std::uint32_t> site(problem.site ? squared.size() : 0);
  /// Some of the sites, on one of the devices, which has its own answers.
  const auto run = [&](std::int64_t worker, std::int64_t first, std::int64_t count) {
    const fathom::cuda::OnDevice on(devices[static_cast<std::size_t>(worker)]);
    MapReduceProblem<T> share = problem;
    share.sites = problem.sites.part(first, count);
    share.squared = squared.data() + worker * m;
    share.site = problem.site ? site.data() + worker * m : nullptr;
    double seconds = 0;
    for (const Phase& phase : map_reduce(share)) seconds += phase.seconds;
    return seconds;
  };

  Phases phases;
  std::vector<double> speeds;
  timed(phases, "measuring speeds", [&] {
    const std::int64_t some = std::min(n, kTrial);
    for (std::int64_t worker = 0; worker < workers; ++worker) {
      run(worker, 0, some);  // a device's first kernel takes longer
      speeds.push_back(static_cast<double>(some) / std::max(run(worker, 0, some), 1e-9));
    }
  });
  const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  std::vector<std::int64_t> border{0};
  for (const double speed : speeds)
    border.push_back(
        std::min(border.back() + std::llround(static_cast<double>(n) * (speed / all)), static_cast<long long>(n)));
  border.back() = n;
  timed(phases, "devices", [&] {
    parallel_jobs(static_cast<int>(workers), workers, [&](int, std::int64_t worker) {
      const auto d = static_cast<std::size_t>(worker);
      if (border[d + 1] > border[d]) run(worker, border[d], border[d + 1] - border[d]);
    });
  });
  timed(phases, "final reduction", [&] {
    std::fill_n(problem.squared, m, kFarthest<Squared<T>>);
    for (std::int64_t at = 0; at < workers * m; ++at) {
      const auto here = static_cast<std::size_t>(at), d = static_cast<std::size_t>(at / m);
      const std::int64_t q = at % m, first = border[d];
      // Of equals the first device's, whose sites have lower numbers.
      if (border[d + 1] == first || squared[here] >= problem.squared[q]) continue;
      problem.squared[q] = squared[here];
      if (problem.site) problem.site[q] = static_cast<std::uint32_t>(first + site[here]);
    }
  });
  for (std::size_t d = 0; d < devices.size(); ++d)
    shares.push_back(static_cast<double>(border[d + 1] - border[d]) / static_cast<double>(n));
  return phases;
}

template Phases map_reduce(const MapReduceProblem<std::int32_t>& problem);
template Phases map_reduce(const MapReduceProblem<float>& problem);
template Phases map_reduce(const MapReduceProblem<double>& problem);
template Phases map_reduce_on_devices(const MapReduceProblem<std::int32_t>& problem, std::vector<double>& shares);
template Phases map_reduce_on_devices(const MapReduceProblem<float>& problem, std::vector<double>& shares);
template Phases map_reduce_on_devices(const MapReduceProblem<double>& problem, std::vector<double>& shares);

}  // namespace fathom::published::cuda
