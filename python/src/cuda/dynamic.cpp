#include "cuda/dynamic.h"

namespace fathom::python {

namespace nb = nanobind;

namespace {

points::DeviceCoordinates coordinates_of(const DeviceArray& array) {
  return view_of<const std::byte, MemorySpace::device>(array.raw());
}

}  // namespace

DynamicSet* dynamic_set_on_device(const DeviceArray& points, const SetChoices& choices, int threads,
                                  std::uintptr_t stream) {
  const auto build = [&] {
    const nb::gil_scoped_release unlocked;
    return points::DynamicSet(coordinates_of(points), dynamic_options(choices, threads), stream_at(stream));
  };
  return new DynamicSet(build());
}

std::int64_t add_on_device(DynamicSet& set, const DeviceArray& points, std::uintptr_t stream) {
  std::int64_t first = 0;
  set.edit([&](points::DynamicSet& edited, const Execution&) {
    first = edited.add(coordinates_of(points), stream_at(stream));
  });
  return first;
}

void move_on_device(DynamicSet& set, nb::handle ids, const DeviceArray& points, std::uintptr_t stream) {
  const HostArray names(ids, HostArray::Access::read);
  set.edit([&](points::DynamicSet& edited, const Execution&) {
    edited.move(ids_of(names), coordinates_of(points), stream_at(stream));
  });
}

}  // namespace fathom::python
