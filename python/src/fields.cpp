#include "fields.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "apps.h"
#include "fathom/apps/costmap.h"
#include "fathom/apps/sdf.h"

namespace nb = nanobind;

namespace fathom::python {

namespace {

/// The number of a rule, and what it compares with; integers of up to 64 bits whole.
using Rule = std::pair<int, std::variant<std::int64_t, std::uint64_t, double>>;

grid::Sites sites_of(const Rule& rule) {
  return {static_cast<grid::Sites::Rule>(rule.first),
          std::visit([](auto number) { return grid::Sites::Value(number); }, rule.second)};
}

/// @param unknown  a rule, or None
template <class A>
void costmap(const A& x, int rank, const Common& common, const Rule& occupied, nb::handle unknown, double resolution,
             double inscribed, double inflation, double scaling, const A* cost, const A* nearest, nb::object progress) {
  const Images<A, 3> images({x.raw(), raw(cost), raw(nearest)}, rank);
  apps::CostmapOptions options;
  options.occupied = sites_of(occupied);
  if (!unknown.is_none()) options.unknown = sites_of(nb::cast<Rule>(unknown));
  options.resolution = resolution;
  options.inscribed = inscribed;
  options.inflation = inflation;
  options.scaling = scaling;
  options.batch_axes = images.batch_axes();
  options.execution = common.execution;
  const apps::BasicCostmapOutputs<A::kSpace> outputs{images[1], images[2]};
  run(x, options.execution, std::move(progress),
      [&](auto... stream) { apps::costmap(images[0], options, outputs, stream...); });
}

template <class A>
void sdf(const A& x, int rank, const Common& common, double range, double pad, bool invert, const A& texture,
         nb::object progress) {
  const Images<A, 2> images({x.raw(), texture.raw()}, rank);
  apps::SdfOptions options;
  options.range = range;
  options.pad = pad;
  options.invert = invert;
  options.batch_axes = images.batch_axes();
  options.execution = common.execution;
  run(x, options.execution, std::move(progress),
      [&](auto... stream) { apps::sdf(images[0], options, images[1], stream...); });
}

}  // namespace

void add_fields(nb::module_& m) {
  for_each_kind([&]<class A>(Kind<A>) {
    m.def("costmap", &costmap<A>, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(),
          nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none());
    m.def("sdf", &sdf<A>, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
          nb::arg().none());
  });
}

}  // namespace fathom::python
