// Bindings of fathom::published::band.
#include "fathom/published/band.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <array>
#include <string>
#include <utility>

#include "apps.h"
#include "mesh.h"
#include "watch.h"

namespace nb = nanobind;

namespace fathom::python {

namespace {

/// @param numbers  of the algorithm, the DType and the backend; threads
/// @param passes  points, edges, faces
/// @param choices  corrected, measure_tree, measure_error
/// @return the band, and what the call did
nb::tuple find_band(nb::handle vertices, nb::handle faces, const mesh::Lattice& lattice, double cutoff,
                    const std::array<int, 4>& numbers, const std::array<bool, 3>& passes,
                    const std::array<bool, 3>& choices, nb::object progress) {
  published::BandOptions options;
  options.algorithm = static_cast<published::BandAlgorithm>(numbers[0]);
  options.cutoff = cutoff;
  options.dtype = static_cast<DType>(numbers[1]);
  options.execution.backend = static_cast<Backend>(numbers[2]);
  options.execution.threads = numbers[3];
  options.points = passes[0];
  options.edges = passes[1];
  options.faces = passes[2];
  options.corrected = choices[0];
  options.measure_tree = choices[1];
  options.measure_error = choices[2];
  const HostArray places(vertices, HostArray::Access::read), corners(faces, HostArray::Access::read);
  const mesh::Triangles triangles{view_of<const std::byte, MemorySpace::host>(places.raw()),
                                  view_of<const std::byte, MemorySpace::host>(corners.raw())};
  published::BandResult result;
  run_watched(std::move(progress), options.execution,
              [&] { result = published::band(triangles, lattice, options); });
  const published::BandReport& report = result.report;
  nb::dict phases, told;
  for (const published::Phase& phase : report.phases) phases[phase.name.c_str()] = phase.seconds;
  told["phases"] = phases;
  told["exact"] = report.exact;
  told["nodes"] = report.nodes;
  told["visited"] = report.visited;
  told["backend"] = std::string(name_of(report.backend));
  told["device"] = report.device.empty() ? nb::object(nb::none()) : nb::cast(report.device);
  told["error"] = report.error ? nb::object(nb::make_tuple(report.error->missed, report.error->share,
                                                           report.error->farther, report.error->largest))
                               : nb::object(nb::none());
  return nb::make_tuple(std::move(result.band), told);
}

}  // namespace

void add_published_band(nb::module_& m) {
  m.def("published_band", &find_band, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg().none());
}

}  // namespace fathom::python
