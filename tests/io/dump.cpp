// Reads a file and writes what it held as another: a peer's reader then compares. Usage: fathom_io_dump INPUT OUTPUT
// Prints shape, type and spacing; on failure one line on stderr and exit status 3.
#include <cstdio>
#include <exception>

#include "fathom/io/image.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: fathom_io_dump INPUT OUTPUT\n");
    return 2;
  }
  try {
    const fathom::io::ImageInfo info = fathom::io::probe(argv[1]);
    const fathom::io::Image image = fathom::io::read(argv[1]);
    if (!(info.shape == image.data.shape()) || info.dtype != image.data.dtype() || info.meaning.spacing() != image.meaning.spacing()) {
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
