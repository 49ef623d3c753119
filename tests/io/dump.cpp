// Reads a file and writes what it held as another: a peer's reader then compares. Usage: fathom_io_dump INPUT OUTPUT
// An output *.tiled.tif is written row after row. Prints format and spacing, or of a mesh format, type and warnings; on failure one line on stderr and exit status 3.
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>

#include "fathom/io/image.h"
#include "fathom/io/mesh.h"
#include "fathom/io/raster.h"

namespace {

void convert_mesh(const char* from, const char* to) {
  const fathom::io::Mesh mesh = fathom::io::read_mesh(from);
  fathom::io::AtomicFile file(to);
  fathom::io::write_mesh(file, mesh.vertices.view(), mesh.triangles.view(), fathom::io::MeshFormat::automatic);
  file.commit();
  std::printf("%s %s\n", std::string(name_of(mesh.format)).c_str(),
              std::string(name_of(mesh.vertices.dtype())).c_str());
  for (const std::string& warning : mesh.warnings) std::printf("%s\n", warning.c_str());
}

/// Whether all rows but the first and columns but the last, read as a part, are what the whole image (or its first page) has.
bool part_agrees(const char* path, const fathom::Array& whole) {
  using namespace fathom;
  const int rank = whole.shape().rank();
  if (rank < 2 || element_count(whole.shape()) == 0) return true;
  const auto source = io::open_raster(path).source;
  const std::int64_t height = whole.shape()[rank - 2], width = whole.shape()[rank - 1];
  const Rectangle part{height > 1, 0, height, width - (width > 1)};
  if (source->height() != height || source->width() != width || source->dtype() != whole.dtype()) return false;
  Array read(whole.dtype(), part.shape());
  source->read(part, read.view());
  const std::size_t size = size_of(whole.dtype()), bytes = static_cast<std::size_t>(part.width()) * size;
  for (std::int64_t y = part.y0; y < part.y1; ++y)
    if (std::memcmp(read.data() + static_cast<std::size_t>(y - part.y0) * bytes,
                    whole.data() + static_cast<std::size_t>(y * width) * size, bytes) != 0)
      return false;
  return true;
}

/// Row after row, deflated if the name says so.
void write_tiled(const std::string& path, const fathom::io::Image& image) {
  const fathom::Shape& shape = image.data.shape();
  fathom::io::AtomicFile file(path);
  const bool compress = path.ends_with(".deflated.tiled.tif");
  const auto sink = fathom::io::create_raster(file, image.data.dtype(), shape[0], shape[1],
                                              {.compress = compress, .tile = 32, .meaning = image.meaning});
  sink->write(image.data.view());
  sink->finish();
  file.commit();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: fathom_io_dump INPUT OUTPUT\n");
    return 2;
  }
  try {
    if (fathom::io::is_mesh(argv[1])) {
      convert_mesh(argv[1], argv[2]);
      return 0;
    }
    const fathom::io::ImageInfo info = fathom::io::probe(argv[1]);
    const fathom::io::Image image = fathom::io::read(argv[1]);
    if (!(info.shape == image.data.shape()) || info.dtype != image.data.dtype() ||
        info.meaning.spacing() != image.meaning.spacing()) {
      std::fprintf(stderr, "probe and read disagree\n");
      return 1;
    }
    const bool in_parts = image.data.shape().rank() == 2 || info.format == fathom::io::Format::tiff;
    if (in_parts && !image.meaning.has_batch() && !part_agrees(argv[1], image.data)) {
      std::fprintf(stderr, "a part and the whole disagree\n");
      return 1;
    }
    if (std::string_view(argv[2]).ends_with(".tiled.tif")) write_tiled(argv[2], image);
    else fathom::io::write(argv[2], image.data.view(), image.meaning);
    std::printf("%s", std::string(name_of(info.format)).c_str());
    for (double s : image.meaning.spacing()) std::printf(" %.9g", s);
    std::printf("\n");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
