#include "apps/cuda/local_thickness.h"

#include <cstdint>

#include "apps/cuda/arrays.h"
#include "apps/cuda/balls.h"
#include "apps/squares.h"
#include "core/cuda/runtime.h"
#include "fathom/grid/distance.h"

namespace fathom::apps::cuda {

namespace {

/// The transform of an image.
struct Squares {
  AnyConstDeviceView input;
  grid::DistanceOptions options;
  grid::DeviceDistanceOutputs outputs;

  Squares(const AnyConstDeviceView& array, const Images& images, std::int64_t item, std::byte* squares)
      : input(images.view(array, item)) {
    const Lattice3& lattice = images.lattice;
    if (!lattice.is_isotropic()) options.spacing.assign(lattice.spacing.end() - lattice.rank, lattice.spacing.end());
    outputs.squared = AnyDeviceView(squares, squares_of(lattice), input.shape());
  }
};

std::size_t squares_bytes(const Lattice3& lattice) {
  return static_cast<std::size_t>(lattice.size()) * size_of(squares_of(lattice));
}

}  // namespace

std::size_t local_thickness_bytes(const AnyConstDeviceView& input, const Images& images) {
  const Squares squares(input, images, 0, nullptr);
  return balls_bytes(images.lattice) + squares_bytes(images.lattice) +
         grid::scratch_bytes(squares.input, squares.options, squares.outputs);
}

std::string local_thickness(const AnyConstDeviceView& input, const Images& images, const AnyDeviceView& out,
                            Stream stream) {
  const int device = device_of({{input, "input"}, {out, "out"}}, stream);
  const fathom::cuda::OnDevice on_device(device);
  const std::size_t for_balls = balls_bytes(images.lattice);
  const fathom::cuda::DeviceMemory memory(for_balls + squares_bytes(images.lattice), fathom::cuda::native(stream));
  for (std::int64_t item = 0; item < images.count(); ++item) {
    const Squares squares(input, images, item, memory.data() + for_balls);
    grid::distance_transform(squares.input, squares.options, squares.outputs, stream);
    draw_thickness(images.lattice, squares.outputs.squared.data(), images.rows(out, item), memory.data(),
                   fathom::cuda::native(stream));
  }
  return describe_device(device).name;
}

}  // namespace fathom::apps::cuda
