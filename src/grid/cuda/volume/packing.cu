// The engine for volumes (volume/engine.cu): words of masks (volume/words.cuh) and of labels (volume/labels.cuh).
#include "core/cuda/early_launch.cuh"
#include "grid/cuda/volume/labels.cuh"
#include "grid/cuda/volume/packing.h"
#include "grid/cuda/volume/words.cuh"

namespace fathom::grid::cuda::volume {

namespace {

/// For rows of up to kSegment bytes.
auto* bytes_kernel(int nx) {
  return nx <= bytes_of_row(4, 1)   ? pack_bytes<4, 1>
         : nx <= bytes_of_row(2, 1) ? pack_bytes<2, 1>
         : nx <= bytes_of_row(1, 1) ? pack_bytes<1, 1>
                                    : pack_bytes<1, 2>;
}

/// For short rows of bytes.
template <bool kAligned>
auto* short_labels_kernel(int together) {
  return together == 4   ? pack_short_labels<4, kAligned>
         : together == 2 ? pack_short_labels<2, kAligned>
                         : pack_short_labels<1, kAligned>;
}

}  // namespace

void pack_mask(const Volume& volume, const Mask& mask, const PackingLaunch& launch) {
  auto* kernel = mask.has_zero_bytes() && volume.nx <= kSegment ? bytes_kernel(volume.nx)
                 : volume.nx <= kSegment                        ? pack_elements<1>
                                                                : pack_elements<2>;
  fathom::cuda::launch(kernel, Slab::blocks(volume, launch.items), kVolumePackBlock, 0, launch.stream, launch.is_early,
                       volume, mask);
}

void pack_labels(const Volume& volume, const Input& input, const std::byte* last_plane, const PackingLaunch& launch) {
  visit_dtype(input.dtype, [&](auto tag) {
    using T = Label<typename decltype(tag)::type>;
    const auto pack = [&](auto* kernel, const auto&... more) {
      fathom::cuda::launch(kernel, Slab::blocks(volume, launch.items), kVolumePackBlock, 0, launch.stream,
                           launch.is_early, volume, input, reinterpret_cast<const T*>(last_plane), more...);
    };
    if constexpr (sizeof(T) == 1)
      if (const int together = rows_together(volume.nx); together > 0) {
        const bool is_aligned = has_aligned_rows(input, 16);
        return pack(is_aligned ? short_labels_kernel<true>(together) : short_labels_kernel<false>(together),
                    MemoryRange::of(input));
      }
    pack(pack_labels_of<T>);
  });
}

}  // namespace fathom::grid::cuda::volume
