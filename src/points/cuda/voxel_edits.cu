// Bits of a pyramid that come and go, many at a time. One thread sets the first bit of a word, or clears the last, and
// goes on to the word above: nothing is left to be settled where a launch only adds or only removes.
//
// Work: a thread for each element; of a mask, a thread for each word, level by level, neighbours along the last axis.
// Cost: O(elements) atomics, those of the level above for few of them; of a mask, one look at it and 1/63 more.
#include "core/cuda/runtime.h"
#include "core/cuda/warp.cuh"
#include "fathom/core/dtype.h"
#include "points/cuda/tuning.h"
#include "points/cuda/voxel_edits.h"

namespace fathom::points::cuda {

namespace {

using fathom::cuda::check_launch;
using fathom::cuda::kAllLanes;
using fathom::cuda::lane_id;

unsigned blocks_of(std::int64_t threads) { return static_cast<unsigned>((threads + kBuildBlock - 1) / kBuildBlock); }

__device__ std::int64_t thread_number() { return std::int64_t{blockIdx.x} * kBuildBlock + threadIdx.x; }

/// By all lanes of a warp.
__device__ void count_up(unsigned long long* count, bool mine) {
  const unsigned lanes = __ballot_sync(kAllLanes, mine);
  if (lane_id() == 0 && lanes != 0) atomicAdd(count, static_cast<unsigned long long>(__popc(lanes)));
}

/// A cell's word and bit at a level; makes the cell that of the word.
struct Place {
  unsigned long long *word, bit;

  __device__ Place(const DevicePyramid& pyramid, int level, Cell& cell) : bit(1ull << bit_of(cell, pyramid.axes)) {
    cell = parent_of(cell, pyramid.axes);
    word = pyramid.level[level].word_at(cell, pyramid.axes);
  }
};

__device__ bool is_site(const DevicePyramid& pyramid, std::int64_t element) {
  Cell cell = cell_at(element, pyramid.extents, pyramid.axes);
  const Place place(pyramid, 0, cell);
  return (*place.word & place.bit) != 0;
}

/// @returns whether it was none
__device__ bool add(const DevicePyramid& pyramid, std::int64_t element) {
  Cell cell = cell_at(element, pyramid.extents, pyramid.axes);
  bool added = false;
  for (int level = 0; level < pyramid.levels; ++level) {
    const Place place(pyramid, level, cell);
    const unsigned long long before = atomicOr(place.word, place.bit);
    if (level == 0) added = (before & place.bit) == 0;
    if (before != 0) break;
  }
  return added;
}

/// @returns whether it was one
__device__ bool remove(const DevicePyramid& pyramid, std::int64_t element) {
  Cell cell = cell_at(element, pyramid.extents, pyramid.axes);
  bool removed = false;
  for (int level = 0; level < pyramid.levels; ++level) {
    const Place place(pyramid, level, cell);
    const unsigned long long before = atomicAnd(place.word, ~place.bit);
    if (level == 0) removed = (before & place.bit) != 0;
    if (before != place.bit) break;
  }
  return removed;
}

__global__ void __launch_bounds__(kBuildBlock)
    look_for_wrong(const std::int64_t* elements, std::int64_t count, std::int64_t first, std::int64_t size,
                   EditReport* report) {
  const std::int64_t i = thread_number();
  if (i < count && (elements[i] < 0 || elements[i] >= size))
    atomicMin(&report->first_wrong, static_cast<unsigned long long>(first + i));
}

__global__ void __launch_bounds__(kBuildBlock)
    add_each(const __grid_constant__ DevicePyramid pyramid, const std::int64_t* elements, const bool* chosen,
             std::int64_t count, EditReport* report) {
  const std::int64_t i = thread_number();
  const bool mine = report->first_wrong == ~0ull && i < count && (!chosen || chosen[i]);
  count_up(&report->added, mine && add(pyramid, elements[i]));
}

__global__ void __launch_bounds__(kBuildBlock)
    remove_each(const __grid_constant__ DevicePyramid pyramid, const std::int64_t* elements, std::int64_t count,
                EditReport* report) {
  const std::int64_t i = thread_number();
  const bool mine = report->first_wrong == ~0ull && i < count;
  count_up(&report->removed, mine && remove(pyramid, elements[i]));
}

__global__ void __launch_bounds__(kBuildBlock)
    look_at_each(const __grid_constant__ DevicePyramid pyramid, const std::int64_t* elements, std::int64_t count,
                 bool* are_sites, EditReport* report) {
  const std::int64_t i = thread_number();
  const bool found = report->first_wrong == ~0ull && i < count && is_site(pyramid, elements[i]);
  if (i < count) are_sites[i] = found;
  count_up(&report->moved, found);
}

/// Cells below a level: elements of a mask, or words.
template <class T>
struct Cells {
  const T* data;
  Cell extents;
  std::int64_t step[3];

  __device__ bool has_any(const Cell& at) const {
    return data[at[0] * step[0] + at[1] * step[1] + at[2] * step[2]] != T{};
  }
};

/// @param count  of bits; null: not wanted
template <class T, int kAxes>
__global__ void __launch_bounds__(kBuildBlock)
    gather_bits(const __grid_constant__ Cells<T> cells, const __grid_constant__ DevicePyramid::Level level,
                unsigned long long* count) {
  const std::int64_t number = thread_number();
  unsigned long long bits = 0;
  if (number < count_of(level.extents)) {
    const Cell word = cell_at(number, level.extents, kAxes);
    for (int bit = 0; bit < 64; ++bit) {
      const Cell at = child_of(word, bit, kAxes);
      bool inside = true;
      for (int k = 0; k < kAxes; ++k) inside &= at[k] < cells.extents[k];
      if (inside && cells.has_any(at)) bits |= 1ull << bit;
    }
    level.words[number] = bits;
  }
  if (!count) return;
  const int sites = fathom::cuda::warp_sum(__popcll(bits));
  if (lane_id() == 0 && sites > 0) atomicAdd(count, static_cast<unsigned long long>(sites));
}

template <class T>
void gather(const Cells<T>& cells, const DevicePyramid& pyramid, int to, unsigned long long* count,
            cudaStream_t stream) {
  const DevicePyramid::Level& level = pyramid.level[to];
  const unsigned blocks = blocks_of(count_of(level.extents));
  if (pyramid.axes == 2) gather_bits<T, 2><<<blocks, kBuildBlock, 0, stream>>>(cells, level, count);
  else gather_bits<T, 3><<<blocks, kBuildBlock, 0, stream>>>(cells, level, count);
  check_launch("gathering bits");
}

}  // namespace

void check_elements(const DevicePyramid& pyramid, const ElementEdit& edit, int lists, cudaStream_t stream) {
  for (int list = 0; list < lists; ++list)
    look_for_wrong<<<blocks_of(edit.count), kBuildBlock, 0, stream>>>(
        list == 0 ? edit.first : edit.second, edit.count, list * edit.count, count_of(pyramid.extents), edit.report);
  check_launch("looking at elements");
}

void add_elements(const DevicePyramid& pyramid, const ElementEdit& edit, cudaStream_t stream) {
  add_each<<<blocks_of(edit.count), kBuildBlock, 0, stream>>>(pyramid, edit.first, nullptr, edit.count, edit.report);
  check_launch("adding elements");
}

void remove_elements(const DevicePyramid& pyramid, const ElementEdit& edit, cudaStream_t stream) {
  remove_each<<<blocks_of(edit.count), kBuildBlock, 0, stream>>>(pyramid, edit.first, edit.count, edit.report);
  check_launch("removing elements");
}

void move_elements(const DevicePyramid& pyramid, const ElementEdit& edit, cudaStream_t stream) {
  const unsigned blocks = blocks_of(edit.count);
  look_at_each<<<blocks, kBuildBlock, 0, stream>>>(pyramid, edit.first, edit.count, edit.flags, edit.report);
  remove_each<<<blocks, kBuildBlock, 0, stream>>>(pyramid, edit.first, edit.count, edit.report);
  add_each<<<blocks, kBuildBlock, 0, stream>>>(pyramid, edit.second, edit.flags, edit.count, edit.report);
  check_launch("moving elements");
}

void fill_from_mask(const DevicePyramid& pyramid, const AnyConstDeviceView& mask, EditReport* report,
                    cudaStream_t stream) {
  if (pyramid.empty()) return;
  // A bool is read as the byte it is: memory of other origin may hold more than 0 and 1.
  visit_dtype(mask.dtype() == DType::boolean ? DType::uint8 : mask.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    Cells<T> cells{reinterpret_cast<const T*>(mask.data()), pyramid.extents, {}};
    for (int k = 0; k < mask.rank(); ++k) cells.step[k] = mask.strides()[k];
    gather(cells, pyramid, 0, &report->added, stream);
  });
  for (int level = 1; level < pyramid.levels; ++level) {
    const DevicePyramid::Level& below = pyramid.level[level - 1];
    const std::int64_t row = below.extents[2], plane = below.extents[1] * row;
    const Cells<unsigned long long> cells{below.words, below.extents, {plane, row, 1}};
    gather(cells, pyramid, level, nullptr, stream);
  }
}

}  // namespace fathom::points::cuda
