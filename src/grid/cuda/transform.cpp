#include "grid/cuda/transform.h"

#include <algorithm>

#include "core/cuda/pool.h"
#include "core/cuda/runtime.h"
#include "grid/cuda/engine.h"

namespace fathom::grid::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::DeviceMemory;
using fathom::cuda::OnDevice;

int device_of(const Problem& p, cudaStream_t stream) {
  const int device = fathom::cuda::device_of(p.input.data(), "input", stream);
  for_each_output(
      [&](const OutputKind& kind, const AnyView& view) {
        const std::string name(kind.name);
        if (view.present() && fathom::cuda::device_of(view.data(), name.c_str(), stream) != device)
          throw InvalidArgument("'" + name + "' is on another device than the input");
      },
      p.outputs);
  return device;
}

}  // namespace

std::size_t scratch_bytes(const Problem& problem, const Batch& batch) {
  const auto [engine, name] = choose_engine(problem, true);
  const std::int64_t group = engine->group_of(batch.count());
  return engine->words_bytes(group) + engine->scratch_bytes(problem, group);
}

Done transform(const Problem& problem, const Batch& batch, const std::function<void(std::size_t)>& allow,
               Stream stream) {
  const cudaStream_t native = fathom::cuda::native(stream);
  const int device = device_of(problem, native);
  const OnDevice on_device(device);
  const auto [engine, name] = choose_engine(problem, true);
  const std::int64_t count = batch.count(), group = engine->group_of(count);
  const std::size_t words = engine->words_bytes(group), scratch = words + engine->scratch_bytes(problem, group);
  allow(scratch);
  const DeviceMemory memory(scratch, native);
  const Input input = Input::of(problem, batch);
  for (std::int64_t first = 0; first < count; first += group) {
    const std::int64_t items = std::min(group, count - first);
    engine->pack({.input = input, .first_item = first, .items = items}, items, memory.data(), native);
    engine->solve(problem, batch, first, items, memory.data(), memory.data() + words, native);
  }
  return {describe_device(device).name, name, scratch};
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for the free memory");
  free += fathom::cuda::unused_bytes(current_device());
  constexpr std::size_t kMargin = 16;  // a part of it: what kernels need by themselves, and what others take meanwhile
  return free - free / kMargin;
}

}  // namespace fathom::grid::cuda
