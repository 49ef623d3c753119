// Nearest sites of small images whole, as small/small_images.cuh does distances; of labels as
// volume/spaced/label_sites.cuh has it.
//
// Work mapping: persistent blocks, an image after the other in shared memory. Phase 1: the nearest sites along rows
// from the words, thread = 4 neighbours. Phase 2: the window along columns, half warp = 8 rows of 16 columns. What is
// compared has the steps to the site in it, so that of equally near ones the first is least.
//
// Cost: as without sites, with 32 bits in place of 16.
#pragma once

#include "grid/cuda/extremes.cuh"
#include "grid/cuda/small/small_images.cuh"
#include "grid/cuda/volume/nearest/sites.cuh"
#include "grid/cuda/volume/spaced/label_sites.cuh"

namespace fathom::grid::cuda::small {

/// square · 2⁹ + (steps along y + 128) · 2 + whether the site lies to the right.
struct SmallSites {
  using Stored = SmallSites;
  static constexpr unsigned kSquare = 1u << 9;
  static constexpr unsigned kStep = 2;
  static constexpr unsigned kTies = 1;
  static constexpr unsigned kHere = 128 * kStep;  ///< no steps
  static constexpr unsigned kNone = kCap16 * kCap16 * kSquare + kHere;
  static_assert(kSmallAxis <= 128 && kCap16 * kCap16 + kSmallAxis * kSmallAxis < 1u << 23, "a step wraps nothing");

  static __device__ unsigned from(unsigned stored) { return stored; }
  static __device__ unsigned square(unsigned word) { return word >> 9; }
  static __device__ int along_y(unsigned word) { return static_cast<int>(word >> 1 & 255) - 128; }
  /// Of a site some steps to the right, or to the left.
  static __device__ unsigned along_row(int steps) {
    return static_cast<unsigned>(steps * steps) * kSquare + kHere + unsigned{steps > 0};
  }
  /// Of a site some steps down, or up.
  static __device__ unsigned along_column(int steps) {
    return static_cast<unsigned>(steps * steps) * kSquare + kHere + static_cast<unsigned>(steps) * kStep;
  }

  static __device__ unsigned offer(unsigned value, unsigned square, unsigned best) {
    return __viaddmin_u32(value, square, best);
  }
  static __device__ unsigned largest(const unsigned* eight) { return square(greatest_of_eight(eight)); }
};

/// An image's halves of tiles in shared memory, side by side.
template <bool kLabels>
class SmallSitesImage {
 public:
  __device__ SmallSitesImage(const SmallImages& images, unsigned* memory, SmallRuns<kLabels>& run_words)
      : images_(images), v_(images.volume), halves_((v_.nx + 15) / 16), memory_(memory), run_words_(run_words) {}

  /// Rows behind the last.
  __device__ void pad() const {
    for (int h = 0; h < halves_; ++h) half(h).pad(v_.ny);
  }

  /// By all threads of the block. @returns whether the thread has seen a site
  __device__ bool load(std::int64_t item) const {
    const std::uint32_t* bits = images_.words_of(item);
    bool any = false;
    if constexpr (kLabels)
      for (int w = 0; w < v_.words; ++w)
        any |= run_ends(run_words_, v_.ny, w).fill([&](int y) { return images_.runs(item, w, y); });
    const int quarter = static_cast<int>(threadIdx.x) % 4;
    for (int y = static_cast<int>(threadIdx.x) / 4; y < v_.ny; y += static_cast<int>(blockDim.x) / 4) {
      const SmallRow row(bits + y * v_.words, v_.words, kLabels);
      any |= row.has_bits();
#pragma unroll
      for (int h = 0; h < 2 * SmallRow::kMostWords; ++h) {
        if (h >= halves_) break;
        half(h).put(y, quarter, four(row[h / 2], h * 16 + quarter * 4));
      }
    }
    return any;
  }

  __device__ void solve(std::int64_t item, const Emitter<std::int64_t>& emitter) const {
    const int groups = row_groups(v_.ny);
    for (int job = warp_number(); job < jobs(); job += static_cast<int>(blockDim.x) / 32) {
      const int h = job % halves_, q0 = job / halves_ * 2, q = q0 + lane_id() / 16;
      const auto rows = half(h);
      Window<SmallSites> window(rows, min(q, groups - 1), lane_id() % 16);
      if constexpr (kLabels) offer_ends(h, min(q, groups - 1), window.best);
#pragma unroll
      for (int j = 0; j < 8; ++j)  // rows behind the last must not keep the warp busy
        if (q * 8 + j >= v_.ny) window.best[j] = SmallSites::kHere;
      const int farthest = max(q0 + 1, groups - 1 - q0);  // group of rows, from the warp's
      window.search_while([&](int m) { return m < farthest; });
      const SiteWriter writer = writer_of(item, h, emitter);
      const auto result = [&](int j) {
        const unsigned best = window.best[j];
        return writer.result(q * 8 + j, SmallSites::square(best), SmallSites::along_y(best), 0, best & 1);
      };
      writer.write_group(q * 8, v_.ny - q * 8, result, inside(item, h, q * 8));
    }
  }

  __device__ void write_none(std::int64_t item, const Emitter<std::int64_t>& emitter) const {
    const auto none = [](int) { return SiteWriter::NoSite{}; };
    for (int job = warp_number(); job < jobs(); job += static_cast<int>(blockDim.x) / 32) {
      const int h = job % halves_, y = (job / halves_ * 2 + lane_id() / 16) * 8;
      writer_of(item, h, emitter).write_group(y, v_.ny - y, none, inside(item, h, y));
    }
  }

 private:
  /// Of a warp: two groups of eight rows of a half.
  __device__ int jobs() const { return (row_groups(v_.ny) + 1) / 2 * halves_; }
  /// Of signed labels: which of eight rows of this lane's column are not label 0.
  __device__ unsigned inside(std::int64_t item, int h, int y) const {
    unsigned inside = 0;
    if constexpr (kLabels) {
      if (v_.pins) return inside;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const Volume::Tile row{item, h / 2, min(y + j, v_.ny - 1)};
        const unsigned background = __ldg(&v_.changes_along_z(row)->y);
        inside |= (~background >> (h % 2 * 16 + lane_id() % 16) & 1) << j;
      }
    }
    return inside;
  }
  /// What lies beyond the ends of the runs of eight rows of this lane's column, and the elements that need no search.
  __device__ void offer_ends(int h, int group, unsigned* best) const {
    const RunEnds runs = run_ends(run_words_, v_.ny, h / 2);
    const int line = h % 2 * 16 + lane_id() % 16;
    int steps[8];
    runs.nearest(group, line, kSmallAxis, steps);
    const unsigned settled = runs.settled(group, line);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      if (steps[j]) best[j] = min(best[j], SmallSites::along_column(steps[j]));
      if (settled >> j & 1) best[j] = SmallSites::kHere;
    }
  }

  __device__ WindowRows<SmallSites> half(int h) const {
    return {memory_ + h * static_cast<int>(window_memory(v_.ny) / sizeof(unsigned)), v_.ny};
  }
  __device__ SiteWriter writer_of(std::int64_t item, int h, const Emitter<std::int64_t>& emitter) const {
    return {v_, emitter, {item, h / 2, 0}, h * 16 + lane_id() % 16};
  }
  /// Neighbours from column `x` on; those beyond the last keep no search busy.
  __device__ uint4 four(uint2 word, int x) const {
    unsigned sites[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int steps = kLabels ? steps_beyond_run(word, x % 32 + k) : steps_along_x(word, x % 32 + k);
      sites[k] = abs(steps) < static_cast<int>(kNoneInWord) ? SmallSites::along_row(steps) : SmallSites::kNone;
      if (x + k >= v_.nx) sites[k] = SmallSites::kHere;
    }
    return make_uint4(sites[0], sites[1], sites[2], sites[3]);
  }

  const SmallImages& images_;
  const Volume& v_;
  const int halves_;
  unsigned* memory_;
  SmallRuns<kLabels>& run_words_;
};

template <bool kLabels>
__global__ void __launch_bounds__(kSmallBlock, search_blocks(kSmallBlock, true))
    solve_small_sites(const __grid_constant__ SmallImages images,
                      const __grid_constant__ Emitter<std::int64_t> emitter) {
  extern __shared__ uint4 small_shared[];
  __shared__ SmallRuns<kLabels> run_words;
  const SmallSitesImage<kLabels> image(images, reinterpret_cast<unsigned*>(small_shared), run_words);
  image.pad();
  for (std::int64_t item = blockIdx.x; item < images.volume.items; item += gridDim.x) {
    __syncthreads();  // the image before is done
    if (__syncthreads_or(image.load(item))) image.solve(item, emitter);
    else image.write_none(item, emitter);
  }
}

}  // namespace fathom::grid::cuda::small
