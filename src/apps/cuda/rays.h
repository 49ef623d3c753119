// What kernels do with the rays of a part of a picture.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "apps/traveller.hd.h"
#include "core/cuda/scratch.h"

namespace fathom::apps::cuda {

/// Results of consecutive pixels; null: not wanted.
struct Pictures {
  std::uint8_t* shade = nullptr;
  std::int64_t* voxel = nullptr;
  float* depth = nullptr;
  std::int32_t* samples = nullptr;
};

/// What rays did.
struct Totals {
  unsigned long long rays, hits, samples;
};

/// Pixels `first` … `first + count − 1` of a picture, row by row.
struct Part {
  Voxels voxels;
  Frame frame;
  std::int64_t first = 0;
  std::uint32_t count = 0;
  Pictures pictures;
  Totals* totals = nullptr;  ///< of all parts so far
};

/// Rays that go in rounds. The arrays `place`, `direction` and `length` have an element, or three, for each active ray.
struct Travellers {
  Traveller* all = nullptr;         ///< of each pixel of the part
  std::uint32_t* active = nullptr;  ///< which of them are on their way
  std::uint32_t* left = nullptr;    ///< which still are after the round
  std::uint32_t* count = nullptr;   ///< how many these are; 0 before the round
  double* place = nullptr;          ///< where they are
  double* direction = nullptr;      ///< null: not wanted
  double* length = nullptr;         ///< distance to the nearest site from there

  static Travellers take(fathom::cuda::Scratch& scratch, std::int64_t rays, bool directed);
};

/// All rays to their ends, with steps from the field.
/// @param field  distance of each voxel; null: unit steps
void march_alone(const Part& part, const float* field, cudaStream_t stream);

/// Rays that meet the volume come into `left`; the others are finished.
void set_out_all(const Part& part, const Travellers& travellers, cudaStream_t stream);
/// Where `rays` active rays are, and where they go.
void locate(const Travellers& travellers, std::uint32_t rays, cudaStream_t stream);
/// One sample for each active ray.
void go_on_all(const Part& part, const Travellers& travellers, std::uint32_t rays, cudaStream_t stream);

/// One byte for each voxel: 1 where it is solid.
void unpack(const Voxels& voxels, std::uint8_t* mask, cudaStream_t stream);

}  // namespace fathom::apps::cuda
