// Times morphology, directions, costmaps, and pictures of closed volumes on a device.
//
//   device_morphology [--side N] [--plane N] [--picture N] [--replays N]
//
// Each result is compared with the CPU's before it is timed. A line of JSON a case: milliseconds, arrays lying in
// device memory – of morphology and directions the median of a graph's replays; of costmaps and pictures, by the host's
// clock, of whole calls. A picture is what a user waits for who drags a radius: a closing, a marcher of its result, and
// the shades in the host's memory.
#include <chrono>
#include <cstring>
#include <optional>

#include "device_masks.cuh"
#include "device_timing.cuh"
#include "fathom/apps/costmap.h"
#include "fathom/apps/morphology.h"
#include "fathom/apps/nearest_value.h"
#include "fathom/apps/ray_march.h"
#include "fathom/core/array.h"

namespace {

using namespace fathom;

/// Median milliseconds of a call, by the host's clock, with all that it leaves in the default stream.
template <class Call>
double time_of_call(const Call& call, int times) {
  std::vector<double> all;
  for (int k = 0; k < times + 3; ++k) {
    MUST(cudaDeviceSynchronize());
    const auto begin = std::chrono::steady_clock::now();
    call(k);
    MUST(cudaDeviceSynchronize());
    if (k >= 3)
      all.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  return median(std::move(all));
}

void print(const std::string& name, const char* mask, double value, double milliseconds, bool is_same,
           std::size_t scratch) {
  std::printf("{\"case\": \"%s\", \"mask\": \"%s\", \"value\": %g, \"ms\": %.4f, \"scratch\": %zu, \"same\": %s}\n",
              name.c_str(), mask, value, milliseconds, scratch, is_same ? "true" : "false");
  std::fflush(stdout);
}

constexpr Named kMasks[] = {{"2%", kScatter, 0.02}, {"50%", kScatter, 0.5}, {"blobs", kBlobs, 0}, {"ring", kRing, 0}};

struct Bench {
  std::int64_t side = 256, plane = 4096, picture = 512;
  int replays = 100;

  void morphology(const Named& one) const {
    const Mask mask({side, side, side}, one.kind, one.share);
    const Block<std::uint8_t> out(element_count(mask.shape));
    const AnyDeviceView result = DeviceView<std::uint8_t>(out.data, mask.shape);
    for (const auto& [name, operation] : {std::pair{"closing", apps::MorphologyOperation::closing},
                                          std::pair{"dilation", apps::MorphologyOperation::dilation}})
      for (const auto border : {apps::MorphologyBorder::ignore, apps::MorphologyBorder::pad})
        for (const double radius : {2.0, 5.0, 20.0}) {
          apps::MorphologyOptions options;
          options.operation = operation;
          options.size = radius;
          options.border = border;
          const auto report = apps::morphology(mask.there(), options, result);
          const bool is_same = same(out.data, apps::morphology(mask.host.view(), options));
          const auto work = [&](cudaStream_t stream) {
            apps::morphology(mask.there(), options, result, Stream{stream});
          };
          print(std::string(name) + (border == apps::MorphologyBorder::pad ? ", padded" : ""), one.name, radius,
                time_of(work, replays), is_same, report.scratch_bytes);
        }
  }

  void maps(const Named& one) const {
    const Mask mask({plane, plane}, one.kind, one.share);
    const Block<float> degrees(element_count(mask.shape));
    const Block<std::uint8_t> costs(element_count(mask.shape));
    grid::DistanceOptions options;
    options.sites.rule = grid::Sites::Rule::nonzero;
    apps::DeviceNearestValueOutputs there;
    there.direction = DeviceView<float>(degrees.data, mask.shape);
    const auto report = apps::nearest_values(mask.there(), options, there);
    Array directions(DType::float32, mask.shape), cost(DType::uint8, mask.shape);
    apps::nearest_values(mask.host.view(), options, {{}, {}, directions.view()});
    print("direction", one.name, static_cast<double>(plane),
          time_of([&](cudaStream_t s) { apps::nearest_values(mask.there(), options, there, Stream{s}); }, replays),
          same(degrees.data, directions), report.scratch_bytes);

    apps::CostmapOptions robot;
    robot.resolution = 0.05;
    robot.inscribed = 0.3;
    robot.inflation = 2;
    apps::DeviceCostmapOutputs to;
    to.cost = DeviceView<std::uint8_t>(costs.data, mask.shape);
    const auto told = apps::costmap(mask.there(), robot, to);
    apps::costmap(mask.host.view(), robot, {cost.view(), {}});
    const bool is_same = same(costs.data, cost);
    print("costmap", one.name, static_cast<double>(plane),
          time_of_call([&](int) { apps::costmap(mask.there(), robot, to); }, replays), is_same, told.scratch_bytes);
  }

  void pictures(const Named& one) const {
    const Mask mask({side, side, side}, one.kind, one.share);
    const Block<std::uint8_t> out(element_count(mask.shape));
    const AnyDeviceView closed = DeviceView<std::uint8_t>(out.data, mask.shape);
    Array shade(DType::uint8, {picture, picture});
    apps::MorphologyOptions options;
    apps::RayMarchOutputs outputs;
    const auto frame = [&](int k) {
      options.size = 1 + k % 16 * 0.5;
      apps::morphology(mask.there(), options, closed);
      outputs.shade = shade.view();
      apps::RayMarcher(AnyConstDeviceView(closed)).render({}, outputs);
    };
    frame(8);
    Array expected(DType::uint8, shade.shape());
    apps::RayMarcherOptions on_host;
    on_host.execution.backend = Backend::cpu;
    outputs.shade = expected.view();
    apps::RayMarcher(apps::morphology(mask.host.view(), options).view(), on_host).render({}, outputs);
    const bool is_same = std::memcmp(shade.data(), expected.data(), shade.bytes()) == 0;
    print("closing and picture", one.name, static_cast<double>(picture), time_of_call(frame, replays), is_same, 0);
  }
};

}  // namespace

int main(int count, char** words) {
  Bench bench;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string option = words[i];
    const long long value = std::atoll(words[i + 1]);
    if (option == "--side") bench.side = value;
    else if (option == "--plane") bench.plane = value;
    else if (option == "--picture") bench.picture = value;
    else if (option == "--replays") bench.replays = static_cast<int>(value);
    else return std::fprintf(stderr, "bench: unknown option %s\n", words[i]), 2;
  }
  for (const Named& one : kMasks) {
    bench.morphology(one);
    bench.maps(one);
    bench.pictures(one);
  }
}
