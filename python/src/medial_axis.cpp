#include "fathom/apps/medial_axis.h"

#include "apps.h"

namespace nb = nanobind;

namespace fathom::python {

namespace {

apps::MedialAxisOptions options_of(int pruning, double gamma, bool thin) {
  apps::MedialAxisOptions options;
  options.pruning = static_cast<apps::Pruning>(pruning);
  options.gamma = gamma;
  options.ties = thin ? apps::Ties::thin : apps::Ties::both;
  return options;
}

template <class A>
void medial_axis(const A& x, int rank, const Common& common, int pruning, double gamma, bool thin, const A& axis,
                 const A* distance, const A* nearest, const A* witness, nb::object progress) {
  const Images<A, 5> images({x.raw(), axis.raw(), raw(distance), raw(nearest), raw(witness)}, rank);
  apps::MedialAxisOptions options = options_of(pruning, gamma, thin);
  common.set(options, images);
  run(x, options.execution, std::move(progress), [&](auto... stream) {
    apps::medial_axis(images[0], options, {images[1], images[2], images[3], images[4]}, stream...);
  });
}

template <class A>
void medial_axis_of_nearest(const A& nearest, int rank, const Common& common, int pruning, double gamma, bool thin,
                            const A& axis, const A* witness, nb::object progress) {
  const Images<A, 3> images({nearest.raw(), axis.raw(), raw(witness)}, rank);
  apps::MedialAxisOptions options = options_of(pruning, gamma, thin);
  common.set(options, images);
  run(nearest, options.execution, std::move(progress), [&](auto... stream) {
    apps::medial_axis_of_nearest(images[0], options, {images[1], {}, {}, images[2]}, stream...);
  });
}

template <class A>
void axis_balls(const A& axis, int rank, const Common& common, const A& nearest, const A& out, nb::object progress) {
  const Images<A, 3> images({axis.raw(), nearest.raw(), out.raw()}, rank);
  apps::AxisBallsOptions options;
  common.set(options, images);
  run(axis, options.execution, std::move(progress),
      [&](auto... stream) { apps::axis_balls(images[0], images[1], options, images[2], stream...); });
}

}  // namespace

void add_medial_axis(nb::module_& m) {
  nb::dict prunings;
  prunings["constant"] = static_cast<int>(apps::Pruning::constant);
  prunings["linear"] = static_cast<int>(apps::Pruning::linear);
  prunings["square_root"] = static_cast<int>(apps::Pruning::square_root);
  m.attr("PRUNINGS") = prunings;
  for_each_kind([&]<class A>(Kind<A>) {
    m.def("medial_axis", &medial_axis<A>, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
          nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none());
    m.def("medial_axis_of_nearest", &medial_axis_of_nearest<A>, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
          nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());
    m.def("axis_balls", &axis_balls<A>, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  });
}

}  // namespace fathom::python
