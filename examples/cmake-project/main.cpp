// Distance from each element of a small image to its nearest zero element.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "fathom/grid/distance.h"

int main() {
  const fathom::Shape shape{3, 5};
  const std::vector<std::uint8_t> image = {
      1, 1, 1, 1, 1,  //
      1, 0, 1, 1, 1,  //
      1, 1, 1, 1, 1,
  };
  const fathom::HostView<const std::uint8_t> view(image.data(), shape);
  const fathom::Array field = fathom::grid::distance_transform(view, {});

  const float* distance = field.as<float>().data();
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    for (std::int64_t column = 0; column < shape[1]; ++column) std::printf("%6.3f", double{*distance++});
    std::printf("\n");
  }
}
