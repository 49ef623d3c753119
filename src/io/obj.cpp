// OBJ: of Wavefront's text format the vertices (v) and faces (f). Two passes: all vertices, then the faces, which may
// name vertices from the end backwards.
// Source: "Object Files (.obj)", appendix B1 of the Advanced Visualizer manual, Wavefront, 1995; departs by leaving out
// curves and surfaces.
#include <algorithm>
#include <array>
#include <charconv>

#include "io/mesh_formats.h"
#include "io/text_lines.h"

namespace fathom::io::obj {

namespace {

/// What says nothing about where surfaces are; curves and surfaces take many lines, and are counted by one of them.
constexpr std::array<std::string_view, 29> kIgnored = {
    "vt",     "vn",   "vp",   "g",    "o",        "s",        "mg",       "usemtl",     "mtllib",    "usemap",
    "maplib", "lod",  "bevel", "ctech", "stech",    "c_interp", "d_interp", "shadow_obj", "trace_obj", "cstype",
    "deg",    "bmat", "step", "parm", "trim",     "hole",     "scrv",     "sp",         "end"};

struct LeftOut {
  std::string_view what;
  std::array<std::string_view, 4> words;
  std::int64_t count = 0;
};

/// The number before the first slash, made to count from 0. @param vertices  so far
std::int64_t vertex_in(std::string_view word, std::int64_t vertices, std::int64_t all, const text::WordLines& lines) {
  const std::string_view digits = word.substr(0, word.find('/'));
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size())
    lines.fail_at(word, "which is no number of a vertex");
  const std::int64_t vertex = number < 0 ? vertices + number : number - 1;
  if (vertex < 0 || vertex >= all)
    lines.fail("vertex " + std::to_string(number) + ", of which there is none: " +
               (number < 0 ? std::to_string(vertices) + " stand before it"
                           : "its " + std::to_string(all) + " vertices are counted from 1"));
  return vertex;
}

}  // namespace

void read(Bytes bytes, MeshBuilder& mesh) {
  text::WordLines vertices(mesh.source(), text_of(bytes), true);
  while (vertices.next())
    if (vertices.word() == "v") {
      const double x = vertices.number(), y = vertices.number();
      mesh.add_vertex({x, y, vertices.number()});
    }
  if (vertices.wide()) mesh.widen();

  text::WordLines lines(mesh.source(), text_of(bytes), true);
  std::array<LeftOut, 3> left_out = {
      {{"lines", {"l"}}, {"points", {"p"}}, {"curves and surfaces", {"curv", "curv2", "surf", "con"}}}};
  std::string unknown;
  std::int64_t so_far = 0;
  std::vector<std::int64_t> corners;
  while (lines.next()) {
    const std::string_view keyword = lines.word();
    if (keyword == "v") ++so_far;
    else if (keyword == "f" || keyword == "fo") {
      corners.clear();
      for (std::string_view word; !(word = lines.word()).empty();)
        corners.push_back(vertex_in(word, so_far, mesh.vertex_count(), lines));
      mesh.add_face(corners, {"line", lines.line()});
    } else if (const auto left = std::find_if(left_out.begin(), left_out.end(), [&](const LeftOut& l) {
                 return std::find(l.words.begin(), l.words.end(), keyword) != l.words.end();
               }); left != left_out.end()) {
      ++left->count;
    } else if (unknown.empty() &&
               std::find(kIgnored.begin(), kIgnored.end(), keyword) == kIgnored.end()) {
      unknown = "line " + std::to_string(lines.line()) + " begins with '" + one_line(keyword) +
                "', which is no keyword of OBJ; such lines are left out";
    }
  }
  for (const LeftOut& left : left_out)
    if (left.count > 0) mesh.warn("its " + std::to_string(left.count) + " " + std::string(left.what) + " are left out");
  if (!unknown.empty()) mesh.warn(unknown);
}

}  // namespace fathom::io::obj
