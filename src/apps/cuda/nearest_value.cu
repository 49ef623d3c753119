// Grid writes the indices of nearest sites; then thread = element.
#include "apps/cuda/arrays.h"
#include "apps/cuda/elements.cuh"
#include "apps/cuda/nearest_value.h"

namespace fathom::apps::cuda {

namespace {

/// @tparam Bits  an unsigned type of the elements' size
template <class Index, class Bits>
struct Carry {
  static constexpr int kElements = 1;

  const Index* nearest;
  const Bits* input;
  Bits* value;
  Elements<1> image;  ///< of the input

  __device__ void operator()(const Place<3>& place) const {
    const auto site = static_cast<std::int64_t>(nearest[place.number]);
    std::int64_t from = place.at[1];
    if (site >= 0) {
      const std::int64_t elements = image.rows * image.row_length(), number = place.number % elements;
      from += image.place(site / image.row_length(), site % image.row_length(), 1).at[0] -
              image.place(number / image.row_length(), number % image.row_length(), 1).at[0];
    }
    value[place.at[2]] = input[from];
  }
};

template <class Index>
struct Direct {
  static constexpr int kElements = 1;

  const Index* nearest;
  float* direction;
  Compass compass;

  __device__ void operator()(const Place<1>& place) const {
    const auto site = static_cast<std::int64_t>(nearest[place.number]);
    const std::int64_t own = place.number % (compass.extent[0] * compass.extent[1]);
    direction[place.at[0]] = site < 0 ? __int_as_float(0x7FC00000) : compass.direction(own, site);
  }
};

/// Calls work(pointer to the indices).
template <class Work>
void with_indices(const AnyConstDeviceView& nearest, const Work& work) {
  if (nearest.dtype() == DType::int32) work(nearest.as<std::int32_t>().data());
  else work(nearest.as<std::int64_t>().data());
}

/// Values of images one behind the other.
void carry(const AnyConstDeviceView& input, const AnyConstDeviceView& nearest, const AnyDeviceView& value,
           int batch_axes, cudaStream_t stream) {
  Shape shape;
  Strides strides;
  for (int axis = batch_axes; axis < input.rank(); ++axis) {
    shape.push_back(input.shape()[axis]);
    strides.push_back(input.strides()[axis]);
  }
  const auto image = Elements<1>::of(shape, {strides});
  with_indices(nearest, [&]<class Index>(const Index* indices) {
    with_bits(size_of(input.dtype()), [&]<class Bits>(Bits) {
      for_each_element<3>(input.shape(), {nearest.strides(), input.strides(), value.strides()},
                          Carry<Index, Bits>{indices, reinterpret_cast<const Bits*>(input.data()),
                                             reinterpret_cast<Bits*>(value.data()), image},
                          "carrying values", stream);
    });
  });
}

void direct(const AnyConstDeviceView& nearest, const Compass& compass, const AnyDeviceView& direction,
            cudaStream_t stream) {
  with_indices(nearest, [&]<class Index>(const Index* indices) {
    for_each_element<1>(direction.shape(), {direction.strides()},
                        Direct<Index>{indices, direction.as<float>().data(), compass}, "telling directions", stream);
  });
}

/// Indices, and what the transform is asked for.
struct Transform {
  AnyDeviceView nearest;
  grid::DeviceDistanceOutputs outputs;
  std::size_t index_bytes = 0;

  /// @param memory  of the indices
  Transform(const AnyConstDeviceView& input, const grid::DistanceOptions& options,
            const DeviceNearestValueOutputs& wanted, std::byte* memory)
      : nearest(memory, index_type(input, options.batch_axes), input.shape()), outputs(asked(wanted, nearest)) {
    if (outputs.nearest.present())
      index_bytes = static_cast<std::size_t>(element_count(input.shape())) * size_of(nearest.dtype());
  }
};

}  // namespace

std::size_t nearest_value_scratch_bytes(const AnyConstDeviceView& input, const grid::DistanceOptions& options,
                                        const DeviceNearestValueOutputs& outputs) {
  const Transform transform(input, options, outputs, nullptr);
  return transform.index_bytes + grid::scratch_bytes(input, options, transform.outputs);
}

std::string nearest_values(const AnyConstDeviceView& input, const grid::DistanceOptions& options,
                           const DeviceNearestValueOutputs& outputs, const Compass& compass, Stream stream) {
  const int device = device_of({{input, "input"},
                                {outputs.value, "value"},
                                {outputs.distance, "distance"},
                                {outputs.direction, "direction"}},
                               stream);
  const fathom::cuda::OnDevice on_device(device);
  const cudaStream_t native = fathom::cuda::native(stream);
  const fathom::cuda::DeviceMemory memory(Transform(input, options, outputs, nullptr).index_bytes, native);
  const Transform transform(input, options, outputs, memory.data());
  grid::distance_transform(input, options, transform.outputs, stream);
  if (outputs.value.present()) carry(input, transform.nearest, outputs.value, options.batch_axes, native);
  if (outputs.direction.present()) direct(transform.nearest, compass, outputs.direction, native);
  return describe_device(device).name;
}

}  // namespace fathom::apps::cuda
