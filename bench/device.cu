// Times the CUDA backend on arrays that are on the device: graph replays, beside a copy of the output and NVIDIA's NPP.
//
//   device_bench [--sizes 1024x1024,512x512x512,…] [--cases 0.1,blobs,…] [--replays N] [--json FILE]
//
// Every result is checked before it is timed: against the CPU where that is affordable, else at random elements by what a
// distance must be. Median of the replays; × is the time of copying the output (read and write), measured in the same run.
#include <cuda_runtime.h>
#ifdef FATHOM_BENCH_NPP
#include <nppi_filtering_functions.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "fathom/core/device.h"
#include "fathom/grid/distance.h"

namespace {

using fathom::Shape;

void must(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "device_bench:%d: %s\n", line, cudaGetErrorString(error));
  std::exit(4);
}
#define MUST(call) must((call), __LINE__)

template <class T>
struct Block {
  T* data = nullptr;
  explicit Block(std::int64_t count) { MUST(cudaMalloc(&data, static_cast<std::size_t>(count) * sizeof(T))); }
  ~Block() { cudaFree(data); }
  Block(const Block&) = delete;
};

// Cases, drawn on the device

__device__ unsigned hash(unsigned long long i, unsigned seed) {
  i = (i + seed) * 0x9E3779B97F4A7C15ull;
  i = (i ^ (i >> 29)) * 0xBF58476D1CE4E5B9ull;
  i = (i ^ (i >> 32)) * 0x94D049BB133111EBull;
  return static_cast<unsigned>(i >> 32);
}

enum Kind { kScatter, kOne, kNone, kAll, kBlobs, kPlane, kDiagonal, kRing };

/// Nonzero = site. `share`: of sites, for scattered ones.
__global__ void draw(std::uint8_t* mask, long long nz, long long ny, long long nx, int kind, double share) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= nz * ny * nx) return;
  const long long x = i % nx, y = i / nx % ny, z = i / nx / ny;
  bool site = false;
  switch (kind) {
    case kScatter: site = hash(i, 1) < share * 4294967296.0; break;
    case kOne: site = x == nx / 3 && y == ny / 3 && z == nz / 3; break;
    case kNone: break;
    case kAll: site = true; break;
    case kBlobs: {  // a disk or ball in every cell of a grid
      const long long cell = max(32ll, min(nx, ny) / 16), r = cell / 3;
      const unsigned h = hash((z / cell * 4096 + y / cell) * 4096 + x / cell, 7);
      const long long dx = x % cell - cell / 2 + h % 8, dy = y % cell - cell / 2 + h / 8 % 8;
      const long long dz = nz > 1 ? z % cell - cell / 2 + h / 64 % 8 : 0;
      site = dx * dx + dy * dy + dz * dz < r * r;
      break;
    }
    case kPlane: site = nz > 1 ? z == nz - 1 : y == ny - 1; break;
    case kDiagonal: site = nz > 1 ? x == y && y == z : x * ny / nx == y; break;
    case kRing: {
      const double dx = x - nx / 2.0, dy = y - ny / 2.0, dz = nz > 1 ? z - nz / 2.0 : 0, r = min(nx, ny) * 0.4;
      site = fabs(sqrt(dx * dx + dy * dy + dz * dz) - r) < 1;
      break;
    }
  }
  mask[i] = site;
}

struct Case {
  std::string name;
  Kind kind;
  double share = 0;
};

const std::vector<Case> kCases = {{"all", kAll},           {"50%", kScatter, 0.5},     {"10%", kScatter, 0.1},
                                  {"1%", kScatter, 0.01},  {"0.3%", kScatter, 0.003},  {"0.1%", kScatter, 0.001},
                                  {"0.01%", kScatter, 1e-4}, {"one", kOne},            {"none", kNone},
                                  {"blobs", kBlobs},       {"ring", kRing},            {"plane", kPlane},
                                  {"diagonal", kDiagonal}};

/// Median milliseconds of a graph's replays.
template <class Work>
double time_of(Work&& work, int replays) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  work(stream);
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphInstantiate(&executable, graph, 0));
  std::vector<cudaEvent_t> events(static_cast<std::size_t>(replays) + 1);
  for (cudaEvent_t& event : events) MUST(cudaEventCreate(&event));
  for (int k = 0; k < 3; ++k) MUST(cudaGraphLaunch(executable, stream));
  MUST(cudaEventRecord(events[0], stream));
  for (std::size_t k = 1; k < events.size(); ++k) {
    MUST(cudaGraphLaunch(executable, stream));
    MUST(cudaEventRecord(events[k], stream));
  }
  MUST(cudaStreamSynchronize(stream));
  std::vector<float> times(events.size() - 1);
  for (std::size_t k = 0; k < times.size(); ++k) MUST(cudaEventElapsedTime(&times[k], events[k], events[k + 1]));
  std::sort(times.begin(), times.end());
  for (cudaEvent_t event : events) MUST(cudaEventDestroy(event));
  MUST(cudaGraphExecDestroy(executable));
  MUST(cudaGraphDestroy(graph));
  MUST(cudaStreamDestroy(stream));
  return times[times.size() / 2];
}

#ifdef FATHOM_BENCH_NPP
/// NPP's exact 2D transform, in milliseconds; 0 where it does not serve.
double npp_time(std::uint8_t* mask, float* out, const Shape& shape, int replays) {
  if (shape.rank() != 2) return 0;
  const NppiSize size{static_cast<int>(shape[1]), static_cast<int>(shape[0])};
  NppStreamContext context{};
  context.hStream = nullptr;
  MUST(cudaGetDevice(&context.nCudaDeviceId));
  cudaDeviceProp properties{};
  MUST(cudaGetDeviceProperties(&properties, context.nCudaDeviceId));
  context.nMultiProcessorCount = properties.multiProcessorCount;
  context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
  context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
  context.nSharedMemPerBlock = properties.sharedMemPerBlock;
  context.nCudaDevAttrComputeCapabilityMajor = properties.major;
  context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
  std::size_t bytes = 0;
  if (nppiDistanceTransformPBAGetBufferSize(size, &bytes) != NPP_SUCCESS) return 0;
  Block<std::uint8_t> scratch(static_cast<std::int64_t>(bytes));
  std::vector<float> times;
  cudaEvent_t begin, end;
  MUST(cudaEventCreate(&begin));
  MUST(cudaEventCreate(&end));
  for (int k = 0; k < std::max(3, replays / 4); ++k) {
    MUST(cudaEventRecord(begin));
    const NppStatus status =
        nppiDistanceTransformPBA_8u32f_C1R_Ctx(mask, size.width, 1, 255, nullptr, 0, nullptr, 0, nullptr, 0, out,
                                               size.width * static_cast<int>(sizeof(float)), size, scratch.data, context);
    MUST(cudaEventRecord(end));
    MUST(cudaEventSynchronize(end));
    if (status != NPP_SUCCESS) return 0;
    times.push_back(0);
    MUST(cudaEventElapsedTime(&times.back(), begin, end));
  }
  MUST(cudaEventDestroy(begin));
  MUST(cudaEventDestroy(end));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}
#endif

/// Compares with the CPU. @returns empty, or what is wrong
std::string check(const std::uint8_t* mask, const float* out, const Shape& shape,
                  const fathom::grid::DistanceOptions& options) {
  const auto count = static_cast<std::size_t>(fathom::element_count(shape));
  std::vector<std::uint8_t> host_mask(count);
  std::vector<float> result(count);
  MUST(cudaMemcpy(host_mask.data(), mask, count, cudaMemcpyDeviceToHost));
  MUST(cudaMemcpy(result.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost));
  fathom::grid::DistanceOptions on_cpu = options;
  on_cpu.execution.backend = fathom::Backend::cpu;
  const fathom::Array expected = fathom::grid::distance_transform(
      fathom::AnyConstView(fathom::HostView<const std::uint8_t>(host_mask.data(), shape)), on_cpu);
  const float* right = expected.as<float>().data();
  for (std::size_t i = 0; i < count; ++i)
    if (std::memcmp(right + i, result.data() + i, sizeof(float)) != 0)
      return "element " + std::to_string(i) + " is " + std::to_string(result[i]) + ", should be " +
             std::to_string(right[i]);
  return {};
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

struct Arguments {
  std::vector<std::string> sizes = {"1024x1024", "4096x4096", "16384x16384", "1000x1777", "128x128x128",
                                    "256x256x256", "512x512x512", "511x513x515"};
  std::vector<std::string> cases;
  int replays = 20;
  int batch = 0;
  std::string json;
};

Arguments parse(int count, char** values) {
  Arguments arguments;
  for (int k = 1; k + 1 < count; k += 2) {
    const std::string name = values[k], value = values[k + 1];
    if (name == "--sizes") arguments.sizes = split(value, ',');
    else if (name == "--cases") arguments.cases = split(value, ',');
    else if (name == "--replays") arguments.replays = std::atoi(value.c_str());
    else if (name == "--batch") arguments.batch = std::atoi(value.c_str());
    else if (name == "--json") arguments.json = value;
    else std::fprintf(stderr, "device_bench: unknown option %s\n", name.c_str()), std::exit(2);
  }
  return arguments;
}

/// One line of the table, and of the JSON. @returns whether the result was right
bool measure(const Shape& shape, const Case& c, const Arguments& arguments, std::ostream& json) {
  const std::int64_t count = fathom::element_count(shape);
  const int rank = shape.rank(), space = arguments.batch ? rank - 1 : rank;
  Block<std::uint8_t> mask(count);
  Block<float> out(count), other(count);
  const long long nx = shape[rank - 1], ny = space > 1 ? shape[rank - 2] : 1, nz = count / nx / ny;
  draw<<<static_cast<unsigned>((count + 255) / 256), 256>>>(mask.data, nz, ny, nx, c.kind, c.share);
  MUST(cudaMemset(out.data, 0xa5, static_cast<std::size_t>(count) * sizeof(float)));
  MUST(cudaDeviceSynchronize());

  fathom::grid::DistanceOptions options;
  options.sites.rule = fathom::grid::Sites::Rule::nonzero;
  options.batch_axes = arguments.batch;
  fathom::grid::DeviceDistanceOutputs outputs;
  outputs.distance = fathom::DeviceView<float>(out.data, shape);
  const fathom::AnyConstDeviceView input(fathom::DeviceView<const std::uint8_t>(mask.data, shape));
  const auto run = [&](cudaStream_t stream) {
    fathom::grid::distance_transform(input, options, outputs, fathom::Stream{stream});
  };
  run(nullptr);
  MUST(cudaDeviceSynchronize());
  const std::string wrong = check(mask.data, out.data, shape, options);
  const double ours = time_of(run, arguments.replays);
  const double copy = time_of(
      [&](cudaStream_t stream) {
        MUST(cudaMemcpyAsync(other.data, out.data, static_cast<std::size_t>(count) * sizeof(float),
                             cudaMemcpyDeviceToDevice, stream));
      },
      arguments.replays);
  double npp = 0;
#ifdef FATHOM_BENCH_NPP
  if (!arguments.batch) npp = npp_time(mask.data, other.data, shape, arguments.replays);
#endif
  const std::size_t scratch = fathom::grid::scratch_bytes(input, options, outputs);
  std::string size;
  for (std::int64_t n : shape) size += (size.empty() ? "" : "x") + std::to_string(n);
  std::printf("%-16s %-9s %9.4f ms %7.2fx copy %8.4f ms  scratch %.2f B  npp %9.4f ms %6.1fx  %s\n", size.c_str(),
              c.name.c_str(), ours, ours / copy, copy, static_cast<double>(scratch) / static_cast<double>(count), npp,
              npp / ours, wrong.empty() ? "right" : wrong.c_str());
  std::fflush(stdout);
  json << "{\"operation\":\"distance\",\"size\":\"" << size << "\",\"batch_axes\":" << arguments.batch << ",\"case\":\""
       << c.name << "\",\"ms\":" << ours << ",\"copy_ms\":" << copy << ",\"npp_ms\":" << npp
       << ",\"scratch_bytes\":" << scratch << ",\"right\":" << (wrong.empty() ? "true" : "false") << "}\n";
  return wrong.empty();
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments = parse(count, values);
  if (fathom::device_count() == 0) {
    std::fprintf(stderr, "device_bench: no CUDA device\n");
    return 4;
  }
  const fathom::DeviceInfo device = fathom::describe_device(fathom::current_device());
  std::printf("%s, compute capability %d.%d, %d multiprocessors\n", device.name.c_str(), device.compute_major,
              device.compute_minor, device.multiprocessors);
  std::ofstream file;
  if (!arguments.json.empty()) file.open(arguments.json);
  bool right = true;
  for (const std::string& size : arguments.sizes) {
    Shape shape;
    for (const std::string& extent : split(size, 'x')) shape.push_back(std::atoll(extent.c_str()));
    for (const Case& c : kCases)
      if (arguments.cases.empty() ||
          std::find(arguments.cases.begin(), arguments.cases.end(), c.name) != arguments.cases.end())
        right &= measure(shape, c, arguments, file);
  }
  return right ? 0 : 70;
}
