// The distance transform behind a C interface, for the benchmarks and the tests against peers, which are in Python.
// A shim, no product: one call, one struct, one workspace that lives as long as the library is loaded.
#pragma once

#include <cstdint>

extern "C" {

struct FathomBenchArray {
  void* data;          ///< null: not wanted
  std::int32_t dtype;  ///< index into fathom::DType
};

/// Enumerations are passed as their underlying integers. `spacings`, `borders` and `ranges` count the given values.
struct FathomBenchCall {
  FathomBenchArray input, distance, squared, nearest, coordinates;
  std::int32_t rank;
  std::int64_t shape[8];
  std::int32_t rule;
  double value;
  std::int32_t metric;
  std::int32_t spacings;
  double spacing[8];
  std::int32_t borders;
  std::int32_t border[8];
  double max_distance;
  std::int32_t signed_distance, surface;
  std::int32_t ranges;
  std::int64_t region[16];
  std::int32_t instruction_set, threads;
  // What the call did:
  std::int32_t used_instruction_set, used_threads;
  std::uint64_t scratch_bytes;
  char message[512];  ///< of the error, if any
};

/// @return 0, or 1 with `message` set
int fathom_bench_distance(FathomBenchCall* call);

/// Whether the machine has it: 1 baseline, 2 avx2, 3 avx512.
int fathom_bench_has(int instruction_set);

/// memcpy on one thread: the time that any result of that size needs.
void fathom_bench_copy(void* to, const void* from, std::uint64_t bytes);

/// Size of FathomBenchCall, so that the other side can check its own declaration.
std::uint64_t fathom_bench_call_size();
}
