// Bands in a device's memory.
#include "core/require_device.h"
#include "fathom/mesh/band.h"
#include "mesh/band_forms.h"

#ifdef FATHOM_HAS_CUDA
#include "mesh/cuda/band_points.h"
#include "mesh/cuda/resident.h"
#endif

namespace fathom::mesh {

namespace {

/// Lists lie dense.
template <class T>
T* list_at(const AnyDeviceView& view, const char* name, DType dtype, const Shape& shape) {
  check_array(view, name, dtype, shape);
  if (view.present() && shape.rank() == 2 && shape[0] > 1 && view.strides()[0] != shape[1])
    throw InvalidArgument(std::string("the output '") + name + "' is not dense");
  return reinterpret_cast<T*>(view.data());
}

}  // namespace

Band DeviceBand::download() const {
  Band band;
  band.lattice = lattice;
  band.cutoff = cutoff;
  band.is_signed = is_signed;
  band.active = active;
#ifdef FATHOM_HAS_CUDA
  const auto copy = [](const AnyConstDeviceView& view) { return view.present() ? cuda::download(view, {}) : Array(); };
  band.tiles = copy(tiles);
  band.masks = copy(masks);
  band.distances = copy(distances);
  band.triangles = copy(triangles);
  band.closest = copy(closest);
  band.row_inside = copy(row_inside);
  band.after_inside = copy(after_inside);
#endif
  return band;
}

void DeviceBand::to_dense(const AnyDeviceView& out, [[maybe_unused]] Stream stream) const {
  if (!out.present()) throw InvalidArgument("no output was given");
  check_array(out, "out", distances.dtype(), lattice.array_shape());
  require_device();
#ifdef FATHOM_HAS_CUDA
  if (element_count(out.shape()) > 0) cuda::fill_dense(*this, out, stream);
#endif
}

void DeviceBand::to_list(const AnyDeviceView& places, const AnyDeviceView& values, const AnyDeviceView& ids,
                         const AnyDeviceView& points, [[maybe_unused]] Stream stream) const {
  for (const auto& [view, kept] : {std::pair{&ids, &triangles}, {&points, &closest}})
    if (view->present() && !kept->present())
      throw InvalidArgument("the band has no triangles or nearest points; ask for them when it is made");
  require_device();
  [[maybe_unused]] std::int32_t* const to_places = list_at<std::int32_t>(places, "places", DType::int32, {active, 3});
  [[maybe_unused]] std::byte* const to_values = list_at<std::byte>(values, "distances", distances.dtype(), {active});
  [[maybe_unused]] std::int32_t* const to_ids = list_at<std::int32_t>(ids, "triangles", DType::int32, {active});
  [[maybe_unused]] float* const to_points = list_at<float>(points, "closest", DType::float32, {active, 3});
#ifdef FATHOM_HAS_CUDA
  if (count() > 0) cuda::fill_list(*this, {to_places, to_values, to_ids, to_points}, stream);
#endif
}

}  // namespace fathom::mesh
