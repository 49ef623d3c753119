// Calls between arrays in a device's memory, captured into graphs. Devices that are emulated pass these tests, too.
#include <cuda_runtime_api.h>

#include <cstring>
#include <string>
#include <utility>

#include "apps/device_spread.h"
#include "fathom/apps/costmap.h"
#include "fathom/apps/local_thickness.h"
#include "fathom/apps/medial_axis.h"
#include "fathom/apps/morphology.h"
#include "fathom/apps/nearest_value.h"
#include "fathom/apps/ray_march.h"
#include "fathom/apps/stipple.h"
#include "fathom/apps/voronoi.h"
#include "fathom/core/error.h"
#include "run.h"

namespace fathom::test {
namespace {

using namespace apps;

cudaError_t take(void** address, std::size_t bytes, cudaStream_t stream) {
#ifdef FATHOM_EMULATED
  return cudaMallocFromPoolAsync(address, bytes, nullptr, stream);
#else
  return cudaMallocAsync(address, bytes, stream);
#endif
}

class AppsCaptured : public AppsOnDevice {
 protected:
  AppsCaptured() : random_(3), input_(mask_array(scatter({60, 70}, 0.9, random_), {60, 70})) {}

  /// What a graph writes that call(input, output, stream) was captured into. The output's memory is taken by the graph.
  template <class Call>
  Array captured(DType dtype, const Call& call) {
    const Block input(input_);
    Array found(dtype, input_.shape());
    const Block result(found.bytes());
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    void* taken = nullptr;
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    must(take(&taken, found.bytes(), stream));
    const AnyDeviceView output(static_cast<std::byte*>(taken), dtype, input_.shape());
    refused_ = refusal([&] { call({input.data(), input_.dtype(), input_.shape()}, output, Stream{stream}); });
    must(cudaMemcpyAsync(result.data(), taken, found.bytes(), cudaMemcpyDeviceToDevice, stream));
    must(cudaFreeAsync(taken, stream));
    must(cudaStreamEndCapture(stream, &graph));
    must(cudaGraphInstantiate(&executable, graph, 0));
    must(cudaGraphLaunch(executable, stream));
    must(cudaStreamSynchronize(stream));
    result.download(found);
    must(cudaGraphExecDestroy(executable));
    must(cudaGraphDestroy(graph));
    must(cudaStreamDestroy(stream));
    return found;
  }

  /// @param on_host, on_device  calls with input and output, and with a stream
  template <class OnHost, class OnDevice>
  void compare(DType dtype, const OnHost& on_host, const OnDevice& on_device) {
    Array expected(dtype, input_.shape());
    on_host(std::as_const(input_).view(), expected.view());
    const Array found = captured(dtype, on_device);
    EXPECT_EQ(refused_, "not refused");
    EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.bytes()), 0);
  }

  Random random_;
  Array input_;
  std::string refused_;
};

using In = AnyConstDeviceView;
using Out = AnyDeviceView;

TEST_F(AppsCaptured, Morphology) {
  MorphologyOptions options;
  options.size = 2.5;
  for (const auto operation : {MorphologyOperation::erosion, MorphologyOperation::opening, MorphologyOperation::closing})
    for (const auto border : {MorphologyBorder::ignore, MorphologyBorder::pad}) {
      options.operation = operation;
      options.border = border;
      compare(
          DType::uint8, [&](const AnyConstView& input, const AnyView& out) { morphology(input, options, out); },
          [&](const In& input, const Out& out, Stream stream) { morphology(input, options, out, stream); });
    }
}

TEST_F(AppsCaptured, MedialAxis) {
  compare(
      DType::uint8, [&](const AnyConstView& input, const AnyView& out) { medial_axis(input, {}, {out, {}, {}, {}}); },
      [&](const In& input, const Out& out, Stream stream) {
        medial_axis(input, {}, DeviceMedialAxisOutputs{out, {}, {}, {}}, stream);
      });
}

TEST_F(AppsCaptured, LocalThickness) {
  compare(
      DType::float32, [&](const AnyConstView& input, const AnyView& out) { local_thickness(input, {}, out); },
      [&](const In& input, const Out& out, Stream stream) { local_thickness(input, {}, out, stream); });
  const LocalThicknessOptions options{{}, 0, std::as_const(input_).view(), false, {}};
  compare(
      DType::float32, [&](const AnyConstView& input, const AnyView& out) { local_thickness(input, options, out); },
      [&](const In& input, const Out& out, Stream stream) {
        local_thickness(input, DeviceLocalThicknessOptions{{}, 0, input, false, {}}, out, stream);
      });
}

TEST_F(AppsCaptured, NearestValues) {
  compare(
      DType::float32, [&](const AnyConstView& input, const AnyView& out) { nearest_values(input, {}, {{}, {}, out}); },
      [&](const In& input, const Out& out, Stream stream) {
        nearest_values(input, {}, DeviceNearestValueOutputs{{}, {}, out}, stream);
      });
}

/// Calls that wait refuse, without a word to CUDA that would end the capture.
TEST_F(AppsCaptured, WhatWaitsIsRefused) {
  const auto expect_refused = [&](DType dtype, const std::string& what, const auto& call) {
    captured(dtype, call);
    EXPECT_EQ(refused_, what + " cannot be captured into a graph, for the host waits for what is on the device; call "
                               "it outside of the capture");
  };
  const MorphologyOptions labels{.operation = MorphologyOperation::dilation, .size = 2, .labels = true};
  expect_refused(DType::uint8, "morphology that does labels one by one",
                 [&](const In& input, const Out& out, Stream stream) { morphology(input, labels, out, stream); });
  expect_refused(DType::int32, "a Voronoi diagram",
                 [](const In& input, const Out& out, Stream stream) { voronoi(input, {}, {}, out, stream); });
  expect_refused(DType::uint8, "Lloyd's iteration", [&](const In& input, const Out& out, Stream stream) {
    lloyd(input, DeviceView<double>(reinterpret_cast<double*>(out.data()), {3, 2}), {}, stream);
  });
  expect_refused(DType::uint8, "a call whose image the host looks at",
                 [](const In& input, const Out&, Stream stream) { stipple(input, {}, stream); });
  expect_refused(DType::uint8, "making a ray marcher", [](const In& input, const Out&, Stream stream) {
    RayMarcher(In(input.data(), input.dtype(), {60, 7, 10}), {}, stream);
  });
}

TEST_F(AppsCaptured, Costmaps) {
  CostmapOptions options;
  options.unknown = grid::Sites{grid::Sites::Rule::equal, 6};
  compare(
      DType::int32, [&](const AnyConstView& input, const AnyView& out) { costmap(input, options, {{}, out}); },
      [&](const In& input, const Out& out, Stream stream) {
        costmap(input, options, DeviceCostmapOutputs{{}, out}, stream);
      });
  captured(DType::uint8, [&](const In& input, const Out& out, Stream stream) {
    costmap(input, options, DeviceCostmapOutputs{out, {}}, stream);
  });
  EXPECT_NE(refused_.find("cannot be captured"), std::string::npos) << refused_;
}

}  // namespace
}  // namespace fathom::test
