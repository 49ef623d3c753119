#include "grid/cuda/transform.h"

#include "core/cuda/runtime.h"
#include "grid/cuda/general.h"
#include "grid/cuda/plain.h"
#include "grid/cuda/scratch.h"

namespace fathom::grid::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::DeviceMemory;
using fathom::cuda::OnDevice;

void check_device(const AnyConstView& view, const char* name, int device) {
  if (view.present() && fathom::cuda::device_of(view.data(), name) != device)
    throw InvalidArgument(std::string("'") + name + "' is on another device than the input");
}

int device_of(const Problem& p) {
  const int device = fathom::cuda::device_of(p.input.data(), "input");
  check_device(p.outputs.distance, "distance", device);
  check_device(p.outputs.squared, "squared", device);
  check_device(p.outputs.nearest, "nearest", device);
  check_device(p.outputs.coordinates, "coordinates", device);
  return device;
}

std::size_t bytes_of(const Shape& shape, DType dtype) {
  return static_cast<std::size_t>(element_count(shape)) * size_of(dtype);
}

/// A host array of a batch with its place on the device, where it is dense: item after item.
template <class Byte>
class Copy {
 public:
  using HostView = BasicAnyView<Byte, MemorySpace::host>;

  Copy(const HostView& view, const Batch& batch, const Strides& strides, Scratch& scratch)
      : view_(view), batch_(batch), strides_(strides) {
    if (view.present()) device_ = scratch.take<std::byte>(static_cast<std::int64_t>(bytes()));
  }

  HostView on_device() const {
    return view_.present() ? HostView(device_, view_.dtype(), view_.shape()) : HostView();
  }
  Strides item_strides() const {
    if (!view_.present()) return {};
    Strides dense = dense_strides(batch_.shape);
    const std::int64_t item = element_count(view_.shape());
    Strides result;
    for (int k = 0; k < dense.rank(); ++k) result.push_back(dense[k] * item);
    return result;
  }

  void upload(cudaStream_t stream) const {
    each_run([&](Byte* host, std::size_t at, std::size_t count) {
      check(cudaMemcpyAsync(device_ + at, host, count, cudaMemcpyHostToDevice, stream), "copying to the device");
    });
  }
  void download(cudaStream_t stream) const {
    each_run([&](Byte* host, std::size_t at, std::size_t count) {
      check(cudaMemcpyAsync(host, device_ + at, count, cudaMemcpyDeviceToHost, stream), "copying from the device");
    });
  }

 private:
  std::size_t bytes() const {
    return bytes_of(view_.shape(), view_.dtype()) * static_cast<std::size_t>(batch_.count());
  }

  /// Calls visit(host address, bytes from the start on the device, bytes) for each run of memory that is dense.
  template <class Visitor>
  void each_run(Visitor&& visit) const {
    if (!view_.present()) return;
    Shape shape = batch_.shape;
    Strides strides = strides_;
    for (int k = 0; k < view_.rank(); ++k) {
      shape.push_back(view_.shape()[k]);
      strides.push_back(view_.strides()[k]);
    }
    std::int64_t run = 1;
    int outer = shape.rank();
    while (outer > 0 && (shape[outer - 1] == 1 || strides[outer - 1] == run)) run *= shape[--outer];
    std::int64_t runs = 1;
    for (int k = 0; k < outer; ++k) runs *= shape[k];
    const std::size_t size = size_of(view_.dtype()), length = static_cast<std::size_t>(run) * size;
    for (std::int64_t r = 0; r < runs; ++r) {
      std::int64_t elements = 0, rest = r;
      for (int k = outer - 1; k >= 0; --k) {
        elements += rest % shape[k] * strides[k];
        rest /= shape[k];
      }
      visit(view_.data() + elements * static_cast<std::int64_t>(size), static_cast<std::size_t>(r) * length, length);
    }
  }

  HostView view_;
  const Batch& batch_;
  Strides strides_;
  std::byte* device_ = nullptr;
};

/// All arrays of a host call, in one block of device memory.
struct Copies {
  Copies(const Problem& p, const Batch& batch, std::byte* base)
      : scratch(base),
        input(p.input, batch, batch.input, scratch),
        distance(p.outputs.distance, batch, batch.distance, scratch),
        squared(p.outputs.squared, batch, batch.squared, scratch),
        nearest(p.outputs.nearest, batch, batch.nearest, scratch),
        coordinates(p.outputs.coordinates, batch, batch.coordinates, scratch) {}

  Problem problem(const Problem& host) const {
    Problem p = host;
    p.input = input.on_device();
    p.outputs = {distance.on_device(), squared.on_device(), nearest.on_device(), coordinates.on_device()};
    return p;
  }
  Batch batch(const Batch& host) const {
    return {host.shape,
            input.item_strides(),
            distance.item_strides(),
            squared.item_strides(),
            nearest.item_strides(),
            coordinates.item_strides()};
  }
  void download(cudaStream_t stream) const {
    for (const auto* copy : {&distance, &squared, &nearest, &coordinates}) copy->download(stream);
  }

  Scratch scratch;
  Copy<const std::byte> input;
  Copy<std::byte> distance, squared, nearest, coordinates;
};

void run(const Problem& p, const Batch& batch, std::byte* scratch, cudaStream_t stream) {
  if (plane_serves(p)) plane_transform(p, batch, scratch, stream);
  else if (volume_serves(p)) volume_transform(p, batch, scratch, stream);
  else general_transform(p, batch, scratch, stream);
}

}  // namespace

std::size_t scratch_bytes(const Problem& problem, const Batch& batch) {
  if (plane_serves(problem)) return plane_scratch_bytes(problem, batch);
  return volume_serves(problem) ? volume_scratch_bytes(problem, batch) : general_scratch_bytes(problem, batch);
}

std::string transform(const Problem& problem, const Batch& batch, std::size_t scratch, Stream stream) {
  const int device = device_of(problem);
  const OnDevice on_device(device);
  const cudaStream_t native = fathom::cuda::native(stream);
  const DeviceMemory memory(scratch, native);
  run(problem, batch, memory.data(), native);
  return describe_device(device).name;
}

std::size_t host_bytes(const Problem& problem, const Batch& batch) {
  return Copies(problem, batch, nullptr).scratch.bytes() + scratch_bytes(problem, batch);
}

std::string transform_host(const Problem& problem, const Batch& batch) {
  const fathom::cuda::OwnStream stream;
  const std::size_t for_engine = scratch_bytes(problem, batch);
  const DeviceMemory arrays(Copies(problem, batch, nullptr).scratch.bytes(), stream.get());
  const DeviceMemory scratch(for_engine, stream.get());
  const Copies copies(problem, batch, arrays.data());
  copies.input.upload(stream.get());
  run(copies.problem(problem), copies.batch(batch), scratch.data(), stream.get());
  copies.download(stream.get());
  stream.wait();
  return describe_device(current_device()).name;
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for the free memory");
  return free;
}

}  // namespace fathom::grid::cuda
