// Sets that change: the answers of a SiteSet of the sites that are there. Built once for the CPU and once for devices.
#include "fathom/points/dynamic_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "cases.h"
#include "fathom/core/device.h"
#include "points/problem.h"
#include "run.h"

namespace fathom::test {
namespace {

using points::DynamicSet;
using points::DynamicSetOptions;
using Ids = std::vector<std::int64_t>;

constexpr Backend kBackend = Backend::FATHOM_TEST_BACKEND;

class DynamicSets : public testing::Test {
 protected:
  void SetUp() override {
    if (kBackend == Backend::cuda && device_count() == 0) GTEST_SKIP() << "no CUDA device, or a build without CUDA";
  }
};

AnyConstView rows(const Array& points, std::int64_t first, std::int64_t count) {
  const std::int64_t axes = points.shape()[1], row = axes * static_cast<std::int64_t>(size_of(points.dtype()));
  return {points.data() + first * row, points.dtype(), {count, axes}};
}

DynamicSetOptions on_backend(std::vector<double> period = {}) {
  DynamicSetOptions options;
  options.period = std::move(period);
  options.execution.backend = kBackend;
  options.execution.threads = 2;
  return options;
}

PointAnswers ask(const DynamicSet& set, const PointProblem& problem) {
  PointAnswers answers = make_answers(problem, DType::float32);
  points::QueryOptions options = problem.query;
  if (problem.directions.size() > 0) {
    options.cone.directions = problem.directions.view();
    options.cone.half_angles = problem.half_angles.view();
  }
  set.nearest(problem.queries.view(), options, outputs_into(answers));
  return answers;
}

/// A set, and what it should hold.
class Edited {
 public:
  Edited(const AnyConstView& sites, const std::vector<double>& period)
      : set_(sites, on_backend(period)),
        dtype_(sites.dtype()),
        axes_(sites.shape()[1]),
        row_(static_cast<std::size_t>(axes_) * size_of(dtype_)) {
    note(0, sites);
  }

  const DynamicSet& set() const { return set_; }
  const Ids& ids() const { return ids_; }

  void add(const AnyConstView& sites) { note(set_.add(sites), sites); }

  /// @param which  places among ids(), ascending
  void remove(const Ids& which) {
    set_.remove(ids_at(which));
    for (auto it = which.rbegin(); it != which.rend(); ++it) {
      ids_[static_cast<std::size_t>(*it)] = ids_.back();
      ids_.pop_back();
    }
  }
  void move(const Ids& which, const AnyConstView& to) {
    const Ids ids = ids_at(which);
    set_.move(ids, to);
    for (std::size_t i = 0; i < ids.size(); ++i)
      std::copy_n(to.data() + i * row_, row_, places_.data() + static_cast<std::size_t>(ids[i]) * row_);
  }

  /// Whether a SiteSet of the same sites, which become the problem's, answers the same.
  testing::AssertionResult answers(PointProblem& problem) const {
    Ids ids = ids_;
    std::sort(ids.begin(), ids.end());
    const auto size = static_cast<std::int64_t>(ids.size());
    problem.sites = Array(dtype_, {size, axes_});
    for (std::size_t i = 0; i < ids.size(); ++i)
      std::copy_n(places_.data() + static_cast<std::size_t>(ids[i]) * row_, row_, problem.sites.data() + i * row_);
    problem.set.every = 1;
    problem.set.storage = points::Storage::sorted;
    PointAnswers expected = nearest(problem, DType::float32);
    for (std::int64_t& site :
         std::span(expected.site.as<std::int64_t>().data(), static_cast<std::size_t>(expected.site.size())))
      if (site >= 0) site = ids[static_cast<std::size_t>(site)];
    if (set_.size() != size) return testing::AssertionFailure() << set_.size() << " sites instead of " << size;
    return equal(expected, ask(set_, problem));
  }

  /// Up to `count` places among ids(), ascending.
  Ids some(std::int64_t count, Random& random) const {
    Ids which;
    for (std::int64_t i = 0; !ids_.empty() && i < count; ++i)
      which.push_back(below(random, static_cast<std::int64_t>(ids_.size())));
    std::sort(which.begin(), which.end());
    which.erase(std::unique(which.begin(), which.end()), which.end());
    return which;
  }

  /// Adds, moves or removes up to `most` sites, with places that are rows of `source`.
  std::int64_t edit(const Array& source, std::int64_t most, double leaving, Random& random) {
    const std::int64_t count = std::min(1 + below(random, most), source.shape()[0]);
    const std::int64_t first = below(random, source.shape()[0] - count + 1);
    const Ids which = some(count, random);
    if (chance(random, 0.3)) move(which, rows(source, first, static_cast<std::int64_t>(which.size())));
    else if (chance(random, leaving)) remove(which);
    else add(rows(source, first, count));
    return count;
  }

 private:
  Ids ids_at(const Ids& which) const {
    Ids ids;
    for (std::int64_t i : which) ids.push_back(ids_[static_cast<std::size_t>(i)]);
    return ids;
  }
  void note(std::int64_t first, const AnyConstView& sites) {
    for (std::int64_t i = 0; i < sites.shape()[0]; ++i) ids_.push_back(first + i);
    places_.insert(places_.end(), sites.data(), sites.data() + static_cast<std::size_t>(sites.shape()[0]) * row_);
  }

  DynamicSet set_;
  DType dtype_;
  std::int64_t axes_;
  std::size_t row_;
  Ids ids_;                        ///< of the sites that there are
  std::vector<std::byte> places_;  ///< of each id
};

TEST_F(DynamicSets, AnswerAsSiteSetsDo) {
  for (int i = 0; i < scaled(300); ++i) {
    const std::uint64_t seed = seed_to_replay().value_or(700000 + static_cast<std::uint64_t>(i));
    PointProblem problem = random_point_problem(seed, i % 10 == 0 ? 5000 : 300);
    SCOPED_TRACE(describe(problem));
    Random random(seed);
    const Array sites = std::exchange(problem.sites, Array());
    if (sites.size() == 0) continue;
    Edited edited(rows(sites, 0, below(random, sites.shape()[0] + 1)), problem.set.period);
    for (int round = 0; round < 4; ++round) {
      const std::int64_t most = pick<std::int64_t>(random, {1, 5, 100});
      for (int step = 0; step < 10; ++step) edited.edit(sites, most, 0.2 + 0.2 * round, random);
      ASSERT_TRUE(edited.answers(problem)) << round;
    }
    Ids all(edited.ids().size());
    std::iota(all.begin(), all.end(), 0);
    edited.remove(all);
    ASSERT_TRUE(edited.answers(problem));
    edited.add(sites.view());
    ASSERT_TRUE(edited.answers(problem));
  }
}

/// More and more sites, then fewer and fewer, in places that come near one another and drift out of where all began.
TEST_F(DynamicSets, AfterEditsEqualARebuild) {
  const std::int64_t edits = scaled(100000), most = kBackend == Backend::cuda ? 200 : 3;
  Random random(4);
  PointProblem problem;
  const Array places = make_points(Spread::clustered, DType::float32, 100, 3, random);
  Array source(DType::float32, {100, 3});
  Edited edited(rows(places, 0, 50), {});
  std::int64_t done = 0;
  for (std::int64_t check = 1; check <= 20; ++check) {
    for (std::int64_t step = 0; done < edits * check / 20; ++step) {
      for (std::int64_t i = 0; step % 30 == 0 && i < source.size(); ++i)
        source.as<float>().data()[i] = places.as<float>().data()[i] * 1e-3f * static_cast<float>(below(random, 900)) +
                                       static_cast<float>(3 * done) / static_cast<float>(edits);
      done += edited.edit(source, most, check <= 12 ? 0.2 : 0.9, random);
    }
    problem.queries = make_points(Spread::uniform, DType::float64, 100, 3, random);
    problem.query.k = check % 2 ? 1 : 9;
    ASSERT_TRUE(edited.answers(problem)) << done;
  }
}

/// Of any number of sites, however they came: leaves have room, but not much.
TEST_F(DynamicSets, KeepTheirMemoryWithinBounds) {
  Random random(5);
  const std::int64_t count = scaled(100000);
  const Array sites = make_points(Spread::uniform, DType::float32, count, 3, random);
  DynamicSet set(rows(sites, 0, 0), on_backend());
  const double copies = kBackend == Backend::cuda ? 2 : 1;
  const auto bytes_per_site = [&] { return static_cast<double>(set.bytes()) / static_cast<double>(set.size()); };
  for (std::int64_t i = 0; i < count; i += 10) set.add(rows(sites, i, std::min<std::int64_t>(10, count - i)));
  EXPECT_LE(bytes_per_site(), 29 * copies + 4);
  Ids most(static_cast<std::size_t>(count - count / 8));
  std::iota(most.begin(), most.end(), 0);
  set.remove(most);
  EXPECT_LE(bytes_per_site(), 2.5 * 29 * copies + 8 * 4);
  EXPECT_EQ(set.size(), count / 8);
}

TEST_F(DynamicSets, KeepTheirGuarantees) {
  Random random(6);
  constexpr std::int64_t kQueries = 3000;
  Edited edited(make_points(Spread::uniform, DType::float64, 4000, 2, random).view(), {});
  const Array more = make_points(Spread::clustered, DType::float64, 4000, 2, random);
  for (int step = 0; step < 50; ++step) edited.edit(more, 100, 0.5, random);
  PointProblem problem;
  problem.queries = make_points(Spread::uniform, DType::float64, kQueries, 2, random);
  const PointAnswers exact = ask(edited.set(), problem);
  const auto answers = [&](double relative, double absolute, std::int64_t work, Array& lower) {
    points::QueryOptions options;
    options.relative_error = relative;
    options.absolute_error = absolute;
    options.work_limit = work;
    Array distance(DType::float64, {kQueries});
    edited.set().nearest(problem.queries.view(), options, {distance.view(), {}, {}, lower.view()});
    return distance;
  };
  Array lower(DType::float64, {kQueries});
  const Array near = answers(0.5, 0, 0, lower), within = answers(0, 0.02, 0, lower), some = answers(0, 0, 1, lower);
  std::int64_t unequal = 0;
  for (std::int64_t q = 0; q < kQueries; ++q) {
    const double truth = std::sqrt(value_at(exact.squared, q));
    ASSERT_LE(value_at(near, q), 1.5 * truth * (1 + 1e-12));
    ASSERT_LE(value_at(within, q), truth + 0.02 + 1e-12);
    ASSERT_GE(value_at(some, q), truth);
    ASSERT_LE(value_at(lower, q), truth);
    unequal += value_at(some, q) != truth;
  }
  EXPECT_GT(unequal, 0);  // and it is made use of
}

TEST_F(DynamicSets, RefuseWhatHasNoMeaning) {
  Random random(7);
  const Array sites = make_points(Spread::uniform, DType::float32, 5, 3, random);
  DynamicSet set(sites.view(), on_backend());
  set.remove(1);
  const auto refused = [&](const auto& call) {
    const std::string message = refusal(call);
    EXPECT_EQ(set.size(), 4);
    EXPECT_EQ(set.ids(), 5);
    return message;
  };
  EXPECT_EQ(refused([&] { set.remove(5); }), "there is no site 5; 5 ids, from 0 on, have been given out");
  EXPECT_EQ(refused([&] { set.remove(Ids{0, -1}); }), "there is no site -1; 5 ids, from 0 on, have been given out");
  EXPECT_EQ(refused([&] { set.remove(Ids{0, 1}); }), "site 1 was removed before; contains() tells which are there");
  EXPECT_EQ(refused([&] { set.remove(Ids{2, 0, 2}); }), "site 2 is named twice; name each once");
  EXPECT_EQ(refused([&] { set.move(Ids{1}, rows(sites, 0, 1)); }),
            "site 1 was removed before; contains() tells which are there");
  EXPECT_EQ(refused([&] {
              set.move(Ids{0, 2}, rows(sites, 0, 1));
            }),
            "2 sites are to move to 1 places; give one for each");
  EXPECT_EQ(refused([&] { set.add(make_points(Spread::uniform, DType::float32, 2, 2, random).view()); }),
            "the sites have 2 coordinates, those of the set 3; give [n, 3]");
  EXPECT_EQ(refused([&] { set.add(make_points(Spread::uniform, DType::float64, 2, 3, random).view()); }),
            "the sites are float64, those of the set float32; convert them");
  EXPECT_EQ(refused([&] {
              set.add(AnyConstView(sites.data(), DType::float32, {1, 5, 3}));
            }),
            "the sites are a batch of clouds, the set is one; give [n, d]");
  EXPECT_EQ(refused([&] {
              DynamicSet(AnyConstView(sites.data(), DType::float32, {1, 5, 3}), on_backend());
            }),
            "the sites are a batch of clouds, which cannot change; give [n, d]");
  Array bad = make_points(Spread::uniform, DType::float32, 5, 3, random);
  bad.as<float>().data()[7] = NAN;
  EXPECT_EQ(refused([&] { set.add(bad.view()); }), "site 2 has a coordinate that is not finite; leave such points out");
  EXPECT_EQ(refused([&] { DynamicSet(sites.view(), on_backend({0.001})); }),
            "a site lies outside of the periodic box, which goes from 0 to below the period along axis 0; wrap the "
            "coordinates first");
  EXPECT_EQ(refused([&] { set.contains(5); }), "there never was a site 5; 5 ids, from 0 on, have been given out");
  EXPECT_FALSE(set.contains(1));
  EXPECT_TRUE(set.contains(4));
  set.remove(Ids{});
  EXPECT_EQ(set.add(rows(sites, 0, 0)), 5);
  EXPECT_EQ(set.add(rows(sites, 0, 1)), 5);
}

}  // namespace
}  // namespace fathom::test
