// Small images whole: axes of at most 128 elements, so that squared distances fit 16 bits however far the sites are.
//
// Words of 32 bits along rows are packed first. Work mapping: persistent blocks, an image after the other in shared
// memory. Phase 1: distances along rows from the words, squared, thread = 8 neighbours. Phase 2: the window of
// volume_window.cuh along columns, half warp = 8 rows of 32 columns, which is done at the latest when all rows are
// seen. Labels have words of their own (small_labels.cuh), and the ends of runs as in volumes; nearest sites are a
// kernel of their own (small_sites.cuh).
//
// Cost: every element is read once, an eighth of a byte written and read for it, half a byte of labels, then its
// distance written: no search is left to other kernels.
#pragma once

#include "grid/cuda/volume_row_squares.cuh"
#include "grid/cuda/volume_window.cuh"
#include "grid/cuda/volume_words.cuh"
#include "grid/cuda/volume_writer.cuh"

namespace fathom::grid::cuda {

inline constexpr int kSmallAxis = 128;
using SmallSquares = RowSquares<kCap16>;
static_assert(2 * (kSmallAxis - 1) * (kSmallAxis - 1) < kCap16 * kCap16, "a distance is no missing site");
static_assert(SmallSquares::most() + kSmallAxis * kSmallAxis < 1 << 16, "a step wraps nothing");

/// Images as volumes of one plane, also as far as their labels go.
struct SmallImages {
  Volume volume;                  ///< y, x; depth 1
  std::uint32_t* bits = nullptr;  ///< [items][ny][words]

  __device__ std::uint32_t* words_of(std::int64_t item) const { return bits + item * volume.ny * volume.words; }
};

/// Block = image. Aligned bytes: thread = half a word; else warp = word, lane = element.
template <Reading kReading>
__global__ void __launch_bounds__(kSmallPackBlock)
    pack_small_images(const __grid_constant__ SmallImages images, const __grid_constant__ Mask mask) {
  const Volume& v = images.volume;
  const int t = static_cast<int>(threadIdx.x);
  const std::int64_t first = mask.input.items.offset(v.first_item + blockIdx.x);
  const std::int64_t step = mask.input.rank == 1 ? 0 : mask.input.stride[0];
  std::uint32_t* words = images.words_of(blockIdx.x);
  if constexpr (kReading == Reading::aligned_bytes) {
    const int halves = 2 * v.words;
    for (int i = t; i < v.ny * halves; i += kSmallPackBlock) {
      const int y = i / halves, x = i % halves * 16;
      unsigned sites = 0;
      if (x < v.nx) {
        sites = nonzero_bytes(__ldcs(reinterpret_cast<const uint4*>(mask.input.data + first + y * step + x)));
        if (mask.is_zero_site()) sites = ~sites;
      }
      reinterpret_cast<std::uint16_t*>(words)[i] = static_cast<std::uint16_t>(sites);
    }
  } else {
#pragma unroll 4
    for (int i = t / 32; i < v.ny * v.words; i += kSmallPackBlock / 32) {
      const int y = i / v.words, x = i % v.words * 32 + lane_id();
      const std::int64_t at = first + y * step + x;
      bool is_site = x < v.nx;
      if constexpr (kReading == Reading::elements) is_site = is_site && mask.is_site(at);
      else is_site = is_site && (mask.input.data[at] == std::byte{0}) == mask.is_zero_site();
      const unsigned sites = __ballot_sync(kAllLanes, is_site);
      if (lane_id() == 0) words[i] = sites;
    }
  }
}

/// Word `w` of a row, with the steps from its ends to the nearest sites of the others, `beyond` the bits.
__device__ inline uint2 with_steps(const std::uint32_t* row, int words, int w, int beyond = 0) {
  unsigned left = kNoneInWord, right = kNoneInWord;
  for (int k = 0; k < w; ++k)
    if (row[k]) left = static_cast<unsigned>(32 * (w - k - 1) + 1 + __clz(static_cast<int>(row[k])) + beyond);
  for (int k = words - 1; k > w; --k)
    if (row[k]) right = static_cast<unsigned>(32 * (k - w - 1) + __ffs(static_cast<int>(row[k])) + beyond);
  return make_uint2(row[w], left | right << 16);
}

/// An image's tiles in shared memory, side by side.
template <Writing kWriting>
class SmallImage {
 public:
  static constexpr bool kLabels = is_of_labels(kWriting);

  __device__ SmallImage(const SmallImages& images, unsigned* memory, const uint2* of_byte, RunWords<kLabels>& run_words)
      : images_(images), v_(images.volume), memory_(memory), of_byte_(of_byte), run_words_(run_words) {}

  /// Rows behind the last.
  __device__ void pad() const {
    for (int w = 0; w < v_.words; ++w) tile(w).pad(v_.ny);
  }

  /// By all threads of the block. @returns whether the thread has seen a site
  __device__ bool load(std::int64_t item) const {
    const std::uint32_t* bits = images_.words_of(item);
    bool any = false;
    const int quarter = static_cast<int>(threadIdx.x) % 4;
    for (int w = 0; w < v_.words; ++w) {
      if constexpr (kLabels) any |= ends(w).fill([&](int y) { return runs(item, w, y); });
      auto rows = tile(w);
      const uint4 inside = pairs_inside(v_.nx - w * 32 - quarter * 8);
      for (int y = static_cast<int>(threadIdx.x) / 4; y < v_.ny; y += static_cast<int>(blockDim.x) / 4) {
        const uint2 word = with_steps(bits + y * v_.words, v_.words, w, kLabels);
        any |= word.x != 0;
        rows.put(y, quarter, SmallSquares(word, quarter * 8, of_byte_, kLabels).within(inside));
      }
    }
    return any;
  }

  __device__ void solve(std::int64_t item, const Emitter<std::int64_t>& emitter) const {
    const int groups = row_groups(v_.ny), jobs = (groups + 1) / 2 * v_.words;
    for (int job = warp_number(); job < jobs; job += static_cast<int>(blockDim.x) / 32) {
      const int w = job % v_.words, q0 = job / v_.words * 2, q = q0 + lane_id() / 16;
      const auto rows = tile(w);
      Window<WindowPairs> window(rows, min(q, groups - 1), lane_id() % 16);
      if constexpr (kLabels) ends(w).bound_pairs(min(q, groups - 1), lane_id() % 16, window.best);
#pragma unroll
      for (int j = 0; j < 8; ++j)  // rows behind the last must not keep the warp busy
        if (q * 8 + j >= v_.ny) window.best[j] = 0;
      const int farthest = max(q0 + 1, groups - 1 - q0);  // group of rows, from the warp's
      window.search_while([&](int m) { return m < farthest; });
      const Volume::Tile place{item, w, 0};
      const VolumeWriter<kWriting> writer(v_, emitter, place);
      writer.write_pairs(q * 8, window.best);
    }
  }

  __device__ void write_none(std::int64_t item, const Emitter<std::int64_t>& emitter) const {
    for (int w = 0; w < v_.words; ++w) {
      const Volume::Tile place{item, w, 0};
      const VolumeWriter<kWriting> writer(v_, emitter, place);
      for (int q = static_cast<int>(threadIdx.x) / 32; q < row_groups(v_.ny); q += static_cast<int>(blockDim.x) / 32)
        writer.write_none(q * 8, w * 32 + lane_id());
    }
  }

 private:
  /// Words `w` of all rows.
  __device__ WindowRows<WindowPairs> tile(int w) const {
    return {memory_ + w * static_cast<int>(window_memory(v_.ny) / sizeof(unsigned)), v_.ny};
  }

  __device__ RunEnds ends(int w) const { return RunEnds(run_words_, v_.ny, w * kSmallAxis); }
  /// Changes along y, and the elements that need no search.
  __device__ uint2 runs(std::int64_t item, int w, int y) const {
    const Volume::Tile row{item, w, y};
    const uint2 pinned = v_.runs_along_z(row, v_.changes_along_z(row), 0);
    return make_uint2(__ldg(v_.changes_along_y({item, w, 0}) + y), pinned.y);
  }

  const SmallImages& images_;
  const Volume& v_;
  unsigned* memory_;
  const uint2* of_byte_;
  RunWords<kLabels>& run_words_;
};

template <Writing kWriting>
__global__ void __launch_bounds__(kSmallBlock,
                                  search_blocks(kSmallBlock, is_of_labels(kWriting) || is_general(kWriting)))
    solve_small_images(const __grid_constant__ SmallImages images,
                       const __grid_constant__ Emitter<std::int64_t> emitter) {
  extern __shared__ uint4 small_shared[];
  constexpr bool kLabels = is_of_labels(kWriting);
  __shared__ uint2 of_byte[256];
  __shared__ RunWords<kLabels> run_words;
  const SmallImage<kWriting> image(images, reinterpret_cast<unsigned*>(small_shared), of_byte, run_words);
  const uint2* squares = kLabels ? kByteSquaresBeyond.of : kByteSquares.of;
  for (int i = static_cast<int>(threadIdx.x); i < 256; i += static_cast<int>(blockDim.x)) of_byte[i] = squares[i];
  image.pad();
  for (std::int64_t item = blockIdx.x; item < images.volume.items; item += gridDim.x) {
    __syncthreads();  // the table is there, the image before is done
    if (__syncthreads_or(image.load(item))) image.solve(item, emitter);
    else image.write_none(item, emitter);
  }
}

}  // namespace fathom::grid::cuda
