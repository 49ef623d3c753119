#include "fathom/apps/medial_axis.h"

#include "apps.h"
#include "watch.h"

#ifdef FATHOM_PYTHON_CUDA
#include "cuda/device_array.h"
#endif

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

void medial_axis(nb::handle x, int rank, const Common& common, int pruning, double gamma, bool thin, nb::handle axis,
                 nb::handle distance, nb::handle nearest, nb::handle witness, nb::object progress) {
  using Access = HostArray::Access;
  const HostArray arrays[] = {{x, Access::read},
                              {axis, Access::write},
                              {distance, Access::write},
                              {nearest, Access::write},
                              {witness, Access::write}};
  const Images images(arrays, rank);
  apps::MedialAxisOptions options = options_of(pruning, gamma, thin);
  common.set(options, images);
  run_watched(std::move(progress), options.execution, [&] {
    apps::medial_axis(images[0], options, {images[1], images[2], images[3], images[4]});
  });
}

void medial_axis_of_nearest(nb::handle nearest, int rank, const Common& common, int pruning, double gamma, bool thin,
                            nb::handle axis, nb::handle witness, nb::object progress) {
  const HostArray arrays[] = {
      {nearest, HostArray::Access::read}, {axis, HostArray::Access::write}, {witness, HostArray::Access::write}};
  const Images images(arrays, rank);
  apps::MedialAxisOptions options = options_of(pruning, gamma, thin);
  common.set(options, images);
  run_watched(std::move(progress), options.execution, [&] {
    apps::medial_axis_of_nearest(images[0], options, {images[1], {}, {}, images[2]});
  });
}

void axis_balls(nb::handle axis, int rank, const Common& common, nb::handle nearest, nb::handle out,
                nb::object progress) {
  const HostArray arrays[] = {
      {axis, HostArray::Access::read}, {nearest, HostArray::Access::read}, {out, HostArray::Access::write}};
  const Images images(arrays, rank);
  apps::AxisBallsOptions options;
  common.set(options, images);
  run_watched(std::move(progress), options.execution,
              [&] { apps::axis_balls(images[0], images[1], options, images[2]); });
}

#ifdef FATHOM_PYTHON_CUDA
void medial_axis_on_device(const DeviceArray& x, int rank, const Common& common, int pruning, double gamma, bool thin,
                           const DeviceArray& axis, const DeviceArray* distance, const DeviceArray* nearest,
                           const DeviceArray* witness, std::uintptr_t stream) {
  const DeviceImages<5> images({x.raw(), axis.raw(), raw(distance), raw(nearest), raw(witness)}, rank);
  apps::MedialAxisOptions options = options_of(pruning, gamma, thin);
  common.set(options, images);
  const nb::gil_scoped_release unlocked;
  apps::medial_axis(images[0], options, {images[1], images[2], images[3], images[4]}, stream_at(stream));
}

void medial_axis_of_nearest_on_device(const DeviceArray& nearest, int rank, const Common& common, int pruning,
                                      double gamma, bool thin, const DeviceArray& axis, const DeviceArray* witness,
                                      std::uintptr_t stream) {
  const DeviceImages<3> images({nearest.raw(), axis.raw(), raw(witness)}, rank);
  apps::MedialAxisOptions options = options_of(pruning, gamma, thin);
  common.set(options, images);
  const nb::gil_scoped_release unlocked;
  apps::medial_axis_of_nearest(images[0], options, {images[1], {}, {}, images[2]}, stream_at(stream));
}

void axis_balls_on_device(const DeviceArray& axis, int rank, const Common& common, const DeviceArray& nearest,
                          const DeviceArray& out, std::uintptr_t stream) {
  const DeviceImages<3> images({axis.raw(), nearest.raw(), out.raw()}, rank);
  apps::AxisBallsOptions options;
  common.set(options, images);
  const nb::gil_scoped_release unlocked;
  apps::axis_balls(images[0], images[1], options, images[2], stream_at(stream));
}
#endif

}  // namespace

void add_medial_axis(nb::module_& m) {
  nb::dict prunings;
  prunings["constant"] = static_cast<int>(apps::Pruning::constant);
  prunings["linear"] = static_cast<int>(apps::Pruning::linear);
  prunings["square_root"] = static_cast<int>(apps::Pruning::square_root);
  m.attr("PRUNINGS") = prunings;
  m.def("medial_axis", &medial_axis, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none());
  m.def("medial_axis_of_nearest", &medial_axis_of_nearest, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());
  m.def("axis_balls", &axis_balls, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
#ifdef FATHOM_PYTHON_CUDA
  m.def("medial_axis_on_device", &medial_axis_on_device, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg());
  m.def("medial_axis_of_nearest_on_device", &medial_axis_of_nearest_on_device, nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
  m.def("axis_balls_on_device", &axis_balls_on_device);
#endif
}

}  // namespace fathom::python
