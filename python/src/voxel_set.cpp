#include "voxel_set.h"

#include <nanobind/stl/vector.h>

#include <optional>
#include <span>
#include <utility>

namespace fathom::python {

namespace nb = nanobind;

namespace {

Execution on(int backend) {
  Execution execution;
  execution.backend = static_cast<Backend>(backend);
  return execution;
}

std::span<const std::int64_t> list_of(const HostArray& array) {
  return {reinterpret_cast<const std::int64_t*>(array.data()), array.bytes() / sizeof(std::int64_t)};
}

}  // namespace

VoxelSet* VoxelSet::of_shape(const std::vector<std::int64_t>& shape, int backend) {
  const nb::gil_scoped_release unlocked;
  return new VoxelSet(points::VoxelSet(Shape(std::span(shape)), on(backend)));
}

VoxelSet* VoxelSet::of_mask(nb::handle mask, int backend) {
  const HostArray array(mask, HostArray::Access::read);
  const auto view = view_of<const std::byte, MemorySpace::host>(array.raw());
  Execution execution = on(backend);
  std::optional<points::VoxelSet> voxels;
  run_watched(nb::none(), execution, [&] { voxels = points::VoxelSet::of_mask(view, execution); });
  return new VoxelSet(std::move(*voxels));
}

bool VoxelSet::contains(std::int64_t element) const {
  const nb::gil_scoped_release unlocked;
  const auto lock = asking();
  return element >= 0 && element < element_count(voxels_.extents()) && voxels_.contains(element);
}

std::int64_t VoxelSet::edit(int edit, nb::handle elements, nb::handle to) {
  const HostArray from(elements, HostArray::Access::read), places(to, HostArray::Access::read);
  return run([&](points::VoxelSet& voxels, const Execution& watch) {
    switch (static_cast<Edit>(edit)) {
      case Edit::add: return voxels.add(list_of(from), watch);
      case Edit::remove: return voxels.remove(list_of(from), watch);
      default: return voxels.move(list_of(from), list_of(places), watch);
    }
  });
}

void add_voxel_set(nb::module_& m) {
  nb::class_<VoxelSet, SiteSet>(m, "VoxelSet")
      .def_static("of_shape", &VoxelSet::of_shape)
      .def_static("of_mask", &VoxelSet::of_mask)
      .def("contains", &VoxelSet::contains)
      .def("edit", &VoxelSet::edit, nb::arg(), nb::arg(), nb::arg().none());
}

}  // namespace fathom::python
