// What the tests of meshes share.
#pragma once

#include <zlib.h>

#include "fathom/io/mesh.h"
#include "io/mesh_formats.h"
#include "support.h"

namespace fathom::io::test {

inline Mesh read_text(const std::string& text, MeshFormat named = MeshFormat::automatic,
                      std::uint64_t limit = 1 << 24) {
  MemorySource source("memory", std::as_bytes(std::span(text)));
  return read_mesh(source, {limit, true}, named, std::nullopt);
}

inline std::string error_of(const std::string& text, MeshFormat named = MeshFormat::automatic,
                            std::uint64_t limit = 1 << 24) {
  return message_of<IoError>([&] { read_text(text, named, limit); });
}

template <class T>
std::vector<T> numbers_of(const Array& array) {
  return visit_dtype(array.dtype(), [&](auto tag) {
    const auto* data = reinterpret_cast<const typename decltype(tag)::type*>(array.data());
    return std::vector<T>(data, data + array.size());
  });
}

inline std::vector<double> vertices(const Mesh& mesh) { return numbers_of<double>(mesh.vertices); }
inline std::vector<std::int64_t> triangles(const Mesh& mesh) { return numbers_of<std::int64_t>(mesh.triangles); }

inline void write_gzip(const fs::path& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

}  // namespace fathom::io::test
