// Times the CUDA backend on arrays that are on the device: graph replays, beside a copy of the output and NVIDIA's NPP.
//
//   device_bench [--sizes 1024x1024,512x512x512,…] [--cases 10%,blobs,…] [--operations distance,nearest,…]
//                [--batch AXES] [--replays N] [--json FILE]
//
// Every result is compared with the CPU's before it is timed. Median of the replays; × is the time of copying the
// output (read and write), measured in the same run: the runtime's copy or a kernel, whichever is faster.
#include <cuda_runtime.h>
#ifdef FATHOM_BENCH_NPP
#include <nppi_filtering_functions.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "device_cases.cuh"
#include "device_timing.cuh"
#include "fathom/core/device.h"
#include "fathom/grid/distance.h"

namespace {

using fathom::Shape;

struct Case {
  std::string name;
  Kind kind;
  double share = 0;
};

const std::vector<Case> kCases = {{"all", kAll},
                                  {"50%", kScatter, 0.5},
                                  {"10%", kScatter, 0.1},
                                  {"1%", kScatter, 0.01},
                                  {"0.3%", kScatter, 0.003},
                                  {"0.1%", kScatter, 0.001},
                                  {"0.01%", kScatter, 1e-4},
                                  {"one", kOne},
                                  {"none", kNone},
                                  {"blobs", kBlobs},
                                  {"objects", kObjects},
                                  {"ring", kRing},
                                  {"plane", kPlane},
                                  {"diagonal", kDiagonal}};

/// What is asked for besides the plain distance.
struct Operation {
  std::string name;
  void (*set)(fathom::grid::DistanceOptions&);
  bool nearest = false;  ///< these, too
  bool squared = false;  ///< squares in place of distances
  bool sides = false;    ///< and those of the elements that are sites to the others, in a call of their own
  bool doubles = false;  ///< distances of 64 bits
  bool alone = false;    ///< nearest sites, without distances

  fathom::DType dtype() const {
    return squared ? fathom::DType::uint32 : doubles ? fathom::DType::float64 : fathom::DType::float32;
  }
};

using Options = fathom::grid::DistanceOptions;
const std::vector<Operation> kOperations = {
    {"distance", [](Options&) {}},
    {"nearest", [](Options&) {}, true},
    {"indices", [](Options&) {}, true, false, false, false, true},
    {"spacing",
     [](Options& o) {
       o.spacing = {2.5, 1.25, 0.7};
     }},
    {"microscope",
     [](Options& o) {
       o.spacing = {3, 1, 1};
     }},
    {"microscope-border",
     [](Options& o) {
       o.spacing = {3, 1, 1};
       o.border = {fathom::grid::Border::sites};
     }},
    {"microscope-limit",
     [](Options& o) {
       o.spacing = {3, 1, 1};
       o.max_distance = 50;
     }},
    {"microscope-nearest",
     [](Options& o) {
       o.spacing = {3, 1, 1};
     },
     true},
    {"microscope-signed",
     [](Options& o) {
       o.spacing = {3, 1, 1};
       o.signed_distance = true;
       o.surface = fathom::grid::Surface::centers;
     }},
    {"microscope-signed-limit",
     [](Options& o) {
       o.spacing = {3, 1, 1};
       o.signed_distance = true;
       o.surface = fathom::grid::Surface::centers;
       o.max_distance = 50;
     }},
    {"microscope-labels",
     [](Options& o) {
       o.spacing = {3, 1, 1};
       o.sites.rule = fathom::grid::Sites::Rule::labels;
     }},
    {"scanner",
     [](Options& o) {
       o.spacing = {1.25, 0.742188, 0.742188};
     }},
    {"scanner-nearest",
     [](Options& o) {
       o.spacing = {1.25, 0.742188, 0.742188};
     },
     true},
    {"scanner-signed",
     [](Options& o) {
       o.spacing = {1.25, 0.742188, 0.742188};
       o.signed_distance = true;
       o.surface = fathom::grid::Surface::centers;
     }},
    {"squared", [](Options&) {}, false, true},
    {"labels", [](Options& o) { o.sites.rule = fathom::grid::Sites::Rule::labels; }},
    {"labels-nearest", [](Options& o) { o.sites.rule = fathom::grid::Sites::Rule::labels; }, true},
    {"labels-squared", [](Options& o) { o.sites.rule = fathom::grid::Sites::Rule::labels; }, false, true},
    {"labels-signed",
     [](Options& o) {
       o.sites.rule = fathom::grid::Sites::Rule::labels;
       o.signed_distance = true;
     }},
    {"signed", [](Options& o) { o.signed_distance = true; }},
    {"sides", [](Options&) {}, false, false, true},
    {"border", [](Options& o) { o.border = {fathom::grid::Border::sites}; }},
    {"doubles", [](Options&) {}, false, false, false, true},
    {"labels-doubles", [](Options& o) { o.sites.rule = fathom::grid::Sites::Rule::labels; }, false, false, false, true},
    {"microscope-doubles",
     [](Options& o) {
       o.spacing = {3, 1, 1};
     },
     false, false, false, true},
    {"periodic", [](Options& o) { o.border = {fathom::grid::Border::periodic}; }},
    {"taxicab", [](Options& o) { o.metric = fathom::grid::Metric::taxicab; }},
};

/// Thread = 4 × 16 bytes.
__global__ void __launch_bounds__(256) copy_kernel(const uint4* from, uint4* to, long long count) {
  const long long first = blockIdx.x * 1024ll + threadIdx.x;
  uint4 values[4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (first + 256 * k < count) values[k] = __ldcs(from + first + 256 * k);
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (first + 256 * k < count) __stcs(to + first + 256 * k, values[k]);
}

/// Milliseconds to copy `count` floats, by the faster way.
double copy_time(const float* from, float* to, std::int64_t count, int replays) {
  const double runtime = time_of(
      [&](cudaStream_t stream) {
        MUST(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(float), cudaMemcpyDeviceToDevice,
                             stream));
      },
      replays);
  const long long vectors = (count + 3) / 4;  // allocations are multiples of 16 bytes
  const double kernel = time_of(
      [&](cudaStream_t stream) {
        copy_kernel<<<static_cast<unsigned>((vectors + 1023) / 1024), 256, 0, stream>>>(
            reinterpret_cast<const uint4*>(from), reinterpret_cast<uint4*>(to), vectors);
      },
      replays);
  return std::min(runtime, kernel);
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
    const NppStatus status = nppiDistanceTransformPBA_8u32f_C1R_Ctx(
        mask, size.width, 1, 255, nullptr, 0, nullptr, 0, nullptr, 0, out, size.width * static_cast<int>(sizeof(float)),
        size, scratch.data, context);
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

/// How a result differs from the CPU's, and a number by which the peers in Python check theirs.
struct Check {
  std::string wrong;
  double sum_of_squares = 0;  ///< of the distances that are finite
};

/// Compares results with the CPU's. Keeps its memory from case to case, which is as long in coming as the work.
class Checker {
 public:
  explicit Checker(const Shape& shape)
      : mask_(fathom::DType::uint8, shape),
        right_(fathom::DType::float32, shape),
        got_(fathom::DType::float32, shape) {}

  /// @param out      distances, or squares as integers; null: not computed
  /// @param nearest  null: not computed
  Check check(const std::uint8_t* mask, const void* out, fathom::DType dtype, const std::int32_t* nearest,
              const Options& options) {
    const Shape& shape = mask_.shape();
    if (right_.dtype() != dtype) right_ = fathom::Array(dtype, shape), got_ = fathom::Array(dtype, shape);
    fathom::Array right_nearest(fathom::DType::int32, nearest ? shape : Shape{0});
    fathom::Array got_nearest(fathom::DType::int32, nearest ? shape : Shape{0});
    MUST(cudaMemcpy(mask_.data(), mask, mask_.bytes(), cudaMemcpyDeviceToHost));
    if (out) MUST(cudaMemcpy(got_.data(), out, got_.bytes(), cudaMemcpyDeviceToHost));
    Options on_cpu = options;
    on_cpu.execution.backend = fathom::Backend::cpu;
    fathom::grid::DistanceOutputs outputs;
    if (out) (dtype == fathom::DType::uint32 ? outputs.squared : outputs.distance) = right_.view();
    if (nearest) {
      outputs.nearest = right_nearest.view();
      MUST(cudaMemcpy(got_nearest.data(), nearest, got_nearest.bytes(), cudaMemcpyDeviceToHost));
    }
    fathom::grid::distance_transform(mask_.view(), on_cpu, outputs);
    Check check;
    if (out && dtype == fathom::DType::uint32) check.wrong = first_difference<std::uint32_t>();
    else if (out && dtype == fathom::DType::float64) check = compare<double>();
    else if (out) check = compare<float>();
    if (check.wrong.empty() && nearest &&
        std::memcmp(right_nearest.data(), got_nearest.data(), got_nearest.bytes()) != 0)
      check.wrong = "nearest sites differ";
    return check;
  }

 private:
  /// Distances.
  template <class T>
  Check compare() const {
    return {first_difference<T>(), sum_of_squares<T>()};
  }
  /// Empty: there is none.
  template <class T>
  std::string first_difference() const {
    if (std::memcmp(right_.data(), got_.data(), got_.bytes()) == 0) return {};
    const T *got = got_.as<T>().data(), *right = right_.as<T>().data();
    std::size_t i = 0;
    while (std::memcmp(right + i, got + i, sizeof(T)) == 0) ++i;
    return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", should be " + std::to_string(right[i]);
  }
  template <class T>
  double sum_of_squares() const {
    const T* right = right_.as<T>().data();
    double sum = 0;
    for (std::size_t i = 0; i < right_.bytes() / sizeof(T); ++i)
      if (std::isfinite(right[i])) sum += double{right[i]} * double{right[i]};
    return sum;
  }

  fathom::Array mask_, right_, got_;
};

struct Arguments {
  std::vector<std::string> sizes = {"1024x1024",   "4096x4096",   "16384x16384", "1000x1777",
                                    "128x128x128", "256x256x256", "512x512x512", "511x513x515"};
  std::vector<std::string> cases;
  std::vector<std::string> operations = {"distance"};
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
    else if (name == "--operations") arguments.operations = split(value, ',');
    else if (name == "--replays") arguments.replays = std::atoi(value.c_str());
    else if (name == "--batch") arguments.batch = std::atoi(value.c_str());
    else if (name == "--json") arguments.json = value;
    else std::fprintf(stderr, "device_bench: unknown option %s\n", name.c_str()), std::exit(2);
  }
  return arguments;
}

std::string size_of(const Shape& shape) {
  std::string text;
  for (std::int64_t n : shape) {
    if (!text.empty()) text += 'x';
    text += std::to_string(n);
  }
  return text;
}

/// One line of the table, and of the JSON. @returns whether the result was right
bool measure(const Shape& shape, const Case& c, const Operation& operation, const Arguments& arguments,
             Checker& checker, std::ostream& json) {
  const std::int64_t count = fathom::element_count(shape), floats = operation.doubles ? 2 * count : count;
  const int rank = shape.rank(), space = arguments.batch ? rank - arguments.batch : rank;
  Block<std::uint8_t> mask(count);
  Block<float> out(floats), other(floats);
  Block<std::int32_t> nearest(operation.nearest ? count : 1);
  const long long nx = shape[rank - 1], ny = rank > 1 ? shape[rank - 2] : 1, nz = count / nx / ny;
  draw<<<static_cast<unsigned>((count + 255) / 256), 256>>>(mask.data, nz, ny, nx, c.kind, c.share);
  MUST(cudaMemset(out.data, 0xa5, static_cast<std::size_t>(floats) * sizeof(float)));
  MUST(cudaDeviceSynchronize());

  Options options;
  options.sites.rule = fathom::grid::Sites::Rule::nonzero;
  options.batch_axes = arguments.batch;
  operation.set(options);
  if (!options.spacing.empty()) options.spacing.resize(static_cast<std::size_t>(space));
  fathom::grid::DeviceDistanceOutputs outputs;
  if (!operation.alone)
    (operation.squared ? outputs.squared : outputs.distance) =
        fathom::AnyDeviceView(reinterpret_cast<std::byte*>(out.data), operation.dtype(), shape);
  if (operation.nearest) outputs.nearest = fathom::DeviceView<std::int32_t>(nearest.data, shape);
  const fathom::AnyConstDeviceView input(fathom::DeviceView<const std::uint8_t>(mask.data, shape));
  Options other_options = options;
  other_options.sites.rule = fathom::grid::Sites::Rule::zero;
  fathom::grid::DeviceDistanceOutputs other_outputs;
  other_outputs.distance = fathom::DeviceView<float>(other.data, shape);
  const auto run = [&](cudaStream_t stream) {
    fathom::grid::distance_transform(input, options, outputs, fathom::Stream{stream});
    if (operation.sides) fathom::grid::distance_transform(input, other_options, other_outputs, fathom::Stream{stream});
  };
  run(nullptr);
  MUST(cudaDeviceSynchronize());
  Check result = checker.check(mask.data, operation.alone ? nullptr : out.data, operation.dtype(),
                               operation.nearest ? nearest.data : nullptr, options);
  if (operation.sides && result.wrong.empty())
    result.wrong = checker.check(mask.data, other.data, operation.dtype(), nullptr, other_options).wrong;
  const double ours = time_of(run, arguments.replays),
               copy = copy_time(out.data, other.data, floats, arguments.replays);
  double npp = 0;
#ifdef FATHOM_BENCH_NPP
  // Without a site NPP fails and leaves the device unusable.
  const bool serves = !arguments.batch && operation.name == "distance" && c.kind != kNone;
  if (serves) npp = npp_time(mask.data, other.data, shape, arguments.replays);
#endif
  const std::size_t scratch = fathom::grid::scratch_bytes(input, options, outputs);
  const std::string size = size_of(shape);
  std::printf("%-16s %-17s %-9s %9.4f ms %7.2fx copy %8.4f ms  scratch %.2f B", size.c_str(), operation.name.c_str(),
              c.name.c_str(), ours, ours / copy, copy, static_cast<double>(scratch) / static_cast<double>(count));
  if (npp > 0) std::printf("  npp %9.4f ms %6.1fx", npp, npp / ours);
  std::printf("  %s\n", result.wrong.empty() ? "right" : result.wrong.c_str());
  std::fflush(stdout);
  json.precision(12);
  json << "{\"operation\":\"" << operation.name << "\",\"size\":\"" << size << "\",\"batch_axes\":" << arguments.batch
       << ",\"case\":\"" << c.name << "\",\"kind\":" << c.kind << ",\"share\":" << c.share << ",\"ms\":" << ours
       << ",\"copy_ms\":" << copy << ",\"npp_ms\":" << npp << ",\"scratch_bytes\":" << scratch
       << ",\"sum_of_squares\":" << result.sum_of_squares << ",\"right\":" << (result.wrong.empty() ? "true" : "false")
       << "}" << std::endl;
  return result.wrong.empty();
}

bool among(const std::string& name, const std::vector<std::string>& names) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
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
    Checker checker(shape);
    for (const Case& c : kCases)
      for (const Operation& operation : kOperations)
        if (among(c.name, arguments.cases) && among(operation.name, arguments.operations))
          right &= measure(shape, c, operation, arguments, checker, file);
  }
  return right ? 0 : 70;
}
