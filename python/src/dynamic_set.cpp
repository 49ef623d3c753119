#include "dynamic_set.h"

namespace fathom::python {

namespace nb = nanobind;

namespace {

points::Coordinates coordinates_of(const HostArray& array) {
  return view_of<const std::byte, MemorySpace::host>(array.raw());
}

}  // namespace

DynamicSet::DynamicSet(nb::handle points, const SetChoices& choices, int threads) {
  const HostArray array(points, HostArray::Access::read);
  points::DynamicSetOptions options = dynamic_options(choices, threads);
  run_watched(nb::none(), options.execution, [&] { edited_.emplace(coordinates_of(array), options); });
  settle();
}

void DynamicSet::note_whether_broken() {
  try {
    edited_->sites();
  } catch (const Error&) {
    broken_ = true;
  }
}

void DynamicSet::settle() {
  size_ = edited_->size();
  bytes_ = edited_->bytes();
  ids_ = edited_->ids();
}

bool DynamicSet::contains(std::int64_t id) const {
  const nb::gil_scoped_release unlocked;
  const auto lock = asking();
  return id >= 0 && id < edited_->ids() && edited_->contains(id);
}

std::int64_t DynamicSet::add(nb::handle points) {
  const HostArray array(points, HostArray::Access::read);
  std::int64_t first = 0;
  edit([&](points::DynamicSet& set, const Execution& watch) { first = set.add(coordinates_of(array), watch); });
  return first;
}

void DynamicSet::remove(nb::handle ids) {
  const HostArray array(ids, HostArray::Access::read);
  edit([&](points::DynamicSet& set, const Execution& watch) { set.remove(ids_of(array), watch); });
}

void DynamicSet::move(nb::handle ids, nb::handle points) {
  const HostArray names(ids, HostArray::Access::read), places(points, HostArray::Access::read);
  edit(
      [&](points::DynamicSet& set, const Execution& watch) { set.move(ids_of(names), coordinates_of(places), watch); });
}

void add_dynamic_set(nb::module_& m) {
  nb::class_<DynamicSet, SiteSet>(m, "DynamicSet")
      .def(nb::init<nb::handle, const SetChoices&, int>())
      .def_prop_ro("ids", &DynamicSet::ids)
      .def("contains", &DynamicSet::contains)
      .def("add", &DynamicSet::add)
      .def("remove", &DynamicSet::remove)
      .def("move", &DynamicSet::move);
}

}  // namespace fathom::python
