// Each step marks the sites on a grid, asks grid for the nearest one of each element, adds up regions and moves sites,
// as on the CPU and by its arithmetic. Positions stay on the device; steps are put into the stream several at a time,
// and one that finds that the sites came to rest before it does nothing.
//
// Work: thread = site, but for the regions (regions.cu). Launch: blocks of 256 threads. Cost: grid's nearest sites and
// a pass over them.
#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/cuda/arrays.h"
#include "apps/cuda/lloyd.h"
#include "apps/cuda/regions.h"
#include "apps/cuda/weights.h"
#include "apps/lloyd.hd.h"
#include "apps/sampler.hd.h"
#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "core/parallel.h"
#include "fathom/core/error.h"
#include "fathom/grid/distance.h"

namespace fathom::apps::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::check_launch;
using fathom::cuda::DeviceMemory;
using fathom::cuda::OnDevice;
using fathom::cuda::OwnStream;
using fathom::cuda::Scratch;

constexpr unsigned kBlock = 256;
constexpr int kSteps = 4;  ///< between looks at whether sites rest: one costs some hundredths of a millisecond

unsigned blocks_of(std::int64_t threads) { return static_cast<unsigned>((threads + kBlock - 1) / kBlock); }

/// The sites of a step. Memory is of the device.
struct Sites {
  std::int64_t count;
  SumLayout layout;
  int supersample;
  std::int64_t extent[kMostAxes];  ///< of the grid
  double* positions;               ///< [n, axes]
  std::int32_t* places;            ///< [n, axes] of their elements
  std::int32_t* elements;          ///< [n] linear
  std::int64_t* sums;              ///< [n, layout.fields()]
  std::uint8_t* mask;              ///< of the grid: 1 at sites, else 0
  std::uint32_t* numbers;          ///< of the grid: at sites the lowest number of those there; else all bits
};

__device__ std::int64_t thread_number() { return std::int64_t{blockIdx.x} * kBlock + threadIdx.x; }

__global__ void __launch_bounds__(kBlock) put_sites(const __grid_constant__ Sites sites) {
  const std::int64_t site = thread_number();
  if (site >= sites.count) return;
  const int axes = sites.layout.axes;
  std::int64_t element = 0;
  for (int axis = 0; axis < axes; ++axis) {
    const std::int64_t k = site * axes + axis;
    const std::int32_t at = element_of(sites.positions[k], sites.supersample, sites.extent[axis]);
    sites.places[k] = at;
    element = element * sites.extent[axis] + at;
  }
  sites.elements[site] = static_cast<std::int32_t>(element);
  sites.mask[element] = 1;
  atomicMin(sites.numbers + element, static_cast<std::uint32_t>(site));
  for (int field = 0; field < sites.layout.fields(); ++field) sites.sums[site * sites.layout.fields() + field] = 0;
}

struct Moving {
  Draws draws;
  bool on_elements;
  double tolerance;
  std::uint64_t iteration;
  const int* before;  ///< whether sites moved in the step before; null: there is none
  int* moved;         ///< becomes 1 where a site moves farther than the tolerance
};

__global__ void __launch_bounds__(kBlock)
    move_sites(const __grid_constant__ Sites sites, const __grid_constant__ Moving moving) {
  const std::int64_t site = thread_number();
  if (site >= sites.count || (moving.before && *moving.before == 0)) return;
  sites.mask[sites.elements[site]] = 0;
  sites.numbers[sites.elements[site]] = ~0u;
  const SumLayout layout = sites.layout;
  const std::int64_t* const sums = sites.sums + site * layout.fields();
  double* const position = sites.positions + site * layout.axes;
  if (sums[1] == 0) {
    if (moving.on_elements) return;
    moving.draws.draw(moving.iteration + 1, site, position);
    if (HUGE_VAL > moving.tolerance) *moving.moved = 1;
    return;
  }
  bool is_far = false;
  for (int axis = 0; axis < layout.axes; ++axis) {
    const std::int32_t at = sites.places[site * layout.axes + axis];
    const std::int64_t first = sums[layout.first() + axis];
    const double after = moving.on_elements ? static_cast<double>(at + rounded_step(first, sums[1]))
                                            : centroid_of(at, first, sums[1], sites.supersample);
    is_far = is_far || std::abs(after - position[axis]) > moving.tolerance;
    position[axis] = after;
  }
  if (is_far) *moving.moved = 1;
}

grid::DistanceOptions transform_options() {
  grid::DistanceOptions options;
  options.sites.rule = grid::Sites::Rule::nonzero;
  return options;
}

class Lloyd {
 public:
  Lloyd(const DeviceWeights& weights, const LloydOptions& options, std::vector<double>& positions, cudaStream_t stream)
      : options_(options),
        stream_(stream),
        shape_(finer(weights.shape(), options.supersample)),
        positions_(positions),
        memory_(Memory(weights.shape(), site_count(weights, positions), options, nullptr).scratch.bytes(), stream),
        at_(weights.shape(), site_count(weights, positions), options, memory_.data()),
        regions_(shape_, at_.nearest, reinterpret_cast<std::int32_t*>(at_.sites.numbers)) {
    regions_.places = at_.sites.places;
    regions_.weights = weights.values();
    regions_.supersample = options.supersample;
    const auto elements = static_cast<std::size_t>(element_count(shape_));
    check(cudaMemsetAsync(at_.sites.mask, 0, elements, stream), "clearing sites");
    check(cudaMemsetAsync(at_.sites.numbers, 0xFF, elements * sizeof(std::uint32_t), stream), "clearing sites");
    check(cudaMemcpyAsync(at_.sites.positions, positions.data(), positions.size() * sizeof(double),
                          cudaMemcpyHostToDevice, stream),
          "copying sites");
    draws_ = {weights.shape().rank(), {}, weights.values(), at_.before, row_count(weights.shape()), options.seed};
    std::copy(weights.shape().begin(), weights.shape().end(), draws_.extent);
    check(cudaMemsetAsync(at_.overflow, 0, sizeof(int), stream), "clearing sums");
    if (!options.on_elements) sum_rows(weights, at_.before, at_.for_rows, stream);
  }

  static std::size_t bytes(const Shape& weights, std::int64_t sites, const LloydOptions& options) {
    const Shape shape = finer(weights, options.supersample);
    grid::DeviceDistanceOutputs outputs;
    outputs.nearest = DeviceView<std::int32_t>(nullptr, shape);
    return Memory(weights, sites, options, nullptr).scratch.bytes() +
           grid::scratch_bytes(DeviceView<const std::uint8_t>(nullptr, shape), transform_options(), outputs);
  }

  /// Finds the regions of the sites where they are, and their sums.
  void assign() {
    put_sites<<<blocks_of(at_.sites.count), kBlock, 0, stream_>>>(at_.sites);
    check_launch("putting sites");
    grid::DeviceDistanceOutputs outputs;
    outputs.nearest = DeviceView<std::int32_t>(at_.nearest, shape_);
    grid::distance_transform(DeviceView<const std::uint8_t>(at_.sites.mask, shape_), transform_options(), outputs,
                             Stream{stream_});
    sum_regions(regions_, at_.sites.layout, at_.sites.sums, at_.overflow, stream_);
  }

  /// Moves the sites that were assigned, unless they were at rest before. @param k  which of some steps it is
  void move(int iteration, int k) {
    if (k == 0) check(cudaMemsetAsync(at_.moved, 0, kSteps * sizeof(int), stream_), "moving sites");
    const Moving moving{draws_,
                        options_.on_elements,
                        options_.on_elements ? 0 : options_.tolerance,
                        static_cast<std::uint64_t>(iteration),
                        k > 0 ? at_.moved + k - 1 : nullptr,
                        at_.moved + k};
    move_sites<<<blocks_of(at_.sites.count), kBlock, 0, stream_>>>(at_.sites, moving);
    check_launch("moving sites");
  }

  /// Waits. @return how many of the steps were done, and whether sites rest
  std::pair<int, bool> done(int steps) {
    int moved[kSteps];
    read(at_.moved, moved, kSteps);
    const auto rest = std::find(moved, moved + steps, 0);
    return rest == moved + steps ? std::pair(steps, false) : std::pair(static_cast<int>(rest - moved) + 1, true);
  }

  /// Of the sites that were assigned. @throws InvalidArgument a sum of squares passes 64 bits
  double energy() {
    read_positions();
    int overflow = 0;
    read(at_.overflow, &overflow, 1);
    if (overflow != 0) throw_moments_too_large();
    std::vector<std::int32_t> places(positions_.size());
    read(at_.sites.places, places.data(), places.size());
    return energy_of(at_.sites.layout, options_.supersample, at_.sites.count, sums().data(), places.data(),
                     positions_.data());
  }

  /// [n, fields()]
  std::vector<std::int64_t> sums() {
    std::vector<std::int64_t> records(static_cast<std::size_t>(at_.sites.count * at_.sites.layout.fields()));
    read(at_.sites.sums, records.data(), records.size());
    return records;
  }

  void read_positions() { read(at_.sites.positions, positions_.data(), positions_.size()); }

 private:
  static std::int64_t site_count(const DeviceWeights& weights, const std::vector<double>& positions) {
    return static_cast<std::int64_t>(positions.size()) / weights.shape().rank();
  }

  struct Memory {
    Scratch scratch;
    Sites sites{};
    std::int32_t* nearest;
    std::int64_t* before;  ///< weight of rows; of real positions
    std::byte* for_rows;
    int *moved, *overflow;

    Memory(const Shape& weights, std::int64_t count, const LloydOptions& options, std::byte* base) : scratch(base) {
      const Shape shape = finer(weights, options.supersample);
      const std::int64_t elements = element_count(shape), rows = options.on_elements ? 0 : row_count(weights);
      sites.count = count;
      sites.layout = {weights.rank(), options.energies};
      sites.supersample = options.supersample;
      std::copy(shape.begin(), shape.end(), sites.extent);
      sites.positions = scratch.take<double>(count * weights.rank());
      sites.places = scratch.take<std::int32_t>(count * weights.rank());
      sites.elements = scratch.take<std::int32_t>(count);
      sites.sums = scratch.take<std::int64_t>(count * sites.layout.fields());
      sites.mask = scratch.take<std::uint8_t>(elements);
      sites.numbers = scratch.take<std::uint32_t>(elements);
      nearest = scratch.take<std::int32_t>(elements);
      before = scratch.take<std::int64_t>(rows + 1);
      for_rows = scratch.take<std::byte>(static_cast<std::int64_t>(sum_rows_scratch_bytes(rows)));
      moved = scratch.take<int>(kSteps);
      overflow = scratch.take<int>(1);
    }
  };

  template <class T>
  void read(const T* from, T* to, std::size_t count) {
    check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, stream_), "reading sites");
    check(cudaStreamSynchronize(stream_), "moving sites");
  }

  const LloydOptions& options_;
  const cudaStream_t stream_;
  const Shape shape_;
  std::vector<double>& positions_;
  const DeviceMemory memory_;
  const Memory at_;
  Regions regions_;
  Draws draws_;
};

std::vector<std::int64_t> iterate(const DeviceWeights& weights, const LloydOptions& options,
                                  std::vector<double>& positions, LloydReport& report, bool masses,
                                  cudaStream_t stream) {
  report.backend = Backend::cuda;
  report.threads = 1;
  report.device = describe_device(current_device()).name;
  Lloyd engine(weights, options, positions, stream);
  Monitor monitor(options.execution, options.iterations + 1);
  while (report.iterations < options.iterations && !report.at_rest) {
    const int steps = options.energies ? 1 : std::min(kSteps, options.iterations - report.iterations);
    for (int k = 0; k < steps; ++k) {
      engine.assign();
      if (options.energies) report.energies.push_back(engine.energy());
      engine.move(report.iterations + k, k);
    }
    const auto [done, at_rest] = engine.done(steps);
    report.iterations += done;
    report.at_rest = at_rest;
    monitor.advance(done);
  }
  if (masses || options.energies) engine.assign();
  if (options.energies) report.energies.push_back(engine.energy());
  engine.read_positions();
  std::vector<std::int64_t> result;
  if (masses) {
    const std::vector<std::int64_t> sums = engine.sums();
    const std::size_t fields = sums.size() * static_cast<std::size_t>(weights.shape().rank()) / positions.size();
    for (std::size_t record = 0; record < sums.size(); record += fields) result.push_back(sums[record + 1]);
  }
  if (options.execution.progress) options.execution.progress(1);
  return result;
}

/// Between rows of sites as they lie and dense ones.
void copy_sites(void* to, std::int64_t to_row, const void* from, std::int64_t from_row, const Shape& shape,
                cudaMemcpyKind kind, cudaStream_t stream) {
  const auto bytes = [](std::int64_t values) { return static_cast<std::size_t>(values) * sizeof(double); };
  check(cudaMemcpy2DAsync(to, bytes(to_row), from, bytes(from_row), bytes(shape[1]),
                          static_cast<std::size_t>(shape[0]), kind, stream),
        "copying sites");
  check(cudaStreamSynchronize(stream), "copying sites");
}

}  // namespace

std::vector<std::int64_t> iterate(const Weights& weights, const LloydOptions& options, std::vector<double>& positions,
                                  LloydReport& report, bool masses) {
  const OnDevice on_device(current_device());
  const OwnStream stream;
  return iterate(DeviceWeights(weights, stream.get()), options, positions, report, masses, stream.get());
}

LloydReport iterate(const AnyConstDeviceView& weights, const DeviceView<double>& sites, const LloydOptions& options,
                    const CheckSites& check_sites, Stream its_stream) {
  const int device = device_of({{weights, "weights"}, {sites, "sites"}}, its_stream);
  refuse_capture(its_stream, "Lloyd's iteration");
  const OnDevice on_device(device);
  const cudaStream_t stream = fathom::cuda::native(its_stream);
  const Shape& shape = sites.shape();
  const std::int64_t row = shape[0] > 1 ? sites.strides()[0] : shape[1];
  if (row < shape[1]) throw InvalidArgument("the rows of the sites lie backwards or overlap; give a dense array");
  std::vector<double> positions(static_cast<std::size_t>(element_count(shape)));
  copy_sites(positions.data(), shape[1], sites.data(), row, shape, cudaMemcpyDeviceToHost, stream);
  const DeviceWeights heavy(weights, weights.shape(), stream);
  check_sites({positions.data(), shape}, heavy.positive(), heavy.total());
  LloydReport report;
  iterate(heavy, options, positions, report, false, stream);
  for (double& energy : report.energies) energy /= heavy.scale();
  copy_sites(sites.data(), row, positions.data(), shape[1], shape, cudaMemcpyHostToDevice, stream);
  return report;
}

std::size_t lloyd_scratch_bytes(const Shape& weights, std::int64_t sites, const LloydOptions& options) {
  return Lloyd::bytes(weights, sites, options) + DeviceWeights::bytes(weights, true);
}

}  // namespace fathom::apps::cuda
