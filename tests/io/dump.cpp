// Reads a file and writes what it held as another: a peer's reader then compares. Usage: fathom_io_dump INPUT OUTPUT
// Prints format and spacing, or of a mesh format, type and warnings; on failure one line on stderr and exit status 3.
#include <cstdio>
#include <exception>

#include "fathom/io/image.h"
#include "fathom/io/mesh.h"

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
    fathom::io::write(argv[2], image.data.view(), image.meaning);
    std::printf("%s", std::string(name_of(info.format)).c_str());
    for (double s : image.meaning.spacing()) std::printf(" %.9g", s);
    std::printf("\n");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
