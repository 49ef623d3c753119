// Between which rows of a line the nearest to each eight of its rows lie, where sites are far: the lower envelope of
// 16 lines at once, in integers that are rounded.
//
// A row's square is taken in halves of the square of a step along the line, rounded: it is less than 0.9 of one off. At
// an anchor half a row ahead of a group, let w win, and let u lie before w. As the gap between two parabolas grows by
// four halves for each row and each row between them, u is worse than w by two more at the group's rows than at the
// anchor, while roundings hide less than two. So w bounds the group's true winners from below, and likewise the winner
// behind the group from above; doubles, which round sums in order, make no row outside the nearest. Nor is a row
// between them that lies, by more than roundings hide, above the chord from one to another, as lines in place of
// parabolas.
//
// Work mapping: half warp = unit, lane = line. Phase 1: each unit takes kChunk rows into registers, or twice as many;
// one that lies above the chord between rows beside it, one or two away, is nowhere the nearest. Values that are too
// large for floats or for keys are taken above the line's least.
// Phase 2: the kept rows of each line move together. Phases 3 and 4: the winners at every 64th anchor, from all
// candidates, then at each, from those between.
//
// Source: volume/anchors.cuh; departs by keys that are measured from the line's middle, so that values may be larger.
// Cost: some 80 operations per element.
#pragma once

#include "grid/cuda/volume/anchors.cuh"

namespace fathom::grid::cuda::volume {

inline constexpr double kNoSquareExact = __builtin_inf();
inline constexpr unsigned kNoHalves = 1u << 24;    ///< of a row without a site
inline constexpr unsigned kManyHalves = 1u << 21;  ///< from here on floats round too roughly

/// A square in halves, from a float that three roundings have led to: less than 0.9 off.
__device__ inline unsigned rounded_halves(float halves) {
  return __float_as_uint(fminf(halves, kManyHalves) + 8388608.0f) - 0x4B000000u;
}

/// Rows that are looked at together, and anchors, of which there is one more behind the last row.
inline constexpr int kBracketChunk = 16;
inline __host__ __device__ int bracket_chunks(int rows) { return (rows + kBracketChunk - 1) / kBracketChunk; }
/// Bytes of shared memory.
inline std::size_t brackets_bytes(int rows) {
  const int of_lines = row_groups(rows) * 8 + anchors_of(rows) + bracket_chunks(rows);
  return static_cast<std::size_t>(of_lines) * 16 * sizeof(unsigned);
}

/// Of lines of up to kMostRows rows. All functions are called by all threads of the block.
template <int kThreads, int kMostRows>
class Brackets : public Anchors<Brackets<kThreads, kMostRows>, kThreads, kMostRows, kKeyBits, 2> {
  using Base = Anchors<Brackets, kThreads, kMostRows, kKeyBits, 2>;
  using Base::anchor, Base::count_, Base::keys_, Base::lane_, Base::n_, Base::unit_;

 public:
  static_assert(kMostRows % kThreads == 0);
  using Base::kUnits;
  static constexpr int kChunk = kBracketChunk, kChunksOfUnit = kMostRows / kThreads;

  __device__ Brackets(unsigned* memory, int rows) : Base(memory, memory + row_groups(rows) * 128, rows) {}

  /// @param line    the lane's: eight rows, line.group(q), which are padded; of a row's word, line.word(row), in halves
  ///                line.halves(word), which are rounded_halves() or kNoHalves, and in double, where
  ///                line.has_site(word), line.square(word); of the square of a step along it, line.weight()
  template <class Line>
  __device__ void find(const Line& line) {
    keep_candidates(line);
    Base::find_anchors();
  }

  /// The rows among which those are that are nearest to a group of eight, in ascending order: offer(row, its word).
  template <class Line, class Offer>
  __device__ void for_rows(int group, const Line& line, Offer&& offer) const {
    if (count_ == 0) return;
    const unsigned* at = key_at(place_of(anchor(group)));
    const unsigned last = *key_at(place_of(anchor(group + 1)));
    const Vertex end(last);
    unsigned key = *at;
    while (true) {
      const auto row = static_cast<int>(key & kKeyIndex);
      const unsigned word = line.word(row);  // on its way while the next row is looked for
      const bool is_last = key == last;
      if (!is_last) {
        const Vertex begin(key);
        const float slope = begin.slope_to(end);
        do key = *(at += 16);
        while (key != last && Vertex(key).is_above(begin, slope));
      }
      offer(row, word);
      if (is_last) return;
    }
  }

  // As Anchors ask for it. An anchor is half a row ahead of a group.
  __device__ unsigned slope_at(int x) const {
    return 0u - (static_cast<unsigned>(4 * x - 2 - 4 * middle_) << kKeyBits);
  }
  __device__ unsigned index_of(unsigned key) const { return (key & kKeyIndex) - static_cast<unsigned>(middle_); }
  __device__ int place_of(unsigned key) const {
    const auto i = static_cast<int>(key & kKeyIndex), chunk = i / kChunk;
    const unsigned own = chunk_at(chunk);
    return static_cast<int>(place_in(own)) + __popc(own & lanes_before(i % kChunk));
  }

 private:
  /// Where a candidate's parabola has its place among lines: above the chord between two others it is nowhere the
  /// least.
  struct Vertex {
    float row, value;  ///< and 2²³

    __device__ explicit Vertex(unsigned key)
        : row(shifted_float(key & kKeyIndex)), value(shifted_float(key >> kKeyBits)) {}
    __device__ float slope_to(const Vertex& end) const {
      float inverse;
      asm("rcp.approx.ftz.f32 %0,%1;" : "=f"(inverse) : "f"(end.row - row));
      return (end.value - value) * inverse;
    }
    /// By more than the roundings of three values and of this one hide.
    __device__ bool is_above(const Vertex& begin, float slope) const {
      return value > fmaf(row - begin.row, slope, begin.value + 4);
    }
  };

  __device__ const unsigned* key_at(int place) const { return keys_ + place * 16 + lane_; }
  /// Which rows of a chunk are candidates, in bits, and how many there are before these.
  __device__ unsigned& chunk_at(int chunk) const { return chunks_[chunk * 16 + lane_]; }
  static __device__ unsigned chunk_of(unsigned mask, unsigned place) { return place << kChunk | mask; }
  static __device__ unsigned place_in(unsigned chunk) { return chunk >> kChunk; }
  /// Values up to this leave keys below 2²²: at an anchor they have less than 6 · middle² more, and the bias.
  __device__ unsigned most() const { return (1u << 22) - 2 - static_cast<unsigned>(8 * middle_ * middle_); }
  __device__ unsigned key_of(unsigned value, int row) const {
    const int from_middle = row - middle_, bias = 2 * middle_ * middle_ + 2 * middle_ + 1;  // keys do not fall below 0
    return (value + static_cast<unsigned>(2 * from_middle * from_middle + bias)) << kKeyBits |
           static_cast<unsigned>(row);
  }

  /// A chunk's values in halves. @returns whether all are small enough for keys, and exact enough
  template <class Line>
  __device__ bool load(unsigned (&value)[kChunk], const Line& line, int chunk) const {
    static_assert(kChunk == 16);
    unsigned largest = 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const auto group = line.group(2 * chunk + half);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const unsigned halves = line.halves(group[j]);
        value[half * 8 + j] = halves;
        largest = max(largest, halves % kNoHalves);
      }
    }
    return largest < min(kManyHalves, most() + 1);
  }
  /// The same above the least square of the line. What is above it by more than the whole line's length is not nearest.
  /// @param scale  halves to a square
  template <class Line>
  __device__ void load_above(unsigned (&value)[kChunk], const Line& line, int chunk, double least, double scale) const {
#pragma unroll 1
    for (int r = 0; r < kChunk; ++r) {
      const int row = chunk * kChunk + r;
      const unsigned word = line.word(min(row, n_ - 1));
      const double above = row < n_ && line.has_site(word) ? (line.square(word) - least) * scale : kNoSquareExact;
      const bool is_small = above <= static_cast<double>(most());
      const unsigned rounded = is_small ? static_cast<unsigned>(__double2loint(above + 0x1p52)) : kNoHalves;
#pragma unroll
      for (int k = 0; k < kChunk; ++k)
        if (k == r) value[k] = rounded;
    }
  }
  /// The least square of the lane's line.
  template <class Line>
  __device__ double least_square(const Line& line) const {
    // Of numbers that are not negative, the bits ascend with the values.
    __shared__ unsigned long long line_least[16];
    double least = kNoSquareExact;
    if (unit_ == 0) line_least[lane_] = static_cast<unsigned long long>(__double_as_longlong(least));
    __syncthreads();
#pragma unroll 1
    for (int row = unit_; row < n_; row += kUnits) {
      const unsigned word = line.word(row);
      const double square = line.has_site(word) ? line.square(word) : kNoSquareExact;
      least = square < least ? square : least;
    }
    atomicMin(line_least + lane_, static_cast<unsigned long long>(__double_as_longlong(least)));
    __syncthreads();
    return __longlong_as_double(static_cast<long long>(line_least[lane_]));
  }

  template <class Line>
  __device__ void keep_candidates(const Line& line) {
    const int chunks = bracket_chunks(n_);
    // Of each of the unit's chunks: its number, values, candidates, and how many of these there are before it.
    const auto for_own = [&](auto&& take) {
#pragma unroll
      for (int c = 0; c < kChunksOfUnit; ++c)
        if (unit_ + c * kUnits < chunks) take(unit_ + c * kUnits, c);
    };
    unsigned value[kChunksOfUnit][kChunk], mask[kChunksOfUnit], first[kChunksOfUnit];
    bool are_small = true;
    for_own([&](int chunk, int c) { are_small &= load(value[c], line, chunk); });
    if (!__syncthreads_and(are_small)) {
      const double least = least_square(line);
      for_own([&](int chunk, int c) { load_above(value[c], line, chunk, least, 2 / line.weight()); });
    }
    for_own([&](int chunk, int c) {
      mask[c] = candidates(value[c]);
      chunk_at(chunk) = chunk_of(mask[c], static_cast<unsigned>(__popc(mask[c])));
    });
    Base::forget_anchors();
    __syncthreads();
    unsigned before = 0;
    const unsigned* chunk = &chunk_at(0);
#pragma unroll 4
    for (int k = 0; k < chunks; ++k, chunk += 16) {
#pragma unroll
      for (int c = 0; c < kChunksOfUnit; ++c)
        if (k == unit_ + c * kUnits) first[c] = before;
      before += place_in(*chunk);
    }
    count_ = static_cast<int>(before);
    for_own([&](int own, int c) { put_keys(value[c], mask[c], own, keys_ + first[c] * 16 + lane_); });
    __syncthreads();
    for_own([&](int own, int c) { chunk_at(own) = chunk_of(mask[c], first[c]); });
    __syncthreads();
  }
  /// Rows of a chunk, in bits, that lie above no chord by more than roundings hide, two halves.
  static __device__ unsigned candidates(const unsigned (&value)[kChunk]) {
    const auto above_chord = [&](int r, int steps) {  // in the sign; as lines, rows beside lie 2 · steps² higher
      if (r < steps || r + steps >= kChunk) return 0u;
      return value[r - steps] + value[r + steps] + static_cast<unsigned>(4 * steps * steps + 4) - 2 * value[r];
    };
    unsigned dropped = 0;
#pragma unroll
    for (int r = kChunk - 1; r >= 0; --r) {
      static_assert(kNoHalves << 7 == 1u << 31);
      dropped = __funnelshift_l(above_chord(r, 1) | above_chord(r, 2) | value[r] << 7, dropped, 1);
    }
    return ~dropped & ((1u << kChunk) - 1);
  }
  /// Keys of a chunk's candidates. From row to row, those of a value grow by four halves more each time.
  __device__ void put_keys(const unsigned (&value)[kChunk], unsigned mask, int chunk, unsigned* to) const {
    unsigned of_row = key_of(0, chunk * kChunk);
    const unsigned rise = key_of(0, chunk * kChunk + 1) - of_row;
#pragma unroll
    for (int r = 0; r < kChunk; ++r) {
      if (mask >> r & 1) {
        *to = (value[r] << kKeyBits) + of_row;
        to += 16;
      }
      of_row += rise + (static_cast<unsigned>(4 * r) << kKeyBits);
    }
  }

  unsigned* const chunks_ = Base::anchors_ + anchors_of(n_) * 16;
  const int middle_ = coarse_steps(n_) * (kCoarse / 2);
};

/// Bytes of dynamic shared memory: the rows, and their brackets.
inline std::size_t brackets_memory(int rows) { return window_memory(rows) + brackets_bytes(rows); }

}  // namespace fathom::grid::cuda::volume
