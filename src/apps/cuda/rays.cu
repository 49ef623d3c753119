// Rays on a device. The arithmetic is that of ray.hd.h and voxels.hd.h, so that the CPU's bytes come out.
//
// Work: thread = ray. With a field, or unit steps, a ray goes to its end in one kernel. Where distances have to be
// asked for, rays go in rounds, as on the CPU: one kernel says where they are, the set of sites answers, another takes
// the step; rays that go on are gathered into a list, whose order does not matter. Launch: blocks of 128 threads, which
// leaves registers for a ray's 15 numbers. Memory: 184 bytes per ray that goes in rounds, none otherwise. Source: Khan
// & Zahran, pointwise evaluation of distance transforms; compaction between rounds as in wavefront path tracing (Laine
// et al. 2013). Cost: as on the CPU; a warp walks as far as the longest way of its rays.
#include "apps/cuda/rays.h"
#include "apps/safe_step.hd.h"
#include "core/cuda/runtime.h"
#include "core/cuda/warp.cuh"

namespace fathom::apps::cuda {

namespace {

using fathom::cuda::kAllLanes;
using fathom::cuda::lane_id;

constexpr int kBlock = 128;

unsigned blocks_of(std::int64_t threads) { return static_cast<unsigned>((threads + kBlock - 1) / kBlock); }

__device__ std::int64_t thread_number() { return std::int64_t{blockIdx.x} * kBlock + threadIdx.x; }

/// What a thread's ray did in a kernel.
struct Tally {
  int rays = 0, hits = 0, samples = 0;

  /// All lanes together.
  __device__ void add_to(Totals& totals) const {
    const int all[] = {fathom::cuda::warp_sum(rays), fathom::cuda::warp_sum(hits), fathom::cuda::warp_sum(samples)};
    if (lane_id() != 0) return;
    if (all[0] > 0) atomicAdd(&totals.rays, static_cast<unsigned long long>(all[0]));
    if (all[1] > 0) atomicAdd(&totals.hits, static_cast<unsigned long long>(all[1]));
    if (all[2] > 0) atomicAdd(&totals.samples, static_cast<unsigned long long>(all[2]));
  }
};

__device__ void finish(const Part& part, const Traveller& one, bool hit) {
  const Pictures& out = part.pictures;
  const std::int64_t at = one.pixel - part.first;
  const Sight sight = hit ? sight_of(one, part.frame, part.voxels, out.shade != nullptr) : Sight();
  if (out.shade) out.shade[at] = sight.shade;
  if (out.voxel) out.voxel[at] = sight.voxel;
  if (out.depth) out.depth[at] = sight.depth;
  if (out.samples) out.samples[at] = one.samples;
}

__device__ double length_from(const float* field, const Traveller& one, const Voxels& voxels) {
  const std::int64_t row = one.at[0] * static_cast<std::int64_t>(voxels.extents[1]) + one.at[1];
  return safe_step(static_cast<double>(field[row * voxels.extents[2] + one.at[2]]), 2 * kVoxelRadius);
}

template <bool kField>
__global__ void __launch_bounds__(kBlock) march_rays(const __grid_constant__ Part part, const float* field) {
  const std::int64_t number = thread_number();
  Tally tally;
  if (number < part.count) {
    Traveller one;
    Met met = Met::end;
    if (set_out(one, part.frame, part.voxels, part.first + number)) {
      tally.rays = 1;
      do {
        met = go_on(one, part.voxels, kField ? length_from(field, one, part.voxels) : 0);
      } while (met == Met::nothing);
    }
    finish(part, one, met == Met::solid);
    tally.hits = met == Met::solid;
    tally.samples = one.samples;
  }
  tally.add_to(*part.totals);
}

/// All lanes together.
__device__ void append(const Travellers& travellers, std::uint32_t place, bool goes_on) {
  const unsigned lanes = __ballot_sync(kAllLanes, goes_on);
  unsigned first = 0;
  if (lane_id() == 0 && lanes != 0) first = atomicAdd(travellers.count, static_cast<unsigned>(__popc(lanes)));
  first = __shfl_sync(kAllLanes, first, 0);
  if (goes_on) travellers.left[first + __popc(lanes & fathom::cuda::lanes_before(lane_id()))] = place;
}

__global__ void __launch_bounds__(kBlock)
    start_rays(const __grid_constant__ Part part, const __grid_constant__ Travellers travellers) {
  const std::int64_t number = thread_number();
  Tally tally;
  bool meets = false;
  if (number < part.count) {
    Traveller one;
    meets = set_out(one, part.frame, part.voxels, part.first + number);
    if (meets) travellers.all[number] = one;
    else finish(part, one, false);
  }
  append(travellers, static_cast<std::uint32_t>(number), meets);
  tally.rays = meets;
  tally.add_to(*part.totals);
}

__global__ void __launch_bounds__(kBlock)
    locate_rays(const __grid_constant__ Travellers travellers, std::uint32_t rays) {
  const std::int64_t number = thread_number();
  if (number >= rays) return;
  const Traveller& one = travellers.all[travellers.active[number]];
  for (int k = 0; k < 3; ++k) {
    travellers.place[3 * number + k] = one.ray.origin[k] + one.t * one.ray.direction[k];
    if (travellers.direction) travellers.direction[3 * number + k] = one.ray.direction[k];
  }
}

__global__ void __launch_bounds__(kBlock)
    step_rays(const __grid_constant__ Part part, const __grid_constant__ Travellers travellers, std::uint32_t rays) {
  const std::int64_t number = thread_number();
  Tally tally;
  Met met = Met::end;
  std::uint32_t place = 0;
  if (number < rays) {
    place = travellers.active[number];
    Traveller one = travellers.all[place];
    met = go_on(one, part.voxels, safe_step(travellers.length[number], kVoxelRadius));
    if (met == Met::nothing) {
      travellers.all[place] = one;
    } else {
      finish(part, one, met == Met::solid);
      tally = {0, met == Met::solid, one.samples};
    }
  }
  append(travellers, place, met == Met::nothing);
  tally.add_to(*part.totals);
}

/// Thread = voxel.
__global__ void __launch_bounds__(kBlock) unpack_voxels(const __grid_constant__ Voxels voxels, std::uint8_t* mask) {
  const std::int64_t number = thread_number();
  const std::int64_t row = number / voxels.extents[2], column = number % voxels.extents[2];
  if (row >= static_cast<std::int64_t>(voxels.extents[0]) * voxels.extents[1]) return;
  mask[number] = voxels.words[row * voxels.row_words + column / 64] >> (column % 64) & 1;
}

}  // namespace

Travellers Travellers::take(fathom::cuda::Scratch& scratch, std::int64_t rays, bool directed) {
  Travellers travellers;
  travellers.all = scratch.take<Traveller>(rays);
  travellers.active = scratch.take<std::uint32_t>(rays);
  travellers.left = scratch.take<std::uint32_t>(rays);
  travellers.count = scratch.take<std::uint32_t>(1);
  travellers.place = scratch.take<double>(3 * rays);
  if (directed) travellers.direction = scratch.take<double>(3 * rays);
  travellers.length = scratch.take<double>(rays);
  return travellers;
}

void march_alone(const Part& part, const float* field, cudaStream_t stream) {
  if (field) march_rays<true><<<blocks_of(part.count), kBlock, 0, stream>>>(part, field);
  else march_rays<false><<<blocks_of(part.count), kBlock, 0, stream>>>(part, field);
  fathom::cuda::check_launch("marching rays");
}

void set_out_all(const Part& part, const Travellers& travellers, cudaStream_t stream) {
  start_rays<<<blocks_of(part.count), kBlock, 0, stream>>>(part, travellers);
  fathom::cuda::check_launch("starting rays");
}

void locate(const Travellers& travellers, std::uint32_t rays, cudaStream_t stream) {
  locate_rays<<<blocks_of(rays), kBlock, 0, stream>>>(travellers, rays);
  fathom::cuda::check_launch("locating rays");
}

void go_on_all(const Part& part, const Travellers& travellers, std::uint32_t rays, cudaStream_t stream) {
  step_rays<<<blocks_of(rays), kBlock, 0, stream>>>(part, travellers, rays);
  fathom::cuda::check_launch("stepping along rays");
}

void unpack(const Voxels& voxels, std::uint8_t* mask, cudaStream_t stream) {
  const std::int64_t rows = static_cast<std::int64_t>(voxels.extents[0]) * voxels.extents[1];
  unpack_voxels<<<blocks_of(rows * voxels.extents[2]), kBlock, 0, stream>>>(voxels, mask);
  fathom::cuda::check_launch("unpacking voxels");
}

}  // namespace fathom::apps::cuda
