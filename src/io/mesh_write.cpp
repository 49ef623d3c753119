// Meshes into files: binary STL, binary PLY, OBJ, OFF.
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "fathom/core/error.h"
#include "fathom/io/mesh.h"
#include "io/buffer.h"
#include "io/convert.h"
#include "io/polygon.h"
#include "io/rows.h"

namespace fathom::io {

namespace {

/// Vertices and triangles of whatever type.
class Surface {
 public:
  Surface(const AnyConstView& vertices, const AnyConstView& triangles) : vertices_(vertices), triangles_(triangles) {
    const auto is_table = [](const AnyConstView& view) {
      return view.rank() == 2 && view.shape()[1] == 3 && is_dense(view);
    };
    if (!is_table(vertices) || !(vertices.dtype() == DType::float32 || vertices.dtype() == DType::float64))
      throw InvalidArgument("vertices are [n, 3] of float32 or float64, and dense");
    if (!is_table(triangles) || !(triangles.dtype() == DType::int32 || triangles.dtype() == DType::int64))
      throw InvalidArgument("triangles are [m, 3] of int32 or int64, and dense");
    for (std::int64_t t = 0; t < triangle_count(); ++t)
      for (const std::int64_t corner : corners(t))
        if (corner < 0 || corner >= vertex_count())
          throw InvalidArgument("triangle " + std::to_string(t) + " names vertex " + std::to_string(corner) + " of " +
                                std::to_string(vertex_count()));
  }

  const AnyConstView& vertices() const { return vertices_; }
  std::int64_t vertex_count() const { return vertices_.shape()[0]; }
  std::int64_t triangle_count() const { return triangles_.shape()[0]; }

  Corners corners(std::int64_t triangle) const { return row<Corners, std::int32_t>(triangles_, triangle); }
  Point vertex(std::int64_t number) const { return row<Point, float>(vertices_, number); }

 private:
  template <class Row, class Narrow>
  static Row row(const AnyConstView& view, std::int64_t number) {
    using Wide = typename Row::value_type;
    Row values;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::byte* at = element(view, 3 * number + static_cast<std::int64_t>(k));
      values[k] = view.dtype() == dtype_of<Narrow>() ? static_cast<Wide>(load<Narrow>(at)) : load<Wide>(at);
    }
    return values;
  }

  AnyConstView vertices_, triangles_;
};

template <class T>
void add_little(Buffer& buffer, T value) {
  if (std::endian::native != std::endian::little) value = swap_bytes(value);
  buffer.add(&value, sizeof value);
}

/// Of length 1, or 0 for a triangle without area.
Point normal_of(const std::array<Point, 3>& corners) {
  Point normal{};
  double squares = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto edge = [&](std::size_t to, std::size_t axis) { return corners[to][axis] - corners[0][axis]; };
    const std::size_t u = (k + 1) % 3, v = (k + 2) % 3;
    normal[k] = edge(1, u) * edge(2, v) - edge(1, v) * edge(2, u);
    squares += normal[k] * normal[k];
  }
  for (double& x : normal) x = squares > 0 ? x / std::sqrt(squares) : 0;
  return normal;
}

void write_stl(Buffer& buffer, const Surface& surface) {
  if (surface.triangle_count() > UINT32_MAX)
    throw InvalidArgument("STL counts triangles to 4294967295; write .obj or .off");
  std::string header = "binary STL by Fathom";
  header.resize(80);
  buffer.add(header);
  add_little(buffer, static_cast<std::uint32_t>(surface.triangle_count()));
  for (std::int64_t t = 0; t < surface.triangle_count(); ++t) {
    const Corners c = surface.corners(t);
    const std::array<Point, 3> corners = {surface.vertex(c[0]), surface.vertex(c[1]), surface.vertex(c[2])};
    for (const Point& p : {normal_of(corners), corners[0], corners[1], corners[2]})
      for (const double x : p) add_little(buffer, static_cast<float>(x));
    add_little(buffer, std::uint16_t{0});
  }
}

void write_ply(Buffer& buffer, const Surface& surface) {
  if (surface.vertex_count() > INT32_MAX)
    throw InvalidArgument("PLY counts vertices to 2147483647; write .obj or .off");
  const std::string type = surface.vertices().dtype() == DType::float64 ? "double" : "float";
  buffer.add("ply\nformat binary_little_endian 1.0\nelement vertex " + std::to_string(surface.vertex_count()) +
             "\nproperty " + type + " x\nproperty " + type + " y\nproperty " + type + " z\nelement face " +
             std::to_string(surface.triangle_count()) + "\nproperty list uchar int vertex_indices\nend_header\n");
  for (std::int64_t v = 0; v < surface.vertex_count(); ++v)
    for (const double x : surface.vertex(v))
      type == "double" ? add_little(buffer, x) : add_little(buffer, static_cast<float>(x));
  for (std::int64_t t = 0; t < surface.triangle_count(); ++t) {
    add_little(buffer, std::uint8_t{3});
    for (const std::int64_t corner : surface.corners(t)) add_little(buffer, static_cast<std::int32_t>(corner));
  }
}

void write_text(Buffer& buffer, const Surface& surface, bool obj) {
  if (!obj)
    buffer.add("OFF\n" + std::to_string(surface.vertex_count()) + " " + std::to_string(surface.triangle_count()) +
               " 0\n");
  for (std::int64_t v = 0; v < surface.vertex_count(); ++v) {
    if (obj) buffer.add("v ");
    for (std::int64_t k = 0; k < 3; ++k) {
      add_number(buffer, surface.vertices(), 3 * v + k);
      buffer.add(k < 2 ? " " : "\n");
    }
  }
  for (std::int64_t t = 0; t < surface.triangle_count(); ++t) {
    std::string line = obj ? "f" : "3";
    for (const std::int64_t corner : surface.corners(t))
      line.append(" ").append(std::to_string(corner + (obj ? 1 : 0)));
    buffer.add(line.append("\n"));
  }
}

}  // namespace

void write_mesh(AtomicFile& file, const AnyConstView& vertices, const AnyConstView& triangles, MeshFormat format) {
  format = check_mesh(file.target(), format);
  const Surface surface(vertices, triangles);
  StreamSink sink(file.target() == "-" ? "standard output" : file.target().string(), file.stream());
  Buffer buffer(sink);
  if (format == MeshFormat::stl) write_stl(buffer, surface);
  else if (format == MeshFormat::ply) write_ply(buffer, surface);
  else write_text(buffer, surface, format == MeshFormat::obj);
  buffer.flush();
}

}  // namespace fathom::io
