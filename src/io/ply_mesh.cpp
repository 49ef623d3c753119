// PLY as a mesh: the vertices' x, y and z, the faces' lists of vertices, and strips, which -1 divides.
#include <algorithm>
#include <array>
#include <string>

#include "io/mesh_formats.h"
#include "io/ply_elements.h"

namespace fathom::io::ply {

namespace {

constexpr std::array<std::string_view, 2> kSurfaces = {"face", "tristrips"};

bool is_surface(const Element& element) {
  return std::find(kSurfaces.begin(), kSurfaces.end(), element.name) != kSurfaces.end();
}

void read_vertices(const Element& vertices, ElementReader& elements, MeshBuilder& mesh) {
  std::array<std::size_t, 3> places{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto found = std::find_if(vertices.properties.begin(), vertices.properties.end(), [&](const Property& p) {
      return !p.list && p.name == std::string_view("xyz").substr(axis, 1);
    });
    if (found == vertices.properties.end())
      mesh.source().fail(std::string("has a broken PLY header: its vertices have no property '") + "xyz"[axis] + "'");
    if (size_of(found->dtype) > 2 && found->dtype != DType::float32) mesh.widen();
    places[axis] = static_cast<std::size_t>(found - vertices.properties.begin());
  }
  Point point{};
  const std::size_t last = vertices.properties.size() - 1;
  elements.read(vertices, [&](std::int64_t, std::size_t property, std::span<const double> values) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (places[axis] == property) point[axis] = values[0];
    if (property == last) mesh.add_vertex(point);
  });
}

void read_faces(const Element& faces, ElementReader& elements, MeshBuilder& mesh) {
  const auto list = std::find_if(faces.properties.begin(), faces.properties.end(), [](const Property& p) {
    return p.list && (p.name == "vertex_indices" || p.name == "vertex_index");
  });
  if (list == faces.properties.end())
    mesh.source().fail("has a broken PLY header: its element '" + faces.name + "' has no list 'vertex_indices'");
  const auto place = static_cast<std::size_t>(list - faces.properties.begin());
  std::vector<std::int64_t> corners;
  elements.read(faces, [&](std::int64_t face, std::size_t property, std::span<const double> values) {
    if (property != place) return;
    corners.clear();
    for (const double value : values) {
      const auto corner = value >= INT32_MIN && value <= UINT32_MAX ? static_cast<std::int64_t>(value) : -1;
      if (static_cast<double>(corner) != value)
        mesh.source().fail("has in " + faces.name + " " + std::to_string(face) + " what is no number of a vertex");
      if (faces.name == "face" || corner != -1) corners.push_back(corner);
      else mesh.add_strip(corners, {faces.name, face}), corners.clear();
    }
    if (faces.name == "face") mesh.add_face(corners, {faces.name, face});
    else mesh.add_strip(corners, {faces.name, face});
  });
}

}  // namespace

void read(Bytes bytes, MeshBuilder& mesh) {
  MemorySource source(mesh.source().name(), bytes);
  Lines lines(source);
  const Header header = read_header(source, lines);
  const Element& vertices = vertices_of(source, header);
  ElementReader elements(source, lines, header);
  bool known = false;
  for (const Element& element : header.elements) {
    if (&element == &vertices) known = true, read_vertices(element, elements, mesh);
    else if (!is_surface(element)) elements.skip(element);
    else if (!known) source.fail("has its faces before its vertices, which is not read");
    else read_faces(element, elements, mesh);
  }
  elements.check_end(header.elements.back());
}

}  // namespace fathom::io::ply
