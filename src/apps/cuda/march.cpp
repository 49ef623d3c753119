// The picture is made in parts, so that what their rays need does not grow with it.
#include "apps/cuda/march.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "apps/cuda/arrays.h"
#include "apps/cuda/solid.h"
#include "apps/cuda/steps.h"
#include "core/cuda/runtime.h"
#include "core/parallel.h"
#include "fathom/core/error.h"
#include "fathom/grid/mark_sites.h"

namespace fathom::apps::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::DeviceMemory;
using fathom::cuda::OnDevice;
using fathom::cuda::OwnStream;
using fathom::cuda::Scratch;

constexpr std::int64_t kMostPixels = std::int64_t{1} << 20;  ///< of a part: enough to make every device busy

/// An output, and its part on the device.
struct Copy {
  AnyView view;
  std::byte* part = nullptr;

  Copy(const AnyView& output, std::int64_t pixels, Scratch& scratch) : view(output) {
    if (view.present()) part = scratch.take<std::byte>(pixels * element_bytes());
  }

  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(part);
  }

  /// Waits for the stream.
  void download(std::int64_t first, std::int64_t count, cudaStream_t stream) const {
    if (!part) return;
    std::vector<std::byte> pixels(static_cast<std::size_t>(count * element_bytes()));
    check(cudaMemcpyAsync(pixels.data(), part, pixels.size(), cudaMemcpyDeviceToHost, stream), "copying pictures");
    check(cudaStreamSynchronize(stream), "marching rays");
    const std::int64_t width = view.shape()[1];
    const std::byte* from = pixels.data();
    for (std::int64_t pixel = first, n = 0; pixel < first + count; pixel += n) {
      n = std::min(width - pixel % width, first + count - pixel);
      const std::size_t bytes = static_cast<std::size_t>(n * element_bytes());
      std::memcpy(view.data() + (pixel / width * view.strides()[0] + pixel % width) * element_bytes(), from, bytes);
      from += bytes;
    }
  }

 private:
  std::int64_t element_bytes() const { return static_cast<std::int64_t>(size_of(view.dtype())); }
};

/// The device memory of a call, for parts of so many pixels.
struct Memory {
  Scratch scratch;
  Totals* totals;
  Copy shade, voxel, depth, samples;
  std::byte* steps;

  Memory(const RayMarchOutputs& outputs, std::int64_t pixels, const Steps& its_steps, std::byte* base)
      : scratch(base),
        totals(scratch.take<Totals>(1)),
        shade(outputs.shade, pixels, scratch),
        voxel(outputs.voxel, pixels, scratch),
        depth(outputs.depth, pixels, scratch),
        samples(outputs.samples, pixels, scratch),
        steps(scratch.take<std::byte>(static_cast<std::int64_t>(its_steps.scratch_bytes(pixels)))) {}

  Pictures pictures() const {
    return {shade.as<std::uint8_t>(), voxel.as<std::int64_t>(), depth.as<float>(), samples.as<std::int32_t>()};
  }

  void download(const Part& part, cudaStream_t stream) const {
    for (const Copy* copy : {&shade, &voxel, &depth, &samples}) copy->download(part.first, part.count, stream);
  }
};

/// A volume's bits on the current device, and what the host knows of them.
struct DeviceSolid {
  Solid solid;
  std::size_t bytes;  ///< of the words
  std::unique_ptr<const DeviceMemory> words;

  explicit DeviceSolid(Solid host)
      : solid(std::move(host)), bytes(solid.bytes()), words(std::make_unique<DeviceMemory>(bytes, nullptr)) {
    check(cudaMemcpy(words->data(), solid.words.data(), bytes, cudaMemcpyHostToDevice), "copying voxels");
    check(cudaStreamSynchronize(nullptr), "copying voxels");  // cudaMemcpy() may return before, and other streams follow
  }

  /// @param needs_words  of the host, too
  DeviceSolid(const AnyConstDeviceView& volume, const RayMarcherOptions& options, int threads, bool needs_words,
              cudaStream_t stream)
      : bytes(word_bytes(volume.shape())), words(std::make_unique<DeviceMemory>(bytes, nullptr)) {
    check(cudaStreamSynchronize(nullptr), "asking for memory");  // for the other stream, too
    const Shape& shape = volume.shape();
    const std::array extents{static_cast<std::int32_t>(shape[0]), static_cast<std::int32_t>(shape[1]),
                             static_cast<std::int32_t>(shape[2])};
    const DeviceMemory block(scratch_bytes(shape), stream);
    Scratch scratch(block.data());
    const AnyDeviceView mask(scratch.take<std::byte>(element_count(shape)), DType::uint8, shape);
    auto* const rows = scratch.take<SolidRow>(shape[0] * shape[1]);
    grid::Sites sites{grid::Sites::Rule::nonzero, 0};
    if (options.threshold) sites = {grid::Sites::Rule::greater_equal, *options.threshold};
    grid::mark_sites(volume, sites, mask, Stream{stream});
    pack_solid(mask.as<std::uint8_t>().data(), extents, reinterpret_cast<std::uint64_t*>(words->data()), rows, stream);
    std::vector<SolidRow> found(static_cast<std::size_t>(shape[0] * shape[1]));
    check(cudaMemcpyAsync(found.data(), rows, found.size() * sizeof(SolidRow), cudaMemcpyDeviceToHost, stream),
          "looking for voxels");
    check(cudaStreamSynchronize(stream), "looking for voxels");
    solid = solid_of(extents, found.data(), threads);
    if (!needs_words) return;
    solid.words.resize(bytes / sizeof(std::uint64_t));
    check(cudaMemcpy(solid.words.data(), words->data(), bytes, cudaMemcpyDeviceToHost), "copying voxels");
  }

  /// While it is made of a volume on the device.
  static std::size_t scratch_bytes(const Shape& shape) {
    Scratch sizes(nullptr);
    sizes.take<std::uint8_t>(element_count(shape));
    sizes.take<SolidRow>(shape[0] * shape[1]);
    return sizes.bytes();
  }
  static std::size_t word_bytes(const Shape& shape) {
    return static_cast<std::size_t>(shape[0] * shape[1] * words_of_row(shape[2])) * sizeof(std::uint64_t);
  }
};

class DeviceMarcher final : public Marcher {
 public:
  DeviceMarcher(DeviceSolid solid, const RayMarcherOptions& options)
      : Marcher(std::move(solid.solid)),
        device_(current_device()),
        bytes_(solid.bytes),
        words_(std::move(solid.words)) {
    steps_ = make_steps(solid_, voxels(), options);
    solid_.words = {};
    check(cudaStreamSynchronize(nullptr), "preparing the volume");
  }

  ~DeviceMarcher() override {
    try {
      const OnDevice on_device(device_);
      steps_.reset();
      words_.reset();
    } catch (const Error&) {  // the device is gone, and the memory with it
    }
  }

  std::size_t bytes() const override { return bytes_ + steps_->bytes(); }
  Backend backend() const override { return Backend::cuda; }

  RayMarchReport march(const Frame& frame, const RayMarchOptions& options,
                       const RayMarchOutputs& outputs) const override {
    const Execution& execution = options.execution;
    const OnDevice on_device(device_);
    const std::int64_t pixels = frame.width * frame.height, at_once = pixels_at_once(pixels, outputs, execution);
    RayMarchReport report{.backend = Backend::cuda,
                          .scratch_bytes = scratch_bytes(at_once, outputs),
                          .device = describe_device(device_).name};
    if (execution.stop.stop_requested()) throw Cancelled();
    const OwnStream stream;
    const DeviceMemory block(report.scratch_bytes, stream.get());
    const Memory memory(outputs, at_once, *steps_, block.data());
    check(cudaMemsetAsync(memory.totals, 0, sizeof(Totals), stream.get()), "marching rays");
    Monitor monitor(execution, pixels);
    Part part{.voxels = voxels(), .frame = frame, .pictures = memory.pictures(), .totals = memory.totals};
    for (; part.first < pixels; part.first += part.count) {
      part.count = static_cast<std::uint32_t>(std::min(at_once, pixels - part.first));
      steps_->march(part, options, memory.steps, stream.get());
      memory.download(part, stream.get());
      monitor.advance(part.count);
    }
    Totals totals{};
    check(cudaMemcpyAsync(&totals, memory.totals, sizeof totals, cudaMemcpyDeviceToHost, stream.get()), "counting");
    stream.wait();
    report.rays = static_cast<std::int64_t>(totals.rays);
    report.hits = static_cast<std::int64_t>(totals.hits);
    report.samples = static_cast<std::int64_t>(totals.samples);
    return report;
  }

 private:
  Voxels voxels() const {
    Voxels voxels = solid_.voxels();
    voxels.words = reinterpret_cast<const std::uint64_t*>(words_->data());
    return voxels;
  }

  std::size_t scratch_bytes(std::int64_t pixels, const RayMarchOutputs& outputs) const {
    return Memory(outputs, pixels, *steps_, nullptr).scratch.bytes();
  }

  /// As many as the scratch limit lets be worked on.
  std::int64_t pixels_at_once(std::int64_t pixels, const RayMarchOutputs& outputs, const Execution& execution) const {
    std::int64_t at_once = std::min(pixels, kMostPixels);
    const std::size_t limit = execution.scratch_limit.value_or(SIZE_MAX);
    while (at_once > 1 && scratch_bytes(at_once, outputs) > limit) at_once /= 2;
    fit_scratch(execution, 1, scratch_bytes(at_once, outputs));
    return at_once;
  }

  const int device_;
  const std::size_t bytes_;  ///< of the words
  std::unique_ptr<const DeviceMemory> words_;
  std::unique_ptr<const Steps> steps_;
};

}  // namespace

std::unique_ptr<const Marcher> make_marcher(Solid solid, const RayMarcherOptions& options) {
  const OnDevice on_device(current_device());
  return std::make_unique<DeviceMarcher>(DeviceSolid(std::move(solid)), options);
}

std::unique_ptr<const Marcher> make_marcher(const AnyConstDeviceView& volume, const RayMarcherOptions& options,
                                            int threads, Stream stream) {
  const OnDevice on_device(device_of({{volume, "volume"}}, stream));
  refuse_capture(stream, "making a ray marcher");
  const bool needs_words = options.stepping == Stepping::pointwise || options.stepping == Stepping::cone;
  check_memory(options, DeviceSolid::word_bytes(volume.shape()) + DeviceSolid::scratch_bytes(volume.shape()));
  return std::make_unique<DeviceMarcher>(
      DeviceSolid(volume, options, threads, needs_words, fathom::cuda::native(stream)), options);
}

}  // namespace fathom::apps::cuda
