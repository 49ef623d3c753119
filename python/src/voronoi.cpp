#include "voronoi.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "apps.h"
#include "fathom/apps/stipple.h"
#include "fathom/apps/voronoi.h"
#include "watch.h"
#ifdef FATHOM_PYTHON_CUDA
#include "cuda/device_array.h"
#endif

namespace nb = nanobind;

namespace fathom::python {

namespace {

using enum HostArray::Access;

template <class T>
nb::object table(const std::vector<T>& values, const Shape& shape) {
  Array array(dtype_of<T>(), shape);
  std::copy(values.begin(), values.end(), array.as<T>().data());
  return as_numpy(std::move(array));
}

apps::VoronoiOptions options_of(const Common& common, bool moments, bool boundaries) {
  apps::VoronoiOptions options;
  options.spacing = common.spacing;
  options.execution = common.execution;
  options.moments = moments;
  options.boundaries = boundaries;
  return options;
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

nb::list voronoi(nb::handle x, int rank, const Common& common, nb::handle weights, bool moments, bool boundaries,
                  nb::handle regions, nb::object progress) {
  const HostArray arrays[] = {{x, read}, {weights, read}, {regions, write}};
  const Images images(arrays, rank);
  apps::VoronoiOptions options = options_of(common, moments, boundaries);
  std::vector<apps::Voronoi> found;
  run_watched(std::move(progress), options.execution, [&] {
    found = apps::voronoi_batch(images[0], images[1], images.batch_axes(), options, images[2]);
  });
  return tables(found, images[0].rank() - images.batch_axes(), moments);
}

apps::LloydOptions options_of(const Common& common, int iterations, bool on_elements, int supersample, double tolerance,
                              std::uint64_t seed, bool energies) {
  apps::LloydOptions options;
  options.iterations = iterations;
  options.on_elements = on_elements;
  options.supersample = supersample;
  options.tolerance = tolerance;
  options.energies = energies;
  options.seed = seed;
  options.execution = common.execution;
  return options;
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
nb::list lloyd(nb::handle weights, int rank, const Common& common, nb::handle sites, int iterations, bool on_elements,
                int supersample, double tolerance, std::uint64_t seed, bool energies, nb::object progress) {
  const HostArray arrays[] = {{weights, read}, {sites, write}};
  const Images images(arrays, rank);
  apps::LloydOptions options = options_of(common, iterations, on_elements, supersample, tolerance, seed, energies);
  std::vector<apps::LloydReport> reports;
  run_watched(std::move(progress), options.execution, [&] {
    reports = apps::lloyd_batch(images[0], images[1].as<double>(), images.batch_axes(), options);
  });
  return told(reports);
}

apps::StippleOptions options_of(const Common& common, std::int64_t dots, std::uint64_t seed, int iterations,
                                double tolerance, double gamma, bool invert, int supersample) {
  apps::StippleOptions options;
  options.dots = dots;
  options.seed = seed;
  options.iterations = iterations;
  options.tolerance = tolerance;
  options.gamma = gamma;
  options.invert = invert;
  options.supersample = supersample;
  options.execution = common.execution;
  return options;
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

nb::tuple stipple(nb::handle image, int rank, const Common& common, std::int64_t dots, std::uint64_t seed,
                  int iterations, double tolerance, double gamma, bool invert, int supersample, nb::object progress) {
  const HostArray arrays[] = {{image, read}};
  const Images images(arrays, rank);
  apps::StippleOptions options = options_of(common, dots, seed, iterations, tolerance, gamma, invert, supersample);
  std::vector<apps::Stipples> found;
  run_watched(std::move(progress), options.execution,
              [&] { found = apps::stipple_batch(images[0], images.batch_axes(), options); });
  return positions_and_radii(found, dots);
}

#ifdef FATHOM_PYTHON_CUDA

nb::list voronoi_on_device(const DeviceArray& x, int rank, const Common& common, const DeviceArray* weights,
                            bool moments, bool boundaries, const DeviceArray& regions, std::uintptr_t stream) {
  const DeviceImages<3> images({x.raw(), raw(weights), regions.raw()}, rank);
  const apps::VoronoiOptions options = options_of(common, moments, boundaries);
  std::vector<apps::Voronoi> found;
  {
    const nb::gil_scoped_release unlocked;
    found = apps::voronoi_batch(images[0], images[1], images.batch_axes(), options, images[2], stream_at(stream));
  }
  return tables(found, images[0].rank() - images.batch_axes(), moments);
}

nb::list lloyd_on_device(const DeviceArray& weights, int rank, const Common& common, const DeviceArray& sites,
                          int iterations, bool on_elements, int supersample, double tolerance, std::uint64_t seed,
                          bool energies, std::uintptr_t stream) {
  const DeviceImages<2> images({weights.raw(), sites.raw()}, rank);
  const apps::LloydOptions options =
      options_of(common, iterations, on_elements, supersample, tolerance, seed, energies);
  std::vector<apps::LloydReport> reports;
  {
    const nb::gil_scoped_release unlocked;
    reports =
        apps::lloyd_batch(images[0], images[1].as<double>(), images.batch_axes(), options, stream_at(stream));
  }
  return told(reports);
}

nb::tuple stipple_on_device(const DeviceArray& image, int rank, const Common& common, std::int64_t dots,
                            std::uint64_t seed, int iterations, double tolerance, double gamma, bool invert,
                            int supersample, std::uintptr_t stream) {
  const DeviceImages<1> images({image.raw()}, rank);
  const apps::StippleOptions options =
      options_of(common, dots, seed, iterations, tolerance, gamma, invert, supersample);
  std::vector<apps::Stipples> found;
  {
    const nb::gil_scoped_release unlocked;
    found = apps::stipple_batch(images[0], images.batch_axes(), options, stream_at(stream));
  }
  return positions_and_radii(found, dots);
}

#endif

}  // namespace

void add_voronoi(nb::module_& m) {
  m.def("voronoi", &voronoi, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg().none());
  m.def("lloyd", &lloyd, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg().none());
  m.def("stipple", &stipple, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg().none());
#ifdef FATHOM_PYTHON_CUDA
  m.def("voronoi_on_device", &voronoi_on_device, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg());
  m.def("lloyd_on_device", &lloyd_on_device);
  m.def("stipple_on_device", &stipple_on_device);
#endif
}

}  // namespace fathom::python
