// Times the CUDA backend on arrays of the host: the way there, the work, and the way back, within a budget of device
// memory.
//
//   host_bench [--sizes 32768x32768,1024x1024x1024,…] [--batch AXES] [--budgets 1,0.125] [--repeat N]
//
// Budgets are shares of what input and output take together; "1" is no limit. Every result is compared with the CPU's.
// The bound is the time of the bare copies between pinned memory and the device: the input there, then the output back.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "device_cases.cuh"
#include "fathom/core/device.h"
#include "fathom/grid/distance.h"

namespace {

using fathom::Shape;
using Clock = std::chrono::steady_clock;

void must(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "host_bench:%d: %s\n", line, cudaGetErrorString(error));
  std::exit(4);
}
#define MUST(call) must((call), __LINE__)

/// Median milliseconds.
template <class Work>
double time_of(Work&& work, int repeat) {
  std::vector<double> times;
  for (int k = 0; k < repeat; ++k) {
    const auto start = Clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// A mask and its distances in the host's memory.
struct Arrays {
  explicit Arrays(const Shape& shape) : mask(fathom::DType::uint8, shape), distance(fathom::DType::float32, shape) {
    std::memset(distance.data(), 0xa5, distance.bytes());
  }

  /// Sites at random, an element in a hundred, drawn on the device.
  void draw_sites() {
    void* on_device = nullptr;
    MUST(cudaMalloc(&on_device, mask.bytes()));
    const auto count = static_cast<long long>(mask.bytes());
    draw<<<static_cast<unsigned>((count + 255) / 256), 256>>>(static_cast<unsigned char*>(on_device), 1, 1, count,
                                                              kScatter, 0.01);
    MUST(cudaMemcpy(mask.data(), on_device, mask.bytes(), cudaMemcpyDeviceToHost));
    MUST(cudaFree(on_device));
  }
  void pin() const {
    MUST(cudaHostRegister(const_cast<std::byte*>(mask.data()), mask.bytes(), cudaHostRegisterDefault));
    MUST(cudaHostRegister(const_cast<std::byte*>(distance.data()), distance.bytes(), cudaHostRegisterDefault));
  }
  void unpin() const {
    MUST(cudaHostUnregister(const_cast<std::byte*>(mask.data())));
    MUST(cudaHostUnregister(const_cast<std::byte*>(distance.data())));
  }

  fathom::Array mask, distance;
};

/// The copies alone.
double bound_of(Arrays& arrays, int repeat) {
  void* on_device = nullptr;
  MUST(cudaMalloc(&on_device, arrays.distance.bytes()));
  const double time = time_of(
      [&] {
        MUST(cudaMemcpy(on_device, arrays.mask.data(), arrays.mask.bytes(), cudaMemcpyHostToDevice));
        MUST(cudaMemcpy(arrays.distance.data(), on_device, arrays.distance.bytes(), cudaMemcpyDeviceToHost));
      },
      repeat);
  MUST(cudaFree(on_device));
  return time;
}

struct Arguments {
  std::vector<std::string> sizes = {"32768x32768", "1024x1024x1024"};
  std::vector<std::string> budgets = {"1", "0.125"};
  int batch = 0, repeat = 3;
};

Arguments parse(int count, char** values) {
  Arguments arguments;
  for (int k = 1; k + 1 < count; k += 2) {
    const std::string name = values[k], value = values[k + 1];
    if (name == "--sizes") arguments.sizes = split(value, ',');
    else if (name == "--budgets") arguments.budgets = split(value, ',');
    else if (name == "--batch") arguments.batch = std::atoi(value.c_str());
    else if (name == "--repeat") arguments.repeat = std::atoi(value.c_str());
    else std::fprintf(stderr, "host_bench: unknown option %s\n", name.c_str()), std::exit(2);
  }
  return arguments;
}

/// @returns whether all results were right
bool measure(const std::string& size, const Arguments& arguments) {
  Shape shape;
  for (const std::string& extent : split(size, 'x')) shape.push_back(std::atoll(extent.c_str()));
  Arrays arrays(shape);
  arrays.draw_sites();
  fathom::grid::DistanceOptions options;
  options.sites.rule = fathom::grid::Sites::Rule::nonzero;
  options.batch_axes = arguments.batch;
  options.execution.backend = fathom::Backend::cpu;
  const fathom::Array expected = fathom::grid::distance_transform(arrays.mask.view(), options);
  options.execution.backend = fathom::Backend::cuda;
  fathom::grid::DistanceOutputs outputs;
  outputs.distance = arrays.distance.view();
  const double gigabytes = static_cast<double>(arrays.mask.bytes() + arrays.distance.bytes()) * 1e-9;
  double bound = 0;
  bool right = true;
  for (const bool pinned : {true, false}) {
    if (pinned) arrays.pin();
    const double copies = bound_of(arrays, arguments.repeat);
    if (pinned) bound = copies;
    std::printf("%-16s %-8s %9.2f ms  %5.1f GB/s  the copies alone\n", size.c_str(), pinned ? "pinned" : "pageable",
                copies, gigabytes / copies * 1e3);
    for (const std::string& share : arguments.budgets) {
      options.execution.scratch_limit.reset();
      if (share != "1")
        options.execution.scratch_limit = static_cast<std::size_t>(gigabytes * 1e9 * std::atof(share.c_str()));
      std::size_t taken = 0;
      const double time =
          time_of([&] { taken = fathom::grid::distance_transform(arrays.mask.view(), options, outputs).scratch_bytes; },
                  arguments.repeat);
      const bool same = std::memcmp(arrays.distance.data(), expected.data(), expected.bytes()) == 0;
      right &= same;
      std::printf("%-16s %-8s %9.2f ms  %5.1f GB/s  %5.2fx pinned copies  device %7.1f MiB (budget %s)  %s\n",
                  size.c_str(), pinned ? "pinned" : "pageable", time, gigabytes / time * 1e3, time / bound,
                  static_cast<double>(taken) / (1 << 20), share.c_str(), same ? "right" : "WRONG");
      std::fflush(stdout);
      std::memset(arrays.distance.data(), 0xa5, arrays.distance.bytes());
    }
    if (pinned) arrays.unpin();
  }
  return right;
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments = parse(count, values);
  if (fathom::device_count() == 0) {
    std::fprintf(stderr, "host_bench: no CUDA device\n");
    return 4;
  }
  std::printf("%s, %d threads\n", fathom::describe_device(fathom::current_device()).name.c_str(),
              fathom::available_threads());
  bool right = true;
  for (const std::string& size : arguments.sizes) right &= measure(size, arguments);
  return right ? 0 : 70;
}
