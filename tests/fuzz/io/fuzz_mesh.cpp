// Feeds bytes to one reader of meshes, chosen when compiled: whatever they are, the reader returns triangles of
// vertices that there are, within the memory limit, or throws IoError. Sanitizers watch the rest.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fathom/core/error.h"
#include "io/mesh_formats.h"

namespace {

using namespace fathom::io;

constexpr MemoryLimit kLimit{std::uint64_t{16} << 20, true};

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    MemorySource source("fuzz", std::span(reinterpret_cast<const std::byte*>(data), size));
    const Mesh mesh = read_mesh(source, kLimit, MeshFormat::FATHOM_FUZZ_FORMAT, std::nullopt);
    require(mesh.vertices.bytes() + mesh.triangles.bytes() <= kLimit.bytes);
    const std::int64_t triangles = mesh.triangles.shape()[0];
    require(triangles > 0 && mesh.triangles.dtype() == fathom::DType::int32);
    for (const std::int32_t corner :
         std::span(mesh.triangles.as<std::int32_t>().data(), static_cast<std::size_t>(3 * triangles)))
      require(corner >= 0 && corner < mesh.vertices.shape()[0]);
    const auto& faces = mesh.face_of_triangle;
    require(faces.empty() || faces.size() == static_cast<std::size_t>(triangles));
    require(std::is_sorted(faces.begin(), faces.end()));
    volatile unsigned sum = 0;  // every byte is read, so that a sanitizer sees what was not written or not there
    for (std::byte b : std::span(mesh.vertices.data(), mesh.vertices.bytes())) sum = sum + std::to_integer<unsigned>(b);
  } catch (const fathom::IoError&) {  // any other exception is a fault of the reader
  }
  return 0;
}
