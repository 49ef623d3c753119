// The images of a batch, each by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fathom/core/dtype.h"
#include "fathom/core/execution.h"
#include "fathom/core/view.h"

namespace fathom::apps {

/// How many images the first axes of a shape number.
/// @throws InvalidArgument no axis is left
std::int64_t image_count(const Shape& shape, int batch_axes);

/// Image `item` of an array whose first axes number images; nothing where it is absent.
template <class Byte, MemorySpace Space>
BasicAnyView<Byte, Space> image_of(const BasicAnyView<Byte, Space>& array, int batch_axes, std::int64_t item) {
  if (!array.present()) return {};
  std::int64_t elements = 0;
  for (int k = batch_axes - 1; k >= 0; --k) {
    elements += item % array.shape()[k] * array.strides()[k];
    item /= array.shape()[k];
  }
  Shape extents;
  Strides strides;
  for (int k = batch_axes; k < array.rank(); ++k) {
    extents.push_back(array.shape()[k]);
    strides.push_back(array.strides()[k]);
  }
  return {array.data() + elements * static_cast<std::int64_t>(size_of(array.dtype())), array.dtype(), extents, strides};
}

/// How many images each_image() works at: on the CPU as many as there are threads, each on one of them; one on all
/// threads where there are fewer images, on a device, and within a scratch limit.
int images_at_once(const Execution& execution, std::int64_t count);

/// Calls body(item, execution) for every image. Stops with the first exception, which is rethrown.
void each_image(const Execution& execution, std::int64_t count,
                const std::function<void(std::int64_t, const Execution&)>& body);

/// What call(item, options) returns for every image.
template <class Result, class Options, class Call>
std::vector<Result> of_each_image(const Options& options, std::int64_t count, const Call& call) {
  std::vector<Result> results(static_cast<std::size_t>(count));
  each_image(options.execution, count, [&](std::int64_t item, const Execution& execution) {
    Options own = options;
    own.execution = execution;
    results[static_cast<std::size_t>(item)] = call(item, own);
  });
  return results;
}

}  // namespace fathom::apps
