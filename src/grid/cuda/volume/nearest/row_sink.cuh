// Where nearest sites go that the last pass of a transposed volume finds: float distances and indices of 32 bits. The lines
// of half a tile are rows of the outputs, which lie one behind the other, so that only the two ends of a tile share
// sectors of memory with its neighbours.
//
// Of several nearest sites the first counts: that with the lowest z, of these that with the lowest y, and only then x.
// The passes before leave of each plane across x the first site by that order. So what is compared here holds the steps
// along z and y, and behind them the side on which the site lies; how far along x follows from the square.
//
// Work mapping: what windows find waits in shared memory until all is there; warp = row, whose neighbours are written by
// neighbouring lanes from multiples of 128 bytes on. Of an envelope, which finds eight neighbours with each lane, warp =
// sixteen neighbours of sixteen rows, turned in shared memory. Cost: for each output one load from shared memory and one
// store per element.
#pragma once

#include "grid/cuda/volume/envelope.cuh"
#include "grid/cuda/volume/nearest/sites.cuh"

namespace fathom::grid::cuda::volume {

/// A line's squared distance and the way to the site, so that of equally near sites the first is least:
/// square · 2¹⁷ + (steps along z + 128) · 2⁹ + (steps along y + 128) · 2 + whether the site lies to the right.
struct SitesAlongX : WindowSites {
  using Stored = SitesAlongX;
  static constexpr unsigned kStep = 0, kRight = 1;

  /// From a lead of the row, in which x and y have changed places.
  static __device__ unsigned near_site(unsigned lead) {
    const int steps = static_cast<int>(Leads::along_x(lead));
    return far_site(lead & 1 ? steps : -steps, Leads::along_z(lead));
  }
  static __device__ unsigned far_site(int along_y, int along_z) {
    const auto square = static_cast<unsigned>(along_y * along_y + along_z * along_z);
    return square * kSquare + static_cast<unsigned>((along_z + 128) << 9 | (along_y + 128) << 1);
  }
};

/// Where the site of a plane across x lies, so that the first of them is the least: to an envelope, too.
struct PlaceAcrossX {
  static constexpr int kLineBits = 10;
  static_assert(kLongestKeyed <= 1 << kLineBits);

  std::uint32_t bits;  ///< the place in the line below the plane

  static __device__ PlaceAcrossX of(unsigned plane, int along_x, int x) {
    return {plane << kLineBits | static_cast<unsigned>(x + along_x)};
  }
  __device__ operator unsigned() const { return bits; }
  __device__ unsigned z() const { return bits >> kLineBits; }
  __device__ unsigned y() const { return bits & ((1u << kLineBits) - 1); }
};

/// What was found of sixteen lines, and goes to the output, in shared memory. There are gaps behind neighbours, groups of
/// eight and pairs of groups, so that lanes meet different banks, be it those that read neighbours of a line or those that
/// write two groups.
class FoundWords {
  static constexpr int kPitch = 17, kGroup = 8 * kPitch + 8;  ///< words

 public:
  static constexpr int kNext = 4 * kGroup;  ///< from an element to the 32nd behind

  static __host__ __device__ std::size_t memory(int length) {
    return static_cast<std::size_t>((row_groups(length) + 3) / 4) * 4 * kGroup * sizeof(unsigned);
  }
  __device__ explicit FoundWords(void* memory) : memory_(static_cast<unsigned*>(memory)) {}

  /// Eight neighbours. @param lane  of half a warp
  __device__ void put(int group, int lane, const unsigned (&words)[8]) const {
    unsigned* to = memory_ + start(group) + lane;
#pragma unroll
    for (int j = 0; j < 8; ++j) to[j * kPitch] = words[j];
  }
  /// From element x on.
  __device__ const unsigned* from(int lane, int x) const { return memory_ + start(x >> 3) + (x & 7) * kPitch + lane; }

 private:
  static __device__ int start(int group) { return group * kGroup + (group & 2) * 4; }

  unsigned* memory_;
};

/// A row of results by a warp, from multiples of 128 bytes on.
///
/// @param row      where its floats go
/// @param results  from an element on, of each 32nd: results(x)(k)
/// @param store    takes them: store(x, result)
template <class Results, class Store>
__device__ void write_row(const float* row, int length, Results&& results, Store&& store) {
  constexpr int kTogether = 4;  // stores of a lane, for which all is computed before the first
  const auto floats = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(row) / sizeof(float));
  const auto write = [&](int x, auto is_there) {
    const auto result = results(x);
    decltype(result(0)) found[kTogether];
#pragma unroll
    for (int k = 0; k < kTogether; ++k)
      if (is_there(x + 32 * k)) found[k] = result(k);
#pragma unroll
    for (int k = 0; k < kTogether; ++k)
      if (is_there(x + 32 * k)) store(x + 32 * k, found[k]);
  };
  for (int first = -static_cast<int>(floats % 32); first < length; first += 32 * kTogether) {
    if (first >= 0 && first + 32 * kTogether <= length) write(first + lane_id(), [](int) { return true; });
    else write(first + lane_id(), [length](int x) { return x >= 0 && x < length; });
  }
}

/// Eight neighbours of a line by each lane, turned so that neighbours in memory are stored by neighbouring lanes. By
/// whole warps: lanes of the lower half have sixteen lines, those of the upper half the neighbours behind.
template <class T>
class TurnedLines {
 public:
  static constexpr int kPitch = 9;  ///< of a lane, so that lanes meet different banks

  /// @param of_warp  shared, of all warps
  __device__ explicit TurnedLines(T (*of_warp)[32 * kPitch]) : of_warp_(of_warp[threadIdx.x / 32]) {}

  /// @param store  takes, of each second line, that `lane_id() % 16` places behind the first: store(k, value), k being
  ///               even, and the line k + lane_id() / 16
  template <class Of, class Store>
  __device__ void turn(Of&& value, Store&& store) const {
#pragma unroll
    for (int j = 0; j < 8; ++j) of_warp_[lane_id() * kPitch + j] = value(j);
    __syncwarp();
    const T* from = of_warp_ + (lane_id() & 8) * 2 * kPitch + lane_id() / 16 * kPitch + lane_id() % 8;
#pragma unroll
    for (int k = 0; k < 16; k += 2, from += 2 * kPitch) store(k, *from);
    __syncwarp();
  }

 private:
  T* const of_warp_;
};

/// Results of half a tile of a transposed volume.
template <int kThreads>
class RowSink {
 public:
  using Word = SitesAlongX;
  using Sites = SitesAlongX;
  using Place = PlaceAcrossX;
  using Result = SiteWriter::Result;
  static constexpr int kTogether = 2;  ///< rows of a thread that are asked for before any is looked at

  /// Bytes of dynamic shared memory of a search.
  static __host__ __device__ std::size_t memory(int length) {
    return window_memory(length) + FoundWords::memory(length);
  }

  /// @param memory  that of a search
  __device__ RowSink(const Volume& v, const Emitter<std::int64_t>& emitter, const HalfTile& half, uint4* memory)
      : lines_(min(16, v.nx - first_line_of(half))),
        plain_(emitter.sites),
        rows_(plain_.row(v.first_item + half.tile.item, half.tile.line, first_line_of(half))),
        nx_(v.ny),
        ny_(v.nx),
        first_((half.tile.line * ny_ + first_line_of(half)) * nx_),
        found_(memory + window_memory(v.ny) / sizeof(uint4)) {}

  /// Linear index of the site that a way leads to from element x of a line: y and x have changed places.
  __device__ std::int32_t site(int line, int x, SitesOfRows::Steps way) const {
    return first_ + (line + way.x + way.z * ny_) * nx_ + x;
  }
  /// What a window has found of a group of eight neighbours in this thread's line.
  __device__ void put(int group, const unsigned (&words)[8]) const {
    if (group < row_groups(nx_)) found_.put(group, lane_id() % 16, words);
  }
  /// By all threads, when windows have found all.
  __device__ void finish() const {
    write_rows([&](int line) {
      return [&, line](int x) {
        const unsigned* words = found_.from(line, x);
        return [this, line, x, words](int k) { return near_result(line, x + 32 * k, words[k * FoundWords::kNext]); };
      };
    });
  }
  /// All elements, by all threads. @param results  of a line's element: results(line)(x)
  template <class Results>
  __device__ void write_all(Results&& results) const {
    write_rows([&](int line) {
      const auto of_line = results(line);
      return [of_line](int x) { return [of_line, x](int k) { return of_line(x + 32 * k); }; };
    });
  }
  /// Up to eight neighbours of this thread's line, as TurnedLines has them, from an envelope's winners.
  __device__ void write_winners(int first, const unsigned* winners, int /*count*/, const Place* places,
                                int /*z*/) const {
    __shared__ std::uint32_t turned[kThreads / 32][32 * TurnedLines<std::uint32_t>::kPitch];
    const TurnedLines<std::uint32_t> lines_of_warp(turned);
    const int x = __shfl_sync(kAllLanes, first, 0) + lane_id() % 16, line = lane_id() / 16;
    const int count = x < nx_ ? lines_ - line : 0;
    const auto result = [&](int j) {
      if (winners[j] == kNoKey) return Result{UINT32_MAX, -1};
      const auto own = static_cast<int>(winners[j] & kKeyIndex);
      const Place place = places[own * 16 + lane_id() % 16];
      const auto row = static_cast<std::int32_t>(place.z()) * ny_ + static_cast<std::int32_t>(place.y());
      return Result{winners[j] >> kKeyBits, row * nx_ + own};
    };
    Result results[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) results[j] = result(j);
    lines_of_warp.turn([&](int j) { return __float_as_uint(results[j].distance()); },
                       [&](int k, std::uint32_t bits) {
                         if (k < count) distance(line + k)[x] = __uint_as_float(bits);
                       });
    lines_of_warp.turn([&](int j) { return static_cast<std::uint32_t>(results[j].site); },
                       [&](int k, std::uint32_t site) {
                         if (k < count) nearest(line + k)[x] = static_cast<std::int32_t>(site);
                       });
  }

 private:
  static __device__ int first_line_of(const HalfTile& half) { return half.tile.word * 32 + half.first; }
  __device__ float* distance(int line) const { return plain_.down(rows_, line).distance; }
  __device__ std::int32_t* nearest(int line) const {
    return reinterpret_cast<std::int32_t*>(plain_.down(rows_, line).nearest);
  }
  __device__ Result near_result(int line, int x, unsigned word) const {
    const int steps = Word::steps(word);
    return {Word::square(word),
            site(line, x + Word::along_x(word), {Word::along_line_of(steps), Word::along_z_of(steps)})};
  }
  /// All rows, a warp each. @param results  of a line, from an element on: results(line)(x)(k), as write_row() asks
  template <class Results>
  __device__ void write_rows(Results&& results) const {
    for (int line = static_cast<int>(threadIdx.x) / 32; line < lines_; line += kThreads / 32)
      write_row(distance(line), nx_, results(line), [from = distance(line), to = nearest(line)](int x, Result result) {
        __stcs(from + x, result.distance());
        __stcs(to + x, result.site);
      });
  }

  const int lines_;  ///< that are there
  const SiteResults& plain_;
  const SiteResults::Row rows_;
  const std::int32_t nx_, ny_, first_;  ///< the array's extents; linear index of the first element
  const FoundWords found_;
};

}  // namespace fathom::grid::cuda::volume
