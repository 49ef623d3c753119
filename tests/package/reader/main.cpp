// Prints the shape of the image that the first argument names.
#include <cstdio>

#include "fathom/io/image.h"

int main(int, char** arguments) {
  const fathom::io::Image image = fathom::io::read(arguments[1]);
  std::printf("%s\n", to_string(image.data.shape()).c_str());
}
