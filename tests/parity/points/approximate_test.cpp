// What approximate answers promise, on a million random queries each. Built once for the CPU and once for devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "cases.h"
#include "fathom/core/device.h"
#include "points/problem.h"
#include "run.h"

namespace fathom::test {
namespace {

constexpr std::int64_t kQueries = 100000;
constexpr Backend kBackend = Backend::FATHOM_TEST_BACKEND;

class ApproximateQueries : public testing::Test {
 protected:
  void SetUp() override {
    if (kBackend == Backend::cuda && device_count() == 0) GTEST_SKIP() << "no CUDA device, or a build without CUDA";
  }
};
using Perforation = ApproximateQueries;
using points::Metric;

points::SiteSetOptions stored(points::Storage storage) {
  points::SiteSetOptions options;
  options.storage = storage;
  options.execution.backend = kBackend;
  return options;
}

struct Answer {
  Array distance{DType::float64, {kQueries}}, lower{DType::float64, {kQueries}};
  Array site{DType::int64, {kQueries}};
};

Answer ask(const points::SiteSet& set, const Array& queries, const points::QueryOptions& options) {
  Answer answer;
  set.nearest(queries.view(), options, {answer.distance.view(), {}, answer.site.view(), answer.lower.view()});
  return answer;
}

double at(const Array& array, std::int64_t i) { return array.as<double>().data()[i]; }

using Check = std::function<bool(double truth, double found, double lower)>;

void sort_by_first(Array& points) {
  visit_dtype(points.dtype(), [&](auto tag) {
    using Row = std::array<typename decltype(tag)::type, 3>;
    auto* rows = reinterpret_cast<Row*>(points.data());
    std::sort(rows, rows + points.shape()[0]);
  });
}

/// Ten sets of sites, each with kQueries queries: 10⁶ in all. The answer is a site's true distance in any case.
/// @return queries whose answer was not the nearest site
std::int64_t check_promise(const points::QueryOptions& options, points::Storage storage, const Check& check) {
  std::int64_t inexact = 0;
  for (int i = 0; i < scaled(10); ++i) {
    Random random(static_cast<std::uint64_t>(i) + 50);
    const auto spread = static_cast<Spread>(i % (kSpreads - 1));
    Array sites = make_points(spread, i % 2 ? DType::float32 : DType::float64, 4000, 3, random);
    if (storage == points::Storage::boxed) sort_by_first(sites);  // in random order no boxes would be kept
    const Array queries = make_points(i % 3 ? Spread::uniform : spread, DType::float64, kQueries, 3, random);
    const points::SiteSet set(sites.view(), stored(storage));
    points::QueryOptions exactly;
    exactly.metric = options.metric;
    const Answer exact = ask(points::SiteSet(sites.view()), queries, exactly), found = ask(set, queries, options);
    for (std::int64_t q = 0; q < kQueries; ++q) {
      EXPECT_TRUE(check(at(exact.distance, q), at(found.distance, q), at(found.lower, q)))
          << name_of(spread) << ", query " << q << ": " << at(exact.distance, q) << ", found " << at(found.distance, q)
          << ", at least " << at(found.lower, q);
      inexact += at(exact.distance, q) != at(found.distance, q);
      if (testing::Test::HasFailure()) return inexact;
    }
  }
  return inexact;
}

TEST_F(ApproximateQueries, RelativeError) {
  points::QueryOptions options;
  for (const auto& [metric, relative] : {std::pair(Metric::euclidean, 0.1),
                                         {Metric::euclidean, 1.0},
                                         {Metric::taxicab, 0.2},
                                         {Metric::chessboard, 0.2}}) {
    options.metric = metric;
    options.relative_error = relative;
    EXPECT_GT(check_promise(options, points::Storage::sorted,
                            [&, relative = relative](double truth, double found, double lower) {
                              return truth <= found && found <= (1 + relative) * truth && lower <= truth;
                            }),
              0)
        << "nothing was saved";
  }
}

TEST_F(ApproximateQueries, AbsoluteError) {
  points::QueryOptions options;
  options.absolute_error = 0.05;
  for (Metric metric : {Metric::euclidean, Metric::taxicab, Metric::chessboard}) {
    options.metric = metric;
    EXPECT_GT(check_promise(options, points::Storage::sorted,
                            [&](double truth, double found, double lower) {
                              return truth <= found && found <= truth + options.absolute_error && lower <= truth;
                            }),
              0)
        << "nothing was saved";
  }
}

/// Sites that qualify are found, however much farther than them a distance may be told.
TEST_F(ApproximateQueries, FindWhatIsWithinTheRadius) {
  Random random(9);
  const Array sites = make_points(Spread::uniform, DType::float32, 4000, 3, random);
  const Array queries = make_points(Spread::uniform, DType::float64, kQueries, 3, random);
  const points::SiteSet set(sites.view(), stored(points::Storage::sorted)), host(sites.view());
  points::QueryOptions options;
  options.radius = 0.04;
  const Answer exact = ask(host, queries, options);
  for (const auto& [relative, absolute] : {std::pair(1.0, 0.0), {0.0, 0.03}}) {
    options.relative_error = relative;
    options.absolute_error = absolute;
    const Answer found = ask(set, queries, options);
    for (std::int64_t q = 0; q < kQueries; ++q) {
      const double truth = at(exact.distance, q);
      ASSERT_LE(at(found.distance, q), std::max((1 + relative) * truth, truth + absolute)) << q;
      ASSERT_LE(at(found.lower, q), truth) << q;
    }
  }
}

TEST_F(ApproximateQueries, CertifiedInterval) {
  points::QueryOptions options;
  for (points::Storage storage : {points::Storage::boxed, points::Storage::sorted})
    for (std::int64_t limit : {1, 100}) {
      options.work_limit = limit;
      options.metric = limit > 1 ? Metric::taxicab : Metric::euclidean;
      EXPECT_GT(check_promise(options, storage,
                              [](double truth, double found, double lower) {
                                return lower <= truth && truth <= found && std::isfinite(found);
                              }),
                0)
          << "nothing was saved";
    }
}

TEST_F(ApproximateQueries, ExactOnesSayThatTheyAre) {
  EXPECT_EQ(check_promise({}, points::Storage::sorted,
                          [](double truth, double found, double lower) { return truth == found && lower == truth; }),
            0);
}

/// Approximate answers may depend on the storage, never on threads or instructions.
TEST_F(ApproximateQueries, SameBytes) {
  Random random(7);
  const Array sites = make_points(Spread::clustered, DType::float32, 20000, 3, random);
  const Array queries = make_points(Spread::uniform, DType::float64, kQueries, 3, random);
  const points::SiteSet set(sites.view(), stored(points::Storage::sorted));
  points::QueryOptions options;
  options.relative_error = 0.3;
  options.execution.threads = 1;
  const Answer first = ask(set, queries, options);
  for (InstructionSet instructions : instruction_sets())
    for (int threads : {1, 3}) {
      options.execution.threads = threads;
      options.execution.instruction_set = instructions;
      const Answer other = ask(set, queries, options);
      EXPECT_TRUE(equal(first.distance, other.distance) && equal(first.site, other.site) &&
                  equal(first.lower, other.lower))
          << name_of(instructions) << ", " << threads << " threads";
    }
}

/// Mean ratio of the distances to the nearest of a p-th of uniform sites, and of all: the nearest that is kept is the
/// k-th with probability (1 − 1/p)ᵏ⁻¹ / p, and the mean ratio of the k-th distance and the first is a product.
double mean_ratio(double p) {
  double sum = 0, share = 1 / p, ratio = 1;
  for (int k = 1; k < 1000; ++k, share *= 1 - 1 / p) {
    sum += share * ratio;
    ratio *= k / (k - 1.0 / 3);
  }
  return sum;
}

TEST_F(Perforation, ReportsItsError) {
  Random random(8);
  const Array sites = make_points(Spread::uniform, DType::float32, 64000, 3, random);
  const Array queries = make_points(Spread::uniform, DType::float32, 2000, 3, random);
  const points::SiteSet exact(sites.view());
  for (std::int64_t every : {1, 2, 8}) {
    points::SiteSetOptions options = stored(points::Storage::sorted);
    options.every = every;
    const points::SiteSet perforated(sites.view(), options);
    EXPECT_EQ(perforated.size(), 64000 / every);
    const double expected = 100 * (mean_ratio(static_cast<double>(every)) - 1);
    EXPECT_NEAR(points::percentage_error(exact, perforated, queries.view()), expected, 0.08 * expected);
  }
}

}  // namespace
}  // namespace fathom::test
