// The way to a device and back.
#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "fathom/core/error.h"
#include "published/cuda/algorithms.h"
#include "published/cuda/task.h"

namespace fathom::published::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::Scratch;

std::int64_t results_of(const Problem& problem) {
  const Places& p = problem.places;
  return problem.options.slice ? std::int64_t{p.width} * p.height : p.size();
}

void run(const Task& task) {
  switch (task.options.algorithm) {
    case Algorithm::pba: return pba(task);
    case Algorithm::proximate: return proximate(task);
    case Algorithm::jfa: return jump_flooding(task);
    case Algorithm::skw: return sweeping(task);
    case Algorithm::brute: return brute_force(task);
  }
}

/// Lays out all that there is on the device.
Task task_of(const Problem& problem, Scratch& scratch, cudaStream_t stream, Stopwatch* watch) {
  auto* const mask = scratch.take<std::uint8_t>(problem.places.size());
  auto* const nearest = scratch.take<std::uint32_t>(results_of(problem));
  return {problem.places, problem.options, problem.is_volume(), mask, nearest, scratch, stream, watch};
}

}  // namespace

std::size_t scratch_bytes(const Problem& problem) {
  Scratch scratch(nullptr);
  run(task_of(problem, scratch, nullptr, nullptr));
  return scratch.bytes();
}

Phases run(const Problem& problem) {
  const fathom::cuda::OwnStream stream;
  const fathom::cuda::DeviceMemory memory(scratch_bytes(problem), stream.get());
  Scratch scratch(memory.data());
  const auto size = static_cast<std::size_t>(problem.places.size());
  const auto results = static_cast<std::size_t>(results_of(problem)) * sizeof(std::uint32_t);
  check(cudaMemcpyAsync(memory.data(), problem.mask, size, cudaMemcpyHostToDevice, stream.get()), "copying a mask");
  Stopwatch watch(stream.get());
  const Task task = task_of(problem, scratch, stream.get(), &watch);
  run(task);
  check(cudaMemcpyAsync(problem.nearest, task.nearest, results, cudaMemcpyDeviceToHost, stream.get()),
        "copying places");
  stream.wait();
  if (problem.options.execution.stop.stop_requested()) throw Cancelled();
  return watch.phases();
}

}  // namespace fathom::published::cuda
