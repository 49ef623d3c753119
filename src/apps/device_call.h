// What calls on devices have in common: views of device memory as the checks see them, and the way of arrays of the
// host to a device and back.
//
// An operation has a function between arrays in a device's memory. The one between arrays of the host calls it so:
//
//   if (wants_device(options.execution)) {
//     const ExampleOptions own = options_on_device(options);
//     const DeviceCopies shapes = copies_of({input}, {output});
//     const std::size_t bytes = shapes.bytes + example_scratch_bytes(shapes.inputs[0], own, shapes.outputs[0]);
//     check_scratch(options.execution, bytes);
//     const auto work = [&](const DeviceCopies& at, Stream s) { example(at.inputs[0], own, at.outputs[0], s); };
//     const std::string device = run_on_device({input}, {output}, options.execution, work);
//     return {.backend = Backend::cuda, .scratch_bytes = bytes, .device = device};
//   }
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "fathom/core/device.h"
#include "fathom/core/execution.h"
#include "fathom/core/view.h"

namespace fathom::apps {

/// The same address as a view of the host's memory, for checks, which look at types, shapes and addresses alone.
template <class Byte>
BasicAnyView<Byte, MemorySpace::host> unchecked(const BasicAnyView<Byte, MemorySpace::device>& view) {
  if (!view.present()) return {};
  return {view.data(), view.dtype(), view.shape(), view.strides()};
}

/// The other way round.
template <class Byte>
BasicAnyView<Byte, MemorySpace::device> on_device(const BasicAnyView<Byte, MemorySpace::host>& view) {
  if (!view.present()) return {};
  return {view.data(), view.dtype(), view.shape(), view.strides()};
}

/// What a call between arrays in a device's memory refuses at once.
/// @throws InvalidArgument the backend is the CPU
void check_device_execution(const Execution& execution);

/// The options of such a call, with the device as the backend.
/// @throws InvalidArgument the backend is the CPU
template <class Options>
Options on_its_device(const Options& options) {
  check_device_execution(options.execution);
  Options own = options;
  own.execution.backend = Backend::cuda;
  return own;
}

/// What a build without CUDA says to such a call.
[[noreturn]] void refuse_device_views();

/// Arrays of the host as dense ones of a device; those that are absent stay so.
struct DeviceCopies {
  std::vector<AnyConstDeviceView> inputs;
  std::vector<AnyDeviceView> outputs;
  std::size_t bytes = 0;  ///< of device memory
};

/// @param base  where they lie one behind the other; null: their memory is missing, for what only counts
DeviceCopies copies_of(const std::vector<AnyConstView>& inputs, const std::vector<AnyView>& outputs,
                       std::byte* base = nullptr);

/// How such an operation runs on the copies: on a device, in as much scratch as it needs.
Execution execution_on_device(const Execution& execution);
template <class Options>
Options options_on_device(const Options& options) {
  Options own = options;
  own.execution = execution_on_device(options.execution);
  return own;
}

/// Copies the inputs to the current device, calls work(copies, stream), copies the outputs back; waits for them.
/// @returns the name of the device
/// @throws Cancelled the stop token asked for it before the work began, or before the outputs were copied
std::string run_on_device(const std::vector<AnyConstView>& inputs, const std::vector<AnyView>& outputs,
                          const Execution& execution, const std::function<void(const DeviceCopies&, Stream)>& work);

}  // namespace fathom::apps
