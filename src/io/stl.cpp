// STL: triangles with vertices of their own, in text or binary. Normals and the two bytes that some programs use for
// colours are left out. A file is binary if its size is what its count makes, even if it begins with "solid".
// Source: 3D Systems, "StereoLithography Interface Specification", 1989.
#include <algorithm>
#include <bit>
#include <string>

#include "io/convert.h"
#include "io/mesh_formats.h"
#include "io/text_lines.h"
#include "io/text_number.h"

namespace fathom::io::stl {

namespace {

constexpr std::size_t kHeaderBytes = 84, kRecordBytes = 50;

template <class T>
T load_little(const std::byte* from) {
  const T value = load<T>(from);
  return std::endian::native == std::endian::little ? value : swap_bytes(value);
}

void read_binary(Bytes bytes, MeshBuilder& mesh) {
  const ByteSource& source = mesh.source();
  if (bytes.size() < kHeaderBytes) source.fail("is truncated, or no STL file: it ends before its count of triangles");
  const std::size_t count = load_little<std::uint32_t>(bytes.data() + 80);
  const std::size_t held = (bytes.size() - kHeaderBytes) / kRecordBytes;
  if (count > held)
    source.fail("is truncated: its header promises " + std::to_string(count) + " triangles, it holds " +
                std::to_string(held));
  const std::size_t more = bytes.size() - kHeaderBytes - count * kRecordBytes;
  if (more > 0) mesh.warn("the " + std::to_string(more) + " bytes behind its last triangle are left out");
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* record = bytes.data() + kHeaderBytes + i * kRecordBytes;
    for (std::size_t corner = 1; corner <= 3; ++corner) {
      Point vertex;
      for (std::size_t k = 0; k < 3; ++k)
        vertex[k] = std::bit_cast<float>(load_little<std::uint32_t>(record + 12 * corner + 4 * k));
      mesh.add_vertex(vertex);
    }
    const auto first = static_cast<std::int64_t>(3 * i);
    mesh.add_face(std::array{first, first + 1, first + 2}, {"triangle", first / 3});
  }
}

void read_text(Bytes bytes, MeshBuilder& mesh) {
  text::WordLines lines(mesh.source(), text_of(bytes));
  std::vector<std::int64_t> corners;
  bool open = false, ended = false;
  while (lines.next())
    for (std::string word; !(word = lower_case(lines.word())).empty();) {
      if (word == "solid" || word == "endsolid") {
        ended = word == "endsolid";
        break;  // a name follows
      }
      if (word == "vertex" && open) {
        const double x = lines.number(), y = lines.number();
        mesh.add_vertex({x, y, lines.number()});
        corners.push_back(mesh.vertex_count() - 1);
      } else if (word == "normal") {
        for (int k = 0; k < 3; ++k) lines.word();  // programs write what they like, such as -nan(ind)
      } else if (word == "outer" && !open) {
        open = true;
      } else if (word == "endloop" && open) {
        mesh.add_face(corners, {"line", lines.line()});
        corners.clear();
        open = false;
      } else if (word != "facet" && word != "loop" && word != "endfacet") {
        lines.fail_at(word, "which does not belong there in STL");
      }
    }
  if (open) mesh.source().fail("is truncated: it ends within a triangle");
  if (!ended) mesh.warn("ends without 'endsolid'; perhaps triangles are missing");
  if (lines.wide()) mesh.widen();
}

bool is_binary(Bytes bytes) {
  if (is_counted(bytes, bytes.size())) return true;
  const std::string start = lower_case(text_of(bytes.first(std::min<std::size_t>(bytes.size(), 1024))));
  const std::size_t word = start.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return word == std::string::npos || !std::string_view(start).substr(word).starts_with("solid") ||
         start.find('\0') != std::string::npos;
}

}  // namespace

bool is_counted(Bytes start, std::uint64_t size) {
  return start.size() >= kHeaderBytes &&
         size == kHeaderBytes + kRecordBytes * std::uint64_t{load_little<std::uint32_t>(start.data() + 80)};
}

void read(Bytes bytes, MeshBuilder& mesh) { is_binary(bytes) ? read_binary(bytes, mesh) : read_text(bytes, mesh); }

}  // namespace fathom::io::stl
