// The passes of volumes with nearest sites: those of volume/window.cuh and volume/envelope.cuh with the sites in what is
// compared.
//
// Of several nearest sites the first counts. Along z that is the one with the lowest z. Along y it is the one with the
// lowest z again, and only then the one with the lowest y. Between the passes a site takes 16 bits (see Leads): the
// steps to it where it is near; else its z, from which the word of its row tells the rest.
//
// Work mapping: as without sites, but a tile is 16 neighbours along x, half a word, by one whole line. Cost: as many
// bytes are moved between the passes as without sites; what is compared has 32 bits instead of 16.
#pragma once

#include "grid/cuda/output/results.cuh"
#include "grid/cuda/volume/anchors.cuh"

namespace fathom::grid::cuda::volume {

/// What the pass along z says of a site in the same plane along x and z, in 16 bits.
struct Leads {
  /// Steps along x · 2⁹ + (steps along z + 128) · 2 + whether the site lies to the right; or kFirstFar + its z; or
  /// kNone.
  static constexpr unsigned kFirstFar = (WindowSites::kMostSteps + 1) << 9;
  static constexpr unsigned kNone = WindowSites::kFar << 9 | WindowSites::kHere;
  static constexpr unsigned kHere = 128 << 1;  ///< of a site, to itself
  static_assert(kFirstFar + kLongestKeyed <= kNone);

  static constexpr unsigned kFarSquare = (WindowSites::kMostSteps + 1) * (WindowSites::kMostSteps + 1);

  /// Of a row that keeps none.
  static __device__ unsigned not_kept(TileKind kind) { return kind == kFull ? kHere : kNone; }

  static __device__ bool is_far(unsigned lead) { return lead - kFirstFar < static_cast<unsigned>(kLongestKeyed); }

  /// Of a site whose square is below kFarSquare.
  static __device__ unsigned near(int along_x, int along_z) {
    return static_cast<unsigned>(abs(along_x) << 9 | (along_z + 128) << 1) | unsigned{along_x > 0};
  }

  /// From what a search along z found.
  static __device__ unsigned of(unsigned site) {
    const int along_z = WindowSites::along_line(site);
    const int along_x = root_of_square(WindowSites::square(site) - static_cast<unsigned>(along_z * along_z));
    return static_cast<unsigned>(along_x) << 9 | (site & 0x1FF);
  }
  static __device__ unsigned along_x(unsigned lead) { return lead >> 9; }
  static __device__ int along_z(unsigned lead) { return static_cast<int>(lead >> 1 & 255) - 128; }
  /// A near one as a search along y compares it.
  static __device__ unsigned near_site(unsigned lead) {
    const auto steps = static_cast<int>(lead >> 1 ^ 0x80u);  // bytes: along x, and along z with a sign
    const auto square = static_cast<unsigned>(__dp4a(steps, steps, 0));
    return square * WindowSites::kSquare + (lead & 0x1FE) * 256 + (WindowSites::kHere | (lead & 1));
  }
  /// The same of a far one, which is not too far.
  static __device__ unsigned far_site(int along_x, int along_z) {
    const auto square = static_cast<unsigned>(along_x * along_x + along_z * along_z);
    return square * WindowSites::kSquare +
           (static_cast<unsigned>(along_z + 128) << 9 | WindowSites::kHere | unsigned{along_x > 0});
  }
};

/// A tile along y, and this thread's column of it: from leads in each row to where the sites lie.
class SitesOfRows {
 public:
  /// @param x  the thread's column
  __device__ SitesOfRows(const Volume& v, const Volume::Tile& tile, int x) : v_(v), tile_(tile), x_(x) {}

  /// Of a row that keeps leads.
  __device__ unsigned lead(int y) const { return __ldg(leads_ + y * kLeadsOfRow); }

  struct Steps {
    int x, z;
    /// Of what is looked at for nothing, whatever: without signs, so that it may wrap.
    __device__ unsigned square() const {
      const auto along_x = static_cast<unsigned>(x), along_z = static_cast<unsigned>(z);
      return along_x * along_x + along_z * along_z;
    }
  };
  /// What tells where in row y and its plane a site lies, if a lead says that it is far; else whatever.
  __device__ uint2 word_by(unsigned lead, int y) const {
    uint2 word = make_uint2(0, 0);
    if (Leads::is_far(lead)) word = __ldg(words_ + y * v_.depth + (lead - Leads::kFirstFar));
    return word;
  }
  /// By a lead that is not Leads::kNone, and word_by(): to the nearest site of its row, the left one of two.
  __device__ Steps way_by(unsigned lead, uint2 word) const {
    if (Leads::is_far(lead)) return {steps_along_x(word, bit_), static_cast<int>(lead - Leads::kFirstFar) - z_};
    const auto along_x = static_cast<int>(Leads::along_x(lead));
    return {lead & 1 ? along_x : -along_x, Leads::along_z(lead)};
  }
  /// A row has sites in all columns or in none.
  __device__ TileKind kind(int y) const { return static_cast<TileKind>(__ldg(kinds_ + y)); }
  /// The first column's of the half, of a row that keeps leads. They are far together.
  __device__ unsigned any_lead(int y) const { return __ldg(first_lead(y)); }
  __device__ Steps way_by(unsigned lead, int y) const { return way_by(lead, word_by(lead, y)); }
  /// To the site of row y, which has one in this thread's column.
  __device__ Steps way(int y) const { return kind(y) == kFull ? Steps{0, 0} : way_by(lead(y), y); }
  /// The leads of row y, which keeps them, in eight columns of the half, the first or the others.
  __device__ uint4 eight_leads(int y, int which) const {
    return __ldg(reinterpret_cast<const uint4*>(first_lead(y)) + which);
  }
  /// As a search compares them: of eight neighbours in row y, from the tile's column `first` on. They are far together.
  ///
  /// @tparam Sites  near_site() and far_site(), as Leads has them for a search along y
  template <class Sites = Leads>
  __device__ void sites(uint4 leads, int y, int first, unsigned* site) const {
    const unsigned two[4] = {leads.x, leads.y, leads.z, leads.w};
    const auto lead = [&](int k) { return two[k / 2] >> (k % 2 * 16) & 0xFFFFu; };
    if (!Leads::is_far(lead(0))) {
#pragma unroll
      for (int k = 0; k < 8; ++k) site[k] = Sites::near_site(lead(k));
      return;
    }
    uint2 word[8];  // all are read before any is looked at, so that the waits are one
#pragma unroll
    for (int k = 0; k < 8; ++k) word[k] = __ldg(words_ + y * v_.depth + (lead(k) - Leads::kFirstFar));
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int z = static_cast<int>(lead(k) - Leads::kFirstFar) - z_;
      const Steps way{steps_along_x(word[k], first + k), z};
      const bool is_too_far = way.square() >= WindowSites::kFar * WindowSites::kFar;
      site[k] = is_too_far ? WindowSites::kNone : Sites::far_site(way.x, way.z);
    }
  }

 private:
  /// Of the half's first column.
  __device__ const std::uint16_t* first_lead(int y) const { return leads_ + y * kLeadsOfRow - (bit_ & 15); }

  const Volume& v_;
  const Volume::Tile& tile_;
  const int x_, z_ = tile_.line, bit_ = x_ % 32, half_ = bit_ / 16;
  const std::uint8_t* const kinds_ = kinds_of_half(v_, tile_, half_, v_.ny);
  const std::uint16_t* const leads_ = v_.lead_row(tile_.item, tile_.word * 2 + half_, z_, 0) + x_ % kLeadsOfRow;
  const uint2* const words_ = v_.word_line({tile_.item, tile_.word, 0});
};

/// Half a tile's rows as the pass along z left them, to shared memory. By all threads.
///
/// @tparam kTogether  rows of a thread that are asked for before any is looked at
/// @tparam Sites      as SitesOfRows::sites() has it
/// @param near        is told of each row whether a site of it is less than 64 away: near.add(row, whether)
template <int kThreads, int kTogether, class Sites, class Word, class Near>
__device__ void load_rows_of_sites(const WindowRows<Word>& rows, const Volume& v, const HalfTile& half,
                                   const SitesOfRows& sites, Near& near) {
  const int t = thread(), n = v.ny, first = t % 2 * 8;
  constexpr int kStep = kThreads / 2;
  rows.pad(n);
  for (int r0 = t / 2; r0 < n; r0 += kTogether * kStep) {
    uint4 leads[kTogether];
    TileKind kinds[kTogether];
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      const int r = min(r0 + k * kStep, n - 1);
      leads[k] = sites.eight_leads(r, t % 2), kinds[k] = sites.kind(r);  // also those that are not kept
    }
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      const int r = r0 + k * kStep;
      if (r >= n) break;
      const unsigned two = Leads::not_kept(kinds[k]) * 0x10001u;
      if (!keeps_rows(kinds[k])) leads[k] = make_uint4(two, two, two, two);
      unsigned site[8];
      sites.sites<Sites>(leads[k], r, half.first + first, site);
      near.add(r, WindowSites::least(site) < 64 * 64 * WindowSites::kSquare);
      rows.put(r, first / 4, make_uint4(site[0], site[1], site[2], site[3]));
      rows.put(r, first / 4 + 1, make_uint4(site[4], site[5], site[6], site[7]));
    }
  }
}

/// Eight values of a column, or as many as there are. @param value  value(j) @tparam kOnce  nothing reads them soon
template <bool kOnce, class Value, class Of>
__device__ void store_eight(int count, Value* to, std::int64_t stride, Of&& value) {
  const auto store = [&](int j) {
    if constexpr (kOnce) __stcs(to, value(j));
    else *to = value(j);
  };
  if (count >= 8) {  // not asked of each
#pragma unroll
    for (int j = 0; j < 8; ++j, to += stride) store(j);
  } else {
#pragma unroll
    for (int j = 0; j < 7; ++j, to += stride)
      if (j < count) store(j);
  }
}

enum class Along { z, y };

/// Plain results. Distances are written before sites are looked up, for the registers; of these all are looked up before
/// any is stored, so that the waits are one.
///
/// @param row        of the outputs, in which the first result is at x
/// @param distances  fills eight: distances(float*)
/// @param site       of the first, the second and so on
template <Along kAxis, class Distances, class Site>
__device__ void write_column(const SiteResults& plain, const SiteResults::Row& row, int x, int count,
                             Distances&& distances, Site&& site) {
  const auto stride_of = [](const auto& output) { return kAxis == Along::z ? output.z_stride : output.y_stride; };
  if (plain.distance.data) {
    float eight[8];
    distances(eight);
    store_eight<true>(count, row.distance + x, stride_of(plain.distance), [&](int j) { return eight[j]; });
  }
  const auto store_sites = [&](auto* of_row) {
    std::int32_t sites[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) sites[j] = site(j);
    const std::int64_t stride = stride_of(plain.nearest) / static_cast<std::int64_t>(sizeof(*of_row));
    store_eight<true>(count, of_row + x, stride,
                      [&](int j) { return std::remove_pointer_t<decltype(of_row)>{sites[j]}; });
  };
  if (plain.is_long) store_sites(reinterpret_cast<long long*>(row.nearest));
  else store_sites(reinterpret_cast<std::int32_t*>(row.nearest));
}

/// What is no plain result.
template <class Square>
struct FoundSites {
  Square square[8];
  std::int32_t site[8];  ///< −1: there is none
  unsigned inside = 0;   ///< bits, of signed labels: whose distances are negative
};

/// Writes it, as far as it lies in the region. Not inlined: it is large. @param at  of the first
template <Along kAxis, class V, class Square>
__device__ __noinline__ void emit_column(const Emitter<V>& emitter, std::int64_t item, const int3& at, int count,
                                         const FoundSites<Square>& found) {
#pragma unroll 1
  for (int j = 0; j < min(count, 8); ++j) {
    const bool is_along_z = kAxis == Along::z;
    const std::int64_t in_volume[] = {at.z + (is_along_z ? j : 0), at.y + (is_along_z ? 0 : j), at.x};
    const std::int64_t* place = in_volume + 3 - emitter.input.rank;
    const V value = found.site[j] < 0 ? no_value<V>() : static_cast<V>(found.square[j]);
    if (emitter.in_region(place)) emitter.emit(item, place, value, found.site[j], found.inside >> j & 1);
  }
}

/// Results of a tile along y, in this thread's column.
struct SiteWriter {
  const Volume& v;
  const Emitter<std::int64_t>& emitter;
  const Volume::Tile tile;
  const std::int32_t x, z = tile.line, ny = v.ny,
                        nx = static_cast<std::int32_t>(emitter.input.extent[emitter.input.rank - 1]);
  const SiteResults::Row first_row = emitter.sites.row(v.first_item + tile.item, z, 0);

  /// Linear index of a site in row y. There are at most 2³⁰ elements.
  __device__ std::int32_t site(int y, SitesOfRows::Steps steps) const {
    return ((z + steps.z) * ny + y) * nx + v.first_x + x + steps.x;
  }
  struct Result {
    std::uint32_t square;  ///< UINT32_MAX: there is no site
    std::int32_t site;     ///< −1 then

    __device__ float distance() const {
      return square == UINT32_MAX ? __int_as_float(0x7F800000) : small_root(small_float(square));
    }
  };
  /// Of an element of row y, from the square of the way to its site, steps of it, and the side that it lies on.
  __device__ Result result(int y, unsigned square, int along_y, int along_z, bool is_right) const {
    const auto others = static_cast<unsigned>(along_y * along_y + along_z * along_z);
    return {square, site(y + along_y, {signed_root_of_square(square - others, is_right), along_z})};
  }
  /// Up to eight rows.
  ///
  /// @param result  of the first, the second and so on
  /// @param inside  bits, of signed labels: whose distances are negative
  template <class Of>
  __device__ void write_group(int y, int count, Of&& result, unsigned inside = 0) const {
    if (x >= v.nx) return;
    if (!emitter.sites.serves) {
      FoundSites<std::uint32_t> found;
      found.inside = inside;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const Result own = result(j);
        found.square[j] = own.square, found.site[j] = own.site;
      }
      return emit_column<Along::y>(emitter, tile.item, {v.first_x + x, y, z}, count, found);
    }
    const auto distances = [&](float(&eight)[8]) {
#pragma unroll
      for (int j = 0; j < 8; ++j) eight[j] = result(j).distance();
    };
    write_column<Along::y>(emitter.sites, emitter.sites.down(first_row, y), x, count, distances,
                           [&](int j) { return result(j).site; });
  }
};

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
struct ColumnSink : SiteWriter {
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
      : SiteWriter{v, emitter, half.tile, half.x} {}

  /// Linear index of the site that a way leads to from row y of this thread's column.
  __device__ std::int32_t site(int /*column*/, int y, SitesOfRows::Steps way) const { return SiteWriter::site(y, way); }
  /// What a window has found of a group of eight rows in this thread's column.
  __device__ void put(int group, const unsigned (&words)[8]) const {
    const int y = group * 8;
    write_group(y, ny - y, [&](int j) {
      const int steps = Word::steps(words[j]);
      const std::int32_t rows = Word::along_z_of(steps) * ny + Word::along_line_of(steps);
      return Result{Word::square(words[j]), SiteWriter::site(y + j, {0, 0}) + rows * nx + Word::along_x(words[j])};
    });
  }
  __device__ void finish() const {}
  __device__ void finish_winners(const Place* /*places*/) const {}
  /// All elements, by all threads. @param results  of a column's row: results(column)(y)
  template <class Results>
  __device__ void write_all(Results&& results) const {
    const auto of_column = results(thread() % 16);
    for (int y = thread() / 16 * 8; y < ny; y += kThreads / 2)
      write_group(y, ny - y, [&](int j) { return of_column(y + j); });
  }
  /// Up to eight rows of this thread's column, from an envelope's winners.
  __device__ void put_winners(int y0, const unsigned* winners, int count, const Place* places) const {
    if (count == 0) return;
    write_group(y0, count, [&](int j) {
      const auto y = static_cast<int>(winners[j] & kKeyIndex);
      const Place place = places[y * 16 + lane_id() % 16];
      const int along_z = static_cast<int>(unsigned{place}) - z;
      return result(y0 + j, winners[j] >> kKeyBits, y - (y0 + j), along_z, place.is_right());
    });
  }
};

/// Bytes of the places of a line's sites, [row][16], in shared memory behind an envelope, of all its chunks.
template <class Place>
__host__ __device__ std::size_t places_memory(int rows) {
  return static_cast<std::size_t>((rows + 31) / 32 * 32) * 16 * sizeof(Place);
}

}  // namespace fathom::grid::cuda::volume
