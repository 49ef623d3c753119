// Small images whole: axes of at most 128 elements, so that squared distances fit 16 bits however far the sites are.
//
// Words of 32 bits along rows are packed first. Work mapping: persistent blocks, an image after the other in shared
// memory. Phase 1: distances along rows from the words, squared, thread = 8 neighbours. Phase 2: the window of
// volume/window.cuh along columns, half warp = 8 rows of 32 columns, which is done at the latest when all rows are
// seen. Labels have words of their own (small/small_labels.cuh), and the ends of runs as in volumes; nearest sites are
// a kernel of their own (small/small_sites.cuh).
//
// Cost: every element is read once, an eighth of a byte written and read for it, half a byte of labels, then its
// distance written: no search is left to other kernels.
#pragma once

#include "grid/cuda/mask.cuh"
#include "grid/cuda/volume/row_squares.cuh"
#include "grid/cuda/volume/window.cuh"
#include "grid/cuda/volume/writer.cuh"

namespace fathom::grid::cuda::volume {}

namespace fathom::grid::cuda::small {

using namespace volume;  // whose tiles, windows and writers these are

inline constexpr int kSmallAxis = 128;
using SmallSquares = RowSquares<kCap16>;
static_assert(2 * (kSmallAxis - 1) * (kSmallAxis - 1) < kCap16 * kCap16, "a distance is no missing site");
static_assert(SmallSquares::most() + kSmallAxis * kSmallAxis < 1 << 16, "a step wraps nothing");

/// Words along columns, of all tiles of an image side by side.
template <bool kLabels>
using SmallRuns = RunWords<kLabels, kSmallAxis * kSmallAxis / 32>;

/// Images as volumes of one plane, also as far as their labels go.
struct SmallImages {
  Volume volume;                  ///< y, x; depth 1
  std::uint32_t* bits = nullptr;  ///< [items][ny][words]

  __device__ std::uint32_t* words_of(std::int64_t item) const { return bits + item * volume.ny * volume.words; }
  /// Of labels, a word of a row, which is the tile's line: bits where runs begin and end, changes along y, and label 0.
  __device__ void put_labels(const Volume::Tile& t, unsigned begins, unsigned ends, unsigned changes,
                             unsigned background) const {
    const std::int64_t turned = (t.item * volume.words + t.word) * volume.ny + t.line;
    // With nearest sites label 0, too, though the search does not ask for it: an image of it alone is not without bits.
    const unsigned marked = begins | (volume.keeps_changes ? 0 : ends) | (volume.pins ? background : 0);
    words_of(t.item)[t.line * volume.words + t.word] = marked;
    volume.along_y[turned] = changes;
    volume.along_z[turned] = make_uint2(0, background | ~first_bits(volume.nx - t.word * 32));
  }
  /// Of labels, in words `w` of row y: changes along y, and the elements that need no search.
  __device__ uint2 runs(std::int64_t item, int w, int y) const {
    const Volume::Tile row{item, w, y};
    const uint2 pinned = volume.runs_along_z(row, volume.changes_along_z(row), 0);
    return make_uint2(__ldg(volume.changes_along_y({item, w, 0}) + y), pinned.y);
  }
};

/// The runs of an image's columns, in words `w` of its rows.
template <bool kLabels>
__device__ RunEnds run_ends(SmallRuns<kLabels>& words, int rows, int w) {
  return RunEnds(words, rows, w * kSmallAxis);
}

/// The rows of an image that a warp packs: as many as have up to 32 words. All lanes read a word's elements, one after
/// the other, and each writes what has become of one of them.
class PackedRows {
 public:
  explicit __device__ PackedRows(const Volume& volume)
      : v_(volume), place_((std::int64_t{blockIdx.x} * kSmallPackBlock + threadIdx.x) / 32, warps(volume)) {}

  static __host__ __device__ int warps(const Volume& volume) { return (volume.ny + rows(volume) - 1) / rows(volume); }
  __device__ bool are_there() const { return item() < v_.items; }
  __device__ std::int64_t item() const { return place_.quotient; }

  /// @param take  of word i and this lane's element of it: take(i, y, x), which may lie behind the row's end; also of
  ///              words behind the last, in the last row, for nothing
  template <class Take>
  __device__ void for_words(Take&& take) const {
    constexpr int kTogether = 8;  // what is read for so many is on its way together
    int w = 0, y = first_row();
    for (int i0 = 0; i0 < count(); i0 += kTogether) {
#pragma unroll
      for (int i = i0; i < i0 + kTogether; ++i) {
        take(i, min(y, v_.ny - 1), w * 32 + lane_id());
        if (++w == v_.words) w = 0, ++y;
      }
    }
  }

  // The lane's own word.
  __device__ bool has_word() const { return lane_id() < count(); }
  __device__ int word() const { return lane_id() % v_.words; }
  __device__ int row() const { return first_row() + lane_id() / v_.words; }

 private:
  static __host__ __device__ int rows(const Volume& volume) { return 32 / volume.words; }
  __device__ int first_row() const { return static_cast<int>(place_.remainder) * rows(v_); }
  __device__ int count() const { return min(rows(v_), v_.ny - first_row()) * v_.words; }

  const Volume& v_;
  const Division place_;
};

/// Aligned bytes: thread = half a word; else warp = rows.
template <Reading kReading>
__global__ void __launch_bounds__(kSmallPackBlock)
    pack_small_images(const __grid_constant__ SmallImages images, const __grid_constant__ Mask mask) {
  const Volume& v = images.volume;
  const std::int64_t step = mask.input.rank == 1 ? 0 : mask.input.stride[0];
  if constexpr (kReading == Reading::aligned_bytes) {
    const std::int64_t first = mask.input.items.offset(v.first_item + blockIdx.x);
    auto* words = reinterpret_cast<std::uint16_t*>(images.words_of(blockIdx.x));
    const int halves = 2 * v.words;
    for (int i = static_cast<int>(threadIdx.x); i < v.ny * halves; i += kSmallPackBlock) {
      const int y = i / halves, x = i % halves * 16;
      unsigned sites = 0;
      if (x < v.nx) {
        sites = nonzero_bytes(__ldcs(reinterpret_cast<const uint4*>(mask.input.data + first + y * step + x)));
        if (mask.is_zero_site()) sites = ~sites;
      }
      words[i] = static_cast<std::uint16_t>(sites);
    }
  } else {
    const PackedRows rows(v);
    if (!rows.are_there()) return;
    const std::int64_t first = mask.input.items.offset(v.first_item + rows.item());
    unsigned own = 0;
    rows.for_words([&](int i, int y, int x) {
      const std::int64_t at = first + y * step + x;
      bool is_site = x < v.nx;
      if constexpr (kReading == Reading::elements) is_site = is_site && mask.is_site(at);
      else is_site = is_site && (mask.input.data[at] == std::byte{0}) == mask.is_zero_site();
      const unsigned sites = __ballot_sync(kAllLanes, is_site);
      if (lane_id() == i) own = sites;
    });
    if (rows.has_word()) images.words_of(rows.item())[rows.row() * v.words + rows.word()] = own;
  }
}

/// A row's words, and the steps from their ends to the nearest sites of the others. In registers: it is asked for words
/// whose number is a constant.
class SmallRow {
 public:
  static constexpr int kMostWords = kSmallAxis / 32;

  /// @param on_left, on_right  elements that sites on these sides lie beyond the bits
  __device__ SmallRow(const std::uint32_t* row, int words, int on_left = 0, int on_right = 0) {
    unsigned before = kNoneInWord, behind = kNoneInWord;
#pragma unroll
    for (int w = 0; w < kMostWords; ++w) {
      of_[w] = make_uint2(w < words ? row[w] : 0, before);
      before = of_[w].x ? static_cast<unsigned>(1 + __clz(static_cast<int>(of_[w].x)) + on_left)
                        : min(before + 32, kNoneInWord);
    }
#pragma unroll
    for (int w = kMostWords - 1; w >= 0; --w) {
      of_[w].y |= behind << 16;
      behind = of_[w].x ? static_cast<unsigned>(__ffs(static_cast<int>(of_[w].x)) + on_right)
                        : min(behind + 32, kNoneInWord);
    }
  }

  __device__ uint2 operator[](int w) const { return of_[w]; }
  __device__ bool has_bits() const {
    unsigned all = 0;
#pragma unroll
    for (int w = 0; w < kMostWords; ++w) all |= of_[w].x;
    return all != 0;
  }

 private:
  uint2 of_[kMostWords];
};

/// An image's tiles in shared memory, side by side.
template <Writing kWriting>
class SmallImage {
 public:
  static constexpr bool kLabels = is_of_labels(kWriting);

  __device__ SmallImage(const SmallImages& images, unsigned* memory, const uint2* of_byte,
                        SmallRuns<kLabels>& run_words)
      : images_(images), v_(images.volume), memory_(memory), of_byte_(of_byte), run_words_(run_words) {}

  /// Rows behind the last.
  __device__ void pad() const {
    for (int w = 0; w < v_.words; ++w) tile(w).pad(v_.ny);
  }

  /// By all threads of the block. @returns whether the thread has seen a site
  __device__ bool load(std::int64_t item) const {
    const std::uint32_t* bits = images_.words_of(item);
    bool any = false;
    if constexpr (kLabels)
      for (int w = 0; w < v_.words; ++w) any |= ends(w).fill([&](int y) { return images_.runs(item, w, y); });
    const int quarter = static_cast<int>(threadIdx.x) % 4;
    for (int y = static_cast<int>(threadIdx.x) / 4; y < v_.ny; y += static_cast<int>(blockDim.x) / 4) {
      const SmallRow row(bits + y * v_.words, v_.words, kLabels, kLabels);
      any |= row.has_bits();
#pragma unroll
      for (int w = 0; w < SmallRow::kMostWords; ++w) {
        if (w >= v_.words) break;
        const uint4 inside = pairs_inside(v_.nx - w * 32 - quarter * 8);
        tile(w).put(y, quarter, SmallSquares(row[w], quarter * 8, of_byte_, kLabels).within(inside));
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

  __device__ RunEnds ends(int w) const { return run_ends(run_words_, v_.ny, w); }

  const SmallImages& images_;
  const Volume& v_;
  unsigned* memory_;
  const uint2* of_byte_;
  SmallRuns<kLabels>& run_words_;
};

template <Writing kWriting>
__global__ void __launch_bounds__(kSmallBlock,
                                  search_blocks(kSmallBlock, is_of_labels(kWriting) || is_general(kWriting)))
    solve_small_images(const __grid_constant__ SmallImages images,
                       const __grid_constant__ Emitter<std::int64_t> emitter) {
  extern __shared__ uint4 small_shared[];
  constexpr bool kLabels = is_of_labels(kWriting);
  __shared__ uint2 of_byte[256];
  __shared__ SmallRuns<kLabels> run_words;
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

}  // namespace fathom::grid::cuda::small
