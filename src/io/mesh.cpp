// The front of reading meshes: finds the format by the first bytes, else by the name's ending.
#include "fathom/io/mesh.h"

#include <algorithm>
#include <array>

#include "fathom/core/error.h"
#include "fathom/io/stream.h"
#include "io/convert.h"
#include "io/gunzip_source.h"
#include "io/mesh_formats.h"
#include "io/text_lines.h"
#include "io/text_number.h"

namespace fathom::io {

namespace {

constexpr std::string_view kRead = "meshes are read from OBJ, PLY, STL, OFF, glTF and GLB files";

struct Ending {
  std::string_view text;
  MeshFormat format;
};
constexpr std::array kEndings = {Ending{".obj", MeshFormat::obj},   Ending{".ply", MeshFormat::ply},
                                 Ending{".stl", MeshFormat::stl},   Ending{".off", MeshFormat::off},
                                 Ending{".gltf", MeshFormat::gltf}, Ending{".glb", MeshFormat::gltf}};

struct Foreign {
  std::string_view bytes;
  std::string_view kind;
};
constexpr std::array kForeign = {Foreign{"PK\x03\x04", "a ZIP archive, such as 3MF; save it as STL or PLY"},
                                 Foreign{"Kaydara FBX", "an FBX scene; save it as GLB"},
                                 Foreign{"BLENDER", "a Blender scene; save it as GLB"},
                                 Foreign{"ISO-10303-21", "a STEP model; save it as STL"},
                                 Foreign{"# vtk", "a VTK file; save it as PLY"},
                                 Foreign{"<?xml", "an XML file, such as COLLADA, X3D or VTP; save it as GLB or PLY"},
                                 Foreign{"#VRML", "a VRML scene; save it as GLB or PLY"}};

MeshFormat format_of(const std::filesystem::path& path) {
  std::filesystem::path name = path;
  if (lower_case(name.extension().string()) == ".gz") name = name.stem();
  const std::string ending = lower_case(name.extension().string());
  for (const Ending& known : kEndings)
    if (known.text == ending) return known.format;
  return MeshFormat::automatic;
}

/// @param start  the first bytes @param size  of the file, where that is known
MeshFormat format_in(const ByteSource& source, Bytes start, std::optional<std::uint64_t> size, MeshFormat named) {
  const std::string_view text = text_of(start);
  if (text.starts_with("ply\n") || text.starts_with("ply\r")) return MeshFormat::ply;
  if (text.starts_with("glTF")) return MeshFormat::gltf;
  if (named != MeshFormat::automatic) return named;
  if (size && stl::is_counted(start, *size)) return MeshFormat::stl;
  text::WordLines lines(source, text);
  if (!lines.next()) return MeshFormat::automatic;
  const std::string_view word = lines.word();
  const auto follows = [&](std::string_view what) { return text.find(what) != std::string_view::npos; };
  if (off::is_header(word)) return MeshFormat::off;
  if (word.starts_with('{') && follows("\"asset\"")) return MeshFormat::gltf;
  if (word == "solid" && follows("facet")) return MeshFormat::stl;
  constexpr std::array<std::string_view, 6> kObj = {"v", "vn", "vt", "o", "g", "mtllib"};
  const bool is_obj = std::find(kObj.begin(), kObj.end(), word) != kObj.end() && (word == "v" || follows("\nv "));
  return is_obj ? MeshFormat::obj : MeshFormat::automatic;
}

[[noreturn]] void refuse(const ByteSource& source, std::string_view text) {
  for (const Foreign& foreign : kForeign)
    if (text.starts_with(foreign.bytes)) source.fail("looks like " + std::string(foreign.kind));
  source.fail("is no mesh that is known; " + std::string(kRead));
}

}  // namespace

bool is_mesh(ByteSource& source) {
  const MeshFormat named = format_of(source.name());
  if (!is_gzip(source))
    return format_in(source, source.peek(ByteSource::kLookAhead), source.size(), named) != MeshFormat::automatic;
  GunzipSource inflated(source);
  return format_in(inflated, inflated.peek(ByteSource::kLookAhead), std::nullopt, named) != MeshFormat::automatic;
}

bool is_mesh(const std::filesystem::path& path) { return is_mesh(*open_source(path, Reading::keep)); }

Mesh read_mesh(ByteSource& source, const MemoryLimit& limit, MeshFormat named,
               const std::optional<std::filesystem::path>& folder) {
  if (is_gzip(source)) {
    GunzipSource inflated(source);
    if (is_gzip(inflated)) source.fail("is gzip within gzip; undo one of them");
    return read_mesh(inflated, limit, named, folder);
  }
  const std::vector<std::byte> bytes = read_rest(source, limit.bytes);
  if (bytes.empty()) source.fail("is empty; " + std::string(kRead));
  const MemorySource whole(source.name(), std::span(bytes));
  MeshBuilder mesh(whole, {limit.bytes - bytes.size(), limit.from_caller});
  const MeshFormat format = format_in(source, bytes, bytes.size(), named);
  switch (format) {
    case MeshFormat::obj: obj::read(bytes, mesh); break;
    case MeshFormat::ply: ply::read(bytes, mesh); break;
    case MeshFormat::stl: stl::read(bytes, mesh); break;
    case MeshFormat::off: off::read(bytes, mesh); break;
    case MeshFormat::gltf: gltf::read(bytes, folder, mesh); break;
    case MeshFormat::automatic: refuse(source, text_of(bytes));
  }
  return mesh.finish(format);
}

Mesh read_mesh(const std::filesystem::path& path) {
  std::optional<std::filesystem::path> folder;
  if (path != "-") folder = path.has_parent_path() ? path.parent_path() : ".";
  return read_mesh(*open_source(path, Reading::consume), memory_limit(std::nullopt), format_of(path), folder);
}

MeshFormat check_mesh(const std::filesystem::path& path, MeshFormat format) {
  if (format == MeshFormat::automatic && lower_case(path.extension().string()) != ".gz") format = format_of(path);
  if (format == MeshFormat::automatic && is_nameless(path)) format = MeshFormat::ply;
  if (format == MeshFormat::gltf)
    throw InvalidArgument("glTF is not written; end the name in .stl, .ply, .obj or .off");
  if (format == MeshFormat::automatic)
    throw InvalidArgument("the name '" + path.string() +
                          "' does not say which format to write; end it in .stl, .ply, .obj or .off");
  return format;
}

std::string_view name_of(MeshFormat format) {
  switch (format) {
    case MeshFormat::automatic: return "auto";
    case MeshFormat::obj: return "obj";
    case MeshFormat::ply: return "ply";
    case MeshFormat::stl: return "stl";
    case MeshFormat::off: return "off";
    case MeshFormat::gltf: return "gltf";
  }
  return "unknown";
}

}  // namespace fathom::io
