#include "fathom/apps/local_thickness.h"

#include "apps.h"

namespace nb = nanobind;

namespace fathom::python {

namespace {

template <class A>
void local_thickness(const A& x, int rank, const Common& common, const A& out, nb::object progress) {
  const Images<A, 2> images({x.raw(), out.raw()}, rank);
  apps::BasicLocalThicknessOptions<A::kSpace> options;
  common.set(options, images);
  run(x, options.execution, std::move(progress),
      [&](auto... stream) { apps::local_thickness(images[0], options, images[1], stream...); });
}

template <class A>
void porosimetry(const A& x, int rank, const Common& common, const A* inlets, const A& out, nb::object progress) {
  const Images<A, 3> images({x.raw(), raw(inlets), out.raw()}, rank);
  apps::BasicLocalThicknessOptions<A::kSpace> options;
  common.set(options, images);
  options.inlets = images[1];
  options.from_faces = inlets == nullptr;
  run(x, options.execution, std::move(progress),
      [&](auto... stream) { apps::local_thickness(images[0], options, images[2], stream...); });
}

}  // namespace

void add_local_thickness(nb::module_& m) {
  for_each_kind([&]<class A>(Kind<A>) {
    m.def("local_thickness", &local_thickness<A>, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
    m.def("porosimetry", &porosimetry<A>, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
          nb::arg().none());
  });
}

}  // namespace fathom::python
