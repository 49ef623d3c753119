#include "apps/cpu/balls.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "apps/cpu/ball_rows.h"
#include "core/parallel.h"

namespace fathom::apps::cpu {

namespace {

constexpr std::int64_t kWordElements = 64;  // of marks

/// A step along an axis that is not there, or farther than the array, is never asked for: extents bound them.
template <class T>
void make_rows(const Measure<T>& measure, const Lattice3& lattice, T squared, BallRows& rows) {
  const T bound = bound_of(squared);
  rows.half.assign(kBlockRows, -1);
  rows.middle.clear();
  rows.reach.clear();
  std::int64_t y = 0, x = 0;  // the reach of the slice before
  while (y < lattice.extent[1] && measure(0, y, 0) < bound) ++y;
  while (x < lattice.extent[2] && measure(0, 0, x) < bound) ++x;
  for (std::int64_t z = 0; z < lattice.extent[0] && measure(z, 0, 0) < bound; ++z) {
    while (y > 0 && !(measure(z, y, 0) < bound)) --y;
    while (x > 0 && !(measure(z, 0, x) < bound)) --x;
    const std::size_t middle = rows.half.size() + static_cast<std::size_t>(y);
    rows.half.resize(middle + static_cast<std::size_t>(y + 1 + kBlockRows), -1);
    std::int64_t half = x;
    for (std::int64_t row = 0; row <= y; ++row) {
      while (!(measure(z, row, half) < bound)) --half;
      rows.half[middle + static_cast<std::size_t>(row)] = rows.half[middle - static_cast<std::size_t>(row)] =
          static_cast<std::int32_t>(half);
    }
    rows.middle.push_back(middle);
    rows.reach.push_back(static_cast<std::int32_t>(y));
  }
}

/// For the neighbours that differ along one, two and three axes: the least squared radius whose ball covers all of a
/// ball, by that ball's squared radius.
class Containment {
 public:
  using Needed = std::array<std::uint32_t, 3>;

  /// @param largest  squared radius of interest
  Containment(const Lattice3& lattice, std::uint32_t largest)
      : needed_(std::min<std::size_t>(largest, most(lattice)) + 1, Needed{}) {
    const auto end = static_cast<std::int64_t>(needed_.size()) - 1;
    // The farthest points from a neighbour, of those on a sphere, have the largest coordinates against it.
    for (std::int64_t z = 0; z < lattice.extent[0] && z * z < end; ++z)
      for (std::int64_t y = 0; y < lattice.extent[1] && z * z + y * y < end; ++y)
        for (std::int64_t x = 0; x < lattice.extent[2] && z * z + y * y + x * x < end; ++x) {
          const std::int64_t n = z * z + y * y + x * x;
          std::array<std::int64_t, 3> sorted{x, y, z};
          std::sort(sorted.rbegin(), sorted.rend());
          std::int64_t along = 0;
          for (std::size_t axes = 0; axes < 3; ++axes) {
            along += sorted[axes];
            std::uint32_t& most = needed_[static_cast<std::size_t>(n + 1)][axes];
            most = std::max(most, static_cast<std::uint32_t>(n + 2 * along + static_cast<std::int64_t>(axes) + 2));
          }
        }
    for (std::size_t n = 1; n < needed_.size(); ++n)
      for (std::size_t axes = 0; axes < 3; ++axes)
        needed_[n][axes] = std::max({needed_[n][axes], needed_[n - 1][axes], static_cast<std::uint32_t>(n)});
  }

  /// Whether none of the neighbours' largest balls covers all of a ball.
  bool is_maximal(std::uint32_t squared, std::uint32_t axis, std::uint32_t edge, std::uint32_t corner) const {
    if (squared >= needed_.size()) return true;
    const Needed& needed = needed_[squared];
    return axis < needed[0] && edge < needed[1] && corner < needed[2];
  }

  /// Most squared radii that a table is made for; balls beyond are all drawn.
  static std::size_t most(const Lattice3& lattice) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(lattice.size() / 16, 1 << 12, 1 << 22));
  }

 private:
  std::vector<Needed> needed_;
};

/// Where balls are drawn: a bit per element, rows by themselves.
class Marks {
 public:
  explicit Marks(const Lattice3& lattice)
      : pitch_((lattice.extent[2] + kWordElements - 1) / kWordElements),
        words_(static_cast<std::size_t>(lattice.extent[0] * lattice.extent[1] * pitch_)) {}

  std::uint64_t* row(std::int64_t row) { return words_.data() + row * pitch_; }
  std::int64_t pitch() const { return pitch_; }

 private:
  std::int64_t pitch_;
  std::vector<std::uint64_t> words_;
};

/// Largest values of the neighbours, row by row.
class NeighbourRows {
 public:
  explicit NeighbourRows(const Lattice3& lattice)
      : lattice_(lattice), zeros_(width()), edge_(width() + 2), corner_(width() + 2), own_(width() + 2) {}

  void mark(const std::uint32_t* squared, std::int64_t row, std::uint32_t least, const Containment& containment,
            std::uint64_t* marks) {
    const std::int64_t z = row / lattice_.extent[1], y = row % lattice_.extent[1];
    const auto at = [&](std::int64_t dz, std::int64_t dy) {
      const bool inside = z + dz >= 0 && z + dz < lattice_.extent[0] && y + dy >= 0 && y + dy < lattice_.extent[1];
      return inside ? squared + ((z + dz) * lattice_.extent[1] + y + dy) * lattice_.extent[2] : zeros_.data();
    };
    largest(at(0, -1), at(0, 1), at(-1, 0), at(1, 0), edge_.data() + 1);
    largest(at(-1, -1), at(-1, 1), at(1, -1), at(1, 1), corner_.data() + 1);
    std::copy_n(at(0, 0), width(), own_.data() + 1);
    const std::uint32_t *own = own_.data() + 1, *edge = edge_.data() + 1, *corner = corner_.data() + 1;
    for (std::int64_t x = 0; x < lattice_.extent[2]; ++x) {
      if (own[x] <= least) continue;
      const bool maximal = containment.is_maximal(own[x], std::max({edge[x], own[x - 1], own[x + 1]}),
                                                  std::max({corner[x], edge[x - 1], edge[x + 1]}),
                                                  std::max(corner[x - 1], corner[x + 1]));
      if (maximal) marks[x / kWordElements] |= std::uint64_t{1} << (x % kWordElements);
    }
  }

 private:
  using Row = std::vector<std::uint32_t>;

  std::size_t width() const { return static_cast<std::size_t>(lattice_.extent[2]); }
  void largest(const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c, const std::uint32_t* d,
               std::uint32_t* out) const {
    for (std::size_t x = 0; x < width(); ++x) out[x] = std::max(std::max(a[x], b[x]), std::max(c[x], d[x]));
  }

  const Lattice3& lattice_;
  Row zeros_, edge_, corner_, own_;
};

/// Marks the balls that are to be drawn.
template <class T>
Marks mark_balls(const T* squared, const Lattice3& lattice, int threads, const Execution& execution) {
  const std::int64_t rows = lattice.extent[0] * lattice.extent[1], width = lattice.extent[2];
  constexpr std::int64_t kRowsOfJob = 64;
  Marks marks(lattice);
  const T least = least_ball<T>(lattice);
  const auto each_row = [&](auto&& body) {
    parallel_jobs(execution, threads, (rows + kRowsOfJob - 1) / kRowsOfJob, [&](int worker, std::int64_t job) {
      for (std::int64_t row = job * kRowsOfJob; row < std::min(rows, (job + 1) * kRowsOfJob); ++row) body(worker, row);
    });
  };
  if constexpr (std::is_same_v<T, std::uint32_t>) {
    const Containment containment(lattice, *std::max_element(squared, squared + lattice.size()));
    std::vector<NeighbourRows> neighbours(static_cast<std::size_t>(threads), NeighbourRows(lattice));
    each_row([&](int worker, std::int64_t row) {
      neighbours[static_cast<std::size_t>(worker)].mark(squared, row, least, containment, marks.row(row));
    });
  } else {
    each_row([&](int, std::int64_t row) {
      for (std::int64_t x = 0; x < width; ++x)
        if (squared[row * width + x] > least)
          marks.row(row)[x / kWordElements] |= std::uint64_t{1} << (x % kWordElements);
    });
  }
  return marks;
}

/// Never rises where the squared radius falls.
template <class T>
std::uint32_t bin_of(T squared) {
  constexpr int kDropped = 12;  // of a float's 23 bits
  return std::bit_cast<std::uint32_t>(static_cast<float>(squared)) >> kDropped;
}

/// Whether all that is in the value's bin is the same.
template <class T>
bool is_alone_in_bin(T squared) {
  return std::is_integral_v<T> && squared < T{1 << 12};
}

/// Linear indices of the middles of balls, the largest first, and those of a size in order.
template <class Index>
struct Order {
  std::vector<Index> middles;
  std::vector<std::size_t> ends;  ///< of bins: their balls are of one size, or of sizes that are nearly the same
};

/// The marked elements.
template <class Index, class T>
Order<Index> order_balls(const T* squared, const Lattice3& lattice, Marks& marks) {
  const std::int64_t rows = lattice.extent[0] * lattice.extent[1], width = lattice.extent[2];
  const auto each = [&](auto&& body) {
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t word = 0; word < marks.pitch(); ++word)
        for (std::uint64_t left = marks.row(row)[word]; left != 0; left &= left - 1)
          body(row * width + word * kWordElements + std::countr_zero(left));
  };
  std::uint32_t first = std::numeric_limits<std::uint32_t>::max(), last = 0;
  each([&](std::int64_t element) {
    const std::uint32_t bin = bin_of(squared[element]);
    first = std::min(first, bin);
    last = std::max(last, bin);
  });
  if (last < first) return {};
  std::vector<std::size_t> ends(last - first + 2);
  each([&](std::int64_t element) { ++ends[last - bin_of(squared[element]) + 1]; });
  for (std::size_t bin = 1; bin < ends.size(); ++bin) ends[bin] += ends[bin - 1];
  std::vector<Index> middles(ends.back());
  each([&](std::int64_t element) { middles[ends[last - bin_of(squared[element])]++] = static_cast<Index>(element); });
  std::size_t begin = 0;
  for (std::size_t end : ends) {  // each has moved to its bin's end
    if (begin < end && !is_alone_in_bin(squared[middles[begin]]))
      std::sort(middles.begin() + static_cast<std::ptrdiff_t>(begin),
                middles.begin() + static_cast<std::ptrdiff_t>(end),
                [&](Index a, Index b) { return squared[a] > squared[b] || (squared[a] == squared[b] && a < b); });
    begin = end;
  }
  return {std::move(middles), std::move(ends)};
}

/// Elements that are to be covered, where these are known: those of the balls' middles. Else all.
template <class T>
Uncovered uncovered_of(const T* squared, const Lattice3& lattice, Extent covered) {
  Uncovered uncovered(lattice);
  const auto [depth, height, width] = lattice.extent;
  for (std::int64_t z = 0; z < depth; ++z)
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t column = 0; column < uncovered.columns; ++column) {
        const std::int64_t first = column * kWordBits, count = std::min<std::int64_t>(kWordBits, width - first);
        const T* values = squared + (z * height + y) * width + first;
        std::uint32_t word = 0;
        for (std::int64_t x = 0; x < count; ++x)
          word |= static_cast<std::uint32_t>(covered == Extent::everywhere || values[x] > 0) << x;
        uncovered.words_of(z, column)[y] = word;
        const std::int64_t block = y / kBlockRows;
        uncovered.live_of(z, column)[block / 64] |= static_cast<std::uint64_t>(word != 0) << (block % 64);
      }
  return uncovered;
}

/// How many parts of the volume are drawn by themselves: as many as there are threads, and of volumes more, so that the
/// bits of each stay in the cache.
std::int64_t parts_of(const Uncovered& uncovered, int threads) {
  constexpr std::size_t kWordsOfPart = 1 << 17;
  if (uncovered.extent[0] == 1) return threads;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(uncovered.words.size() / kWordsOfPart), threads,
                                  std::max<std::int64_t>(threads, uncovered.extent[0] / 16));
}

/// Slices; images have but one, of which a part is columns of words.
BallPart part_of(const Uncovered& uncovered, std::int64_t part, std::int64_t parts) {
  const bool slices = uncovered.extent[0] > 1;
  const std::int64_t count = slices ? uncovered.extent[0] : uncovered.columns;
  const std::int64_t begin = count * part / parts, end = count * (part + 1) / parts;
  if (slices) return {begin, end, 0, uncovered.columns};
  return {0, uncovered.extent[0], begin, end};
}

/// Draws balls in one part of a volume.
template <class T, class Index>
class Drawing {
 public:
  Drawing(const Lattice3& lattice, const BallPart& part, InstructionSet instruction_set, Uncovered& uncovered,
          Monitor& monitor, const Painter<T>& paint)
      : lattice_(lattice),
        measure_(lattice.weights()),
        part_(part),
        instruction_set_(instruction_set),
        uncovered_(uncovered),
        monitor_(monitor),
        paint_(paint) {}

  void draw(const T* squared, const Order<Index>& order) {
    auto begin = order.middles.begin();
    for (const std::size_t bin : order.ends) {
      const auto bin_end = order.middles.begin() + static_cast<std::ptrdiff_t>(bin);
      while (begin != bin_end) {
        const T size = squared[*begin];
        const auto end = is_alone_in_bin(size)
                             ? bin_end
                             : std::find_if(begin, bin_end, [&](Index middle) { return squared[middle] != size; });
        draw_size(size, {begin, end});
        monitor_.advance(end - begin);
        begin = end;
      }
    }
  }

 private:
  void draw_size(T squared, std::span<const Index> middles) {
    constexpr int kBetweenLooks = 1 << 10;
    make_rows(measure_, lattice_, squared, rows_);
    const auto height = static_cast<Index>(lattice_.extent[1]), width = static_cast<Index>(lattice_.extent[2]);
    const auto reach = static_cast<std::int64_t>(rows_.reach.size()) - 1;
    const auto first_in = [&](std::int64_t z) {
      const auto slice = static_cast<Index>(std::clamp<std::int64_t>(z, 0, lattice_.extent[0]));
      return std::lower_bound(middles.begin(), middles.end(), slice * height * width);
    };
    const auto end = first_in(part_.end_z + reach);
    for (auto middle = first_in(part_.begin_z - reach); middle < end; ++middle) {
      if (++drawn_ % kBetweenLooks == 0) monitor_.look();
      const Index x = *middle % width, row = *middle / width;
      covered_.clear();
      cover(uncovered_, part_, rows_,
            {static_cast<std::int64_t>(row / height), static_cast<std::int64_t>(row % height),
             static_cast<std::int64_t>(x)},
            covered_, instruction_set_);
      if (!covered_.empty()) paint_(squared, covered_);
    }
  }

  const Lattice3& lattice_;
  const Measure<T> measure_;
  const BallPart part_;
  const InstructionSet instruction_set_;
  Uncovered& uncovered_;
  Monitor& monitor_;
  const Painter<T>& paint_;
  BallRows rows_;
  std::vector<Covered> covered_;
  std::int64_t drawn_ = 0;
};

template <class T, class Index>
void draw_in_order(const T* squared, const Lattice3& lattice, Marks marks, Extent covers,
                   InstructionSet instruction_set, int threads, const Execution& execution, const Painter<T>& paint) {
  const Order<Index> order = order_balls<Index>(squared, lattice, marks);
  marks = Marks(Lattice3{});
  Uncovered uncovered = uncovered_of(squared, lattice, covers);
  const std::int64_t parts = parts_of(uncovered, threads);
  Monitor monitor(execution, parts * static_cast<std::int64_t>(order.middles.size()));
  parallel_jobs(execution, threads, parts, [&](int, std::int64_t part) {
    Drawing<T, Index>(lattice, part_of(uncovered, part, parts), instruction_set, uncovered, monitor, paint)
        .draw(squared, order);
  });
}

}  // namespace

std::size_t balls_bytes(const Lattice3& lattice, int threads, std::size_t value_bytes) {
  const std::array<std::size_t, 3> extent{static_cast<std::size_t>(lattice.extent[0]),
                                          static_cast<std::size_t>(lattice.extent[1]),
                                          static_cast<std::size_t>(lattice.extent[2])};
  const std::size_t elements = extent[0] * extent[1] * extent[2], rows = extent[0] * extent[1];
  const std::size_t order = elements * (elements <= std::numeric_limits<std::uint32_t>::max() ? 4 : 8);
  double least = lattice.weights()[2], most = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    least = std::min(least, lattice.weights()[k]);
    most += lattice.weights()[k] * static_cast<double>(lattice.extent[k]) * static_cast<double>(lattice.extent[k]);
  }
  const std::size_t bins = 8 * (bin_of(most) - bin_of(least) + std::size_t{2});
  const std::size_t blocks = (extent[1] + kBlockRows - 1) / kBlockRows;
  const std::size_t bits = extent[0] * ((extent[2] + kWordBits - 1) / kWordBits) *
                           (4 * (extent[1] + kBlockRows - 1) + 8 * ((blocks + 63) / 64));
  const std::size_t ball = extent[0] * (4 * (2 * extent[1] + 1 + kBlockRows) + 12);  // its rows
  const std::size_t marks = 8 * rows * (extent[2] / kWordElements + 1);
  const std::size_t table = value_bytes == 4 ? 12 * (Containment::most(lattice) + 1) : 0;
  const std::size_t neighbours = 16 * (extent[2] + 2);
  const auto workers = static_cast<std::size_t>(threads);
  return std::max(marks + table + workers * neighbours, order + bins + std::max(marks, bits + workers * ball));
}

template <class T>
void draw_balls(const T* squared, const Lattice3& lattice, Extent covers, InstructionSet instruction_set, int threads,
                const Execution& execution, const Painter<T>& paint) {
  if (lattice.size() == 0) return;
  Marks marks = mark_balls(squared, lattice, threads, execution);
  const bool narrow = lattice.size() <= std::numeric_limits<std::uint32_t>::max();
  const auto draw = narrow ? &draw_in_order<T, std::uint32_t> : &draw_in_order<T, std::uint64_t>;
  draw(squared, lattice, std::move(marks), covers, instruction_set, threads, execution, paint);
}

template void draw_balls(const std::uint32_t*, const Lattice3&, Extent, InstructionSet, int, const Execution&,
                         const Painter<std::uint32_t>&);
template void draw_balls(const std::uint64_t*, const Lattice3&, Extent, InstructionSet, int, const Execution&,
                         const Painter<std::uint64_t>&);
template void draw_balls(const double*, const Lattice3&, Extent, InstructionSet, int, const Execution&,
                         const Painter<double>&);

}  // namespace fathom::apps::cpu
