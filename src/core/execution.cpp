#include "fathom/core/execution.h"

#include <hwy/targets.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

#include "core/fork.h"
#include "fathom/core/error.h"

namespace fathom {

bool is_supported(InstructionSet instruction_set) {
  // To ask the processor takes microseconds. No static initialiser: a fork in the midst of one would lock it for good.
  static std::atomic<std::int64_t> known{0};
  std::int64_t targets = known;
  if (targets == 0) known = targets = hwy::SupportedTargets();
  switch (instruction_set) {
    case InstructionSet::automatic:
    case InstructionSet::baseline: return true;
    case InstructionSet::avx2: return (targets & HWY_AVX2) != 0;
    case InstructionSet::avx512: return (targets & HWY_AVX3) != 0;
  }
  return false;
}

InstructionSet resolve(InstructionSet wanted) {
  if (wanted == InstructionSet::automatic) {
    for (auto best : {InstructionSet::avx512, InstructionSet::avx2})
      if (is_supported(best)) return best;
    return InstructionSet::baseline;
  }
  if (!is_supported(wanted))
    throw InvalidArgument("this machine cannot run " + std::string(name_of(wanted)) +
                          " instructions; use automatic or baseline");
  return wanted;
}

int available_threads() {
  if (!is_forked()) return std::max(1, oneapi::tbb::info::default_concurrency());
  cpu_set_t processors;
  return sched_getaffinity(0, sizeof processors, &processors) == 0 ? std::max(1, CPU_COUNT(&processors)) : 1;
}

std::string_view name_of(Backend backend) {
  switch (backend) {
    case Backend::automatic: return "auto";
    case Backend::cpu: return "cpu";
    case Backend::cuda: return "cuda";
  }
  return "unknown";
}

std::string_view name_of(InstructionSet instruction_set) {
  switch (instruction_set) {
    case InstructionSet::automatic: return "auto";
    case InstructionSet::baseline: return "baseline";
    case InstructionSet::avx2: return "avx2";
    case InstructionSet::avx512: return "avx512";
  }
  return "unknown";
}

void release_threads() {
  if (is_forked()) return;  // it keeps none
  oneapi::tbb::task_scheduler_handle handle{oneapi::tbb::attach{}};
  // False when other arenas still hold threads: then they are ended with those.
  (void)oneapi::tbb::finalize(handle, std::nothrow);
}

}  // namespace fathom
