// What sets in the host's memory allocate while they answer: what they say, and never more than the limit.
#include <gtest/gtest.h>

#include "cases.h"
#include "held.h"
#include "fathom/points/voxel_set.h"
#include "points/problem.h"

namespace fathom::test {
namespace {

using points::QueryOptions;
using points::SiteSet;
using points::VoxelSet;

constexpr std::int64_t kQueries = 100000;
constexpr std::int64_t kSmall = 3 * 8192 + 4096;  ///< counts of digits for each thread of a sort; lists of tasks

/// @return bytes that a call held at most beyond what was held before, and what it said
template <class Set>
std::pair<std::int64_t, std::int64_t> held_by_call(const Set& set, const Array& queries, const QueryOptions& options) {
  Array site(DType::int64, {kQueries});
  points::QueryOutputs outputs;
  outputs.site = site.view();
  const std::int64_t before = most_held = bytes_held.load();
  const auto report = set.nearest(queries.view(), options, outputs);
  return {most_held - before, static_cast<std::int64_t>(report.scratch_bytes)};
}

template <class Set>
void expect_within_limits(const Set& set, const Array& queries) {
  QueryOptions options;
  options.execution.threads = 3;
  held_by_call(set, queries, options);  // threads come
  const auto [most, told] = held_by_call(set, queries, options);
  EXPECT_GT(told, 0);
  EXPECT_GE(most, told);
  EXPECT_LE(most, told + kSmall);
  for (const std::int64_t limit : {100, 10000, 1000000}) {
    options.execution.scratch_limit = static_cast<std::size_t>(limit);
    const auto [taken, said] = held_by_call(set, queries, options);
    EXPECT_LE(said, limit);
    EXPECT_LE(taken, limit + kSmall) << limit;
  }
}

TEST(ScratchOfQueries, StaysWithinTheLimit) {
  Random random(41);
  const Array sites = make_points(Spread::uniform, DType::float32, 20000, 3, random);
  const Array queries = make_points(Spread::uniform, DType::float32, kQueries, 3, random);
  expect_within_limits(SiteSet(sites.view()), queries);
  VoxelSet voxels({40, 50, 60});
  for (std::int64_t element = 7; element < 120000; element += 997) voxels.add(element);
  expect_within_limits(voxels, queries);
}

}  // namespace
}  // namespace fathom::test
