// The front of the distance transform: validates, sizes the scratch, chooses the engine, calls it.
#include "fathom/grid/distance.h"

#include <algorithm>
#include <string>

#include "fathom/core/workspace.h"
#include "grid/cpu/border_clamp.h"
#include "grid/cpu/general.h"
#include "grid/cpu/plain.h"
#include "grid/problem.h"

namespace fathom::grid {

namespace {

struct Plan {
  bool plain = false;  ///< the fast engine serves, with borders of sites added at the end
  InstructionSet instruction_set = InstructionSet::baseline;
  int threads = 1;
  std::size_t scratch_bytes = 0;
};

bool nothing_to_do(const Problem& p) {
  for (int k = 0; k < p.rank; ++k)
    if (p.region_extent(k) == 0) return true;
  return false;
}

std::size_t scratch_for(const Problem& p, const Plan& plan, int threads) {
  return plan.plain ? cpu::plain_scratch_bytes(cpu::without_site_borders(p), plan.instruction_set, threads)
                    : cpu::general_scratch_bytes(p, plan.instruction_set, threads);
}

/// Threads cost scratch: the most that fit the caller's limit.
void fit_scratch(const Problem& p, const Execution& execution, Plan& plan) {
  plan.scratch_bytes = scratch_for(p, plan, plan.threads);
  if (!execution.scratch_limit) return;
  while (plan.scratch_bytes > *execution.scratch_limit && plan.threads > 1)
    plan.scratch_bytes = scratch_for(p, plan, --plan.threads);
  if (plan.scratch_bytes > *execution.scratch_limit)
    throw InvalidArgument("the scratch limit of " + std::to_string(*execution.scratch_limit) +
                          " bytes is too small; the smallest that works here is " +
                          std::to_string(plan.scratch_bytes) + " bytes");
}

Plan make_plan(const Problem& p, const Execution& execution) {
  if (execution.backend == Backend::cuda)
    throw DeviceError("this build of Fathom has no CUDA backend; use backend auto or cpu");
  if (execution.threads < 0)
    throw InvalidArgument("the number of threads is " + std::to_string(execution.threads) +
                          "; give 1 or more, or 0 for all processors");
  Plan plan;
  plan.instruction_set = resolve(execution.instruction_set);
  plan.threads = execution.threads > 0 ? execution.threads : available_threads();
  if (nothing_to_do(p)) return plan;
  plan.plain = cpu::plain_serves(cpu::without_site_borders(p));
  fit_scratch(p, execution, plan);
  return plan;
}

void run(const Problem& p, const Plan& plan, std::byte* scratch, const Execution& execution) {
  if (!plan.plain) return cpu::general_transform(p, plan.instruction_set, plan.threads, scratch, execution);
  cpu::plain_transform(cpu::without_site_borders(p), plan.instruction_set, plan.threads, scratch, execution);
  if (cpu::has_site_border(p)) cpu::clamp_to_border(p, plan.threads);
}

}  // namespace

Shape result_shape(const Shape& input, const DistanceOptions& options) {
  if (options.region.empty()) return input;
  Shape shape;
  for (const Range& range : options.region) shape.push_back(std::max<std::int64_t>(range.end - range.begin, 0));
  return shape;
}

std::size_t scratch_bytes(const AnyConstView& input, const DistanceOptions& options, const DistanceOutputs& outputs) {
  return make_plan(make_problem(input, options, outputs), options.execution).scratch_bytes;
}

DistanceReport distance_transform(const AnyConstView& input, const DistanceOptions& options,
                                  const DistanceOutputs& outputs) {
  const Problem problem = make_problem(input, options, outputs);
  check_memory(input, outputs);
  const Execution& execution = options.execution;
  const Plan plan = make_plan(problem, execution);
  if (execution.stop.stop_requested()) throw Cancelled();
  if (!nothing_to_do(problem)) {
    Workspace own;
    Workspace& workspace = execution.workspace ? *execution.workspace : own;
    std::byte* scratch = workspace.reserve(plan.scratch_bytes);
    run(problem, plan, scratch, execution);
  }
  if (execution.progress) execution.progress(1);
  return {Backend::cpu, plan.instruction_set, plan.threads, plan.scratch_bytes};
}

Array distance_transform(const AnyConstView& input, const DistanceOptions& options, DType dtype) {
  Array result(dtype, result_shape(input.shape(), options));
  DistanceOutputs outputs;
  outputs.distance = result.view();
  distance_transform(input, options, outputs);
  return result;
}

}  // namespace fathom::grid
