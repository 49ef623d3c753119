#include "mesh.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "arrays.h"
#include "fathom/core/error.h"
#include "fathom/io/sparse.h"
#include "fathom/mesh/compare.h"
#include "fathom/mesh/iso_surface.h"
#include "fathom/mesh/self_intersections.h"
#include "fathom/mesh/triangle_set.h"
#include "operation.h"

#ifdef FATHOM_PYTHON_CUDA
#include "cuda/current_device.h"
#endif

namespace fathom::python {

namespace nb = nanobind;

namespace {

using enum HostArray::Access;
/// Numbers of a mesh::Sign, a mesh::WindingRule and a Backend; most bytes of a device.
using MeshChoices = std::tuple<int, int, int, std::optional<std::size_t>>;
using mesh::Point;
using Extents = std::array<std::int64_t, 3>;
constexpr auto kHost = MemorySpace::host;

AnyConstView read_view(const HostArray& array) { return view_of<const std::byte, kHost>(array.raw()); }
AnyView write_view(const HostArray& array) { return view_of<std::byte, kHost>(array.raw()); }

/// @param device  where it is to live; none: on the host, or where the backend says
mesh::TriangleSet make_triangle_set(const HostArray& vertices, const HostArray& faces, const MeshChoices& choices,
                                    [[maybe_unused]] std::optional<int> device, int threads, nb::object progress) {
  const auto& [sign, rule, backend, device_memory] = choices;
#ifdef FATHOM_PYTHON_CUDA
  std::optional<CurrentDevice> chosen;
  if (device) chosen.emplace(*device);
#endif
  mesh::TriangleSetOptions options;
  options.sign = static_cast<mesh::Sign>(sign);
  options.rule = static_cast<mesh::WindingRule>(rule);
  options.device_memory = device_memory;
  options.execution.backend = device ? Backend::cuda : static_cast<Backend>(backend);
  options.execution.threads = threads;
  std::optional<mesh::TriangleSet> set;
  const mesh::Triangles triangles{read_view(vertices), read_view(faces)};
  run_watched(std::move(progress), options.execution, [&] { set.emplace(triangles, options); });
  return std::move(*set);
}

/// Arrays to fill, or None, in the order of mesh::Outputs. They lie in one place.
class Answers {
 public:
  explicit Answers(const nb::tuple& arrays) {
    for (std::size_t k = 0; k < kOutputs; ++k) {
      const DeviceArray* there = nullptr;
      if (arrays[k].is_none()) continue;
      if (nb::try_cast(arrays[k], there)) raw_[k] = (on_device_ = there)->raw();
      else if (held_[k].acquire(arrays[k])) raw_[k] = held_[k].raw();
      else throw nb::type_error("outputs are arrays, or None");
    }
  }

  /// One of them, if they lie on a device.
  const DeviceArray* on_device() const { return on_device_; }

  /// @param of_points  any number of axes count the questions, and lie dense in memory
  template <MemorySpace Space>
  mesh::BasicOutputs<Space> views(bool of_points) const {
    const auto view = [&](std::size_t k) {
      const bool is_vector = k == 2 || k == 3 || k == 5;
      RawArray array = of_points ? raw_[k].joined(0, is_vector) : raw_[k];
      if (array.dtype == DType::boolean) array.dtype = DType::uint8;
      return view_of<std::byte, Space>(array);
    };
    return {view(0), view(1), view(2), view(3), view(4), view(5), view(6)};
  }

 private:
  static constexpr std::size_t kOutputs = 7;
  std::array<HostArray, kOutputs> held_;
  std::array<RawArray, kOutputs> raw_;
  const DeviceArray* on_device_ = nullptr;
};

template <class A>
void nearest(const mesh::TriangleSet& set, const A& points, const nb::tuple& outputs, int threads,
             nb::object progress) {
  const Answers answers(outputs);
  const auto questions = view_of<const std::byte, A::kSpace>(points.raw().joined(0, 1));
  const auto views = answers.views<A::kSpace>(true);
  Execution execution;
  execution.threads = threads;
  run(points, execution, std::move(progress),
      [&](auto... stream) { set.nearest(questions, views, execution, stream...); });
}

void field(const mesh::TriangleSet& set, const mesh::Lattice& lattice, const nb::tuple& outputs, int threads,
           nb::object progress) {
  const Answers answers(outputs);
  Execution execution;
  execution.threads = threads;
  const auto fill = [&]<class A>(const A& one) {
    const auto views = answers.views<A::kSpace>(false);
    run(one, execution, std::move(progress), [&](auto... stream) { set.field(lattice, views, execution, stream...); });
  };
  if (answers.on_device()) fill(*answers.on_device());
  else fill(HostArray());
}

/// @param dtype  number of a DType
/// @param keep  triangles, closest points; and whether points of the band alone
mesh::Band band(const mesh::TriangleSet& set, const mesh::Lattice& lattice, double cutoff, int dtype,
                const std::array<bool, 3>& keep, int threads, nb::object progress) {
  mesh::BandOptions options{cutoff, static_cast<DType>(dtype), keep[0], keep[1], keep[2], {}};
  options.execution.threads = threads;
  mesh::Band result;
  run_watched(std::move(progress), options.execution, [&] { result = set.band(lattice, options); });
  return result;
}

nb::tuple tuple_of(const mesh::Deviation& d) {
  return nb::make_tuple(d.max, d.bound, d.point, d.nearest, d.triangle, d.nearest_triangle, d.mean, d.rms, d.error);
}

/// @return both deviations, and the tolerance
nb::tuple compare(const mesh::TriangleSet& set, const mesh::TriangleSet& other, std::optional<double> tolerance,
                  std::int64_t samples, int threads, nb::object progress) {
  mesh::CompareOptions options;
  options.tolerance = tolerance;
  options.samples = samples;
  options.execution.threads = threads;
  mesh::Comparison result;
  run_watched(std::move(progress), options.execution, [&] { result = mesh::compare(set, other, options); });
  return nb::make_tuple(tuple_of(result.forward), tuple_of(result.backward), result.tolerance);
}

mesh::SelfIntersections self_intersections(const mesh::TriangleSet& set, std::int64_t limit, int threads,
                                           nb::object progress) {
  mesh::SelfIntersectionOptions options;
  options.most_pairs = limit;
  options.execution.threads = threads;
  mesh::SelfIntersections result;
  run_watched(std::move(progress), options.execution, [&] { result = mesh::self_intersections(set, options); });
  return result;
}

mesh::Lattice lattice_of(const mesh::TriangleSet& set, std::optional<std::int64_t> resolution,
                         std::optional<Point> spacing, std::optional<Point> origin, std::optional<Extents> shape,
                         std::int64_t margin, std::optional<double> cutoff) {
  return mesh::lattice_around(set.bounds(), {resolution, spacing, origin, shape, margin, cutoff});
}

nb::tuple topology_of(const mesh::TriangleSet& set) {
  const mesh::Topology& t = set.topology();
  return nb::make_tuple(t.closed(), t.vertices, t.edges, t.open, t.flipped, t.shared, t.degenerate, t.duplicate,
                        t.volume, t.area);
}

/// @throws InvalidArgument another shape or type
Array copy_of(nb::handle from, DType dtype, const Shape& shape) {
  const HostArray array(from, read);
  const AnyConstView view = read_view(array);
  if (view.dtype() != dtype || !(view.shape() == shape))
    throw InvalidArgument("an array of the band is " + std::string(name_of(view.dtype())) + " of the shape " +
                          to_string(view.shape()) + "; it must be " + std::string(name_of(dtype)) + " of " +
                          to_string(shape));
  Array copy(dtype, shape);
  if (copy.bytes() > 0) std::memcpy(copy.data(), array.data(), copy.bytes());
  return copy;
}

/// @throws InvalidArgument tiles out of order or outside the lattice
void check_tiles(const mesh::Band& band) {
  const std::int32_t* const tiles = band.tiles.as<std::int32_t>().data();
  const Extents shape = band.tile_shape();
  std::int64_t last = -1;
  for (std::int64_t n = 0; n < band.count(); ++n) {
    std::int64_t place = 0;
    bool within = true;
    for (std::size_t k = 3; k-- > 0;) {
      const std::int64_t at = tiles[3 * n + static_cast<std::int64_t>(k)];
      within = within && at >= 0 && at < shape[k];
      place = place * shape[k] + at;
    }
    if (!within || place <= last)
      throw InvalidArgument("tile " + std::to_string(n) + " of the band is out of order or outside the lattice");
    last = place;
  }
}

/// @throws InvalidArgument other numbers of points before the tiles than the masks say
void check_first(const mesh::Band& band) {
  const std::int64_t* const first = band.first.as<std::int64_t>().data();
  const std::uint64_t* word = band.masks.as<std::uint64_t>().data();
  std::int64_t before = 0;
  for (std::int64_t n = 0; n <= band.count(); ++n) {
    if (first[n] != before) throw InvalidArgument("'first' of the band does not count what its masks say");
    for (int z = 0; z < mesh::kTileSide && n < band.count(); ++z) before += std::popcount(*word++);
  }
}

/// A band of its arrays, which are dense and copied.
/// @param arrays  tiles, masks, distances, triangles or None, closest or None, row_inside, after_inside, first or None,
///   inside or None
mesh::Band band_of(const mesh::Lattice& lattice, double cutoff, bool is_signed, const nb::tuple& arrays) {
  mesh::Band band;
  band.lattice = lattice;
  band.cutoff = cutoff;
  band.is_signed = is_signed;
  const auto rows = [](nb::handle array) { return static_cast<std::int64_t>(nb::len(array)); };
  const std::int64_t n = rows(arrays[0]);
  const DType dtype = HostArray(arrays[2], read).raw().dtype;
  if (dtype != DType::float32 && dtype != DType::float64)
    throw InvalidArgument("a band's distances are float32 or float64");
  for (const std::int64_t extent : lattice.shape)
    if (extent < 0 || extent > INT32_MAX)
      throw InvalidArgument("the shape of the band's lattice has the extent " + std::to_string(extent) +
                            "; extents are 0 to 2147483647");
  const Extents tiles = band.tile_shape();
  band.tiles = copy_of(arrays[0], DType::int32, {n, 3});
  band.masks = copy_of(arrays[1], DType::uint64, {n, mesh::kTileSide});
  for (std::int64_t k = 0; k < n * mesh::kTileSide; ++k)
    band.active += std::popcount(band.masks.as<std::uint64_t>().data()[k]);
  const bool is_compact = !arrays[7].is_none();
  const Shape points = is_compact ? Shape{band.active} : Shape{n, mesh::kTilePoints};
  Shape vectors = points;
  vectors.push_back(3);
  band.distances = copy_of(arrays[2], dtype, points);
  if (!arrays[3].is_none()) band.triangles = copy_of(arrays[3], DType::int32, points);
  if (!arrays[4].is_none()) band.closest = copy_of(arrays[4], DType::float32, vectors);
  if (is_compact) band.first = copy_of(arrays[7], DType::int64, {n + 1});
  if (is_compact && is_signed && arrays[8].is_none())
    throw InvalidArgument("the inside of a compact band with a sign is missing");
  if (is_compact && is_signed) band.inside = copy_of(arrays[8], DType::uint64, {n, mesh::kTileSide});
  band.row_inside = copy_of(arrays[5], DType::uint8, {tiles[2], tiles[1]});
  band.after_inside = copy_of(arrays[6], DType::uint8, {n});
  check_tiles(band);
  if (is_compact) check_first(band);
  return band;
}

/// Each of the band's arrays over its own memory; None for what it has not. In the order of band_of().
nb::tuple arrays_of(nb::handle self) {
  auto& band = nb::cast<mesh::Band&>(self);
  const auto view = [&](Array& array) { return array.data() != nullptr ? numpy_view(array, self) : nb::none(); };
  return nb::make_tuple(numpy_view(band.tiles, self), numpy_view(band.masks, self), numpy_view(band.distances, self),
                        view(band.triangles), view(band.closest), numpy_view(band.row_inside, self),
                        numpy_view(band.after_inside, self), view(band.first), view(band.inside));
}

void to_dense(const mesh::Band& band, nb::handle out) {
  const HostArray array(out, write);
  const AnyView view = write_view(array);
  const nb::gil_scoped_release unlocked;
  band.to_dense(view);
}

void to_list(const mesh::Band& band, nb::handle places, nb::handle distances) {
  const HostArray arrays[] = {{places, write}, {distances, write}};
  const AnyView views[] = {write_view(arrays[0]), write_view(arrays[1])};
  const nb::gil_scoped_release unlocked;
  band.to_list(views[0], views[1]);
}

void save(const mesh::Band& band, const std::string& path) {
  const nb::gil_scoped_release unlocked;
  io::check_sparse(path, io::SparseFormat::automatic, band.lattice.spacing);
  io::AtomicFile file(path);
  const std::optional<mesh::Band> full = band.is_compact() ? std::optional(band.full()) : std::nullopt;
  io::write_sparse(file, io::sparse_field(full ? *full : band), io::SparseFormat::automatic);
  file.commit();
}

/// @param field  [z, y, x]
mesh::IsoSurface level_set(const mesh::Lattice& lattice, nb::handle field, double level) {
  const HostArray array(field, read);
  const AnyConstView view = read_view(array);
  const nb::gil_scoped_release unlocked;
  return mesh::level_set(lattice, view, level);
}

}  // namespace

void add_mesh(nb::module_& m) {
  nb::class_<mesh::Lattice>(m, "Lattice")
      .def(nb::new_([](const Point& origin, const Point& spacing, const Extents& shape) {
        return mesh::Lattice{origin, spacing, shape};
      }))
      .def_ro("origin", &mesh::Lattice::origin)
      .def_ro("spacing", &mesh::Lattice::spacing)
      .def_ro("shape", &mesh::Lattice::shape);
  nb::class_<mesh::TriangleSet>(m, "TriangleSet")
      .def(nb::new_(&make_triangle_set), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none())
      .def("nearest", &nearest<HostArray>, nb::arg(), nb::arg(), nb::arg(), nb::arg().none())
      .def("nearest", &nearest<DeviceArray>, nb::arg(), nb::arg(), nb::arg(), nb::arg().none())
      .def("field", &field, nb::arg(), nb::arg(), nb::arg(), nb::arg().none())
      .def("band", &band, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none())
      .def("compare", &compare, nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg().none())
      .def("self_intersections", &self_intersections, nb::arg(), nb::arg(), nb::arg().none())
      .def("lattice", &lattice_of, nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg(),
           nb::arg().none())
      .def_prop_ro("topology", &topology_of)
      .def_prop_ro("bounds",
                   [](const mesh::TriangleSet& set) {
                     return std::array{set.bounds().low, set.bounds().high};
                   })
      .def_prop_ro("sign", [](const mesh::TriangleSet& set) { return static_cast<int>(set.sign()); })
      .def_prop_ro("size", &mesh::TriangleSet::size)
      .def_prop_ro("bytes", &mesh::TriangleSet::bytes);
  nb::class_<mesh::SelfIntersections>(m, "SelfIntersections")
      .def_ro("count", &mesh::SelfIntersections::count)
      .def_prop_ro("pairs",
                   [](nb::handle self) { return numpy_view(nb::cast<mesh::SelfIntersections&>(self).pairs, self); });
  nb::class_<mesh::IsoSurface>(m, "IsoSurface")
      .def(nb::new_(&level_set))
      .def_ro("closed", &mesh::IsoSurface::closed)
      .def_prop_ro("arrays", [](nb::handle self) {
        auto& surface = nb::cast<mesh::IsoSurface&>(self);
        return nb::make_tuple(numpy_view(surface.vertices, self), numpy_view(surface.triangles, self));
      });
  nb::class_<mesh::Band>(m, "Band")
      .def(nb::new_(&band_of))
      .def_ro("lattice", &mesh::Band::lattice)
      .def_ro("cutoff", &mesh::Band::cutoff)
      .def_ro("is_signed", &mesh::Band::is_signed)
      .def_ro("active", &mesh::Band::active)
      .def_prop_ro("arrays", &arrays_of)
      .def("save", &save)
      .def("to_dense", &to_dense)
      .def("to_list", &to_list, nb::arg().none(), nb::arg().none());
}

}  // namespace fathom::python
