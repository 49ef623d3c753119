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
DeviceView<const std::int64_t> list_of(const DeviceArray& array) {
  return view_of<const std::byte, MemorySpace::device>(array.raw()).as<const std::int64_t>();
}

/// The nonzero elements. @param backend  number of a Backend
template <class A>
VoxelSet* of_mask(const A& mask, int backend) {
  if (A::kSpace == MemorySpace::device && static_cast<Backend>(backend) == Backend::cpu)
    throw InvalidArgument("mask lies on a CUDA device, where the backend cpu cannot work; use auto or cuda");
  const auto view = view_of<const std::byte, A::kSpace>(mask.raw());
  Execution execution = on(backend);
  std::optional<points::VoxelSet> voxels;
  run(mask, execution, nb::none(),
      [&](auto...) { voxels = points::VoxelSet::of_mask(view, order_of(mask, execution)); });
  return new VoxelSet(std::move(*voxels));
}

/// @param edit      number of an Edit
/// @param elements  [n], int64, dense
/// @param to        as many, to move to; else None
/// @return how many elements were changed
template <class A>
std::int64_t edit(VoxelSet& set, int edit, const A& elements, const A* to) {
  return set.run([&](points::VoxelSet& voxels, const Execution& watch) {
    switch (static_cast<VoxelSet::Edit>(edit)) {
      case VoxelSet::Edit::add: return voxels.add(list_of(elements), order_of(elements, watch));
      case VoxelSet::Edit::remove: return voxels.remove(list_of(elements), order_of(elements, watch));
      default: return voxels.move(list_of(elements), list_of(*to), order_of(elements, watch));
    }
  });
}

}  // namespace

VoxelSet* VoxelSet::of_shape(const std::vector<std::int64_t>& shape, int backend) {
  const nb::gil_scoped_release unlocked;
  return new VoxelSet(points::VoxelSet(Shape(std::span(shape)), on(backend)));
}

bool VoxelSet::contains(std::int64_t element) const {
  const nb::gil_scoped_release unlocked;
  const auto lock = asking();
  return element >= 0 && element < element_count(voxels_.extents()) && voxels_.contains(element);
}

void add_voxel_set(nb::module_& m) {
  auto set = nb::class_<VoxelSet, SiteSet>(m, "VoxelSet")
                 .def_static("of_shape", &VoxelSet::of_shape)
                 .def("contains", &VoxelSet::contains);
  for_each_kind([&]<class A>(Kind<A>) {
    set.def_static("of_mask", &of_mask<A>).def("edit", &edit<A>, nb::arg(), nb::arg(), nb::arg().none());
  });
}

}  // namespace fathom::python
