// Triangle meshes on devices, and their bands there.
#pragma once

#include <nanobind/nanobind.h>

#include "cuda/device_array.h"
#include "mesh.h"

namespace fathom::python {

/// Of arrays of the host. Waits until it is built.
mesh::TriangleSet triangle_set_on_device(nanobind::handle vertices, nanobind::handle faces, MeshChoices choices,
                                         int device, int threads, nanobind::object progress);

/// In the stream's order.
/// @param points   [..., 3]; as the outputs, dense where several axes count them
/// @param outputs  a DeviceArray to fill, or None, in the order of mesh::Outputs
void nearest_triangles_on_device(const mesh::TriangleSet& set, const DeviceArray& points,
                                 const nanobind::tuple& outputs, std::uintptr_t stream);
void field_on_device(const mesh::TriangleSet& set, const mesh::Lattice& lattice, const nanobind::tuple& outputs,
                     std::uintptr_t stream);

/// A band whose memory goes once its device is done, so that no work can still be reading it, on whatever stream it is.
class DeviceBand {
 public:
  DeviceBand(mesh::DeviceBand band, int device) : band_(std::move(band)), device_(device) {}
  ~DeviceBand();
  DeviceBand(const DeviceBand&) = delete;
  DeviceBand& operator=(const DeviceBand&) = delete;

  const mesh::DeviceBand& band() const { return band_; }
  int device() const { return device_; }

 private:
  mesh::DeviceBand band_;
  int device_;
};

/// Waits until it is done.
/// @param dtype  number of a DType
DeviceBand* band_on_device(const mesh::TriangleSet& set, const mesh::Lattice& lattice, double cutoff, int dtype,
                           bool triangles, bool closest, int device, std::uintptr_t stream, nanobind::object progress);

void add_device_band(nanobind::module_& m);

}  // namespace fathom::python
