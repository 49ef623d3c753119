// The engine for volumes (volume/plain_3d.cu): words of masks (volume/words.cuh; of short rows, and of rows at any
// address, volume/short_rows.cuh and volume/loose_rows.cuh) and of labels (volume/labels.cuh, volume/short_labels.cuh).
#include "core/cuda/early_launch.cuh"
#include "grid/cuda/volume/labels.cuh"
#include "grid/cuda/volume/loose_rows.cuh"
#include "grid/cuda/volume/packing.h"
#include "grid/cuda/volume/short_labels.cuh"
#include "grid/cuda/volume/short_rows.cuh"
#include "grid/cuda/volume/words.cuh"

namespace fathom::grid::cuda::volume {

namespace {

template <class Kernel, class... Arguments>
void launch_packing(const PackingLaunch& launch, Kernel kernel, dim3 blocks, const Arguments&... arguments) {
  fathom::cuda::launch(kernel, blocks, kVolumePackBlock, 0, launch.stream, launch.is_early, arguments...);
}

/// Of 32 rows along z each.
unsigned row_slabs(const Volume& volume, std::int64_t items) {
  return static_cast<unsigned>(items * volume.ny * ((volume.nz + 31) / 32));
}
/// The same by rows and slabs, of which there are fewer than 2¹⁶.
dim3 short_blocks(const Volume& volume, std::int64_t items) {
  return {static_cast<unsigned>(items * volume.ny), static_cast<unsigned>((volume.nz + 31) / 32)};
}

template <int kSides>
auto* short_rows_kernel(int together) {
  return together == 4   ? pack_short_rows<4, kSides>
         : together == 2 ? pack_short_rows<2, kSides>
                         : pack_short_rows<1, kSides>;
}

/// For rows of up to kSegment bytes at any address.
auto* loose_rows_kernel(int nx) {
  return nx <= loose_bytes(4, 1)   ? pack_loose_rows<4, 1>
         : nx <= loose_bytes(2, 1) ? pack_loose_rows<2, 1>
         : nx <= loose_bytes(1, 1) ? pack_loose_rows<1, 1>
                                   : pack_loose_rows<1, 2>;
}

/// For rows that are neither short nor loose.
template <int kBlocks>
auto* rows_kernel(const Mask& mask) {
  if constexpr (kBlocks > 1)
    if (mask.has_zero_bytes() && has_aligned_rows(mask.input, 16)) return pack_volume<Reading::aligned_bytes, kBlocks>;
  if constexpr (kBlocks > 2)
    if (mask.has_zero_bytes()) return pack_volume<Reading::bytes, kBlocks>;
  return pack_volume<Reading::elements, kBlocks>;
}

bool has_short_rows(const Mask& mask) {
  return mask.has_zero_bytes() && has_aligned_rows(mask.input, 16) &&
         rows_together(static_cast<int>(mask.input.extent[2])) > 0;
}
bool has_loose_rows(const Mask& mask) {
  return mask.has_zero_bytes() && !has_aligned_rows(mask.input, 16) && mask.input.extent[2] <= kSegment;
}

void pack_short(const std::vector<MaskWords>& sides, const PackingLaunch& launch) {
  const auto& [volume, mask] = sides.front();
  const int together = rows_together(volume.nx);
  auto* kernel = sides.size() == 2 ? short_rows_kernel<2>(together) : short_rows_kernel<1>(together);
  launch_packing(launch, kernel, short_blocks(volume, launch.items), volume, sides.back().volume, mask);
}

void pack_side(const Volume& volume, const Mask& mask, const PackingLaunch& launch) {
  if (has_loose_rows(mask))
    return launch_packing(launch, loose_rows_kernel(volume.nx), short_blocks(volume, launch.items), volume, mask);
  const int row = row_blocks(volume.nx);
  auto* kernel = row == 1 ? rows_kernel<1>(mask) : row == 2 ? rows_kernel<2>(mask) : rows_kernel<4>(mask);
  launch_packing(launch, kernel, row_slabs(volume, launch.items), volume, mask);
}

/// For short rows of bytes.
template <bool kAligned>
auto* short_labels_kernel(int together) {
  return together == 4   ? pack_short_labels<4, kAligned>
         : together == 2 ? pack_short_labels<2, kAligned>
                         : pack_short_labels<1, kAligned>;
}

/// @param before  as pack_volume_labels() has it
template <class T>
void pack_labels_of(const Volume& volume, const Input& input, const T* before, const PackingLaunch& launch) {
  const auto pack = [&](auto* kernel, const auto&... more) {
    launch_packing(launch, kernel, row_slabs(volume, launch.items), volume, input, before, more...);
  };
  if constexpr (sizeof(T) == 1) {
    const bool is_aligned = has_aligned_rows(input, 16);
    if (const int together = rows_together(volume.nx); together > 0) {
      auto* kernel = is_aligned ? short_labels_kernel<true>(together) : short_labels_kernel<false>(together);
      return pack(kernel, MemoryRange::of(input));
    }
    if (is_aligned) return pack(pack_volume_labels<T, true>);
  }
  pack(pack_volume_labels<T, false>);
}

}  // namespace

void pack_masks(const std::vector<MaskWords>& sides, PackingLaunch launch) {
  if (has_short_rows(sides.front().mask)) return pack_short(sides, launch);
  for (const auto& [volume, mask] : sides) {
    pack_side(volume, mask, launch);
    launch.is_early = false;
  }
}

void pack_labels(const Volume& volume, const Input& input, const std::byte* last_plane, const PackingLaunch& launch) {
  visit_dtype(input.dtype, [&](auto tag) {
    using T = Label<typename decltype(tag)::type>;
    pack_labels_of<T>(volume, input, reinterpret_cast<const T*>(last_plane), launch);
  });
}

}  // namespace fathom::grid::cuda::volume
