// Bindings of fathom::published's tiles: host arrays in, host arrays out, and what the call did.
#include "fathom/published/tiles.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "apps.h"
#include "watch.h"

namespace nb = nanobind;

namespace fathom::python {

namespace {

/// @param call  of the input's view, the output's and the execution
/// @return name of the backend, name of the device, seconds of phases
template <class Call>
nb::tuple run(nb::handle input, nb::handle output, int backend, nb::object progress, const Call& call) {
  const HostArray arrays[] = {{input, HostArray::Access::read}, {output, HostArray::Access::write}};
  RawArray raw[] = {arrays[0].raw(), arrays[1].raw()};
  const auto view = [](RawArray& array) {
    RawArray* const one[] = {&array};
    return view_of<std::byte, MemorySpace::host>(array, merge_leading(one, {0, array.rank}));
  };
  Execution execution;
  execution.backend = static_cast<Backend>(backend);
  published::TilesReport report;
  run_watched(std::move(progress), execution, [&] { report = call(view(raw[0]), view(raw[1]), execution); });
  nb::dict phases;
  for (const published::Phase& phase : report.phases) phases[phase.name.c_str()] = phase.seconds;
  const std::string_view name = name_of(report.backend);
  return nb::make_tuple(nb::str(name.data(), name.size()),
                        report.device.empty() ? nb::object(nb::none()) : nb::cast(report.device), phases);
}

nb::tuple repeat(nb::handle repeater, nb::handle target, int variant, int backend, nb::object progress) {
  return run(repeater, target, backend, std::move(progress), [&](const auto& from, const auto& to, const auto& how) {
    return published::repeat(from, static_cast<published::RepeatVariant>(variant), to, how);
  });
}

nb::tuple lattice(nb::handle repeater, nb::handle target, std::array<std::int64_t, 2> u, std::array<std::int64_t, 2> v,
                  int variant, int backend, nb::object progress) {
  return run(repeater, target, backend, std::move(progress), [&](const auto& from, const auto& to, const auto& how) {
    return published::lattice(from, u, v, static_cast<published::LatticeVariant>(variant), to, how);
  });
}

nb::tuple near(nb::handle source, nb::handle distance, int most, int variant, int backend, nb::object progress) {
  return run(source, distance, backend, std::move(progress), [&](const auto& from, const auto& to, const auto& how) {
    return published::near(from, most, static_cast<published::NearVariant>(variant), to, how);
  });
}

}  // namespace

void add_published_tiles(nb::module_& m) {
  m.def("published_repeat", &repeat, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("published_lattice", &lattice, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg().none());
  m.def("published_near", &near, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
}

}  // namespace fathom::python
