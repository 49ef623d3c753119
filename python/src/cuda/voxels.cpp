#include "cuda/voxels.h"

namespace fathom::python {

namespace nb = nanobind;

namespace {

DeviceView<const std::int64_t> list_of(const DeviceArray& array) {
  return view_of<const std::byte, MemorySpace::device>(array.raw()).as<const std::int64_t>();
}

}  // namespace

VoxelSet* voxel_set_on_device(const DeviceArray& mask, std::uintptr_t stream) {
  const auto view = view_of<const std::byte, MemorySpace::device>(mask.raw());
  const nb::gil_scoped_release unlocked;
  return new VoxelSet(points::VoxelSet::of_mask(view, stream_at(stream)));
}

std::int64_t edit_on_device(VoxelSet& set, int edit, const DeviceArray& elements, const DeviceArray* to,
                            std::uintptr_t stream) {
  const DeviceView<const std::int64_t> list = list_of(elements);
  const Stream order = stream_at(stream);
  return set.run([&](points::VoxelSet& voxels, const Execution&) {
    switch (static_cast<VoxelSet::Edit>(edit)) {
      case VoxelSet::Edit::add: return voxels.add(list, order);
      case VoxelSet::Edit::remove: return voxels.remove(list, order);
      default: return voxels.move(list, list_of(*to), order);
    }
  });
}

}  // namespace fathom::python
