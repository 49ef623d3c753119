// Tile graphs: parts are what the whole is, whatever the tiles, memory and threads; documents; nodes of one's own.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>

#include "cases.h"
#include "fathom/core/error.h"
#include "fathom/grid/distance.h"
#include "fathom/stream/document.h"
#include "fathom/stream/evaluator.h"
#include "fathom/stream/nodes.h"
#include "fathom/stream/run.h"
#include "run.h"
#include "stream/graphs.h"

namespace fathom::test {
namespace {

using stream::Child;
using stream::Evaluator;
using stream::EvaluatorOptions;
using stream::Extent;
using stream::NodeRef;

EvaluatorOptions options_of(std::optional<std::size_t> memory, int threads) {
  EvaluatorOptions options;
  options.memory = memory;
  options.execution.threads = threads;
  return options;
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

void expect_equal(const Array& part, const Rectangle& at, const Array& whole, const std::string& where) {
  const std::size_t size = size_of(whole.dtype()), row = static_cast<std::size_t>(at.width()) * size;
  for (std::int64_t y = 0; y < at.height(); ++y)
    ASSERT_EQ(std::memcmp(part.data() + static_cast<std::size_t>(y) * row,
                          whole.data() + static_cast<std::size_t>((at.y0 + y) * whole.shape()[1] + at.x0) * size, row),
              0)
        << where << ", row " << at.y0 + y;
}

/// The least memory that an evaluator takes.
std::size_t least_memory(const NodeRef& node, int threads) {
  std::size_t low = 0, high = Evaluator(node, options_of({}, threads)).plan().bytes();
  while (high - low > std::max<std::size_t>(64, high / 1000)) {
    const std::size_t middle = low + (high - low) / 2;
    const bool works = error_of([&] { Evaluator(node, options_of(middle, threads)); }).empty();
    (works ? high : low) = middle;
  }
  return high;
}

/// Bands in their order, then tiles in any, in much and in little memory.
void expect_same_parts(const NodeRef& node, Random& random, const std::string& what) {
  const Array whole = Evaluator(node, options_of({}, 1)).compute(node->whole());
  for (const auto& [memory, threads] :
       {std::pair{std::optional<std::size_t>(), 3}, std::pair{std::optional(least_memory(node, 2)), 2},
        std::pair{std::optional(least_memory(node, 1)), 1}}) {
    Evaluator evaluator(node, options_of(memory, threads));
    const std::int64_t rows = 1 + below(random, node->height());
    for (std::int64_t y = 0; y < node->height(); y += rows) {
      const Rectangle part = intersection(node->whole(), {y, 0, y + rows, node->width()});
      expect_equal(evaluator.compute(part), part, whole, what + " band");
    }
    for (int k = 0; k < 6; ++k) {
      const std::int64_t y = below(random, node->height()), x = below(random, node->width());
      const Rectangle part{y, x, y + 1 + below(random, node->height() - y), x + 1 + below(random, node->width() - x)};
      expect_equal(evaluator.compute(part), part, whole, what + " tile");
    }
  }
}

TEST(Stream, PartsAreWhatTheWholeIs) {
  for (int seed = 0; seed < scaled(60); ++seed) {
    Random random(static_cast<unsigned>(seed));
    expect_same_parts(Graphs(random).graph(1 + seed % 9), random, "seed " + std::to_string(seed));
    if (HasFatalFailure()) return;
  }
}

Array exact_distance_of(const Array& sites, bool to_zero = false, double size = 1) {
  Array distance(DType::float32, sites.shape());
  grid::DistanceOptions options;
  options.sites.rule = to_zero ? grid::Sites::Rule::zero : grid::Sites::Rule::nonzero;
  options.spacing = {size};
  grid::DistanceOutputs outputs;
  outputs.distance = distance.view();
  grid::distance_transform(sites.view(), options, outputs);
  return distance;
}

TEST(Stream, ExactDistanceIsThatOfTheGrid) {
  Random random(1);
  // Least values of noise that are sites: from all of it to none.
  const std::pair<Shape, double> cases[] = {{{300, 700}, 64000}, {{700, 900}, 65530},  {{70001, 3}, 65535},
                                            {{3, 70001}, 65535}, {{600, 4200}, 70000}, {{1, 1}, 0},
                                            {{520, 65}, 65480}};
  for (const auto& [shape, limit] : cases)
    for (const bool to_zero : {false, true})
      for (const double size : {1.0, 0.3}) {
        const NodeRef noise = stream::noise(5, {shape[0], shape[1], DType::uint16, {size, ""}});
        const NodeRef mask = stream::threshold(noise, limit);
        const Array sites = Evaluator(mask).compute(mask->whole());
        const Array expected = exact_distance_of(sites, to_zero, size);
        const NodeRef far = stream::exact_distance(mask, to_zero);
        Evaluator evaluator(far, options_of({}, 2));
        const std::int64_t rows = 1 + below(random, std::min<std::int64_t>(shape[0], 400));
        for (std::int64_t y = 0; y < shape[0]; y += rows) {
          const Rectangle part = intersection(far->whole(), {y, 0, y + rows, shape[1]});
          expect_equal(evaluator.compute(part), part, expected, to_string(shape));
          if (HasFatalFailure()) return;
        }
      }
}

TEST(Stream, ExactDistanceOfWhatRepeatsItselfNeedsNoDisk) {
  Random random(1);
  stream::LatticeOptions lattice{{11, 40}, {35, -7}, 3000, 1700, {stream::Blend::max}, nullptr, nullptr};
  const NodeRef dots = stream::threshold(stream::noise(5, {37, 53, DType::uint16}), 65000),
                high = stream::threshold(stream::noise(5, {700, 300, DType::uint16}), 65500);
  for (const NodeRef& mask : {stream::repeat(dots, 2001, 1500), stream::repeat(high, 2500, 901),
                              stream::crop(stream::lattice(dots, lattice), {10, 20, 2900, 1600})})
    for (const bool to_zero : {false, true}) {
      const Array sites = Evaluator(mask).compute(mask->whole());
      const Array expected = exact_distance_of(sites, to_zero);
      Evaluator evaluator(stream::exact_distance(mask, to_zero), options_of({}, 2));
      EXPECT_EQ(evaluator.plan().disk_bytes, 0u);
      for (std::int64_t y = 0; y < mask->height(); y += 123) {
        const Rectangle part = intersection(mask->whole(), {y, 0, y + 123, mask->width()});
        expect_equal(evaluator.compute(part), part, expected, "row " + std::to_string(y));
        if (HasFatalFailure()) return;
      }
    }
}

TEST(Stream, SweepsAboveSweepsHoldSomeRows) {
  const auto noise = [](std::int64_t height, std::int64_t width) {
    return stream::threshold(stream::noise(5, {height, width, DType::uint16}), 65500);
  };
  const auto beyond = [](const NodeRef& far) { return stream::threshold(far, 20, true); };
  const NodeRef wide = stream::exact_distance(beyond(stream::exact_distance(noise(20000, 20000))));
  EXPECT_LE(Evaluator(wide, options_of({}, 2)).plan().bytes(), 150'000'000u);
  const NodeRef first = stream::exact_distance(noise(700, 4300)), second = stream::exact_distance(beyond(first));
  for (const NodeRef& mask :
       {beyond(first), beyond(second), beyond(stream::flip(first, true, false)), beyond(stream::rotate(second, 1)),
        stream::repeat(beyond(stream::exact_distance(noise(300, 500))), 700, 1100), noise(900, 20)}) {
    const Array expected = exact_distance_of(Evaluator(mask, options_of({}, 2)).compute(mask->whole()));
    const NodeRef far = stream::exact_distance(mask);
    Evaluator evaluator(far, options_of({}, 2));
    for (std::int64_t y = 0; y < far->height(); y += 190) {
      const Rectangle part = intersection(far->whole(), {y, 0, y + 190, far->width()});
      expect_equal(evaluator.compute(part), part, expected, std::string(mask->type()));
      if (HasFatalFailure()) return;
    }
  }
  Random random(1);
  const NodeRef low = stream::exact_distance(noise(600, 90)), lower = stream::exact_distance(beyond(low));
  expect_same_parts(stream::math("a + b", {{low}, {lower}}, DType::float32), random, "both");
}

TEST(Stream, SweepsWorkWithinCellsAndBelowKeptTiles) {
  Random random(1);
  const NodeRef far = stream::exact_distance(stream::threshold(stream::noise(1, {70, 90, DType::uint8}), 255));
  const NodeRef repeated = stream::repeat(far, 600, 700);
  ASSERT_TRUE(Evaluator(repeated).plan().entries.back().cell);
  expect_same_parts(repeated, random, "repeated");
  const NodeRef high = stream::exact_distance(stream::threshold(stream::noise(1, {900, 90, DType::uint8}), 255));
  const NodeRef kept = stream::math("a + 1", {{high}}, DType::float32);
  expect_same_parts(stream::distance(kept, {5, true}), random, "kept");
}

/// A node of one's own: f of the pixel and of the one `halo` to the right. 1/10 where its child is of one value.
class Slope final : public stream::Node {
 public:
  Slope(const NodeRef& child, std::int64_t halo, const bool& fails)
      : Node({child->height(), child->width(), DType::float32, child->pixel()}, {{child}}),
        halo_(halo),
        fails_(fails) {}
  std::string_view type() const override { return "slope"; }
  void describe(stream::Description& to) const override { to.whole("halo", halo_); }
  Rectangle need(std::size_t, const Rectangle& part) const override {
    return intersection(children()[0].node->whole(), {part.y0, part.x0, part.y1, part.x1 + halo_});
  }
  stream::Size largest_need(std::size_t, stream::Size part) const override {
    return {part.height, std::min(width(), part.width + halo_)};
  }
  bool needs_again(std::size_t) const override { return true; }
  std::optional<double> compute(const Rectangle& part, const AnyView& out, stream::Children& children) const override {
    if (fails_) throw IoError("it fails");
    const Rectangle from = need(0, part);
    const stream::Pixels pixels = children.fetch(*this->children()[0].node, from);
    if (pixels.constant) return 0.1;
    const auto in = pixels.view.as<std::uint8_t>();
    const auto to = out.as<float>();
    for (std::int64_t y = 0; y < part.height(); ++y)
      for (std::int64_t x = 0; x < part.width(); ++x) {
        const std::uint8_t* const at = in.data() + y * in.strides()[0];
        const std::int64_t beside = x + halo_;
        to.data()[y * to.strides()[0] + x] =
            at[x] == (beside < from.width() ? at[beside] : at[x]) ? 0.1F : static_cast<float>(at[x]);
      }
    return std::nullopt;
  }

 private:
  std::int64_t halo_;
  const bool& fails_;
};

TEST(Stream, NodesOfOnesOwn) {
  Random random(1);
  const bool fails = false;
  const NodeRef spots =
      stream::place({stream::noise(1, {50, 60, DType::uint8})}, {{30, 40, 0}, {500, 100, 0}}, 900, 800);
  const NodeRef slope = std::make_shared<Slope>(spots, 5, fails);
  expect_same_parts(slope, random, "slope");
  // 0.1 is no float: what is of one value and what is not must compare alike.
  expect_same_parts(stream::threshold(slope, 0.1), random, "threshold");
  EXPECT_NE(stream::content_hash(*slope), stream::content_hash(*std::make_shared<Slope>(spots, 6, fails)));
}

TEST(Stream, SweepsGoOnAfterAFailure) {
  bool fails = false;
  const NodeRef noise = stream::noise(1, {1000, 300, DType::uint8});
  const NodeRef far = stream::exact_distance(stream::threshold(std::make_shared<Slope>(noise, 1, fails), 255));
  const Array whole = Evaluator(far).compute(far->whole());
  for (const std::int64_t at : {0, 130, 255, 256, 400}) {
    Evaluator evaluator(far, options_of({}, 2));
    if (at > 0) evaluator.compute({0, 0, at, 300});
    fails = true;
    EXPECT_THROW(evaluator.compute({at, 0, 900, 300}), IoError);
    fails = false;
    for (const Rectangle& part :
         {Rectangle{0, 0, 1000, 300}, Rectangle{100, 0, 300, 300}, Rectangle{950, 0, 1000, 300}})
      expect_equal(evaluator.compute(part), part, whole, "after " + std::to_string(at));
  }
}

/// Its child, and how many of its pixels were computed.
class Counted final : public stream::Node {
 public:
  Counted(const NodeRef& of, std::atomic<std::int64_t>& pixels)
      : Node({of->height(), of->width(), of->dtype(), of->pixel()}, {{of}}), pixels_(pixels) {}
  std::string_view type() const override { return "counted"; }
  void describe(stream::Description&) const override {}
  Rectangle need(std::size_t, const Rectangle& part) const override { return part; }
  stream::Size largest_need(std::size_t, stream::Size part) const override { return part; }
  std::optional<stream::Period> period() const override { return children()[0].node->period(); }
  std::optional<double> compute(const Rectangle& part, const AnyView& out, stream::Children& from) const override {
    pixels_ += part.area();
    return from.fetch_into(*children()[0].node, part, out);
  }

 private:
  std::atomic<std::int64_t>& pixels_;
};

TEST(Stream, CellsAreComputedOnceThoughBandsAreSmaller) {
  std::atomic<std::int64_t> pixels{0};
  const NodeRef all = stream::repeat(stream::noise(1, {300, 300, DType::uint8}), 9000, 300);
  Evaluator evaluator(std::make_shared<Counted>(all, pixels), options_of({}, 2));
  const Array whole = Evaluator(all).compute(all->whole());
  for (std::int64_t y = 0; y < 9000; y += 100) {
    const Rectangle band{y, 0, y + 100, 300};
    expect_equal(evaluator.compute(band), band, whole, "row " + std::to_string(y));
  }
  EXPECT_LE(pixels, 2 * 300 * 300);
}

/// Looks, when it gets its first band, how many pixels were computed.
class Late final : public RasterSink {
 public:
  explicit Late(const std::atomic<std::int64_t>& pixels) : pixels_(pixels) {}
  std::int64_t row_step() const override { return 1; }
  void write(const AnyConstView&) override {
    if (computed == 0) computed = pixels_;
  }
  void finish() override {}

  std::int64_t computed = 0;

 private:
  const std::atomic<std::int64_t>& pixels_;
};

TEST(Stream, ASinkWithALeastRateBeginsWithAFullRing) {
  std::atomic<std::int64_t> pixels{0};
  const NodeRef noise = stream::noise(1, {8000, 1000, DType::uint8});
  for (const bool has_rate : {false, true}) {
    EvaluatorOptions options = options_of({}, 1);
    options.bands = 4;
    pixels = 0;
    Evaluator evaluator(std::make_shared<Counted>(noise, pixels), options);
    const stream::Size band = evaluator.plan().band;
    ASSERT_GE(evaluator.plan().bands, 8);
    Late sink(pixels);
    const stream::RunReport report =
        stream::run(evaluator, sink, {.ring = 4, .min_rate = has_rate ? 1.0 : 0, .taken = {}, .pausing = {}});
    EXPECT_GE(sink.computed, has_rate ? 4 * band.area() : 0);
    EXPECT_EQ(report.bytes, 8000 * 1000);
    EXPECT_EQ(report.underruns, 0);
    EXPECT_GT(report.first_seconds, 0);  // a later band may take longer than all of the first four, on a busy machine
    EXPECT_LE(report.first_seconds, report.seconds);
  }
}

TEST(Stream, KeepsTheTilesThatAreNeededFirst) {
  std::atomic<std::int64_t> pixels{0};
  const NodeRef noise = stream::noise(1, {1500, 20000, DType::uint8});
  const NodeRef far = stream::distance(stream::threshold(std::make_shared<Counted>(noise, pixels), 255), {40});
  const stream::Plan plan = Evaluator(far, options_of({}, 1)).plan();
  Evaluator evaluator(far, options_of(plan.bytes() - plan.pool_bytes / 4, 1));
  ASSERT_EQ(evaluator.plan().band.height, plan.band.height);
  for (std::int64_t y = 0; y < far->height(); y += plan.band.height)
    evaluator.compute({y, 0, std::min(far->height(), y + plan.band.height), far->width()});
  EXPECT_LE(static_cast<double>(pixels), 1.3 * 1500 * 20000);
}

// A fault in this one, and in that of hostile documents, takes hours.
TEST(Stream, ManyWaysToANodeCostLittle) {
  NodeRef node = stream::noise(1, {300, 300, DType::uint8});
  for (int k = 0; k < 100; ++k)
    node = stream::math("max(a, b)", {{node}, {node, stream::Role::data, 1, 0}}, DType::uint8);
  EXPECT_GT(Evaluator(node).compute({299, 0, 300, 9}).as<std::uint8_t>().data()[3], 200);
  node = stream::noise(1, {300, 300, DType::uint8});
  for (int k = 0; k < 60; ++k) node = stream::math("max(a, b)", {{node}, {node}}, DType::uint8);
  Evaluator(node, options_of(least_memory(node, 2), 2)).compute(node->whole());
  stream::LatticeOptions steep{{1, 1 << 30}, {1, (1 << 30) - 1}, 100, 100, {}, nullptr, nullptr};
  const NodeRef lattice = stream::lattice(stream::constant(1, {1, 1, DType::uint8}), steep);
  EXPECT_EQ(Evaluator(lattice).compute({50, 50, 51, 51}).as<std::uint8_t>().data()[0], 1);
}

TEST(Stream, LayoutKeepsTheBoundOfADistance) {
  const NodeRef far = stream::distance(stream::constant(0, {9, 9, DType::boolean}), {5});
  const stream::ProfileOptions falling{"100 - d", {}, {}, DType::uint8};
  for (const NodeRef& of :
       {far, stream::repeat(far, 20, 20), stream::crop(far, {1, 1, 5, 5}), stream::flip(far, true, false),
        stream::rotate(far, 1), stream::resample(far, {2, ""}), stream::place({far}, {{0, 0, 0}}, 9, 9),
        stream::mask(far, {stream::constant(1, {9, 9, DType::uint8})})}) {
    const NodeRef profile = stream::profile(of, falling);
    EXPECT_EQ(Evaluator(profile).compute({0, 0, 1, 1}).as<std::uint8_t>().data()[0], 95) << of->type();
  }
  EXPECT_NE(error_of([&] { stream::profile(stream::math("a", {{far}}, DType::float32), falling); }), "");
}

TEST(Stream, WhatIsTransparentIsAValueOfTheType) {
  const NodeRef tenth = stream::constant(0.1, {1, 1, DType::float32}), one = stream::constant(1, {1, 1, DType::uint8});
  const stream::Blending blending{stream::Blend::last, 0.1, 7};
  const Array placed = Evaluator(stream::place({tenth}, {{0, 0, 0}}, 1, 1, blending)).compute({0, 0, 1, 1});
  EXPECT_EQ(placed.as<float>().data()[0], 7);
  EXPECT_EQ(error_of([&] {
              stream::place({one}, {{0, 0, 0}}, 1, 1, blending);
            }),
            "what is transparent is no value of uint8");
}

TEST(Stream, WhereThereIsAMaskItDecidesAlone) {
  const NodeRef zeros = stream::constant(0, {2, 2, DType::uint8});
  const auto pixel = [&](const stream::Blending& blending, const NodeRef& mask) {
    const NodeRef lattice = stream::lattice(zeros, {{0, 2}, {2, 0}, 4, 4, blending, mask, nullptr});
    return Evaluator(lattice).compute({3, 3, 4, 4}).as<std::uint8_t>().data()[0];
  };
  const NodeRef inside = stream::constant(1, {2, 2, DType::boolean}),
                none = stream::constant(0, {2, 2, DType::boolean});
  const stream::Blending usual{.background = 7}, stated{.transparent = 0, .background = 7};
  EXPECT_EQ(pixel(usual, nullptr), 7);
  EXPECT_EQ(pixel(usual, inside), 0);
  EXPECT_EQ(pixel(usual, none), 7);
  EXPECT_EQ(pixel(stated, inside), 7);
}

TEST(Stream, ExtentsMayBeLargerThanTheirProductsAre) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  const NodeRef huge = stream::noise(1, {kMost, kMost, DType::uint8});
  const NodeRef half = stream::repeat(stream::crop(huge, {1, 1, kMost / 4, kMost / 4}), kMost, kMost);
  stream::LatticeOptions lattice{{1 << 30, 3}, {5, 1 << 30}, kMost, kMost, {}, nullptr, nullptr};
  for (const NodeRef& node :
       {half, stream::distance(stream::threshold(half, 250), {15}),
        stream::mask(half, {huge, stream::Role::mask, 7, 7}),
        stream::lattice(stream::noise(2, {900, 800, DType::uint8}), lattice), stream::rotate(half, 1),
        stream::place({half, huge}, {{5, 6, 0}, {kMost, 7, 1}}, kMost, kMost)}) {
    Evaluator evaluator(node, options_of(std::size_t{64} << 40, 2));
    const Rectangle end{kMost - 40, kMost - 30, kMost, kMost};
    EXPECT_FALSE(evaluator.plan().entries.back().cell) << node->type();
    expect_equal(evaluator.compute({kMost - 20, kMost - 30, kMost, kMost}), {20, 0, 40, 30}, evaluator.compute(end),
                 std::string(node->type()));
  }
  // Two pixels that are far apart, of what is computed in one piece.
  EXPECT_NE(error_of([&] { Evaluator(stream::resample(huge, {double{kMost / 2}, ""}), options_of(1 << 30, 2)); }), "");
}

// Large rasters have tables of all combinations, small ones do not.
TEST(Stream, TablesSayWhatTheExpressionSays) {
  for (const DType second : {DType::boolean, DType::uint8}) {
    const NodeRef a = stream::noise(1, {1025, 1024, DType::uint8}), b = stream::noise(2, {1025, 1024, second});
    const Rectangle part{700, 300, 740, 400};
    const NodeRef large = stream::math("a*7 - b/3", {{a}, {b, stream::Role::data, 3, -2}}, DType::uint16),
                  small = stream::math("a*7 - b/3", {{stream::crop(a, part)}, {stream::crop(b, part.moved(-3, 2))}},
                                       DType::uint16);
    ASSERT_GT(large->kept_bytes(), 0u);
    ASSERT_EQ(small->kept_bytes(), 0u);
    expect_equal(Evaluator(large).compute(part), small->whole(), Evaluator(small).compute(small->whole()), "table");
  }
}

TEST(Stream, ThresholdsAreComparedInDouble) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double value : {0.0, 0.1, 3.0, 2.5, 255.0, 255.5, -1.0, 1e300, -1e300, inf, -inf})
    for (const bool above : {false, true})
      for (const char* of : {"0", "0.1", "3", "255", "-1", "1/0", "-1/0", "0/0"})
        for (const DType dtype : {DType::uint8, DType::float32}) {
          const NodeRef steps =
              stream::math(of + std::string(" + 0*a"), {{stream::noise(1, {2, 2, DType::uint8})}}, dtype);
          const float pixel = [&] {
            const Array one = Evaluator(steps).compute({0, 0, 1, 1});
            return dtype == DType::uint8 ? static_cast<float>(one.as<std::uint8_t>().data()[0])
                                         : one.as<float>().data()[0];
          }();
          const bool expected = above ? double{pixel} > value : double{pixel} >= value;
          const Array set = Evaluator(stream::threshold(steps, value, above)).compute({0, 0, 1, 1});
          EXPECT_EQ(set.as<bool>().data()[0], expected) << of << " and " << value << above;
        }
}

TEST(Stream, PixelsMayBeLargerThanTheRaster) {
  const NodeRef slope = stream::formula("10*y + x", {4, 4, DType::uint8});
  for (const double pixel : {9.0, 1e30, 1e100})
    EXPECT_EQ(Evaluator(stream::resample(slope, {pixel, ""})).compute({0, 0, 1, 1}).as<std::uint8_t>().data()[0], 33);
}

TEST(Stream, ProfilesEndAtTheBoundOnBothSides) {
  const NodeRef inside = stream::constant(1, {20, 20, DType::boolean}),
                outside = stream::constant(0, {20, 20, DType::boolean});
  const auto z = [](const NodeRef& mask, const stream::ProfileOptions& options) {
    stream::DistanceOptions bounded{5};
    bounded.signed_distance = true;
    return Evaluator(stream::profile(stream::distance(mask, bounded), options))
        .compute({9, 9, 10, 10})
        .as<std::uint8_t>()
        .data()[0];
  };
  EXPECT_EQ(z(outside, {"100 + 4*d", {}, {}}), 120);
  EXPECT_EQ(z(inside, {"100 + 4*d", {}, {}}), 80);
  EXPECT_EQ(z(inside, {"100 + 4*d", {}, 7}), 80);
  EXPECT_EQ(z(inside, {"", {3, 2, 1}, 7}), 3);
}

/// A document whose root is x.
std::string document(const std::string& nodes) {
  return R"({"fathom": "stream", "version": 1, "root": "x", "nodes": {)" + nodes + "}}";
}
NodeRef read(const std::string& nodes) { return stream::read_document(document(nodes), {}); }
const std::string kOne = R"("c": {"type": "constant", "value": 1, "height": 4, "width": 5})";

TEST(StreamDocuments, AreWhatTheyWereMadeOf) {
  for (int seed = 0; seed < scaled(60); ++seed) {
    Random random(static_cast<unsigned>(seed));
    const NodeRef node = Graphs(random).graph(1 + seed % 9);
    const std::string text = stream::write_document(*node);
    const NodeRef again = stream::read_document(text, {});
    EXPECT_EQ(stream::write_document(*again), text);
    EXPECT_EQ(stream::content_hash(*again), stream::content_hash(*node));
    const Rectangle part = intersection(node->whole(), {node->height() / 2, 0, node->height() / 2 + 3, 99});
    expect_equal(Evaluator(again).compute(part), {0, 0, part.height(), part.width()}, Evaluator(node).compute(part),
                 text);
  }
}

TEST(StreamDocuments, NameTheNodeAndTheField) {
  const std::pair<std::string, std::string> cases[] = {
      {R"("x": {"type": "repeat", "height": 3, "width": 3, "children": ["c", "c"]})",
       "node 'x': 'repeat' takes 1 of the role pattern, not 2"},
      {R"("x": {"type": "repeat", "height": 3, "width": 3, "children": [{"node": "c", "role": "mask"}]})",
       "node 'x': 'repeat' takes 1 of the role pattern, not 0"},
      {R"("x": {"type": "repeat", "height": 3, "width": 3, "children": ["c", {"node": "c", "role": "mask"}]})",
       "node 'x': 'repeat' takes no child of the role mask; the roles that would do: pattern"},
      {R"("x": {"type": "lattice", "u": [0, 1], "v": [1, 0], "height": 3, "width": 3,
                "children": ["c", {"node": "c", "role": "data"}]})",
       "node 'x': 'lattice' takes no child of the role data; the roles that would do: mask, weight and pattern"},
      {R"("x": {"type": "crop", "y": 9223372036854775807, "height": 9223372036854775807, "width": 1,
                "children": ["c"]})",
       "node 'x': a raster of 1152921504606846976 × 1 pixels; height and width must be 1 to 2⁴⁰"},
      {R"("x": {"type": "crop", "y": 3, "height": 2, "width": 1, "children": ["c"]})",
       "node 'x': 'crop' reaches beyond its child of 4 × 5 pixels"},
      {R"("x": {"type": "flip", "children": [{"node": "c", "y": 1}]})",
       "node 'x': a child of 'flip' cannot be moved; 'place' does that"},
      {R"("x": {"type": "math", "expression": "a", "children": [{"node": "c", "y": -9223372036854775808}]})",
       "node 'x': a child is placed beyond 2⁴⁰ pixels"},
      {R"("x": {"type": "lattice", "u": [-9223372036854775808, 1], "v": [1, 0], "height": 3, "width": 3,
                "children": ["c"]})",
       "node 'x': a step of 'lattice' is beyond 2³⁰ pixels"},
      {R"("x": {"type": "lattice", "u": [18446744073709551613, 1], "v": [1, 0], "height": 3, "width": 3,
                "children": ["c"]})",
       "node 'x', field 'u': 18446744073709551613 is beyond 2⁶³"},
      {R"("x": {"type": "repeat", "height": 18446744073709551613, "width": 3, "children": ["c"]})",
       "node 'x', field 'height': 18446744073709551613 is beyond 2⁶³"},
      {R"("x": {"type": "place", "placements": [-9223372036854775808, 0, 0], "height": 3, "width": 3,
                "children": ["c"]})",
       "node 'x': a placement lies beyond 2⁴⁰ pixels"},
      {R"("x": {"type": "lattice", "u": [0, 1], "v": [1, 0], "height": 9, "width": 9, "children": ["wide"]},
          "wide": {"type": "repeat", "height": 2000000, "width": 2000000, "children": ["c"]})",
       "node 'x': the copies of 'lattice' lie too close for a pattern of 2000000 × 2000000 pixels: more than 2²⁰ would "
       "cover one pixel, or more than 2²⁴ begin in different rows"},
      {R"("x": {"type": "place", "placements": [0, -9223372036854775808, 0], "height": 3, "width": 3,
                "children": ["c"]})",
       "node 'x': a placement lies beyond 2⁴⁰ pixels"},
      {R"("x": {"type": "constant", "value": 1, "height": 4, "width": 5, "children": ["c"]})",
       "node 'x': 'constant' takes no child of the role data; it has no children"},
      {R"("x": {"type": "mask", "children": ["c"]})", "node 'x': 'mask' takes 1 of the role mask, not 0"},
      {R"("x": {"type": "flip", "children": ["y"]}, "y": {"type": "flip", "children": ["x"]})",
       "node 'x' is its own descendant, by 'y'"},
      {R"("x": {"type": "flip", "children": ["z"]})", "there is no node 'z'"},
      {R"("x": {"type": "halftone", "matrix": 4, "size": 3, "children": ["c"]})",
       "node 'x', field 'size': a node of type 'halftone' has no such field"},
      {R"("x": {"type": "function", "name": "f", "children": ["c"]})",
       "node 'x', field 'name': there is no function 'f' here"},
  };
  for (const auto& problem : cases)
    EXPECT_EQ(error_of([&] { read(kOne + ", " + problem.first); }), problem.second) << problem.first;
}

TEST(StreamDocuments, HostileOnesAreRefusedAtOnce) {
  EXPECT_EQ(error_of([] { stream::read_document(std::string(1000000, '['), {}); }),
            "the document is nested more than 20 deep, which no graph is");
  std::string chain = R"("n0": {"type": "constant", "value": 1, "height": 4, "width": 5})", wide;
  for (int k = 1; k < 100000; ++k)
    chain += ", \"n" + std::to_string(k) + R"(": {"type": "flip", "children": ["n)" + std::to_string(k - 1) + "\"]}";
  EXPECT_EQ(error_of([&] { read(chain + R"(, "x": {"type": "flip", "children": ["n99999"]})"); }),
            "node 'n1000': the graph is more than 1000 nodes deep");
  for (int k = 0; k < 100000; ++k) wide += k == 0 ? "\"c\"" : ",\"c\"";
  const NodeRef place =
      read(kOne + R"(, "x": {"type": "place", "placements": [0, 0, 99999], "height": 9, "width": 9, "children": [)" +
           wide + "]}");
  EXPECT_EQ(place->children().size(), 100000u);
}

}  // namespace
}  // namespace fathom::test
