#include "cuda/device_band.h"

#include <nanobind/stl/array.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "cuda/current_device.h"
#include "cuda/memory.h"
#include "device_array.h"
#include "dlpack_dtype.h"
#include "watch.h"

namespace fathom::python {

namespace nb = nanobind;

namespace {

constexpr auto kDevice = MemorySpace::device;

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

void to_dense(const DeviceBand& held, const DeviceArray& out) {
  const auto view = view_of<std::byte, kDevice>(out.raw());
  const nb::gil_scoped_release unlocked;
  held.band().to_dense(view, out.stream());
}

/// @param lists  places, distances, triangles and closest points; None for what is not wanted
void to_list(const DeviceBand& held, const nb::tuple& lists) {
  std::array<AnyDeviceView, 4> views;
  Stream stream;
  for (std::size_t k = 0; k < views.size(); ++k) {
    if (lists[k].is_none()) continue;
    const auto& list = nb::cast<const DeviceArray&>(lists[k]);
    views[k] = view_of<std::byte, kDevice>(list.raw());
    stream = list.stream();
  }
  const nb::gil_scoped_release unlocked;
  held.band().to_list(views[0], views[1], views[2], views[3], stream);
}

/// Waits until it is done.
/// @param dtype  number of a DType
/// @param keep   triangles, closest points; the third is of bands on the host
DeviceBand* device_band(const mesh::TriangleSet& set, const mesh::Lattice& lattice, double cutoff, int dtype,
                        const std::array<bool, 3>& keep, int device, std::uintptr_t stream, nb::object progress) {
  mesh::BandOptions options{cutoff, static_cast<DType>(dtype), keep[0], keep[1], false, {}};
  mesh::DeviceBand band;
  run_watched(std::move(progress), options.execution,
              [&] { band = set.device_band(lattice, options, stream_at(stream)); });
  return new DeviceBand(std::move(band), device);
}

}  // namespace

DeviceBand::~DeviceBand() {
  try {
    const CurrentDevice chosen(device_);
    cudaDeviceSynchronize();
    band_ = {};
  } catch (const DeviceError&) {  // the device is gone, and the memory with it
  }
}

void add_device_band(nb::module_& m) {
  nb::class_<DeviceBand>(m, "DeviceBand")
      .def_prop_ro("lattice", [](const DeviceBand& held) { return held.band().lattice; })
      .def_prop_ro("cutoff", [](const DeviceBand& held) { return held.band().cutoff; })
      .def_prop_ro("active", [](const DeviceBand& held) { return held.band().active; })
      .def_prop_ro("bytes", [](const DeviceBand& held) { return held.band().bytes; })
      .def_prop_ro("arrays", &arrays_of)
      .def("download", &downloaded)
      .def("to_dense", &to_dense)
      .def("to_list", &to_list);
  m.def("device_band", &device_band, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg().none());
}

}  // namespace fathom::python
