// Batches on the CPU: each item as it is alone, however the threads share the items.
#include <gtest/gtest.h>

#include <algorithm>

#include "cases.h"
#include "run.h"

namespace fathom::test {
namespace {

/// Items that differ: the case's input, each time shifted by some elements.
Array batch_of(const Case& c, std::int64_t items) {
  Shape shape{items};
  for (const std::int64_t n : c.input.shape()) shape.push_back(n);
  Array batch(c.input.dtype(), shape);
  const std::size_t bytes = c.input.bytes(), size = size_of(c.input.dtype());
  for (std::int64_t item = 0; item < items; ++item)
    for (std::size_t at = 0; at < bytes; ++at)
      batch.data()[static_cast<std::size_t>(item) * bytes + at] =
          c.input.data()[(at + 7 * size * static_cast<std::size_t>(item)) % bytes];
  return batch;
}

void check_batch(Case& c, std::int64_t items) {
  const Array batch = batch_of(c, items);
  std::vector<Results> alone;
  c.options.execution.threads = 1;
  for (std::int64_t item = 0; item < items; ++item) {
    const AnyConstView view(batch.data() + static_cast<std::size_t>(item) * c.input.bytes(), c.input.dtype(),
                            c.input.shape());
    alone.push_back(run(view, c.options, c.wanted));
  }
  c.options.batch_axes = 1;
  for (const int threads : {1, 2, 5}) {
    c.options.execution.threads = threads;
    const Results together = run(batch.view(), c.options, c.wanted);
    for (std::int64_t item = 0; item < items; ++item)
      ASSERT_TRUE(equal_item(together, alone[static_cast<std::size_t>(item)], item)) << threads << " threads";
  }
}

TEST(Batches, ItemsAsAlone) {
  for (int i = 0; i < scaled(150); ++i) {
    const auto seed = 600000 + static_cast<std::uint64_t>(i);
    Case c = i % 4 ? random_case(seed, 800) : tall_case(seed);
    if (c.input.shape().rank() == kMaxRank - 1 || c.input.bytes() == 0) continue;
    SCOPED_TRACE(describe(c));
    check_batch(c, 6);
    if (HasFatalFailure()) return;
  }
}

/// Enough work for the threads to share the items.
TEST(Batches, SharedItemsAsAlone) {
  for (int i = 0; i < scaled(12); ++i) {
    Case c = random_case(700000 + static_cast<std::uint64_t>(i), 30000);
    if (c.input.shape().rank() == kMaxRank - 1 || c.input.bytes() == 0) continue;
    SCOPED_TRACE(describe(c));
    check_batch(c, 200);
    if (HasFatalFailure()) return;
  }
}

TEST(Batches, SharingIsBoundedByTheThreads) {
  grid::DistanceOptions options{.batch_axes = 1};
  Array batch(DType::uint8, {64, 100, 100});
  std::fill_n(batch.data(), batch.bytes(), std::byte{1});
  for (const int threads : {1, 2, 5}) {
    options.execution.threads = threads;
    EXPECT_EQ(run(batch.view(), options, {.distance = DType::float32}).report.threads, threads);
  }
}

/// Shapes are checked, and nothing else happens.
TEST(Batches, WithoutItems) {
  grid::DistanceOptions options{.batch_axes = 1};
  const Array none(DType::uint8, {0, 4, 5});
  EXPECT_NO_THROW(run(none.view(), options, {.distance = DType::float32}));
  options.spacing = {-1};
  EXPECT_THROW(run(none.view(), options, {.distance = DType::float32}), InvalidArgument);
}

}  // namespace
}  // namespace fathom::test
