// Times medial axes, local thickness and porosimetry on a device.
//
//   device_axes [--plane N] [--side N] [--replays N]
//
// Each result is compared with the CPU's before it is timed. A line of JSON a case: milliseconds, arrays lying in
// device memory, the median of a graph's replays; "calls": of calls one behind the other, by the host's clock.
#include <algorithm>
#include <chrono>

#include "device_masks.cuh"
#include "device_timing.cuh"
#include "fathom/apps/local_thickness.h"
#include "fathom/apps/medial_axis.h"

namespace {

using namespace fathom;

/// What is not 0 is the object.
constexpr Named kMasks[] = {
    {"99.9%", kScatter, 0.999}, {"90%", kScatter, 0.9}, {"blobs", kBlobs, 0}, {"ring", kRing, 0}};

/// Milliseconds of each of so many calls, which only put work into a stream.
template <class Work>
double time_of_calls(const Work& work, int calls) {
  cudaStream_t stream;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  std::vector<double> all;
  for (int run = 0; run < 3; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < calls; ++k) work(stream);
    MUST(cudaStreamSynchronize(stream));
    all.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() / calls);
  }
  MUST(cudaStreamDestroy(stream));
  return median(std::move(all));
}

struct Bench {
  std::int64_t plane = 1024, side = 256;
  int replays = 100;

  template <class Work>
  void print(const std::string& name, const char* mask, const Shape& shape, const Work& work, bool is_same,
             std::size_t scratch) const {
    constexpr double kBudget = 500;  // milliseconds of each clock
    const int times = std::clamp(static_cast<int>(kBudget / time_of(work, 3)), 3, replays);
    const double milliseconds = time_of(work, times);
    std::printf(
        "{\"case\": \"%s\", \"mask\": \"%s\", \"shape\": \"%s\", \"ms\": %.4f, \"calls\": %.4f, "
        "\"scratch\": %zu, \"same\": %s}\n",
        name.c_str(), mask, to_string(shape).c_str(), milliseconds, time_of_calls(work, times), scratch,
        is_same ? "true" : "false");
    std::fflush(stdout);
  }

  void axes(const Named& one, const Shape& shape) const {
    const Mask mask(shape, one.kind, one.share);
    const Block<std::uint8_t> axis(element_count(shape));
    const Block<std::int32_t> nearest(element_count(shape));
    Array expected(DType::uint8, shape);
    apps::DeviceMedialAxisOutputs alone, sites;
    alone.axis = DeviceView<std::uint8_t>(axis.data, shape);
    sites.nearest = DeviceView<std::int32_t>(nearest.data, shape);
    apps::medial_axis(mask.there(), {}, sites);
    for (const auto& [name, pruning] :
         {std::pair{"constant", apps::Pruning::constant}, std::pair{"linear", apps::Pruning::linear},
          std::pair{"square root", apps::Pruning::square_root}}) {
      apps::MedialAxisOptions options;
      options.pruning = pruning;
      options.gamma = 1.5;
      apps::medial_axis(mask.host.view(), options, {expected.view(), {}, {}, {}});
      const auto report = apps::medial_axis(mask.there(), options, alone);
      print(
          std::string("medial axis, ") + name, one.name, shape,
          [&](cudaStream_t stream) { apps::medial_axis(mask.there(), options, alone, Stream{stream}); },
          same(axis.data, expected), report.scratch_bytes);
      MUST(cudaMemset(axis.data, 0xFF, expected.bytes()));
      apps::medial_axis_of_nearest(sites.nearest, options, alone);
      print(
          std::string("of nearest sites, ") + name, one.name, shape,
          [&](cudaStream_t stream) { apps::medial_axis_of_nearest(sites.nearest, options, alone, Stream{stream}); },
          same(axis.data, expected), 0);
    }
  }

  /// @param from_faces  porosimetry
  void thickness(const Named& one, const Shape& shape, bool from_faces) const {
    const Mask mask(shape, one.kind, one.share);
    const Block<float> out(element_count(shape));
    const AnyDeviceView result = DeviceView<float>(out.data, shape);
    Array expected(DType::float32, shape);
    apps::local_thickness(mask.host.view(), {.from_faces = from_faces}, expected.view());
    const apps::DeviceLocalThicknessOptions options{.from_faces = from_faces};
    const auto report = apps::local_thickness(mask.there(), options, result);
    print(
        from_faces ? "porosimetry" : "local thickness", one.name, shape,
        [&](cudaStream_t stream) { apps::local_thickness(mask.there(), options, result, Stream{stream}); },
        same(out.data, expected), report.scratch_bytes);
  }
};

}  // namespace

int main(int count, char** words) {
  Bench bench;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string option = words[i];
    const long long value = std::atoll(words[i + 1]);
    if (option == "--plane") bench.plane = value;
    else if (option == "--side") bench.side = value;
    else if (option == "--replays") bench.replays = static_cast<int>(value);
    else return std::fprintf(stderr, "bench: unknown option %s\n", words[i]), 2;
  }
  for (const Named& one : kMasks)
    for (const Shape& shape : {Shape{bench.plane, bench.plane}, Shape{bench.side, bench.side, bench.side}}) {
      bench.axes(one, shape);
      bench.thickness(one, shape, false);
      bench.thickness(one, shape, true);
    }
}
