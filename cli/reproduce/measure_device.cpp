// The device's part of measure.h, with the CUDA runtime; errors where the build has none.
#include "fathom/core/error.h"
#include "reproduce/measure.h"

#ifdef FATHOM_HAS_CUDA

#include <cuda_runtime_api.h>
#include <fmt/format.h>

namespace fathom::cli {

namespace {

void check(cudaError_t error, const char* doing) {
  if (error != cudaSuccess) throw DeviceError(fmt::format("{}: {}", doing, cudaGetErrorString(error)));
}

cudaStream_t native(Stream stream) { return static_cast<cudaStream_t>(stream.handle); }

std::size_t bytes_of(DType dtype, const Shape& shape) {
  return static_cast<std::size_t>(element_count(shape)) * size_of(dtype);
}

/// A stream and two events around what is put into it.
class Watch {
 public:
  Watch() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    check(cudaEventCreate(&begin_), "making an event");
    check(cudaEventCreate(&end_), "making an event");
  }
  ~Watch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    cudaStreamDestroy(stream_);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Seconds of one of `calls`.
  double time(const std::function<void(Stream)>& work, int calls) {
    check(cudaEventRecord(begin_, stream_), "recording an event");
    for (int k = 0; k < calls; ++k) work(Stream{stream_});
    check(cudaEventRecord(end_, stream_), "recording an event");
    check(cudaStreamSynchronize(stream_), "measuring");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "measuring");
    return milliseconds / 1e3 / calls;
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace

DeviceArray::DeviceArray(DType dtype, const Shape& shape) : dtype_(dtype), shape_(shape) {
  void* data = nullptr;
  check(cudaMalloc(&data, std::max<std::size_t>(bytes_of(dtype, shape), 1)), "asking for device memory");
  data_ = static_cast<std::byte*>(data);
}

DeviceArray::DeviceArray(const AnyConstView& values) : DeviceArray(values.dtype(), values.shape()) {
  check(cudaMemcpy(data_, values.data(), bytes_of(dtype_, shape_), cudaMemcpyHostToDevice), "copying to the device");
  check(cudaStreamSynchronize(nullptr), "copying to the device");  // other streams do not wait for this one
}

DeviceArray::~DeviceArray() { cudaFree(data_); }

Array DeviceArray::to_host() const {
  check(cudaDeviceSynchronize(), "waiting for the device");
  Array values(dtype_, shape_);
  check(cudaMemcpy(values.data(), data_, values.bytes(), cudaMemcpyDeviceToHost), "copying from the device");
  return values;
}

double median_device_seconds(const std::function<void(Stream)>& work, int runs, double patience) {
  constexpr int kCalls = 10;  // in a row, so that launching is not what is measured
  Watch watch;
  const double first = watch.time(work, 1);
  const int calls = first * kCalls * runs > patience ? 1 : kCalls;
  return median_of([&] { return watch.time(work, calls); }, runs, patience);
}

void copy_on_device(const AnyDeviceView& to, const AnyDeviceView& from, Stream stream) {
  check(cudaMemcpyAsync(to.data(), from.data(), bytes_of(from.dtype(), from.shape()), cudaMemcpyDeviceToDevice,
                        native(stream)),
        "copying on the device");
}

}  // namespace fathom::cli

#else

namespace fathom::cli {

namespace {

[[noreturn]] void no_device() { throw DeviceError("this build of Fathom has no CUDA"); }

}  // namespace

DeviceArray::DeviceArray(DType dtype, const Shape& shape) : dtype_(dtype), shape_(shape) { no_device(); }
DeviceArray::DeviceArray(const AnyConstView& values) : DeviceArray(values.dtype(), values.shape()) {}
DeviceArray::~DeviceArray() = default;
Array DeviceArray::to_host() const { no_device(); }
double median_device_seconds(const std::function<void(Stream)>&, int, double) { no_device(); }
void copy_on_device(const AnyDeviceView&, const AnyDeviceView&, Stream) { no_device(); }

}  // namespace fathom::cli

#endif
