// The words of plane/labels.cuh where labels are bytes whose rows begin at multiples of four: four columns to a thread.
//
// Work mapping: thread = 4 columns of a band, warp = 4 words of each of its rows. What differs is told for four bytes
// at once and kept by columns; at last the warp turns its 128 columns into rows. Cost: as there.
#pragma once

#include "grid/cuda/mask.cuh"
#include "grid/cuda/plane/labels.cuh"

namespace fathom::grid::cuda {

/// Bits of four columns of a band.
class FourColumns {
 public:
  /// Of a row, which bytes are not zero. Rows come one after the other.
  __device__ void add(int row, unsigned bytes) {
    const unsigned top = (((bytes & 0x7F7F7F7Fu) + 0x7F7F7F7Fu) | bytes) & 0x80808080u;
    eight_rows_[row / 8] = eight_rows_[row / 8] >> 1 | top;
  }
  /// By columns, bit = row.
  __device__ void get(unsigned (&columns)[4]) const {
    const unsigned(&eight)[4] = eight_rows_;
    const unsigned low = __byte_perm(eight[0], eight[1], 0x5140), high = __byte_perm(eight[2], eight[3], 0x5140);
    columns[0] = __byte_perm(low, high, 0x5410), columns[1] = __byte_perm(low, high, 0x7632);
    const unsigned low_2 = __byte_perm(eight[0], eight[1], 0x7362), high_2 = __byte_perm(eight[2], eight[3], 0x7362);
    columns[2] = __byte_perm(low_2, high_2, 0x5410), columns[3] = __byte_perm(low_2, high_2, 0x7632);
  }

 private:
  unsigned eight_rows_[4] = {};  ///< of a column in each byte
};

/// 128 columns of a band, four to a lane, as words of a row to each lane.
class TurnedColumns {
 public:
  /// Which row a lane has.
  static __device__ int row() { return lane_id() / 8 + lane_id() % 8 * 4; }

  __device__ explicit TurnedColumns(const unsigned (&columns)[4]) {
#pragma unroll
    for (int k = 0; k < 4; ++k) words_[k] = columns[k];
    // The number of a column has two bits in the registers and five in the lane, that of a row five in the word. Each
    // step exchanges two of these.
    with_registers<1>(words_[0], words_[1]), with_registers<1>(words_[2], words_[3]);
    with_registers<2>(words_[0], words_[2]), with_registers<2>(words_[1], words_[3]);
    with_lanes<4>(), with_lanes<8>(), with_lanes<16>();
    registers_with_lanes<8>(words_[0], words_[1]), registers_with_lanes<8>(words_[2], words_[3]);
    registers_with_lanes<16>(words_[0], words_[2]), registers_with_lanes<16>(words_[1], words_[3]);
  }

  __device__ uint4 words() const { return make_uint4(words_[0], words_[1], words_[2], words_[3]); }

 private:
  /// The bits whose numbers lack kBits.
  template <unsigned kBits>
  static constexpr unsigned kLow = kBits == 1   ? 0x55555555u
                                   : kBits == 2 ? 0x33333333u
                                   : kBits == 4 ? 0x0F0F0F0Fu
                                   : kBits == 8 ? 0x00FF00FFu
                                                : 0x0000FFFFu;

  template <unsigned kBits>
  static __device__ void with_registers(unsigned& a, unsigned& b) {
    const unsigned low = (a & kLow<kBits>) | (b & kLow<kBits>) << kBits;
    b = (a >> kBits & kLow<kBits>) | (b & ~kLow<kBits>);
    a = low;
  }
  template <unsigned kBits>
  __device__ void with_lanes() {
    constexpr unsigned kLane = kBits / 4;
    const bool is_upper = lane_id() & kLane;
    const unsigned kept = is_upper ? ~kLow<kBits> : kLow<kBits>, turn = is_upper ? 32 - kBits : kBits;
#pragma unroll
    for (unsigned& word : words_) {
      const unsigned other = __shfl_xor_sync(kAllLanes, word, kLane);
      word = (word & kept) | (__funnelshift_l(other, other, turn) & ~kept);
    }
  }
  template <unsigned kLane>
  static __device__ void registers_with_lanes(unsigned& a, unsigned& b) {
    const bool is_upper = lane_id() & kLane;
    const unsigned other = __shfl_xor_sync(kAllLanes, is_upper ? a : b, kLane);
    if (is_upper) a = other;
    else b = other;
  }

  unsigned words_[4];
};

/// As pack_labels().
template <bool kUpperPins>
__global__ void __launch_bounds__(kPackBlock)
    pack_byte_labels(Plane plane, const __grid_constant__ Input input, const std::uint8_t* before) {
  const std::int64_t band = blockIdx.y;
  const int x = (static_cast<int>(blockIdx.x) * kPackBlock + static_cast<int>(threadIdx.x)) * 4, lane = lane_id();
  if (x >= plane.pitch) return;  // so do all lanes of a warp
  const bool there = x < plane.width;
  const int y0 = plane.first_row(band), rows = min(kBand, plane.height - y0), column = min(x, plane.width - 4);
  const std::int64_t step = input.stride[0];
  const auto* image = reinterpret_cast<const std::uint8_t*>(input.data) +
                      input.items.offset(plane.first_item + plane.item_of(band)) + y0 * step;
  const auto four = [&](int r) { return *reinterpret_cast<const std::uint32_t*>(image + r * step + column); };
  const std::uint8_t* above = y0 > 0 ? image - step : before;
  unsigned last = above ? *reinterpret_cast<const std::uint32_t*>(above + column) : four(0);
  const unsigned before_first = last;
  // Left of the warp's columns, in the row that is the lane's.
  const int x0 = x - 4 * lane;
  const unsigned edge = x0 == 0 || x0 >= plane.width ? 0 : image[min(lane, rows - 1) * step + x0 - 1];

  FourColumns differing_up, differing_left, filled;
  RowsInFlight<unsigned> labels;
#pragma unroll
  for (int r = 0; r < kBand; ++r) {
    const unsigned own = labels.next(r, rows, four);
    const unsigned beside = __shfl_up_sync(kAllLanes, own, 1), outside = __shfl_sync(kAllLanes, edge, r) << 24;
    const unsigned left = x == 0 ? own << 24 : lane == 0 ? outside : beside;
    differing_up.add(r, own ^ last);
    differing_left.add(r, own ^ __funnelshift_l(left, own, 8));
    filled.add(r, own);
    last = own;
  }

  const unsigned in_band = there ? 0xFFFFFFFFu >> (kBand - rows) : 0;
  const unsigned below = there && y0 + rows < plane.height ? nonzero_bytes(four(rows) ^ last) : 0;
  unsigned upper[4], changes[4], background[4], ends[4];
  differing_up.get(upper), differing_left.get(changes), filled.get(background);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    upper[k] &= in_band;
    background[k] = ~background[k] & in_band;
    const unsigned pinned = plane.pins ? background[k] : 0;
    changes[k] = (changes[k] & in_band) | pinned;
    ends[k] = upper[k] | upper[k] >> 1 | pinned | (below >> k & 1) << (rows - 1);
    const bool was_pinned = kUpperPins && (before_first >> (8 * k) & 0xFFu) == 0;
    if (y0 == 0 && (upper[k] & 1) && !was_pinned)
      plane.bits[x + k - plane.pitch] |= 1u << (kBand - 1);  // packed earlier
    if constexpr (kUpperPins) ends[k] &= ~pinned, upper[k] |= pinned;
  }
  const std::int64_t words = band * plane.pitch + x;
  *reinterpret_cast<uint4*>(plane.bits + words) = make_uint4(ends[0], ends[1], ends[2], ends[3]);
  close_cell(plane, band, x);
  if (plane.upper) *reinterpret_cast<uint4*>(plane.upper + words) = make_uint4(upper[0], upper[1], upper[2], upper[3]);
  if (x0 >= plane.width) return;
  const std::int64_t row = (band * kBand + TurnedColumns::row()) * plane.row_words + x0 / 32;
  *reinterpret_cast<uint4*>(plane.changes + row) = TurnedColumns(changes).words();
  if (!kUpperPins) *reinterpret_cast<uint4*>(plane.background + row) = TurnedColumns(background).words();
}

}  // namespace fathom::grid::cuda
