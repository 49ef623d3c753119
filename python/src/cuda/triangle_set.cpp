#include "cuda/triangle_set.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "cuda/current_device.h"
#include "cuda/dlpack_dtype.h"
#include "cuda/memory.h"
#include "watch.h"

namespace fathom::python {

namespace nb = nanobind;

namespace {

constexpr auto kDevice = MemorySpace::device;

mesh::DeviceOutputs device_outputs(const nb::tuple& outputs, bool of_points) {
  std::array<RawArray, kMeshOutputs> raw;
  for (std::size_t k = 0; k < raw.size(); ++k)
    if (!outputs[k].is_none()) raw[k] = nb::cast<const DeviceArray&>(outputs[k]).raw();
  return outputs_of<kDevice>(raw, of_points);
}

/// The memory of a band's array, its shape and its element type's number; None if the band has not got it.
/// @param owner  the band
nb::object shared(const AnyConstDeviceView& view, DType dtype, std::initializer_list<std::int64_t> shape, int device,
                  nb::handle owner) {
  if (!view.present()) return nb::none();
  std::array<std::size_t, 5> extents{};
  std::transform(shape.begin(), shape.end(), extents.begin(),
                 [](std::int64_t n) { return static_cast<std::size_t>(n); });
  nb::list axes;
  for (const std::int64_t extent : shape) axes.append(extent);
  return nb::make_tuple(DeviceMemory(const_cast<std::byte*>(view.data()), shape.size(), extents.data(), owner, nullptr,
                                     dlpack_of(dtype), nb::device::cuda::value, device),
                        nb::tuple(axes), static_cast<int>(dtype));
}

/// Masks are bytes here, since not all libraries have words of 64 bits: for each z and y one, with the bit x.
nb::tuple arrays_of(nb::handle self) {
  const auto& held = nb::cast<const DeviceBand&>(self);
  const mesh::DeviceBand& band = held.band();
  const std::int64_t n = band.count();
  constexpr std::int64_t side = mesh::kTileSide;
  const auto array = [&](const AnyConstDeviceView& view, DType dtype, std::initializer_list<std::int64_t> shape) {
    return shared(view, dtype, shape, held.device(), self);
  };
  const Shape& rows = band.row_inside.shape();
  return nb::make_tuple(array(band.tiles, DType::int32, {n, 3}), array(band.masks, DType::uint8, {n, side, side}),
                        array(band.distances, band.distances.dtype(), {n, side, side, side}),
                        array(band.triangles, DType::int32, {n, side, side, side}),
                        array(band.closest, DType::float32, {n, side, side, side, 3}),
                        array(band.row_inside, DType::uint8, {rows[0], rows[1]}),
                        array(band.after_inside, DType::uint8, {n}));
}

mesh::Band downloaded(const DeviceBand& held) {
  const nb::gil_scoped_release unlocked;
  return held.band().download();
}

}  // namespace

mesh::TriangleSet triangle_set_on_device(nb::handle vertices, nb::handle faces, MeshChoices choices, int device,
                                         int threads, nb::object progress) {
  const CurrentDevice chosen(device);
  std::get<2>(choices) = static_cast<int>(Backend::cuda);
  return make_triangle_set(vertices, faces, choices, threads, std::move(progress));
}

void nearest_triangles_on_device(const mesh::TriangleSet& set, const DeviceArray& points, const nb::tuple& outputs,
                                 std::uintptr_t stream) {
  const auto questions = view_of<const std::byte, kDevice>(points.raw().joined(0, 1));
  const mesh::DeviceOutputs to = device_outputs(outputs, true);
  const nb::gil_scoped_release unlocked;
  set.nearest(questions, to, {}, stream_at(stream));
}

void field_on_device(const mesh::TriangleSet& set, const mesh::Lattice& lattice, const nb::tuple& outputs,
                     std::uintptr_t stream) {
  const mesh::DeviceOutputs to = device_outputs(outputs, false);
  const nb::gil_scoped_release unlocked;
  set.field(lattice, to, {}, stream_at(stream));
}

DeviceBand::~DeviceBand() {
  try {
    const CurrentDevice chosen(device_);
    cudaDeviceSynchronize();
    band_ = {};
  } catch (const DeviceError&) {  // the device is gone, and the memory with it
  }
}

DeviceBand* band_on_device(const mesh::TriangleSet& set, const mesh::Lattice& lattice, double cutoff, int dtype,
                           bool triangles, bool closest, int device, std::uintptr_t stream, nb::object progress) {
  mesh::BandOptions options{cutoff, static_cast<DType>(dtype), triangles, closest, false, {}};
  mesh::DeviceBand band;
  run_watched(std::move(progress), options.execution,
              [&] { band = set.device_band(lattice, options, stream_at(stream)); });
  return new DeviceBand(std::move(band), device);
}

void add_device_band(nb::module_& m) {
  nb::class_<DeviceBand>(m, "DeviceBand")
      .def_prop_ro("lattice", [](const DeviceBand& held) { return held.band().lattice; })
      .def_prop_ro("cutoff", [](const DeviceBand& held) { return held.band().cutoff; })
      .def_prop_ro("active", [](const DeviceBand& held) { return held.band().active; })
      .def_prop_ro("bytes", [](const DeviceBand& held) { return held.band().bytes; })
      .def_prop_ro("arrays", &arrays_of)
      .def("download", &downloaded);
}

}  // namespace fathom::python
