// Cones as the searches need them, from directions and angles on the device: once for each query, not in every lane of
// its warps. A thread for each query. Cost: O(queries).
#include "core/cuda/runtime.h"
#include "points/cuda/cones.h"
#include "points/cuda/tuning.h"

namespace fathom::points::cuda {

namespace {

__global__ void __launch_bounds__(kSearchBlock)
    make_cone(const __grid_constant__ Cones cones, std::int64_t queries, ConeOfQuery* out) {
  const std::int64_t query = std::int64_t{blockIdx.x} * kSearchBlock + threadIdx.x;
  if (query < queries) out[query] = cone_of(cones, query);
}

}  // namespace

void make_cones(const Cones& cones, std::int64_t queries, ConeOfQuery* out, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((queries + kSearchBlock - 1) / kSearchBlock);
  make_cone<<<blocks, kSearchBlock, 0, stream>>>(cones, queries, out);
  fathom::cuda::check_launch("making cones");
}

}  // namespace fathom::points::cuda
