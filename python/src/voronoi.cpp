#include "voronoi.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "apps.h"
#include "fathom/apps/stipple.h"
#include "fathom/apps/voronoi.h"

namespace nb = nanobind;

namespace fathom::python {

namespace {

template <class T>
nb::object table(const std::vector<T>& values, const Shape& shape) {
  Array array(dtype_of<T>(), shape);
  std::copy(values.begin(), values.end(), array.as<T>().data());
  return as_numpy(std::move(array));
}

nb::tuple tables(const apps::Voronoi& found, std::int64_t axes, bool moments) {
  const auto n = static_cast<std::int64_t>(found.sites.size());
  const auto edges = static_cast<std::int64_t>(found.boundaries.size());
  std::vector<std::int64_t> pairs;
  std::vector<double> lengths;
  for (const apps::Boundary& boundary : found.boundaries) {
    pairs.insert(pairs.end(), {boundary.first, boundary.second});
    lengths.push_back(boundary.length);
  }
  return nb::make_tuple(table(found.sites, {n}), table(found.areas, {n}), table(found.masses, {n}),
                        table(found.firsts, {n, axes}), table(found.seconds, {n, moments ? axes * (axes + 1) / 2 : 0}),
                        found.weight_scale, table(pairs, {edges, 2}), table(lengths, {edges}));
}

/// Those of each image.
nb::list tables(const std::vector<apps::Voronoi>& found, std::int64_t axes, bool moments) {
  nb::list result;
  for (const apps::Voronoi& one : found) result.append(tables(one, axes, moments));
  return result;
}

template <class A>
nb::list voronoi(const A& x, int rank, const Common& common, const A* weights, bool moments, bool boundaries,
                 const A& regions, nb::object progress) {
  const Images<A, 3> images({x.raw(), raw(weights), regions.raw()}, rank);
  apps::VoronoiOptions options;
  options.spacing = common.spacing;
  options.execution = common.execution;
  options.moments = moments;
  options.boundaries = boundaries;
  std::vector<apps::Voronoi> found;
  run(x, options.execution, std::move(progress), [&](auto... stream) {
    found = apps::voronoi_batch(images[0], images[1], images.batch_axes(), options, images[2], stream...);
  });
  return tables(found, images[0].rank() - images.batch_axes(), moments);
}

/// Of each image energies, iterations, whether sites are at rest.
nb::list told(const std::vector<apps::LloydReport>& reports) {
  nb::list result;
  for (const apps::LloydReport& report : reports) {
    const auto count = static_cast<std::int64_t>(report.energies.size());
    result.append(nb::make_tuple(table(report.energies, {count}), report.iterations, report.at_rest));
  }
  return result;
}

/// Moves the sites where they are.
template <class A>
nb::list lloyd(const A& weights, int rank, const Common& common, const A& sites, int iterations, bool on_elements,
               int supersample, double tolerance, std::uint64_t seed, bool energies, nb::object progress) {
  const Images<A, 2> images({weights.raw(), sites.raw()}, rank);
  apps::LloydOptions options;
  options.iterations = iterations;
  options.on_elements = on_elements;
  options.supersample = supersample;
  options.tolerance = tolerance;
  options.energies = energies;
  options.seed = seed;
  options.execution = common.execution;
  std::vector<apps::LloydReport> reports;
  run(weights, options.execution, std::move(progress), [&](auto... stream) {
    const auto places = images[1].template as<double>();
    reports = apps::lloyd_batch(images[0], places, images.batch_axes(), options, stream...);
  });
  return told(reports);
}

/// [images, dots, 2] and [images, dots].
nb::tuple positions_and_radii(const std::vector<apps::Stipples>& found, std::int64_t dots) {
  const auto count = static_cast<std::int64_t>(found.size());
  Array positions(DType::float64, {count, dots, 2}), radii(DType::float64, {count, dots});
  for (std::int64_t item = 0; item < count; ++item) {
    const apps::Stipples& one = found[static_cast<std::size_t>(item)];
    std::copy_n(one.positions.as<double>().data(), 2 * dots, positions.as<double>().data() + 2 * item * dots);
    std::copy_n(one.radii.as<double>().data(), dots, radii.as<double>().data() + item * dots);
  }
  return nb::make_tuple(as_numpy(std::move(positions)), as_numpy(std::move(radii)));
}

template <class A>
nb::tuple stipple(const A& image, int rank, const Common& common, std::int64_t dots, std::uint64_t seed, int iterations,
                  double tolerance, double gamma, bool invert, int supersample, nb::object progress) {
  const Images<A, 1> images({image.raw()}, rank);
  apps::StippleOptions options;
  options.dots = dots;
  options.seed = seed;
  options.iterations = iterations;
  options.tolerance = tolerance;
  options.gamma = gamma;
  options.invert = invert;
  options.supersample = supersample;
  options.execution = common.execution;
  std::vector<apps::Stipples> found;
  run(image, options.execution, std::move(progress),
      [&](auto... stream) { found = apps::stipple_batch(images[0], images.batch_axes(), options, stream...); });
  return positions_and_radii(found, dots);
}

}  // namespace

void add_voronoi(nb::module_& m) {
  for_each_kind([&]<class A>(Kind<A>) {
    m.def("voronoi", &voronoi<A>, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(),
          nb::arg().none());
    m.def("lloyd", &lloyd<A>, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
          nb::arg(), nb::arg(), nb::arg().none());
    m.def("stipple", &stipple<A>, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
          nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  });
}

}  // namespace fathom::python
