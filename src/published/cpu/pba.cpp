// Parallel Banding on the CPU: see pba.hd.h. A job is a band of neighbouring columns, which have cache lines in common.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "published/cpu/algorithms.h"
#include "published/pba.hd.h"

namespace fathom::published::cpu {

namespace {

constexpr std::int64_t kColumnsOfJob = 64;

/// Calls body(column, band) for all of them.
template <class Body>
void each_band(const Problem& problem, const Columns& columns, int bands, const Body& body) {
  const std::int64_t groups = (columns.count() + kColumnsOfJob - 1) / kColumnsOfJob;
  parallel_jobs(problem.options.execution, problem.threads, groups * bands, [&](int, std::int64_t job) {
    const std::int64_t first = job / bands * kColumnsOfJob;
    for (std::int64_t column = first; column < std::min(first + kColumnsOfJob, columns.count()); ++column)
      body(column, static_cast<int>(job % bands));
  });
}

/// The first and the last element of each band of a column learn of the nearest sites of other bands.
void tell_ends(const Columns& columns, const std::uint32_t* nearest, std::int64_t column, std::uint32_t* ends) {
  std::uint32_t last = kNone;
  const auto is_empty = [&](int band) { return columns.begin(band) >= columns.begin(band + 1); };
  for (int band = 0; band < columns.bands && !is_empty(band); ++band) {
    const int first_row = columns.begin(band), last_row = columns.begin(band + 1) - 1;
    const std::uint32_t own = nearest[columns.at(column, first_row)];
    ends[2 * band] = nearer_to(columns, first_row, last, own);
    if (nearest[columns.at(column, last_row)] != kNone) last = nearest[columns.at(column, last_row)];
    ends[2 * band + 1] = last;
  }
  std::uint32_t next = kNone;
  for (int band = columns.bands - 1; band >= 0; --band) {
    if (is_empty(band)) continue;
    const int first_row = columns.begin(band), last_row = columns.begin(band + 1) - 1;
    ends[2 * band + 1] = nearer_to(columns, last_row, ends[2 * band + 1], next);
    if (nearest[columns.at(column, first_row)] != kNone) next = nearest[columns.at(column, first_row)];
    ends[2 * band] = nearer_to(columns, first_row, ends[2 * band], next);
  }
}

void sweep(const Problem& problem, const Columns& columns, std::uint32_t* nearest) {
  each_band(problem, columns, columns.bands,
            [&](std::int64_t column, int band) { sweep_band(columns, nearest, column, band); });
  each_band(problem, columns, 1, [&](std::int64_t column, int) {
    std::uint32_t ends[2 * 32];
    tell_ends(columns, nearest, column, ends);
    for (int band = 0; band < columns.bands; ++band)
      for (int row = columns.begin(band); row < columns.begin(band + 1); ++row) {
        std::uint32_t& own = nearest[columns.at(column, row)];
        own = from_ends(columns, row, own, ends[2 * band], ends[2 * band + 1]);
      }
  });
}

/// An element after the other looks at the two sites in front of the list, of which the first is taken away once the
/// second is nearer.
void color(const Lists& lists, std::int64_t column, std::uint32_t* nearest) {
  const Columns& columns = lists.columns;
  int front = lists.head(column, 0);
  for (int row = 0; row < columns.height; ++row) {
    while (front != kEnd) {
      const int second = lists.link(column, front).behind;
      if (second == kEnd || !is_second_nearer(lists, column, row, front, second)) break;
      front = second;
    }
    nearest[columns.at(column, row)] = front == kEnd ? kNone : lists.found[columns.at(column, front)];
  }
}

void transpose(const Problem& problem, const std::uint32_t* from, int width, int height, int slices,
               std::uint32_t* to) {
  constexpr int kTile = 32;
  const std::int64_t across = (width + kTile - 1) / kTile, down = (height + kTile - 1) / kTile;
  parallel_jobs(problem.options.execution, problem.threads, slices * down, [&](int, std::int64_t job) {
    const std::int64_t slice = job / down * width * height;
    const int y0 = static_cast<int>(job % down) * kTile, y1 = std::min(y0 + kTile, height);
    for (std::int64_t tile = 0; tile < across; ++tile)
      for (int x = static_cast<int>(tile) * kTile; x < std::min<std::int64_t>((tile + 1) * kTile, width); ++x)
        for (int y = y0; y < y1; ++y)
          to[slice + std::int64_t{x} * height + y] = from[slice + std::int64_t{y} * width + x];
  });
}

class Transform {
 public:
  explicit Transform(const Problem& problem)
      : problem_(problem), other_(elements(problem)), links_(elements(problem)), ends_(ends(problem)) {}

  static std::size_t bytes(const Problem& problem) {
    return elements(problem) * (sizeof(std::uint32_t) + sizeof(Link)) + ends(problem) * sizeof(int);
  }

  Phases run() {
    const Places& p = problem_.places;
    const DistanceOptions& options = problem_.options;
    std::uint32_t *image = problem_.nearest, *other = other_.data();
    const int slices = this->slices(problem_), first_slice = static_cast<int>(options.slice.value_or(0));
    if (options.slice) {
      timed(phases_, "projection", [&] { project(first_slice, image); });
    } else {
      timed(phases_, "band sweeping", [&] {
        place_sites(problem_, image);
        const Columns along_z{p, p.width * p.height, p.depth, 1, 0, kZ, kX, kY, options.m1};
        const Columns along_y{p, p.width, p.height, 1, 0, kY, kX, kZ, options.m1};
        sweep(problem_, problem_.is_volume() ? along_z : along_y, image);
      });
    }
    if (problem_.is_volume()) {
      find_along({p, p.width, p.height, slices, first_slice, kY, kX, kZ, options.m2}, image, other);
      std::swap(image, other);
    }
    transpose_slices(image, p.width, p.height, slices, other);
    find_along({p, p.height, p.width, slices, first_slice, kX, kY, kZ, options.m2}, other, image);
    transpose_slices(image, p.height, p.width, slices, other);
    if (other != problem_.nearest) std::copy_n(other, other_.size(), problem_.nearest);
    return std::move(phases_);
  }

 private:
  static int slices(const Problem& problem) { return problem.options.slice ? 1 : problem.places.depth; }
  static std::size_t elements(const Problem& problem) {
    const Places& p = problem.places;
    return static_cast<std::size_t>(p.width) * static_cast<std::size_t>(p.height) *
           static_cast<std::size_t>(slices(problem));
  }
  /// Heads and tails of all bands' lists.
  static std::size_t ends(const Problem& problem) {
    const Places& p = problem.places;
    const int across = problem.is_volume() ? std::max(p.width, p.height) : p.height;
    return 2 * static_cast<std::size_t>(problem.options.m2) * static_cast<std::size_t>(across) *
           static_cast<std::size_t>(slices(problem));
  }

  /// Section 4.5: the sites nearest to a slice come to lie in it.
  void project(int slice, std::uint32_t* image) {
    const Places& p = problem_.places;
    parallel_jobs(problem_.options.execution, problem_.threads, p.height, [&](int, std::int64_t y) {
      for (int x = 0; x < p.width; ++x) {
        std::uint32_t nearest = kNone;
        for (int z = 0; z < p.depth; ++z) {
          const Point at{x, static_cast<int>(y), z};
          if (problem_.mask[p.index(at)]) nearest = nearer(p, {x, at.y, slice}, nearest, p.pack(at));
        }
        image[y * p.width + x] = nearest;
      }
    });
  }

  /// Phases 2 and 3.
  void find_along(const Columns& columns, const std::uint32_t* found, std::uint32_t* nearest) {
    const Lists lists{columns, found, links_.data(), ends_.data(), ends_.data() + columns.bands * columns.count()};
    timed(phases_, "hierarchical merging", [&] {
      each_band(problem_, columns, columns.bands,
                [&](std::int64_t column, int band) { stack_band(lists, column, band); });
      for (int step = 1; step < columns.bands; step *= 2)
        each_band(problem_, columns, (columns.bands - 1) / (2 * step) + 1, [&](std::int64_t column, int pair) {
          const int upper = pair * 2 * step;
          if (upper + step < columns.bands) merge_bands(lists, column, upper, upper + step);
        });
    });
    timed(phases_, "block colouring",
          [&] { each_band(problem_, columns, 1, [&](std::int64_t column, int) { color(lists, column, nearest); }); });
  }

  void transpose_slices(const std::uint32_t* from, int width, int height, int slices, std::uint32_t* to) {
    timed(phases_, "transposing", [&] { transpose(problem_, from, width, height, slices, to); });
  }

  const Problem& problem_;
  std::vector<std::uint32_t> other_;
  std::vector<Link> links_;
  std::vector<int> ends_;
  Phases phases_;
};

}  // namespace

Phases pba(const Problem& problem) { return Transform(problem).run(); }

std::size_t pba_bytes(const Problem& problem) { return Transform::bytes(problem); }

}  // namespace fathom::published::cpu
