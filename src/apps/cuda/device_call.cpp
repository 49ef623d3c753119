// Arrays of the host go to the device whole, and come back so: calls of this room compute what no part of the input
// decides alone.
#include "apps/device_call.h"

#include "apps/cuda/arrays.h"
#include "core/cuda/capture.h"
#include "core/cuda/runtime.h"
#include "core/cuda/staging.h"
#include "fathom/core/error.h"

namespace fathom::apps {

namespace {

using fathom::cuda::DeviceMemory;
using fathom::cuda::HostRows;
using fathom::cuda::OnDevice;
using fathom::cuda::OwnStream;
using fathom::cuda::Staging;

template <class Byte>
HostRows<Byte> rows_of(const BasicAnyView<Byte, MemorySpace::host>& view) {
  const auto size = static_cast<std::int64_t>(size_of(view.dtype()));
  HostRows<Byte> rows;
  rows.data = view.data();
  rows.bytes = static_cast<std::size_t>(view.shape().back() * size);
  for (int axis = 0; axis + 1 < view.rank(); ++axis) {
    rows.extent.push_back(view.shape()[axis]);
    rows.stride.push_back(view.strides()[axis] * size);
    rows.count *= view.shape()[axis];
  }
  rows.join();
  return rows;
}

/// Calls move(view of the host's, its copy) for those that have elements.
template <class Views, class Copies, class Move>
void each(const Views& views, const Copies& copies, const Move& move) {
  for (std::size_t k = 0; k < views.size(); ++k)
    if (views[k].present() && element_count(views[k].shape()) > 0) move(views[k], copies[k]);
}

}  // namespace

std::string run_on_device(const std::vector<AnyConstView>& inputs, const std::vector<AnyView>& outputs,
                          const Execution& execution, const std::function<void(const DeviceCopies&, Stream)>& work) {
  const int device = current_device();
  const OnDevice on_device(device);
  const std::size_t bytes = copies_of(inputs, outputs).bytes;
  const auto stop = [&] {
    if (execution.stop.stop_requested()) throw Cancelled();
  };
  stop();
  Staging staging(execution.threads > 0 ? execution.threads : available_threads(), bytes);
  const OwnStream stream;
  const DeviceMemory memory(bytes, stream.get());
  const DeviceCopies copies = copies_of(inputs, outputs, memory.data());
  each(inputs, copies.inputs, [&](const AnyConstView& from, const AnyConstDeviceView& to) {
    staging.upload(rows_of(from), const_cast<std::byte*>(to.data()), stream.get());
  });
  work(copies, Stream{stream.get()});
  stop();
  each(outputs, copies.outputs,
       [&](const AnyView& to, const AnyDeviceView& from) { staging.download(from.data(), rows_of(to), stream.get()); });
  stream.wait();
  return describe_device(device).name;
}

namespace cuda {

int device_of(std::initializer_list<NamedView> views, Stream stream) {
  int device = -1;
  const char* first = nullptr;
  for (const auto& [view, name] : views) {
    if (!view.present() || element_count(view.shape()) == 0) continue;
    const int here = fathom::cuda::device_of(view.data(), name, fathom::cuda::native(stream));
    if (device >= 0 && here != device)
      throw InvalidArgument(std::string("'") + name + "' is on another device than '" + first + "'");
    device = here;
    if (!first) first = name;
  }
  return device >= 0 ? device : current_device();
}

void refuse_capture(Stream stream, const char* what) {
  if (fathom::cuda::is_capturing(fathom::cuda::native(stream)))
    throw InvalidArgument(std::string(what) +
                          " cannot be captured into a graph, for the host waits for what is on the device; call it "
                          "outside of the capture");
}

}  // namespace cuda

}  // namespace fathom::apps
