// Rows are cut into runs of elements of one region. Prefix sums of a row of weights give the sums of each run at once,
// and these are added to the region's: integers, so that threads may add in any order.
// Cost: O(elements) to find the runs, and some additions for each of them.
#include "apps/cpu/regions.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <tuple>

#include "apps/boundary.h"
#include "core/parallel.h"

namespace fathom::apps::cpu {

namespace {

/// Rows of the last axis that a thread takes at a time.
constexpr std::int64_t kRows = 8;
/// Runs between asking for a region's number and its use.
constexpr std::int64_t kAhead = 12;
constexpr auto kRelaxed = std::memory_order_relaxed;

/// Calls visit(worker, row) for all rows.
template <class Visit>
void for_rows(const Regions& regions, int threads, const Execution& execution, const Visit& visit) {
  const std::int64_t rows = row_count(regions.shape);
  parallel_jobs(execution, threads, (rows + kRows - 1) / kRows, [&](int worker, std::int64_t job) {
    for (std::int64_t row = job * kRows; row < std::min(rows, (job + 1) * kRows); ++row) visit(worker, row);
  });
}

/// Where a row lies along the outer axes.
std::array<std::int64_t, kMostAxes> place_of(const Shape& shape, std::int64_t row) {
  std::array<std::int64_t, kMostAxes> place{};
  for (int axis = shape.rank() - 2; axis >= 0; --axis) {
    place[static_cast<std::size_t>(axis)] = row % shape[axis];
    row /= shape[axis];
  }
  return place;
}

/// Prefix sums of a row of weights, asked for at places of a grid that is some times as fine.
class Prefix {
 public:
  explicit Prefix(std::int64_t width) : sums_(static_cast<std::size_t>(width) + 1) {}

  template <bool kSeconds>
  void take(const Weights& weights, std::int64_t row, int supersample) {
    if (row == row_) return;
    row_ = row;
    values_ = weights.row(row);
    fine_ = static_cast<std::uint32_t>(supersample);
    RowPrefix sum;
    for (std::int64_t x = 0; x < weights.width(); ++x) {
      sum.add<kSeconds>(weight(x), static_cast<std::uint64_t>(x) * fine_, fine_);
      sums_[static_cast<std::size_t>(x) + 1] = sum;
    }
  }

  template <bool kSeconds>
  RowPrefix before(std::int64_t x) const {
    if (fine_ == 1) return sums_[static_cast<std::size_t>(x)];
    const std::uint32_t place = static_cast<std::uint32_t>(x) / fine_, first = place * fine_;
    RowPrefix sum = sums_[place];
    const std::uint32_t more = static_cast<std::uint32_t>(x) - first;
    if (more > 0) sum.add<kSeconds>(weight(place), first, more);
    return sum;
  }

 private:
  std::uint64_t weight(std::int64_t x) const { return values_ == nullptr ? 1 : values_[x]; }

  std::int64_t row_ = -1;
  const std::uint16_t* values_ = nullptr;
  std::uint32_t fine_ = 1;
  std::vector<RowPrefix> sums_;
};

/// The row of weights that a row of the grid lies in.
std::int64_t coarse_row(const Regions& regions, const std::array<std::int64_t, kMostAxes>& place) {
  std::int64_t row = 0;
  for (int axis = 0; axis + 1 < regions.shape.rank(); ++axis)
    row = row * regions.weights.shape[axis] + place[static_cast<std::size_t>(axis)] / regions.supersample;
  return row;
}

/// Adds a run's sums to the record of a region that other threads may add to.
/// @throws InvalidArgument a sum of squares passes 64 bits, in whatever order
void add(const SumLayout& layout, const std::int64_t* sums, bool alone, std::int64_t* record) {
  int square = layout.second(), step = layout.axes;  // the next sum of squares
  for (int k = 0; k < layout.fields(); ++k) {
    const std::int64_t before = alone ? record[k] : std::atomic_ref(record[k]).fetch_add(sums[k], kRelaxed);
    const auto after =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(before) + static_cast<std::uint64_t>(sums[k]));
    if (alone) record[k] = after;
    if (k != square) continue;
    square += step--;
    if (after < 0) throw_moments_too_large();
  }
}

/// Where the runs of one site end. No branch depends on the elements: runs are short, and the processor would guess the
/// end of each one wrong.
/// @param ends  [width] @return how many
template <class Index>
std::int64_t find_runs(const Index* nearest, std::int64_t width, std::int32_t* ends) {
  std::int64_t runs = 0;
  for (std::int64_t x = 1; x < width; ++x) {
    ends[runs] = static_cast<std::int32_t>(x);
    runs += nearest[x] != nearest[x - 1];
  }
  if (width > 0) ends[runs++] = static_cast<std::int32_t>(width);
  return runs;
}

/// What a thread keeps between rows.
struct RowWork {
  Prefix prefix;
  std::vector<std::int32_t> ends;

  explicit RowWork(const Regions& regions)
      : prefix(regions.weights.width()), ends(static_cast<std::size_t>(regions.shape.back())) {}
};

template <class Index, bool kSeconds>
void sum_row(const Regions& regions, const SumLayout& layout, std::int64_t row, bool alone, RowWork& work,
             std::int64_t* records) {
  const std::int64_t width = regions.shape.back();
  const auto place = place_of(regions.shape, row);
  const Index* const nearest = regions.nearest.as<Index>().data() + row * width;
  work.prefix.take<kSeconds>(regions.weights, coarse_row(regions, place), regions.supersample);
  const int outer = layout.axes - 1;
  std::array<std::int64_t, 2 + kMostAxes + kMostAxes*(kMostAxes + 1) / 2> sums;
  std::array<std::int64_t, kMostAxes> offset;
  RowPrefix before, after;
  const std::int64_t runs = find_runs(nearest, width, work.ends.data());
  for (std::int64_t run = 0, begin = 0; run < runs; ++run, before = after) {
    const std::int64_t end = work.ends[static_cast<std::size_t>(run)];
    // The table of numbers is as large as the grid, and looked at in few places, far apart.
    const std::int64_t soon = std::min(run + kAhead, runs) - 1;
    __builtin_prefetch(regions.numbers + nearest[work.ends[static_cast<std::size_t>(soon)] - 1]);
    const std::int64_t number = regions.numbers[nearest[begin]];
    const std::int32_t* const at = regions.places + number * layout.axes;
    for (int k = 0; k < outer; ++k) offset[static_cast<std::size_t>(k)] = place[static_cast<std::size_t>(k)] - at[k];
    after = work.prefix.before<kSeconds>(end);
    sum_run(layout, before, after, end - begin, offset.data(), at[outer], sums.data());
    add(layout, sums.data(), alone, records + number * layout.fields());
    begin = end;
  }
}

/// Faces across an axis between the regions of two sites, first < second.
struct Faces {
  std::int32_t first, second, axis;
  std::int64_t count;
  auto key() const { return std::tuple(first, second, axis); }
};

/// Sorts, and makes one of those with the same key.
void merge(std::vector<Faces>& faces) {
  std::sort(faces.begin(), faces.end(), [](const Faces& a, const Faces& b) { return a.key() < b.key(); });
  auto last = faces.begin();
  for (auto it = faces.begin(); it != faces.end(); ++it) {
    if (it == faces.begin()) continue;
    if (it->key() == last->key()) last->count += it->count;
    else *++last = *it;
  }
  if (!faces.empty()) faces.erase(last + 1, faces.end());
}

/// The faces of a row's elements to those after them along each axis.
template <class Index>
void find_faces(const Regions& regions, std::int64_t row, std::vector<Faces>& to) {
  const int axes = regions.shape.rank();
  const std::int64_t width = regions.shape.back();
  const auto place = place_of(regions.shape, row);
  const Strides strides = dense_strides(regions.shape);
  const Index* const nearest = regions.nearest.as<Index>().data() + row * width;
  for (int axis = 0; axis < axes; ++axis) {
    const bool along = axis == axes - 1;
    if (!along && place[static_cast<std::size_t>(axis)] + 1 == regions.shape[axis]) continue;
    const Index* const next = nearest + strides[axis];
    const std::size_t begin = to.size();
    for (std::int64_t x = 0; x < width - along; ++x) {
      if (nearest[x] == next[x]) continue;
      const std::int32_t a = regions.numbers[nearest[x]], b = regions.numbers[next[x]];
      const Faces face{std::min(a, b), std::max(a, b), axis, 1};
      if (to.size() > begin && to.back().key() == face.key()) ++to.back().count;
      else to.push_back(face);
    }
  }
}

/// Calls visit(TypeTag of the indices).
template <class Visit>
void visit_indices(const Regions& regions, const Visit& visit) {
  if (regions.nearest.dtype() == DType::int32) visit(TypeTag<std::int32_t>{});
  else visit(TypeTag<std::int64_t>{});
}

}  // namespace

std::size_t row_bytes(std::int64_t weights, std::int64_t grid) {
  return (static_cast<std::size_t>(weights) + 1) * sizeof(RowPrefix) +
         static_cast<std::size_t>(grid) * sizeof(std::int32_t);
}

void sum_regions(const Regions& regions, const SumLayout& layout, std::int64_t* sums, int threads,
                 const Execution& execution) {
  std::vector<RowWork> works(static_cast<std::size_t>(threads), RowWork(regions));
  visit_indices(regions, [&](auto tag) {
    using Index = typename decltype(tag)::type;
    const auto run = layout.seconds ? &sum_row<Index, true> : &sum_row<Index, false>;
    for_rows(regions, threads, execution, [&](int worker, std::int64_t row) {
      run(regions, layout, row, threads == 1, works[static_cast<std::size_t>(worker)], sums);
    });
  });
}

std::vector<Boundary> boundaries(const Regions& regions, const double* face, int threads, const Execution& execution) {
  constexpr std::size_t kMost = 1 << 20;  // that a thread keeps before it makes one of equals
  struct Found {
    std::vector<Faces> faces;
    std::size_t most = kMost;
  };
  std::vector<Found> found(static_cast<std::size_t>(threads));
  visit_indices(regions, [&](auto tag) {
    for_rows(regions, threads, execution, [&](int worker, std::int64_t row) {
      Found& mine = found[static_cast<std::size_t>(worker)];
      find_faces<typename decltype(tag)::type>(regions, row, mine.faces);
      if (mine.faces.size() < mine.most) return;
      merge(mine.faces);
      mine.most = std::max(kMost, 2 * mine.faces.size());
    });
  });
  std::vector<Faces>& all = found.front().faces;
  for (std::size_t k = 1; k < found.size(); ++k) {
    all.insert(all.end(), found[k].faces.begin(), found[k].faces.end());
    found[k] = {};
  }
  merge(all);
  std::vector<Boundary> result;
  for (const Faces& faces : all)
    add_faces({faces.first, faces.second, static_cast<double>(faces.count) * face[faces.axis]}, result);
  return result;
}

void number_regions(const Regions& regions, const AnyView& to, int threads, const Execution& execution) {
  const std::int64_t width = regions.shape.back();
  const auto fill = [&](auto from, auto into) {
    using Index = typename decltype(from)::type;
    using Out = typename decltype(into)::type;
    for_rows(regions, threads, execution, [&](int, std::int64_t row) {
      Out* const out = row_at(to.as<Out>(), row);
      const Index* const nearest = regions.nearest.as<Index>().data() + row * width;
      for (std::int64_t x = 0; x < width; ++x)
        out[x] = nearest[x] < 0 ? Out{-1} : static_cast<Out>(regions.numbers[nearest[x]]);
    });
  };
  visit_indices(regions, [&](auto from) {
    if (to.dtype() == DType::int32) fill(from, TypeTag<std::int32_t>{});
    else fill(from, TypeTag<std::int64_t>{});
  });
}

}  // namespace fathom::apps::cpu
