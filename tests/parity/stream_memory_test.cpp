// What streams take while they run: what the plan says, and nothing more for each band. Rasters of billions of pixels.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "cases.h"
#include "fathom/stream/evaluator.h"
#include "fathom/stream/nodes.h"
#include "fathom/stream/run.h"
#include "held.h"

namespace fathom::test {
namespace {

using stream::NodeRef;

/// Bytes of memory that is not of files.
std::int64_t resident() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (std::int64_t kilobytes = 0; word == "RssAnon:" && status >> kilobytes) return kilobytes * 1024;
  return 0;
}

/// Sums of rows; looks at the memory, and at what was allocated from the fifth band on.
class Sums final : public RasterSink {
 public:
  std::int64_t row_step() const override { return 1; }
  void write(const AnyConstView& rows) override {
    const auto pixels = rows.as<std::uint8_t>();
    for (std::int64_t y = 0; y < rows.shape()[0]; ++y) {
      const std::uint8_t* const row = pixels.data() + y * pixels.strides()[0];
      of_rows.push_back(std::accumulate(row, row + rows.shape()[1], std::int64_t{0}));
    }
    most_resident = std::max(most_resident, resident());
    constexpr int kWarm = 4;
    if (++bands_ == kWarm) allocations = allocations_made.load();
  }
  void finish() override { allocations = allocations_made - allocations; }

  std::vector<std::int64_t> of_rows;
  std::int64_t most_resident = 0, allocations = 0;

 private:
  int bands_ = 0;
};

NodeRef dots(std::int64_t height, std::int64_t width) {
  stream::LatticeOptions lattice{{11, 140}, {135, -7}, height, width, {stream::Blend::max}, nullptr, nullptr};
  return stream::lattice(stream::threshold(stream::noise(5, {137, 153, DType::uint16}), 65000), lattice);
}
NodeRef coat(const NodeRef& distance) { return stream::profile(distance, {"255*exp(-d/5)", {}, {}}); }

TEST(StreamMemory, IsThatOfThePlan) {
  constexpr std::int64_t kHeight = 4000, kWidth = 30000;
  const NodeRef noise = stream::noise(1, {kHeight, kWidth, DType::uint8});
  std::vector<stream::Placement> placements;
  for (std::int64_t k = 0; k < 20000; ++k) placements.push_back({k * 7919 % kHeight, k * 104729 % kWidth, 0});
  const NodeRef graphs[] = {
      coat(stream::distance(dots(kHeight, kWidth), {15})),
      coat(stream::distance(stream::threshold(noise, 255), {40, false, true})),
      coat(stream::exact_distance(stream::threshold(noise, 255))),
      stream::math("(a + b) / 2",
                   {{stream::flip(noise, false, true)}, {stream::resample(stream::resample(noise, {3, ""}), {1, ""})}},
                   DType::uint8),
      stream::place({stream::noise(2, {100, 90, DType::uint8})}, placements, kHeight, kWidth, {stream::Blend::mean})};
  for (const NodeRef& graph : graphs) {
    stream::EvaluatorOptions options;
    options.execution.threads = 2;
    options.bands = 2;
    options.memory = 60'000'000;
    {
      stream::Evaluator warm(graph, options);  // threads come
      warm.compute({0, 0, 1, 1});
    }
    malloc_trim(0);
    const std::int64_t before = resident();
    stream::Evaluator evaluator(graph, options);
    const stream::Plan& plan = evaluator.plan();
    Sums sums;
    stream::run(evaluator, sums);
    EXPECT_LE(static_cast<double>(sums.most_resident - before), 1.05 * static_cast<double>(plan.bytes()) + (1 << 20))
        << graph->children()[0].node->type();
    const auto tiles = (kHeight + 255) / 256 * ((kWidth + 255) / 256);
    EXPECT_LE(sums.allocations, 40 * tiles) << graph->children()[0].node->type();
  }
}

/// 2·10⁹ pixels, or with FATHOM_TEST_SCALE=50 100·10⁹: each row is known from one period.
TEST(StreamMemory, BillionsOfPixels) {
  constexpr std::int64_t kEdge = 20, kWidth = 100 * 18977;  // |u × v|
  const std::int64_t height = 10 * scaled(110);
  const auto within = [](std::int64_t rows, std::int64_t columns) {
    const NodeRef all = coat(stream::distance(dots(rows + 2 * kEdge, columns + 2 * kEdge), {15}));
    return stream::crop(all, {kEdge, kEdge, kEdge + rows, kEdge + columns});
  };
  const NodeRef large = within(height, kWidth), one = within(1, 18977);
  stream::EvaluatorOptions options;
  options.bands = 2;
  stream::Evaluator evaluator(large, options);
  Sums sums;
  stream::run(evaluator, sums);
  const Array row = stream::Evaluator(one).compute(one->whole());
  const auto* const first = row.as<std::uint8_t>().data();
  const std::vector<std::int64_t> expected(static_cast<std::size_t>(height),
                                           100 * std::accumulate(first, first + 18977, std::int64_t{0}));
  EXPECT_EQ(sums.of_rows, expected);
}

}  // namespace
}  // namespace fathom::test
