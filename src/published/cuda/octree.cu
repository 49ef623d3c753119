// Narrow bands in an octree on a device: see octree.hd.h. Points: thread = vertex. Edges: block = edge, which finds its
// largest gap together, lists a part of the chunk's offsets in shared memory, pastes it with a thread to a starting
// point, and goes on with the next part. Faces: block = face, thread = place of its box.
#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "core/cuda/staging.h"
#include "published/cuda/octree.h"
#include "published/cuda/stopwatch.h"
#include "published/octree.h"

namespace fathom::published::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::check_launch;

constexpr int kBlock = 128;
constexpr int kRoom = 1024;  ///< offsets of a chunk that are listed at a time

using Count = unsigned long long;

/// Atomic operations, and reads that other threads' writes may have changed.
struct DeviceMemory {
  template <class T>
  static __device__ T load(T* at) {
    return *static_cast<volatile T*>(at);
  }
  template <class T>
  static __device__ T swap_if(T* at, T expected, T wanted) {
    return atomicCAS(at, expected, wanted);
  }
  static __device__ Count add(Count* at, Count more) { return atomicAdd(at, more); }
  /// What was made must be there before others are led to it.
  static __device__ void publish(unsigned* at, unsigned reference) {
    __threadfence();
    *static_cast<volatile unsigned*>(at) = reference;
  }
};

struct ToTree {
  Octree tree;
  __device__ void operator()(const Place& place, double squared) const {
    keep_least<DeviceMemory>(tree, place, squared);
  }
};

/// As section 4.4 measures what the tree takes: by volatile variables.
struct Nowhere {
  __device__ void operator()(const Place& place, double squared) const {
    [[maybe_unused]] volatile std::int64_t at = place.at[0] + place.at[1] + place.at[2];
    [[maybe_unused]] volatile double kept = squared;
  }
};

template <class Sink>
__global__ void __launch_bounds__(kBlock)
    walk_balls(const __grid_constant__ BandProblem problem, const __grid_constant__ Sink sink, Count* visited) {
  const std::int64_t number = std::int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (number < problem.mesh.vertex_count) atomicAdd(visited, static_cast<Count>(walk_ball(problem, number, sink)));
}

template <class Sink>
__global__ void __launch_bounds__(kBlock)
    fill_cylinders(const __grid_constant__ BandProblem problem, const __grid_constant__ Sink sink, Count* visited) {
  __shared__ Count largest;  // gap, squared: of numbers that are not negative the bits are in their order
  __shared__ int listed;
  __shared__ Place chunk[kRoom];
  const std::int64_t number = blockIdx.x;
  const int thread = static_cast<int>(threadIdx.x);
  const EdgeWalk walk = walk_along(problem, number);
  if (thread == 0) largest = 0;
  __syncthreads();
  for (std::int64_t k = walk.first + thread; k < walk.last; k += kBlock)
    atomicMax(&largest, bits_of(walk.gap_squared(k)));
  __syncthreads();
  const double half = walk.half_length(std::sqrt(__longlong_as_double(static_cast<long long>(largest))));
  const Box box = walk.first <= walk.last ? walk.box_of_chunk(half) : Box{};
  Count pasted = 0;
  for (std::int64_t part = 0; part < box.count(); part += kRoom) {
    __syncthreads();
    if (thread == 0) listed = 0;
    __syncthreads();
    for (std::int64_t n = part + thread; n < part + kRoom && n < box.count(); n += kBlock)
      if (const Place offset = box.place(n); walk.is_in_chunk(offset, half)) chunk[atomicAdd(&listed, 1)] = offset;
    __syncthreads();
    for (std::int64_t k = walk.first + thread; k <= walk.last; k += kBlock) {
      const Place start = walk.start(k);
      for (int n = 0; n < listed; ++n) pasted += static_cast<Count>(paste(problem, number, start, chunk[n], sink));
    }
  }
  atomicAdd(visited, pasted);
}

template <class Sink>
__global__ void __launch_bounds__(kBlock)
    fill_prisms(const __grid_constant__ BandProblem problem, const __grid_constant__ Sink sink, Count* visited) {
  const std::int64_t number = blockIdx.x;
  const Box box = box_of_face(problem, number);
  for (std::int64_t n = threadIdx.x; n < box.count(); n += kBlock) try_face(problem, number, box.place(n), sink);
  if (threadIdx.x == 0) atomicAdd(visited, static_cast<Count>(box.count()));
}

/// The mesh in the device's memory. Run over no memory, it counts the bytes.
Primitives upload(const Primitives& mesh, fathom::cuda::Scratch& scratch, cudaStream_t stream) {
  const auto copy = [&](const auto* from, std::int64_t count) {
    auto* const to = scratch.take<std::remove_const_t<std::remove_pointer_t<decltype(from)>>>(count);
    if (to != nullptr && count > 0)
      check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof *from, cudaMemcpyHostToDevice, stream),
            "copying a mesh");
    return to;
  };
  const auto copy_owners = [&](const Owners& owners, std::int64_t count) {
    return Owners{copy(owners.starts, count + 1), copy(owners.list, owners.starts[count])};
  };
  Primitives there = mesh;
  there.vertices = copy(mesh.vertices, mesh.vertex_count);
  there.edges = copy(mesh.edges, mesh.edge_count);
  there.faces = copy(mesh.faces, mesh.face_count);
  there.of_vertices = copy_owners(mesh.of_vertices, mesh.vertex_count);
  there.of_edges = copy_owners(mesh.of_edges, mesh.edge_count);
  return there;
}

/// @param name  of all passes together; null: each has its own
template <class Sink>
void run_passes(const BandProblem& problem, const BandOptions& options, const Sink& sink, Count* visited,
                cudaStream_t stream, Stopwatch& watch, const char* name) {
  const Primitives& mesh = problem.mesh;
  const auto lap = [&](const char* own) {
    check_launch(own);
    watch.lap(name != nullptr ? name : own);
  };
  if (options.points) {
    const auto blocks = static_cast<unsigned>((mesh.vertex_count + kBlock - 1) / kBlock);
    walk_balls<<<blocks, kBlock, 0, stream>>>(problem, sink, visited);
    lap("points");
  }
  if (options.edges) {
    if (mesh.edge_count > 0)
      fill_cylinders<<<static_cast<unsigned>(mesh.edge_count), kBlock, 0, stream>>>(problem, sink, visited);
    lap("edges");
  }
  if (options.faces) {
    fill_prisms<<<static_cast<unsigned>(mesh.face_count), kBlock, 0, stream>>>(problem, sink, visited);
    lap("faces");
  }
}

}  // namespace

BandFound octree(const BandProblem& problem, const BandOptions& options, int threads) {
  const fathom::cuda::OwnStream stream;
  fathom::cuda::Scratch counted(nullptr);
  upload(problem.mesh, counted, stream.get());
  const fathom::cuda::DeviceMemory of_mesh(counted.bytes(), stream.get());
  fathom::cuda::Scratch scratch(of_mesh.data());
  BandProblem there = problem;
  there.mesh = upload(problem.mesh, scratch, stream.get());
  const std::int64_t(&shape)[3] = problem.grid.shape;
  const Region whole{{}, {shape[0], shape[1], shape[2]}};

  for (Count capacity = first_capacity(problem, options);; capacity = next_capacity(capacity, options)) {
    BandFound found;
    // Two counters lie before the tree: units that are used, and points that were looked at.
    constexpr std::size_t kCounters = 2 * sizeof(Count);
    const std::size_t bytes = kCounters + capacity * sizeof(Count);
    found.scratch_bytes = counted.bytes() + bytes;
    const fathom::cuda::DeviceMemory memory(bytes, stream.get());
    auto* const counters = reinterpret_cast<Count*>(memory.data());
    const Octree tree{counters + 2, counters, capacity, whole};
    const Count before[2] = {kNodeUnits, 0};
    check(cudaMemsetAsync(counters, 0, bytes, stream.get()), "clearing a tree");
    check(cudaMemcpyAsync(counters, before, sizeof before, cudaMemcpyHostToDevice, stream.get()), "making a root");
    Stopwatch watch(stream.get());
    run_passes(there, options, ToTree{tree}, counters + 1, stream.get(), watch, nullptr);
    Count after[2];
    check(cudaMemcpyAsync(after, counters, sizeof after, cudaMemcpyDeviceToHost, stream.get()),
          "reading a tree's size");
    stream.wait();
    if (options.execution.stop.stop_requested()) throw Cancelled();
    if (after[0] > capacity) continue;
    found.phases = watch.phases();
    found.visited = static_cast<std::int64_t>(after[1]);
    if (options.measure_tree) {
      Stopwatch more(stream.get());
      run_passes(there, options, ToTree{tree}, counters + 1, stream.get(), more, "again");
      run_passes(there, options, Nowhere{}, counters + 1, stream.get(), more, "without tree");
      stream.wait();
      for (const Phase& phase : more.phases()) found.phases.push_back(phase);
    }
    const auto units = std::make_unique_for_overwrite<Count[]>(after[0]);
    const std::size_t used = after[0] * sizeof(Count);
    fathom::cuda::Staging(threads, used)
        .download(reinterpret_cast<const std::byte*>(tree.units),
                  {.data = reinterpret_cast<std::byte*>(units.get()), .bytes = used}, stream.get());
    read_tree({units.get(), &after[0], capacity, whole}, threads, found);
    return found;
  }
}

}  // namespace fathom::published::cuda
