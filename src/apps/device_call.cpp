#include "apps/device_call.h"

#include "fathom/core/error.h"

namespace fathom::apps {

namespace {

/// Cuts dense arrays from memory.
class Cutter {
 public:
  explicit Cutter(std::byte* base) : base_(base) {}

  std::size_t bytes() const { return bytes_; }

  AnyDeviceView cut(const AnyConstView& array) {
    if (!array.present()) return {};
    constexpr std::size_t kAlignment = 256;
    std::byte* const at = base_ ? base_ + bytes_ : nullptr;
    const std::size_t size = static_cast<std::size_t>(element_count(array.shape())) * size_of(array.dtype());
    bytes_ += (size + kAlignment - 1) / kAlignment * kAlignment;
    return {at, array.dtype(), array.shape()};
  }

 private:
  std::byte* base_;
  std::size_t bytes_ = 0;
};

}  // namespace

void check_device_execution(const Execution& execution) {
  if (execution.backend == Backend::cpu)
    throw InvalidArgument("the arrays are in a device's memory, where the backend cpu cannot work; use auto or cuda");
}

void refuse_device_views() { throw DeviceError("this build of Fathom has no CUDA backend"); }

DeviceCopies copies_of(const std::vector<AnyConstView>& inputs, const std::vector<AnyView>& outputs, std::byte* base) {
  DeviceCopies copies;
  Cutter cutter(base);
  for (const AnyConstView& input : inputs) copies.inputs.push_back(cutter.cut(input));
  for (const AnyView& output : outputs) copies.outputs.push_back(cutter.cut(output));
  copies.bytes = cutter.bytes();
  return copies;
}

Execution execution_on_device(const Execution& execution) {
  Execution own = execution;
  own.backend = Backend::automatic;
  own.scratch_limit.reset();
  own.progress = nullptr;
  return own;
}

#ifndef FATHOM_HAS_CUDA

std::string run_on_device(const std::vector<AnyConstView>&, const std::vector<AnyView>&, const Execution&,
                          const std::function<void(const DeviceCopies&, Stream)>&) {
  refuse_device_views();
}

#endif

}  // namespace fathom::apps
