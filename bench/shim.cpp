#include "shim.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>

#include "fathom/core/workspace.h"
#include "fathom/grid/distance.h"

namespace {

using namespace fathom;

Shape shape_of(const FathomBenchCall& call) {
  return Shape(std::span(call.shape, static_cast<std::size_t>(call.rank)));
}

template <class T, class Given>
std::vector<T> values(const Given* given, int count) {
  std::vector<T> result;
  for (int i = 0; i < count; ++i) result.push_back(static_cast<T>(given[i]));
  return result;
}

grid::DistanceOptions options_of(const FathomBenchCall& call) {
  static Workspace workspace;
  grid::DistanceOptions options;
  options.sites = {static_cast<grid::Sites::Rule>(call.rule), call.value};
  options.metric = static_cast<grid::Metric>(call.metric);
  options.spacing = values<double>(call.spacing, call.spacings);
  options.border = values<grid::Border>(call.border, call.borders);
  options.max_distance = call.max_distance;
  options.signed_distance = call.signed_distance != 0;
  options.surface = static_cast<grid::Surface>(call.surface);
  for (int k = 0; k < call.ranges; ++k) options.region.push_back({call.region[2 * k], call.region[2 * k + 1]});
  options.execution.backend = Backend::cpu;
  options.execution.instruction_set = static_cast<InstructionSet>(call.instruction_set);
  options.execution.threads = call.threads;
  options.execution.workspace = &workspace;
  return options;
}

AnyView view_of(const FathomBenchArray& array, const Shape& shape) {
  if (!array.data) return {};
  return {static_cast<std::byte*>(array.data), static_cast<DType>(array.dtype), shape};
}

void transform(FathomBenchCall& call) {
  const Shape shape = shape_of(call);
  const grid::DistanceOptions options = options_of(call);
  const Shape result = grid::result_shape(shape, options);
  Shape components{shape.rank()};
  for (std::int64_t n : result) components.push_back(n);
  grid::DistanceOutputs outputs;
  outputs.distance = view_of(call.distance, result);
  outputs.squared = view_of(call.squared, result);
  outputs.nearest = view_of(call.nearest, result);
  outputs.coordinates = view_of(call.coordinates, components);
  const AnyConstView input(static_cast<const std::byte*>(call.input.data), static_cast<DType>(call.input.dtype), shape);
  const grid::DistanceReport report = grid::distance_transform(input, options, outputs);
  call.used_instruction_set = static_cast<std::int32_t>(report.instruction_set);
  call.used_threads = report.threads;
  call.scratch_bytes = report.scratch_bytes;
}

}  // namespace

int fathom_bench_distance(FathomBenchCall* call) {
  try {
    transform(*call);
    return 0;
  } catch (const std::exception& error) {
    const std::string text = error.what();
    const std::size_t length = std::min(text.size(), sizeof call->message - 1);
    std::memcpy(call->message, text.data(), length);
    call->message[length] = 0;
    return 1;
  }
}

int fathom_bench_has(int instruction_set) {
  return fathom::is_supported(static_cast<fathom::InstructionSet>(instruction_set)) ? 1 : 0;
}

void fathom_bench_copy(void* to, const void* from, std::uint64_t bytes) { std::memcpy(to, from, bytes); }

std::uint64_t fathom_bench_call_size() { return sizeof(FathomBenchCall); }
