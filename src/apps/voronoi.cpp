// The front of Voronoi regions and Lloyd's iteration: validates, and calls the backend.
#include "fathom/apps/voronoi.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "apps/cpu/lloyd.h"
#include "apps/cpu/regions.h"
#include "apps/check.h"
#include "apps/device_call.h"
#include "apps/each_image.h"
#include "apps/lloyd.h"
#include "apps/weights.h"
#include "core/text.h"
#include "fathom/core/error.h"
#ifdef FATHOM_HAS_CUDA
#include "apps/cuda/lloyd.h"
#include "apps/cuda/voronoi.h"
#endif

namespace fathom::apps {

namespace {

void check_shape(const Shape& shape, const char* what) {
  if (shape.rank() < 1 || shape.rank() > kMostAxes)
    throw InvalidArgument(std::string(what) + " have 1 to 3 axes, not " + std::to_string(shape.rank()));
  for (std::int64_t n : shape)
    if (n > std::numeric_limits<std::int32_t>::max())
      throw InvalidArgument("the shape " + to_string(shape) + " passes what int32 indices hold");
}

/// Whether the sums of a region as large as the grid, of a run alone for squares, fit into 64 bits.
void check_sums(const Shape& grid, const SumLayout& layout) {
  double longest = 1;
  for (std::int64_t n : grid) longest = std::max(longest, static_cast<double>(n));
  const double most = static_cast<double>(kMostWeight) * std::max<double>(1, static_cast<double>(grid.back()));
  const double elements = static_cast<double>(element_count(grid));
  if (2.0 * kMostWeight * elements * longest >= 0x1p62 || (layout.seconds && most * longest * longest >= 0x1p62))
    throw InvalidArgument("the shape " + to_string(grid) + " is too large for sums of 64 bits; use smaller pieces");
}

/// On the CPU.
grid::DistanceOptions transform_options(const VoronoiOptions& options) {
  grid::DistanceOptions transform;
  transform.sites = options.sites;
  transform.spacing = options.spacing;
  transform.execution = options.execution;
  transform.execution.backend = Backend::cpu;
  transform.execution.scratch_limit.reset();
  return transform;
}

#ifdef FATHOM_HAS_CUDA
grid::DistanceOptions device_transform_options(const VoronoiOptions& options) {
  grid::DistanceOptions transform;
  transform.sites = options.sites;
  transform.spacing = options.spacing;
  return transform;
}

/// Of arrays on a device.
void check_elements(const Shape& shape) {
  if (element_count(shape) > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument("the shape " + to_string(shape) +
                          " has more elements than the 2147483647 that a device takes; use backend cpu");
}
#endif

/// Bytes of what is kept per element: nearest sites and the table of numbers.
std::size_t element_bytes(const Shape& shape) { return size_of(cpu::index_type(shape)) + sizeof(std::int32_t); }

void check_regions(const AnyView& regions, const Shape& shape) {
  if (!regions.present()) return;
  if (regions.dtype() != DType::int32 && regions.dtype() != DType::int64)
    throw InvalidArgument("the output 'regions' is " + std::string(name_of(regions.dtype())) +
                          "; it must be int32 or int64");
  if (!(regions.shape() == shape))
    throw InvalidArgument("the output 'regions' has the shape " + to_string(regions.shape()) + "; it must have " +
                          to_string(shape));
}

/// Sites are elements that are their own nearest sites.
template <class Index>
void find_sites(const AnyConstView& nearest, Voronoi& result, std::vector<std::int32_t>& places, Array& numbers) {
  const Shape& shape = nearest.shape();
  const Index* const sites = nearest.as<Index>().data();
  auto* const number = numbers.as<std::int32_t>().data();
  for (std::int64_t element = 0; element < element_count(shape); ++element) {
    if (sites[element] != element) continue;
    if (result.sites.size() == std::numeric_limits<std::int32_t>::max())
      throw InvalidArgument("there are more than 2147483647 sites; use smaller pieces");
    number[element] = static_cast<std::int32_t>(result.sites.size());
    result.sites.push_back(element);
    std::int64_t rest = element;
    places.resize(places.size() + static_cast<std::size_t>(shape.rank()));
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      *(places.end() - (shape.rank() - axis)) = static_cast<std::int32_t>(rest % shape[axis]);
      rest /= shape[axis];
    }
  }
}

void take_sums(const std::vector<std::int64_t>& sums, const SumLayout& layout, Voronoi& result) {
  const auto fields = static_cast<std::size_t>(layout.fields());
  const auto first = static_cast<std::size_t>(layout.first()), second = static_cast<std::size_t>(layout.second());
  for (std::size_t begin = 0; begin < sums.size(); begin += fields) {
    const auto record = sums.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto at = [&](std::size_t k) { return record + static_cast<std::ptrdiff_t>(k); };
    result.areas.push_back(record[0]);
    result.masses.push_back(record[1]);
    result.firsts.insert(result.firsts.end(), at(first), at(second));
    result.seconds.insert(result.seconds.end(), at(second), at(fields));
  }
}

/// Size of an element's face across each axis.
std::vector<double> face_sizes(const std::vector<double>& spacing, int axes) {
  std::vector<double> faces;
  for (int across = 0; across < axes; ++across) {
    double size = 1;
    for (int axis = 0; axis < axes; ++axis)
      if (axis != across && !spacing.empty()) size *= spacing[spacing.size() == 1 ? 0 : static_cast<std::size_t>(axis)];
    faces.push_back(size);
  }
  return faces;
}

void check_lloyd(const Shape& shape, const LloydOptions& options) {
  check_shape(shape, "weights");
  if (options.iterations < 0)
    throw InvalidArgument("the number of iterations is " + std::to_string(options.iterations) + "; give 0 or more");
  if (options.supersample < 1 || options.supersample > 16)
    throw InvalidArgument("supersample is " + std::to_string(options.supersample) + "; give 1 to 16");
  if (options.on_elements && options.supersample != 1)
    throw InvalidArgument("sites on elements go with supersample 1; a finer grid is for real positions");
  if (!(options.tolerance >= 0))
    throw InvalidArgument("the tolerance is " + text(options.tolerance) + "; give 0 or more elements");
  check_shape(finer(shape, options.supersample), "weights");
  check_sums(finer(shape, options.supersample), {shape.rank(), options.energies});
}

/// @param positive, total  how many weights are not 0, and their sum
void check_positions(const Shape& shape, const HostView<const double>& sites, std::int64_t positive, std::int64_t total,
                     const LloydOptions& options) {
  if (sites.shape().rank() != 2 || sites.shape()[1] != shape.rank())
    throw InvalidArgument("the sites have the shape " + to_string(sites.shape()) + "; they must have [n, " +
                          std::to_string(shape.rank()) + "], a coordinate for each axis of the weights");
  if (sites.shape()[0] == 0) return;
  if (total == 0) throw InvalidArgument("all weights are 0; give some that are not");
  const double room = std::pow(options.supersample, shape.rank()) * static_cast<double>(positive);
  if (static_cast<double>(sites.shape()[0]) > room)
    throw InvalidArgument(std::to_string(sites.shape()[0]) + " sites are more than the " + text(room) +
                          " elements with a weight; give fewer, or a larger supersample");
  for (std::int64_t k = 0; k < sites.shape()[0]; ++k)
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const double at = sites.data()[k * sites.strides()[0] + axis];
      if (!(at >= -0.5 && at <= static_cast<double>(shape[axis]) - 0.5))
        throw InvalidArgument("site " + std::to_string(k) + " has the coordinate " + text(at) + "; along axis " +
                              std::to_string(axis) + " the array ends at -0.5 and " +
                              text(static_cast<double>(shape[axis]) - 0.5));
      if (options.on_elements && at != std::floor(at))
        throw InvalidArgument("site " + std::to_string(k) + " has the coordinate " + text(at) +
                              "; sites on elements have whole numbers");
    }
}

/// What a call may look at before the arrays. @param regions  whose memory is not looked at
void check_call(const Shape& shape, const VoronoiOptions& options, const AnyView& regions) {
  check_shape(shape, "sites");
  check_sums(shape, {shape.rank(), options.moments});
  check_regions(regions, shape);
  if (options.sites.rule == grid::Sites::Rule::labels)
    throw InvalidArgument("the regions of sites cannot be those of labels; give another rule, such as nonzero");
}

/// @param call  voronoi() of one image
template <class View, class Regions, class Call>
std::vector<Voronoi> regions_of_each(const View& sites, const View& weights, int batch_axes,
                                     const VoronoiOptions& options, const Regions& regions, const Call& call) {
  if (weights.present()) check_weights_shape(weights.shape(), sites.shape());
  return of_each_image<Voronoi>(options, image_count(sites.shape(), batch_axes), [&](auto item, const auto& own) {
    return call(image_of(sites, batch_axes, item), image_of(weights, batch_axes, item), own,
                image_of(regions, batch_axes, item));
  });
}

/// @param call  lloyd() of one image
template <class View, class Sites, class Call>
std::vector<LloydReport> move_in_each(const View& weights, const Sites& sites, int batch_axes,
                                      const LloydOptions& options, const Call& call) {
  const std::int64_t count = image_count(weights.shape(), batch_axes);
  bool fits = sites.rank() == batch_axes + 2;
  for (int k = 0; fits && k < batch_axes; ++k) fits = sites.shape()[k] == weights.shape()[k];
  if (!fits)
    throw InvalidArgument("the sites have the shape " + to_string(sites.shape()) + "; for weights of the shape " +
                          to_string(weights.shape()) + " they must have the same " + std::to_string(batch_axes) +
                          " batch axes, then n, then one coordinate for each axis");
  return of_each_image<LloydReport>(options, count, [&](auto item, const auto& own) {
    return call(image_of(weights, batch_axes, item), image_of(sites, batch_axes, item).template as<double>(), own);
  });
}

}  // namespace

Voronoi voronoi(const AnyConstView& sites, const AnyConstView& weights, const VoronoiOptions& options,
                const AnyView& regions) {
  const Shape& shape = sites.shape();
  const SumLayout layout{shape.rank(), options.moments};
  Voronoi result;
  result.threads = thread_count(options.execution);
  check_call(shape, options, regions);
  if (wants_device(options.execution)) {
    VoronoiOptions own = options;
    own.execution = execution_on_device(options.execution);
    if (options.execution.scratch_limit)
      check_scratch(options.execution, voronoi_scratch_bytes(sites, options, grid::count_sites(sites, options.sites)));
    const auto device =
        run_on_device({sites, weights}, {regions}, options.execution, [&](const auto& at, Stream stream) {
          result = voronoi(at.inputs[0], at.inputs[1], own, at.outputs[0], stream);
        });
    result.scratch_bytes += copies_of({sites, weights}, {regions}).bytes;
    result.device = device;
    return result;
  }
  const Weights heavy = weights_of(weights, shape);
  result.weight_scale = heavy.scale;
  result.instruction_set = resolve(options.execution.instruction_set);
  if (options.execution.scratch_limit)
    check_scratch(options.execution, voronoi_scratch_bytes(sites, options, grid::count_sites(sites, options.sites)));

  const grid::DistanceOptions transform = transform_options(options);
  Array nearest(cpu::index_type(shape), shape), numbers(DType::int32, shape);
  grid::DistanceOutputs outputs;
  outputs.nearest = nearest.view();
  const auto transformed = grid::distance_transform(sites, transform, outputs);
  std::vector<std::int32_t> places;
  const AnyConstView found = std::as_const(nearest).view();
  if (found.dtype() == DType::int32) find_sites<std::int32_t>(found, result, places, numbers);
  else find_sites<std::int64_t>(found, result, places, numbers);
  result.scratch_bytes =
      transformed.scratch_bytes + static_cast<std::size_t>(element_count(shape)) * element_bytes(shape);

  const cpu::Regions grid{shape, found, numbers.as<std::int32_t>().data(), places.data(), heavy};
  if (regions.present()) cpu::number_regions(grid, regions, result.threads, options.execution);
  if (result.sites.empty()) return result;
  std::vector<std::int64_t> sums(result.sites.size() * static_cast<std::size_t>(layout.fields()));
  cpu::sum_regions(grid, layout, sums.data(), result.threads, options.execution);
  take_sums(sums, layout, result);
  if (options.boundaries)
    result.boundaries =
        cpu::boundaries(grid, face_sizes(options.spacing, shape.rank()).data(), result.threads, options.execution);
  return result;
}

std::vector<Voronoi> voronoi_batch(const AnyConstView& sites, const AnyConstView& weights, int batch_axes,
                                   const VoronoiOptions& options, const AnyView& regions) {
  check_regions(regions, sites.shape());
  return regions_of_each(sites, weights, batch_axes, options, regions,
                         [](const auto&... image) { return voronoi(image...); });
}

std::size_t voronoi_scratch_bytes(const AnyConstView& sites, const VoronoiOptions& options, std::int64_t count) {
  const Shape& shape = sites.shape();
  const int threads = thread_count(options.execution);
  check_shape(shape, "sites");
  if (wants_device(options.execution)) {
    const AnyConstView weights(nullptr, DType::float64, shape);  // at most
    const AnyView regions(nullptr, DType::int64, shape);
    return copies_of({sites, weights}, {regions}).bytes + voronoi_scratch_bytes(on_device(sites), options, count);
  }
  grid::DistanceOutputs outputs;
  outputs.nearest = AnyView(nullptr, cpu::index_type(shape), shape);
  const SumLayout layout{shape.rank(), options.moments};
  return grid::scratch_bytes(sites, transform_options(options), outputs) +
         static_cast<std::size_t>(element_count(shape)) * (element_bytes(shape) + sizeof(std::uint16_t)) +
         static_cast<std::size_t>(count) *
             (8 * static_cast<std::size_t>(layout.fields()) + 4 * static_cast<std::size_t>(layout.axes)) +
         static_cast<std::size_t>(threads) * cpu::row_bytes(shape.back(), shape.back());
}

LloydReport lloyd(const AnyConstView& weights, const HostView<double>& sites, const LloydOptions& options) {
  LloydReport report;
  report.threads = thread_count(options.execution);
  report.instruction_set = resolve(options.execution.instruction_set);
  if (wants_device(options.execution)) report.backend = Backend::cuda;
  check_lloyd(weights.shape(), options);
  const Weights heavy = weights_of(weights, weights.shape());
  check_positions(heavy.shape, {sites.data(), sites.shape(), sites.strides()}, heavy.positive, heavy.total, options);
  const std::int64_t count = sites.shape()[0];
  const int axes = weights.rank();
  report.scratch_bytes = lloyd_scratch_bytes(weights.shape(), count, options);
  check_scratch(options.execution, report.scratch_bytes);
  std::vector<double> positions;
  for (std::int64_t k = 0; k < count; ++k)
    positions.insert(positions.end(), sites.data() + k * sites.strides()[0],
                     sites.data() + k * sites.strides()[0] + axes);
  if (count > 0) iterate(heavy, options, positions, report);
  for (double& energy : report.energies) energy /= heavy.scale;
  for (std::int64_t k = 0; k < count; ++k)
    std::copy_n(positions.data() + k * axes, axes, sites.data() + k * sites.strides()[0]);
  return report;
}

std::vector<LloydReport> lloyd_batch(const AnyConstView& weights, const HostView<double>& sites, int batch_axes,
                                     const LloydOptions& options) {
  return move_in_each(weights, AnyView(sites), batch_axes, options,
                      [](const auto&... image) { return lloyd(image...); });
}

std::vector<std::int64_t> iterate(const Weights& weights, const LloydOptions& options, std::vector<double>& positions,
                                  LloydReport& report, bool masses) {
#ifdef FATHOM_HAS_CUDA
  if (wants_device(options.execution)) return cuda::iterate(weights, options, positions, report, masses);
#endif
  return cpu::iterate(weights, options, positions, report, masses);
}

#ifdef FATHOM_HAS_CUDA

Voronoi voronoi(const AnyConstDeviceView& sites, const AnyConstDeviceView& weights, const VoronoiOptions& options,
                const AnyDeviceView& regions, Stream stream) {
  const Shape& shape = sites.shape();
  check_device_execution(options.execution);
  check_call(shape, options, unchecked(regions));
  check_elements(shape);
  if (weights.present()) check_weights_shape(weights.shape(), shape);
  Voronoi result;
  result.backend = Backend::cuda;
  if (element_count(shape) == 0) return result;
  cuda::FoundRegions found = cuda::find_regions(sites, weights, options, device_transform_options(options),
                                                face_sizes(options.spacing, shape.rank()), regions, stream);
  result.sites = std::move(found.sites);
  result.boundaries = std::move(found.boundaries);
  take_sums(found.sums, {shape.rank(), options.moments}, result);
  result.weight_scale = found.weight_scale;
  result.scratch_bytes = found.scratch_bytes;
  result.device = std::move(found.device);
  return result;
}

std::vector<Voronoi> voronoi_batch(const AnyConstDeviceView& sites, const AnyConstDeviceView& weights, int batch_axes,
                                   const VoronoiOptions& options, const AnyDeviceView& regions, Stream stream) {
  check_regions(unchecked(regions), sites.shape());
  return regions_of_each(sites, weights, batch_axes, on_its_device(options), regions,
                         [stream](const auto&... image) { return voronoi(image..., stream); });
}

std::size_t voronoi_scratch_bytes(const AnyConstDeviceView& sites, const VoronoiOptions& options, std::int64_t count) {
  const Shape& shape = sites.shape();
  check_shape(shape, "sites");
  check_elements(shape);
  if (element_count(shape) == 0) return 0;
  return cuda::regions_scratch_bytes(sites, device_transform_options(options), {shape.rank(), options.moments}, count,
                                     true);
}

LloydReport lloyd(const AnyConstDeviceView& weights, const DeviceView<double>& sites, const LloydOptions& options,
                  Stream stream) {
  const Shape& shape = weights.shape();
  check_device_execution(options.execution);
  check_lloyd(shape, options);
  check_elements(finer(shape, options.supersample));
  const auto check = [&](const HostView<const double>& positions, std::int64_t positive, std::int64_t total) {
    check_positions(shape, positions, positive, total, options);
  };
  const bool is_empty = sites.shape().rank() != 2 || element_count(sites.shape()) == 0 || element_count(shape) == 0;
  if (is_empty) check({nullptr, sites.shape()}, 0, 0);
  const std::size_t scratch = lloyd_scratch_bytes(shape, sites.shape()[0], on_its_device(options));
  check_scratch(options.execution, scratch);
  LloydReport report;
  report.backend = Backend::cuda;
  if (!is_empty) report = cuda::iterate(weights, sites, options, check, stream);
  report.scratch_bytes = scratch;
  return report;
}

std::vector<LloydReport> lloyd_batch(const AnyConstDeviceView& weights, const DeviceView<double>& sites, int batch_axes,
                                     const LloydOptions& options, Stream stream) {
  return move_in_each(weights, AnyDeviceView(sites), batch_axes, on_its_device(options),
                      [stream](const auto&... image) { return lloyd(image..., stream); });
}

#else

Voronoi voronoi(const AnyConstDeviceView&, const AnyConstDeviceView&, const VoronoiOptions&, const AnyDeviceView&,
                Stream) {
  refuse_device_views();
}
std::size_t voronoi_scratch_bytes(const AnyConstDeviceView&, const VoronoiOptions&, std::int64_t) {
  refuse_device_views();
}
LloydReport lloyd(const AnyConstDeviceView&, const DeviceView<double>&, const LloydOptions&, Stream) {
  refuse_device_views();
}
std::vector<Voronoi> voronoi_batch(const AnyConstDeviceView&, const AnyConstDeviceView&, int, const VoronoiOptions&,
                                   const AnyDeviceView&, Stream) {
  refuse_device_views();
}
std::vector<LloydReport> lloyd_batch(const AnyConstDeviceView&, const DeviceView<double>&, int, const LloydOptions&,
                                     Stream) {
  refuse_device_views();
}

#endif

std::size_t lloyd_scratch_bytes(const Shape& weights, std::int64_t sites, const LloydOptions& options) {
  const int threads = thread_count(options.execution);
  check_lloyd(weights, options);
#ifdef FATHOM_HAS_CUDA
  if (wants_device(options.execution)) {
    check_elements(finer(weights, options.supersample));
    return element_count(weights) == 0 ? 0 : cuda::lloyd_scratch_bytes(weights, sites, options);
  }
#endif
  wants_device(options.execution);
  return cpu::Lloyd::bytes(weights, sites, options, threads);
}

}  // namespace fathom::apps
