// Where nearest sites go that the last pass of a transposed volume finds: float distances and indices of 32 bits. The lines
// of half a tile are rows of the outputs, which lie one behind the other, so that only the two ends of a tile share
// sectors of memory with its neighbours.
//
// Of several nearest sites the first counts: that with the lowest z, of these that with the lowest y, and only then x.
// The passes before leave of each plane across x the first site by that order. So what is compared here holds the steps
// along z and y, and behind them the side on which the site lies; how far along x follows from the square.
//
// Work mapping: what is found waits in shared memory until all is there; warp = row, whose neighbours are written by
// neighbouring lanes from multiples of 128 bytes on. Cost: a load from shared memory per element, two where sites are
// far, and for each output one store.
#pragma once

#include "grid/cuda/volume/envelope.cuh"
#include "grid/cuda/volume/nearest/sites.cuh"

namespace fathom::grid::cuda::volume {

/// A line's squared distance and the way to the site, so that of equally near sites the first is least:
/// square · 2¹⁷ + (steps along z + 128) · 2⁹ + (steps along y + 128) · 2 + whether the site lies to the right.
struct SitesAlongX : WindowSites {
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
  __device__ int z() const { return static_cast<int>(bits >> kLineBits); }
  __device__ int y() const { return static_cast<int>(bits & ((1u << kLineBits) - 1)); }
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

  /// Bytes of shared memory in which words of a search wait, or numbers of an envelope's winners.
  template <class Found = unsigned>
  static __host__ __device__ std::size_t memory(int length) {
    return static_cast<std::size_t>(row_groups(length)) * 8 * kPitch * sizeof(Found);
  }

  __device__ RowSink(const Volume& v, const Emitter<std::int64_t>& emitter, const HalfTile& half, void* memory)
      : v_(v), plain_(emitter.sites), half_(half), memory_(memory) {}

  /// Linear index of the site that a way leads to from element x of a line: y and x have changed places.
  __device__ std::int32_t site(int line, int x, SitesOfRows::Steps way) const {
    return ((z_ + way.z) * ny_ + first_line_ + line + way.x) * nx_ + x;
  }
  /// What a window has found of a group of eight neighbours in this thread's line.
  __device__ void put(int group, const unsigned (&words)[8]) const {
    if (group < row_groups(nx_)) put_eight<unsigned>(group * 8, words);
  }
  /// By all threads, when windows have found all.
  __device__ void finish() const {
    write_all([this](int line) {
      return [this, line](int x) {
        const unsigned word = found<unsigned>(line, x);
        const int steps = Word::steps(word);
        return Result{Word::square(word),
                      site(line, x + Word::along_x(word), {Word::along_line_of(steps), Word::along_z_of(steps)})};
      };
    });
  }
  /// An envelope's winners of up to eight neighbours in this thread's line.
  __device__ void put_winners(int first, const unsigned* winners, int count, const Place* /*places*/) const {
    if (count > 0) put_eight<std::uint16_t>(first, winners);
  }
  /// By all threads, when these are all there.
  __device__ void finish_winners(const Place* places) const {
    write_all([&](int line) {
      return [this, line, places](int x) {
        const int own = found<std::uint16_t>(line, x) & kKeyIndex;
        const Place place = places[own * 16 + line];
        const int steps = own - x, along_y = place.y() - first_line_ - line, along_z = place.z() - z_;
        return Result{static_cast<std::uint32_t>(steps * steps + along_y * along_y + along_z * along_z),
                      (place.z() * ny_ + place.y()) * nx_ + own};
      };
    });
    __syncthreads();
  }
  /// All elements, by all threads, a warp to a row. @param results  of a line's element: results(line)(x)
  template <class Results>
  __device__ void write_all(Results&& results) const {
    for (int line = thread() / 32; line < min(16, ny_ - first_line_); line += kThreads / 32)
      write_row(plain_.down(rows_, line), results(line));
  }

 private:
  static constexpr int kPitch = 17;  ///< from element to element, so that lanes meet different banks
  static constexpr int kStored = 4;  ///< elements of a lane, for which all is computed before the first is stored

  template <class Found>
  __device__ void put_eight(int first, const unsigned* words) const {
    auto* to = static_cast<Found*>(memory_) + first * kPitch + lane_id() % 16;
#pragma unroll
    for (int j = 0; j < 8; ++j) to[j * kPitch] = static_cast<Found>(words[j]);
  }
  template <class Found>
  __device__ Found found(int line, int x) const {
    return static_cast<const Found*>(memory_)[x * kPitch + line];
  }
  /// From multiples of 128 bytes on. @param result  of an element
  template <class Of>
  __device__ void write_row(const SiteResults::Row& row, Of&& result) const {
    auto* sites = reinterpret_cast<std::int32_t*>(row.nearest);
    const auto floats = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(row.distance) / sizeof(float));
    const auto write = [&](int x, auto is_there) {
      Result found[kStored];
#pragma unroll
      for (int k = 0; k < kStored; ++k)
        if (is_there(x + 32 * k)) found[k] = result(x + 32 * k);
#pragma unroll
      for (int k = 0; k < kStored; ++k) {
        if (!is_there(x + 32 * k)) continue;
        __stcs(row.distance + x + 32 * k, found[k].distance());
        __stcs(sites + x + 32 * k, found[k].site);
      }
    };
    for (int first = -static_cast<int>(floats % 32); first < nx_; first += 32 * kStored) {
      if (first >= 0 && first + 32 * kStored <= nx_) write(first + lane_id(), [](int) { return true; });
      else write(first + lane_id(), [this](int x) { return x >= 0 && x < nx_; });
    }
  }

  const Volume& v_;
  const SiteResults& plain_;
  const HalfTile& half_;
  void* const memory_;
  const std::int32_t first_line_ = half_.tile.word * 32 + half_.first, z_ = half_.tile.line;
  const std::int32_t nx_ = v_.ny, ny_ = v_.nx;  ///< of the array
  const SiteResults::Row rows_ = plain_.row(v_.first_item + half_.tile.item, z_, first_line_);
};

}  // namespace fathom::grid::cuda::volume
