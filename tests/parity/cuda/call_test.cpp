// Random problems, shapes as most people have them, batches, budgets, threads and limits: the bytes of the CPU, and
// of brute force.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "cuda_case.h"
#include "fathom/core/device.h"
#include "oracle.h"

namespace fathom::test {
namespace {

void check_random(std::uint64_t first_seed, int count, std::int64_t most_elements, bool oracle) {
  std::uint64_t first = first_seed;
  int cases = scaled(count);
  if (const auto seed = seed_to_replay()) first = *seed, cases = 1;
  for (int i = 0; i < cases; ++i) {
    const Case c = random_case(first + static_cast<std::uint64_t>(i), most_elements);
    check_against_cpu(c);
    if (oracle) {
      SCOPED_TRACE(describe(c));
      ASSERT_TRUE(matches(Oracle(c.input.view(), c.options), run_on(Backend::cuda, c)));
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST_F(Cuda, ReportsSayWhichEngineServed) {
  const auto engine_of = [](const Shape& shape, grid::Metric metric) {
    Random random(7);
    Case c{.structure = Structure::sparse};
    c.input = mask_array(scatter(shape, 0.1, random), shape);
    c.wanted = {.distance = DType::float32};
    c.options.metric = metric;
    return run_on(Backend::cuda, c).report.engine;
  };
  using grid::Metric;
  EXPECT_EQ(engine_of({60, 70}, Metric::euclidean), "small");
  EXPECT_EQ(engine_of({60, 300}, Metric::euclidean), "plane");
  EXPECT_EQ(engine_of({20, 30, 40}, Metric::euclidean), "volume");
  EXPECT_EQ(engine_of({60, 300}, Metric::taxicab), "general");
  EXPECT_EQ(engine_of({0, 300}, Metric::euclidean), "");
}

TEST_F(Cuda, TinyProblems) { check_random(1, 3000, 40, true); }
TEST_F(Cuda, SmallProblems) { check_random(100000, 2500, 300, true); }
TEST_F(Cuda, MediumProblems) { check_random(200000, 500, 1500, true); }
TEST_F(Cuda, LargeProblems) { check_random(600000, 400, 200000, false); }

/// Masks as most people have them, in shapes that no tile fits.
TEST_F(Cuda, PlainShapes) {
  std::uint64_t seed = 700000;
  OneOf some(3);
  for (const Shape& shape :
       {Shape{1000, 1777},   Shape{3, 40000},     Shape{40000, 3},     Shape{1, 5000},      Shape{5000, 1},
        Shape{1024, 1024},   Shape{31, 33},       Shape{32, 32},       Shape{33, 511},      Shape{64, 513},
        Shape{65, 1025},     Shape{997, 1009},    Shape{2048, 96},     Shape{1999, 2222},   Shape{2, 2},
        Shape{1, 1},         Shape{61, 53, 47},   Shape{32, 64, 96},   Shape{33, 65, 129},  Shape{128, 128, 128},
        Shape{7, 300, 301},  Shape{300, 7, 301},  Shape{301, 300, 7},  Shape{100, 1, 2000}, Shape{1, 700, 700},
        Shape{1100, 40, 40}, Shape{40, 1100, 40}, Shape{40, 40, 1100}, Shape{1024, 40, 33}, Shape{40, 1024, 33},
        Shape{33, 40, 1024},  // the longest axes of the engine for volumes
        Shape{641, 9, 70},   Shape{1023, 31, 5},  Shape{1025, 9, 33}}) {
    if (!size_limit.takes(shape)) continue;
    for (int s = 0; s < kStructures; ++s)
      for (bool sparse : {false, true}) {
        Random random(++seed);
        if (!some.is_next()) continue;
        Case c{.seed = seed, .structure = static_cast<Structure>(s)};
        auto sites = make_sites(c.structure, shape, random);
        if (sparse) sites = scatter(shape, pick<double>(random, {0.5, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4}), random);
        c.input = mask_array(sites, shape, pick<DType>(random, {DType::uint8, DType::boolean, DType::float32}),
                             chance(random, 0.5));
        c.options.sites.rule = chance(random, 0.5) ? grid::Sites::Rule::zero : grid::Sites::Rule::nonzero;
        c.wanted.distance = chance(random, 0.8) ? DType::float32 : DType::float64;
        if (chance(random, 0.3)) c.wanted.squared = DType::uint32;
        if (chance(random, 0.1)) c.options.border = {grid::Border::sites};
        if (chance(random, 0.1)) c.options.max_distance = 10;
        if (chance(random, 0.1)) c.wanted.squared.reset(), c.options.spacing = {0.3};
        if (chance(random, 0.3)) c.wanted.nearest = pick<DType>(random, {DType::int32, DType::int64});
        if (chance(random, 0.1)) c.wanted.coordinates = DType::int32;
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
  }
}

TEST_F(Cuda, LongLines) {
  for (const Shape& shape : {Shape{70001}, Shape{2, 70001}, Shape{70001, 2}, Shape{65536, 2}, Shape{46342, 1},
                             Shape{3, 70001, 2}, Shape{1000003}}) {
    Random random(static_cast<std::uint64_t>(shape[0]));
    for (double share : {0.0, 1e-5, 1e-3, 0.3}) {
      Case c{.structure = Structure::sparse};
      c.input = mask_array(scatter(shape, share, random), shape);
      c.wanted = {.distance = DType::float32, .squared = DType::uint64, .nearest = DType::int64};
      check_against_cpu(c);
      c.options.border = {grid::Border::sites};
      c.wanted = {.distance = DType::float64};
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
  }
}

/// Each item of a batch as it is alone.
TEST_F(Cuda, Batches) {
  for (int i = 0; i < scaled(300); ++i) {
    Random random(800000 + static_cast<std::uint64_t>(i));
    Case c = random_case(800000 + static_cast<std::uint64_t>(i), i % 10 == 0 ? 20000 : 500);
    if (c.input.shape().rank() > 7) continue;
    SCOPED_TRACE(describe(c));
    const std::int64_t count = below(random, 5);
    Shape shape{count};
    for (std::int64_t n : c.input.shape()) shape.push_back(n);
    Array batch(c.input.dtype(), shape);
    for (std::int64_t b = 0; b < count; ++b)
      for (std::size_t k = 0, n = c.input.bytes(); k < n; ++k)  // each item another rotation of the case's bytes
        batch.data()[static_cast<std::size_t>(b) * n + k] =
            c.input.data()[(k + static_cast<std::size_t>(b) * size_of(c.input.dtype()) * 5) % n];
    grid::DistanceOptions options = c.options;
    options.batch_axes = 1;
    options.execution.backend = Backend::cuda;
    const Results device = run(batch.view(), options, c.wanted);
    options.execution.backend = Backend::cpu;
    ASSERT_TRUE(equal(run(batch.view(), options, c.wanted), device));
    options.batch_axes = 0;
    for (std::int64_t b = 0; b < count; ++b) {
      const AnyConstView item(batch.data() + static_cast<std::size_t>(b) * c.input.bytes(), c.input.dtype(),
                              c.input.shape());
      ASSERT_TRUE(equal_item(device, run(item, options, c.wanted), b)) << "item " << b;
    }
  }
}

/// More images of one band than a launch has rows for.
TEST_F(Cuda, LargeBatches) {
  Random random(1);
  OneOf some(2);
  Case c{.structure = Structure::sparse};
  for (const Shape& shape : {Shape{33000, 3, 5}, Shape{66000, 9}}) {
    if (!some.is_next()) continue;
    c.input = mask_array(scatter(shape, 0.05, random), shape);
    c.options = {.batch_axes = 1};
    c.wanted = {.distance = DType::float32};
    if (shape.rank() == 3) {
      c.options.spacing = {2, 1};
    } else {
      c.options.sites.rule = grid::Sites::Rule::labels;
      c.wanted.nearest = DType::int32;
    }
    check_against_cpu(c);
  }
}

TEST_F(Cuda, SeveralThreads) {
  std::vector<Case> cases;
  std::vector<Results> expected, results(20);
  for (std::size_t i = 0; i < results.size(); ++i) {
    cases.push_back(random_case(900000 + i, 20000));
    expected.push_back(run_on(Backend::cpu, cases.back()));
  }
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < results.size(); ++i)
    threads.emplace_back([&, i] {
      for (int again = 0; again < 3; ++again) results[i] = run_on(Backend::cuda, cases[i]);
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < results.size(); ++i) EXPECT_TRUE(equal(expected[i], results[i])) << describe(cases[i]);
}

TEST_F(Cuda, SmallBudgets) {
  for (int i = 0; i < scaled(600); ++i) {
    Case c = random_case(1200000 + static_cast<std::uint64_t>(i), 5000);
    check_budgets(c);
    if (HasFatalFailure()) return;
  }
}

/// Many pieces of what the fast engines serve, and of a batch.
TEST_F(Cuda, SmallBudgetsOfPlainShapes) {
  Random random(1300000);
  for (const Shape& shape : {Shape{300, 700}, Shape{1001, 333}, Shape{70, 80, 333}, Shape{100, 33, 160}, Shape{20000}})
    for (double share : {0.0, 1e-4, 0.003, 0.3}) {
      Case c{.structure = Structure::sparse};
      c.input = mask_array(scatter(shape, share, random), shape, pick<DType>(random, {DType::uint8, DType::float64}));
      c.wanted.distance = DType::float32;
      check_budgets(c);
      c.options.border = {grid::Border::sites};
      c.options.max_distance = 30;
      c.wanted.squared = DType::uint32;
      check_budgets(c);
      if (shape.rank() > 1) {
        c.options = {.batch_axes = 1};
        check_budgets(c);
      }
      c.options = {.sites = {grid::Sites::Rule::labels}};
      c.wanted = {.distance = DType::float32, .nearest = DType::int32, .coordinates = DType::int32};
      check_budgets(c);
      if (HasFatalFailure()) return;
    }
}

/// Signed volumes whose words are turned to the other side more than once: for each part of the results, and where all
/// columns of a large one are not solved together.
TEST_F(Cuda, SignedVolumesInParts) {
  Random random(1310000);
  for (const Shape& shape : {Shape{20, 33, 40}, Shape{70, 41, 333}, Shape{33, 70, 160}, Shape{203, 205, 230}})
    for (const double share : {0.0, 1e-4, 0.3, 1.0}) {
      if (!size_limit.takes(shape)) continue;
      Case c{.structure = Structure::sparse};
      c.input = mask_array(scatter(shape, share, random), shape);
      c.wanted.distance = DType::float32;
      c.options.signed_distance = true;
      c.options.surface = pick<grid::Surface>(random, {grid::Surface::faces, grid::Surface::centers});
      check_budgets(c);
      if (HasFatalFailure()) return;
    }
}

/// Borders and limits of signed fields, also where roots are just kept and just dropped.
TEST_F(Cuda, LimitsOfSigns) {
  using Rule = grid::Sites::Rule;
  std::uint64_t seed = 1800000;
  for (const Shape& shape : {Shape{300, 700}, Shape{70, 1030}, Shape{5000}, Shape{61, 53, 47}, Shape{33, 65, 130}})
    for (int i = 0; i < scaled(24); ++i) {
      Random random(++seed);
      Case c{.seed = seed, .structure = static_cast<Structure>(below(random, kStructures))};
      c.input = mask_array(make_sites(c.structure, shape, random), shape);
      c.options.sites = {pick<Rule>(random, {Rule::zero, Rule::nonzero, Rule::greater_equal}), 1};
      c.options.signed_distance = true;
      c.options.surface = chance(random, 0.7) ? grid::Surface::faces : grid::Surface::centers;
      for (int k = 0; k < shape.rank(); ++k)
        c.options.border.push_back(pick<grid::Border>(random, {grid::Border::open, grid::Border::sites}));
      if (chance(random, 0.7))
        c.options.max_distance =
            pick<double>(random, {0, 1, 2.5, std::sqrt(5.0), std::nextafter(7.0, 0.0), 7, 30, 3000});
      c.wanted.distance = DType::float32;
      check_budgets(c);
      if (HasFatalFailure()) return;
    }
}

/// Every comparison of elements of every type, with values at the ends of the types and between their elements.
TEST_F(Cuda, Comparisons) {
  using Rule = grid::Sites::Rule;
  const double infinity = std::numeric_limits<double>::infinity();
  const std::int64_t two53 = std::int64_t{1} << 53;
  const grid::Sites::Value values[] = {0,         2.5,       0.1,        -1,      127,    255,  two53 + 1, -two53 - 1,
                                       INT64_MIN, INT64_MAX, UINT64_MAX, -0x1p63, 0x1p64, 1e30, -1e30,     infinity,
                                       -infinity, std::nan("")};
  Random random(1900000);
  for (const DType dtype : {DType::boolean, DType::int8, DType::uint8, DType::int16, DType::uint16, DType::int32,
                            DType::uint32, DType::int64, DType::uint64, DType::float32, DType::float64})
    for (const Rule rule :
         {Rule::greater_equal, Rule::greater, Rule::less_equal, Rule::less, Rule::equal, Rule::not_equal})
      for (const grid::Sites::Value& value : values) {
        if (value.is_nan() && rule != Rule::equal && rule != Rule::not_equal) continue;
        Case c{.seed = 1900000};
        c.input = Array(dtype, {3, 67});
        for (std::int64_t i = 0; i < c.input.size(); ++i) {
          const auto& near = values[static_cast<std::size_t>(below(random, std::ssize(values)))];
          store(c.input, i, near.real() + pick<double>(random, {-1, 0, 1}));
        }
        if (dtype == DType::int64 || dtype == DType::uint64) {  // what no double holds
          auto* whole = reinterpret_cast<std::int64_t*>(c.input.data());
          for (const std::int64_t here : {two53 + 1, two53, -two53 - 1, INT64_MAX, INT64_MIN, std::int64_t{-1}})
            *whole++ = here;
        }
        c.options.sites = {rule, value};
        c.wanted = {.distance = DType::float32, .nearest = DType::int32};
        check_against_cpu(c);
        if (HasFatalFailure()) return;
      }
}

/// What a process finds that was forked from this one, in which the device is in use.
std::string found_in_a_fork(Backend backend) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    std::string found = "no error";
    try {
      const Array input(DType::uint8, {30, 40});
      grid::DistanceOptions options;
      options.execution.backend = backend;
      run(input.view(), options, {.distance = DType::float32});
    } catch (const DeviceError& error) {
      found = error.what();
    }
    release_device_memory();
    _exit(write(ends[1], found.data(), found.size()) == static_cast<ssize_t>(found.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string found;
  for (char c = 0; read(ends[0], &c, 1) == 1;) found += c;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return found;
}

TEST_F(Cuda, ForkedProcessesHaveTheCpuAlone) {
  ASSERT_GT(device_count(), 0);
  EXPECT_EQ(found_in_a_fork(Backend::cuda),
            "CUDA was in use before this process was forked, and cannot be used after it; start processes that use a "
            "device afresh: in Python with multiprocessing's start method spawn");
  EXPECT_EQ(found_in_a_fork(Backend::cpu), "no error");
  EXPECT_EQ(found_in_a_fork(Backend::automatic), "no error");
}

}  // namespace
}  // namespace fathom::test
