// Sites that come and go: how full the leaves of their tree are, and what is left where memory runs out.
#include "points/cpu/dynamic_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <numeric>

#include "cases.h"
#include "fathom/points/dynamic_set.h"
#include "points/problem.h"

namespace {
std::int64_t allocations_left = -1;  ///< until one fails; negative: all are granted
std::size_t bytes_granted = 0;
}

void* operator new(std::size_t bytes) {
  void* const memory = allocations_left == 0 ? nullptr : std::malloc(std::max<std::size_t>(bytes, 1));
  if (allocations_left >= 0) --allocations_left;
  if (!memory) throw std::bad_alloc();
  bytes_granted += bytes;
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace fathom::test {
namespace {

/// A crowd comes to one place among leaves from which most sites have left.
TEST(DynamicTrees, LeavesAreNeitherEmptyNorOverfull) {
  constexpr std::int64_t kSites = 40000;
  Random random(9);
  const Array sites = make_points(Spread::uniform, DType::float64, kSites, 3, random);
  points::Tree tree;
  tree.storage = points::Storage::sorted;
  tree.dtype = DType::float64;
  points::cpu::DynamicTree dynamic(tree, 1);
  const Execution silent;
  Monitor unwatched(silent, 1);
  dynamic.add(points::cloud_of(points::Coordinates(sites.view()), 0), unwatched);
  std::vector<std::int64_t> leaving;
  for (std::int64_t i = 0; i < kSites; ++i)
    if (coordinate(sites, i, 0) < 0.6 && chance(random, 0.9)) leaving.push_back(i);
  dynamic.remove(leaving, unwatched);
  Array crowd(DType::float64, {1, 3});
  for (int i = 0; i < 4000; ++i) {
    for (int k = 0; k < 3; ++k) crowd.as<double>().data()[k] = 0.2 + 1e-6 * static_cast<double>(below(random, 1000));
    dynamic.add(points::cloud_of(points::Coordinates(crowd.view()), 0), unwatched);
    const auto [least, most] = std::minmax_element(tree.sizes.begin(), tree.sizes.end());
    ASSERT_GE(*least, 1) << i;
    ASSERT_LE(*most, points::kSortedLeaf) << i;
  }
  EXPECT_EQ(std::accumulate(tree.sizes.begin(), tree.sizes.end(), std::int64_t{0}), dynamic.size());
}

/// What single edits ask for does not grow with the set: nothing that has a part for each site is made anew for each.
TEST(DynamicTrees, SingleEditsAreCheapHoweverManySites) {
  constexpr std::int64_t kSites = 100000;
  constexpr std::size_t kMostForEach = 2000;
  Random random(11);
  const Array sites = make_points(Spread::uniform, DType::float32, kSites, 3, random);
  points::DynamicSet set(AnyConstView(sites.data(), DType::float32, {0, 3}), {.execution = {.threads = 1}});
  const auto row = [&](std::int64_t i) {
    return AnyConstView(sites.data() + static_cast<std::size_t>(i) * 12, DType::float32, {1, 3});
  };
  const std::size_t before = bytes_granted;
  for (std::int64_t i = 0; i < kSites; ++i) set.add(row(i));
  const std::size_t added = bytes_granted;
  EXPECT_LE(added - before, kSites * kMostForEach);
  for (std::int64_t i = 0; i < kSites; i += 10) set.move(std::vector<std::int64_t>{i}, row(kSites - 1 - i));
  for (std::int64_t i = 5; i < kSites; i += 10) set.remove(i);
  EXPECT_LE(bytes_granted - added, kSites / 5 * kMostForEach);
  EXPECT_EQ(set.size(), kSites - kSites / 10);
}

/// Runs an edit of a set of 1000 sites in which allocation number `granted` fails. False: it asks for no more.
template <class Edit>
bool breaks_off(const Array& sites, std::int64_t granted, int& refusing, const Edit& edit) {
  points::DynamicSet set(sites.view(), {.execution = {.backend = Backend::cpu, .threads = 1}});
  allocations_left = granted;
  bool failed = false;
  try {
    edit(set);
  } catch (const std::bad_alloc&) {
    failed = true;
  }
  allocations_left = -1;
  if (!failed) return false;
  try {
    const std::int64_t ids = set.ids();
    EXPECT_EQ(set.size(), ids) << "neither whole nor refused after " << granted;
    EXPECT_EQ(set.add(sites.view()), ids);
    EXPECT_EQ(set.size(), ids + 1000);
  } catch (const Error& error) {
    ++refusing;
    EXPECT_STREQ(error.what(),
                 "an edit of the set failed before it was done, and nobody knows its sites now; build the set anew");
    EXPECT_THROW(set.remove(0), Error);
    EXPECT_THROW(set.add(sites.view()), Error);
  }
  return true;
}

TEST(DynamicTrees, EditsThatRunOutOfMemoryLeaveTheSetWholeOrRefusing) {
  Random random(10);
  const Array sites = make_points(Spread::uniform, DType::float32, 1000, 3, random);
  Array one(DType::float32, {1, 3});
  int refusing = 0;
  std::int64_t many = 0, few = 0;
  while (breaks_off(sites, many, refusing, [&](points::DynamicSet& set) { set.add(sites.view()); })) ++many;
  while (breaks_off(sites, few, refusing, [&](points::DynamicSet& set) {
    for (int i = 0; i < 40; ++i) set.add(one.view());
  }))
    ++few;
  EXPECT_GT(many, 3);
  EXPECT_GT(few, 3);
  EXPECT_GT(refusing, 0);
  EXPECT_LT(refusing, many + few) << "some fail before anything changes";
}

}  // namespace
}  // namespace fathom::test
