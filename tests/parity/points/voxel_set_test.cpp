// Sets of voxels: the answers of a SiteSet of the same mask, whatever was edited before. Built once for the CPU and
// once for devices.
#include "fathom/points/voxel_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "cases.h"
#include "fathom/core/device.h"
#include "points/problem.h"
#include "run.h"

namespace fathom::test {
namespace {

using points::QueryOptions;
using points::QueryOutputs;
using points::SiteSet;
using points::VoxelSet;

constexpr Backend kBackend = Backend::FATHOM_TEST_BACKEND;

class VoxelSets : public testing::Test {
 protected:
  void SetUp() override {
    if (kBackend == Backend::cuda && device_count() == 0) GTEST_SKIP() << "no CUDA device, or a build without CUDA";
  }
};

const Execution kThere{.backend = kBackend};

struct Answers {
  Array distance, squared, site, lower;
};

template <class Set>
Answers ask(const Set& set, const Array& queries, const QueryOptions& options) {
  const Shape shape{queries.shape()[0], options.k};
  Answers answers{Array(DType::float32, shape), Array(DType::float64, shape), Array(DType::int64, shape),
                  Array(DType::float64, {queries.shape()[0]})};
  for (Array* array : {&answers.distance, &answers.squared, &answers.site}) poison(*array);
  QueryOutputs outputs{answers.distance.view(), answers.squared.view(), answers.site.view(), {}};
  if (options.k == 1) outputs.lower = answers.lower.view();
  set.nearest(queries.view(), options, outputs);
  return answers;
}

testing::AssertionResult same(const Answers& a, const Answers& b) {
  for (auto member : {&Answers::distance, &Answers::squared, &Answers::site})
    if (const auto result = equal(a.*member, b.*member); !result) return result;
  return testing::AssertionSuccess();
}

/// In and around the grid, on elements and between them.
Array queries_near(const Shape& shape, DType dtype, std::int64_t count, Random& random) {
  Array queries(dtype, {count, shape.rank()});
  for (std::int64_t i = 0; i < queries.size(); ++i) {
    const std::int64_t extent = shape[static_cast<int>(i % shape.rank())];
    const auto whole = static_cast<double>(below(random, 2 * extent + 5) - extent / 2);
    const double part = chance(random, 0.5) ? 0.5 * static_cast<double>(below(random, 3)) : 0.137;
    store(queries, i, dtype == DType::int32 ? whole : whole + part);
  }
  return queries;
}

QueryOptions random_options(int axes, Random& random, Array& direction) {
  QueryOptions options;
  options.k = chance(random, 0.5) ? 1 : 1 + static_cast<int>(below(random, 64));
  if (chance(random, 0.3)) options.radius = pick<double>(random, {0, 1, 2.5, 7});
  options.execution.threads = 1 + static_cast<int>(below(random, 3));
  if (chance(random, 0.3)) {
    direction = Array(DType::float64, {1, axes});
    for (std::int64_t i = 0; i < axes; ++i) store(direction, i, static_cast<double>(below(random, 19)) - 9.3);
    options.cone.directions = direction.view();
    options.cone.half_angle = 0.1 * static_cast<double>(below(random, 31));
    if (chance(random, 0.5)) options.cone.cylinder_radius = 1.7;
  }
  return options;
}

TEST_F(VoxelSets, AnswerAsSiteSetsDo) {
  for (int i = 0; i < scaled(400); ++i) {
    Random random(static_cast<std::uint64_t>(i) + 1);
    SCOPED_TRACE("seed " + std::to_string(i + 1));
    const auto extent = [&] { return 1 + below(random, 40); };
    const std::int64_t wide = i % 20 == 0 ? 30 : 4;  // several levels
    const Shape shape = i % 20 == 0 || chance(random, 0.3) ? Shape{extent() * wide, extent() * wide}
                                                           : Shape{extent(), extent(), extent()};
    const auto structure = static_cast<Structure>(below(random, kStructures));
    const Array mask = mask_array(make_sites(structure, shape, random), shape, DType::int16, false);
    const DType dtype = pick<DType>(random, {DType::int32, DType::float32, DType::float64});
    const Array queries = queries_near(shape, dtype, below(random, 100), random);
    Array direction;
    const QueryOptions options = random_options(shape.rank(), random, direction);
    const SiteSet expected = SiteSet::of_mask(mask.view());
    const VoxelSet set = VoxelSet::of_mask(mask.view(), kThere);
    ASSERT_EQ(set.size(), expected.size());
    ASSERT_TRUE(same(ask(expected, queries, options), ask(set, queries, options)));
  }
}

/// Elements about as far from the middle as the nearest side is.
std::vector<bool> sphere(const Shape& shape) {
  std::vector<bool> mask(static_cast<std::size_t>(element_count(shape)));
  const std::int64_t middle = shape[0] / 2;
  const double radius = 0.45 * static_cast<double>(shape[0]);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    double squared = 0;
    for (auto [k, rest] = std::pair(shape.rank() - 1, static_cast<std::int64_t>(i)); k >= 0; rest /= shape[k--])
      squared += std::pow(static_cast<double>(rest % shape[k] - middle), 2);
    mask[i] = std::abs(std::sqrt(squared) - radius) < 0.5;
  }
  return mask;
}

/// So many that a device gives each a thread, or sorts them before that; from the middle of a sphere a thread has more
/// to look at than it may, and from far away squares that need more than double.
TEST_F(VoxelSets, AnswerManyQueries) {
  Random random(6);
  const Shape image{300, 411}, square{300, 300}, volume{50, 61, 72}, cube{90, 90, 90};
  const auto one = [](const Shape& shape) {
    std::vector<bool> mask(static_cast<std::size_t>(element_count(shape)));
    mask[mask.size() / 3] = true;
    return mask;
  };
  const std::pair<Shape, std::vector<bool>> cases[] = {
      {image, scatter(image, 0.001, random)},  {volume, scatter(volume, 0.01, random)}, {volume, one(volume)},
      {volume, scatter(volume, 0.6, random)}, {cube, sphere(cube)},                    {square, sphere(square)}};
  for (int i = 0; i < 6; ++i) {
    SCOPED_TRACE(i);
    const auto& [shape, sites] = cases[i];
    const Array mask = mask_array(sites, shape, DType::uint8, false);
    const SiteSet expected = SiteSet::of_mask(mask.view());
    const VoxelSet set = VoxelSet::of_mask(mask.view(), kThere);
    for (const DType dtype : {DType::int32, DType::float32, DType::float64}) {
      const std::int64_t count = dtype == DType::float32 && i % 3 == 1 ? 530000 : 17001;
      Array queries = queries_near(shape, dtype, count, random);
      for (std::int64_t e = 0; e < 900; ++e) store(queries, e, static_cast<double>(shape[0] / 2 + e % 2));
      for (std::int64_t e = 900; e < 960; ++e) store(queries, e, e % 2 == 0 ? -2e9 : 2.1e9);
      QueryOptions options;
      if (i % 2 == 1) options.radius = 20;
      ASSERT_TRUE(same(ask(expected, queries, options), ask(set, queries, options)));
    }
  }
}

TEST_F(VoxelSets, KeepTheirGuarantees) {
  Random random(3);
  const Shape shape{60, 70, 80};
  const Array mask = mask_array(make_sites(Structure::sparse, shape, random), shape, DType::uint8, false);
  const VoxelSet set = VoxelSet::of_mask(mask.view(), kThere);
  const Array queries = queries_near(shape, DType::float32, 3000, random);
  const Answers exact = ask(set, queries, {});
  QueryOptions relative, absolute, limited;
  relative.relative_error = 0.5;
  absolute.absolute_error = 3;
  limited.work_limit = 1;
  const Answers near = ask(set, queries, relative), within = ask(set, queries, absolute),
                some = ask(set, queries, limited);
  const VoxelSet host = VoxelSet::of_mask(mask.view());
  for (const auto& [options, answers] : {std::pair(relative, &near), {absolute, &within}, {limited, &some}}) {
    const Answers expected = ask(host, queries, options);
    EXPECT_TRUE(same(expected, *answers));
    EXPECT_TRUE(equal(expected.lower, answers->lower));
  }
  std::int64_t unequal = 0;
  for (std::int64_t q = 0; q < 3000; ++q) {
    const double truth = std::sqrt(value_at(exact.squared, q));
    ASSERT_LE(std::sqrt(value_at(near.squared, q)), 1.5 * truth * (1 + 1e-12));
    ASSERT_LE(std::sqrt(value_at(within.squared, q)), truth + 3 + 1e-12);
    ASSERT_GE(value_at(some.squared, q), value_at(exact.squared, q));
    ASSERT_LE(value_at(some.lower, q), truth);
    for (const Answers* answers : {&near, &within, &some})
      unequal += value_at(answers->squared, q) != value_at(exact.squared, q);
  }
  EXPECT_GT(unequal, 0);  // and it is made use of
  QueryOptions within_radius;
  within_radius.radius = 5;
  const Answers those = ask(host, queries, within_radius);
  within_radius.relative_error = 0.5;
  const Answers found = ask(set, queries, within_radius);
  for (std::int64_t q = 0; q < 3000; ++q)
    ASSERT_EQ(std::isfinite(value_at(those.squared, q)), std::isfinite(value_at(found.squared, q))) << q;
}

/// Elements around a place.
std::vector<std::int64_t> some_elements(std::int64_t region, std::int64_t all, std::int64_t most, Random& random) {
  std::vector<std::int64_t> elements(static_cast<std::size_t>(1 + below(random, most)));
  for (std::int64_t& element : elements)
    element = chance(random, 0.9) ? region + below(random, 4000) : below(random, all);
  return elements;
}

/// A set, and what it should hold.
class EditedVoxels {
 public:
  explicit EditedVoxels(const Shape& shape)
      : set_(shape, kThere),
        mask_(mask_array(std::vector<bool>(static_cast<std::size_t>(element_count(shape))), shape, DType::uint8,
                         false)) {}

  const VoxelSet& set() const { return set_; }
  VoxelSet& set() { return set_; }
  const Array& mask() const { return mask_; }
  std::int64_t sites() const { return std::count(at(0), at(0) + mask_.size(), 1); }

  void add(const std::vector<std::int64_t>& elements) { ASSERT_EQ(set_.add(elements), put(elements, 1)); }
  void remove(const std::vector<std::int64_t>& elements) { ASSERT_EQ(set_.remove(elements), put(elements, 0)); }
  void move(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to) {
    std::vector<std::int64_t> arriving;
    for (std::size_t i = 0; i < from.size(); ++i)
      if (*at(from[i]) == 1) arriving.push_back(to[i]);
    ASSERT_EQ(set_.move(from, to), static_cast<std::int64_t>(arriving.size()));
    put(from, 0);
    put(arriving, 1);
  }

 private:
  std::uint8_t* at(std::int64_t element) const { return mask_.as<std::uint8_t>().data() + element; }
  /// @return how many changed
  std::int64_t put(const std::vector<std::int64_t>& elements, std::uint8_t value) {
    std::int64_t changed = 0;
    for (std::int64_t element : elements) changed += std::exchange(*at(element), value) != value;
    return changed;
  }

  VoxelSet set_;
  mutable Array mask_;
};

/// One at a time, and many at once: elements named twice, and some that are sites or none already.
TEST_F(VoxelSets, AfterEditsEqualARebuild) {
  const std::int64_t edits = scaled(100000);
  Random random(4);
  const Shape shape{40, 50, 60};
  const std::int64_t count = element_count(shape);
  EditedVoxels edited(shape);
  // Around a few places that come and go, so that words fill and empty; at last all leave.
  std::int64_t done = 0;
  for (std::int64_t check = 1; check <= 20; ++check) {
    const double leaving = check > 10 ? 0.7 : 0.3;
    const std::int64_t most = kBackend == Backend::cuda || check % 4 == 0 ? 500 : 1;
    while (done < edits * check / 20) {
      const std::int64_t region = done / 1000 % 7 * (count / 7);
      const std::vector<std::int64_t> elements = some_elements(region, count, most, random);
      done += static_cast<std::int64_t>(elements.size());
      if (chance(random, 0.2)) {
        std::vector<std::int64_t> to;
        for (std::size_t i = 0; i < elements.size(); ++i) to.push_back(some_elements(region, count, 1, random)[0]);
        edited.move(elements, to);
      } else if (chance(random, leaving)) {
        edited.remove(elements);
      } else {
        edited.add(elements);
      }
      ASSERT_FALSE(HasFatalFailure());
    }
    ASSERT_EQ(edited.set().size(), edited.sites());
    const Array queries = queries_near(shape, DType::float64, 60, random);
    QueryOptions options;
    options.k = check % 2 == 0 ? 1 : 9;
    ASSERT_TRUE(
        same(ask(SiteSet::of_mask(edited.mask().view()), queries, options), ask(edited.set(), queries, options)))
        << done;
  }
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  edited.remove(all);
  EXPECT_EQ(edited.set().size(), 0);
  const Array queries = queries_near(shape, DType::int32, 5, random);
  EXPECT_EQ(value_at(ask(edited.set(), queries, {}).distance, 0), INFINITY);
  edited.add(all);
  EXPECT_EQ(edited.set().size(), count);
  EXPECT_TRUE(same(ask(SiteSet::of_mask(edited.mask().view()), queries, {}), ask(edited.set(), queries, {})));
}

TEST_F(VoxelSets, ChangeOneAtATime) {
  VoxelSet set({9, 70}, kThere);
  EXPECT_TRUE(set.add(69));
  EXPECT_FALSE(set.add(69));
  EXPECT_TRUE(set.move(69, 70));
  EXPECT_FALSE(set.move(69, 71));
  EXPECT_TRUE(set.move(70, 70));
  EXPECT_TRUE(set.contains(70));
  EXPECT_FALSE(set.contains(69));
  EXPECT_EQ(set.move(std::vector<std::int64_t>{70, 70}, std::vector<std::int64_t>{5, 6}), 2);  // to both places
  EXPECT_EQ(set.size(), 2);
  EXPECT_FALSE(set.remove(70));
  EXPECT_TRUE(set.remove(5));
  EXPECT_EQ(set.add(std::vector<std::int64_t>{}), 0);
  EXPECT_EQ(set.size(), 1);
}

/// Differences whose squares double does not hold.
TEST_F(VoxelSets, AreExactFarAway) {
  VoxelSet set({2, 2, 2}, kThere);
  set.add(std::vector<std::int64_t>{3, 5, 6});
  Array queries(DType::int32, {2, 3});
  for (std::int64_t i = 0; i < 6; ++i) queries.as<std::int32_t>().data()[i] = i < 3 ? INT32_MAX : INT32_MIN;
  queries.as<std::int32_t>().data()[2] -= 1;
  Array mask = mask_array({false, false, false, true, false, true, true, false}, {2, 2, 2}, DType::uint8, false);
  EXPECT_TRUE(same(ask(SiteSet::of_mask(mask.view()), queries, {}), ask(set, queries, {})));
}

TEST_F(VoxelSets, TakeABitForEachElement) {
  EXPECT_LE(static_cast<double>(VoxelSet({256, 256, 256}, kThere).bytes()) * 8, 1.02 * 256 * 256 * 256);
  EXPECT_LE(static_cast<double>(VoxelSet({4096, 4096}, kThere).bytes()) * 8, 1.02 * 4096 * 4096);
}

TEST_F(VoxelSets, RefuseWhatHasNoMeaning) {
  EXPECT_EQ(refusal([] { VoxelSet({3}, kThere); }), "a set of voxels has 2 or 3 axes, not 1");
  EXPECT_EQ(refusal([] {
              VoxelSet({2, std::int64_t{1} << 31}, kThere);
            }),
            "the extents 2 × 2147483648 pass what int32 coordinates hold");
  EXPECT_EQ(refusal([] {
              VoxelSet({-1, 5}, kThere);
            }),
            "the shape -1 × 5 has a negative extent");
  VoxelSet set({4, 5}, kThere);
  EXPECT_EQ(refusal([&] {
              set.add(std::vector<std::int64_t>{3, 20});
            }),
            "there is no element 20 in a set of 4 × 5; give linear indices from 0 to 19");
  EXPECT_EQ(set.size(), 0);
  set.add(1);
  EXPECT_EQ(refusal([&] { set.move(1, -1); }),
            "there is no element -1 in a set of 4 × 5; give linear indices from 0 to 19");
  EXPECT_TRUE(set.contains(1));
  EXPECT_EQ(refusal([&] {
              set.move(std::vector<std::int64_t>{1, 2}, std::vector<std::int64_t>{3});
            }),
            "2 elements are to move to 1 places; give one for each");
  const Array queries(DType::int32, {1, 3});
  EXPECT_EQ(refusal([&] { ask(set, queries, {}); }), "the queries have 3 coordinates, the sites 2");
  QueryOptions options;
  if (kBackend == Backend::cuda) {
    options.execution.backend = Backend::cpu;
    EXPECT_EQ(refusal([&] {
                ask(set, Array(DType::int32, {1, 2}), options);
              }),
              "the sites are in a device's memory, where the backend cpu cannot work; use auto or cuda");
  } else if (device_count() > 0) {
    options.execution.backend = Backend::cuda;
    EXPECT_EQ(refusal([&] {
                ask(set, Array(DType::int32, {1, 2}), options);
              }),
              "the sites are in the host's memory; build the set with the backend cuda, or use auto or cpu");
  } else {
    EXPECT_THROW(VoxelSet({4, 5}, Execution{.backend = Backend::cuda}), DeviceError);
  }
  options = {};
  options.metric = points::Metric::taxicab;
  EXPECT_EQ(refusal([&] {
              ask(set, Array(DType::int32, {1, 2}), options);
            }),
            "sets of voxels answer by Euclidean distances; for another metric make a SiteSet of the mask");
  VoxelSet none({0, 7, 7}, kThere);
  Random random(1);
  EXPECT_EQ(value_at(ask(none, queries_near({1, 1, 1}, DType::int32, 3, random), {}).site, 2), -1);
}

}  // namespace
}  // namespace fathom::test
