// Problems whose arrays are on a device, for tests.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "cases.h"
#include "device_block.h"
#include "fathom/core/device.h"
#include "fathom/grid/distance.h"
#include "run.h"

namespace fathom::test {

/// A case with its arrays on the device.
struct OnDevice {
  explicit OnDevice(const Case& c)
      : host(make_results(c.input.shape(), c.options, c.wanted)),
        options(c.options),
        input(c.input),
        input_view(input.data(), c.input.dtype(), c.input.shape()) {
    options.execution.backend = Backend::automatic;
    grid::for_each_output(
        [&](const grid::OutputKind&, const std::optional<Array>& array, AnyDeviceView& view) { place(array, view); },
        host, outputs);
  }

  grid::DistanceReport run(cudaStream_t stream = nullptr) {
    return grid::distance_transform(input_view, options, outputs, Stream{stream});
  }

  /// What the outputs hold; the stream must be done.
  const Results& results() {
    std::size_t next = 0;
    grid::for_each_output(
        [&](const grid::OutputKind&, std::optional<Array>& array) {
          if (array) blocks[next++].download(*array);
        },
        host);
    return host;
  }

  void place(const std::optional<Array>& array, AnyDeviceView& view) {
    if (!array) return;
    blocks.emplace_back(*array);
    view = AnyDeviceView(blocks.back().data(), array->dtype(), array->shape());
  }

  Results host;
  grid::DistanceOptions options;
  Block input;
  AnyConstDeviceView input_view;
  std::vector<Block> blocks;
  grid::DeviceDistanceOutputs outputs;
};

inline Results on_cpu(Case& c) {
  c.options.execution.backend = Backend::cpu;
  return run(c.input.view(), c.options, c.wanted);
}

/// Few sites.
inline Case sparse_case(const Shape& shape, Wanted wanted) {
  Random random(3);
  Case c{.structure = Structure::sparse};
  c.input = mask_array(scatter(shape, 0.001, random), shape);
  c.wanted = wanted;
  c.options.execution.backend = Backend::cuda;
  return c;
}

class Device : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
  }
};

}  // namespace fathom::test
