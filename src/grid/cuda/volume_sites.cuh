// The passes of volumes with nearest sites: those of volume_window.cuh and volume_envelope.cuh with keys in place of
// squares.
//
// A key is a squared distance · 2¹⁰ plus the coordinate of the site along the axis of the pass, so that the least key is
// that of the lowest coordinate among the nearest. The slowest axis comes last (Volume's y; its z is the axis between):
// so the coordinate that it finds is that of the site with the lowest linear index, the one that the pass before left at
// that coordinate is its second, and the word of that row says the third.
//
// Work mapping: as without sites, but a tile is 16 neighbours along x, half a word, by one whole line. Between the passes
// keys lie where indices will be, if nothing but these and distances is wanted. Cost: 8 bytes are moved per element between
// the passes, in place of 4.
#pragma once

#include "grid/cuda/volume_envelope.cuh"

namespace fathom::grid::cuda {

/// A half of the tile whose number is the job's half.
struct HalfTile {
  Volume::Tile tile;
  int first;  ///< bit of the word
  int x;      ///< column of this thread

  __device__ HalfTile(const Volume& v, std::uint32_t job, std::int32_t lines)
      : tile(v.tile(job / 2, lines)),
        first(static_cast<int>(job % 2) * 16),
        x(tile.word * 32 + first + static_cast<int>(threadIdx.x) % 16) {}

  /// Whether the tile lies behind the volume's last column.
  __device__ bool is_outside(const Volume& v) const { return tile.word * 32 + first >= v.nx; }
  /// The thread's column of row (z, y) after the pass along z; beyond the last column that one, which is only to be read.
  __device__ std::uint32_t* keys(const Volume& v, std::int32_t z, std::int32_t y) const {
    return v.keys.row(v.keys_first_item + tile.item, y, z) + min(x, v.nx - 1) * v.key_step;
  }
};

/// Coordinates along z of the sites of a tile along y, behind the rows in shared memory: [row][16]
inline __host__ __device__ std::size_t second_memory(int rows) {
  return static_cast<std::size_t>(row_groups(rows)) * 8 * 16 * sizeof(std::uint16_t);
}

template <int kThreads>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResidentThreads / kThreads))
    search_sites_along_z(const __grid_constant__ Volume v) {
  extern __shared__ uint4 window_shared[];
  __shared__ int work, near_rows;
  __shared__ uint2 of_byte[256];
  const int t = static_cast<int>(threadIdx.x), n = v.nz, lane = t % 16;
  const HalfTile half(v, blockIdx.x, v.ny);
  if (half.is_outside(v)) return;
  const uint2* line = v.word_line(half.tile);
  WindowRows<WindowKeys> rows(reinterpret_cast<unsigned*>(window_shared), n);
  if (t == 0) work = near_rows = 0;
  for (int i = t; i < 256; i += kThreads) of_byte[i] = kByteDistances.of[i];
  rows.pad(n);
  __syncthreads();
  bool any = false;
  int near = 0;
#pragma unroll 4
  for (int r = t / 2; r < n; r += kThreads / 2) {
    const uint2 word = __ldg(line + r);
    const int first = half.first + t % 2 * 8;
    const EightDistances distances(word, first, of_byte);
    any |= word.x != 0 || word.y != kNoneInWord * 0x10001u;
    near += (word.x >> first & 255) != 0 || distances.nearest_outside < 64;
    unsigned keys[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const unsigned steps = distances.pair[k / 2] >> (16 * (k % 2)) & 0xFFFFu;
      keys[k] = (steps < kNoneInWord ? WindowKeys::of(steps * steps) : WindowKeys::kNone) | static_cast<unsigned>(r);
    }
    rows.put(r, t % 2 * 2, make_uint4(keys[0], keys[1], keys[2], keys[3]));
    rows.put(r, t % 2 * 2 + 1, make_uint4(keys[4], keys[5], keys[6], keys[7]));
  }
  add_over_block(near, &near_rows);
  std::uint32_t* keys = half.keys(v, 0, half.tile.line);
  const std::int64_t step = v.keys.y_stride;
  if (!__syncthreads_or(any)) {
    for (int r = t / 16; r < n && half.x < v.nx; r += kThreads / 16) keys[r * step] = WindowKeys::kNone;
    return;
  }
  // With sites near fewer than 1/32 of the rows, searches would be long.
  bool failed = near_rows * 16 < n;
  for (int q0 = t / 32 * 2; !failed && q0 < rows.groups; q0 += kThreads / 16) {
    const int q = q0 + lane_id() / 16;
    Window<WindowKeys> window(rows, min(q, rows.groups - 1), lane);
    failed = !window.search(&work, budget_of(n));
    std::uint32_t* to = keys + q * 8 * step;
#pragma unroll
    for (int j = 0; j < 8; ++j, to += step)
      if (!failed && half.x < v.nx && q * 8 + j < n) *to = window.best[j];
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
    const HalfTile half(v, v.z_list[job], v.ny);
    const EnvelopeRows<kThreads, kChunk> rows(envelope_shared);
    rows.load(v.word_line(half.tile), n, half.first, of_byte);
    std::uint32_t* keys = half.keys(v, 0, half.tile.line);
    const std::int64_t step = v.keys.y_stride;
    const auto load = [&](unsigned* value, int first, int lane) { rows.squares(value, first, lane, n); };
    const auto store = [&](int z, const unsigned* values, int values_count) {
      std::uint32_t* to = keys + z * step;
#pragma unroll
      for (int j = 0; j < 8; ++j, to += step)
        if (half.x < v.nx && j < values_count) *to = values[j];
    };
    Envelope<kThreads, kChunk, true>(reinterpret_cast<unsigned*>(envelope_shared), n).run(load, store);
  }
}

/// Results of a tile along y.
class SiteWriter {
 public:
  /// @param second  coordinates along z of the sites of all rows
  __device__ SiteWriter(const Volume& volume, const Emitter<std::int64_t>& emitter, const HalfTile& half,
                        const std::uint16_t* second)
      : v_(volume),
        emitter_(emitter),
        half_(half),
        bit_(half.first + static_cast<int>(threadIdx.x) % 16),
        x_(half.x),
        second_(second + threadIdx.x % 16),
        words_(volume.word_line({half.tile.item, half.tile.word, 0})),
        row_(emitter.plain.row(volume.first_item + half.tile.item, 0, half.tile.line)) {}

  /// Up to eight results along y of the lane's column.
  __device__ void write(int y, const unsigned* keys, int count) const {
    if (x_ >= v_.nx) return;
    std::int32_t sites[8];
    find_sites(keys, sites);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      if (j >= count) break;
      if (emitter_.plain.serves)
        emitter_.plain.write(emitter_.plain.down(row_, y + j), x_,
                             is_none(keys[j]) ? __int_as_float(0x7F800000) : small_root(square_of(keys[j])), sites[j]);
      else emit(y + j, keys[j], sites[j]);
    }
  }

 private:
  static __device__ bool is_none(unsigned key) { return key >= WindowKeys::kNone; }
  static __device__ float square_of(unsigned key) { return static_cast<float>(key >> WindowKeys::kIndexBits); }

  /// Linear indices of the nearest sites. All that is read is read before anything is written, so that the waits are one.
  /// There are at most 2³⁰ elements.
  __device__ void find_sites(const unsigned* keys, std::int32_t* sites) const {
    int z[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) z[j] = is_none(keys[j]) ? 0 : second_[(keys[j] & kKeyIndex) * 16];
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int y = is_none(keys[j]) ? 0 : static_cast<int>(keys[j] & kKeyIndex);
      const int x = v_.first_x + x_ + steps_to_site(words_[y * v_.depth + z[j]]);
      sites[j] = is_none(keys[j]) ? -1 : (y * v_.nz + z[j]) * static_cast<std::int32_t>(emitter_.input.extent[2]) + x;
    }
  }
  /// Along x, from the lane's bit of a word.
  __device__ int steps_to_site(uint2 word) const {
    const unsigned up = word.x & (0xFFFFFFFFu >> (31 - bit_)), down = word.x >> bit_;
    const int left = up ? bit_ - 31 + __clz(static_cast<int>(up)) : bit_ + static_cast<int>(word.y & 0xFFFFu);
    const int right = down ? __ffs(static_cast<int>(down)) - 1 : 31 - bit_ + static_cast<int>(word.y >> 16);
    return left <= right ? -left : right;
  }
  __device__ __noinline__ void emit(int y, unsigned key, std::int64_t site) const {
    const std::int64_t at[kMaxSpaceRank] = {y, half_.tile.line, v_.first_x + x_};
    const std::int64_t square = key >> WindowKeys::kIndexBits;
    if (emitter_.in_region(at))
      emitter_.emit(half_.tile.item, at, is_none(key) ? no_value<std::int64_t>() : square, site);
  }

  const Volume& v_;
  const Emitter<std::int64_t>& emitter_;
  const HalfTile& half_;
  const int bit_, x_;
  const std::uint16_t* second_;
  const uint2* words_;
  const PlainSites::Row row_;  ///< of y = 0
};

template <int kThreads>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResidentThreads / kThreads))
    search_sites_along_y(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  extern __shared__ uint4 window_shared[];
  __shared__ int work, near_rows;
  const int t = static_cast<int>(threadIdx.x), n = v.ny, lane = t % 16;
  const HalfTile half(v, blockIdx.x, v.nz);
  if (half.is_outside(v)) return;
  WindowRows<WindowKeys> rows(reinterpret_cast<unsigned*>(window_shared), n);
  auto* second = reinterpret_cast<std::uint16_t*>(reinterpret_cast<std::byte*>(window_shared) + window_memory(n));
  if (t == 0) work = near_rows = 0;
  rows.pad(n);
  __syncthreads();
  std::uint32_t* keys = half.keys(v, half.tile.line, 0);
  const std::int64_t step = v.keys.z_stride;
  bool any = false;
  int near = 0;
#pragma unroll 8
  for (int r = t / 16; r < n; r += kThreads / 16) {
    const unsigned key = keys[r * step];
    any |= key < WindowKeys::kNone;
    near += key < WindowKeys::of(64 * 64);
    rows.put(r, lane, (key & ~kKeyIndex) | static_cast<unsigned>(r));
    second[r * 16 + lane] = static_cast<std::uint16_t>(key & kKeyIndex);
  }
  add_over_block(near, &near_rows);
  const SiteWriter writer(v, emitter, half, second);
  if (!__syncthreads_or(any)) {
    const unsigned none[8] = {WindowKeys::kNone, WindowKeys::kNone, WindowKeys::kNone, WindowKeys::kNone,
                              WindowKeys::kNone, WindowKeys::kNone, WindowKeys::kNone, WindowKeys::kNone};
    for (int q = t / 16; q < rows.groups; q += kThreads / 16) writer.write(q * 8, none, n - q * 8);
    return;
  }
  bool failed = near_rows * 2 < n;
  for (int q0 = t / 32 * 2; !failed && q0 < rows.groups; q0 += kThreads / 16) {
    const int q = q0 + lane_id() / 16;
    Window<WindowKeys> window(rows, min(q, rows.groups - 1), lane);
    failed = !window.search(&work, budget_of(n));
    if (!failed) writer.write(q * 8, window.best, n - q * 8);
  }
  if (!__syncthreads_or(failed)) return;
  // Some keys have given way to results.
  for (int r = t / 16; r < n && half.x < v.nx; r += kThreads / 16)
    keys[r * step] = (rows.get(r, lane) & ~kKeyIndex) | second[r * 16 + lane];
  if (t == 0) enlist(v.y_list, v.counters + 1, blockIdx.x);
}

template <int kThreads, int kChunk>
__global__ void __launch_bounds__(kThreads, kEnvelopeThreads / kThreads)
    envelope_sites_along_y(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  extern __shared__ uint4 envelope_shared[];
  const int n = v.ny;
  const unsigned jobs = v.counters[1];
  auto* second =
      reinterpret_cast<std::uint16_t*>(reinterpret_cast<std::byte*>(envelope_shared) + envelope_memory(n, kChunk));
  for (unsigned job = blockIdx.x; job < jobs; job += gridDim.x) {
    const HalfTile half(v, v.y_list[job], v.nz);
    const std::uint32_t* keys = half.keys(v, half.tile.line, 0);
    const auto load = [&](unsigned* value, int first, int lane) {
#pragma unroll
      for (int r = 0; r < kChunk; ++r) {
        const int y = min(first + r, n - 1);  // no branch keeps the loads from being in flight together
        const unsigned key = keys[y * v.keys.z_stride];
        if (first + r < n) second[y * 16 + lane] = static_cast<std::uint16_t>(key & kKeyIndex);
        value[r] = key >= WindowKeys::kNone || first + r >= n ? kNone32 : key >> WindowKeys::kIndexBits;
      }
    };
    const SiteWriter writer(v, emitter, half, second);
    const auto store = [&](int y, const unsigned* values, int count) { writer.write(y, values, count); };
    Envelope<kThreads, kChunk, true>(reinterpret_cast<unsigned*>(envelope_shared), n).run(load, store);
  }
}

}  // namespace fathom::grid::cuda
