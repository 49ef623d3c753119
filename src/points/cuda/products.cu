// The test by which tensor cores prove that they serve (products.cuh): a quarter of a million squared distances between
// points at the corners of what is allowed and anywhere in it, beside the same in integers. Those that float16 holds
// must be exact, others one of the two next to them.
//
// Work: a warp for 16 queries and 8 sites at a time. Launch: 64 blocks of 4 warps, 8 products each.
#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "core/cuda/runtime.h"
#include "points/cuda/products.cuh"
#include "points/cuda/products.h"

namespace fathom::points::cuda {

namespace {

constexpr int kTestBlock = 128;

/// Coordinate of a point of the test.
__device__ int coordinate(unsigned seed) {
  seed = (seed ^ (seed >> 16)) * 0x7feb352du;
  seed = (seed ^ (seed >> 15)) * 0x846ca68bu;
  seed ^= seed >> 16;
  constexpr int kReach = static_cast<int>(kProductReach);
  if (seed % 4 == 0) return seed & 8 ? kReach : -kReach;
  return static_cast<int>(seed / 4 % (2 * kReach + 1)) - kReach;
}

struct Point {
  int x, y, z;
  __device__ explicit Point(unsigned seed)
      : x(coordinate(3 * seed)), y(coordinate(3 * seed + 1)), z(coordinate(3 * seed + 2)) {}
  __device__ int squared_distance(const Point& p) const {
    return (x - p.x) * (x - p.x) + (y - p.y) * (y - p.y) + (z - p.z) * (z - p.z);
  }
};

__device__ unsigned word_of(const uint4& words, int t) {
  return t == 0 ? words.x : t == 1 ? words.y : t == 2 ? words.z : words.w;
}
__device__ unsigned query_word(const Point& p, int t) {
  return word_of(Factors::of_query(static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)).words, t);
}
__device__ unsigned site_word(const Point& p, int t) {
  return word_of(Factors::of_site(static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)).words, t);
}

/// Whether the bits are those of a float16 next to, or at, a squared distance. Those of −0 are not: bits are compared.
__device__ bool is_rounding_of(unsigned short bits, int squared) {
  const float exact = static_cast<float>(squared) / kProductUnit;
  return bits >= __half_as_ushort(__float2half_rd(exact)) && bits <= __half_as_ushort(__float2half_ru(exact));
}

__global__ void __launch_bounds__(kTestBlock) test_products(int* wrong) {
  const unsigned warp = (blockIdx.x * kTestBlock + threadIdx.x) / 32;
  const int g = lane_id() / 4, t = lane_id() % 4;
  for (unsigned round = 0; round < 8; ++round) {
    const unsigned first = (warp * 8 + round) * 24;
    const Point queries[2] = {Point(first + g), Point(first + g + 8)};
    unsigned pairs[2];
    multiply(pairs, query_word(queries[0], t), query_word(queries[1], t), site_word(Point(first + 16 + g), t));
    for (int i = 0; i < 4; ++i) {
      const Point site(first + 16 + 2 * t + i % 2);
      const auto bits = static_cast<unsigned short>(pairs[i / 2] >> i % 2 * 16);
      if (!is_rounding_of(bits, queries[i / 2].squared_distance(site))) atomicExch(wrong, 1);
    }
  }
}

}  // namespace

Lattice Lattice::of(const DeviceTree& tree) {
  Lattice lattice;
  lattice.exact = tree.whole;
  for (int k = 0; k < tree.axes; ++k) lattice.exact &= tree.high[k] - tree.low[k] <= 2 * kProductReach;
  double reach = 0;
  for (int k = 0; k < tree.axes; ++k) {
    double middle = 0.5 * tree.low[k] + 0.5 * tree.high[k];
    if (lattice.exact) middle = std::floor(middle);
    else if (tree.dtype == DType::float32) middle = static_cast<double>(static_cast<float>(middle));
    lattice.center[k] = middle;
    lattice.middle[k] = static_cast<float>(middle);
    reach = std::max({reach, tree.high[k] - middle, middle - tree.low[k]});
  }
  if (!lattice.exact) lattice.scale = (kProductReach - 1) / reach;
  return lattice;
}

bool products_serve(const DeviceTree& tree) {
  constexpr double kMostScale = 1e30;
  const double scale = Lattice::of(tree).scale;
  return scale >= 1 / kMostScale && scale <= kMostScale;
}

namespace {

bool test_device(cudaStream_t stream) {
  using fathom::cuda::check;
  const fathom::cuda::DeviceMemory memory(sizeof(int), stream);
  auto* result = reinterpret_cast<int*>(memory.data());
  check(cudaMemsetAsync(result, 0, sizeof(int), stream), "clearing a flag");
  test_products<<<64, kTestBlock, 0, stream>>>(result);
  fathom::cuda::check_launch("testing products");
  int wrong = 1;
  check(cudaMemcpyAsync(&wrong, result, sizeof wrong, cudaMemcpyDeviceToHost, stream), "reading a flag");
  check(cudaStreamSynchronize(stream), "testing products");
  return wrong == 0;
}

}  // namespace

bool products_are_exact(cudaStream_t stream) {
  static std::mutex mutex;
  static std::map<int, bool> exact;  // devices do not change
  int device = 0;
  fathom::cuda::check(cudaGetDevice(&device), "asking for the device");
  const std::lock_guard lock(mutex);
  const auto known = exact.find(device);
  return known != exact.end() ? known->second : exact[device] = test_device(stream);
}

}  // namespace fathom::points::cuda
