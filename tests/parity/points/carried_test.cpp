// What is carried from piece to piece of a set that passes by on a device: 8 bytes for each neighbour, whichever
// answers are asked for and whatever the number of sites, and the CPU's bytes come out.
#include "points/cuda/carried.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "device_block.h"
#include "device_pool.h"
#include "fathom/core/device.h"
#include "points/problem.h"
#include "run.h"

namespace fathom::test {
namespace {

using points::QueryOptions;
using points::SiteSet;

/// Answers of some types; DType::boolean stands for none.
struct Wanted {
  DType site, distance, squared, lower;

  std::array<DType, 4> all() const { return {site, distance, squared, lower}; }
  bool any() const { return *this != Wanted{DType::boolean, DType::boolean, DType::boolean, DType::boolean}; }
  bool operator==(const Wanted&) const = default;
};

/// Each choice of answers in 4 or 8 bytes. @param lower  those, too
std::vector<Wanted> all_wanted(bool lower) {
  std::vector<Wanted> all;
  for (DType site : {DType::boolean, DType::int32, DType::int64})
    for (DType distance : {DType::boolean, DType::float32, DType::float64})
      for (DType squared : {DType::boolean, DType::float32, DType::float64})
        for (DType bound : {DType::boolean, DType::float32, DType::float64})
          if (const Wanted wanted{site, distance, squared, bound}; wanted.any() && (lower || bound == DType::boolean))
            all.push_back(wanted);
  return all;
}

std::string describe(const Wanted& wanted) {
  std::string text;
  for (DType dtype : wanted.all()) text += (dtype == DType::boolean ? "-" : std::string(name_of(dtype))) + " ";
  return text;
}

/// int32 sites about (place, place, place), and float32 ones in the unit cube.
struct Kind {
  DType dtype;
  int axes;
  double place;
  double radius;  ///< that some queries find nothing in
};
constexpr std::int64_t kSide = 1 << 27;
constexpr Kind kKinds[] = {
    {DType::int32, 3, INT32_MIN, 6e9},  // squares of 66 bits, …
    {DType::int32, 3, -1.3e9, 4e9},     // … of 65 …
    {DType::int32, 2, INT32_MIN, 5e9},
    {DType::float32, 3, 0, 0.02},
};

/// The one choice that 12 bytes are too few for.
bool is_too_much(const Kind& kind, const Wanted& wanted) {
  return kind.axes == 3 && kind.place == INT32_MIN &&
         wanted == Wanted{DType::int32, DType::boolean, DType::boolean, DType::boolean};
}

TEST(Carried, TakesEightBytesOfEachNeighbour) {
  constexpr std::int64_t kQueries = 1024;
  std::byte answer{};
  for (const Kind& kind : kKinds)
    for (const int k : {1, 2})
      for (const Wanted& wanted : all_wanted(k == 1))
        for (const std::int64_t sites : {std::int64_t{100}, std::int64_t{1} << 30, (std::int64_t{1} << 30) + 200,
                                         std::int64_t{1} << 31, std::int64_t{1} << 40}) {
          if (wanted.site == DType::int32 && sites > std::int64_t{1} << 31) continue;  // such ids are refused
          points::Request request;
          request.queries.count = kQueries;
          request.queries.dtype = kind.dtype;
          request.k = k;
          points::Answers& answers = request.answers;
          points::Column* columns[] = {&answers.site, &answers.distance, &answers.squared, &answers.lower};
          for (std::size_t i = 0; i < 4; ++i)
            if (const DType dtype = wanted.all()[i]; dtype != DType::boolean) *columns[i] = {&answer, dtype, k};
          points::cuda::DeviceTree tree;
          tree.dtype = kind.dtype;
          tree.axes = tree.sites.axes = kind.axes;
          tree.sites.count = sites / 100;
          tree.sites.every = 100;
          for (int axis = 0; axis < kind.axes; ++axis) {
            tree.low[axis] = kind.place;
            tree.high[axis] = kind.place + kSide;
          }
          cuda::Scratch scratch(nullptr);
          points::cuda::carried_of(request, answers, tree, scratch);
          const bool one_more = is_too_much(kind, wanted) && sites > std::int64_t{1} << 30;
          EXPECT_EQ(scratch.bytes(), static_cast<std::size_t>(kQueries * k * (one_more ? 9 : 8)))
              << describe(wanted) << sites << " sites, k " << k;
        }
}

/// The first and last ids are 2³¹ apart: sites, of which few are kept, in memory of which few pages are touched. Each
/// site begins an element after the one before, so that the memory is a third.
class FarApart {
 public:
  static constexpr std::int64_t kKept = 40000, kEvery = 53687, kSites = (kKept - 1) * kEvery + 1;
  static_assert(kSites <= std::int64_t{1} << 31 && kSites > 2e9);

  explicit FarApart(const Array& kept)
      : dtype_(kept.dtype()), axes_(kept.shape()[1]), bytes_(static_cast<std::size_t>(kSites + axes_ - 1) * 4) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED) throw std::runtime_error("no address space");
    const auto row = static_cast<std::size_t>(axes_) * 4;
    for (std::int64_t i = 0; i < kKept; ++i)
      std::copy_n(kept.data() + static_cast<std::size_t>(i) * row, row, data() + i * kEvery * 4);
  }
  ~FarApart() { munmap(memory_, bytes_); }
  FarApart(const FarApart&) = delete;

  AnyConstView view() const { return {data(), dtype_, {kSites, axes_}, {1, 1}}; }

 private:
  std::byte* data() const { return static_cast<std::byte*>(memory_); }

  DType dtype_;
  std::int64_t axes_;
  std::size_t bytes_;
  void* memory_;
};

/// Sites near the place, some of them where others are, and queries near it, far from it, and anywhere.
struct Points {
  Array sites, queries;

  Points(const Kind& kind, std::int64_t count, Random& random)
      : sites(kind.dtype, {FarApart::kKept, kind.axes}), queries(kind.dtype, {count, kind.axes}) {
    for (std::int64_t i = 0; i < FarApart::kKept; ++i) {
      const std::int64_t other = i > 0 && chance(random, 0.2) ? below(random, i) : i;
      for (int k = 0; k < kind.axes; ++k)
        other < i ? copy(other * kind.axes + k, i * kind.axes + k) : put(sites, i * kind.axes + k, kind.place, random);
    }
    for (std::int64_t i = 0; i < count; ++i)
      for (int k = 0; k < kind.axes; ++k) {
        const double low = static_cast<double>(below(random, std::int64_t{1} << 32) + INT32_MIN);
        put(queries, i * kind.axes + k, i % 3 == 0 ? kind.place : i % 3 == 1 ? INT32_MAX - kSide : low, random);
      }
  }

 private:
  void copy(std::int64_t from, std::int64_t to) { std::copy_n(sites.data() + from * 4, 4, sites.data() + to * 4); }
  static void put(Array& points, std::int64_t at, double place, Random& random) {
    const auto offset = static_cast<double>(below(random, kSide));
    if (points.dtype() == DType::float32) points.as<float>().data()[at] = static_cast<float>(offset / kSide);
    else points.as<std::int32_t>().data()[at] = static_cast<std::int32_t>(std::min(place + offset, INT32_MAX + 0.0));
  }
};

/// Answers, with an element after each row that belongs to somebody else.
struct Found {
  std::array<std::optional<Array>, 4> answers;

  Found(const Wanted& wanted, std::int64_t queries, std::int64_t k) {
    for (std::size_t i = 0; i < 4; ++i) {
      if (wanted.all()[i] == DType::boolean) continue;
      Array& answer = answers[i].emplace(wanted.all()[i], Shape{queries, k + 1});
      std::fill_n(answer.data(), answer.bytes(), std::byte{kPoison});
    }
  }

  /// @param at  where answer i goes
  template <class Outputs, class At>
  Outputs outputs(const At& at) const {
    Outputs views;
    typename Outputs::Out* columns[] = {&views.site, &views.distance, &views.squared, &views.lower};
    for (std::size_t i = 0; i < 4; ++i) {
      if (!answers[i]) continue;
      const Shape& shape = answers[i]->shape();
      *columns[i] = {at(i), answers[i]->dtype(), {shape[0], shape[1] - 1}, {shape[1], 1}};
    }
    return views;
  }

  void ask(const SiteSet& set, const Array& queries, const QueryOptions& options) {
    set.nearest(queries.view(), options,
                outputs<points::QueryOutputs>([&](std::size_t i) { return answers[i]->data(); }));
  }
  void ask_on_device(const SiteSet& set, const Array& queries, const QueryOptions& options) {
    const Block there(queries);
    std::vector<Block> blocks;
    for (const auto& answer : answers) blocks.emplace_back(answer ? answer->bytes() : 0);
    const AnyConstDeviceView rows(there.data(), queries.dtype(), queries.shape());
    set.nearest(rows, options, outputs<points::DeviceQueryOutputs>([&](std::size_t i) { return blocks[i].data(); }));
    must(cudaDeviceSynchronize());
    for (std::size_t i = 0; i < 4; ++i)
      if (answers[i]) blocks[i].download(*answers[i]);
  }

  void multiply_ids(std::int64_t factor) {
    if (!answers[0]) return;
    const Shape& shape = answers[0]->shape();
    for (std::int64_t i = 0; i < answers[0]->size(); ++i) {
      if (i % shape[1] == shape[1] - 1) continue;
      const auto multiply = [&](auto& id) {
        id = id < 0 ? id : static_cast<std::remove_reference_t<decltype(id)>>(id * factor);
      };
      if (answers[0]->dtype() == DType::int32) multiply(answers[0]->as<std::int32_t>().data()[i]);
      else multiply(answers[0]->as<std::int64_t>().data()[i]);
    }
  }

  testing::AssertionResult equals(const Found& other) const {
    for (std::size_t i = 0; i < 4; ++i)
      if (answers[i] && !equal(*answers[i], *other.answers[i])) return testing::AssertionFailure() << "answer " << i;
    return testing::AssertionSuccess();
  }
};

/// Ids up to 2³¹, for each choice of answers: the bytes of a set in the host's memory, within the limit.
TEST(Carried, HoldsIdsThatAreFarApart) {
  if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
  constexpr std::int64_t kQueries = 300;
  Random random(16);
  for (const Kind& kind : kKinds) {
    const Points given(kind, kQueries, random);
    const FarApart memory(given.sites);
    points::SiteSetOptions options;
    options.storage = points::Storage::plain;
    options.execution.backend = Backend::cuda;
    options.every = FarApart::kEvery;
    options.device_memory = 320000;
    const SiteSet near_by(given.sites.view()), passing(memory.view(), options);
    ASSERT_EQ(passing.bytes(), 0u) << "the sites stay";
    ASSERT_EQ(passing.size(), FarApart::kKept);
    for (const int k : {1, 3}) {
      QueryOptions query;
      query.k = k;
      if (k > 1) query.radius = kind.radius;
      for (const Wanted& wanted : all_wanted(k == 1)) {
        if (below(random, 100) >= scaled(100)) continue;
        SCOPED_TRACE(std::string(name_of(kind.dtype)) + " about " + std::to_string(kind.place) + ", " +
                     std::to_string(kind.axes) + " axes, k " + std::to_string(k) + ", answers " + describe(wanted));
        Found expected(wanted, kQueries, k), found(wanted, kQueries, k), found_there(wanted, kQueries, k);
        expected.ask(near_by, given.queries, query);
        expected.multiply_ids(FarApart::kEvery);
        const std::uint64_t most = most_taken([&] {
          found.ask(passing, given.queries, query);
          found_there.ask_on_device(passing, given.queries, query);
        });
        EXPECT_LE(most, *options.device_memory);
        ASSERT_TRUE(found.equals(expected));
        ASSERT_TRUE(found_there.equals(expected));
      }
    }
  }
}

}  // namespace
}  // namespace fathom::test
