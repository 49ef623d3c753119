// Triangle meshes in files: OBJ, PLY, STL, OFF, glTF.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "fathom/core/array.h"
#include "fathom/io/atomic_file.h"

namespace fathom::io {

enum class MeshFormat { automatic, obj, ply, stl, off, gltf };

struct Mesh {
  MeshFormat format = MeshFormat::automatic;   ///< that it was read from
  Array vertices;                              ///< [n, 3]: float32, or float64 where the file has more digits
  Array triangles;                             ///< [m, 3], numbers of vertices: int32, or int64 where they are too many
  std::vector<std::int64_t> face_of_triangle;  ///< number of the file's face that each is of; empty: each is its own
  std::string unit;                            ///< of length, where the format says it (glTF: "m"); empty: unknown
  std::vector<std::string> warnings;           ///< what was left out or guessed, a line each
};

/// Whether a file is to be read as a mesh: by its first bytes, which stay unread, or by its name's ending where they do
/// not tell, as those of OBJ and STL. Binary STL from a pipe is not told. @throws IoError it cannot be read
bool is_mesh(const std::filesystem::path& path);

/// The triangles of a file, which its first bytes tell, or else its name's ending; "-" is standard input, and gzip is
/// undone. Vertices are as in the file: those that are equal are not merged, and those that are no finite numbers are
/// kept. Polygons become fans from their first corner where that covers them, as it does where they are convex; others
/// are cut ear by ear; n corners give n − 2 triangles. Numbers in text come as float64 where float32 would give other
/// digits. glTF: the triangles of all scenes, as their nodes place them; float64 where that takes them off float32.
/// Cost: the file lies in memory while it is read.
/// @throws IoError missing, broken, without triangles, larger than the machine's free memory, or not of these formats
Mesh read_mesh(const std::filesystem::path& path);

/// The format that write_mesh() would use, by the path's ending where `format` does not say; "-", devices and FIFOs get
/// PLY. @throws InvalidArgument no such ending; glTF, which is not written
MeshFormat check_mesh(const std::filesystem::path& path, MeshFormat format);

/// Binary STL, binary PLY, OBJ or OFF. STL holds float32 and repeats the vertices of each triangle; the others keep
/// every bit. @param vertices  [n, 3], float32 or float64 @param triangles  [m, 3], int32 or int64; both dense
/// @throws InvalidArgument other types or shapes, a number of no vertex, or more triangles or vertices than the format
/// can count
/// @throws IoError the file is full or broken
void write_mesh(AtomicFile& file, const AnyConstView& vertices, const AnyConstView& triangles, MeshFormat format);

std::string_view name_of(MeshFormat format);

}  // namespace fathom::io
