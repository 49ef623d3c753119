#include "dynamic_set.h"

#include <span>

namespace fathom::python {

namespace nb = nanobind;

namespace {

template <class A>
points::BasicCoordinates<A::kSpace> coordinates_of(const A& array) {
  return view_of<const std::byte, A::kSpace>(array.raw());
}

/// @param array  [n], int64, dense
std::span<const std::int64_t> ids_of(const HostArray& array) {
  return {reinterpret_cast<const std::int64_t*>(array.data()), array.bytes() / sizeof(std::int64_t)};
}

template <class A>
points::DynamicSet make_set(const A& sites, const SetChoices& choices, int threads) {
  const points::SiteSetOptions all = choices.options(threads);
  points::DynamicSetOptions options{all.period, all.devices, all.execution};
  std::optional<points::DynamicSet> set;
  run(sites, options.execution, nb::none(),
      [&](auto... stream) { set.emplace(coordinates_of(sites), options, stream...); });
  return std::move(*set);
}

/// @return the first one's id
template <class A>
std::int64_t add(DynamicSet& set, const A& sites) {
  std::int64_t first = 0;
  set.edit([&](points::DynamicSet& edited, const Execution& watch) {
    first = edited.add(coordinates_of(sites), order_of(sites, watch));
  });
  return first;
}

void remove(DynamicSet& set, const HostArray& ids) {
  set.edit([&](points::DynamicSet& edited, const Execution& watch) { edited.remove(ids_of(ids), watch); });
}

template <class A>
void move(DynamicSet& set, const HostArray& ids, const A& to) {
  set.edit([&](points::DynamicSet& edited, const Execution& watch) {
    edited.move(ids_of(ids), coordinates_of(to), order_of(to, watch));
  });
}

}  // namespace

DynamicSet::DynamicSet(const HostArray& points, const SetChoices& choices, int threads)
    : edited_(make_set(points, choices, threads)) {
  settle();
}

DynamicSet::DynamicSet(const DeviceArray& points, const SetChoices& choices, int threads)
    : edited_(make_set(points, choices, threads)) {
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

void add_dynamic_set(nb::module_& m) {
  auto set = nb::class_<DynamicSet, SiteSet>(m, "DynamicSet")
                 .def_prop_ro("ids", &DynamicSet::ids)
                 .def("contains", &DynamicSet::contains)
                 .def("remove", &remove);
  for_each_kind([&]<class A>(Kind<A>) {
    set.def(nb::init<const A&, const SetChoices&, int>()).def("add", &add<A>).def("move", &move<A>);
  });
}

}  // namespace fathom::python
