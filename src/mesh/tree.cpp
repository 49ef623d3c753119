// The tree over a surface: ranges of triangles are halved along the longest side of their box, as in a k-d tree, down
// to blocks of kFan; boxes over each, boxes over kFan boxes, and so on upwards. Searches look at a third less than in
// Hilbert order.
// Source: packed trees after Leutenegger, Lopez & Edgington 1997, halved instead of tiled. Cost: O(n log n).
#include "mesh/tree.h"

#include <algorithm>
#include <limits>

namespace fathom::mesh {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kOfJob = 4096;

struct Interval {
  double low = kInfinity, high = -kInfinity;
  void add(double x) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
};

double coordinate(Vec3 point, int axis) { return axis == 0 ? point.x : axis == 1 ? point.y : point.z; }

/// Of a triangle's box.
struct Middle {
  double at[3];
  std::int32_t id;
};

Middle middle_of(const Surface& surface, std::int64_t triangle) {
  Middle middle{{}, static_cast<std::int32_t>(triangle)};
  for (int axis = 0; axis < 3; ++axis) {
    Interval extent;
    for (int k = 0; k < 3; ++k) extent.add(coordinate(surface.corner(triangle, k), axis));
    middle.at[axis] = extent.low + 0.5 * (extent.high - extent.low);
  }
  return middle;
}

struct Range {
  Middle *begin, *end;
};

/// Puts the lower half along the longest side of the box of their middles first, to the end of one of the tree's nodes.
/// @return where the halves meet; the end, if there is nothing to cut
Middle* halve(Range range) {
  const std::int64_t count = range.end - range.begin;
  if (count <= kFan) return range.end;
  Interval extent[3];
  for (const Middle* m = range.begin; m < range.end; ++m)
    for (int k = 0; k < 3; ++k) extent[k].add(m->at[k]);
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (extent[k].high - extent[k].low > extent[axis].high - extent[axis].low) axis = k;
  std::int64_t node = kFan;
  while (node * kFan < count) node *= kFan;
  Middle* const cut = range.begin + std::max<std::int64_t>(1, count / node / 2) * node;
  std::nth_element(range.begin, cut, range.end, [axis](const Middle& p, const Middle& q) {
    return p.at[axis] < q.at[axis] || (p.at[axis] == q.at[axis] && p.id < q.id);
  });
  return cut;
}

void order(Range range, Monitor& monitor) {
  constexpr std::int64_t kWorthLook = 1 << 16;
  if (range.end - range.begin > kWorthLook) monitor.look();
  Middle* const cut = halve(range);
  if (cut == range.end) return;
  order({range.begin, cut}, monitor);
  order({cut, range.end}, monitor);
}

/// The triangles' middles in the order of the tree. Large ranges are halved one level after the other, all at once.
std::vector<Middle> ordered_middles(const Surface& surface, int threads, Monitor& monitor) {
  std::vector<Middle> middles(static_cast<std::size_t>(surface.size()));
  parallel_jobs(threads, (surface.size() + kOfJob - 1) / kOfJob, [&](int, std::int64_t job) {
    for (std::int64_t i = job * kOfJob; i < std::min(surface.size(), (job + 1) * kOfJob); ++i)
      middles[static_cast<std::size_t>(i)] = middle_of(surface, i);
  });
  std::vector<Range> ranges{{middles.data(), middles.data() + middles.size()}};
  while (static_cast<std::int64_t>(ranges.size()) * kOfJob < surface.size()) {
    std::vector<Range> halves(2 * ranges.size());
    parallel_jobs(threads, static_cast<std::int64_t>(ranges.size()), [&](int, std::int64_t job) {
      const Range range = ranges[static_cast<std::size_t>(job)];
      Middle* const cut = halve(range);
      halves[static_cast<std::size_t>(2 * job)] = {range.begin, cut};
      halves[static_cast<std::size_t>(2 * job + 1)] = {cut, range.end};
      monitor.look();
    });
    ranges = std::move(halves);
  }
  parallel_jobs(threads, static_cast<std::int64_t>(ranges.size()),
                [&](int, std::int64_t job) { order(ranges[static_cast<std::size_t>(job)], monitor); });
  return middles;
}

void fill_place(Tree& tree, const Surface& surface, std::int64_t place, std::int64_t id) {
  const Ascending order = ascending(surface.corners[static_cast<std::size_t>(id)].data());
  const Triangle t =
      make_triangle(surface.corner(id, order.at[0]), surface.corner(id, order.at[1]), surface.corner(id, order.at[2]));
  Block& block = tree.blocks[static_cast<std::size_t>(place / kFan)];
  const auto i = static_cast<std::size_t>(place % kFan);
  const double numbers[13] = {t.a.x, t.a.y, t.a.z,        t.b.x,    t.b.y,    t.b.z,   t.c.x,
                              t.c.y, t.c.z, t.per_normal, t.per_ab, t.per_ac, t.per_bc};
  for (std::size_t k = 0; k < 9; ++k) block.corners[k][i] = numbers[k];
  for (std::size_t k = 0; k < 4; ++k) block.per[k][i] = numbers[9 + k];
  tree.ids[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(id);
}

void put_box(Boxes& boxes, std::size_t child, std::size_t axis, const Interval& extent) {
  boxes.low[axis][child] = extent.low;
  boxes.high[axis][child] = extent.high;
}

void box_block(Tree& tree, std::int64_t number) {
  const Block& block = tree.blocks[static_cast<std::size_t>(number)];
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Interval extent;
    for (std::size_t corner = axis; corner < 9; corner += 3)
      for (double x : block.corners[corner]) extent.add(x);
    put_box(tree.levels[0][static_cast<std::size_t>(number / kFan)], static_cast<std::size_t>(number % kFan), axis,
            extent);
  }
}

constexpr Boxes no_boxes() {
  Boxes boxes{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (std::size_t i = 0; i < kFan; ++i) {
      boxes.low[axis][i] = kInfinity;
      boxes.high[axis][i] = -kInfinity;
    }
  return boxes;
}

void add_upper_level(Tree& tree) {
  const std::size_t groups = tree.levels.back().size();
  tree.levels.emplace_back((groups + kFan - 1) / kFan, no_boxes());
  const auto& below = tree.levels[tree.levels.size() - 2];
  for (std::size_t node = 0; node < groups; ++node)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      Interval extent;
      for (double x : below[node].low[axis]) extent.low = std::min(extent.low, x);
      for (double x : below[node].high[axis]) extent.high = std::max(extent.high, x);
      put_box(tree.levels.back()[node / kFan], node % kFan, axis, extent);
    }
}

/// Of the triangles of blocks [begin, end).
double longest_squared(const Tree& tree, std::int64_t begin, std::int64_t end) {
  double longest = 0;
  for (std::int64_t place = begin * kFan; place < end * kFan; ++place) {
    const Triangle t = tree.triangle(place);
    for (const Vec3 side : {t.b - t.a, t.c - t.a, t.c - t.b}) longest = std::max(longest, dot(side, side));
  }
  return longest;
}

}  // namespace

Tree build_tree(const Surface& surface, int threads, Monitor& monitor) {
  const std::vector<Middle> middles = ordered_middles(surface, threads, monitor);
  Tree tree;
  tree.count = surface.size();
  const std::int64_t blocks = (tree.count + kFan - 1) / kFan;
  tree.blocks.resize(static_cast<std::size_t>(blocks));
  tree.ids.resize(static_cast<std::size_t>(blocks * kFan));
  tree.levels.emplace_back((blocks + kFan - 1) / kFan, no_boxes());
  const std::int64_t jobs = (blocks + kOfJob - 1) / kOfJob;  // kOfJob is a multiple of kFan: no two jobs share a group
  std::vector<double> longest(static_cast<std::size_t>(jobs));
  parallel_jobs(threads, jobs, [&](int, std::int64_t job) {
    const std::int64_t begin = job * kOfJob, end = std::min(blocks, begin + kOfJob);
    for (std::int64_t place = begin * kFan; place < end * kFan; ++place)
      fill_place(tree, surface, place, middles[static_cast<std::size_t>(std::min(place, tree.count - 1))].id);
    for (std::int64_t block = begin; block < end; ++block) box_block(tree, block);
    longest[static_cast<std::size_t>(job)] = longest_squared(tree, begin, end);
    monitor.advance(std::min(tree.count, end * kFan) - begin * kFan);
  });
  tree.longest_squared = *std::max_element(longest.begin(), longest.end());
  while (tree.levels.back().size() > 1) add_upper_level(tree);
  return tree;
}

}  // namespace fathom::mesh
