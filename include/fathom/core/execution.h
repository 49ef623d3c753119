// How a call runs: where, on how many threads, in how much memory, who watches and who may stop it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>

namespace fathom {

enum class Backend { automatic, cpu, cuda };

/// Vector instructions of the CPU code. Results do not depend on the choice; tests force each.
enum class InstructionSet { automatic, baseline, avx2, avx512 };

class Workspace;

struct Execution {
  Backend backend = Backend::automatic;
  InstructionSet instruction_set = InstructionSet::automatic;
  /// Most threads to use; 0: one per processor that this process may use.
  int threads = 0;
  /// Most bytes of scratch; the call uses fewer threads, or on a device smaller pieces, to stay inside, or refuses
  /// before it starts.
  std::optional<std::size_t> scratch_limit;
  /// Scratch that outlives the call, so that repeated calls need not ask the system again; null: per call.
  Workspace* workspace = nullptr;
  /// Called now and then with the share done, in [0, 1], never falling, never by two threads at once.
  std::function<void(double)> progress;
  /// Asked now and then; the call then throws Cancelled.
  std::stop_token stop;
};

/// Whether this process can run code for the instruction set on this machine.
bool is_supported(InstructionSet instruction_set);

/// The best supported set for `automatic`, else `wanted`.
/// @throws InvalidArgument the machine lacks it
InstructionSet resolve(InstructionSet wanted);

/// Processors that this process may use, at least 1.
int available_threads();

std::string_view name_of(Backend backend);
std::string_view name_of(InstructionSet instruction_set);

/// Ends the worker threads that Fathom keeps between calls; a later call starts them again.
/// Must not run while another call is at work.
void release_threads();

}  // namespace fathom
