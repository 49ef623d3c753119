// How a call runs: the forced instruction set, bounded threads and scratch, progress, cancellation.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <regex>
#include <thread>

#include "cases.h"
#include "fathom/core/workspace.h"
#include "run.h"

namespace fathom::test {
namespace {

using grid::DistanceOptions;

/// Problems for each engine and pass.
std::vector<std::pair<Shape, DistanceOptions>> problems() {
  return {{{300, 400}, {}},
          {{60, 70, 80}, {}},
          {{300, 400}, {.border = {grid::Border::periodic}}},
          {{300, 400}, {.sites = {grid::Sites::Rule::labels}}},
          {{300, 400}, {.signed_distance = true}},
          {{60, 70, 80}, {.spacing = {1, 2, 3}}},
          {{60, 70, 80}, {.metric = grid::Metric::taxicab}},
          {{100000}, {}},
          {{12, 13, 14, 15}, {}},
          {{5, 4, 90, 110}, {.batch_axes = 2}},
          {{7, 300, 200}, {.border = {grid::Border::periodic}, .batch_axes = 1}}};
}

Array blobs(const Shape& shape) {
  Random random(3);
  return mask_array(make_sites(Structure::blobs, shape, random), shape);
}

TEST(Execution, ForcedInstructionSetRan) {
  for (const auto& [shape, given] : problems())
    for (InstructionSet set : instruction_sets()) {
      DistanceOptions options = given;
      options.execution.instruction_set = set;
      const Results got = run(blobs(shape).view(), options, {.distance = DType::float32});
      EXPECT_EQ(got.report.instruction_set, set);
      EXPECT_EQ(got.report.backend, Backend::cpu);
    }
}

TEST(Execution, AutomaticTakesTheBest) {
  const Results got = run(blobs({50, 60}).view(), {}, {.distance = DType::float32});
  EXPECT_EQ(got.report.instruction_set, instruction_sets().back());
}

TEST(Execution, ThreadsAreBounded) {
  for (const auto& [shape, given] : problems())
    for (int threads : {1, 2, 3, 0}) {
      DistanceOptions options = given;
      options.execution.threads = threads;
      const Results got = run(blobs(shape).view(), options, {.distance = DType::float32});
      EXPECT_GE(got.report.threads, 1);
      EXPECT_LE(got.report.threads, threads ? threads : available_threads());
    }
}

TEST(Execution, ScratchIsKnownBeforehand) {
  for (const auto& [shape, given] : problems())
    for (int threads : {1, 3}) {
      DistanceOptions options = given;
      options.execution.threads = threads;
      Workspace workspace;
      options.execution.workspace = &workspace;
      const Array input = blobs(shape);
      Results results = make_results(shape, options, {.distance = DType::float32, .nearest = DType::int64});
      const std::size_t bytes = grid::scratch_bytes(input.view(), options, results.views());
      const auto report = grid::distance_transform(input.view(), options, results.views());
      EXPECT_EQ(report.scratch_bytes, bytes) << to_string(shape) << describe(options);
      EXPECT_EQ(workspace.bytes(), bytes);
    }
}

/// The scratch that is named must be enough: memory behind it is guarded by a pattern in the workspace's own block.
TEST(Execution, ScratchLimitIsKept) {
  for (const auto& [shape, given] : problems()) {
    DistanceOptions options = given;
    options.execution.threads = 3;
    SCOPED_TRACE(to_string(shape) + describe(options));
    const Array input = blobs(shape);
    Results results = make_results(shape, options, {.distance = DType::float32});
    const Results free = run(input.view(), options, {.distance = DType::float32});
    options.execution.scratch_limit = 0;
    std::size_t smallest = 0;
    try {
      grid::distance_transform(input.view(), options, results.views());
      FAIL() << "no scratch at all was enough";
    } catch (const InvalidArgument& error) {
      const std::string text = error.what();
      std::smatch match;
      ASSERT_TRUE(std::regex_search(text, match, std::regex("works[^0-9]*([0-9]+)"))) << text;
      smallest = std::stoull(match[1]);
    }
    EXPECT_TRUE(is_poisoned(*results.distance));
    EXPECT_EQ(grid::least_scratch_bytes(input.view(), options, results.views()), smallest);
    options.execution.scratch_limit = smallest - 1;
    EXPECT_THROW(grid::distance_transform(input.view(), options, results.views()), InvalidArgument);
    EXPECT_THROW((void)grid::scratch_bytes(input.view(), options, results.views()), InvalidArgument);
    EXPECT_TRUE(is_poisoned(*results.distance));
    options.execution.scratch_limit = smallest;
    EXPECT_EQ(grid::scratch_bytes(input.view(), options, results.views()), smallest);
    const auto report = grid::distance_transform(input.view(), options, results.views());
    EXPECT_LE(report.scratch_bytes, smallest);
    EXPECT_TRUE(equal(*free.distance, *results.distance));
  }
}

TEST(Execution, PlainScratchIsSmall) {
  for (const Shape& shape : {Shape{4096, 4096}, Shape{256, 256, 256}, Shape{16, 1000, 1000}}) {
    const Array input(DType::uint8, shape);
    Results results = make_results(shape, {}, {.distance = DType::float32});
    const auto needs = [&](int threads) {
      DistanceOptions options;
      options.execution.threads = threads;
      return static_cast<double>(grid::scratch_bytes(input.view(), options, results.views()));
    };
    const double per_thread = needs(2) - needs(1);
    EXPECT_LE((needs(1) - per_thread) / static_cast<double>(input.size()), 0.7) << to_string(shape);
  }
}

std::size_t bytes_of(const Results& results) {
  std::size_t bytes = 0;
  grid::for_each_output(
      [&](const grid::OutputKind&, const std::optional<Array>& array) { bytes += array ? array->bytes() : 0; },
      results);
  return bytes;
}

/// A long axis with little behind it takes copies of input and outputs at most, and of its own no more than if it were
/// the last; with nothing behind it, nothing more at all.
TEST(Execution, TallArraysTakeTheScratchOfRows) {
  constexpr std::int64_t n = 200'000;
  const std::vector<std::pair<DistanceOptions, Wanted>> calls = {
      {{}, {.distance = DType::float32}},
      {{}, {.squared = DType::uint64}},
      {{}, {.nearest = DType::int64}},
      {{}, {.distance = DType::float32, .coordinates = DType::int32}},
      {{.spacing = {0.37}}, {.distance = DType::float32}},
      {{.border = {grid::Border::periodic}}, {.distance = DType::float32}},
      {{.metric = grid::Metric::chessboard}, {.nearest = DType::int32}},
      {{.metric = grid::Metric::taxicab, .max_distance = 5}, {.nearest = DType::int32}},
      {{.signed_distance = true}, {.distance = DType::float64}},
      {{.sites = {grid::Sites::Rule::labels}}, {.distance = DType::float32, .nearest = DType::int64}}};
  for (DType input : {DType::boolean, DType::float32})
    for (const auto& [given, wanted] : calls)
      for (int threads : {1, 64}) {
        DistanceOptions options = given;
        options.execution.threads = threads;
        const auto needs = [&,
                            &wanted = wanted](const Shape& shape) {  // clang 14 takes no structured binding by itself
          return static_cast<double>(
              grid::scratch_bytes(Array(input, shape).view(), options, make_results(shape, options, wanted).views()));
        };
        SCOPED_TRACE(describe(options));
        for (const Shape& tall : {Shape{n, 1}, Shape{1, n, 1}, Shape{n, 1, 1, 1, 1}})
          EXPECT_EQ(needs(tall), needs({n}));
        for (const auto& [tall, rows] : {std::pair<Shape, Shape>{{n, 2}, {2, n}},
                                         {{n, 5}, {5, n}},
                                         {{2, n, 3}, {2, 3, n}},
                                         {{1, n, 1, 16}, {16, n}}}) {
          const double copies = static_cast<double>(element_count(tall)) * static_cast<double>(size_of(input)) +
                                static_cast<double>(bytes_of(make_results(tall, options, wanted)));
          EXPECT_LE(needs(tall), needs(rows) + copies + 1024) << to_string(tall);
          EXPECT_LE(needs(rows), 2 * copies) << to_string(rows);
        }
      }
}

/// Signed fields take the fast engine where its four bytes for each element may be had, and the same bytes come out.
TEST(Execution, SignedFieldsAreFastWhereScratchAllows) {
  const Shape shape{800, 700};
  Array input(DType::uint8, shape);
  for (std::int64_t i = 0; i < element_count(shape); ++i)
    input.data()[i] = static_cast<std::byte>((i / 7 % 13) * (i / 1111 % 3) < 5);
  for (const grid::Sites::Rule rule : {grid::Sites::Rule::zero, grid::Sites::Rule::less})
    for (const grid::Border border : {grid::Border::open, grid::Border::sites}) {
      DistanceOptions options{.sites = {rule, 1}, .spacing = {0.7}, .border = {border}, .signed_distance = true};
      options.execution.backend = Backend::cpu;
      Array fast(DType::float32, shape), lean(DType::float32, shape);
      EXPECT_EQ(grid::distance_transform(input.view(), options, {.distance = fast.view()}).engine, "plain");
      const std::size_t least = grid::least_scratch_bytes(input.view(), options, {.distance = lean.view()});
      EXPECT_LT(least, grid::scratch_bytes(input.view(), options, {.distance = lean.view()}));
      options.execution.scratch_limit = least;
      EXPECT_EQ(grid::distance_transform(input.view(), options, {.distance = lean.view()}).engine, "general");
      EXPECT_TRUE(equal(fast, lean)) << describe(options);
    }
}

/// Of the processors, for all threads: other programs do not count.
double seconds_since(std::clock_t begin) { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; }

/// What an element takes where one label is all over but for an element of zero.
double seconds_per_element(const Shape& shape, std::int64_t zero) {
  Array input(DType::uint8, shape);
  std::fill_n(input.as<std::uint8_t>().data(), input.size(), std::uint8_t{1});
  input.as<std::uint8_t>().data()[zero] = 0;
  const std::clock_t begin = std::clock();
  const Results got = run(input.view(), {.sites = {grid::Sites::Rule::labels}}, {.distance = DType::float32});
  const double seconds = seconds_since(begin);
  EXPECT_EQ(got.distance->as<float>().data()[zero], 0);
  return seconds / static_cast<double>(element_count(shape));
}

/// Lines that find other sites than their neighbours, or none, once took the square of the axis' length: minutes here,
/// and an element hundreds of times what it takes on short axes.
TEST(Execution, LabelsOfLongAxesTakeLinearTime) {
  const double of_short_axes = seconds_per_element({1 << 10, 1 << 10}, 0);
  for (const Shape& shape :
       {Shape{1 << 19, 1}, Shape{1, 1 << 19}, Shape{1 << 18, 3}, Shape{2, 1 << 18, 1}, Shape{1 << 18, 40}})
    for (std::int64_t zero : {std::int64_t{0}, element_count(shape) / 2})
      EXPECT_LT(seconds_per_element(shape, zero), 10 * of_short_axes) << to_string(shape);
}

TEST(Execution, ProgressRisesToOne) {
  for (const auto& [shape, given] : problems())
    for (int threads : {1, 3}) {
      DistanceOptions options = given;
      options.execution.threads = threads;
      std::vector<double> seen;
      std::atomic<int> inside{0};
      options.execution.progress = [&](double share) {
        EXPECT_EQ(++inside, 1) << "two threads report at once";
        seen.push_back(share);
        --inside;
      };
      run(blobs(shape).view(), options, {.distance = DType::float32});
      SCOPED_TRACE(to_string(shape) + describe(options));
      ASSERT_FALSE(seen.empty());
      EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
      EXPECT_GE(seen.front(), 0);
      EXPECT_EQ(seen.back(), 1);
    }
}

TEST(Execution, ProgressIsSeenOnTheWay) {
  DistanceOptions options;
  options.execution.threads = 1;
  int calls = 0;
  options.execution.progress = [&](double) { ++calls; };
  run(blobs({2000, 2000}).view(), options, {.distance = DType::float32});
  EXPECT_GT(calls, 5);
}

TEST(Execution, CancelledBeforeItStarts) {
  for (const auto& [shape, given] : problems()) {
    DistanceOptions options = given;
    std::stop_source source;
    source.request_stop();
    options.execution.stop = source.get_token();
    const Array input = blobs(shape);
    Results results = make_results(shape, options, {.distance = DType::float32});
    EXPECT_THROW(grid::distance_transform(input.view(), options, results.views()), Cancelled);
    EXPECT_TRUE(is_poisoned(*results.distance));
  }
}

TEST(Execution, CancelledOnTheWay) {
  for (int threads : {1, 3})
    for (const auto& [shape, given] : problems()) {
      DistanceOptions options = given;
      options.execution.threads = threads;
      std::stop_source source;
      options.execution.stop = source.get_token();
      bool on_the_way = false;
      options.execution.progress = [&](double share) {
        on_the_way |= share < 0.5;
        source.request_stop();
      };
      const Array input = blobs(shape);
      Results results = make_results(shape, options, {.distance = DType::float32});
      SCOPED_TRACE(to_string(shape) + describe(options));
      try {
        grid::distance_transform(input.view(), options, results.views());
        EXPECT_FALSE(on_the_way) << "half was to be done, and it went on to the end";
      } catch (const Cancelled&) {
      }
      // The next call is not harmed.
      options.execution = {};
      const Results after = run(input.view(), options, {.distance = DType::float32});
      EXPECT_FALSE(is_poisoned(*after.distance));
    }
}

/// Behind the passes: where borders of sites are added, and where results are copied to where they belong.
TEST(Execution, CancelledBehindTheLastPass) {
  const std::vector<std::pair<Shape, DistanceOptions>> calls = {{{300, 400}, {.border = {grid::Border::sites}}},
                                                                {{30, 40, 50}, {.border = {grid::Border::sites}}},
                                                                {{5000, 2}, {}},
                                                                {{5000, 2}, {.signed_distance = true}}};
  for (const auto& [shape, given] : calls) {
    DistanceOptions options = given;
    std::stop_source source;
    options.execution.stop = source.get_token();
    options.execution.progress = [&](double share) {
      if (share == 1) source.request_stop();
    };
    EXPECT_THROW(run(blobs(shape).view(), options, {.distance = DType::float32}), Cancelled) << to_string(shape);
  }
}

/// A single row is no reason to wait for its end.
TEST(Execution, CancelledWithinARow) {
  const Shape shape{1 << 27};
  Array input(DType::uint8, shape);
  std::memset(input.data(), 1, input.bytes());
  Results results = make_results(shape, {}, {.distance = DType::float32});
  std::stop_source source;
  DistanceOptions options;
  options.execution = {.threads = 1, .stop = source.get_token()};
  std::clock_t asked = 0;
  std::jthread timer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    asked = std::clock();
    source.request_stop();
  });
  EXPECT_THROW(grid::distance_transform(input.view(), options, results.views()), Cancelled);
  timer.join();
  EXPECT_LT(seconds_since(asked), 0.3);
}

TEST(Execution, ErrorsOfTheCallbackReachTheCaller) {
  DistanceOptions options;
  options.execution.threads = 2;
  options.execution.progress = [](double) { throw std::runtime_error("the caller's own"); };
  EXPECT_THROW(run(blobs({500, 500}).view(), options, {.distance = DType::float32}), std::runtime_error);
}

TEST(Execution, ThreadsCanBeReleased) {
  const Array input = blobs({500, 500});
  const Results before = run(input.view(), {.execution = {.threads = 2}}, {.distance = DType::float32});
  release_threads();
  const Results after = run(input.view(), {.execution = {.threads = 2}}, {.distance = DType::float32});
  EXPECT_TRUE(equal(before, after));
}

}  // namespace
}  // namespace fathom::test
