// Times Voronoi regions, Lloyd's iteration, stippling and textures of signed distance on a device.
//
//   device_voronoi [--side N] [--sites N] [--dots N]
//
// Each result is compared with the CPU's before it is timed. A line of JSON a case: milliseconds by the host's clock, the
// median of several calls, arrays lying in device memory. An iteration of Lloyd's is the 100th part of what 104 take
// longer than 4. Stippling is a whole call, of 100 iterations at most as always.
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>

#include "device_timing.cuh"
#include "fathom/apps/sdf.h"
#include "fathom/apps/stipple.h"
#include "fathom/apps/voronoi.h"
#include "fathom/core/array.h"
#include "fathom/core/device.h"

namespace {

using namespace fathom;

/// Median milliseconds of a call that leaves work in the default stream's order.
template <class Call>
double time_of_call(const Call& call, int times = 9) {
  std::vector<double> all;
  for (int k = 0; k <= times; ++k) {
    MUST(cudaDeviceSynchronize());
    const auto begin = std::chrono::steady_clock::now();
    call();
    MUST(cudaDeviceSynchronize());
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    if (k > 0) all.push_back(time.count());
  }
  return median(std::move(all));
}

/// An array, and the same on the device.
struct Twin {
  Array host;
  Block<std::byte> block;

  explicit Twin(Array array) : host(std::move(array)), block(static_cast<std::int64_t>(host.bytes())) { upload(); }
  void upload() { MUST(cudaMemcpy(block.data, host.data(), host.bytes(), cudaMemcpyHostToDevice)); }
  AnyDeviceView there() const { return {block.data, host.dtype(), host.shape()}; }
  bool is_same() const {
    std::vector<std::byte> found(host.bytes());
    MUST(cudaMemcpy(found.data(), block.data, found.size(), cudaMemcpyDeviceToHost));
    return std::memcmp(found.data(), host.data(), found.size()) == 0;
  }
};

void print(const char* name, std::int64_t side, std::int64_t sites, double milliseconds, bool same) {
  std::printf("{\"case\": \"%s\", \"side\": %lld, \"sites\": %lld, \"ms\": %.4f, \"same\": %s}\n", name,
              static_cast<long long>(side), static_cast<long long>(sites), milliseconds, same ? "true" : "false");
  std::fflush(stdout);
}

struct Bench {
  std::int64_t side = 2048, sites = 100000, dots = 20000;
  std::mt19937_64 random{1};

  double uniform() { return static_cast<double>(random() >> 11) * 0x1p-53; }

  /// Soft light and shade.
  Array tones(std::int64_t height, std::int64_t width) {
    Array image(DType::uint8, {height, width});
    for (std::int64_t k = 0; k < image.size(); ++k) {
      const double y = static_cast<double>(k / width), x = static_cast<double>(k % width);
      const double tone = 0.5 + 0.3 * std::sin(y / 90) * std::cos(x / 130) + 0.2 * std::sin((x + y) / 37);
      image.as<std::uint8_t>().data()[k] = static_cast<std::uint8_t>(tone * 254);
    }
    return image;
  }

  Array positions(bool whole) {
    Array array(DType::float64, {sites, 2});
    for (std::int64_t k = 0; k < array.size(); ++k) {
      const double at = uniform() * static_cast<double>(side - 1);
      array.as<double>().data()[k] = whole ? std::floor(at) : at;
    }
    return array;
  }

  void voronoi() {
    Array mask(DType::uint8, {side, side}), regions(DType::int32, {side, side});
    std::memset(mask.data(), 0, mask.bytes());
    for (std::int64_t k = 0; k < sites; ++k)
      mask.as<std::uint8_t>().data()[random() % static_cast<std::uint64_t>(mask.size())] = 1;
    const Twin there(std::move(mask)), weights(tones(side, side));
    Twin numbers(std::move(regions));
    for (const bool boundaries : {false, true}) {
      apps::VoronoiOptions options;
      options.moments = options.boundaries = boundaries;
      const auto cpu = apps::voronoi(there.host.view(), weights.host.view(), options, numbers.host.view());
      std::optional<apps::Voronoi> found;
      const auto call = [&] {
        found = apps::voronoi(AnyConstDeviceView(there.there()), AnyConstDeviceView(weights.there()), options,
                              numbers.there());
      };
      call();
      bool same = numbers.is_same() && found->firsts == cpu.firsts && found->seconds == cpu.seconds &&
                  found->boundaries.size() == cpu.boundaries.size();
      for (std::size_t k = 0; same && k < cpu.boundaries.size(); ++k)
        same = found->boundaries[k].length == cpu.boundaries[k].length;
      print(boundaries ? "voronoi with moments and boundaries" : "voronoi", side, sites, time_of_call(call), same);
    }
  }

  void lloyd() {
    const Twin weights(tones(side, side));
    for (const bool on_elements : {false, true}) {
      Twin moved(positions(on_elements));
      apps::LloydOptions options;
      options.on_elements = on_elements;
      options.iterations = 10;
      const DeviceView<double> there = moved.there().as<double>();
      apps::LloydReport report;
      const auto call = [&] { report = apps::lloyd(AnyConstDeviceView(weights.there()), there, options); };
      call();
      const Array start = positions(on_elements);
      apps::lloyd(weights.host.view(), moved.host.view().as<double>(), options);
      const bool same = moved.is_same();
      const auto time = [&](int iterations) {
        options.iterations = iterations;
        return time_of_call([&] {
          MUST(cudaMemcpy(there.data(), start.data(), start.bytes(), cudaMemcpyHostToDevice));
          call();
        }, 3);
      };
      const double few = time(4), many = time(104);
      print(on_elements ? "an iteration of Lloyd's on elements" : "an iteration of Lloyd's", side, sites,
            (many - few) / (report.iterations - 4), same);  // they may come to rest before the last
    }
  }

  void stipple() {
    const Twin photo(tones(1224, 1632));
    apps::StippleOptions options;
    options.dots = dots;
    options.tolerance = 0;  // all iterations
    const auto cpu = apps::stipple(photo.host.view(), options);
    std::optional<apps::Stipples> found;
    const auto call = [&] { found = apps::stipple(AnyConstDeviceView(photo.there()), options); };
    call();
    const bool same = std::memcmp(found->positions.data(), cpu.positions.data(), cpu.positions.bytes()) == 0 &&
                      std::memcmp(found->radii.data(), cpu.radii.data(), cpu.radii.bytes()) == 0;
    print("stipple, 2 Mpixel, 100 iterations", 1632, dots, time_of_call(call, 3), same);
  }

  void sdf() {
    Array image(DType::boolean, {1024, 1024});
    const Array light = tones(1024, 1024);
    for (std::int64_t k = 0; k < image.size(); ++k)
      image.as<bool>().data()[k] = std::as_const(light).as<std::uint8_t>().data()[k] > 127;
    const Twin shape(std::move(image));
    Twin texture(Array(DType::uint8, {256, 256}));
    const apps::SdfOptions options;
    apps::sdf(shape.host.view(), options, texture.host.view());
    const auto call = [&] { apps::sdf(AnyConstDeviceView(shape.there()), options, texture.there()); };
    call();
    MUST(cudaDeviceSynchronize());
    const bool same = texture.is_same();
    print("sdf, 1024 to 256", 1024, 0, time_of_call(call), same);
  }
};

}  // namespace

int main(int count, char** words) {
  Bench bench;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string option = words[i];
    if (option == "--side") bench.side = std::stoll(words[i + 1]);
    else if (option == "--sites") bench.sites = std::stoll(words[i + 1]);
    else if (option == "--dots") bench.dots = std::stoll(words[i + 1]);
  }
  bench.voronoi();
  bench.lloyd();
  bench.stipple();
  bench.sdf();
}
