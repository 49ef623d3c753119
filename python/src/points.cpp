#include "points.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "watch.h"

namespace fathom::python {

namespace nb = nanobind;

namespace {

constexpr auto kHost = MemorySpace::host;

bool refers_to_array(bool is_mask, int storage) {
  return !is_mask && static_cast<points::Storage>(storage) != points::Storage::sorted;
}

points::SiteSet make_set(nb::handle sites, bool is_mask, points::SiteSetOptions options, nb::object progress) {
  const HostArray array(sites, HostArray::Access::read);
  const auto view = view_of<const std::byte, kHost>(array.raw());
  std::optional<points::SiteSet> set;
  run_watched(std::move(progress), options.execution, [&] {
    if (is_mask) set = points::SiteSet::of_mask(view, options);
    else set.emplace(points::Coordinates(view), options);
  });
  return std::move(*set);
}

SetChoices make_choices(int storage, std::int64_t every, std::vector<double> period, int backend,
                        std::optional<std::size_t> device_memory, std::vector<int> devices) {
  return {storage, every, std::move(period), backend, device_memory, std::move(devices)};
}

points::QueryOptions make_query_options(int k, double radius, double relative_error, double absolute_error,
                                        std::int64_t work_limit, double half_angle, double cylinder_radius,
                                        int threads) {
  points::QueryOptions options;
  options.k = k;
  options.radius = radius;
  options.relative_error = relative_error;
  options.absolute_error = absolute_error;
  options.work_limit = work_limit;
  options.cone.half_angle = half_angle;
  options.cone.cylinder_radius = cylinder_radius;
  options.execution.threads = threads;
  return options;
}

}  // namespace

points::SiteSetOptions SetChoices::options(int threads) const {
  points::SiteSetOptions options;
  options.storage = static_cast<points::Storage>(storage);
  options.every = every;
  options.period = period;
  options.device_memory = device_memory;
  options.devices = devices;
  options.execution.backend = static_cast<Backend>(backend);
  options.execution.threads = threads;
  return options;
}

SiteSet::SiteSet(nb::handle sites, bool is_mask, const SetChoices& choices, int threads, nb::object progress)
    : memory_(refers_to_array(is_mask, choices.storage) ? sites : nb::handle(Py_None), HostArray::Access::read),
      set_(make_set(sites, is_mask, choices.options(threads), std::move(progress))) {}

void SiteSet::nearest(nb::handle queries, const points::QueryOptions& options, nb::handle directions,
                      nb::handle half_angles, nb::handle distance, nb::handle squared, nb::handle site,
                      nb::handle lower, nb::object progress) const {
  using enum HostArray::Access;
  const HostArray inputs[] = {{queries, read}, {directions, read}, {half_angles, read}};
  const HostArray outputs[] = {{distance, write}, {squared, write}, {site, write}, {lower, write}};
  const QueryAxes axes(*this, options.k);
  points::QueryOptions own = options;
  own.cone.directions = view_of<const std::byte, kHost>(axes.points(inputs[1].raw()));
  own.cone.half_angles = view_of<const std::byte, kHost>(axes.numbers(inputs[2].raw()));
  const auto answers = [&](const HostArray& array) { return view_of<std::byte, kHost>(axes.answers(array.raw())); };
  const points::QueryOutputs out{answers(outputs[0]), answers(outputs[1]), answers(outputs[2]), answers(outputs[3])};
  const auto places = view_of<const std::byte, kHost>(axes.points(inputs[0].raw()));
  run_watched(std::move(progress), own.execution, [&] {
    const auto lock = asking();
    ask(places, own, out);
  });
}

namespace {

/// Bytes of the coordinates and of the ids, int64, of a cloud's sites, in any order.
nb::tuple sites_of(const SiteSet& set, std::int64_t cloud) {
  points::SiteList list;
  {
    const nb::gil_scoped_release unlocked;
    const auto lock = set.asking();
    list = set.list(cloud);
  }
  return nb::make_tuple(nb::bytes(list.coordinates.data(), list.coordinates.bytes()),
                        nb::bytes(list.ids.data(), list.ids.size() * sizeof(std::int64_t)));
}

}  // namespace

void add_points(nb::module_& m) {
  nb::class_<SetChoices>(m, "SetChoices")
      .def(nb::new_(&make_choices), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
  nb::class_<points::QueryOptions>(m, "QueryOptions").def(nb::new_(&make_query_options));
  nb::class_<SiteSet>(m, "SiteSet")
      .def(nb::init<nb::handle, bool, const SetChoices&, int, nb::object>(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::arg().none())
      .def("nearest", &SiteSet::nearest, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none(),
           nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none())
      .def("sites", &sites_of)
      .def_prop_ro("size", &SiteSet::size)
      .def_prop_ro("bytes", &SiteSet::bytes);
}

}  // namespace fathom::python
