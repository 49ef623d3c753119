// What each format of meshes offers to the front in mesh.cpp: a reader of the file's bytes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "fathom/io/mesh.h"
#include "io/byte_source.h"
#include "io/mesh_builder.h"
#include "io/sizes.h"

namespace fathom::io {

using Bytes = std::span<const std::byte>;

inline std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

namespace obj {
void read(Bytes bytes, MeshBuilder& mesh);
}
namespace off {
/// Whether a text begins as OFF files do.
bool is_header(std::string_view start);
void read(Bytes bytes, MeshBuilder& mesh);
}  // namespace off
namespace stl {
/// Whether a file of this size is binary STL by the count that it begins with.
bool is_counted(Bytes start, std::uint64_t size);
void read(Bytes bytes, MeshBuilder& mesh);
}  // namespace stl
namespace ply {
void read(Bytes bytes, MeshBuilder& mesh);
}
namespace gltf {
/// @param folder  where the files with buffers lie; none: it is not known
void read(Bytes bytes, const std::optional<std::filesystem::path>& folder, MeshBuilder& mesh);
}  // namespace gltf

/// Whether a source is to be read as a mesh: see the one of paths. Its name stands for the path.
bool is_mesh(ByteSource& source);

/// Reads from any source: what read_mesh() does after opening the file.
/// @param named  the format that the name's ending says, or automatic
Mesh read_mesh(ByteSource& source, const MemoryLimit& limit, MeshFormat named,
               const std::optional<std::filesystem::path>& folder);

}  // namespace fathom::io
