#include "apps.h"
#include "fathom/apps/nearest_value.h"

namespace nb = nanobind;

namespace fathom::python {

namespace {

/// @param options  with all that Common has, too
template <class A>
void direction(const A& x, int rank, const Common&, const grid::DistanceOptions& options, const A& out,
               nb::object progress) {
  const Images<A, 2> images({x.raw(), out.raw()}, rank);
  grid::DistanceOptions own = options;
  own.batch_axes = images.batch_axes();
  const apps::BasicNearestValueOutputs<A::kSpace> outputs{{}, {}, images[1]};
  run(x, own.execution, std::move(progress),
      [&](auto... stream) { apps::nearest_values(images[0], own, outputs, stream...); });
}

}  // namespace

void add_direction(nb::module_& m) {
  for_each_kind([&]<class A>(Kind<A>) {
    m.def("direction", &direction<A>, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  });
}

}  // namespace fathom::python
