// The front of the distance transform: validates, sizes the scratch, chooses the backend and the engine, calls it.
#include "fathom/grid/distance.h"

#include <algorithm>
#include <string>

#include "core/require_device.h"
#include "fathom/core/workspace.h"
#include "grid/batch.h"
#include "grid/cpu/border_clamp.h"
#include "grid/cpu/general.h"
#include "grid/cpu/items.h"
#include "grid/cpu/offsets.h"
#include "grid/cpu/plain.h"
#include "grid/cpu/plain_signed.h"
#include "grid/cpu/transposed.h"
#include "grid/problem.h"

#ifdef FATHOM_HAS_CUDA
#include "grid/cuda/transform.h"
#endif

namespace fathom::grid {

namespace {

/// Of the CPU. The fast one also serves either side of signed fields.
enum class Engine { general, plain, plain_signed };

struct Plan {
  Backend backend = Backend::cpu;
  int row_axis = 0;  ///< of the CPU's engines
  Engine engine = Engine::general;
  InstructionSet instruction_set = InstructionSet::baseline;
  cpu::Crew crew = {};
  std::size_t item_scratch = 0;  ///< of each item at work
  std::size_t scratch_bytes = 0;
};

bool nothing_to_do(const Problem& p, const Batch& batch) {
  for (int k = 0; k < p.rank; ++k)
    if (p.region_extent(k) == 0) return true;
  return batch.count() == 0;
}

void check_limit(const Execution& execution, std::size_t needed) {
  if (execution.scratch_limit && needed > *execution.scratch_limit)
    throw InvalidArgument("the scratch limit of " + std::to_string(*execution.scratch_limit) +
                          " bytes is too small; the smallest that works here is " + std::to_string(needed) + " bytes");
}

void size_scratch(const Problem& caller, Plan& plan) {
  constexpr std::size_t kAlignment = 64;
  cpu::Arena copies(nullptr);
  const Problem p = cpu::Transposed(cpu::without_offsets(caller), plan.row_axis, copies).problem();
  const auto engine_bytes = [&] {
    const int threads = plan.crew.threads_each;
    switch (plan.engine) {
      case Engine::plain: return cpu::plain_scratch_bytes(cpu::without_site_borders(p), plan.instruction_set, threads);
      case Engine::plain_signed: return cpu::plain_signed_scratch_bytes(p, plan.instruction_set, threads);
      default: return cpu::general_scratch_bytes(p, plan.instruction_set, threads);
    }
  };
  const std::size_t bytes = copies.used() + engine_bytes();
  const auto at_once = static_cast<std::size_t>(plan.crew.items_at_once);
  plan.item_scratch = at_once > 1 ? (bytes + kAlignment - 1) / kAlignment * kAlignment : bytes;
  plan.scratch_bytes = plan.item_scratch * at_once;
}

/// The same without the fast engine for signed fields, which takes four bytes an element.
Plan lean(const Problem& p, Plan plan) {
  if (plan.engine != Engine::plain_signed) return plan;
  plan.engine = Engine::general;
  size_scratch(p, plan);
  return plan;
}

/// Threads cost scratch: the most that fit the caller's limit.
void fit_threads(const Problem& p, std::size_t limit, Plan& plan) {
  while (plan.scratch_bytes > limit && plan.crew.threads() > 1) {
    plan.crew = cpu::smaller(plan.crew);
    size_scratch(p, plan);
  }
}

void fit_scratch(const Problem& p, const Execution& execution, Plan& plan) {
  size_scratch(p, plan);
  if (!execution.scratch_limit) return;
  Plan small = lean(p, plan);
  fit_threads(p, *execution.scratch_limit, plan);
  if (plan.scratch_bytes <= *execution.scratch_limit) return;
  fit_threads(p, *execution.scratch_limit, small);
  if (small.scratch_bytes < plan.scratch_bytes) plan = small;
  check_limit(execution, plan.scratch_bytes);
}

#ifdef FATHOM_HAS_CUDA

/// Below this many elements the way to the device and back costs more than the CPU's work.
constexpr std::int64_t kWorthTheWay = std::int64_t{1} << 22;

std::size_t device_budget(const Execution& execution) {
  const std::size_t free = cuda::free_bytes();
  return execution.scratch_limit ? std::min(*execution.scratch_limit, free) : free;
}

bool device_is_better(const Problem& p, const Batch& batch, const Execution& execution) {
  if (nothing_to_do(p, batch) || element_count(p.input.shape()) * batch.count() < kWorthTheWay) return false;
  if (device_count() == 0) return false;
  const std::size_t budget = device_budget(execution);
  return cuda::host_bytes(p, batch, budget) <= budget;
}

bool choose_device(const Problem& p, const Batch& batch, const Execution& execution) {
  if (execution.backend == Backend::cpu) return false;
  if (execution.backend == Backend::automatic) return device_is_better(p, batch, execution);
  require_device();
  return true;
}

Plan make_device_plan(const Problem& p, const Batch& batch, const Execution& execution) {
  Plan plan{.backend = Backend::cuda};
  if (nothing_to_do(p, batch)) return plan;
  const std::size_t budget = device_budget(execution);
  plan.scratch_bytes = cuda::host_bytes(p, batch, budget);
  check_limit(execution, plan.scratch_bytes);
  if (plan.scratch_bytes > budget)
    throw DeviceError("the device has " + std::to_string(budget) +
                      " bytes of memory to give; this work needs at least " + std::to_string(plan.scratch_bytes));
  return plan;
}

std::size_t least_on_device(const Problem& p, const Batch& batch) {
  return nothing_to_do(p, batch) ? 0 : cuda::host_bytes(p, batch, 0);
}

void run_on_device(const Problem& p, const Batch& batch, const Plan& plan, const Execution& execution,
                   DistanceReport& report) {
  report.device = describe_device(current_device()).name;
  if (!nothing_to_do(p, batch)) report.engine = cuda::transform_host(p, batch, plan.scratch_bytes, execution).engine;
}

#else

bool choose_device(const Problem&, const Batch&, const Execution& execution) {
  if (execution.backend == Backend::cuda) require_device();
  return false;
}

Plan make_device_plan(const Problem&, const Batch&, const Execution&) { return {}; }
std::size_t least_on_device(const Problem&, const Batch&) { return 0; }
void run_on_device(const Problem&, const Batch&, const Plan&, const Execution&, DistanceReport&) {}

#endif

Plan make_plan(const Problem& p, const Batch& batch, const Execution& execution) {
  if (execution.threads < 0)
    throw InvalidArgument("the number of threads is " + std::to_string(execution.threads) +
                          "; give 1 or more, or 0 for all processors");
  const InstructionSet instruction_set = resolve(execution.instruction_set);
  if (choose_device(p, batch, execution)) return make_device_plan(p, batch, execution);
  Plan plan{.instruction_set = instruction_set};
  const int threads = execution.threads > 0 ? execution.threads : available_threads();
  plan.crew = {1, threads};
  if (nothing_to_do(p, batch)) return plan;
  plan.crew = cpu::divide(threads, batch.count(), element_count(p.input.shape()));
  const Problem own = cpu::without_offsets(p);
  plan.row_axis = cpu::best_row_axis(own);
  cpu::Arena copies(nullptr);
  const Problem transposed = cpu::Transposed(own, plan.row_axis, copies).problem();
  if (cpu::plain_serves(transposed)) plan.engine = Engine::plain;
  else if (cpu::plain_signed_serves(transposed)) plan.engine = Engine::plain_signed;
  fit_scratch(p, execution, plan);
  return plan;
}

void run_item(const Problem& caller, const Plan& plan, std::byte* scratch, const Execution& execution) {
  const int threads = plan.crew.threads_each;
  cpu::Arena copies(scratch);
  const cpu::Transposed transposed(cpu::without_offsets(caller), plan.row_axis, copies);
  const Problem& p = transposed.problem();
  std::byte* const rest = scratch + copies.used();
  transposed.copy_input(threads, execution);
  switch (plan.engine) {
    case Engine::plain:
      cpu::plain_transform(cpu::without_site_borders(p), plan.instruction_set, threads, rest, execution);
      if (cpu::has_site_border(p)) cpu::clamp_to_border(p, plan.instruction_set, threads, execution);
      break;
    case Engine::plain_signed: cpu::plain_signed_transform(p, plan.instruction_set, threads, rest, execution); break;
    case Engine::general: cpu::general_transform(p, plan.instruction_set, threads, rest, execution); break;
  }
  transposed.copy_outputs(threads, execution);
  cpu::write_offsets(caller, threads, execution);
}

void run_on_cpu(const Problem& first, const Batch& batch, const Plan& plan, const Execution& execution) {
  Workspace own;
  Workspace& workspace = execution.workspace ? *execution.workspace : own;
  std::byte* scratch = workspace.reserve(plan.scratch_bytes);
  if (batch.count() == 1) return run_item(first, plan, scratch, execution);
  cpu::each_item(plan.crew, batch.count(), execution, [&](int place, std::int64_t item, const Execution& part) {
    run_item(item_of(first, batch, item), plan, scratch + static_cast<std::size_t>(place) * plan.item_scratch, part);
  });
}

}  // namespace

Shape result_shape(const Shape& input, const DistanceOptions& options) {
  if (options.region.empty()) return input;
  Shape shape;
  for (int k = 0; k < std::min(options.batch_axes, input.rank()); ++k) shape.push_back(input[k]);
  for (const Range& range : options.region) shape.push_back(std::max<std::int64_t>(range.end - range.begin, 0));
  return shape;
}

std::size_t scratch_bytes(const AnyConstView& input, const DistanceOptions& options, const DistanceOutputs& outputs) {
  const Items items = split_batch(input, options, outputs);
  return make_plan(make_problem(items.input, options, items.outputs), items.batch, options.execution).scratch_bytes;
}

std::size_t least_scratch_bytes(const AnyConstView& input, const DistanceOptions& options,
                                const DistanceOutputs& outputs) {
  const Items items = split_batch(input, options, outputs);
  const Problem problem = make_problem(items.input, options, items.outputs);
  Execution least = options.execution;
  least.threads = 1;
  least.scratch_limit.reset();
  const auto on_cpu = [&](const Plan& plan) { return std::min(plan.scratch_bytes, lean(problem, plan).scratch_bytes); };
  const Plan plan = make_plan(problem, items.batch, least);
  if (plan.backend == Backend::cpu) return on_cpu(plan);
  const std::size_t on_device = least_on_device(problem, items.batch);
  if (least.backend == Backend::cuda) return on_device;
  least.backend = Backend::cpu;
  return std::min(on_device, on_cpu(make_plan(problem, items.batch, least)));
}

DistanceReport distance_transform(const AnyConstView& input, const DistanceOptions& options,
                                  const DistanceOutputs& outputs) {
  const Items items = split_batch(input, options, outputs);
  const Problem problem = make_problem(items.input, options, items.outputs);
  check_memory(input, outputs);
  const Execution& execution = options.execution;
  const Plan plan = make_plan(problem, items.batch, execution);
  if (execution.stop.stop_requested()) throw Cancelled();
  DistanceReport report{plan.backend, plan.instruction_set, plan.crew.threads(), plan.scratch_bytes};
  if (plan.backend == Backend::cuda) {
    run_on_device(problem, items.batch, plan, execution, report);
  } else if (!nothing_to_do(problem, items.batch)) {
    run_on_cpu(problem, items.batch, plan, execution);
    report.engine = plan.engine == Engine::general ? "general" : "plain";
  }
  if (execution.progress) execution.progress(1);
  return report;
}

Array distance_transform(const AnyConstView& input, const DistanceOptions& options, DType dtype) {
  Array result(dtype, result_shape(input.shape(), options));
  DistanceOutputs outputs;
  outputs.distance = result.view();
  distance_transform(input, options, outputs);
  return result;
}

#ifdef FATHOM_HAS_CUDA

namespace {

/// The same address as a view that the checks read; only the CUDA backend looks behind it.
template <class Byte>
BasicAnyView<Byte, MemorySpace::host> unchecked(const BasicAnyView<Byte, MemorySpace::device>& view) {
  if (!view.present()) return {};
  return {view.data(), view.dtype(), view.shape(), view.strides()};
}

DistanceOutputs unchecked(const DeviceDistanceOutputs& outputs) {
  DistanceOutputs views;
  for_each_output([](const OutputKind&, AnyView& to, const AnyDeviceView& view) { to = unchecked(view); }, views,
                  outputs);
  return views;
}

}  // namespace

std::size_t scratch_bytes(const AnyConstDeviceView& input, const DistanceOptions& options,
                          const DeviceDistanceOutputs& outputs) {
  const Items items = split_batch(unchecked(input), options, unchecked(outputs));
  const Problem problem = make_problem(items.input, options, items.outputs);
  return nothing_to_do(problem, items.batch) ? 0 : cuda::scratch_bytes(problem, items.batch);
}

DistanceReport distance_transform(const AnyConstDeviceView& input, const DistanceOptions& options,
                                  const DeviceDistanceOutputs& outputs, Stream stream) {
  if (options.execution.backend == Backend::cpu)
    throw InvalidArgument("the arrays are in a device's memory, where the backend cpu cannot work; use auto or cuda");
  const Items items = split_batch(unchecked(input), options, unchecked(outputs));
  const Problem problem = make_problem(items.input, options, items.outputs);
  check_memory(unchecked(input), unchecked(outputs));
  if (nothing_to_do(problem, items.batch)) return {.backend = Backend::cuda};
  const auto allow = [&](std::size_t scratch) { check_limit(options.execution, scratch); };
  const cuda::Done done = cuda::transform(problem, items.batch, allow, stream);
  return {.backend = Backend::cuda, .scratch_bytes = done.scratch_bytes, .device = done.device, .engine = done.engine};
}

#else

std::size_t scratch_bytes(const AnyConstDeviceView&, const DistanceOptions&, const DeviceDistanceOutputs&) {
  throw DeviceError("this build of Fathom has no CUDA backend");
}

DistanceReport distance_transform(const AnyConstDeviceView&, const DistanceOptions&, const DeviceDistanceOutputs&,
                                  Stream) {
  throw DeviceError("this build of Fathom has no CUDA backend");
}

#endif

}  // namespace fathom::grid
