// Per unfinished band, the list of columns that can matter to it; at each tile's edge, which list entries can win; and
// the queue of tiles to solve.
//
// The matrix d²(x, column) is Monge: the leftmost column that wins at x never moves backwards as x grows. So the
// leftmost entries that win at the first column of a tile and of the next bound those that win inside, for each row,
// equally near ones included. They are found by branch and bound over blocks of 32 entries; where squares are rounded,
// the first and the last of those that may win, as far as floats tell (plane/exact.cuh).
//
// Work mapping: block = band. Phase 1, warp by warp: masks of the columns to list – those with sites in the band, but
// in solid surroundings, and those that prune() kept. Phase 2: prefix sums, and the list. Phase 3: bounds of the
// blocks of entries. Phase 4, warp = edge, lane = row: the first and the last winner. Phase 5: the tiles with open
// cells are queued, those with few candidates apart from those with many.
//
// Source: the monotone-matrix search of Aggarwal et al. 1987; departs by bounds in place of recursion. Cost: O(columns)
// per unfinished band, and a few blocks of entries per edge.
#pragma once

#include "grid/cuda/plane/candidates.cuh"

namespace fathom::grid::cuda::plane {

/// A lane that holds the least value, or one of the least.
__device__ inline int lane_of_least(unsigned value) { return lane_of(value, warp_min(value)); }

/// Bytes of dynamic shared memory.
inline int list_memory(int pitch) {
  return pitch / 32 * static_cast<int>(sizeof(std::uint32_t) + 5 * sizeof(std::uint16_t));
}

/// A band's list, and what is known of blocks of 32 entries. W: the kind of winners.
template <class W>
struct BandList {
  static constexpr unsigned kInside = 0xFFFEu;  ///< sites in the band
  const Plane& plane;
  const std::int64_t band, start = band * plane.pitch;  ///< of the band's columns
  std::uint16_t* const rows;
  std::uint16_t *const first = rows + plane.cells(), *const last = first + plane.cells();
  std::uint16_t *const above = last + plane.cells(), *const below = above + plane.cells();
  int count = 0;

  __device__ Entry entry(int k) const { return k < count ? Entry::load(plane, start, k) : Entry{}; }
  __device__ int sideways(int block, int x) const { return max(0, max(x - int{last[block]}, int{first[block]} - x)); }
  __device__ unsigned bound(int block, int x) const { return W::square(plane, rows[block], sideways(block, x)); }
  /// The same from one row.
  __device__ unsigned bound(int block, int columns, int row) const {
    if (above[block] == kInside) return W::square(plane, 0, columns);
    return W::square(plane, min(int{above[block]} + row, int{below[block]} - row), columns);
  }
};

/// The winners of 32 rows at one column: lane = row. Whether an entry may win is asked of eight rows at a time: the
/// nearest of all rows is much nearer than the farthest.
template <class W>
class EdgeWinners {
 public:
  __device__ EdgeWinners(const BandList<W>& list, int x) : list_(list), plane_(list.plane), x_(x) {}

  /// The lowest and the highest of the rows' winners.
  __device__ ushort2 find() {
    const int blocks = (list_.count + 31) / 32, first = most_promising(blocks);
    scan(first, true);
    for (int j = 0; j < blocks; j += 32) {
      const int mine = j + lane_id();
      const bool there = mine < blocks && mine != first;
      unsigned hopeful = __ballot_sync(kAllLanes, there && list_.bound(mine, x_) <= worst_of_all());
      for (; hopeful; hopeful &= hopeful - 1) {
        const int block = j + __ffs(static_cast<int>(hopeful)) - 1;
        const unsigned bound = list_.bound(block, list_.sideways(block, x_), lane_id());
        if (__any_sync(kAllLanes, bound <= W::most(winners_.best))) scan(block, false);
      }
    }
    return make_ushort2(static_cast<unsigned short>(warp_min(static_cast<unsigned>(winners_.first))),
                        static_cast<unsigned short>(warp_max(static_cast<unsigned>(winners_.last))));
  }

 private:
  static constexpr int kGroupRows = 8, kRowGroups = kBand / kGroupRows;

  __device__ int most_promising(int blocks) const {
    unsigned least = W::kNothing;
    int block = 0;
    for (int j = lane_id(); j < blocks; j += 32) {
      const unsigned bound = list_.bound(j, x_);
      if (bound >= least) continue;
      least = bound;
      block = j;
    }
    return __shfl_sync(kAllLanes, block, lane_of_least(least));
  }

  __device__ void scan(int block, bool is_first) {
    const int mine = block * 32 + lane_id();
    const bool there = mine < list_.count;
    const Entry entry = list_.entry(mine);
    if (is_first) {
      const Column& c = entry.column;
      const unsigned rows = c.bits ? 0 : min(c.above, c.below - 31);
      const unsigned bound = W::square(plane_, static_cast<int>(rows), x_ - entry.x);  // of all rows
      offer(entry, block, lane_of_least(there ? bound : W::kNothing));
      find_worst();
    }
    for (unsigned hopeful = __ballot_sync(kAllLanes, there && may_win(entry)); hopeful; hopeful &= hopeful - 1)
      offer(entry, block, __ffs(static_cast<int>(hopeful)) - 1);
    find_worst();
  }

  /// Whether the lane's entry may be nearest to some row. Along its column distances change by one per row at most.
  __device__ bool may_win(const Entry& entry) const {
    bool hopeful = false;
#pragma unroll
    for (int g = 0; g < kRowGroups; ++g) {
      const int middle = entry.column.at(g * kGroupRows + kGroupRows / 2, plane_.beyond);
      hopeful |= W::square(plane_, max(middle - kGroupRows / 2, 0), x_ - entry.x) <= worst_[g];
    }
    return hopeful;
  }

  __device__ void find_worst() {
    unsigned worst = W::most(winners_.best);
#pragma unroll
    for (int step = 1; step < kGroupRows; step *= 2) worst = max(worst, __shfl_xor_sync(kAllLanes, worst, step));
#pragma unroll
    for (int g = 0; g < kRowGroups; ++g) worst_[g] = __shfl_sync(kAllLanes, worst, g * kGroupRows);
  }
  __device__ unsigned worst_of_all() const { return max(max(worst_[0], worst_[1]), max(worst_[2], worst_[3])); }

  __device__ void offer(const Entry& mine, int block, int lane) {
    const Entry entry = mine.from_lane(lane);
    const int rows = entry.column.at(lane_id(), plane_.beyond), place = block * 32 + lane;
    winners_.join(W::square(plane_, rows, x_ - entry.x), place, place);
  }

  const BandList<W>& list_;
  const Plane& plane_;
  const int x_;
  W winners_{0};
  unsigned worst_[kRowGroups];  ///< greatest of what may still win, of each group of rows
};

template <class W, int kBlock>
class ListBuilder : BandList<W> {
  using List = BandList<W>;
  using List::plane, List::band, List::start, List::count;

 public:
  __device__ ListBuilder(const Plane& p, std::int64_t of_band, std::uint32_t* memory)
      : List{.plane = p, .band = of_band, .rows = reinterpret_cast<std::uint16_t*>(memory + p.cells())},
        cells_(p.cells()),
        places_(memory),
        masks_(memory + cells_) {}

  __device__ void run() {
    find_columns();
    __syncthreads();
    find_places();
    write_list();
    __syncthreads();  // the masks give way to the bounds
    if (count > 0) {
      find_bounds();
      __syncthreads();
      find_anchors();
      __syncthreads();
    }
    queue_tiles();
  }

 private:
  static constexpr int kWarps = kBlock / 32;

  __device__ int warp() const { return static_cast<int>(threadIdx.x) / 32; }

  __device__ void find_columns() {
#pragma unroll 4
    for (int w = warp(); w < cells_; w += kWarps) {
      const std::uint32_t bits = plane.bits[start + w * 32 + lane_id()],
                          kept = plane.keep_above(band)[w] | plane.keep_below(band)[w],
                          wanted = __ballot_sync(kAllLanes, bits != 0) | kept, inner = inner_columns(w, bits);
      if (lane_id() == 0) masks_[w] = wanted & ~inner;
    }
  }
  /// Of 32, those that are solid between solid columns: nearest to nobody but themselves.
  __device__ std::uint32_t inner_columns(int w, std::uint32_t bits) const {
    const std::uint32_t solid = __ballot_sync(kAllLanes, bits == 0xFFFFFFFFu);
    if (!solid) return 0;
    const bool left = w == 0 || plane.bits[start + w * 32 - 1] == 0xFFFFFFFFu;
    const bool right = w + 1 == cells_ || plane.bits[start + w * 32 + 32] == 0xFFFFFFFFu;
    return solid & (solid << 1 | unsigned{left}) & (solid >> 1 | (right ? 0x80000000u : 0u));
  }

  /// Exclusive prefix sums of the masks' sizes.
  __device__ void find_places() {
    __shared__ int of_warp[kWarps];
    for (int w0 = 0; w0 < cells_; w0 += kBlock) {
      const int w = w0 + static_cast<int>(threadIdx.x), own = w < cells_ ? __popc(masks_[w]) : 0;
      int sum = own;
      for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(kAllLanes, sum, step);
        if (lane_id() >= step) sum += other;
      }
      if (lane_id() == 31) of_warp[warp()] = sum;
      __syncthreads();
      int before = count, all = 0;
      for (int k = 0; k < kWarps; ++k) {
        if (k < warp()) before += of_warp[k];
        all += of_warp[k];
      }
      if (w < cells_) places_[w] = static_cast<std::uint32_t>(before + sum - own);
      count += all;
      __syncthreads();
    }
    if (threadIdx.x == 0) plane.left.list_count[band] = static_cast<std::uint32_t>(count);
  }

  __device__ void write_list() const {
    for (int w = warp(); w < cells_; w += kWarps) {
      const std::uint32_t mask = masks_[w];
      if (!(mask >> lane_id() & 1)) continue;
      const std::int64_t to = start + places_[w] + __popc(mask & lanes_before(lane_id()));
      plane.left.list_column[to] = static_cast<std::uint16_t>(w * 32 + lane_id());
    }
  }

  __device__ void find_bounds() {
    for (int block = warp(); block * 32 < count; block += kWarps) {
      const int k = block * 32 + lane_id();
      const Entry entry = this->entry(k);
      const unsigned above = warp_min(entry.column.above), below = warp_min(entry.column.below);
      const bool inside = __any_sync(kAllLanes, entry.column.bits != 0);
      const int first = __shfl_sync(kAllLanes, entry.x, 0);
      const int last = __shfl_sync(kAllLanes, entry.x, min(31, count - 1 - block * 32));
      if (lane_id() != 0) continue;
      List::rows[block] = static_cast<std::uint16_t>(inside ? 0 : min(above, below - 31));
      List::above[block] = static_cast<std::uint16_t>(inside ? List::kInside : above);
      List::below[block] = static_cast<std::uint16_t>(below);
      List::first[block] = static_cast<std::uint16_t>(first);
      List::last[block] = static_cast<std::uint16_t>(last);
    }
  }

  __device__ bool is_open(int tile) const {
    if (tile < 0 || tile >= plane.tiles()) return false;
    const uint2 cells = reinterpret_cast<const uint2*>(plane.left.open_cells + band * cells_)[tile];  // a byte each
    return (cells.x | cells.y) != 0;
  }
  __device__ ushort2* anchors() const { return plane.left.anchors + band * (plane.tiles() + 1); }

  __device__ void find_anchors() {
    for (int edge = warp(); edge <= plane.tiles(); edge += kWarps) {
      if (!is_open(edge - 1) && !is_open(edge)) continue;
      const ushort2 winners = EdgeWinners<W>(*this, edge * kTile).find();
      if (lane_id() == 0) anchors()[edge] = winners;
    }
  }

  __device__ void queue_tiles() const {
    const int tiles = plane.tiles();
    const std::int64_t all = plane.all_bands * tiles;
    for (int t0 = 0; t0 < tiles; t0 += kBlock) {
      const int tile = t0 + static_cast<int>(threadIdx.x);
      const bool open = is_open(tile);
      bool is_long = false;
      if (open && count > 0) {
        const volatile ushort2* edges = anchors() + tile;
        is_long = int{edges[1].y} - int{edges[0].x} >= kShortTile;
      }
      for (int kind = 0; kind < 2; ++kind) {
        const bool mine = open && is_long == (kind == 1);
        const unsigned queued = __ballot_sync(kAllLanes, mine);
        if (!queued) continue;
        unsigned place = 0;
        if (lane_id() == 0) place = atomicAdd(&plane.left.counters[kind], static_cast<unsigned>(__popc(queued)));
        place = __shfl_sync(kAllLanes, place, 0) + static_cast<unsigned>(__popc(queued & lanes_before(lane_id())));
        if (mine)
          plane.left.work[kind == 1 ? all - 1 - place : std::int64_t{place}] =
              static_cast<std::uint32_t>(band * tiles + tile);
      }
    }
  }

  const int cells_;
  std::uint32_t *places_, *masks_;
};

/// W: Winners, or LikelyWinners where squares are rounded. kBlock: threads. kBlocks: of a multiprocessor
template <class W, int kBlock, int kBlocks>
__global__ void __launch_bounds__(kBlock, resident_blocks(kBlock, kBlocks))
    list_columns(const __grid_constant__ Plane plane) {
  extern __shared__ std::uint32_t list_shared[];
  const std::int64_t band = blockIdx.x;
  plane.take_turn();
  if (plane.left.open_bands[band]) ListBuilder<W, kBlock>(plane, band, list_shared).run();
}

}  // namespace fathom::grid::cuda::plane
