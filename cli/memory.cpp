#include "memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <string>

namespace fathom::cli {

namespace {

grid::DistanceOutputs unmade_outputs(const Plan& plan) {
  grid::DistanceOutputs outputs;
  for (const PlannedOutput& output : plan.outputs)
    view_in(outputs, output.kind) = AnyView(nullptr, output.dtype, output.shape);
  return outputs;
}

published::DistanceOutputs views_of(const grid::DistanceOutputs& outputs) {
  return {outputs.distance, outputs.nearest};
}

std::size_t least_scratch(const Plan& plan) {
  const AnyConstView unread(nullptr, plan.input.info.dtype, plan.input.shape());
  if (plan.algorithm) return published::scratch_bytes(unread, *plan.algorithm, views_of(unmade_outputs(plan)));
  return grid::least_scratch_bytes(unread, plan.options, unmade_outputs(plan));
}

std::size_t array_bytes(const Plan& plan) {
  const auto elements = static_cast<std::size_t>(element_count(plan.input.file_shape));
  const std::size_t size = size_of(plan.input.info.dtype);
  std::size_t outputs = 0, largest = 0;
  for (const PlannedOutput& output : plan.outputs) {
    outputs += output.bytes();
    largest = std::max(largest, output.bytes());
  }
  // Where the last axis is another than the file's, the input is copied, and each output as it is written.
  const std::vector<int>& order = plan.input.order;
  const bool moves = !order.empty() && order.back() + 1 != static_cast<int>(order.size());
  const auto taken = static_cast<std::size_t>(element_count(plan.input.shape()));
  const std::size_t copies = moves ? std::max(taken * size, largest) : plan.input.pick ? taken * size : 0;
  // Where elements hold no data three masks come on top, and with a sign a second set of outputs.
  const std::size_t masks = plan.no_data.empty() ? 0 : 3 * elements;
  return elements * size + copies + masks +
         outputs * (plan.no_data.empty() || !plan.options.signed_distance ? 1 : 2);
}

}  // namespace

std::optional<std::size_t> free_memory() {
  std::ifstream info("/proc/meminfo");
  std::string name;
  std::size_t kibibytes = 0;
  for (std::string unit; info >> name >> kibibytes && std::getline(info, unit);)
    if (name == "MemAvailable:") return kibibytes * 1024;
  return std::nullopt;
}

Needs needs_of(const Plan& plan) {
  const AnyConstView unread(nullptr, plan.input.info.dtype, plan.input.shape());
  const std::size_t least = least_scratch(plan);
  if (plan.algorithm) return {array_bytes(plan), least, least};
  return {array_bytes(plan), grid::scratch_bytes(unread, plan.options, unmade_outputs(plan)), least};
}

std::string memory_text(std::size_t bytes) {
  constexpr std::array<const char*, 4> kUnits = {"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  // Three digits or more are kept, so that the rounding adds less than one percent.
  while (unit + 1 < kUnits.size() && bytes >= 100 * 1024) {
    bytes = (bytes + 1023) / 1024;
    ++unit;
  }
  return fmt::format("{}{}", bytes, kUnits[unit]);
}

std::size_t scratch_beside(std::size_t arrays, std::size_t least_scratch, std::optional<std::size_t> budget,
                           const char* way_out) {
  const std::size_t limit = budget ? *budget : free_memory().value_or(std::numeric_limits<std::size_t>::max());
  const std::size_t all = arrays + least_scratch;
  if (all <= limit) return limit - arrays;
  if (budget)
    throw InvalidArgument(fmt::format("--memory {} is too small: input and outputs need {}, scratch {}; {} works",
                                      memory_text(limit), memory_text(arrays), memory_text(least_scratch),
                                      memory_text(all)));
  throw IoError(fmt::format("the work needs {} of memory and this machine has {} free; {}--memory {} insists",
                            memory_text(all), memory_text(limit), way_out, memory_text(all)));
}

void fit_into_memory(Plan& plan, std::optional<std::size_t> budget) {
  plan.options.execution.scratch_limit =
      scratch_beside(array_bytes(plan), least_scratch(plan), budget,
                     plan.algorithm ? "the library's own takes less, and " : "--region computes a part, and ");
  if (plan.algorithm) plan.algorithm->execution = plan.options.execution;
}

}  // namespace fathom::cli
