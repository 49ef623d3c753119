// Threads of an emulated device: how kernels are started, and what their threads do together.
//
// A kernel runs before the call that starts it returns, block after block, each thread on a stack of its own until it
// waits for others. Where the environment variable FATHOM_EMULATED_BLOCKS asks for more than one, so many blocks run at
// once, each on a thread of the host, as kernels need whose blocks look at what others do; not under the address
// sanitizer, which watches the ends of all shared memory. In which order threads run between places where they wait
// changes from block to block: a result that depends on it betrays a race. Shared memory that a launch sizes, and memory
// of the device, begin filled with a pattern; other shared memory does not. Launches that a device refuses, and lanes that
// wait for others which never come, end the program with a message. Threads at different barriers pass them together,
// which is wrong on a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#if defined(__SANITIZE_ADDRESS__)
#define FATHOM_EMULATION_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FATHOM_EMULATION_ASAN
#endif
#endif

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

using cudaStream_t = struct CUstream_st*;

// Of the thread that runs.
extern constinit thread_local uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

namespace fathom::emulation {

inline constexpr int kPattern = 0xA5;

/// What lanes of a warp exchange.
enum class Exchange { value_of_lane, ballot, least, sum, bits };

/// Waits for all lanes of `mask`, which must come with the same kind of exchange.
///
/// @param lane  whose value is wanted, where it is that; one outside of the warp stands for the own
std::uint64_t exchange(unsigned mask, Exchange kind, std::uint64_t value, int lane = -1);

struct Votes {
  int yes = 0, all = 0;
};

/// Waits for all threads of the block that have not ended.
Votes at_barrier(bool vote);

/// What the launch asked for.
void* shared_memory();

/// Bytes of it that a block may have, on any device and on this one: fewer where the environment variable
/// FATHOM_EMULATED_SHARED_KIB says so.
inline constexpr std::size_t kMostSharedMemory = 227 << 10;
std::size_t most_shared_memory();

void run(dim3 blocks, dim3 threads, std::size_t memory, const std::function<void()>& kernel);

/// kernel<<<blocks, threads, memory, stream>>>, which translate.py turns into on(…)(kernel)(arguments).
inline auto on(dim3 blocks, dim3 threads, std::size_t memory = 0, cudaStream_t = nullptr) {
  return [=](auto kernel) {
    return [=](const auto&... arguments) { run(blocks, threads, memory, [&] { kernel(arguments...); }); };
  };
}

}  // namespace fathom::emulation
