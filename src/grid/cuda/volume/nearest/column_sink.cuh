// Where nearest sites go that the pass along y finds: whatever is asked for, a column to each lane.
#pragma once

#include "grid/cuda/volume/envelope.cuh"
#include "grid/cuda/volume/nearest/sites.cuh"

namespace fathom::grid::cuda::volume {

/// Where a site of a row along y lies: its plane, and whether to the right. To an envelope, the plane.
struct SitePlace {
  static constexpr unsigned kRight = 1u << 15;
  static_assert(kLongestKeyed <= kRight);

  std::uint16_t bits;

  /// @param along_x  steps, to the right if positive
  static __device__ SitePlace of(unsigned plane, int along_x, int /*x*/) {
    return {static_cast<std::uint16_t>(plane + (along_x > 0 ? kRight : 0))};
  }
  __device__ operator unsigned() const { return bits & (kRight - 1); }
  __device__ bool is_right() const { return (bits & kRight) != 0; }
};

/// Results of half a tile along y.
template <int kThreads>
class ColumnSink : public SiteWriter {
 public:
  using Word = WindowSites;
  using Sites = Leads;
  using Place = SitePlace;
  static constexpr int kTogether = 4;  ///< rows of a thread that are asked for before any is looked at

  /// Bytes of shared memory: nothing waits.
  template <class = unsigned>
  static __host__ __device__ std::size_t memory(int /*length*/) {
    return 0;
  }

  __device__ ColumnSink(const Volume& v, const Emitter<std::int64_t>& emitter, const HalfTile& half, void* /*memory*/)
      : SiteWriter(v, emitter, half.tile, half.x) {}

  /// Linear index of the site that a way leads to from row y of this thread's column.
  __device__ std::int32_t site(int /*column*/, int y, SitesOfRows::Steps way) const { return SiteWriter::site(y, way); }
  /// What a window has found of a group of eight rows in this thread's column.
  __device__ void put(int group, const unsigned (&words)[8]) const {
    const int y = group * 8;
    write_group(y, ny_ - y, [&](int j) {
      const int steps = Word::steps(words[j]);
      const std::int32_t rows = Word::along_z_of(steps) * ny_ + Word::along_line_of(steps);
      return Result{Word::square(words[j]), SiteWriter::site(y + j, {0, 0}) + rows * nx_ + Word::along_x(words[j])};
    });
  }
  __device__ void finish() const {}
  __device__ void finish_winners(const Place* /*places*/) const {}
  /// All elements, by all threads. @param results  of a column's row: results(column)(y)
  template <class Results>
  __device__ void write_all(Results&& results) const {
    const auto of_column = results(static_cast<int>(threadIdx.x) % 16);
    for (int y = static_cast<int>(threadIdx.x) / 16 * 8; y < ny_; y += kThreads / 2)
      write_group(y, ny_ - y, [&](int j) { return of_column(y + j); });
  }
  /// Up to eight rows of this thread's column, from an envelope's winners.
  __device__ void put_winners(int y0, const unsigned* winners, int count, const Place* places) const {
    if (count == 0) return;
    write_group(y0, count, [&](int j) {
      const auto y = static_cast<int>(winners[j] & kKeyIndex);
      const Place place = places[y * 16 + lane_id() % 16];
      const int along_z = static_cast<int>(unsigned{place}) - z_;
      return result(y0 + j, winners[j] >> kKeyBits, y - (y0 + j), along_z, place.is_right());
    });
  }
};

}  // namespace fathom::grid::cuda::volume
