#include "apps/cuda/download.h"

#include "apps/cuda/arrays.h"
#include "core/cuda/runtime.h"
#include "core/cuda/staging.h"

namespace fathom::apps::cuda {

Array downloaded(const AnyConstDeviceView& view, const char* name, Stream stream) {
  using fathom::cuda::check;
  refuse_capture(stream, "a call whose image the host looks at");
  Array copy(view.dtype(), view.shape());
  if (copy.bytes() == 0) return copy;
  const fathom::cuda::OnDevice on_device(device_of({{view, name}}, stream));
  const auto size = static_cast<std::int64_t>(size_of(view.dtype()));
  fathom::cuda::HostRows<const std::byte> rows;
  rows.data = view.data();
  rows.bytes = static_cast<std::size_t>(view.shape().back() * size);
  for (int axis = 0; axis + 1 < view.rank(); ++axis) {
    rows.extent.push_back(view.shape()[axis]);
    rows.stride.push_back(view.strides()[axis] * size);
    rows.count *= view.shape()[axis];
  }
  rows.join();
  for (std::int64_t row = 0; row < rows.count; ++row)
    check(cudaMemcpyAsync(copy.data() + static_cast<std::size_t>(row) * rows.bytes, rows.row(row), rows.bytes,
                          cudaMemcpyDeviceToHost, fathom::cuda::native(stream)),
          "copying to the host");
  check(cudaStreamSynchronize(fathom::cuda::native(stream)), "copying to the host");
  return copy;
}

void with_download(const AnyConstDeviceView& view, const char* name, Stream stream,
                   const std::function<void(const AnyConstView&)>& work) {
  const fathom::cuda::OnDevice on_device(device_of({{view, name}}, stream));
  const Array copy = downloaded(view, name, stream);
  work(copy.view());
}

}  // namespace fathom::apps::cuda
