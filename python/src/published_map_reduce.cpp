// Binding of fathom::published::map_reduce(): host arrays in, host arrays out, and what the call did.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <utility>
#include <vector>

#include "apps.h"
#include "fathom/published/map_reduce.h"
#include "watch.h"

namespace nb = nanobind;

namespace fathom::python {

namespace {

/// @param division  kernels, streams, tile
nb::dict map_reduce(nb::handle sites, nb::handle queries, std::pair<nb::object, double> cone, nb::handle distance,
                    nb::handle site, nb::object progress, std::tuple<int, int, int> division, bool atomic,
                    std::int64_t every, std::vector<int> devices, bool measure_error, int backend, int threads) {
  const HostArray inputs[] = {
      {sites, HostArray::Access::read}, {queries, HostArray::Access::read}, {cone.first, HostArray::Access::read}};
  const HostArray outputs[] = {{distance, HostArray::Access::write}, {site, HostArray::Access::write}};
  const auto read = [&](int k) { return view_of<const std::byte, MemorySpace::host>(inputs[k].raw()); };
  const auto written = [&](int k) { return view_of<std::byte, MemorySpace::host>(outputs[k].raw()); };
  published::MapReduceOptions options;
  std::tie(options.kernels, options.streams, options.tile) = division;
  options.atomic = atomic;
  options.every = every;
  options.directions = read(2);
  options.half_angle = cone.second;
  options.devices = std::move(devices);
  options.measure_error = measure_error;
  options.execution.backend = static_cast<Backend>(backend);
  options.execution.threads = threads;
  published::MapReduceReport report;
  run_watched(std::move(progress), options.execution, [&] {
    report = published::map_reduce(points::Coordinates(read(0)), points::Coordinates(read(1)), options,
                                   {written(0), written(1)});
  });
  nb::dict phases, told;
  for (const published::Phase& phase : report.phases) phases[phase.name.c_str()] = phase.seconds;
  const std::string_view name = name_of(report.backend);
  told["exact"] = report.exact;
  told["phases"] = phases;
  told["error"] = report.error ? nb::object(nb::float_(*report.error)) : nb::object(nb::none());
  told["tiles"] = report.tiles;
  told["intermediate_bytes"] = report.intermediate_bytes;
  told["shares"] = nb::tuple(nb::cast(report.shares));
  told["backend"] = nb::str(name.data(), name.size());
  told["device"] = report.device.empty() ? nb::object(nb::none()) : nb::cast(report.device);
  return told;
}

}  // namespace

void add_map_reduce(nb::module_& m) {
  m.def("map_reduce", &map_reduce, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
}

}  // namespace fathom::python
