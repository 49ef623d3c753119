#include "mesh_info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "fathom/core/error.h"
#include "fathom/io/mesh.h"
#include "fathom/mesh/self_intersections.h"
#include "fathom/mesh/triangle_set.h"
#include "input.h"
#include "json.h"
#include "mesh_report.h"
#include "progress.h"
#include "report.h"
#include "warnings.h"

namespace fathom::cli {

namespace {

template <class T>
std::int64_t count_not_finite(const Array& vertices) {
  std::int64_t count = 0;
  for (const T *vertex = vertices.as<T>().data(), *end = vertex + vertices.size(); vertex < end; vertex += 3)
    count += !std::all_of(vertex, vertex + 3, [](T x) { return std::isfinite(x); });
  return count;
}

/// In as many digits as their type has.
std::string text_of(const mesh::Point& point, DType dtype) {
  if (dtype == DType::float64) return fmt::format("{}", fmt::join(point, ", "));
  return fmt::format("{}, {}, {}", static_cast<float>(point[0]), static_cast<float>(point[1]),
                     static_cast<float>(point[2]));
}

/// Nothing where vertices are no numbers, or beyond all reason.
std::optional<mesh::TriangleSet> set_of(const io::Mesh& mesh) {
  mesh::TriangleSetOptions options;
  options.sign = mesh::Sign::none;
  try {
    return mesh::TriangleSet({mesh.vertices.view(), mesh.triangles.view()}, options);
  } catch (const InvalidArgument&) {
    return std::nullopt;
  }
}

constexpr std::int64_t kPairsShown = 100;

/// Nothing where it was not asked for, or cannot be known.
std::optional<mesh::SelfIntersections> intersections_of(const std::optional<mesh::TriangleSet>& set, bool wanted) {
  if (!set || !wanted) return std::nullopt;
  Progress progress;
  progress.begin("checking");
  mesh::SelfIntersectionOptions options;
  options.most_pairs = kPairsShown;
  options.execution.progress = progress.callback();
  return mesh::self_intersections(*set, options);
}

/// The line of the report: "crossings  2 pairs of triangles that meet, the first 3 and 17".
std::string intersections_text(const mesh::SelfIntersections& found) {
  if (found.count == 0) return "crossings  none\n";
  const std::int32_t* const pair = found.pairs.as<std::int32_t>().data();
  return fmt::format("crossings  {} of triangles that meet, the first {} and {}\n",
                     found.count == 1 ? "1 pair" : fmt::format("{} pairs", found.count), pair[0], pair[1]);
}

Json intersections_json(const mesh::SelfIntersections& found) {
  Json pairs = Json::array();
  const std::int32_t* const numbers = found.pairs.as<std::int32_t>().data();
  for (std::int64_t k = 0; k < found.pairs.size(); k += 2) pairs.push_back({numbers[k], numbers[k + 1]});
  return {{"count", found.count}, {"first", pairs}};
}

void print(const std::string& path, const io::Mesh& mesh, bool intersections, bool json) {
  const std::int64_t triangles = mesh.triangles.shape()[0], vertices = mesh.vertices.shape()[0];
  const auto& numbers = mesh.face_of_triangle;  // in ascending order
  const std::int64_t faces = numbers.empty()
                                 ? triangles
                                 : 1 + std::inner_product(numbers.begin() + 1, numbers.end(), numbers.begin(),
                                                          std::int64_t{0}, std::plus<>(), std::not_equal_to<>());
  const DType dtype = mesh.vertices.dtype();
  const std::int64_t not_finite =
      dtype == DType::float32 ? count_not_finite<float>(mesh.vertices) : count_not_finite<double>(mesh.vertices);
  if (not_finite > 0)
    warn(fmt::format("{}: {} vertices are no finite numbers; bounds are of the others", input_name(path), not_finite));
  const mesh::Bounds bounds = mesh::bounds_of({mesh.vertices.view(), mesh.triangles.view()});
  const bool is_empty = bounds.low[0] > bounds.high[0];
  const std::optional<mesh::TriangleSet> set = set_of(mesh);
  const std::optional<mesh::SelfIntersections> found = intersections_of(set, intersections);
  if (json) {
    Json line = {{"operation", "info"},
                 {"input", {{"path", path}, {"format", io::name_of(mesh.format)}}},
                 {"dtype", name_of(dtype)},
                 {"vertices", vertices},
                 {"triangles", triangles},
                 {"faces", faces},
                 {"min", is_empty ? Json(nullptr) : Json(bounds.low)},
                 {"max", is_empty ? Json(nullptr) : Json(bounds.high)},
                 {"unit", text_or_null(mesh.unit)},
                 {"topology", set ? topology_json(set->topology()) : Json(nullptr)}};
    if (intersections) line["self_intersections"] = found ? intersections_json(*found) : Json(nullptr);
    return print_line(line);
  }
  print_text(
      fmt::format("file       {}\nformat     {}\nvertices   {} of {}\ntriangles  {}\nfaces      {}\nbounds     {}\n"
                  "unit       {}\nsurface    {}\n{}",
                  input_name(path), io::name_of(mesh.format), vertices, name_of(dtype), triangles, faces,
                  is_empty ? "none" : fmt::format("{} to {}", text_of(bounds.low, dtype), text_of(bounds.high, dtype)),
                  mesh.unit.empty() ? "unknown" : mesh.unit, set ? topology_text(set->topology()) : "unknown",
                  found           ? intersections_text(*found)
                  : intersections ? "crossings  unknown\n"
                                  : ""));
}

}  // namespace

void print_mesh_info(const std::string& path, bool intersections, bool json) {
  io::Mesh mesh;
  {
    Progress progress;
    progress.begin("reading");
    mesh = io::read_mesh(path);
  }
  for (const std::string& warning : mesh.warnings) warn(warning);
  print(path, mesh, intersections, json);
}

}  // namespace fathom::cli
