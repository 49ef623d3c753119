#include "fathom/core/execution.h"

#include <hwy/targets.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>

#include <algorithm>
#include <string>

#include "fathom/core/error.h"

namespace fathom {

bool is_supported(InstructionSet instruction_set) {
  static const auto targets = hwy::SupportedTargets();  // asks the processor anew each time, which takes microseconds
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

int available_threads() { return std::max(1, oneapi::tbb::info::default_concurrency()); }

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
  oneapi::tbb::task_scheduler_handle handle{oneapi::tbb::attach{}};
  // False when other arenas still hold threads: then they are ended with those.
  (void)oneapi::tbb::finalize(handle, std::nothrow);
}

}  // namespace fathom
