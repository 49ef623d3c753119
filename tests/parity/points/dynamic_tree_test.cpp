// How full the leaves of a tree are whose sites come and go.
#include "points/cpu/dynamic_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "cases.h"
#include "points/problem.h"

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
  dynamic.add(points::cloud_of(points::Coordinates(sites.view()), 0));
  std::vector<std::int64_t> leaving;
  for (std::int64_t i = 0; i < kSites; ++i)
    if (coordinate(sites, i, 0) < 0.6 && chance(random, 0.9)) leaving.push_back(i);
  dynamic.remove(leaving);
  Array crowd(DType::float64, {1, 3});
  for (int i = 0; i < 4000; ++i) {
    for (int k = 0; k < 3; ++k) crowd.as<double>().data()[k] = 0.2 + 1e-6 * static_cast<double>(below(random, 1000));
    dynamic.add(points::cloud_of(points::Coordinates(crowd.view()), 0));
    const auto [least, most] = std::minmax_element(tree.sizes.begin(), tree.sizes.end());
    ASSERT_GE(*least, 1) << i;
    ASSERT_LE(*most, points::kSortedLeaf) << i;
  }
  EXPECT_EQ(std::accumulate(tree.sizes.begin(), tree.sizes.end(), std::int64_t{0}), dynamic.size());
}

}  // namespace
}  // namespace fathom::test
