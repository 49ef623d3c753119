// The CUDA backend through the call for device arrays: streams, graphs, layouts, failures. Results come out of memory
// that the host cannot reach, so that only the device can have computed them.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "device_case.h"
#include "device_pool.h"
#include "padded.h"

namespace fathom::test {
namespace {

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

/// Makes sites of all elements in some neighbouring columns.
void fill_columns(std::vector<bool>& sites, std::int64_t row, Random& random) {
  const std::int64_t begin = below(random, row), end = begin + 1 + below(random, row - begin);
  for (std::size_t k = 0; k < sites.size(); ++k) {
    const auto x = static_cast<std::int64_t>(k) % row;
    if (x >= begin && x < end) sites[k] = true;
  }
}

/// Nothing but the elements of padded or reversed views is written.
TEST_F(Device, Layouts) {
  for (int i = 0; i < scaled(300); ++i) {
    Random random(static_cast<std::uint64_t>(i));
    const Shape shape{1 + below(random, 70), 1 + below(random, 90), 1 + below(random, chance(random, 0.3) ? 520 : 50)};
    Case c{.structure = Structure::sparse};
    auto mask = scatter(shape, pick<double>(random, {0.3, 0.01, 0.001, 0}), random);
    if (chance(random, 0.3)) fill_columns(mask, shape[2], random);
    c.input = mask_array(mask, shape);
    if (chance(random, 0.3)) {
      c.input = label_input(DType::uint8, shape, random);
      c.options.sites.rule = grid::Sites::Rule::labels;
    }
    c.wanted.distance = DType::float32;
    if (chance(random, 0.5)) c.wanted.nearest = pick<DType>(random, {DType::int32, DType::int64});
    else c.options.signed_distance = chance(random, 0.3);
    c.options.surface = grid::Surface::centers;
    if (chance(random, 0.4))
      c.options.spacing = pick<std::vector<double>>(random, {{3, 1, 0.5}, {1.25, 0.742188, 0.742188}});
    c.options.batch_axes = chance(random, 0.5) ? 1 : 0;  // small images, or a volume
    if (!c.options.spacing.empty()) c.options.spacing.resize(c.options.batch_axes ? 2 : 3);
    SCOPED_TRACE(describe(c));
    const Padded distance(shape, random), nearest(shape, random);
    Padded input(shape, random);
    if (chance(random, 0.3)) input.turn_rows();
    input.begin_behind(below(random, 17));
    const Block device_input(input.spread(c.input));
    const Results cpu = on_cpu(c);
    const Array right_distance = distance.spread(*cpu.distance);
    const Block device_distance(right_distance.bytes());
    grid::DeviceDistanceOutputs outputs;
    outputs.distance = distance.view<AnyDeviceView>(device_distance, DType::float32);
    std::optional<Array> right_nearest;
    std::optional<Block> device_nearest;
    if (c.wanted.nearest) {
      right_nearest = nearest.spread(*cpu.nearest);
      device_nearest.emplace(right_nearest->bytes());
      outputs.nearest = nearest.view<AnyDeviceView>(*device_nearest, *c.wanted.nearest);
    }
    c.options.execution.backend = Backend::automatic;
    grid::distance_transform(input.view<AnyConstDeviceView>(device_input, DType::uint8), c.options, outputs);
    must(cudaDeviceSynchronize());
    Array found(DType::float32, Shape{distance.size});
    device_distance.download(found);
    ASSERT_TRUE(equal(right_distance, found));
    if (!c.wanted.nearest) continue;
    Array sites(*c.wanted.nearest, Shape{nearest.size});
    device_nearest->download(sites);
    ASSERT_TRUE(equal(*right_nearest, sites));
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

/// Threads that launch the same kernels with different amounts of shared memory leave one another's launches alone.
TEST_F(Device, ThreadsOfDifferentSizes) {
  const auto solve_often = [](const Shape& shape) {
    Random random(21);
    Case c{.structure = Structure::sparse};
    c.wanted.distance = DType::float32;
    c.input = mask_array(scatter(shape, 0.01, random), shape);
    if (shape.rank() == 3 && shape[1] == shape[2]) c.options.batch_axes = 1;
    OnDevice device(c);
    cudaStream_t stream;
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < 500; ++i) EXPECT_NO_THROW(device.run(stream)) << to_string(shape);
    must(cudaStreamSynchronize(stream));
    EXPECT_TRUE(equal(on_cpu(c), device.results())) << to_string(shape);
    must(cudaStreamDestroy(stream));
  };
  std::vector<std::thread> threads;
  for (const Shape& shape : {Shape{900, 40, 33}, Shape{20, 40, 33}, Shape{10, 128, 128}, Shape{10, 28, 28}})
    threads.emplace_back(solve_often, shape);
  for (std::thread& thread : threads) thread.join();
}

/// Captured once, replayed over other inputs. Where the tests run one by one, the first call of the process is
/// captured.
TEST_F(Device, Graphs) {
  cudaStream_t stream;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const std::vector<std::pair<Shape, std::vector<double>>> problems{
      {{700, 900}, {}},          {{70, 80, 90}, {}},        {{3000}, {}},
      {{100, 90}, {}},           {{70, 80, 90}, {3, 1, 1}}, {{70, 80, 90}, {1.25, 0.742188, 0.742188}},
      {{20, 260, 96}, {3, 1, 1}}};
  for (const auto& [shape, spacing] : problems) {
    Random random(5);
    Case c{.structure = Structure::sparse};
    c.options.spacing = spacing;
    c.wanted.distance = DType::float32;
    c.input = mask_array(scatter(shape, 0.01, random), shape);
    OnDevice device(c);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
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

/// All at once, each by threads of its own: arrays of that device, and arrays of the host.
TEST_F(Device, SeveralDevices) {
  if (device_count() < 2) GTEST_SKIP() << "one CUDA device";
  std::vector<std::thread> threads;
  for (int number = 0; number < 2 * device_count(); ++number)
    threads.emplace_back([number] {
      must(cudaSetDevice(number % device_count()));
      for (std::uint64_t i = 0; i < 50; ++i) {
        Case c = random_case(1200000 + 100 * static_cast<std::uint64_t>(number) + i, 50000);
        OnDevice device(c);
        device.run();
        must(cudaDeviceSynchronize());
        const Results expected = on_cpu(c);
        EXPECT_TRUE(equal(expected, device.results())) << describe(c);
        c.options.execution.backend = Backend::cuda;
        EXPECT_TRUE(equal(expected, run(c.input.view(), c.options, c.wanted))) << describe(c);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Device, CancelledBetweenPieces) {
  Case c = sparse_case({1500, 1500}, {.distance = DType::float32, .nearest = DType::int32});
  Results results = make_results(c.input.shape(), c.options, c.wanted);
  c.options.execution.scratch_limit = grid::least_scratch_bytes(c.input.view(), c.options, results.views());
  for (double share : {0.0, 0.05, 0.3, 0.9}) {
    std::stop_source source;
    c.options.execution.stop = source.get_token();
    double reported = 0;
    c.options.execution.progress = [&](double done) {
      EXPECT_GE(done, reported);
      reported = done;
      if (done > share) source.request_stop();
    };
    most_taken([&] { EXPECT_THROW(run(c.input.view(), c.options, c.wanted), Cancelled); });
    EXPECT_GT(reported, share);
    EXPECT_LT(reported, share + 0.1);
  }
  c.options.execution = {.backend = Backend::cuda};
  results = run(c.input.view(), c.options, c.wanted);
  EXPECT_TRUE(equal(on_cpu(c), results));
}

/// Memory of the host that the device reaches by itself, poisoned.
class Pinned {
 public:
  explicit Pinned(std::size_t bytes) {
    must(cudaMallocHost(&data_, bytes));
    std::memset(data_, kPoison, bytes);
  }
  ~Pinned() { cudaFreeHost(data_); }
  Pinned(const Pinned&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
};

/// Rows without gaps, and with.
TEST_F(Device, PinnedArrays) {
  const Shape shape{70, 90, 110};
  Case c = sparse_case(shape, {.distance = DType::float32});
  const Results expected = on_cpu(c);
  const std::int64_t rows = 70 * 90, columns = 110;
  for (const std::int64_t pitch : {std::int64_t{110}, std::int64_t{128}}) {
    const Pinned input(static_cast<std::size_t>(rows * pitch)), output(static_cast<std::size_t>(rows * pitch) * 4);
    for (std::int64_t i = 0; i < rows; ++i)
      std::memcpy(input.data() + i * pitch, c.input.data() + i * columns, static_cast<std::size_t>(columns));
    const Strides strides{90 * pitch, pitch, 1};
    const AnyConstView view(input.data(), DType::uint8, shape, strides);
    grid::DistanceOutputs outputs;
    outputs.distance = AnyView(output.data(), DType::float32, shape, strides);
    grid::DistanceOptions options{.execution = {.backend = Backend::cuda}};
    for (const std::size_t budget : {grid::least_scratch_bytes(view, options, outputs), std::size_t{1} << 30}) {
      options.execution.scratch_limit = budget;
      std::memset(output.data(), kPoison, static_cast<std::size_t>(rows * pitch) * 4);
      grid::distance_transform(view, options, outputs);
      for (std::int64_t i = 0; i < rows; ++i) {
        const std::byte* row = output.data() + i * pitch * 4;
        const auto bytes = static_cast<std::size_t>(columns) * 4;
        ASSERT_EQ(std::memcmp(row, expected.distance->data() + i * columns * 4, bytes), 0) << "row " << i;
        ASSERT_TRUE(pitch == columns || row[bytes] == std::byte{kPoison}) << "behind row " << i;
      }
    }
  }
}

/// What a failed call of somebody else left in the runtime is no failure of Fathom's.
TEST_F(Device, ErrorsOfOthers) {
  const auto fail = [] {
    void* none = nullptr;
    EXPECT_NE(cudaMalloc(&none, std::size_t{1} << 50), cudaSuccess);
    EXPECT_NE(cudaPeekAtLastError(), cudaSuccess);
  };
  Case c = sparse_case({70, 80, 90}, {.distance = DType::float32});
  OnDevice device(c);
  fail();
  EXPECT_NO_THROW(device.run());
  must(cudaDeviceSynchronize());
  fail();
  Results of_host;
  EXPECT_NO_THROW(of_host = run(c.input.view(), c.options, c.wanted));
  cudaGetLastError();  // a shared library has a runtime of its own, and leaves it there
  const Results expected = on_cpu(c);
  EXPECT_TRUE(equal(expected, device.results()));
  EXPECT_TRUE(equal(expected, of_host));
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
