// Bindings of fathom::published: host arrays in, host arrays out, and what the call did.
#include "fathom/published/distance.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "apps.h"
#include "fathom/core/error.h"
#include "watch.h"

namespace nb = nanobind;

namespace fathom::python {

namespace {

template <class T, std::size_t N>
T named(const std::string_view (&names)[N], const std::string& name, const char* argument) {
  const auto* const at = std::find(std::begin(names), std::end(names), name);
  if (at != std::end(names)) return static_cast<T>(at - std::begin(names));
  std::string choices;
  for (const std::string_view one : names) choices += (choices.empty() ? "'" : ", '") + std::string(one) + "'";
  throw InvalidArgument(std::string(argument) + " is '" + name + "'; it must be one of " + choices);
}

nb::dict told(const published::DistanceReport& report) {
  nb::dict phases, result;
  for (const published::Phase& phase : report.phases) phases[phase.name.c_str()] = phase.seconds;
  const std::string_view backend = name_of(report.backend);
  result["exact"] = report.exact;
  result["phases"] = phases;
  result["backend"] = nb::str(backend.data(), backend.size());
  result["device"] = report.device.empty() ? nb::object(nb::none()) : nb::cast(report.device);
  result["error"] = report.error
                        ? nb::object(nb::make_tuple(report.error->wrong, report.error->share, report.error->largest))
                        : nb::object(nb::none());
  return result;
}

/// @param m  m1, m2, m3
nb::dict distance(nb::handle x, int /*rank*/, const grid::DistanceOptions& plain, nb::handle distance,
                  nb::handle nearest, nb::object progress, const std::string& algorithm, std::tuple<int, int, int> m,
                  std::optional<std::int64_t> slice, const std::string& access, int more_rounds, bool measure_error) {
  static constexpr std::string_view kAlgorithms[] = {"pba", "proximate", "jfa", "skw", "brute"};
  static constexpr std::string_view kAccess[] = {"vv-hh", "hh-vv", "vh-vh", "hv-hv", "vtv-vtv"};
  published::DistanceOptions options;
  options.algorithm = named<published::Algorithm>(kAlgorithms, algorithm, "algorithm");
  options.sites = plain.sites;
  options.m1 = std::get<0>(m);
  options.m2 = std::get<1>(m);
  options.m3 = std::get<2>(m);
  options.slice = slice;
  options.access = named<published::Access>(kAccess, access, "access");
  options.more_rounds = more_rounds;
  options.measure_error = measure_error;
  options.execution = plain.execution;
  const HostArray arrays[] = {
      {x, HostArray::Access::read}, {distance, HostArray::Access::write}, {nearest, HostArray::Access::write}};
  RawArray raw[] = {arrays[0].raw(), arrays[1].raw(), arrays[2].raw()};
  const auto view = [](RawArray& array) {
    RawArray* const one[] = {&array};
    return view_of<std::byte, MemorySpace::host>(array, merge_leading(one, {0, array.rank}));
  };
  published::DistanceReport report;
  run_watched(std::move(progress), options.execution, [&] {
    report = published::distance_transform(view(raw[0]), options, {view(raw[1]), view(raw[2])});
  });
  return told(report);
}

}  // namespace

void add_published(nb::module_& m) {
  m.def("published_distance", &distance, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg());
}

}  // namespace fathom::python
