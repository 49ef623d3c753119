#include "points.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "watch.h"

namespace fathom::python {

namespace nb = nanobind;

namespace {

/// Arrays of a call, with the axes that count queries as one: [n] or [clouds, n], with the coordinates or neighbours
/// behind.
class QueryAxes {
 public:
  QueryAxes(const SiteSet& set, int k) : leading_(set.batched() ? 1 : 0), columns_(k > 1 ? 1 : 0) {}

  /// One direction for all is a row, too.
  RawArray points(const RawArray& array) const {
    return array.given && array.rank != 2 ? array.joined(leading_, 1) : array;
  }
  RawArray numbers(const RawArray& array) const { return array.joined(leading_, 0); }
  RawArray answers(const RawArray& array) const { return array.joined(leading_, columns_); }

 private:
  int leading_, columns_;
};

bool refers_to_array(bool is_mask, int storage) {
  return !is_mask && static_cast<points::Storage>(storage) != points::Storage::sorted;
}

template <class A>
points::SiteSet make_set(const A& sites, bool is_mask, points::SiteSetOptions options, nb::object progress) {
  const auto view = view_of<const std::byte, A::kSpace>(sites.raw());
  std::optional<points::SiteSet> set;
  run(sites, options.execution, std::move(progress), [&](auto... stream) {
    if (is_mask) set = points::SiteSet::of_mask(view, options, stream...);
    else set.emplace(points::BasicCoordinates<A::kSpace>(view), options, stream...);
  });
  return std::move(*set);
}

SetChoices make_choices(int storage, std::int64_t every, std::vector<double> period, int backend,
                        std::optional<std::size_t> device_memory, std::vector<int> devices) {
  return {storage, every, std::move(period), backend, device_memory, std::move(devices)};
}

points::QueryOptions make_query_options(int k, int metric, double radius, double relative_error, double absolute_error,
                                        std::int64_t work_limit, double half_angle, double cylinder_radius,
                                        int threads) {
  points::QueryOptions options;
  options.k = k;
  options.metric = static_cast<points::Metric>(metric);
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

SiteSet::SiteSet(const HostArray& sites, bool is_mask, const SetChoices& choices, int threads, nb::object progress)
    : memory_(refers_to_array(is_mask, choices.storage) ? sites.array() : nb::handle(Py_None), HostArray::Access::read),
      set_(make_set(sites, is_mask, choices.options(threads), std::move(progress))) {}

SiteSet::SiteSet(const DeviceArray& sites, bool is_mask, const SetChoices& choices, int, nb::object progress)
    : set_(make_set(sites, is_mask, choices.options(0), std::move(progress))) {}

namespace {

/// @param directions  lie where the queries do, or, one for all queries of a device, on the host; or None
void set_cone(points::Cone& cone, const QueryAxes& axes, const HostArray& directions, const HostArray* half_angles) {
  cone.directions = view_of<const std::byte, MemorySpace::host>(axes.points(directions.raw()));
  cone.half_angles = view_of<const std::byte, MemorySpace::host>(axes.numbers(raw(half_angles)));
}
void set_cone(points::Cone& cone, const QueryAxes& axes, const HostArray& directions, const DeviceArray* half_angles) {
  cone.directions = view_of<const std::byte, MemorySpace::host>(directions.raw());
  cone.device_half_angles = view_of<const std::byte, MemorySpace::device>(axes.numbers(raw(half_angles)));
}
void set_cone(points::Cone& cone, const QueryAxes& axes, const DeviceArray& directions,
              const DeviceArray* half_angles) {
  cone.device_directions = view_of<const std::byte, MemorySpace::device>(axes.points(directions.raw()));
  cone.device_half_angles = view_of<const std::byte, MemorySpace::device>(axes.numbers(raw(half_angles)));
}

/// Any number of axes may count the queries; those that count clouds do not lie among them.
/// @param D  where a cone's directions lie
/// @param distance, squared, site, lower  arrays to fill, or None
template <class A, class D = A>
void nearest(const SiteSet& set, const A& queries, const points::QueryOptions& options, const D* directions,
             const A* half_angles, const A* distance, const A* squared, const A* site, const A* lower,
             nb::object progress) {
  const QueryAxes axes(set, options.k);
  points::QueryOptions own = options;
  if (directions) set_cone(own.cone, axes, *directions, half_angles);
  const auto answers = [&](const A* array) { return view_of<std::byte, A::kSpace>(axes.answers(raw(array))); };
  const points::BasicQueryOutputs<A::kSpace> out{answers(distance), answers(squared), answers(site), answers(lower)};
  const auto places = view_of<const std::byte, A::kSpace>(axes.points(queries.raw()));
  run(queries, own.execution, std::move(progress), [&](auto... stream) {
    const auto lock = set.asking();
    set.ask(places, own, out, stream...);
  });
}

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
  auto set = nb::class_<SiteSet>(m, "SiteSet")
                 .def("sites", &sites_of)
                 .def_prop_ro("size", &SiteSet::size)
                 .def_prop_ro("bytes", &SiteSet::bytes);
  const auto add_nearest = [&](auto function) {
    set.def("nearest", function, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none(),
            nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none());
  };
  for_each_kind([&]<class A>(Kind<A>) {
    set.def(nb::init<const A&, bool, const SetChoices&, int, nb::object>(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
            nb::arg().none());
    add_nearest(&nearest<A>);
  });
  add_nearest(&nearest<DeviceArray, HostArray>);
}

}  // namespace fathom::python
