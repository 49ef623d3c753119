// The CUDA backend through the call for device arrays: streams, graphs, layouts, failures. Results come out of memory that
// the host cannot reach, so that only the device can have computed them.
#include "fathom/core/device.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "cases.h"
#include "run.h"

namespace fathom::test {
namespace {

constexpr int kPoison = 0xa5;

void must(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// Device memory, poisoned.
class Block {
 public:
  explicit Block(std::size_t bytes) : bytes_(bytes) {
    must(cudaMalloc(&data_, bytes ? bytes : 1));
    must(cudaMemset(data_, kPoison, bytes ? bytes : 1));
  }
  explicit Block(const Array& array) : Block(array.bytes()) { upload(array); }
  ~Block() { cudaFree(data_); }
  Block(Block&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  Block(const Block&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  void upload(const Array& array) { must(cudaMemcpy(data_, array.data(), array.bytes(), cudaMemcpyHostToDevice)); }
  void download(Array& array) const { must(cudaMemcpy(array.data(), data_, array.bytes(), cudaMemcpyDeviceToHost)); }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A case with its arrays on the device.
struct OnDevice {
  explicit OnDevice(const Case& c)
      : host(make_results(c.input.shape(), c.options, c.wanted)),
        options(c.options),
        input(c.input),
        input_view(input.data(), c.input.dtype(), c.input.shape()) {
    options.execution.backend = Backend::automatic;
    place(host.distance, outputs.distance);
    place(host.squared, outputs.squared);
    place(host.nearest, outputs.nearest);
    place(host.coordinates, outputs.coordinates);
  }

  grid::DistanceReport run(cudaStream_t stream = nullptr) {
    return grid::distance_transform(input_view, options, outputs, Stream{stream});
  }

  /// What the outputs hold; the stream must be done.
  const Results& results() {
    std::size_t next = 0;
    for (auto* array : {&host.distance, &host.squared, &host.nearest, &host.coordinates})
      if (*array) blocks[next++].download(**array);
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

Results on_cpu(Case& c) {
  c.options.execution.backend = Backend::cpu;
  return run(c.input.view(), c.options, c.wanted);
}

class Device : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
  }
};

TEST_F(Device, Describes) {
  const DeviceInfo info = describe_device(current_device());
  EXPECT_FALSE(info.name.empty());
  EXPECT_GE(info.compute_major * 10 + info.compute_minor, 75);
  EXPECT_GT(info.multiprocessors, 0);
  EXPECT_THROW(describe_device(device_count()), DeviceError);
}

TEST_F(Device, RandomProblems) {
  for (int i = 0; i < scaled(1000); ++i) {
    Case c = random_case(1000000 + static_cast<std::uint64_t>(i), 5000);
    SCOPED_TRACE(describe(c));
    OnDevice device(c);
    const grid::DistanceReport report = device.run();
    must(cudaDeviceSynchronize());
    ASSERT_EQ(report.backend, Backend::cuda);
    ASSERT_EQ(report.scratch_bytes, grid::scratch_bytes(device.input_view, device.options, device.outputs));
    ASSERT_TRUE(equal(on_cpu(c), device.results()));
  }
}

/// Nothing but the elements of padded or reversed views is written.
TEST_F(Device, Layouts) {
  for (int i = 0; i < scaled(100); ++i) {
    Random random(static_cast<std::uint64_t>(i));
    const Shape shape{1 + below(random, 70), 1 + below(random, 90), 1 + below(random, 50)};
    Case c{.structure = Structure::sparse};
    c.input = mask_array(scatter(shape, pick<double>(random, {0.3, 0.01, 0.001}), random), shape);
    c.wanted.distance = DType::float32;
    SCOPED_TRACE(to_string(shape));
    // Rows are padded by some elements, planes by some rows; planes may run backwards.
    const std::int64_t row = shape[2] + below(random, 5), plane = (shape[1] + below(random, 3)) * row;
    const bool backwards = chance(random, 0.5);
    const Strides strides{backwards ? -plane : plane, row, 1};
    const std::int64_t first = backwards ? (shape[0] - 1) * plane : 0, size = shape[0] * plane;
    Array input(DType::uint8, Shape{size}), output(DType::float32, Shape{size});
    poison(input);
    const auto at = [&](std::int64_t e) {
      const std::int64_t x = e % shape[2], y = e / shape[2] % shape[1], z = e / shape[2] / shape[1];
      return static_cast<std::size_t>(first + z * strides[0] + y * row + x);
    };
    for (std::int64_t e = 0; e < element_count(shape); ++e)
      input.data()[at(e)] = c.input.data()[static_cast<std::size_t>(e)];
    Block device_input(input), device_output(output.bytes());
    grid::DeviceDistanceOutputs outputs;
    outputs.distance =
        AnyDeviceView(device_output.data() + first * std::int64_t{sizeof(float)}, DType::float32, shape, strides);
    grid::distance_transform(AnyConstDeviceView(device_input.data() + first, DType::uint8, shape, strides), {},
                             outputs);
    must(cudaDeviceSynchronize());
    device_output.download(output);
    Array expected(DType::float32, Shape{size});
    poison(expected);
    const Results cpu = on_cpu(c);
    for (std::int64_t e = 0; e < element_count(shape); ++e)
      std::memcpy(expected.data() + at(e) * sizeof(float), cpu.distance->as<float>().data() + e, sizeof(float));
    ASSERT_TRUE(equal(expected, output));
  }
}

TEST_F(Device, TwentyStreams) {
  std::vector<cudaStream_t> streams(20);
  std::vector<Case> cases;
  std::vector<OnDevice> work;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    must(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    cases.push_back(random_case(1100000 + i, 100000));
    work.emplace_back(cases.back());
  }
  for (int again = 0; again < 5; ++again)
    for (std::size_t i = 0; i < streams.size(); ++i) work[i].run(streams[i]);
  for (cudaStream_t stream : streams) must(cudaStreamSynchronize(stream));
  for (std::size_t i = 0; i < streams.size(); ++i) {
    EXPECT_TRUE(equal(on_cpu(cases[i]), work[i].results())) << describe(cases[i]);
    must(cudaStreamDestroy(streams[i]));
  }
}

/// Captured once, replayed over other inputs.
TEST_F(Device, Graphs) {
  cudaStream_t stream;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (const Shape& shape : {Shape{700, 900}, Shape{70, 80, 90}, Shape{3000}}) {
    Random random(5);
    Case c{.structure = Structure::sparse};
    c.wanted.distance = DType::float32;
    c.input = mask_array(scatter(shape, 0.01, random), shape);
    OnDevice device(c);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    device.run(stream);
    must(cudaStreamEndCapture(stream, &graph));
    must(cudaGraphInstantiate(&executable, graph, 0));
    for (double share : {0.01, 0.5, 1e-4, 0.0}) {
      c.input = mask_array(scatter(shape, share, random), shape);
      device.input.upload(c.input);
      must(cudaGraphLaunch(executable, stream));
      must(cudaStreamSynchronize(stream));
      EXPECT_TRUE(equal(on_cpu(c), device.results())) << to_string(shape) << ", " << share;
    }
    must(cudaGraphExecDestroy(executable));
    must(cudaGraphDestroy(graph));
  }
  must(cudaStreamDestroy(stream));
}

std::uint64_t used_bytes(cudaMemPool_t pool) {
  std::uint64_t used = 1;
  must(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  return used;
}

/// Pools from nothing to enough, so that each allocation of the call for host arrays is the one that fails.
TEST_F(Device, NoMemoryAtEachStep) {
  cudaMemPool_t usual;
  must(cudaDeviceGetMemPool(&usual, current_device()));
  Random random(3);
  const Shape shape{8192, 8192};
  Case c{.structure = Structure::sparse};
  c.input = mask_array(scatter(shape, 0.001, random), shape);
  c.wanted = {.distance = DType::float32};
  c.options.execution.backend = Backend::cuda;
  Results results = make_results(shape, c.options, c.wanted);
  int failures = 0;
  for (std::size_t bytes = std::size_t{1} << 20;; bytes += std::size_t{48} << 20) {
    ASSERT_LT(bytes, std::size_t{1} << 30);
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, current_device()};
    properties.maxSize = bytes;
    cudaMemPool_t small;
    must(cudaMemPoolCreate(&small, &properties));
    must(cudaDeviceSetMemPool(current_device(), small));
    bool failed = false;
    try {
      grid::distance_transform(c.input.view(), c.options, results.views());
    } catch (const DeviceError&) {
      failed = true;
    }
    must(cudaDeviceSetMemPool(current_device(), usual));
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(used_bytes(small), 0u);
    must(cudaMemPoolDestroy(small));
    if (!failed) break;
    EXPECT_TRUE(is_poisoned(*results.distance));
    ++failures;
  }
  EXPECT_GE(failures, 2);
  EXPECT_TRUE(equal(on_cpu(c), results));
}

/// A pool that is too small for the scratch: an error that names memory, nothing lost, and the next call works.
TEST_F(Device, NoMemory) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, current_device()};
  properties.maxSize = 1 << 20;
  cudaMemPool_t small, usual;
  must(cudaMemPoolCreate(&small, &properties));
  must(cudaDeviceGetMemPool(&usual, current_device()));
  Case c{.structure = Structure::sparse};
  Random random(3);
  const Shape shape{8192, 8192};  // more scratch than any granularity rounds the pool up to
  c.input = mask_array(scatter(shape, 0.001, random), shape);
  c.wanted = {.distance = DType::float32, .nearest = DType::int32};
  OnDevice device(c);
  must(cudaDeviceSetMemPool(current_device(), small));
  std::string message;
  try {
    device.run();
  } catch (const DeviceError& error) {
    message = error.what();
  }
  must(cudaDeviceSetMemPool(current_device(), usual));
  EXPECT_NE(message.find("not enough free memory"), std::string::npos) << message;
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(used_bytes(small), 0u);
  must(cudaMemPoolDestroy(small));
  must(cudaDeviceSynchronize());
  EXPECT_TRUE(is_poisoned(*device.results().distance));
  device.run();
  must(cudaDeviceSynchronize());
  EXPECT_FALSE(is_poisoned(*device.results().distance));
  EXPECT_EQ(used_bytes(usual), 0u);
}

TEST_F(Device, RefusesHostMemory) {
  Case c{.structure = Structure::one};
  c.input = mask_array({true, false}, Shape{2});
  c.wanted.distance = DType::float32;
  OnDevice device(c);
  device.input_view = AnyConstDeviceView(c.input.data(), DType::uint8, Shape{2});
  EXPECT_THROW(device.run(), InvalidArgument);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Device, RefusesTheCpu) {
  Case c{.structure = Structure::one};
  c.input = mask_array({true, false}, Shape{2});
  c.wanted.distance = DType::float32;
  OnDevice device(c);
  device.options.execution.backend = Backend::cpu;
  EXPECT_THROW(device.run(), InvalidArgument);
}

}  // namespace
}  // namespace fathom::test
