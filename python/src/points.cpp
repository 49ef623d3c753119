#include "points.h"

#include <nanobind/stl/vector.h>

#include <utility>

#include "watch.h"

namespace fathom::python {

namespace nb = nanobind;

namespace {

/// All axes as they are.
template <class Byte>
BasicAnyView<Byte, MemorySpace::host> view_of(const HostArray& array) {
  const RawArray raw = array.raw();
  return python::view_of<Byte, MemorySpace::host>(raw, {0, raw.rank});
}

bool refers_to_array(bool is_mask, points::Storage storage) { return !is_mask && storage != points::Storage::sorted; }

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

SiteSet::SiteSet(nb::handle sites, bool is_mask, int storage, std::int64_t every, std::vector<double> period,
                 int threads, nb::object progress)
    : memory_(refers_to_array(is_mask, static_cast<points::Storage>(storage)) ? sites : nb::handle(Py_None),
              HostArray::Access::read) {
  const HostArray array(sites, HostArray::Access::read);
  const AnyConstView view = view_of<const std::byte>(array);
  points::SiteSetOptions options;
  options.storage = static_cast<points::Storage>(storage);
  options.every = every;
  options.period = std::move(period);
  options.execution.threads = threads;
  run_watched(std::move(progress), options.execution, [&] {
    if (is_mask) set_ = points::SiteSet::of_mask(view, options);
    else set_.emplace(points::Coordinates(view), options);
  });
}

void SiteSet::nearest(nb::handle queries, const points::QueryOptions& options, nb::handle directions,
                      nb::handle half_angles, nb::handle distance, nb::handle squared, nb::handle site,
                      nb::handle lower, nb::object progress) const {
  using enum HostArray::Access;
  const HostArray inputs[] = {{queries, read}, {directions, read}, {half_angles, read}};
  const HostArray outputs[] = {{distance, write}, {squared, write}, {site, write}, {lower, write}};
  points::QueryOptions own = options;
  own.cone.directions = view_of<const std::byte>(inputs[1]);
  own.cone.half_angles = view_of<const std::byte>(inputs[2]);
  const points::QueryOutputs out{view_of<std::byte>(outputs[0]), view_of<std::byte>(outputs[1]),
                                 view_of<std::byte>(outputs[2]), view_of<std::byte>(outputs[3])};
  run_watched(std::move(progress), own.execution,
              [&] { set_->nearest(view_of<const std::byte>(inputs[0]), own, out); });
}

void add_points(nb::module_& m) {
  nb::class_<points::QueryOptions>(m, "QueryOptions").def(nb::new_(&make_query_options));
  nb::class_<SiteSet>(m, "SiteSet")
      .def(nb::init<nb::handle, bool, int, std::int64_t, std::vector<double>, int, nb::object>(), nb::arg(), nb::arg(),
           nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none())
      .def("nearest", &SiteSet::nearest, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none(),
           nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none())
      .def_prop_ro("size", &SiteSet::size)
      .def_prop_ro("bytes", &SiteSet::bytes);
}

}  // namespace fathom::python
