// The engine for volumes (volume/engine.cu): words of masks, of labels, and of the other side of a signed field.
#include "core/cuda/early_launch.cuh"
#include "grid/cuda/launch.cuh"
#include "grid/cuda/volume/labels.cuh"
#include "grid/cuda/volume/solve.cuh"
#include "grid/cuda/volume/words.cuh"

namespace fathom::grid::cuda::volume {

namespace {

/// @param launch_rows  takes the kernel for rows of bytes: lanes of a row, and whether sixteen can be read everywhere
template <int kMostLanes, class Launch>
void with_lanes(const Input& input, int nx, Launch&& launch_rows) {
  const int sixteens = nx <= 128 ? 8 : nx <= 256 ? 16 : nx <= 512 ? 32 : kMostLanes;
  with_block<8, 16, 32, kMostLanes>(sixteens, [&](auto lanes) {
    if (has_aligned_rows(input, 16)) launch_rows(lanes, std::true_type{});
    else launch_rows(lanes, std::false_type{});
  });
}

template <class Rows>
void pack(const Volume& volume, const typename Rows::Source& source, cudaStream_t stream, bool is_early = false) {
  const dim3 blocks(static_cast<unsigned>(volume.items * volume.ny), static_cast<unsigned>((volume.nz + 31) / 32));
  fathom::cuda::launch(pack_rows<Rows>, blocks, kVolumePackBlock, 0, stream, is_early, volume, source);
}

constexpr int kTurnBlock = 128;

/// From the words of one side of a signed volume to those of the other: its sites are the elements that were none.
///
/// Work mapping: thread = row along x, so that neighbours along z are read and written together. Phase 1: bits, and
/// steps to sites on the left, from left to right; phase 2: steps to the right, from right to left. Both take eight
/// words at a time, all of which are on their way together; the last eight stay in registers in between.
/// Cost: 1/4 byte is read for an element, and as much written; up to twice that in long rows.
__global__ void __launch_bounds__(kTurnBlock) turn_to_other_side(const __grid_constant__ Volume v) {
  constexpr int kTogether = 8;
  fathom::cuda::wait_for_last();
  const std::int64_t index = std::int64_t{blockIdx.x} * kTurnBlock + thread(), step = std::int64_t{v.ny} * v.depth;
  if (index >= v.items * step || index % v.depth >= v.nz) return;  // it is the fastest axis, with its padding
  uint2* const row = v.word + index / step * v.words * step + index % step;
  uint2 words[kTogether];
  const auto read = [&](int first) {
#pragma unroll
    for (int k = 0; k < kTogether; ++k)
      if (first + k < v.words) words[k] = row[(first + k) * step];
  };
  const auto write = [&](int first) {
#pragma unroll
    for (int k = 0; k < kTogether; ++k)
      if (first + k < v.words) row[(first + k) * step] = words[k];
  };
  unsigned left = kNoneInWord, right = kNoneInWord;  // steps from the next word's end to the last site
  const int last = (v.words - 1) / kTogether * kTogether;
  for (int first = 0; first <= last; first += kTogether) {
    read(first);
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      const unsigned bits = ~words[k].x & first_bits(v.nx - (first + k) * 32);
      words[k] = make_uint2(bits, left);
      left = bits ? static_cast<unsigned>(__clz(static_cast<int>(bits))) + 1 : min(left + 32, kNoneInWord);
    }
    if (first < last) write(first);
  }
  for (int first = last; first >= 0; first -= kTogether) {
    if (first < last) read(first);
#pragma unroll
    for (int k = kTogether - 1; k >= 0; --k) {
      if (first + k >= v.words) continue;
      words[k].y |= right << 16;
      right = words[k].x ? static_cast<unsigned>(__ffs(static_cast<int>(words[k].x))) : min(right + 32, kNoneInWord);
    }
    write(first);
  }
}

}  // namespace

void turn_words(const Volume& volume, cudaStream_t stream) {
  const std::int64_t rows = volume.items * volume.ny * volume.depth;
  fathom::cuda::launch(turn_to_other_side, blocks_for(rows, kTurnBlock), kTurnBlock, 0, stream, true, volume);
}

void pack_mask(const Volume& volume, const Mask& mask, cudaStream_t stream, bool is_early) {
  if (volume.nx > 1024) return pack<MaskElements<std::uint64_t>>(volume, mask, stream, is_early);
  if (!mask.has_zero_bytes()) return pack<MaskElements<unsigned>>(volume, mask, stream, is_early);
  with_lanes<64>(mask.input, volume.nx, [&](auto lanes, auto is_aligned) {
    pack<MaskBytes<lanes, is_aligned>>(volume, mask, stream, is_early);
  });
}

void pack_labels(const Volume& volume, const Input& input, const std::byte* last_plane, cudaStream_t stream) {
  visit_dtype(input.dtype, [&](auto tag) {
    using T = Label<typename decltype(tag)::type>;
    const std::int64_t plane = std::int64_t{volume.ny} * volume.nx * static_cast<std::int64_t>(sizeof(T));
    const MemoryRange before{last_plane, last_plane ? last_plane + plane : nullptr};
    const typename LabelRows<T>::Source source{input, MemoryRange::of(input), before};
    if constexpr (sizeof(T) == 1)
      if (volume.nx <= 512)
        return with_lanes<32>(input, volume.nx, [&](auto lanes, auto is_aligned) {
          pack<LabelBytes<lanes, is_aligned>>(volume, source, stream);
        });
    pack<LabelElements<T>>(volume, source, stream);
  });
}

}  // namespace fathom::grid::cuda::volume
