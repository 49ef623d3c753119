// OFF: text; counts, then a vertex in each line, then a face. Colours, normals and texture coordinates behind the
// numbers that count are left out.
// Source: Geomview's manual, "OFF Files"; departs by one line for each vertex and face, as programs write it whose
// colours are not declared, and by neither binary files nor vertices of 4 and of n dimensions.
#include <string>

#include "io/mesh_formats.h"
#include "io/text_lines.h"

namespace fathom::io::off {

bool is_header(std::string_view start) {
  start = start.substr(0, start.find_first_of(" \t\r\n#"));
  for (const std::string_view prefix : {"ST", "C", "N", "4", "n"})
    if (start.starts_with(prefix)) start.remove_prefix(prefix.size());
  return start == "OFF";
}

void read(Bytes bytes, MeshBuilder& mesh) {
  text::WordLines lines(mesh.source(), text_of(bytes));
  const auto next = [&](const char* what) {
    if (!lines.next()) mesh.source().fail(std::string("is truncated: it ends before its ") + what);
  };
  next("counts");
  if (is_header(lines.peek())) {
    const std::string_view keyword = lines.word();
    if (keyword.find_first_of("4n") != std::string_view::npos)
      mesh.source().fail("is an OFF file whose vertices do not have 3 dimensions; save it as OFF of 3");
    if (lines.peek() == "BINARY") mesh.source().fail("is a binary OFF file, which is not read; save it as PLY");
    if (lines.peek().empty()) next("counts");
  }
  const std::int64_t vertices = lines.integer(), faces = lines.integer();
  if (vertices < 0 || faces < 0) lines.fail("a count below 0");
  for (std::int64_t i = 0; i < vertices; ++i) {
    next("vertices do");
    const double x = lines.number(), y = lines.number();
    mesh.add_vertex({x, y, lines.number()});
  }
  if (lines.wide()) mesh.widen();
  std::vector<std::int64_t> corners;
  for (std::int64_t i = 0; i < faces; ++i) {
    next("faces do");
    corners.clear();
    for (std::int64_t left = lines.integer(); left > 0; --left) corners.push_back(lines.integer());
    mesh.add_face(corners, {"line", lines.line()});
  }
  if (lines.next()) mesh.warn("what follows the faces, from line " + std::to_string(lines.line()) + ", is left out");
}

}  // namespace fathom::io::off
