// Costmaps: grid's squared distances in cells, and a table of costs for them.
#include "fathom/apps/costmap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "apps/check.h"
#include "apps/device_call.h"
#include "apps/row_access.h"
#include "core/parallel.h"
#include "core/text.h"
#include "fathom/core/error.h"

#ifdef FATHOM_HAS_CUDA
#include "apps/cuda/costmap.h"
#endif

namespace fathom::apps {

namespace {

constexpr double kMostCells = 8192;

std::uint8_t cost_at(std::uint64_t squared, const CostmapOptions& options) {
  // As grid has it: three cells of 0.1 m are within 0.3 m.
  const double room = options.resolution == std::floor(options.resolution) ? 1 : 1 + 0x1p-50;
  const double metres = std::sqrt(static_cast<double>(squared)) * options.resolution;
  if (squared == 0) return kLethalCost;
  if (metres <= options.inscribed * room) return kInscribedCost;
  if (metres > options.inflation * room) return 0;
  return static_cast<std::uint8_t>((kInscribedCost - 1) * std::exp(-options.scaling * (metres - options.inscribed)));
}

/// Cells beyond which all costs are 0.
double reach(const CostmapOptions& options) {
  double metres = options.inflation;
  if (options.scaling > 0) metres = std::min(metres, options.inscribed + std::log(252.0) / options.scaling);
  return std::max(metres, options.inscribed) / options.resolution;
}

/// Costs by squared distance in cells; 0 beyond.
std::vector<std::uint8_t> cost_table(const CostmapOptions& options, const Shape& map) {
  double longest = 0;
  for (int axis = options.batch_axes; axis < map.rank(); ++axis)
    longest += static_cast<double>(map[axis]) * static_cast<double>(map[axis]);
  const double cells = std::min(std::ceil(reach(options)) + 1, std::ceil(std::sqrt(longest)));
  if (cells > kMostCells)
    throw InvalidArgument("costs reach over " + text(cells) + " cells; give a smaller inflation or inscribed radius, " +
                          "or a larger scaling, so that it is at most 8192");
  std::vector<std::uint8_t> table;
  for (std::uint64_t squared = 0; squared <= static_cast<std::uint64_t>(cells * cells); ++squared)
    table.push_back(cost_at(squared, options));
  return table;
}

void check_number(double value, const char* name, bool positive) {
  if (!(positive ? value > 0 : value >= 0) || std::isinf(value))
    throw InvalidArgument(std::string("the ") + name + " is " + text(value) + "; give a finite number " +
                          (positive ? "above 0" : "that is at least 0"));
}

void check(const AnyConstView& map, const CostmapOptions& options, const CostmapOutputs& outputs) {
  check_batch(map.shape(), options.batch_axes);
  check_number(options.resolution, "resolution", true);
  check_number(options.inscribed, "inscribed radius", false);
  check_number(options.inflation, "inflation radius", false);
  check_number(options.scaling, "scaling", false);
  if (options.occupied.rule == grid::Sites::Rule::labels ||
      (options.unknown && options.unknown->rule == grid::Sites::Rule::labels))
    throw InvalidArgument("occupied and unknown cells cannot be those of labels; give another rule, such as nonzero");
  if (!outputs.cost.present() && !outputs.nearest.present())
    throw InvalidArgument("no output was given; give cost or nearest");
  if (!outputs.cost.present()) return;
  if (outputs.cost.dtype() != DType::uint8)
    throw InvalidArgument("the output 'cost' is " + std::string(name_of(outputs.cost.dtype())) + "; it must be uint8");
  if (!(outputs.cost.shape() == map.shape()))
    throw InvalidArgument("the output 'cost' has the shape " + to_string(outputs.cost.shape()) + "; it must have " +
                          to_string(map.shape()));
}

/// @param unlimited  nearest cells are wanted, however far
grid::DistanceOptions transform_options(const CostmapOptions& options, bool unlimited) {
  grid::DistanceOptions transform;
  transform.sites.rule = grid::Sites::Rule::nonzero;
  transform.batch_axes = options.batch_axes;
  transform.execution = options.execution;
  transform.execution.backend = Backend::cpu;
  transform.execution.scratch_limit.reset();
  if (!unlimited) transform.max_distance = std::ceil(reach(options)) + 1;
  return transform;
}

/// @param squared  its type, and its memory where it shall be written
grid::DistanceOutputs transform_outputs(const CostmapOutputs& outputs, const AnyView& squared) {
  grid::DistanceOutputs transform;
  transform.nearest = outputs.nearest;
  if (outputs.cost.present()) transform.squared = squared;
  return transform;
}

/// 1 where a cell is occupied, and known.
Array occupied_cells(const AnyConstView& map, const CostmapOptions& options, Array& unknown) {
  Array occupied = grid::mark_sites(map, options.occupied);
  if (!options.unknown) return occupied;
  unknown = grid::mark_sites(map, *options.unknown);
  auto* const cells = occupied.as<std::uint8_t>().data();
  const auto* const gaps = unknown.as<std::uint8_t>().data();
  for (std::int64_t k = 0; k < occupied.size(); ++k) cells[k] = cells[k] && !gaps[k];
  return occupied;
}

void fill(const Array& squared, const Array& unknown, const std::vector<std::uint8_t>& table, int threads,
          const CostmapOptions& options, const HostView<std::uint8_t>& cost) {
  constexpr std::int64_t kRows = 16;
  const std::int64_t width = cost.shape().back(), rows = row_count(cost.shape());
  const auto* const distances = squared.as<std::uint32_t>().data();
  const auto* const gaps = options.unknown ? unknown.as<std::uint8_t>().data() : nullptr;
  parallel_jobs(options.execution, threads, (rows + kRows - 1) / kRows, [&](int, std::int64_t job) {
    for (std::int64_t row = job * kRows; row < std::min(rows, (job + 1) * kRows); ++row) {
      std::uint8_t* const to = row_at(cost, row);
      for (std::int64_t x = 0; x < width; ++x) {
        const std::int64_t cell = row * width + x;
        to[x] = distances[cell] < table.size() ? table[distances[cell]] : 0;
        if (gaps != nullptr && gaps[cell] != 0) to[x] = kUnknownCost;
      }
    }
  });
}

DeviceCostmapOutputs outputs_there(const DeviceCopies& at) { return {at.outputs[0], at.outputs[1]}; }

/// Between arrays of the host.
CostmapReport run_there(const AnyConstView& map, const CostmapOptions& options, const CostmapOutputs& outputs) {
  const std::size_t bytes = costmap_scratch_bytes(map, options, outputs);
  check_scratch(options.execution, bytes);
  const std::string device = run_on_device(
      {map}, {outputs.cost, outputs.nearest}, options.execution, [&](const DeviceCopies& at, Stream stream) {
        costmap(at.inputs[0], options_on_device(options), outputs_there(at), stream);
      });
  if (options.execution.progress) options.execution.progress(1);
  return {.backend = Backend::cuda, .scratch_bytes = bytes, .device = device};
}

}  // namespace

CostmapReport costmap(const AnyConstView& map, const CostmapOptions& options, const CostmapOutputs& outputs) {
  CostmapReport report;
  report.threads = thread_count(options.execution);
  check(map, options, outputs);
  if (wants_device(options.execution)) return run_there(map, options, outputs);
  report.scratch_bytes = costmap_scratch_bytes(map, options, outputs);
  check_scratch(options.execution, report.scratch_bytes);
  const std::vector<std::uint8_t> table = cost_table(options, map.shape());
  Array unknown;
  const Array occupied = occupied_cells(map, options, unknown);
  Array squared;
  if (outputs.cost.present()) squared = Array(DType::uint32, map.shape());
  const auto done = grid::distance_transform(occupied.view(), transform_options(options, outputs.nearest.present()),
                                             transform_outputs(outputs, squared.view()));
  report.instruction_set = done.instruction_set;
  if (outputs.cost.present()) fill(squared, unknown, table, report.threads, options, outputs.cost.as<std::uint8_t>());
  return report;
}

std::size_t costmap_scratch_bytes(const AnyConstView& map, const CostmapOptions& options,
                                  const CostmapOutputs& outputs) {
  thread_count(options.execution);
  check(map, options, outputs);
  if (wants_device(options.execution)) {
    const DeviceCopies shapes = copies_of({map}, {outputs.cost, outputs.nearest});
    return shapes.bytes + costmap_scratch_bytes(shapes.inputs[0], options_on_device(options), outputs_there(shapes));
  }
  const auto cells = static_cast<std::size_t>(element_count(map.shape()));
  return grid::scratch_bytes(AnyConstView(nullptr, DType::uint8, map.shape()),
                             transform_options(options, outputs.nearest.present()),
                             transform_outputs(outputs, AnyView(nullptr, DType::uint32, map.shape()))) +
         cells * ((outputs.cost.present() ? 4 : 0) + (options.unknown ? 2 : 1)) +
         cost_table(options, map.shape()).size();
}

#ifdef FATHOM_HAS_CUDA

namespace {

/// @throws InvalidArgument as costmap()
cuda::CostmapCall checked(const AnyConstDeviceView& map, const CostmapOptions& options,
                          const DeviceCostmapOutputs& outputs) {
  check(unchecked(map), options, {unchecked(outputs.cost), unchecked(outputs.nearest)});
  grid::DistanceOptions transform = transform_options(options, outputs.nearest.present());
  transform.execution.backend = Backend::automatic;
  if (!options.unknown) transform.sites = options.occupied;
  return {options, transform, cost_table(options, map.shape())};
}

}  // namespace

std::size_t costmap_scratch_bytes(const AnyConstDeviceView& map, const CostmapOptions& options,
                                  const DeviceCostmapOutputs& outputs) {
  return cuda::costmap_scratch_bytes(checked(map, options, outputs), map, outputs);
}

CostmapReport costmap(const AnyConstDeviceView& map, const CostmapOptions& options, const DeviceCostmapOutputs& outputs,
                      Stream stream) {
  check_device_execution(options.execution);
  const cuda::CostmapCall call = checked(map, options, outputs);
  const std::size_t bytes = cuda::costmap_scratch_bytes(call, map, outputs);
  check_scratch(options.execution, bytes);
  if (element_count(map.shape()) == 0) return {.backend = Backend::cuda};
  const std::string device = cuda::costmap(call, map, outputs, stream);
  return {.backend = Backend::cuda, .scratch_bytes = bytes, .device = device};
}

#else

std::size_t costmap_scratch_bytes(const AnyConstDeviceView&, const CostmapOptions&, const DeviceCostmapOutputs&) {
  refuse_device_views();
}

CostmapReport costmap(const AnyConstDeviceView&, const CostmapOptions&, const DeviceCostmapOutputs&, Stream) {
  refuse_device_views();
}

#endif

}  // namespace fathom::apps
