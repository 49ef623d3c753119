#include "mesh_info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "fathom/core/error.h"
#include "fathom/io/mesh.h"
#include "fathom/mesh/triangle_set.h"
#include "input.h"
#include "json.h"
#include "mesh_report.h"
#include "progress.h"
#include "report.h"
#include "warnings.h"

namespace fathom::cli {

namespace {

/// The smallest box of the vertices that triangles name, in numbers of their type; and how many of them are not finite,
/// which it leaves out.
template <class T>
struct Bounds {
  std::array<T, 3> low, high;
  std::int64_t not_finite = 0;
  bool empty() const { return low[0] > high[0]; }
};

template <class T, class Index>
Bounds<T> bounds_of(const io::Mesh& mesh) {
  Bounds<T> bounds;
  bounds.low.fill(std::numeric_limits<T>::infinity());
  bounds.high.fill(-std::numeric_limits<T>::infinity());
  std::vector<bool> named(static_cast<std::size_t>(mesh.vertices.shape()[0]));
  const Index* corners = mesh.triangles.as<Index>().data();
  for (std::int64_t i = 0; i < mesh.triangles.size(); ++i) named[static_cast<std::size_t>(corners[i])] = true;
  const T* vertex = mesh.vertices.as<T>().data();
  for (std::size_t v = 0; v < named.size(); ++v, vertex += 3) {
    if (!named[v]) continue;
    if (!std::all_of(vertex, vertex + 3, [](T x) { return std::isfinite(x); })) {
      ++bounds.not_finite;
      continue;
    }
    for (std::size_t k = 0; k < 3; ++k) {
      bounds.low[k] = std::min(bounds.low[k], vertex[k]);
      bounds.high[k] = std::max(bounds.high[k], vertex[k]);
    }
  }
  return bounds;
}

/// Nothing where vertices are no numbers, or beyond all reason.
std::optional<mesh::Topology> topology_of(const io::Mesh& mesh) {
  mesh::TriangleSetOptions options;
  options.sign = mesh::Sign::none;
  try {
    return mesh::TriangleSet({mesh.vertices.view(), mesh.triangles.view()}, options).topology();
  } catch (const InvalidArgument&) {
    return std::nullopt;
  }
}

template <class T>
void print(const std::string& path, const io::Mesh& mesh, const Bounds<T>& bounds, bool json) {
  const std::int64_t triangles = mesh.triangles.shape()[0], vertices = mesh.vertices.shape()[0];
  const auto& numbers = mesh.face_of_triangle;  // in ascending order
  const std::int64_t faces = numbers.empty()
                                 ? triangles
                                 : 1 + std::inner_product(numbers.begin() + 1, numbers.end(), numbers.begin(),
                                                          std::int64_t{0}, std::plus<>(), std::not_equal_to<>());
  if (bounds.not_finite > 0)
    warn(fmt::format("{}: {} vertices are no finite numbers; bounds are of the others", input_name(path),
                     bounds.not_finite));
  const std::optional<mesh::Topology> topology = topology_of(mesh);
  if (json)
    return print_line({{"operation", "info"},
                       {"input", {{"path", path}, {"format", io::name_of(mesh.format)}}},
                       {"dtype", name_of(mesh.vertices.dtype())},
                       {"vertices", vertices},
                       {"triangles", triangles},
                       {"faces", faces},
                       {"min", bounds.empty() ? Json(nullptr) : Json(bounds.low)},
                       {"max", bounds.empty() ? Json(nullptr) : Json(bounds.high)},
                       {"unit", text_or_null(mesh.unit)},
                       {"topology", topology ? topology_json(*topology) : Json(nullptr)}});
  print_text(fmt::format(
      "file       {}\nformat     {}\nvertices   {} of {}\ntriangles  {}\nfaces      {}\nbounds     {}\n"
      "unit       {}\nsurface    {}\n",
      input_name(path), io::name_of(mesh.format), vertices, name_of(mesh.vertices.dtype()), triangles, faces,
      bounds.empty() ? "none" : fmt::format("{} to {}", fmt::join(bounds.low, ", "), fmt::join(bounds.high, ", ")),
      mesh.unit.empty() ? "unknown" : mesh.unit, topology ? topology_text(*topology) : "unknown"));
}

}  // namespace

void print_mesh_info(const std::string& path, bool json) {
  io::Mesh mesh;
  {
    Progress progress;
    progress.begin("reading");
    mesh = io::read_mesh(path);
  }
  for (const std::string& warning : mesh.warnings) warn(warning);
  const bool many = mesh.triangles.dtype() == DType::int64;
  if (mesh.vertices.dtype() == DType::float32)
    print(path, mesh, many ? bounds_of<float, std::int64_t>(mesh) : bounds_of<float, std::int32_t>(mesh), json);
  else print(path, mesh, many ? bounds_of<double, std::int64_t>(mesh) : bounds_of<double, std::int32_t>(mesh), json);
}

}  // namespace fathom::cli
