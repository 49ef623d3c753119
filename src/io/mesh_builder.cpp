#include "io/mesh_builder.h"

#include <algorithm>
#include <numeric>

namespace fathom::io {

namespace {

template <class T, class From>
void fill(Array& array, const std::vector<From>& values) {
  std::transform(values.begin(), values.end(), reinterpret_cast<T*>(array.data()),
                 [](From value) { return static_cast<T>(value); });
}

}  // namespace

void MeshBuilder::grow_by(std::uint64_t bytes) {
  used_ += bytes;
  if (used_ > limit_.bytes)
    source_.fail("holds a mesh that takes more than " + format_bytes(limit_.bytes) +
                 (limit_.from_caller ? ", the memory limit" : ", which is what this machine has free"));
}

Point MeshBuilder::vertex(std::int64_t number) const {
  const double* x = coordinates_.data() + 3 * number;
  return {x[0], x[1], x[2]};
}

void MeshBuilder::add_triangle(const Corners& triangle) {
  const auto number = static_cast<std::int64_t>(corners_.size() / 3), face = faces_ - 1;
  std::vector<std::int64_t>& faces = mesh_.face_of_triangle;
  if (faces.empty() && number != face) {
    grow_by(static_cast<std::uint64_t>(number) * sizeof face);
    faces.resize(static_cast<std::size_t>(number));
    std::iota(faces.begin(), faces.end(), 0);
  }
  if (number != face || !faces.empty()) push(faces, face);
  for (const std::int64_t corner : triangle) push(corners_, corner);
}

void MeshBuilder::add_face(std::span<const std::int64_t> corners, const Where& where) {
  ++faces_;
  for (const std::int64_t corner : corners)
    if (corner < 0 || corner >= vertex_count())
      source_.fail("names vertex " + std::to_string(corner) + " in " + std::string(where.kind) + " " +
                   std::to_string(where.number) + "; its " + std::to_string(vertex_count()) +
                   " vertices are counted from 0");
  if (corners.size() < 3) {
    ++dropped_;
    return;
  }
  if (corners.size() == 3) return add_triangle({corners[0], corners[1], corners[2]});
  polygon_.clear();
  for (const std::int64_t corner : corners) polygon_.push_back(vertex(corner));
  if (!triangulate(polygon_, triangles_))
    source_.fail("has in " + std::string(where.kind) + " " + std::to_string(where.number) + " a concave face of " +
                 std::to_string(corners.size()) + " corners, which is too many; save it as triangles");
  const auto at = [&](std::int64_t i) { return corners[static_cast<std::size_t>(i)]; };
  for (const Corners& t : triangles_) add_triangle({at(t[0]), at(t[1]), at(t[2])});
}

void MeshBuilder::add_strip(std::span<const std::int64_t> corners, const Where& where, bool turned) {
  for (std::size_t i = 2; i < corners.size(); ++i) {
    const std::size_t odd = turned ? 1 - i % 2 : i % 2;
    add_face(std::array{corners[i - 2 + odd], corners[i - 1 - odd], corners[i]}, where);
  }
}

Mesh MeshBuilder::finish(MeshFormat format) {
  mesh_.format = format;
  if (dropped_ > 0)
    warn(dropped_ == 1 ? "a face with fewer than 3 corners is left out"
                       : std::to_string(dropped_) + " faces with fewer than 3 corners are left out");
  if (corners_.empty()) source_.fail("has no triangles" + std::string(vertex_count() > 0 ? ", only vertices" : ""));
  const Shape vertices{vertex_count(), 3}, triangles{static_cast<std::int64_t>(corners_.size() / 3), 3};
  const MemoryLimit left{limit_.bytes - used_, limit_.from_caller};
  mesh_.vertices = allocate(source_, wide_ ? DType::float64 : DType::float32, vertices, left);
  if (wide_) fill<double>(mesh_.vertices, coordinates_);
  else fill<float>(mesh_.vertices, coordinates_);
  const bool many = vertex_count() > INT32_MAX;
  mesh_.triangles = allocate(source_, many ? DType::int64 : DType::int32, triangles,
                             {left.bytes - mesh_.vertices.bytes(), limit_.from_caller});
  if (many) fill<std::int64_t>(mesh_.triangles, corners_);
  else fill<std::int32_t>(mesh_.triangles, corners_);
  return std::move(mesh_);
}

}  // namespace fathom::io
