// Parallel Banding on a device: see pba.hd.h.
//
// Work: in phases 1 and 2 thread = band of a column, neighbouring threads having neighbouring columns; in phase 3 a
// block has 32 columns and m3 threads for each. Launches: 4 for phase 1, 1 + log2(m2) for phase 2, 1 for phase 3.
// Memory: beside the image another one, 4 bytes per element for the lists' links, and heads and tails.
#include <algorithm>
#include <utility>

#include "published/cuda/task.h"
#include "published/cuda/transpose.cuh"
#include "published/pba.hd.h"

namespace fathom::published::cuda {

namespace {

using fathom::cuda::check_launch;

constexpr int kColumns = 32;  ///< of a block that has several threads for each

struct OfThread {
  std::int64_t column;
  int band;
};

/// Thread = band of a column.
__device__ OfThread band_of_thread(const Columns& columns) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kBlock + threadIdx.x;
  return {thread % columns.count(), static_cast<int>(thread / columns.count())};
}

// Phase 1

__global__ void __launch_bounds__(kBlock) sweep_bands(const __grid_constant__ Columns columns, std::uint32_t* nearest) {
  const OfThread own = band_of_thread(columns);
  if (own.band < columns.bands) sweep_band(columns, nearest, own.column, own.band);
}

/// The first and the last element of each band learn of other bands' sites: the last site of the bands before it, the
/// first one of the bands behind it, by a parallel prefix over the bands. Thread = band, block = 32 columns.
__global__ void tell_ends(const __grid_constant__ Columns columns, const std::uint32_t* nearest, std::uint32_t* ends) {
  __shared__ std::uint32_t before[32][kColumns], behind[32][kColumns];
  const int lane = static_cast<int>(threadIdx.x), band = static_cast<int>(threadIdx.y);
  const std::int64_t column = std::int64_t{blockIdx.x} * kColumns + lane;
  const int first = columns.begin(band), last = columns.begin(band + 1) - 1;
  const bool is_there = column < columns.count() && first <= last;
  const std::uint32_t of_first = is_there ? nearest[columns.at(column, first)] : kNone,
                      of_last = is_there ? nearest[columns.at(column, last)] : kNone;
  before[band][lane] = of_last;
  behind[band][lane] = of_first;
  for (int step = 1; step < columns.bands; step *= 2) {
    __syncthreads();
    std::uint32_t earlier = before[band][lane], later = behind[band][lane];
    if (earlier == kNone && band >= step) earlier = before[band - step][lane];
    if (later == kNone && band + step < columns.bands) later = behind[band + step][lane];
    __syncthreads();
    before[band][lane] = earlier;
    behind[band][lane] = later;
  }
  __syncthreads();
  if (!is_there) return;
  const std::uint32_t earlier = band > 0 ? before[band - 1][lane] : kNone,
                      later = band + 1 < columns.bands ? behind[band + 1][lane] : kNone;
  std::uint32_t* const own = ends + 2 * band * columns.count() + column;
  own[0] = nearer_to(columns, first, nearer_to(columns, first, earlier, of_first), later);
  own[columns.count()] = nearer_to(columns, last, nearer_to(columns, last, earlier, of_last), later);
}

/// Thread = element.
__global__ void __launch_bounds__(kBlock)
    ask_ends(const __grid_constant__ Columns columns, const std::uint32_t* ends, std::uint32_t* nearest) {
  const std::int64_t at = std::int64_t{blockIdx.x} * kBlock + threadIdx.x;  // one slice: rows of columns
  if (at >= columns.count() * columns.height) return;
  const std::int64_t column = at % columns.count();
  const int row = static_cast<int>(at / columns.count());
  const std::uint32_t* const own = ends + 2 * (row / columns.band_height()) * columns.count() + column;
  nearest[at] = from_ends(columns, row, nearest[at], own[0], own[columns.count()]);
}

/// Section 4.5, slice by slice: the sites nearest to a slice come to lie in it. Thread = element of the slice.
__global__ void __launch_bounds__(kBlock)
    project(const __grid_constant__ Places places, const std::uint8_t* mask, int slice, std::uint32_t* image) {
  const std::int64_t at = std::int64_t{blockIdx.x} * kBlock + threadIdx.x,
                     area = std::int64_t{places.width} * places.height;
  if (at >= area) return;
  Point own = places.point(at);
  own.z = slice;
  std::uint32_t nearest = kNone;
  for (int z = 0; z < places.depth; ++z)
    if (mask[z * area + at]) nearest = nearer(places, own, nearest, places.pack({own.x, own.y, z}));
  image[at] = nearest;
}

// Phase 2

__global__ void __launch_bounds__(kBlock) stack_bands(const __grid_constant__ Lists lists) {
  const OfThread own = band_of_thread(lists.columns);
  if (own.band < lists.columns.bands) stack_band(lists, own.column, own.band);
}

/// Bands 2 · step · n and 2 · step · n + step become one. Thread = pair of a column.
__global__ void __launch_bounds__(kBlock) merge_pairs(const __grid_constant__ Lists lists, int step) {
  const OfThread own = band_of_thread(lists.columns);
  const int upper = own.band * 2 * step;
  if (upper + step < lists.columns.bands) merge_bands(lists, own.column, upper, upper + step);
}

// Phase 3

/// m3 elements at a time look at the two sites in front of the column's list, of which the first is taken away once the
/// last of them is nearer to the second.
__global__ void color_blocks(const __grid_constant__ Lists lists, std::uint32_t* nearest) {
  __shared__ int fronts[kColumns];
  const Columns& columns = lists.columns;
  const int lane = static_cast<int>(threadIdx.x), m3 = static_cast<int>(blockDim.y);
  const std::int64_t column = std::int64_t{blockIdx.x} * kColumns + lane;
  const bool is_there = column < columns.count();
  if (threadIdx.y == 0) fronts[lane] = is_there ? lists.head(column, 0) : kEnd;
  for (int begin = 0; begin < columns.height; begin += m3) {
    const int row = begin + static_cast<int>(threadIdx.y), last = min(begin + m3, columns.height) - 1;
    bool is_colored = !is_there || row > last;
    do {
      __syncthreads();
      const int first = fronts[lane], second = first == kEnd ? kEnd : lists.link(column, first).behind;
      bool is_behind = false;
      if (!is_colored) {
        is_behind = second != kEnd && is_second_nearer(lists, column, row, first, second);
        if (!is_behind) {
          nearest[columns.at(column, row)] = first == kEnd ? kNone : lists.found[columns.at(column, first)];
          is_colored = true;
        }
      }
      __syncthreads();
      if (is_behind && row == last) fronts[lane] = second;
    } while (__syncthreads_or(!is_colored));
  }
}

class Transform {
 public:
  explicit Transform(const Task& task)
      : task_(task),
        slices_(task.options.slice ? 1 : task.places.depth),
        first_slice_(static_cast<int>(task.options.slice.value_or(0))) {
    const Places& p = task.places;
    const std::int64_t image = std::int64_t{p.width} * p.height, elements = image * slices_;
    const std::int64_t columns =
        task.is_volume ? std::max({image, std::int64_t{p.width} * slices_, std::int64_t{p.height} * slices_})
                       : std::max(p.width, p.height);
    other_ = task.scratch.take<std::uint32_t>(elements);
    links_ = task.scratch.take<Link>(elements);
    ends_ = task.scratch.take<std::uint32_t>(2 * columns * std::max(task.options.m1, task.options.m2));
  }

  void run() {
    const Places& p = task_.places;
    const DistanceOptions& options = task_.options;
    std::uint32_t *image = task_.nearest, *other = other_;
    if (options.slice) {
      project<<<blocks_of(std::int64_t{p.width} * p.height), kBlock, 0, task_.stream>>>(p, task_.mask, first_slice_,
                                                                                        image);
      check_launch("projecting sites");
      task_.watch->lap("projection");
    } else {
      place_sites(task_, image);
      sweep(task_.is_volume ? Columns{p, p.width * p.height, p.depth, 1, 0, kZ, kX, kY, options.m1}
                            : Columns{p, p.width, p.height, 1, 0, kY, kX, kZ, options.m1},
            image);
    }
    if (task_.is_volume) {
      find_along({p, p.width, p.height, slices_, first_slice_, kY, kX, kZ, options.m2}, image, other);
      std::swap(image, other);
    }
    transpose_slices(image, p.width, p.height, other);
    find_along({p, p.height, p.width, slices_, first_slice_, kX, kY, kZ, options.m2}, other, image);
    transpose_slices(image, p.height, p.width, other);
    if (other != task_.nearest)
      fathom::cuda::check(
          cudaMemcpyAsync(task_.nearest, other, static_cast<std::size_t>(p.width) * p.height * slices_ * sizeof *other,
                          cudaMemcpyDeviceToDevice, task_.stream),
          "copying the result");
  }

 private:
  static unsigned groups(const Columns& columns) {
    return static_cast<unsigned>((columns.count() + kColumns - 1) / kColumns);
  }

  void sweep(const Columns& columns, std::uint32_t* nearest) {
    sweep_bands<<<blocks_of(columns.count() * columns.bands), kBlock, 0, task_.stream>>>(columns, nearest);
    tell_ends<<<groups(columns), dim3(kColumns, static_cast<unsigned>(columns.bands)), 0, task_.stream>>>(
        columns, nearest, ends_);
    ask_ends<<<blocks_of(columns.count() * columns.height), kBlock, 0, task_.stream>>>(columns, ends_, nearest);
    check_launch("sweeping bands");
    task_.watch->lap("band sweeping");
  }

  /// Phases 2 and 3.
  void find_along(const Columns& columns, const std::uint32_t* found, std::uint32_t* nearest) {
    const std::int64_t all = columns.bands * columns.count();
    auto* const ends = reinterpret_cast<int*>(ends_);
    const Lists lists{columns, found, links_, ends, ends + all};
    stack_bands<<<blocks_of(all), kBlock, 0, task_.stream>>>(lists);
    for (int step = 1; step < columns.bands; step *= 2) {
      const int pairs = (columns.bands - 1) / (2 * step) + 1;
      merge_pairs<<<blocks_of(pairs * columns.count()), kBlock, 0, task_.stream>>>(lists, step);
    }
    check_launch("merging bands");
    task_.watch->lap("hierarchical merging");
    color_blocks<<<groups(columns), dim3(kColumns, static_cast<unsigned>(task_.options.m3)), 0, task_.stream>>>(
        lists, nearest);
    check_launch("colouring blocks");
    task_.watch->lap("block colouring");
  }

  void transpose_slices(const std::uint32_t* from, int width, int height, std::uint32_t* to) {
    transpose(from, width, height, slices_, to, task_.stream);
    task_.watch->lap("transposing");
  }

  const Task& task_;
  const int slices_, first_slice_;
  std::uint32_t *other_, *ends_;
  Link* links_;
};

}  // namespace

void pba(const Task& task) {
  Transform transform(task);
  if (!task.counts_only()) transform.run();
}

}  // namespace fathom::published::cuda
