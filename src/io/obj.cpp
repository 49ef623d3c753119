// OBJ: of Wavefront's text format the vertices (v) and faces (f). Two passes: all vertices, then the faces, which may
// name vertices from the end backwards.
// Source: "Object Files (.obj)", appendix B1 of the Advanced Visualizer manual, Wavefront, 1995; departs by leaving out
// curves and surfaces.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <utility>

#include "io/mesh_formats.h"
#include "io/text_lines.h"

namespace fathom::io::obj {

namespace {

/// Keywords besides v and f, and what is left out with them: nothing, where they do not say where surfaces are.
constexpr std::array<std::pair<std::string_view, std::string_view>, 35> kOthers = {{
    {"l", "lines"},     {"p", "points"},   {"curv", "curves"}, {"curv2", "curves"}, {"surf", "curved surfaces"},
    {"vt", ""},         {"vn", ""},        {"vp", ""},         {"g", ""},           {"o", ""},
    {"s", ""},          {"mg", ""},        {"usemtl", ""},     {"mtllib", ""},      {"usemap", ""},
    {"maplib", ""},     {"lod", ""},       {"bevel", ""},      {"c_interp", ""},    {"d_interp", ""},
    {"shadow_obj", ""}, {"trace_obj", ""}, {"ctech", ""},      {"stech", ""},       {"cstype", ""},
    {"deg", ""},        {"bmat", ""},      {"step", ""},       {"parm", ""},        {"trim", ""},
    {"hole", ""},       {"scrv", ""},      {"sp", ""},         {"con", ""},         {"end", ""},
}};

/// Not comments and names, which may be of folders and end in a backslash.
bool goes_on(std::string_view line) {
  constexpr std::array<std::string_view, 8> kNames = {"g",      "o",      "usemtl",     "mtllib",
                                                      "usemap", "maplib", "shadow_obj", "trace_obj"};
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line.find('#') == std::string_view::npos &&
         std::find(kNames.begin(), kNames.end(), line.substr(0, line.find_first_of(" \t"))) == kNames.end();
}

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
  text::WordLines vertices(mesh.source(), text_of(bytes), goes_on);
  while (vertices.next())
    if (vertices.word() == "v") {
      const double x = vertices.number(), y = vertices.number();
      mesh.add_vertex({x, y, vertices.number()});
    }
  if (vertices.wide()) mesh.widen();

  text::WordLines lines(mesh.source(), text_of(bytes), goes_on);
  std::map<std::string_view, std::int64_t> left_out;
  std::string unknown;
  std::int64_t so_far = 0;
  std::vector<std::int64_t> corners;
  while (lines.next()) {
    const std::string_view keyword = lines.word();
    if (keyword == "v") {
      ++so_far;
    } else if (keyword == "f" || keyword == "fo") {
      corners.clear();
      for (std::string_view word; !(word = lines.word()).empty();)
        corners.push_back(vertex_in(word, so_far, mesh.vertex_count(), lines));
      mesh.add_face(corners, {"line", lines.line()});
    } else {
      const auto* other =
          std::find_if(kOthers.begin(), kOthers.end(), [&](auto known) { return known.first == keyword; });
      if (other != kOthers.end()) ++left_out[other->second];
      else if (unknown.empty())
        unknown = "line " + std::to_string(lines.line()) + " begins with '" + one_line(keyword) +
                  "', which is no keyword of OBJ; such lines are left out";
    }
  }
  for (const auto& [what, count] : left_out)
    if (!what.empty()) mesh.warn("its " + std::to_string(count) + " " + std::string(what) + " are left out");
  if (!unknown.empty()) mesh.warn(unknown);
}

}  // namespace fathom::io::obj
