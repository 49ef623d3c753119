// Views that are padded or reversed, inputs and outputs, and scratch that is used again: none may change a byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "cases.h"
#include "fathom/core/workspace.h"
#include "run.h"

namespace fathom::test {
namespace {

/// A copy of an array inside a larger poisoned block: outer axes padded, some of them reversed.
class Scattered {
 public:
  Scattered(DType dtype, const Shape& shape, Random& random) : shape_(shape) {
    Shape padded = shape;
    for (int k = 0; k < padded.rank(); ++k) padded[k] += below(random, 4);
    block_ = Array(dtype, padded);
    poison(block_);
    strides_ = dense_strides(padded);
    for (int k = 0; k + 1 < shape.rank(); ++k) {
      if (shape[k] == 0 || !chance(random, 0.5)) continue;
      first_ += (shape[k] - 1) * strides_[k];
      strides_[k] = -strides_[k];
    }
  }

  AnyView view() {
    return {block_.data() + first_ * static_cast<std::int64_t>(size_of(block_.dtype())), block_.dtype(), shape_,
            strides_};
  }

  void fill(const Array& dense) {
    for_each([&](std::byte* here, std::int64_t i) {
      std::memcpy(here, dense.data() + i * size(), static_cast<std::size_t>(size()));
    });
  }

  /// The elements in order; they are poisoned afterwards.
  Array take() {
    Array dense(block_.dtype(), shape_);
    for_each([&](std::byte* here, std::int64_t i) {
      std::memcpy(dense.data() + i * size(), here, static_cast<std::size_t>(size()));
      std::memset(here, 0xa5, static_cast<std::size_t>(size()));
    });
    return dense;
  }

  bool padding_is_untouched() const { return is_poisoned(block_); }

 private:
  std::int64_t size() const { return static_cast<std::int64_t>(size_of(block_.dtype())); }

  template <class Body>
  void for_each(Body body) {
    for (std::int64_t i = 0; i < element_count(shape_); ++i) {
      const Index index = unravel(i, shape_);
      std::int64_t offset = first_;
      for (int k = 0; k < shape_.rank(); ++k) offset += index[static_cast<std::size_t>(k)] * strides_[k];
      body(block_.data() + offset * size(), i);
    }
  }

  Shape shape_;
  Array block_;
  Strides strides_;
  std::int64_t first_ = 0;
};

TEST(Layout, PaddedAndReversedViews) {
  for (int i = 0; i < scaled(400); ++i) {
    const auto seed = 600000 + static_cast<std::uint64_t>(i);
    Case c = i % 4 ? random_case(seed, 3000) : tall_case(seed);
    SCOPED_TRACE(describe(c));
    Random random(c.seed);
    Results dense = run(c.input.view(), c.options, c.wanted);
    Scattered input(c.input.dtype(), c.input.shape(), random);
    input.fill(c.input);
    std::vector<std::pair<const Array*, Scattered>> outputs;
    grid::DistanceOutputs views;
    grid::for_each_output(
        [&](const grid::OutputKind&, const std::optional<Array>& result, AnyView& view) {
          if (!result) return;
          outputs.emplace_back(&*result, Scattered(result->dtype(), result->shape(), random));
          view = outputs.back().second.view();
        },
        dense, views);
    grid::distance_transform(input.view(), c.options, views);
    ASSERT_TRUE(equal(c.input, input.take())) << "the input was written";
    for (auto& [expected, output] : outputs) {
      ASSERT_TRUE(equal(*expected, output.take()));
      ASSERT_TRUE(output.padding_is_untouched());
    }
  }
}

/// What the spacing along an axis of one element is, does not matter: whatever needs equal spacings may be asked for.
TEST(Layout, SpacingsOfAxesOfOneElement) {
  Random random(1900000);
  const std::vector<bool> sites = scatter({40, 50}, 0.02, random);
  const auto bytes = [&](const Shape& shape, const grid::DistanceOptions& options, const Wanted& wanted) {
    const Array input = mask_array(sites, shape);
    const Results results = run(input.view(), options, wanted);
    std::vector<std::byte> all;
    for (const auto* array : {&results.distance, &results.squared, &results.nearest})
      if (*array) all.insert(all.end(), (*array)->data(), (*array)->data() + (*array)->bytes());
    return all;
  };
  for (const bool is_signed : {false, true}) {
    grid::DistanceOptions options{.spacing = {1, 1}, .signed_distance = is_signed};
    Wanted wanted{.distance = DType::float32};
    if (!is_signed) wanted.squared = DType::uint32, wanted.nearest = DType::int32;
    const auto expected = bytes({40, 50}, options, wanted);
    options.spacing = {7, 1, 1};
    EXPECT_EQ(bytes({1, 40, 50}, options, wanted), expected);
    options.spacing = {1, 7, 1};
    EXPECT_EQ(bytes({40, 1, 50}, options, wanted), expected);
    options.spacing = {1, 1, 0.3};
    EXPECT_EQ(bytes({40, 50, 1}, options, wanted), expected);
    options.border = {grid::Border::open, grid::Border::open, grid::Border::sites};
    EXPECT_THROW(bytes({40, 50, 1}, options, wanted), InvalidArgument) << "its ends are sites";
  }
}

TEST(Layout, WorkspaceIsUsedAgain) {
  Workspace workspace;
  for (int i = 0; i < scaled(300); ++i) {
    const auto seed = 700000 + static_cast<std::uint64_t>(i);
    Case c = i % 4 ? random_case(seed, 3000) : tall_case(seed);
    SCOPED_TRACE(describe(c));
    const Results own = run(c.input.view(), c.options, c.wanted);
    // What an earlier call left, at its worst.
    if (workspace.bytes() > 0)
      std::memset(workspace.reserve(workspace.bytes()), i % 2 ? 0xff : 0x5a, workspace.bytes());
    c.options.execution.workspace = &workspace;
    const Results shared = run(c.input.view(), c.options, c.wanted);
    ASSERT_TRUE(equal(own, shared));
    EXPECT_GE(workspace.bytes(), shared.report.scratch_bytes);
  }
}

TEST(Layout, RunsTwiceTheSame) {
  for (int i = 0; i < scaled(100); ++i) {
    const Case c = random_case(800000 + static_cast<std::uint64_t>(i), 3000);
    SCOPED_TRACE(describe(c));
    ASSERT_TRUE(equal(run(c.input.view(), c.options, c.wanted), run(c.input.view(), c.options, c.wanted)));
  }
}

/// Memory that ends where the array ends: under ASan any read or write past a row's end is seen.
TEST(Layout, ExactAllocations) {
  for (int i = 0; i < scaled(100); ++i) {
    const Case c = random_case(900000 + static_cast<std::uint64_t>(i), 500);
    SCOPED_TRACE(describe(c));
    const std::vector<std::byte> input(c.input.data(), c.input.data() + c.input.bytes());
    const Shape shape = grid::result_shape(c.input.shape(), c.options);
    std::vector<float> distance(static_cast<std::size_t>(element_count(shape)));
    grid::DistanceOutputs outputs;
    outputs.distance = HostView<float>(distance.data(), shape);
    grid::distance_transform(AnyConstView(input.data(), c.input.dtype(), c.input.shape()), c.options, outputs);
    const Results dense = run(c.input.view(), c.options, {.distance = DType::float32});
    ASSERT_TRUE(distance.empty() || std::memcmp(distance.data(), dense.distance->data(), dense.distance->bytes()) == 0);
  }
}

}  // namespace
}  // namespace fathom::test
