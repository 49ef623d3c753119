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
#include "grid/cuda/volume_gaps.cuh"

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

  static __device__ bool is_far(unsigned lead) { return lead - kFirstFar < static_cast<unsigned>(kLongestKeyed); }

  /// From what a search along z found.
  static __device__ unsigned of(unsigned site) {
    const int along_z = WindowSites::along_line(site);
    const int along_x = root_of_square(WindowSites::square(site) - static_cast<unsigned>(along_z * along_z));
    return static_cast<unsigned>(along_x) << 9 | (site & 0x1FF);
  }
  static __device__ unsigned along_x(unsigned lead) { return lead >> 9; }
  static __device__ int along_z(unsigned lead) { return static_cast<int>(lead >> 1 & 255) - 128; }
  /// A near one as a search along y compares it.
  static __device__ unsigned site(unsigned lead) {
    const int z = along_z(lead);
    const unsigned square = along_x(lead) * along_x(lead) + static_cast<unsigned>(z * z);
    return square * WindowSites::kSquare + ((lead & 0x1FE) << 8 | WindowSites::kHere | (lead & 1));
  }
};

/// Bytes of dynamic shared memory: z of the sites of a tile along y, behind an envelope: [row][16]
inline __host__ __device__ std::size_t planes_memory(int rows) {
  return static_cast<std::size_t>(row_groups(rows)) * 8 * 16 * sizeof(std::uint16_t);
}

/// Distances inside a byte of sites to the nearest on the left and on the right, one per bit; 255: none.
struct ByteSides {
  uint2 left[256], right[256];
};
constexpr ByteSides make_byte_sides() {
  ByteSides sides{};
  for (unsigned byte = 0; byte < 256; ++byte)
    for (int x = 0; x < 8; ++x) {
      unsigned to_left = 255, to_right = 255;
      for (int k = 7; k >= 0; --k) {
        if ((byte >> k & 1) == 0) continue;
        if (k > x) to_right = static_cast<unsigned>(k - x);
        else if (to_left == 255) to_left = static_cast<unsigned>(x - k);
      }
      if (byte >> x & 1) to_right = 0;
      const int shift = x % 4 * 8;
      (x < 4 ? sides.left[byte].x : sides.left[byte].y) |= to_left << shift;
      (x < 4 ? sides.right[byte].x : sides.right[byte].y) |= to_right << shift;
    }
  return sides;
}
static __device__ const ByteSides kByteSides = make_byte_sides();

/// The nearest sites along x of 8 neighbours, as a search along z compares them.
struct EightSites {
  unsigned site[8];

  /// @param first   bit of the first
  /// @param inside  how many of them lie inside the volume, from 8 on all: the others keep no search busy
  __device__ EightSites(uint2 word, int first, int inside, const ByteSides& sides) {
    const StepsOutside outside(word, first);
    const unsigned byte = word.x >> first & 255;
    const uint2 on_left = sides.left[byte], on_right = sides.right[byte];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const unsigned l = k < 2 ? on_left.x : on_left.y, r = k < 2 ? on_right.x : on_right.y;
      const unsigned from_left = static_cast<unsigned>(2 * k) | static_cast<unsigned>(2 * k + 1) << 16;
      const unsigned from_right = static_cast<unsigned>(7 - 2 * k) | static_cast<unsigned>(6 - 2 * k) << 16;
      const unsigned to_left =
          __viaddmin_u16x2(outside.left * 0x10001u, from_left, k % 2 ? widen<0xB3A2>(l) : widen<0x9180>(l));
      const unsigned to_right =
          __viaddmin_u16x2(outside.right * 0x10001u, from_right, k % 2 ? widen<0xB3A2>(r) : widen<0x9180>(r));
      // Steps · 2, and 1 for those to the right: of two that are as near the left one is less.
      const unsigned both = __vimin3_u16x2(to_left << 1, to_right << 1 | 0x10001u, 2 * WindowSites::kFar * 0x10001u);
      site[2 * k] = of(both & 0xFFFFu);
      site[2 * k + 1] = of(both >> 16);
    }
#pragma unroll
    for (int k = 0; k < 8; ++k)
      if (k >= inside) site[k] = WindowSites::kHere;
  }

 private:
  static __device__ unsigned of(unsigned twice) {
    const unsigned steps = twice >> 1;
    return steps * steps * WindowSites::kSquare + (WindowSites::kHere | (twice & 1));
  }
};

/// Rows along z of which a search wants one with a site near.
inline constexpr int kStretchOfSites = 128;

template <int kThreads>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResidentThreads / kThreads))
    search_sites_along_z(const __grid_constant__ Volume v) {
  extern __shared__ uint4 window_shared[];
  __shared__ int work;
  __shared__ unsigned near_of_warps[kThreads / 32];
  __shared__ ByteSides sides;
  v.clear_counter(1);
  const int t = static_cast<int>(threadIdx.x), n = v.nz, lane = t % 16;
  const HalfTile half = narrow_half_along_z(v, blockIdx.x);
  if (half.is_outside(v)) return;
  const uint2* line = v.word_line(half.tile);
  bool any = false;
  NearRows<kThreads, false, kStretchOfSites> near;
  for (int r = t; r < n; r += kThreads) {
    const uint2 word = __ldg(line + r);
    const unsigned outside = min(word.y & 0xFFFFu, word.y >> 16);
    any |= word.x != 0 || outside != kNoneInWord;
    near.add(r, word.x != 0 || outside < WindowSites::kFar);
  }
  near.put(near_of_warps);
  WindowRows<WindowSites> rows(reinterpret_cast<unsigned*>(window_shared), n);
  if (t == 0) work = 0;
  for (int i = t; i < 256; i += kThreads) {
    sides.left[i] = kByteSides.left[i];
    sides.right[i] = kByteSides.right[i];
  }
  rows.pad(n);
  std::uint16_t* leads = narrow_half(v, half, 0, half.tile.line) + lane;
  const std::int64_t step = std::int64_t{v.ny} * 32;
  if (!__syncthreads_or(any)) {
    for (int r = t / 16; r < n; r += kThreads / 16) leads[r * step] = Leads::kNone;
    return;
  }
  if (!near.suffice(near_of_warps, n, 0)) {  // a search would be long
    if (t == 0) enlist(v.z_list, v.counters, blockIdx.x);
    return;
  }
  const int first = half.first + t % 2 * 8;
#pragma unroll 4
  for (int r = t / 2; r < n; r += kThreads / 2) {
    const uint2 word = __ldg(line + r);
    const EightSites eight(word, first, v.nx - half.tile.word * 32 - first, sides);
    const unsigned* site = eight.site;
    rows.put(r, t % 2 * 2, make_uint4(site[0], site[1], site[2], site[3]));
    rows.put(r, t % 2 * 2 + 1, make_uint4(site[4], site[5], site[6], site[7]));
  }
  __syncthreads();
  bool failed = false;
  int took = 0;
  for (int q0 = t / 32 * 2; !failed && q0 < rows.groups; q0 += kThreads / 16) {
    const int q = q0 + lane_id() / 16;
    GapWindow<WindowSites> window(rows, min(q, rows.groups - 1), lane);
    failed = !window.search(&work, GapWindow<WindowSites>::budget_of(n), &took);
    std::uint16_t* to = leads + q * 8 * step;
#pragma unroll
    for (int j = 0; j < 8; ++j, to += step)
      if (!failed && q * 8 + j < n) *to = static_cast<std::uint16_t>(Leads::of(window.best[j]));
  }
  if (__syncthreads_or(failed) && t == 0) enlist(v.z_list, v.counters, blockIdx.x);
}

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
  /// To the site of row y, which has one in this thread's column.
  __device__ Steps way(int y) const {
    const unsigned lead = this->lead(y);
    const Steps way = steps_by(lead, y);
    return Leads::is_far(lead) || (lead & 1) ? way : Steps{-way.x, way.z};
  }
  /// As a search along y compares them: of eight neighbours in row y, from the tile's column `first` on. They are far
  /// together.
  __device__ void sites(const EightLeads& eight, int y, int first, unsigned* site) const {
    if (!Leads::is_far(eight.lead[0])) {
#pragma unroll
      for (int k = 0; k < 8; ++k) site[k] = Leads::site(eight.lead[k]);
      return;
    }
    uint2 word[8];  // all are read before any is looked at, so that the waits are one
#pragma unroll
    for (int k = 0; k < 8; ++k) word[k] = __ldg(words_ + y * depth_ + (eight.lead[k] - Leads::kFirstFar));
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int z = static_cast<int>(eight.lead[k] - Leads::kFirstFar) - z_;
      site[k] = far_site({steps_along_x(word[k], first_bit_ + first + k), z});
    }
  }
  __device__ int z() const { return z_; }

 private:
  static __device__ unsigned far_site(Steps way) {
    if (way.square() >= WindowSites::kFar * WindowSites::kFar) return WindowSites::kNone;
    return way.square() * WindowSites::kSquare +
           (static_cast<unsigned>(way.z + 128) << 9 | WindowSites::kHere | unsigned{way.x > 0});
  }

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
    std::int32_t site;
  };
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
      const bool none = r.square == UINT32_MAX;
      emitter_.plain.write(row, x_, none ? __int_as_float(0x7F800000) : small_root(small_float(r.square)),
                           none ? -1 : r.site);
    }
  }

 private:
  __device__ __noinline__ void emit(int y, int count, const Result* results) const {
    for (int j = 0; j < min(count, 8); ++j) {
      const std::int64_t in_volume[] = {z_, y + j, first_x_ + x_}, *at = in_volume + 3 - emitter_.input.rank;
      const bool none = results[j].square == UINT32_MAX;
      const std::int64_t square = none ? no_value<std::int64_t>() : std::int64_t{results[j].square};
      if (emitter_.in_region(at)) emitter_.emit(item_, at, square, none ? -1 : results[j].site);
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
  auto* planes =
      reinterpret_cast<std::uint16_t*>(reinterpret_cast<std::byte*>(envelope_shared) + envelope_memory(n, kChunk));
  const std::uint16_t* column = planes + threadIdx.x % 16;
  for (unsigned job = blockIdx.x; job < jobs; job += gridDim.x) {
    const HalfTile half = half_along_y(v, v.y_list[job]);
    const SitesOfRows sites(v, half);
    const auto load = [&](unsigned* value, int first, int lane) {
#pragma unroll
      for (int r = 0; r < kChunk; ++r) value[r] = sites.lead(min(first + r, n - 1));
#pragma unroll
      for (int r = 0; r < kChunk; ++r) {
        const bool there = first + r < n && value[r] != Leads::kNone;
        const SitesOfRows::Steps way = sites.steps_by(value[r], min(first + r, n - 1));
        if (there) planes[(first + r) * 16 + lane] = static_cast<std::uint16_t>(sites.z() + way.z);
        value[r] = there ? way.square() : kNone32;
      }
    };
    const SiteWriter writer(v, emitter, half);
    const auto store = [&](int y0, const unsigned* winners, int count) {
      if (count == 0) return;
      std::int32_t site[8];  // all that is read is read before anything is written, so that the waits are one
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const auto y = static_cast<int>(winners[j] & kKeyIndex);
        site[j] = winners[j] == kNoKey ? -1 : writer.site(y, sites.steps(y, column[y * 16]));
      }
      writer.write(y0, count, [&](int j) {
        return SiteWriter::Result{winners[j] == kNoKey ? UINT32_MAX : winners[j] >> 10, site[j]};
      });
    };
    using Sites = Envelope<kThreads, kChunk, Finding::least_companion>;
    Sites(reinterpret_cast<unsigned*>(envelope_shared), n, planes).run(load, store);
  }
}

}  // namespace fathom::grid::cuda
