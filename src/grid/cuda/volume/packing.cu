// The engine for volumes (volume/engine.cu): words of masks (volume/words.cuh) and of labels (volume/labels.cuh).
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
  with_block<8, 16, 32, kMostLanes>(nx <= 128   ? 8
                                    : nx <= 256 ? 16
                                    : nx <= 512 ? 32
                                                : kMostLanes,
                                    [&](auto lanes) {
                                      if (has_aligned_rows(input, 16)) launch_rows(lanes, std::true_type{});
                                      else launch_rows(lanes, std::false_type{});
                                    });
}

template <class Rows>
void pack(const Volume& volume, const typename Rows::Source& source, const PackingLaunch& launch) {
  fathom::cuda::launch(pack_rows<Rows>, Slab::blocks(volume, launch.items), kVolumePackBlock, 0, launch.stream,
                       launch.is_early, volume, source);
}

}  // namespace

void pack_mask(const Volume& volume, const Mask& mask, const PackingLaunch& launch) {
  if (volume.nx > 1024) return pack<MaskElements<std::uint64_t>>(volume, mask, launch);
  if (!mask.has_zero_bytes()) return pack<MaskElements<unsigned>>(volume, mask, launch);
  with_lanes<64>(mask.input, volume.nx,
                 [&](auto lanes, auto is_aligned) { pack<MaskBytes<lanes, is_aligned>>(volume, mask, launch); });
}

void pack_labels(const Volume& volume, const Input& input, const std::byte* last_plane, const PackingLaunch& launch) {
  visit_dtype(input.dtype, [&](auto tag) {
    using T = Label<typename decltype(tag)::type>;
    const std::int64_t plane = std::int64_t{volume.ny} * volume.nx * static_cast<std::int64_t>(sizeof(T));
    const MemoryRange before{last_plane, last_plane ? last_plane + plane : nullptr};
    const typename LabelRows<T>::Source source{input, MemoryRange::of(input), before};
    if constexpr (sizeof(T) == 1)
      if (volume.nx <= 512)
        return with_lanes<32>(input, volume.nx, [&](auto lanes, auto is_aligned) {
          pack<LabelBytes<lanes, is_aligned>>(volume, source, launch);
        });
    pack<LabelElements<T>>(volume, source, launch);
  });
}

}  // namespace fathom::grid::cuda::volume
