// Hilbert order: a key for each point, from a table of the curve; then CUB's radix sort of keys and indices. How many
// bits of a key tell points apart, and so are worth sorting by, is asked of a sample where points are many. Cost: O(n).
#include <algorithm>
#include <cmath>
#include <cub/device/device_radix_sort.cuh>

#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "points/cuda/order.h"
#include "points/cuda/tuning.h"
#include "core/hilbert.hd.h"
#include "points/hilbert_table.hd.h"
#include "points/measure.hd.h"

namespace fathom::points::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::Scratch;

template <int kAxes>
__device__ const HilbertTable<kAxes> kCurve;

constexpr int kKeysOfThread = 8;
constexpr int kCoarseBits = 24;
static_assert(kSampledPoints % kBuildBlock == 0);

/// The table of the curve where lanes look up different entries at once: a block's copy of it, and keys from there.
template <class T, int kAxes, int kKeyBits, class Key>
class Curve {
  using Table = HilbertTable<kAxes>;
  static constexpr int kBits = hilbert_bits(kAxes, kKeyBits);
  using Real = std::conditional_t<std::is_same_v<T, float> && kBits <= 16, float, double>;  // near enough

 public:
  using Entries = std::uint16_t[Table::kEntries];

  /// By all threads of a block. @param entries  in its shared memory
  __device__ Curve(const Cloud& points, const CurveGrid& grid, Entries& entries)
      : points_(points), grid_(grid), entries_(entries), scale_(static_cast<Real>(grid.scale)) {
    for (int e = static_cast<int>(threadIdx.x); e < Table::kEntries; e += kBuildBlock)
      entries[e] = kCurve<kAxes>.entries[e];
    __syncthreads();
  }

  __device__ Key key(std::int64_t i) const {
    constexpr Real kMost = (1u << kBits) - 1;
    std::uint32_t cell[kAxes];
    for (int k = 0; k < kAxes; ++k) {
      const Real at = (static_cast<Real>(points_.get<T>(k, i)) - static_cast<Real>(grid_.origin[k])) * scale_;
      cell[k] = static_cast<std::uint32_t>(smaller(larger(Real{0}, at), kMost));
    }
    return Table::template key<kBits, Key>(entries_, cell);
  }

 private:
  const Cloud& points_;
  const CurveGrid& grid_;
  const Entries& entries_;
  const Real scale_;
};

/// Threads stride over their block's points.
template <class T, int kAxes, int kKeyBits, class Key>
__global__ void __launch_bounds__(kBuildBlock)
    set_curve_keys(const __grid_constant__ Cloud points, const __grid_constant__ CurveGrid grid, Key* keys,
                   std::uint32_t* order) {
  using OwnCurve = Curve<T, kAxes, kKeyBits, Key>;
  __shared__ typename OwnCurve::Entries entries;
  const OwnCurve curve(points, grid, entries);
  const std::int64_t first = std::int64_t{blockIdx.x} * (kBuildBlock * kKeysOfThread) + threadIdx.x;
#pragma unroll 4
  for (int n = 0; n < kKeysOfThread; ++n) {
    const std::int64_t i = first + n * kBuildBlock;
    if (i >= points.count) return;
    keys[i] = curve.key(i);
    order[i] = static_cast<std::uint32_t>(i);
  }
}

/// Marks the cells that the points of a sample are in, and counts those that come to a marked one.
/// @param marked  a bit for each cell, none set
template <class T, int kAxes>
__global__ void __launch_bounds__(kBuildBlock)
    mark_cells(const __grid_constant__ Cloud points, const __grid_constant__ CurveGrid grid, unsigned* marked,
               unsigned long long* repeated) {
  using OwnCurve = Curve<T, kAxes, kCoarseBits, std::uint32_t>;
  __shared__ typename OwnCurve::Entries entries;
  const OwnCurve curve(points, grid, entries);
  const std::int64_t number = std::int64_t{blockIdx.x} * kBuildBlock + threadIdx.x;
  // Not one of every so many, which may be one of each run of neighbours.
  const std::int64_t apart = points.count / kSampledPoints, mixed = static_cast<std::uint32_t>(number) * 0x9E3779B1u;
  const std::uint32_t key = curve.key(number * apart + mixed % apart);
  const unsigned bit = 1u << key % 32;
  const int sum = __syncthreads_count((atomicOr(&marked[key / 32], bit) & bit) != 0);
  if (threadIdx.x == 0 && sum > 0) atomicAdd(repeated, static_cast<unsigned long long>(sum));
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
    count_there_ = scratch.take<unsigned long long>(1);
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
    check(cudaMemsetAsync(count_there_, 0, sizeof *count_there_, stream), "clearing a count");
    const std::int64_t leaves = count_ / kSortedLeaf + 1;
    count_crowded<<<blocks_of(leaves), kBuildBlock, 0, stream>>>(keys_.Current(), count_, count_there_);
    return counted(stream) * kOneIn > static_cast<unsigned long long>(leaves);
  }

  /// Whether cells of kCoarseBits hold so few of the points, which are many, that their order within one does not
  /// matter; waits for it. Where a point shares its cell with s others, one of a sample does with s · sample / points.
  bool is_sparse(const DeviceTree& tree, const Cloud& points, cudaStream_t stream) {
    constexpr double kMostOthers = 4;
    auto* marked = reinterpret_cast<unsigned*>(keys_.Current());
    check(cudaMemsetAsync(marked, 0, (std::size_t{1} << kCoarseBits) / 8, stream), "clearing marks of cells");
    check(cudaMemsetAsync(count_there_, 0, sizeof *count_there_, stream), "clearing a count");
    const CurveGrid grid = CurveGrid::of(tree, kCoarseBits);
    visit_kind(points.dtype, points.axes, [&](auto tag, auto axes) {
      mark_cells<typename decltype(tag)::type, decltype(axes)::value>
          <<<kSampledPoints / kBuildBlock, kBuildBlock, 0, stream>>>(points, grid, marked, count_there_);
    });
    const double sample = kSampledPoints, others = static_cast<double>(counted(stream)) * 2 / sample;
    return others < kMostOthers * sample / static_cast<double>(count_);
  }

 private:
  unsigned long long counted(cudaStream_t stream) const {
    unsigned long long result = 0;
    check(cudaMemcpyAsync(&result, count_there_, sizeof result, cudaMemcpyDeviceToHost, stream), "reading a count");
    check(cudaStreamSynchronize(stream), "sorting points");
    return result;
  }

  cudaError_t sort(cudaStream_t stream) {
    return cub::DeviceRadixSort::SortPairs(temporary_, temporary_bytes_, keys_, order_,
                                           static_cast<std::uint32_t>(count_), 0, kKeyBits, stream);
  }

  std::int64_t count_;
  cub::DoubleBuffer<Key> keys_;
  cub::DoubleBuffer<std::uint32_t> order_;
  unsigned long long* count_there_ = nullptr;  ///< of what a kernel counts
  std::byte* temporary_ = nullptr;
  std::size_t temporary_bytes_ = 0, bytes_ = 0;
};

using Coarse = Sorting<kCoarseBits>;
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
  if (points.count >= kManyPoints) {
    Coarse coarse(points.count, scratch);
    if (coarse.is_sparse(tree, points, stream)) return coarse.run(tree, points, stream);
  }
  Short short_keys(points.count, scratch);
  const std::uint32_t* order = short_keys.run(tree, points, stream);
  if (!short_keys.is_crowded(stream)) return order;
  return Long(points.count, scratch).run(tree, points, stream);
}

}  // namespace fathom::points::cuda
