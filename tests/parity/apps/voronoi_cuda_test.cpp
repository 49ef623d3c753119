// Voronoi regions, Lloyd's iteration and stippling on a device: the CPU's bytes, from arrays of the host and of the device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "cases.h"
#include "device_block.h"
#include "fathom/apps/stipple.h"
#include "fathom/apps/voronoi.h"
#include "fathom/core/device.h"
#include "fathom/core/error.h"

namespace fathom::test {
namespace {

class VoronoiOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
  }
};
using LloydOnDevice = VoronoiOnDevice;
using StippleOnDevice = VoronoiOnDevice;

/// An array with gaps between its rows, and a copy on the device.
struct Placed {
  Array memory;
  Shape shape;
  Strides strides;
  Block block;

  Placed(DType dtype, const Shape& extents, std::int64_t gap)
      : memory(dtype, wider(extents, gap)), shape(extents), strides(dense_strides(memory.shape())), block(memory) {
    std::memset(memory.data(), 0, memory.bytes());
  }
  template <class Values>
  void fill(const Values& values) {
    for (std::int64_t k = 0; k < element_count(shape); ++k) store(memory, k / width() * step() + k % width(), values(k));
    block.upload(memory);
  }
  AnyConstView host() const { return {memory.data(), memory.dtype(), shape, strides}; }
  AnyView host_out() { return {memory.data(), memory.dtype(), shape, strides}; }
  AnyDeviceView device() const { return {block.data(), memory.dtype(), shape, strides}; }

 private:
  static Shape wider(Shape shape, std::int64_t gap) {
    shape[shape.rank() - 1] += gap;
    return shape;
  }
  std::int64_t width() const { return std::max<std::int64_t>(1, shape.back()); }
  std::int64_t step() const { return memory.shape().back(); }
};

Shape random_plan(Random& random) {
  Shape shape;
  const std::int64_t axes = 1 + below(random, 3);
  for (std::int64_t axis = 0; axis < axes; ++axis)
    shape.push_back(below(random, axes == 1 ? 300 : axes == 2 ? 40 : 12) + chance(random, 0.9));
  return shape;
}

/// Weights of a random type, some of them 0.
Placed random_weights(Random& random, const Shape& shape) {
  const DType dtype = pick(random, std::vector{DType::boolean, DType::uint8, DType::int16, DType::uint16, DType::int32,
                                               DType::uint64, DType::float32, DType::float64});
  Placed weights(dtype, shape, below(random, 4));
  const bool real = dtype == DType::float32 || dtype == DType::float64;
  const std::int64_t most = dtype == DType::boolean ? 1 : dtype == DType::uint8 ? 255 : dtype == DType::int16 ? 32767 : 65535;
  const bool none = chance(random, 0.05);
  weights.fill([&](std::int64_t) {
    if (none || chance(random, 0.3)) return real && chance(random, 0.5) ? -0.0 : 0.0;
    return static_cast<double>(below(random, most + 1)) / (real ? 777.7 : 1);
  });
  return weights;
}

void expect_same(const apps::Voronoi& a, const apps::Voronoi& b) {
  EXPECT_EQ(a.sites, b.sites);
  EXPECT_EQ(a.areas, b.areas);
  EXPECT_EQ(a.masses, b.masses);
  EXPECT_EQ(a.firsts, b.firsts);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.weight_scale, b.weight_scale);
  ASSERT_EQ(a.boundaries.size(), b.boundaries.size());
  for (std::size_t k = 0; k < a.boundaries.size(); ++k) {
    EXPECT_EQ(a.boundaries[k].first, b.boundaries[k].first);
    EXPECT_EQ(a.boundaries[k].second, b.boundaries[k].second);
    EXPECT_EQ(a.boundaries[k].length, b.boundaries[k].length);
  }
}

bool same_bytes(const Array& a, const Array& b) {
  return a.bytes() == b.bytes() && (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

TEST_F(VoronoiOnDevice, IsTheCpus) {
  for (int k = 0; k < scaled(1000); ++k) {
    Random random(static_cast<std::uint64_t>(k) + 71000);
    SCOPED_TRACE(k);
    const Shape shape = random_plan(random);
    const auto structure = make_sites(static_cast<Structure>(below(random, kStructures)), shape, random);
    Placed sites(pick(random, std::vector{DType::uint8, DType::float32}), shape, below(random, 5));
    sites.fill([&](std::int64_t at) { return structure[static_cast<std::size_t>(at)] ? 1.0 : 0.0; });
    const Placed weights = random_weights(random, shape);
    const bool weighted = chance(random, 0.7);
    apps::VoronoiOptions options;
    if (chance(random, 0.5)) options.spacing = {pick(random, std::vector{1.0, 2.0, 0.7})};
    options.sites.rule = chance(random, 0.8) ? grid::Sites::Rule::nonzero : grid::Sites::Rule::zero;
    options.moments = chance(random, 0.5);
    options.boundaries = chance(random, 0.7);
    const DType type = chance(random, 0.5) ? DType::int32 : DType::int64;
    const std::int64_t gap = below(random, 4);
    Placed expected(type, shape, gap), copied(type, shape, gap), there(type, shape, gap);
    there.block.upload(there.memory);
    const auto given = weighted ? weights.host() : AnyConstView();
    const auto cpu = apps::voronoi(sites.host(), given, options, expected.host_out());
    options.execution.backend = Backend::cuda;
    const auto host = apps::voronoi(sites.host(), given, options, copied.host_out());
    EXPECT_EQ(host.backend, Backend::cuda);
    expect_same(cpu, host);
    EXPECT_TRUE(same_bytes(expected.memory, copied.memory));
    const AnyConstDeviceView weights_there = weights.device();
    const auto device = apps::voronoi(AnyConstDeviceView(sites.device()),
                                      weighted ? weights_there : AnyConstDeviceView(), options, there.device());
    must(cudaDeviceSynchronize());
    expect_same(cpu, device);
    there.block.download(there.memory);
    EXPECT_TRUE(same_bytes(expected.memory, there.memory));
    EXPECT_EQ(device.scratch_bytes > 0, element_count(shape) > 0);
    if (HasFailure()) return;
  }
}

/// What was thrown, or nothing.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST_F(VoronoiOnDevice, RefusesWhatTheCpuDoes) {
  const Shape shape{3, 40};
  Placed sites(DType::uint8, shape, 2);
  sites.fill([](std::int64_t at) { return at == 50 ? 1.0 : 0.0; });
  const auto compare = [&](const Placed& weights, apps::VoronoiOptions options, const char* part) {
    const std::string cpu = error_of([&] { apps::voronoi(sites.host(), weights.host(), options); });
    options.execution.backend = Backend::cuda;
    EXPECT_NE(cpu.find(part), std::string::npos) << cpu;
    EXPECT_EQ(cpu, error_of([&] { apps::voronoi(sites.host(), weights.host(), options); }));
    EXPECT_EQ(cpu, error_of([&] {
                apps::voronoi(AnyConstDeviceView(sites.device()), AnyConstDeviceView(weights.device()), options);
              }));
  };
  for (double bad : {-1.0, std::nan(""), HUGE_VAL}) {
    Placed weights(DType::float32, shape, 1);
    weights.fill([&](std::int64_t at) { return at == 77 ? bad : 1; });
    compare(weights, {}, "weights are finite");
  }
  Placed large(DType::int32, shape, 0), tiny(DType::float64, shape, 0), other(DType::uint8, {40, 3}, 0);
  large.fill([](std::int64_t at) { return at == 8 ? 65536.0 : 1; });
  compare(large, {}, "at most 65535");
  tiny.fill([](std::int64_t) { return 1e-310; });
  compare(tiny, {}, "the largest weight is 1e-310");
  tiny.fill([](std::int64_t) { return 1e308; });
  compare(tiny, {}, "the sum of the weights passes what float64 holds");
  compare(other, {}, "the weights have the shape");
  apps::VoronoiOptions options;
  options.execution.scratch_limit = 1000;
  EXPECT_NE(error_of([&] { apps::voronoi(AnyConstDeviceView(sites.device()), {}, options); }).find("scratch limit"),
            std::string::npos);
  options.execution = {};
  options.execution.backend = Backend::cpu;
  EXPECT_NE(error_of([&] { apps::voronoi(AnyConstDeviceView(sites.device()), {}, options); }).find("backend cpu"),
            std::string::npos);
}

TEST_F(VoronoiOnDevice, RefusesMomentsBeyond64Bits) {
  const Shape shape{17, 30000};
  Placed sites(DType::uint8, shape, 0), weights(DType::uint16, shape, 0);
  sites.fill([](std::int64_t at) { return at == 0 ? 1.0 : 0.0; });
  weights.fill([](std::int64_t) { return 65535.0; });
  apps::VoronoiOptions options;
  options.moments = true;
  EXPECT_THROW(apps::voronoi(AnyConstDeviceView(sites.device()), AnyConstDeviceView(weights.device()), options),
               InvalidArgument);
}

TEST_F(LloydOnDevice, IsTheCpus) {
  int rested = 0, drawn = 0;
  for (int k = 0; k < scaled(600); ++k) {
    Random random(static_cast<std::uint64_t>(k) + 81000);
    SCOPED_TRACE(k);
    Shape shape = random_plan(random);
    for (int axis = 0; axis < shape.rank(); ++axis) ++shape[axis];
    const Placed weights = random_weights(random, shape);
    apps::LloydOptions options;
    options.on_elements = chance(random, 0.4);
    options.supersample = options.on_elements ? 1 : static_cast<int>(1 + below(random, 3));
    options.iterations = static_cast<int>(below(random, 15));
    options.tolerance = options.on_elements ? 0 : pick(random, std::vector{0.0, 0.01, 0.5, HUGE_VAL});
    options.energies = chance(random, 0.3);
    options.seed = static_cast<std::uint64_t>(k);
    const std::int64_t count = below(random, 20), axes = shape.rank();
    std::vector<double> before;
    for (std::int64_t site = 0; site < count; ++site)
      for (std::int64_t extent : shape) {
        const auto at = static_cast<double>(below(random, extent));
        before.push_back(options.on_elements ? at : at + static_cast<double>(below(random, 1000)) / 1000 - 0.5);
      }
    std::vector<double> cpu = before, host = before;
    apps::LloydReport expected;
    const std::string error =
        error_of([&] { expected = apps::lloyd(weights.host(), {cpu.data(), {count, axes}}, options); });
    options.execution.backend = Backend::cuda;
    const auto compare = [&](const apps::LloydReport& found) {
      EXPECT_EQ(found.backend, Backend::cuda);
      EXPECT_EQ(found.iterations, expected.iterations);
      EXPECT_EQ(found.at_rest, expected.at_rest);
      EXPECT_EQ(found.energies, expected.energies);
    };
    EXPECT_EQ(error, error_of([&] { compare(apps::lloyd(weights.host(), {host.data(), {count, axes}}, options)); }));
    Placed there(DType::float64, {count, axes}, below(random, 2));
    there.fill([&](std::int64_t at) { return before[static_cast<std::size_t>(at)]; });
    EXPECT_EQ(error, error_of([&] {
                const auto view = there.device().as<double>();
                compare(apps::lloyd(AnyConstDeviceView(weights.device()), view, options));
              }));
    if (!error.empty()) continue;
    EXPECT_EQ(cpu, host);
    there.block.download(there.memory);
    for (std::int64_t at = 0; at < count * axes; ++at)
      EXPECT_EQ(there.host().as<double>().data()[at / axes * there.strides[0] + at % axes],
                cpu[static_cast<std::size_t>(at)]);
    rested += expected.at_rest && expected.iterations > 1;
    drawn += !options.on_elements && expected.iterations > 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(rested, 0);
  EXPECT_GT(drawn, 0);
}

TEST_F(StippleOnDevice, IsTheCpus) {
  Array image(DType::uint8, {60, 80});
  for (std::int64_t k = 0; k < image.size(); ++k)
    store(image, k, 127 + 120 * std::sin(static_cast<double>(k / 80) / 9) * std::cos(static_cast<double>(k % 80) / 13));
  apps::StippleOptions options;
  options.dots = 300;
  options.iterations = 10;
  options.seed = 5;
  const auto cpu = apps::stipple(std::as_const(image).view(), options);
  options.execution.backend = Backend::cuda;
  const auto found = apps::stipple(std::as_const(image).view(), options);
  EXPECT_EQ(found.report.backend, Backend::cuda);
  EXPECT_EQ(found.report.iterations, cpu.report.iterations);
  EXPECT_TRUE(same_bytes(cpu.positions, found.positions));
  EXPECT_TRUE(same_bytes(cpu.radii, found.radii));
  const Block block(image);
  const auto there = apps::stipple(AnyConstDeviceView(block.data(), image.dtype(), image.shape()), options);
  EXPECT_TRUE(same_bytes(cpu.positions, there.positions));
  EXPECT_TRUE(same_bytes(cpu.radii, there.radii));
}

/// Images of a batch that lie the other way round in memory.
TEST_F(VoronoiOnDevice, BatchesAreTheCpus) {
  const Shape batch{2, 3, 10, 12}, memory{3, 2, 10, 12};
  const Strides strides{120, 240, 12, 1};
  Random random(7);
  Array sites(DType::uint8, memory), weights(DType::float32, memory), start(DType::float64, {3, 2, 4, 2});
  for (std::int64_t k = 0; k < sites.size(); ++k) {
    store(sites, k, k >= 120 && chance(random, 0.1));  // one image without any
    store(weights, k, static_cast<double>(below(random, 900)) / 1000);
  }
  for (std::int64_t k = 0; k < start.size(); ++k) store(start, k, static_cast<double>(below(random, 9)));
  const Shape several{2, 3, 4, 2};
  const Strides apart{8, 16, 2, 1};
  apps::VoronoiOptions options;
  options.boundaries = true;
  apps::LloydOptions moves;
  moves.iterations = 6;
  moves.energies = true;
  apps::StippleOptions dots;
  dots.dots = 15;
  const auto host = [&](const Array& array) {
    return AnyConstView(array.data(), array.dtype(), batch, strides);
  };
  const auto host_call = [&](Array& regions, Array& moved) {
    std::copy_n(start.data(), start.bytes(), moved.data());
    return std::tuple(
        apps::voronoi_batch(host(sites), host(weights), 2, options, {regions.data(), DType::int32, batch, strides}),
        apps::lloyd_batch(host(weights), {moved.as<double>().data(), several, apart}, 2, moves),
        apps::stipple_batch(host(weights), 2, dots));
  };
  const auto compare = [&](const auto& cpu, const auto& other) {
    ASSERT_EQ(std::get<0>(other).size(), 6u);
    for (std::size_t item = 0; item < 6; ++item) {
      expect_same(std::get<0>(cpu)[item], std::get<0>(other)[item]);
      EXPECT_EQ(std::get<0>(other)[item].backend, Backend::cuda);
      EXPECT_EQ(std::get<1>(cpu)[item].energies, std::get<1>(other)[item].energies);
      EXPECT_TRUE(same_bytes(std::get<2>(cpu)[item].positions, std::get<2>(other)[item].positions));
    }
  };
  Array regions(DType::int32, memory), copied(DType::int32, memory), there(DType::int32, memory);
  Array moved(DType::float64, start.shape()), carried(DType::float64, start.shape());
  const auto cpu = host_call(regions, moved);
  options.execution.backend = moves.execution.backend = dots.execution.backend = Backend::cuda;
  compare(cpu, host_call(copied, carried));
  EXPECT_TRUE(same_bytes(regions, copied));
  EXPECT_TRUE(same_bytes(moved, carried));
  const Block at_sites(sites), at_weights(weights), at_regions(there.bytes()), at_start(start);
  const auto device = [&](const Block& block, DType dtype) {
    return AnyConstDeviceView(block.data(), dtype, batch, strides);
  };
  options.execution.backend = moves.execution.backend = dots.execution.backend = Backend::automatic;
  const auto found =
      std::tuple(apps::voronoi_batch(device(at_sites, DType::uint8), device(at_weights, DType::float32), 2, options,
                                     AnyDeviceView(at_regions.data(), DType::int32, batch, strides)),
                 apps::lloyd_batch(device(at_weights, DType::float32),
                                   {reinterpret_cast<double*>(at_start.data()), several, apart}, 2, moves),
                 apps::stipple_batch(device(at_weights, DType::float32), 2, dots));
  must(cudaDeviceSynchronize());
  compare(cpu, found);
  at_regions.download(there);
  at_start.download(carried);
  EXPECT_TRUE(same_bytes(regions, there));
  EXPECT_TRUE(same_bytes(moved, carried));
}

}  // namespace
}  // namespace fathom::test
