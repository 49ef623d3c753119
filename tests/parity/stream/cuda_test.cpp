// Tile graphs on a device against the CPU, byte for byte: random ones in parts, in much and in little memory, and each
// node in every type. Devices that are emulated pass these tests, too.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cases.h"
#include "device_block.h"
#include "fathom/core/device.h"
#include "fathom/core/error.h"
#include "fathom/stream/evaluator.h"
#include "fathom/stream/nodes.h"
#include "run.h"
#include "stream/graphs.h"

namespace fathom::test {
namespace {

using stream::Evaluator;
using stream::EvaluatorOptions;
using stream::NodeRef;

class StreamOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
  }
};

EvaluatorOptions on(Backend backend, std::optional<std::size_t> limit = {}) {
  EvaluatorOptions options;
  options.execution.backend = backend;
  options.execution.scratch_limit = limit;
  options.execution.threads = 2;
  return options;
}

/// A part by way of the device's memory, rows further apart than they are long.
Array part_there(Evaluator& evaluator, const Rectangle& part, std::int64_t apart) {
  const DType dtype = evaluator.plan().entries.back().node->dtype();
  Array wide(dtype, {part.height(), part.width() + apart}), out(dtype, part.shape());
  const Block block(wide.bytes());
  evaluator.compute(part, AnyDeviceView(block.data(), dtype, part.shape(), {wide.shape()[1], 1}), {});
  block.download(wide);
  const std::size_t row = out.bytes() / static_cast<std::size_t>(part.height()),
                    from = wide.bytes() / static_cast<std::size_t>(part.height());
  for (std::size_t y = 0; y < static_cast<std::size_t>(part.height()); ++y) {
    std::memcpy(out.data() + y * row, wide.data() + y * from, row);
    for (std::size_t at = row; at < from; ++at)
      EXPECT_EQ(wide.data()[y * from + at], static_cast<std::byte>(kPoison)) << "beside row " << y;
  }
  return out;
}

void expect_same(const NodeRef& node, Random& random, std::optional<std::size_t> limit = {}) {
  Evaluator host(node, on(Backend::cpu)), device(node, on(Backend::cuda, limit));
  ASSERT_FALSE(device.plan().device.empty());
  for (int k = 0; k < 4; ++k) {
    const std::int64_t y = below(random, node->height()), x = below(random, node->width());
    const Rectangle part =
        k == 0 ? node->whole()
               : Rectangle{y, x, y + 1 + below(random, node->height() - y), x + 1 + below(random, node->width() - x)};
    const Array expected = host.compute(part);
    ASSERT_TRUE(equal(device.compute(part), expected)) << node->type() << ' ' << k;
    ASSERT_TRUE(equal(part_there(device, part, k * k), expected)) << node->type() << ' ' << k << " there";
  }
}

TEST_F(StreamOnDevice, RandomGraphs) {
  for (int i = 0; i < scaled(200); ++i) {
    const std::uint64_t seed = seed_to_replay().value_or(static_cast<std::uint64_t>(i));
    SCOPED_TRACE(seed);
    Random random(seed);
    const NodeRef node = Graphs(random, i % 2 ? 60 : 300).graph(1 + i % 7);
    expect_same(node, random);
    if (HasFatalFailure()) return;
  }
}

/// Every node of every type, on its own.
TEST_F(StreamOnDevice, EachNode) {
  Random random(1);
  const NodeRef bits = stream::noise(9, {40, 60, DType::boolean}), bytes = stream::noise(8, {40, 60, DType::uint8});
  for (const DType dtype : {DType::boolean, DType::uint8, DType::uint16, DType::float32}) {
    const NodeRef node = stream::noise(3, {70, 90, dtype, {0.5, "mm"}}), small = stream::crop(node, {3, 5, 20, 31});
    std::vector<NodeRef> nodes{node,
                               small,
                               stream::constant(1, {9, 300, dtype}),
                               stream::repeat(small, 61, 257),
                               stream::resample(node, {1.3, "mm"}),
                               stream::resample(node, {0.2, "mm"}),
                               stream::threshold(node, 0.5),
                               stream::threshold(node, 200, true),
                               stream::halftone(node, 4)};
    for (int k = 0; k < 4; ++k) {
      nodes.push_back(stream::flip(node, k % 2 == 0, k / 2 == 0));
      nodes.push_back(stream::rotate(node, k));
    }
    for (const auto blend : {stream::Blend::max, stream::Blend::min, stream::Blend::sum, stream::Blend::first,
                             stream::Blend::last, stream::Blend::mean})
      for (const bool all : {false, true}) {
        const stream::Blending blending{blend, all ? std::nullopt : std::optional(0.0), 1};
        const stream::LatticeOptions options{{7, 2}, {-3, 11}, 200, 150, blending, nullptr, nullptr};
        nodes.push_back(stream::lattice(small, options));
        nodes.push_back(
            stream::place({node, small}, {{-9, 5, 0}, {40, 70, 1}, {50, 66, 1}, {300, 9, 0}}, 130, 140, blending));
      }
    for (const NodeRef& one : nodes) {
      expect_same(one, random);
      expect_same(one, random, 40000 + below(random, 60000));  // in parts
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(StreamOnDevice, Distances) {
  Random random(1);
  OneOf some(5);
  for (const double size : {1.0, 0.1, 0.3, 2.0})
    for (const double share : {0.0, 0.001, 0.03, 0.5, 1.0}) {
      const NodeRef noise = stream::noise(5, {150, 300, DType::float32, {size, ""}}),
                    mask = stream::threshold(noise, 1 - share);
      for (const double steps : {0.5, 3.0, 15.0, 31.0, 32.0, 33.5, 100.0, 172.0, 173.0, 300.0}) {
        if (!some.is_next()) continue;
        stream::DistanceOptions options{steps * size};
        options.to_zero = below(random, 2) == 0;
        options.signed_distance = below(random, 4) == 0;
        const NodeRef far = stream::distance(mask, options);
        SCOPED_TRACE(testing::Message() << size << ' ' << share << ' ' << steps << ' ' << options.signed_distance);
        expect_same(far, random);
        expect_same(stream::profile(far, {"255*exp(-d/9)", {}, {}, DType::uint8}), random);
        if (HasFatalFailure()) return;
      }
      if (some.is_next()) expect_same(stream::exact_distance(mask, share > 0.1), random);
    }
}

/// Masks whose rows are long enough to be read by whole words.
TEST_F(StreamOnDevice, DistancesOfWideMasks) {
  Random random(1);
  for (const DType dtype : {DType::uint8, DType::uint16, DType::float32})
    for (const double steps : {2.0, 15.0, 172.0}) {
      const NodeRef mask = stream::math("a > 0.9985", {{stream::noise(5, {21, 2688, DType::float32})}}, dtype);
      expect_same(stream::distance(mask, {steps, below(random, 2) == 0}), random);
      if (HasFatalFailure()) return;
    }
}

TEST_F(StreamOnDevice, ProfilesOfWhatRepeatsItself) {
  Random random(1);
  const NodeRef dots = stream::repeat(stream::threshold(stream::noise(2, {31, 43, DType::uint8}), 250), 400, 500),
                far = stream::distance(dots, {15}), masked = stream::mask(far, {dots, stream::Role::mask, 7, 9});
  for (const NodeRef& node : {far, stream::profile(far, {"", {9, 4, 1}, 3.0, DType::uint16}),
                              stream::profile(masked, {"100 - d", {}, {}, DType::float32})}) {
    expect_same(node, random);
    EXPECT_TRUE(Evaluator(node, on(Backend::cuda)).plan().entries.back().on_device);
  }
}

/// Sums and the like of anything; what the parser rounds otherwise than it is written, the CPU computes.
TEST_F(StreamOnDevice, Arithmetic) {
  Random random(1);
  const NodeRef mask = stream::threshold(stream::noise(7, {90, 120, DType::uint16}), 64000),
                far = stream::distance(mask, {9, false, true}), some = stream::noise(1, {80, 100, DType::float32}),
                words = stream::noise(3, {90, 130, DType::uint16});
  const std::pair<const char*, bool> expressions[] = {{"a + b", true},
                                                      {"a - b", true},
                                                      {"a*b/c", true},
                                                      {"-a", true},
                                                      {"2*a - c*0.1", true},
                                                      {"a/3", true},
                                                      {"min(a, b, 0.5) + max(c, 7*b)", true},
                                                      {"(a + b)*(a - c)/(b*1000)", true},
                                                      {"3 - a", true},
                                                      {"a <= b", true},
                                                      {"a != 4.5", true},
                                                      {"a + a*2", true},
                                                      {"(a + 1) + 2", true},
                                                      {"2*(a + 3)", true},
                                                      {"a*3/7", true},
                                                      {"sin(a)", false},
                                                      {"1.5e2*b > .5*c", true},
                                                      {"(a - 3)^4 + b^2 > 1e4", true},
                                                      {"sqrt(a) - abs(20 - b)/0", true},
                                                      {"a > b && c != 0 || b < 9 ? -a : avg(b, c)", true},
                                                      {"a^0.5", false},
                                                      {"a - b*b + c*-2", true}};
  for (const auto& [expression, on_device] : expressions)
    for (const DType dtype : {DType::float32, DType::uint8, DType::boolean}) {
      const NodeRef node = stream::math(expression, {{far}, {some, stream::Role::data, 3, 5}, {words}}, dtype);
      EXPECT_EQ(Evaluator(node, on(Backend::cuda)).plan().entries.back().on_device, on_device) << expression;
      SCOPED_TRACE(expression);
      expect_same(node, random);
      if (HasFatalFailure()) return;
    }
}

/// Of x and y.
TEST_F(StreamOnDevice, Formulas) {
  Random random(2);
  for (const char* expression : {"((x-200)/180)^4 + ((y-90)/80)^4 <= 1", "x/3 - y*y", "7"}) {
    const NodeRef node = stream::formula(expression, {180, 400, DType::float32});
    EXPECT_TRUE(Evaluator(node, on(Backend::cuda)).plan().entries.back().on_device) << expression;
    expect_same(node, random);
    expect_same(stream::mask(stream::noise(1, {180, 400, DType::uint8}), {stream::threshold(node, 1)}), random);
  }
}

/// What the CPU alone can do is computed there.
TEST_F(StreamOnDevice, SomeOfItByTheCpu) {
  Random random(1);
  const NodeRef wave = stream::formula("100 + 99*sin(x/9)*cos(y/7)", {90, 120, DType::uint8});
  const NodeRef node = stream::repeat(
      stream::math("a + 2*b + exp(c/70)", {{wave}, {wave, stream::Role::data, 3, 5}, {wave}}, DType::float32), 300,
      400);
  expect_same(node, random);
  const Evaluator evaluator(node, on(Backend::cuda, 10000000));
  const auto& entries = evaluator.plan().entries;
  EXPECT_TRUE(entries.back().on_device);
  EXPECT_FALSE(entries[entries.size() - 2].on_device);
}

/// What the CPU computes of pixels that the device has: of no table, of a table with too few roots, of swept distances.
TEST_F(StreamOnDevice, OfThePixelsOfTheDevice) {
  Random random(1);
  const stream::ProfileOptions falling{"1000 - d + sin(d)", {}, 3.0, DType::float32};
  const NodeRef mask = stream::threshold(stream::noise(7, {90, 400, DType::uint16}), 65000),
                far = stream::distance(mask, {30, false, true}), row = stream::noise(1, {2, 9000, DType::uint16}),
                exact = stream::exact_distance(stream::threshold(row, 65530)),
                sum = stream::math("a*b - exp(c)", {{far}, {far, stream::Role::data, 5, -9}, {mask}}, DType::float32);
  for (const NodeRef& node : {stream::profile(far, falling), stream::repeat(stream::profile(far, falling), 300, 900),
                              stream::profile(exact, falling), stream::threshold(sum, 3)}) {
    expect_same(node, random);
    expect_same(node, random, 1500000);
    if (HasFatalFailure()) return;
  }
  const Array distances = Evaluator(exact, on(Backend::cpu)).compute(exact->whole());
  EXPECT_TRUE(std::any_of(distances.as<float>().data(), distances.as<float>().data() + 18000,
                          [](float d) { return d > 512 && d < INFINITY; }));
}

TEST_F(StreamOnDevice, KeepsToItsLimit) {
  const NodeRef noise = stream::noise(5, {300, 400, DType::uint8}), mask = stream::threshold(noise, 250);
  Evaluator host(stream::distance(mask, {15}), on(Backend::cpu));
  const Array expected = host.compute({0, 0, 300, 400});
  for (const std::size_t limit : {60000u, 200000u, 1000000u}) {
    Evaluator device(stream::distance(mask, {15}), on(Backend::cuda, limit));
    EXPECT_LE(device.plan().device_bytes, limit);
    EXPECT_TRUE(equal(device.compute({0, 0, 300, 400}), expected));
  }
  Evaluator none(stream::distance(mask, {15}), on(Backend::cuda, 100));
  EXPECT_NE(refusal([&] { none.compute({0, 0, 300, 400}); }).find("the limit is 100"), std::string::npos);
}

TEST_F(StreamOnDevice, RefusesOtherMemory) {
  const NodeRef noise = stream::noise(5, {30, 40, DType::uint8});
  Array out(DType::uint8, {30, 40});
  Evaluator device(noise, on(Backend::cuda)), host(noise, on(Backend::cpu));
  const AnyDeviceView view(out.data(), DType::uint8, {30, 40});
  EXPECT_NE(refusal([&] { device.compute(noise->whole(), view, {}); }), "not refused");
  EXPECT_NE(refusal([&] { host.compute(noise->whole(), view, {}); }).find("backend cuda"), std::string::npos);
}

/// What one call computed before may be captured: distances within a block's reach, beyond it, and exact ones.
TEST_F(StreamOnDevice, CapturedIntoAGraph) {
  const NodeRef mask = stream::threshold(stream::noise(3, {90, 700, DType::uint16}), 65500);
  for (const NodeRef& node :
       {stream::distance(mask, {20}), stream::distance(mask, {300, false, true}), stream::distance(mask, {300}),
        stream::exact_distance(mask), stream::profile(stream::distance(mask, {300}), {"2*d", {}, 7.0})}) {
    Evaluator evaluator(node, on(Backend::cuda));
    const Array expected = Evaluator(node, on(Backend::cpu)).compute(node->whole());
    Array found(node->dtype(), expected.shape());
    const Block block(found.bytes());
    const AnyDeviceView out(block.data(), node->dtype(), found.shape());
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    evaluator.compute(node->whole(), out, Stream{stream});
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    ASSERT_EQ(cudaMemsetAsync(block.data(), 0, found.bytes(), stream), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(refusal([&] { evaluator.compute(node->whole(), out, Stream{stream}); }), "not refused");
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    block.download(found);
    EXPECT_TRUE(equal(found, expected)) << node->type();
    static_cast<void>(cudaGraphExecDestroy(executable));
    static_cast<void>(cudaGraphDestroy(graph));
    static_cast<void>(cudaStreamDestroy(stream));
  }
}

/// In the device's memory, rows further apart than they are long.
TEST_F(StreamOnDevice, ArraysOfTheDevice) {
  Random random(5);
  for (const DType dtype : {DType::boolean, DType::uint8, DType::uint16, DType::float32}) {
    Array pixels(dtype, {50, 77});
    Evaluator(stream::noise(4, {50, 77, dtype}), on(Backend::cpu)).compute({0, 0, 50, 77}, pixels.view());
    const Block block(pixels);
    const NodeRef array =
        stream::source(stream::device_raster({block.data(), dtype, {50, 70}, {77, 1}}), "array", "pixels");
    EXPECT_TRUE(equal(Evaluator(array, on(Backend::cpu)).compute({0, 0, 50, 70}),
                      Evaluator(stream::crop(stream::noise(4, {50, 77, dtype}), {0, 0, 50, 70}), on(Backend::cpu))
                          .compute({0, 0, 50, 70})));
    EXPECT_FALSE(Evaluator(array, on(Backend::automatic)).plan().device.empty());
    expect_same(array, random);
    expect_same(stream::distance(stream::threshold(array, 0.9), {9}), random);
    expect_same(stream::repeat(array, 130, 150), random);
    expect_same(stream::math("a + a", {{array, stream::Role::data, 3, -4}}, DType::float32), random);
  }
  const Block block(std::size_t{64});
  EXPECT_THROW(stream::device_raster({block.data(), DType::uint8, {64}}), InvalidArgument);
  EXPECT_THROW(stream::device_raster({block.data(), DType::float64, {2, 4}}), InvalidArgument);
}

}  // namespace
}  // namespace fathom::test
