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
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
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

using fathom::grid::Border;
using fathom::grid::Metric;
using fathom::grid::Surface;
using Options = fathom::grid::DistanceOptions;
using Rule = fathom::grid::Sites::Rule;

/// What is asked for besides the plain distance.
struct Operation {
  std::string name;
  void (*set)(Options&);
  bool nearest = false;  ///< these, too
  bool squared = false;  ///< squares in place of distances
  bool sides = false;    ///< and those of the elements that are sites to the others, in a call of their own
  bool doubles = false;  ///< distances of 64 bits
  bool alone = false;    ///< nearest sites, without distances

  fathom::DType dtype() const {
    return squared ? fathom::DType::uint32 : doubles ? fathom::DType::float64 : fathom::DType::float32;
  }
};

// Where an array has fewer axes, the last ones are left out.
const std::vector<double> kUneven = {2.5, 1.25, 0.7};
const std::vector<double> kMicroscope = {3, 1, 1};
const std::vector<double> kScanner = {1.25, 0.742188, 0.742188};

void sign_at_centers(Options& o) {
  o.signed_distance = true;
  o.surface = Surface::centers;
}

const std::vector<Operation> kOperations = {
    {.name = "distance", .set = [](Options&) {}},
    {.name = "nearest", .set = [](Options&) {}, .nearest = true},
    {.name = "indices", .set = [](Options&) {}, .nearest = true, .alone = true},
    {.name = "spacing", .set = [](Options& o) { o.spacing = kUneven; }},
    {.name = "microscope", .set = [](Options& o) { o.spacing = kMicroscope; }},
    {.name = "microscope-border", .set = [](Options& o) { o.spacing = kMicroscope, o.border = {Border::sites}; }},
    {.name = "microscope-limit", .set = [](Options& o) { o.spacing = kMicroscope, o.max_distance = 50; }},
    {.name = "microscope-nearest", .set = [](Options& o) { o.spacing = kMicroscope; }, .nearest = true},
    {.name = "microscope-signed", .set = [](Options& o) { o.spacing = kMicroscope, sign_at_centers(o); }},
    {.name = "microscope-signed-limit",
     .set = [](Options& o) { o.spacing = kMicroscope, sign_at_centers(o), o.max_distance = 50; }},
    {.name = "microscope-labels", .set = [](Options& o) { o.spacing = kMicroscope, o.sites.rule = Rule::labels; }},
    {.name = "scanner", .set = [](Options& o) { o.spacing = kScanner; }},
    {.name = "scanner-nearest", .set = [](Options& o) { o.spacing = kScanner; }, .nearest = true},
    {.name = "scanner-labels", .set = [](Options& o) { o.spacing = kScanner, o.sites.rule = Rule::labels; }},
    {.name = "scanner-signed", .set = [](Options& o) { o.spacing = kScanner, sign_at_centers(o); }},
    {.name = "squared", .set = [](Options&) {}, .squared = true},
    {.name = "labels", .set = [](Options& o) { o.sites.rule = Rule::labels; }},
    {.name = "labels-nearest", .set = [](Options& o) { o.sites.rule = Rule::labels; }, .nearest = true},
    {.name = "labels-squared", .set = [](Options& o) { o.sites.rule = Rule::labels; }, .squared = true},
    {.name = "labels-signed", .set = [](Options& o) { o.sites.rule = Rule::labels, o.signed_distance = true; }},
    {.name = "signed", .set = [](Options& o) { o.signed_distance = true; }},
    {.name = "sides", .set = [](Options&) {}, .sides = true},
    {.name = "border", .set = [](Options& o) { o.border = {Border::sites}; }},
    {.name = "doubles", .set = [](Options&) {}, .doubles = true},
    {.name = "labels-doubles", .set = [](Options& o) { o.sites.rule = Rule::labels; }, .doubles = true},
    {.name = "microscope-doubles", .set = [](Options& o) { o.spacing = kMicroscope; }, .doubles = true},
    {.name = "periodic", .set = [](Options& o) { o.border = {Border::periodic}; }},
    {.name = "taxicab", .set = [](Options& o) { o.metric = Metric::taxicab; }},
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
NppStreamContext npp_context() {
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
  return context;
}

/// NPP's exact 2D transform, in milliseconds; 0 where it does not serve.
double npp_time(std::uint8_t* mask, float* out, const Shape& shape, int replays) {
  if (shape.rank() != 2) return 0;
  const NppiSize size{static_cast<int>(shape[1]), static_cast<int>(shape[0])};
  const NppStreamContext context = npp_context();
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
  return median(std::move(times));
}
#else
double npp_time(std::uint8_t*, float*, const Shape&, int) { return 0; }
#endif

/// How a result differs from the CPU's, and a number by which the peers in Python check theirs.
struct Check {
  std::string wrong = {};
  double sum_of_squares = 0;  ///< of the distances that are finite
};

/// Results on the device; null: not computed.
struct Computed {
  const void* values;  ///< distances, or squares as integers
  fathom::DType dtype;
  const std::int32_t* nearest = nullptr;
};

/// Compares results with the CPU's. Keeps its memory from case to case, which is as long in coming as the work.
class Checker {
 public:
  explicit Checker(const Shape& shape) : mask_(fathom::DType::uint8, shape) {}

  Check check(const std::uint8_t* mask, const Computed& computed, const Options& options) {
    MUST(cudaMemcpy(mask_.data(), mask, mask_.bytes(), cudaMemcpyDeviceToHost));
    fetch(computed);
    compute(computed, options);
    Check check = computed.values ? compare(computed.dtype) : Check{};
    if (check.wrong.empty() && computed.nearest && !same(right_.nearest, got_.nearest))
      check.wrong = "nearest sites differ";
    return check;
  }

 private:
  struct Results {
    fathom::Array values, nearest;
  };

  /// The device's results.
  void fetch(const Computed& computed) {
    if (computed.values) copy(computed.values, computed.dtype, got_.values);
    if (computed.nearest) copy(computed.nearest, fathom::DType::int32, got_.nearest);
  }
  void copy(const void* from, fathom::DType dtype, fathom::Array& to) const {
    make(to, dtype);
    MUST(cudaMemcpy(to.data(), from, to.bytes(), cudaMemcpyDeviceToHost));
  }

  /// The CPU's results, of the same kinds.
  void compute(const Computed& computed, Options options) {
    options.execution.backend = fathom::Backend::cpu;
    fathom::grid::DistanceOutputs outputs;
    if (computed.values) {
      make(right_.values, computed.dtype);
      (computed.dtype == fathom::DType::uint32 ? outputs.squared : outputs.distance) = right_.values.view();
    }
    if (computed.nearest) {
      make(right_.nearest, fathom::DType::int32);
      outputs.nearest = right_.nearest.view();
    }
    fathom::grid::distance_transform(mask_.view(), options, outputs);
  }

  /// A result's array, which may have been made before.
  void make(fathom::Array& array, fathom::DType dtype) const {
    if (array.dtype() != dtype || array.shape() != mask_.shape()) array = fathom::Array(dtype, mask_.shape());
  }

  Check compare(fathom::DType dtype) const {
    if (dtype == fathom::DType::uint32) return {first_difference<std::uint32_t>()};
    if (dtype == fathom::DType::float64) return {first_difference<double>(), sum_of_squares<double>()};
    return {first_difference<float>(), sum_of_squares<float>()};
  }
  static bool same(const fathom::Array& right, const fathom::Array& got) {
    return std::memcmp(right.data(), got.data(), got.bytes()) == 0;
  }
  /// Empty: there is none.
  template <class T>
  std::string first_difference() const {
    if (same(right_.values, got_.values)) return {};
    const T *got = got_.values.as<T>().data(), *right = right_.values.as<T>().data();
    std::size_t i = 0;
    while (std::memcmp(right + i, got + i, sizeof(T)) == 0) ++i;
    return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", should be " + std::to_string(right[i]);
  }
  template <class T>
  double sum_of_squares() const {
    const T* right = right_.values.as<T>().data();
    double sum = 0;
    for (std::size_t i = 0; i < right_.values.bytes() / sizeof(T); ++i)
      if (std::isfinite(right[i])) sum += double{right[i]} * double{right[i]};
    return sum;
  }

  fathom::Array mask_;
  Results right_, got_;
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

Shape shape_of(const std::string& size) {
  Shape shape;
  for (const std::string& extent : split(size, 'x')) shape.push_back(std::atoll(extent.c_str()));
  return shape;
}

std::string size_of(const Shape& shape) {
  std::string text;
  for (std::int64_t n : shape) {
    if (!text.empty()) text += 'x';
    text += std::to_string(n);
  }
  return text;
}

/// What is measured: a line of the table, and of the JSON.
struct Task {
  const Shape& shape;
  const Case& input;
  const Operation& operation;
  int batch_axes;

  std::int64_t elements() const { return fathom::element_count(shape); }
  /// As many as the distances take the memory of.
  std::int64_t floats() const { return operation.doubles ? 2 * elements() : elements(); }
};

/// A task's arrays on the device, and what is done with them.
class Problem {
 public:
  explicit Problem(const Task& task)
      : task_(task),
        mask_(task.elements()),
        out_(task.floats()),
        other_(task.floats()),
        nearest_(task.operation.nearest ? task.elements() : 1) {
    draw_mask();
    MUST(cudaMemset(out_.data, 0xa5, static_cast<std::size_t>(task.floats()) * sizeof(float)));
    MUST(cudaDeviceSynchronize());
    choose_options();
    choose_outputs();
  }

  void run(cudaStream_t stream) {
    fathom::grid::distance_transform(input(), options_, outputs_, fathom::Stream{stream});
    if (task_.operation.sides)
      fathom::grid::distance_transform(input(), other_options_, other_outputs_, fathom::Stream{stream});
  }

  /// Runs once.
  Check check(Checker& checker) {
    run(nullptr);
    MUST(cudaDeviceSynchronize());
    const Operation& operation = task_.operation;
    Check result = checker.check(mask_.data,
                                 {.values = operation.alone ? nullptr : out_.data,
                                  .dtype = operation.dtype(),
                                  .nearest = operation.nearest ? nearest_.data : nullptr},
                                 options_);
    if (operation.sides && result.wrong.empty())
      result.wrong =
          checker.check(mask_.data, {.values = other_.data, .dtype = operation.dtype()}, other_options_).wrong;
    return result;
  }

  double our_time(int replays) {
    return time_of([this](cudaStream_t stream) { run(stream); }, replays);
  }
  double time_of_copy(int replays) { return copy_time(out_.data, other_.data, task_.floats(), replays); }
  /// 0: it does not serve.
  double time_of_npp(int replays) {
    // Without a site NPP fails and leaves the device unusable.
    const bool serves = !task_.batch_axes && task_.operation.name == "distance" && task_.input.kind != kNone;
    return serves ? npp_time(mask_.data, other_.data, task_.shape, replays) : 0;
  }

  std::size_t scratch_bytes() const { return fathom::grid::scratch_bytes(input(), options_, outputs_); }

 private:
  fathom::AnyConstDeviceView input() const { return fathom::DeviceView<const std::uint8_t>(mask_.data, task_.shape); }

  void draw_mask() {
    const Shape& shape = task_.shape;
    const int rank = shape.rank();
    const long long count = task_.elements(), nx = shape[rank - 1], ny = rank > 1 ? shape[rank - 2] : 1;
    draw<<<static_cast<unsigned>((count + 255) / 256), 256>>>(mask_.data, count / nx / ny, ny, nx, task_.input.kind,
                                                              task_.input.share);
  }

  void choose_options() {
    options_.sites.rule = Rule::nonzero;
    options_.batch_axes = task_.batch_axes;
    task_.operation.set(options_);
    const int axes = task_.shape.rank() - task_.batch_axes;
    if (!options_.spacing.empty()) options_.spacing.resize(static_cast<std::size_t>(axes));
    other_options_ = options_;
    other_options_.sites.rule = Rule::zero;
  }

  void choose_outputs() {
    const Operation& operation = task_.operation;
    if (!operation.alone)
      (operation.squared ? outputs_.squared : outputs_.distance) =
          fathom::AnyDeviceView(reinterpret_cast<std::byte*>(out_.data), operation.dtype(), task_.shape);
    if (operation.nearest) outputs_.nearest = fathom::DeviceView<std::int32_t>(nearest_.data, task_.shape);
    other_outputs_.distance = fathom::DeviceView<float>(other_.data, task_.shape);
  }

  const Task task_;
  Block<std::uint8_t> mask_;
  Block<float> out_, other_;
  Block<std::int32_t> nearest_;
  Options options_, other_options_;
  fathom::grid::DeviceDistanceOutputs outputs_, other_outputs_;
};

struct Measured {
  Check check;
  double ours, copy, npp;  ///< milliseconds
  std::size_t scratch;     ///< bytes

  bool right() const { return check.wrong.empty(); }
};

Measured measure(const Task& task, int replays, Checker& checker) {
  Problem problem(task);
  // Checked first: what is timed writes over the results.
  return {.check = problem.check(checker),
          .ours = problem.our_time(replays),
          .copy = problem.time_of_copy(replays),
          .npp = problem.time_of_npp(replays),
          .scratch = problem.scratch_bytes()};
}

void print(const Task& task, const Measured& m) {
  std::printf("%-16s %-17s %-9s %9.4f ms %7.2fx copy %8.4f ms  scratch %.2f B", size_of(task.shape).c_str(),
              task.operation.name.c_str(), task.input.name.c_str(), m.ours, m.ours / m.copy, m.copy,
              static_cast<double>(m.scratch) / static_cast<double>(task.elements()));
  if (m.npp > 0) std::printf("  npp %9.4f ms %6.1fx", m.npp, m.npp / m.ours);
  std::printf("  %s\n", m.right() ? "right" : m.check.wrong.c_str());
  std::fflush(stdout);
}

void write(const Task& task, const Measured& m, std::ostream& json) {
  json.precision(12);
  json << "{\"operation\":\"" << task.operation.name << "\",\"size\":\"" << size_of(task.shape)
       << "\",\"batch_axes\":" << task.batch_axes << ",\"case\":\"" << task.input.name
       << "\",\"kind\":" << task.input.kind << ",\"share\":" << task.input.share << ",\"ms\":" << m.ours
       << ",\"copy_ms\":" << m.copy << ",\"npp_ms\":" << m.npp << ",\"scratch_bytes\":" << m.scratch
       << ",\"sum_of_squares\":" << m.check.sum_of_squares << ",\"right\":" << (m.right() ? "true" : "false") << "}"
       << std::endl;
}

bool among(const std::string& name, const std::vector<std::string>& names) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

/// All that was asked for of one size. @returns whether all results were right
bool measure_all(const Shape& shape, const Arguments& arguments, std::ostream& json) {
  Checker checker(shape);
  bool right = true;
  for (const Case& input : kCases)
    for (const Operation& operation : kOperations) {
      if (!among(input.name, arguments.cases) || !among(operation.name, arguments.operations)) continue;
      const Task task{shape, input, operation, arguments.batch};
      const Measured measured = measure(task, arguments.replays, checker);
      print(task, measured);
      write(task, measured, json);
      right &= measured.right();
    }
  return right;
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
  for (const std::string& size : arguments.sizes) right &= measure_all(shape_of(size), arguments, file);
  return right ? 0 : 70;
}
