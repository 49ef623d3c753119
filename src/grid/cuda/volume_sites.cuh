// The passes of volumes with nearest sites: those of volume_gaps.cuh and volume_envelope.cuh with the sites in what is
// compared.
//
// Of several nearest sites the first counts. Along z that is the one with the lowest z. Along y it is the one with the
// lowest z again, and only then the one with the lowest y. Between the passes a site takes 16 bits (see Leads): the
// steps to it where it is near; else its z, from which the word of its row tells the rest.
//
// Work mapping: as without sites, but a tile is 16 neighbours along x, half a word, by one whole line. Cost: as many
// bytes are moved between the passes as without sites; what is compared has 32 bits instead of 16.
#pragma once

#include "grid/cuda/volume_envelope.cuh"

namespace fathom::grid::cuda {

/// Steps from a bit of a row's word to the nearest site in the row, the left one of two.
__device__ inline int steps_along_x(uint2 word, int bit) {
  const unsigned up = word.x & (0xFFFFFFFFu >> (31 - bit)), down = word.x >> bit;
  const int left = up ? bit - 31 + __clz(static_cast<int>(up)) : bit + static_cast<int>(word.y & 0xFFFFu);
  const int right = down ? __ffs(static_cast<int>(down)) - 1 : 31 - bit + static_cast<int>(word.y >> 16);
  return left <= right ? -left : right;
}

/// What the pass along z says of a site in the same plane along x and z, in 16 bits.
struct Leads {
  /// Steps along x · 2⁹ + (steps along z + 128) · 2 + whether the site lies to the right; or kFirstFar + its z; or
  /// kNone.
  static constexpr unsigned kFirstFar = (WindowSites::kMostSteps + 1) << 9;
  static constexpr unsigned kNone = WindowSites::kFar << 9 | WindowSites::kHere;
  static_assert(kFirstFar + kLongestKeyed <= kNone);

  static constexpr unsigned kFarSquare = (WindowSites::kMostSteps + 1) * (WindowSites::kMostSteps + 1);

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

/// Where the sites of a tile along y lie, in shared memory behind an envelope with chunks of so many rows.
template <int kChunk>
class SitePlaces {
 public:
  /// Bytes.
  static __host__ __device__ std::size_t memory(int rows) {
    return planes_memory(rows) + static_cast<std::size_t>((rows + kChunk - 1) / kChunk) * 16 * sizeof(unsigned);
  }

  __device__ SitePlaces(std::byte* memory, int rows)
      : planes(reinterpret_cast<std::uint16_t*>(memory)),
        right_(reinterpret_cast<unsigned*>(memory + planes_memory(rows))) {}

  /// Of a line's chunk: in which rows the site lies to the right, in bits.
  __device__ void put_sides(int first_row, int lane, unsigned right) const {
    right_[first_row / kChunk * 16 + lane] = right;
  }
  __device__ bool is_right(int row, int lane) const { return right_[row / kChunk * 16 + lane] >> row % kChunk & 1; }

  std::uint16_t* const planes;  ///< z: [row][16]

 private:
  static __host__ __device__ std::size_t planes_memory(int rows) {
    return static_cast<std::size_t>(row_groups(rows)) * 8 * 16 * sizeof(std::uint16_t);
  }

  unsigned* const right_;
};

template <int kThreads, int kChunk>
__global__ void __launch_bounds__(kThreads, kEnvelopeThreads / kThreads)
    envelope_sites_along_z(const __grid_constant__ Volume v) {
  extern __shared__ uint4 envelope_shared[];
  __shared__ uint2 of_byte[256];
  const int t = static_cast<int>(threadIdx.x), n = v.nz;
  const unsigned count = v.counters[0];
  if (blockIdx.x >= count) return;
  for (int i = t; i < 256; i += kThreads) of_byte[i] = kByteDistances.of[i];
  for (unsigned job = blockIdx.x; job < count; job += gridDim.x) {
    const HalfTile half = narrow_half_along_z(v, v.z_list[job]);
    const EnvelopeRows<kThreads, kChunk> rows(envelope_shared);
    rows.load(v.word_line(half.tile), n, half.first, of_byte);
    std::uint16_t* leads = narrow_half(v, half, 0, half.tile.line) + t % 16;
    const std::int64_t step = std::int64_t{v.ny} * 32;
    const auto load = [&](unsigned* value, int first, int lane) { rows.squares(value, first, lane, n); };
    const auto store = [&](int z, const unsigned* winners, int winners_count) {
      std::uint16_t* to = leads + z * step;
#pragma unroll
      for (int j = 0; j < 8; ++j, to += step)
        if (j < winners_count)
          *to = static_cast<std::uint16_t>(winners[j] == kNoKey ? Leads::kNone
                                                                : Leads::kFirstFar + (winners[j] & kKeyIndex));
    };
    Envelope<kThreads, kChunk, Finding::winners>(reinterpret_cast<unsigned*>(envelope_shared), n).run(load, store);
  }
}

/// Eight leads of neighbours.
struct EightLeads {
  unsigned lead[8];

  __device__ explicit EightLeads(uint4 leads) {
    const unsigned two[4] = {leads.x, leads.y, leads.z, leads.w};
#pragma unroll
    for (int k = 0; k < 8; ++k) lead[k] = two[k / 2] >> (k % 2 * 16) & 0xFFFFu;
  }
};

/// The least of eight neighbours' sites, as far as they lie inside.
__device__ inline unsigned least_inside(const unsigned* site, int inside) {
  if (inside >= 8) return WindowSites::least(site);
  unsigned least = WindowSites::kNone;
#pragma unroll
  for (int k = 0; k < 8; ++k)
    if (k < inside) least = min(least, site[k]);
  return least;
}

/// A tile along y, and this thread's column of it: from leads in each row to where the sites lie.
class SitesOfRows {
 public:
  __device__ SitesOfRows(const Volume& v, const HalfTile& half)
      : z_(half.tile.line),
        depth_(v.depth),
        first_bit_(half.first),
        bit_(half.first + static_cast<int>(threadIdx.x) % 16),
        leads_(narrow_half(v, half, half.tile.line, 0) + threadIdx.x % 16),
        words_(v.word_line({half.tile.item, half.tile.word, 0})) {}

  __device__ unsigned lead(int y) const { return __ldg(leads_ + y * 32); }

  struct Steps {
    int x, z;
    __device__ unsigned square() const { return static_cast<unsigned>(x * x + z * z); }
  };
  /// To the nearest site of row y in plane `z`, the left one of two.
  __device__ Steps steps(int y, int z) const { return {steps_along_x(__ldg(words_ + y * depth_ + z), bit_), z - z_}; }
  /// By a lead that is not Leads::kNone; along x without the sign.
  __device__ Steps steps_by(unsigned lead, int y) const {
    if (Leads::is_far(lead)) return steps(y, static_cast<int>(lead - Leads::kFirstFar));
    return {static_cast<int>(Leads::along_x(lead)), Leads::along_z(lead)};
  }
  /// Whether row y has sites, which it has in all columns or in none, as it is with far ones.
  __device__ bool has_site(int y) const { return any_lead(y) != Leads::kNone; }
  __device__ bool is_far(int y) const { return Leads::is_far(any_lead(y)); }
  /// Of the half's first column: whether it is a site, and whether row y has it where the first one has.
  __device__ bool is_here(int y) const { return any_lead(y) == Leads::near(0, 0); }
  __device__ bool is_like_first(int y) const { return any_lead(y) == any_lead(0); }
  /// The same of all eight columns, the first of the half or the others.
  __device__ bool are_like_first(int y, int which) const {
    const auto leads = [&](int row) {
      return __ldg(reinterpret_cast<const uint4*>(leads_ + row * 32 - threadIdx.x % 16) + which);
    };
    const uint4 own = leads(y), first = leads(0);
    return own.x == first.x && own.y == first.y && own.z == first.z && own.w == first.w;
  }
  /// As steps_by(), along x with the sign.
  __device__ Steps way_by(unsigned lead, int y) const {
    const Steps way = steps_by(lead, y);
    return Leads::is_far(lead) || (lead & 1) ? way : Steps{-way.x, way.z};
  }
  /// To the site of row y, which has one in this thread's column.
  __device__ Steps way(int y) const { return way_by(lead(y), y); }
  /// As a search compares them: of eight neighbours in row y, from the tile's column `first` on. They are far together.
  ///
  /// @tparam Sites  near_site() and far_site(), as Leads has them for a search along y
  template <class Sites = Leads>
  __device__ void sites(const EightLeads& eight, int y, int first, unsigned* site) const {
    if (!Leads::is_far(eight.lead[0])) {
#pragma unroll
      for (int k = 0; k < 8; ++k) site[k] = Sites::near_site(eight.lead[k]);
      return;
    }
    uint2 word[8];  // all are read before any is looked at, so that the waits are one
#pragma unroll
    for (int k = 0; k < 8; ++k) word[k] = __ldg(words_ + y * depth_ + (eight.lead[k] - Leads::kFirstFar));
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int z = static_cast<int>(eight.lead[k] - Leads::kFirstFar) - z_;
      const Steps way{steps_along_x(word[k], first_bit_ + first + k), z};
      const bool is_too_far = way.square() >= WindowSites::kFar * WindowSites::kFar;
      site[k] = is_too_far ? WindowSites::kNone : Sites::far_site(way.x, way.z);
    }
  }
  __device__ int z() const { return z_; }

 private:
  __device__ unsigned any_lead(int y) const { return __ldg(leads_ + y * 32 - threadIdx.x % 16); }

  const std::int32_t z_, depth_;
  const int first_bit_, bit_;
  const std::uint16_t* leads_;
  const uint2* words_;
};

/// Results of a tile along y, in this thread's column.
class SiteWriter {
 public:
  __device__ SiteWriter(const Volume& v, const Emitter<std::int64_t>& emitter, const HalfTile& half)
      : emitter_(emitter),
        item_(half.tile.item),
        z_(half.tile.line),
        x_(half.x),
        first_x_(v.first_x),
        nx_(static_cast<std::int32_t>(emitter.input.extent[emitter.input.rank - 1])),
        ny_(v.ny),
        is_there_(half.x < v.nx),
        row_(emitter.plain.row(v.first_item + item_, z_, 0)) {}

  /// Linear index of a site in row y. There are at most 2³⁰ elements.
  __device__ std::int32_t site(int y, SitesOfRows::Steps steps) const {
    return ((z_ + steps.z) * ny_ + y) * nx_ + first_x_ + x_ + steps.x;
  }
  struct Result {
    std::uint32_t square;  ///< UINT32_MAX: there is no site
    std::int32_t site;     ///< −1 then
  };
  /// Up to eight rows, from what a search says of them.
  __device__ void write_near(int y, int count, const unsigned* sites) const {
    const auto result = [&](int j) { return near_result(y + j, sites[j]); };
    if (writes_usual() && count >= 8) write_eight(y, result);
    else write(y, count, result);
  }
  /// Of an element of row y, from what a search says of it.
  __device__ Result near_result(int y, unsigned word) const {
    const int steps = WindowSites::steps(word);
    const std::int32_t rows = WindowSites::along_z_of(steps) * ny_ + WindowSites::along_line_of(steps);
    return {WindowSites::square(word), site(y, {0, 0}) + rows * nx_ + WindowSites::along_x(word)};
  }
  /// Up to eight rows. @param result  of the first, the second and so on
  template <class Of>
  __device__ void write(int y, int count, Of&& result) const {
    if (!is_there_) return;
    if (!emitter_.plain.serves) {
      Result results[8];
#pragma unroll
      for (int j = 0; j < 8; ++j) results[j] = result(j);
      return emit(y, count, results);
    }
    PlainSites::Row row = emitter_.plain.down(row_, y);
#pragma unroll
    for (int j = 0; j < 8; ++j, emitter_.plain.advance(row)) {
      if (j >= count) break;
      const Result r = result(j);
      emitter_.plain.write(row, x_, distance_of(r), r.site);
    }
  }

 private:
  /// Whether float distances of all elements are wanted, and indices of 32 bits.
  __device__ bool writes_usual() const {
    return emitter_.plain.serves && emitter_.plain.distance.data && !emitter_.plain.is_long;
  }
  /// Those, of rows that are all there, without a question for each.
  template <class Of>
  __device__ void write_eight(int y, Of&& result) const {
    const PlainSites& plain = emitter_.plain;
    const PlainSites::Row row = plain.down(row_, y);
    if (!is_there_) return;
    float* distance = row.distance + x_;
    std::byte* site = row.nearest + x_ * std::int64_t{sizeof(std::int32_t)};
#pragma unroll
    for (int j = 0; j < 8; ++j, distance += plain.distance.y_stride, site += plain.nearest.y_stride) {
      const Result r = result(j);
      __stcs(distance, distance_of(r));
      __stcs(reinterpret_cast<std::int32_t*>(site), r.site);
    }
  }
  static __device__ float distance_of(const Result& result) {
    return result.square == UINT32_MAX ? __int_as_float(0x7F800000) : small_root(small_float(result.square));
  }
  __device__ __noinline__ void emit(int y, int count, const Result* results) const {
    for (int j = 0; j < min(count, 8); ++j) {
      const std::int64_t in_volume[] = {z_, y + j, first_x_ + x_}, *at = in_volume + 3 - emitter_.input.rank;
      const bool none = results[j].square == UINT32_MAX;
      const std::int64_t square = none ? no_value<std::int64_t>() : std::int64_t{results[j].square};
      if (emitter_.in_region(at)) emitter_.emit(item_, at, square, results[j].site);
    }
  }

  const Emitter<std::int64_t>& emitter_;
  const std::int64_t item_;
  const std::int32_t z_, x_, first_x_, nx_, ny_;
  const bool is_there_;
  const PlainSites::Row row_;  ///< of y = 0
};

template <int kThreads, int kChunk>
__global__ void __launch_bounds__(kThreads, kEnvelopeThreads / kThreads)
    envelope_sites_along_y(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  extern __shared__ uint4 envelope_shared[];
  const int n = v.ny;
  const unsigned jobs = v.counters[1];
  const SitePlaces<kChunk> places(reinterpret_cast<std::byte*>(envelope_shared) + envelope_memory(n, kChunk), n);
  const int lane = static_cast<int>(threadIdx.x) % 16;
  for (unsigned job = blockIdx.x; job < jobs; job += gridDim.x) {
    const HalfTile half = half_along_y(v, v.y_list[job]);
    const SitesOfRows sites(v, half);
    const auto load = [&](unsigned* value, int first, int) {
#pragma unroll
      for (int r = 0; r < kChunk; ++r) value[r] = sites.lead(min(first + r, n - 1));
      unsigned right = 0;
#pragma unroll
      for (int r = 0; r < kChunk; ++r) {
        const bool there = first + r < n && value[r] != Leads::kNone;
        const SitesOfRows::Steps way = sites.way_by(value[r], min(first + r, n - 1));
        right |= unsigned{way.x > 0} << r;
        if (there) places.planes[(first + r) * 16 + lane] = static_cast<std::uint16_t>(sites.z() + way.z);
        value[r] = there ? way.square() : kNone32;
      }
      places.put_sides(first, lane, right);
    };
    const SiteWriter writer(v, emitter, half);
    const auto store = [&](int y0, const unsigned* winners, int count) {
      if (count == 0) return;
      writer.write(y0, count, [&](int j) {
        if (winners[j] == kNoKey) return SiteWriter::Result{UINT32_MAX, -1};
        const auto y = static_cast<int>(winners[j] & kKeyIndex);
        const unsigned square = winners[j] >> 10;
        const int along_y = y - (y0 + j), along_z = places.planes[y * 16 + lane] - sites.z();
        const int along_x = root_of_square(square - static_cast<unsigned>(along_y * along_y + along_z * along_z));
        return SiteWriter::Result{square, writer.site(y, {places.is_right(y, lane) ? along_x : -along_x, along_z})};
      });
    };
    using Sites = Envelope<kThreads, kChunk, Finding::least_companion>;
    Sites(reinterpret_cast<unsigned*>(envelope_shared), n, places.planes).run(load, store);
  }
}

}  // namespace fathom::grid::cuda
