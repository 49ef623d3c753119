// Hilbert order: a key for each point, from a table of the curve; then CUB's radix sort of keys and indices. Cost: O(n).
#include <algorithm>
#include <cmath>
#include <cub/device/device_radix_sort.cuh>

#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "points/cuda/order.h"
#include "points/cuda/tuning.h"
#include "points/hilbert.hd.h"
#include "points/hilbert_table.hd.h"
#include "points/measure.hd.h"

namespace fathom::points::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::Scratch;

template <int kAxes>
__device__ const HilbertTable<kAxes> kCurve;

constexpr int kKeysOfThread = 8;

/// A block copies the table of the curve to where lanes look up different entries at once; its threads stride over its
/// points.
template <class T, int kAxes, int kKeyBits, class Key>
__global__ void __launch_bounds__(kBuildBlock)
    set_curve_keys(const __grid_constant__ Cloud points, CurveGrid grid, Key* keys, std::uint32_t* order) {
  using Table = HilbertTable<kAxes>;
  __shared__ std::uint16_t entries[Table::kEntries];
  for (int e = static_cast<int>(threadIdx.x); e < Table::kEntries; e += kBuildBlock)
    entries[e] = kCurve<kAxes>.entries[e];
  __syncthreads();
  constexpr int kBits = hilbert_bits(kAxes, kKeyBits);
  using Real = std::conditional_t<std::is_same_v<T, float> && kBits <= 16, float, double>;  // near enough
  constexpr Real kMost = (1u << kBits) - 1;
  const auto scale = static_cast<Real>(grid.scale);
  const std::int64_t first = std::int64_t{blockIdx.x} * (kBuildBlock * kKeysOfThread) + threadIdx.x;
#pragma unroll 4
  for (int n = 0; n < kKeysOfThread; ++n) {
    const std::int64_t i = first + n * kBuildBlock;
    if (i >= points.count) return;
    std::uint32_t cell[kAxes];
    for (int k = 0; k < kAxes; ++k) {
      const Real at = (static_cast<Real>(points.get<T>(k, i)) - static_cast<Real>(grid.origin[k])) * scale;
      cell[k] = static_cast<std::uint32_t>(smaller(larger(Real{0}, at), kMost));
    }
    keys[i] = Table::template key<kBits, Key>(entries, cell);
    order[i] = static_cast<std::uint32_t>(i);
  }
}

/// Counts leaves of which all points are in the cell of the next leaf's first.
__global__ void __launch_bounds__(kBuildBlock)
    count_crowded(const std::uint32_t* keys, std::int64_t count, unsigned long long* result) {
  const std::int64_t i = (std::int64_t{blockIdx.x} * kBuildBlock + threadIdx.x) * kSortedLeaf;
  const bool crowded = i + kSortedLeaf < count && keys[i] == keys[i + kSortedLeaf];
  const int sum = __syncthreads_count(crowded);
  if (threadIdx.x == 0 && sum > 0) atomicAdd(result, static_cast<unsigned long long>(sum));
}

unsigned blocks_of(std::int64_t threads) { return static_cast<unsigned>((threads + kBuildBlock - 1) / kBuildBlock); }

/// The sorting by keys of one length: its arrays are cut from scratch.
template <int kKeyBits>
class Sorting {
  using Key = std::conditional_t<(kKeyBits > 32), std::uint64_t, std::uint32_t>;

 public:
  Sorting(std::int64_t count, std::byte* base) : count_(count) {
    check(sort(nullptr), "sizing the sorting");
    Scratch scratch(base);
    for (auto& part : keys_.d_buffers) part = scratch.take<Key>(count);
    for (auto& part : order_.d_buffers) part = scratch.take<std::uint32_t>(count);
    crowded_ = scratch.take<unsigned long long>(1);
    temporary_ = scratch.take<std::byte>(static_cast<std::int64_t>(temporary_bytes_));
    bytes_ = scratch.bytes();
  }

  std::size_t bytes() const { return bytes_; }

  const std::uint32_t* run(const DeviceTree& tree, const Cloud& points, cudaStream_t stream) {
    const CurveGrid grid = CurveGrid::of(tree, kKeyBits);
    visit_kind(points.dtype, points.axes, [&](auto tag, auto axes) {
      set_curve_keys<typename decltype(tag)::type, decltype(axes)::value, kKeyBits>
          <<<blocks_of((count_ + kKeysOfThread - 1) / kKeysOfThread), kBuildBlock, 0, stream>>>(
              points, grid, keys_.Current(), order_.Current());
    });
    check(sort(stream), "sorting points");
    return order_.Current();
  }

  /// Whether many leaves lie in one cell with what follows them; waits for it.
  bool is_crowded(cudaStream_t stream) {
    constexpr unsigned long long kOneIn = 16;
    check(cudaMemsetAsync(crowded_, 0, sizeof *crowded_, stream), "clearing a count");
    const std::int64_t leaves = count_ / kSortedLeaf + 1;
    count_crowded<<<blocks_of(leaves), kBuildBlock, 0, stream>>>(keys_.Current(), count_, crowded_);
    unsigned long long crowded = 0;
    check(cudaMemcpyAsync(&crowded, crowded_, sizeof crowded, cudaMemcpyDeviceToHost, stream), "reading a count");
    check(cudaStreamSynchronize(stream), "sorting points");
    return crowded * kOneIn > static_cast<unsigned long long>(leaves);
  }

 private:
  cudaError_t sort(cudaStream_t stream) {
    return cub::DeviceRadixSort::SortPairs(temporary_, temporary_bytes_, keys_, order_,
                                           static_cast<std::uint32_t>(count_), 0, kKeyBits, stream);
  }

  std::int64_t count_;
  cub::DoubleBuffer<Key> keys_;
  cub::DoubleBuffer<std::uint32_t> order_;
  unsigned long long* crowded_ = nullptr;
  std::byte* temporary_ = nullptr;
  std::size_t temporary_bytes_ = 0, bytes_ = 0;
};

using Short = Sorting<32>;
using Middle = Sorting<36>;
using Long = Sorting<60>;

}  // namespace

CurveGrid CurveGrid::of(const DeviceTree& tree, int key_bits) {
  double extent = 0;
  for (int k = 0; k < tree.axes; ++k) extent = std::max(extent, tree.high[k] - tree.low[k]);
  const double scale = static_cast<double>(1u << hilbert_bits(tree.axes, key_bits)) / extent;
  return {{tree.low[0], tree.low[1], tree.low[2]}, extent > 0 && std::isfinite(scale) ? scale : 0};
}

std::size_t curve_order_bytes(std::int64_t count) { return Middle(count, nullptr).bytes(); }

const std::uint32_t* curve_order(const DeviceTree& tree, const Cloud& points, std::byte* scratch, cudaStream_t stream) {
  return Middle(points.count, scratch).run(tree, points, stream);
}

std::size_t fine_order_bytes(std::int64_t count) { return Long(count, nullptr).bytes(); }

const std::uint32_t* fine_order(const DeviceTree& tree, const Cloud& points, std::byte* scratch, cudaStream_t stream) {
  Short coarse(points.count, scratch);
  const std::uint32_t* order = coarse.run(tree, points, stream);
  if (!coarse.is_crowded(stream)) return order;
  return Long(points.count, scratch).run(tree, points, stream);
}

}  // namespace fathom::points::cuda
