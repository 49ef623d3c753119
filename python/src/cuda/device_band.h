// Bands of meshes in a device's memory.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "fathom/mesh/triangle_set.h"

namespace fathom::python {

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

void add_device_band(nanobind::module_& m);

}  // namespace fathom::python
