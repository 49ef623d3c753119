#include "apps/cuda/local_thickness.h"

#include <algorithm>
#include <cstdint>

#include "apps/cuda/arrays.h"
#include "apps/cuda/balls.h"
#include "apps/cuda/invasion.h"
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

/// Of what is done with the squares of an image, one after the other.
std::size_t work_bytes(const Lattice3& lattice, const DeviceLocalThicknessOptions& options) {
  const bool by_faces = options.from_faces, invaded = by_faces || options.inlets.present();
  return std::max(balls_bytes(lattice), invaded ? invasion_bytes(lattice, by_faces) : 0);
}

}  // namespace

std::size_t local_thickness_bytes(const AnyConstDeviceView& input, const DeviceLocalThicknessOptions& options,
                                  const Images& images) {
  const Squares squares(input, images, 0, nullptr);
  return work_bytes(images.lattice, options) + squares_bytes(images.lattice) +
         grid::scratch_bytes(squares.input, squares.options, squares.outputs);
}

std::string local_thickness(const AnyConstDeviceView& input, const DeviceLocalThicknessOptions& options,
                            const Images& images, const AnyDeviceView& out, Stream stream) {
  const AnyConstDeviceView& inlets = options.inlets;
  const int device = device_of({{input, "input"}, {inlets, "inlets"}, {out, "out"}}, stream);
  const fathom::cuda::OnDevice on_device(device);
  const cudaStream_t native = fathom::cuda::native(stream);
  const std::size_t for_work = work_bytes(images.lattice, options);
  const fathom::cuda::DeviceMemory memory(for_work + squares_bytes(images.lattice), native);
  for (std::int64_t item = 0; item < images.count(); ++item) {
    const Squares squares(input, images, item, memory.data() + for_work);
    grid::distance_transform(squares.input, squares.options, squares.outputs, stream);
    std::byte* const squared = squares.outputs.squared.data();
    if (inlets.present() || options.from_faces)
      invade(images.lattice, images.view(inlets, item), squared, memory.data(), stream);
    draw_thickness(images.lattice, squared, images.rows(out, item), memory.data(), native);
  }
  return describe_device(device).name;
}

}  // namespace fathom::apps::cuda
