// The memory that calls for device arrays take, and what they do where there is little.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "device_case.h"
#include "device_pool.h"

namespace fathom::test {
namespace {

/// Takes all of the device's memory but some.
class Hog {
 public:
  explicit Hog(std::size_t left) {
    must(cudaDeviceSynchronize());
    release_device_memory();
    std::size_t free = 0, total = 0;
    must(cudaMemGetInfo(&free, &total));
    for (std::size_t bytes = free; bytes >= std::size_t{2} << 20;) {
      bytes = std::min(bytes, free - std::min(free, left));
      void* data = nullptr;
      if (cudaMalloc(&data, bytes) == cudaSuccess) blocks_.push_back(data);
      else bytes /= 2;
      cudaGetLastError();
      must(cudaMemGetInfo(&free, &total));
    }
  }
  ~Hog() {
    for (void* block : blocks_) cudaFree(block);
  }
  Hog(const Hog&) = delete;

 private:
  std::vector<void*> blocks_;
};

/// Less than the arrays take.
TEST_F(Device, BudgetIsKept) {
  for (const auto& [shape, share] : {std::pair{Shape{3000, 2500}, 8u}, std::pair{Shape{100, 100, 800}, 2u}}) {
    Case c = sparse_case(shape, {.distance = DType::float32});
    const std::size_t budget = 5 * static_cast<std::size_t>(c.input.size()) / share;
    c.options.execution.scratch_limit = budget;
    Results results;
    EXPECT_LE(most_taken([&] { results = run(c.input.view(), c.options, c.wanted); }), budget);
    EXPECT_TRUE(equal(on_cpu(c), results)) << to_string(shape);
  }
}

/// Served by a fast engine: the general one takes nine bytes per element and more.
void check_scratch(const Case& c, double most_per_element) {
  const OnDevice device(c);
  const auto scratch = grid::scratch_bytes(device.input_view, device.options, device.outputs);
  EXPECT_LE(static_cast<double>(scratch), most_per_element * static_cast<double>(c.input.size())) << describe(c);
}

TEST_F(Device, NearestSitesTakeLittleScratch) {
  for (const auto& [shape, most] : {std::pair{Shape{1000, 1777}, 0.35}, std::pair{Shape{128, 96, 160}, 2.35}})
    for (const Wanted& wanted : {Wanted{.distance = DType::float32, .nearest = DType::int32},
                                 Wanted{.squared = DType::float64, .coordinates = DType::int64}})
      check_scratch(sparse_case(shape, wanted), most);
}

/// Of results of 64 bits, too, which have room for squares of 32.
TEST_F(Device, VolumesTakeLittleScratch) {
  for (const Wanted& wanted :
       {Wanted{.distance = DType::float32}, Wanted{.distance = DType::float64}, Wanted{.squared = DType::uint32},
        Wanted{.squared = DType::uint64}, Wanted{.squared = DType::float64}})
    check_scratch(sparse_case({128, 96, 160}, wanted), 2.3);
}

TEST_F(Device, LabelsTakeLittleScratch) {
  for (const auto& [shape, most] :
       {std::pair{Shape{1000, 1777}, 0.6}, std::pair{Shape{1080, 1920}, 0.6}, std::pair{Shape{128, 96, 160}, 2.75}}) {
    Case c = sparse_case(shape, {.distance = DType::float32});
    c.options.sites.rule = grid::Sites::Rule::labels;
    check_scratch(c, most);
    c.options.signed_distance = true;
    check_scratch(c, most);
    c.options.signed_distance = false;
    c.wanted = {.distance = DType::float64, .squared = DType::uint32};
    check_scratch(c, most);
    c.wanted = {.distance = DType::float32, .nearest = DType::int32};
    check_scratch(c, most);
  }
}

/// What takes more scratch than that is done in ranges of columns.
TEST_F(Device, LargeVolumesTakeLittleScratch) {
  constexpr double kMost = 2.3 * 320 / 301;  // with what pads rows
  const Shape shape{70, 400, 301};
  const Wanted distance{.distance = DType::float32};
  const std::vector<double> scanner{1.25, 0.742188, 0.742188};
  const grid::Sites labels{grid::Sites::Rule::labels};
  const std::vector<std::pair<grid::DistanceOptions, Wanted>> problems{
      {{}, distance},
      {{}, {.distance = DType::float32, .squared = DType::uint32}},
      {{.region = {{3, 70}, {0, 399}, {37, 290}}}, distance},
      {{}, {.distance = DType::float32, .nearest = DType::int32, .coordinates = DType::int64}},
      {{.signed_distance = true}, distance},
      {{.border = {grid::Border::sites}, .signed_distance = true}, distance},
      {{.sites = labels}, distance},
      {{.sites = labels}, {.distance = DType::float32, .nearest = DType::int32}},
      {{.sites = labels, .region = {{0, 70}, {0, 400}, {32, 287}}},
       {.distance = DType::float32, .nearest = DType::int64}},
      {{.sites = labels, .signed_distance = true}, {.distance = DType::float64}},
      {{.spacing = scanner}, distance},
      {{.spacing = scanner}, {.distance = DType::float32, .nearest = DType::int32}},
      {{.spacing = scanner, .region = {{0, 69}, {1, 400}, {33, 280}}}, {.nearest = DType::int64}},
      {{.spacing = scanner, .signed_distance = true, .surface = grid::Surface::centers}, distance},
      {{.spacing = {3, 1, 1}, .signed_distance = true, .surface = grid::Surface::centers}, distance}};
  for (const auto& [options, wanted] : problems) {
    Case c = sparse_case(shape, wanted);
    c.options = options;
    check_scratch(c, kMost);
    OnDevice device(c);
    device.run();
    must(cudaDeviceSynchronize());
    EXPECT_TRUE(equal(on_cpu(c), device.results())) << describe(c);
  }
}

/// Nor is it taken for what fills up the last word of rows.
TEST_F(Device, VolumesOfFilledWordsTakeLittleScratch) {
  for (const Shape& shape : {Shape{512, 512, 264}, Shape{300, 300, 300}, Shape{181, 217, 181}, Shape{200, 200, 200},
                             Shape{100, 250, 301}, Shape{511, 513, 515}}) {
    if (element_count(shape) > largest_problem()) continue;
    Case c = sparse_case(shape, {.distance = DType::float32});
    check_scratch(c, 2.3);
    c.options.signed_distance = true;
    check_scratch(c, 2.3);
    c.wanted = {.squared = DType::uint32};
    c.options.signed_distance = false;
    check_scratch(c, 2.3);
  }
}

TEST_F(Device, LongVolumesTakeLittleScratch) {
  for (const Shape& shape : {Shape{64, 64, 2048}, Shape{64, 2048, 96}, Shape{1025, 30, 64}}) {
    check_scratch(sparse_case(shape, {.distance = DType::float32}), 2.35);
    if (shape[0] > 1024 || shape[1] > 1024) continue;
    check_scratch(sparse_case(shape, {.distance = DType::float32, .nearest = DType::int64}), 0.35);
  }
}

TEST_F(Device, SmallImagesTakeLittleScratch) {
  for (const auto& [shape, most] : {std::pair{Shape{300, 64, 64}, 0.13}, std::pair{Shape{50, 128, 100}, 0.17}}) {
    Case c = sparse_case(shape, {.distance = DType::float32});
    c.options.batch_axes = 1;
    check_scratch(c, most);
    c.wanted.nearest = DType::int32;
    check_scratch(c, most);
    c.wanted = {.distance = DType::float32, .squared = DType::uint32};
    check_scratch(c, most);
    c.wanted = {.distance = DType::float32};
    c.options.signed_distance = true;
    check_scratch(c, 2 * most);
    c.options.sites.rule = grid::Sites::Rule::labels;
    check_scratch(c, 4 * most);
    c.options.signed_distance = false;
    check_scratch(c, 4 * most);
    c.wanted.nearest = DType::int32;
    check_scratch(c, 4 * most);
  }
}

TEST_F(Device, SpacingsTakeLittleScratch) {
  for (const auto& [shape, most] : {std::pair{Shape{1000, 1777}, 0.35}, std::pair{Shape{128, 96, 160}, 0.3}}) {
    Case c = sparse_case(shape, {.distance = DType::float32});
    c.options.spacing = {2.5, 1.25, 0.7};
    c.options.spacing.resize(static_cast<std::size_t>(shape.rank()));
    check_scratch(c, most);
    c.options.border = {grid::Border::sites};
    c.options.max_distance = 20;
    check_scratch(c, most);
    c.options.max_distance = 1e6;  // drops nothing
    check_scratch(c, most);
  }
}

/// Images and volumes: a sign takes the words of another side.
TEST_F(Device, SpacingsWithOtherOptionsTakeLittleScratch) {
  const auto check = [](const grid::DistanceOptions& options, const Wanted& wanted, double of_image, double of_volume) {
    for (const auto& [shape, most] :
         {std::pair{Shape{1000, 1777}, of_image}, std::pair{Shape{128, 96, 160}, of_volume}}) {
      Case c = sparse_case(shape, wanted);
      c.options = options;
      c.options.spacing = {2.5, 1.25, 0.7};
      c.options.spacing.resize(static_cast<std::size_t>(shape.rank()));
      check_scratch(c, most);
    }
  };
  const Wanted distance{.distance = DType::float32};
  check({.signed_distance = true, .surface = grid::Surface::centers}, distance, 0.5, 0.6);
  check({.sites = {grid::Sites::Rule::labels}}, distance, 0.6, 0.7);
  check({}, {.distance = DType::float32, .nearest = DType::int32}, 0.35, 2.35);
  check({}, {.distance = DType::float64}, 0.35, 0.3);
}

/// Volumes with spacings that have no small unit, or too small a one for 32 bits: no more than with others.
TEST_F(Device, AnySpacingsOfVolumesTakeLittleScratch) {
  for (const std::vector<double>& spacing : {std::vector<double>{1.25, 0.742188, 0.742188}, {255, 254, 253}})
    for (bool sign : {false, true}) {
      Case c = sparse_case({128, 96, 160}, {.distance = DType::float32});
      c.options.spacing = spacing;
      c.options.signed_distance = sign;
      c.options.surface = grid::Surface::centers;
      check_scratch(c, sign ? 0.6 : 0.3);
      c.options.signed_distance = false;
      for (const Wanted& wanted :
           {Wanted{.distance = DType::float32, .nearest = DType::int64}, Wanted{.nearest = DType::int32}}) {
        c.wanted = wanted;
        check_scratch(c, 0.3);
      }
      c.options.sites.rule = grid::Sites::Rule::labels;
      c.wanted = {.distance = DType::float32};
      check_scratch(c, 0.75);
    }
}

/// Images likewise: no more than with others.
TEST_F(Device, AnySpacingsOfImagesTakeLittleScratch) {
  for (const std::vector<double>& spacing : {std::vector<double>{0.7071067811865476, 1}, {0.7, 1.25}})
    for (const bool sign : {false, true}) {
      Case c = sparse_case({7000, 7100}, {.distance = DType::float32});
      c.options.spacing = spacing;
      c.options.signed_distance = sign;
      c.options.surface = grid::Surface::centers;
      check_scratch(c, sign ? 0.46 : 0.34);
    }
}

/// A sign takes the words of another side, and labels those of rows; what pads these is little.
TEST_F(Device, SignedImagesTakeLittleScratch) {
  for (const auto& [shape, most] :
       {std::pair{Shape{1000, 1777}, 0.46}, std::pair{Shape{1080, 1920}, 0.5}, std::pair{Shape{1200, 1600}, 0.52}}) {
    Case c = sparse_case(shape, {.distance = DType::float32});
    c.options.signed_distance = true;
    check_scratch(c, most);
    c.options.max_distance = 20;
    check_scratch(c, most);
  }
}

/// From almost no memory to enough: refused, or done in pieces as small as that needs.
TEST_F(Device, AsMuchMemoryAsThereIs) {
  Case c = sparse_case({8192, 8192}, {.distance = DType::float32});
  const Results expected = on_cpu(c);
  c.options.execution.backend = Backend::cuda;
  run(c.input.view(), c.options, c.wanted);  // brings the kernels, which need memory
  Results results = make_results(c.input.shape(), c.options, c.wanted);
  const std::size_t least = grid::least_scratch_bytes(c.input.view(), c.options, results.views());
  std::size_t taken = 0;
  for (std::size_t left = std::size_t{4} << 20; taken == 0; left *= 2) {
    ASSERT_LT(left, std::size_t{1} << 30);
    const Hog hog(left);
    std::size_t free = 0, total = 0;
    must(cudaMemGetInfo(&free, &total));
    free += cuda::unused_bytes(current_device());
    results = make_results(c.input.shape(), c.options, c.wanted);
    try {
      taken = grid::distance_transform(c.input.view(), c.options, results.views()).scratch_bytes;
      EXPECT_LE(least, taken);
      EXPECT_LE(taken, free);
    } catch (const DeviceError&) {
      EXPECT_TRUE(is_poisoned(*results.distance));
    }
    EXPECT_EQ(pool_bytes(cudaMemPoolAttrUsedMemCurrent), 0u);
  }
  EXPECT_TRUE(equal(expected, results));
}

/// Too little memory for the scratch: an error that names memory, nothing lost, and the next call works.
TEST_F(Device, NoMemory) {
  const Case c = sparse_case({8192, 8192}, {.distance = DType::float32, .nearest = DType::int32});
  OnDevice device(c);
  std::string message;
  {
    const Hog hog(std::size_t{32} << 20);
    try {
      device.run();
    } catch (const DeviceError& error) {
      message = error.what();
    }
  }
  EXPECT_NE(message.find("not enough free memory"), std::string::npos) << message;
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(pool_bytes(cudaMemPoolAttrUsedMemCurrent), 0u);
  must(cudaDeviceSynchronize());
  EXPECT_TRUE(is_poisoned(*device.results().distance));
  device.run();
  must(cudaDeviceSynchronize());
  EXPECT_FALSE(is_poisoned(*device.results().distance));
  EXPECT_EQ(pool_bytes(cudaMemPoolAttrUsedMemCurrent), 0u);
}

}  // namespace
}  // namespace fathom::test
