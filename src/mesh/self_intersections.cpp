// Pairs of triangles that meet: blocks of the tree against all later blocks whose boxes overlap, then triangle by
// triangle.
#include "fathom/mesh/self_intersections.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "fathom/core/error.h"
#include "mesh/cpu/field.h"
#include "mesh/meeting.h"

namespace fathom::mesh {

namespace {

using Pair = std::array<std::int32_t, 2>;

struct Range {
  Vec3 low, high;

  friend bool overlap(const Range& a, const Range& b) {
    return a.low.x <= b.high.x && b.low.x <= a.high.x && a.low.y <= b.high.y && b.low.y <= a.high.y &&
           a.low.z <= b.high.z && b.low.z <= a.high.z;
  }
};

Range range_at(const Boxes& boxes, std::size_t i) {
  return {{boxes.low[0][i], boxes.low[1][i], boxes.low[2][i]}, {boxes.high[0][i], boxes.high[1][i], boxes.high[2][i]}};
}

Range range_of(const Facet& t) {
  return {{std::min({t[0].x, t[1].x, t[2].x}), std::min({t[0].y, t[1].y, t[2].y}), std::min({t[0].z, t[1].z, t[2].z})},
          {std::max({t[0].x, t[1].x, t[2].x}), std::max({t[0].y, t[1].y, t[2].y}), std::max({t[0].z, t[1].z, t[2].z})}};
}

/// The triangles of a block that have an area.
struct Facets {
  int count = 0;
  std::array<Facet, kFan> corners;
  std::array<Range, kFan> ranges;
  std::array<std::int32_t, kFan> ids;

  Facets(const PreparedMesh& mesh, std::int64_t block) {
    for (std::int64_t place = block * kFan; place < std::min(mesh.tree.count, (block + 1) * kFan); ++place) {
      const std::int32_t id = mesh.tree.ids[static_cast<std::size_t>(place)];
      const Facet facet{snapped(mesh.surface.corner(id, 0)), snapped(mesh.surface.corner(id, 1)),
                        snapped(mesh.surface.corner(id, 2))};
      if (!has_area(facet)) continue;
      const auto at = static_cast<std::size_t>(count++);
      corners[at] = facet;
      ranges[at] = range_of(facet);
      ids[at] = id;
    }
  }
};

/// The lowest of the pairs that one thread found, and how many there were.
class Pairs {
 public:
  void add(std::int32_t a, std::int32_t b, std::size_t most) {
    ++count_;
    kept_.push_back({std::min(a, b), std::max(a, b)});
    if (kept_.size() == 2 * most) keep_lowest(kept_, most);
  }
  std::int64_t count() const { return count_; }
  const std::vector<Pair>& kept() const { return kept_; }

  static void keep_lowest(std::vector<Pair>& pairs, std::size_t most) {
    if (pairs.size() <= most) return;
    std::nth_element(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(most), pairs.end());
    pairs.resize(most);
  }

 private:
  std::int64_t count_ = 0;
  std::vector<Pair> kept_;
};

class Search {
 public:
  Search(const PreparedMesh& mesh, std::size_t most, Monitor& monitor) : mesh_(mesh), most_(most), monitor_(monitor) {}

  /// All pairs of a triangle in the block and one there or in a later block.
  void add_pairs(std::int64_t block, Pairs& pairs) const {
    const Facets own(mesh_, block);
    for (int i = 0; i < own.count; ++i)
      for (int j = i + 1; j < own.count; ++j) add_pair(own, i, own, j, pairs);
    const Range range =
        range_at(mesh_.tree.levels[0][static_cast<std::size_t>(block / kFan)], static_cast<std::size_t>(block % kFan));
    visit_later(static_cast<int>(mesh_.tree.levels.size()) - 1, 0, block, range, [&](std::int64_t later) {
      const Facets other(mesh_, later);
      for (int i = 0; i < own.count; ++i)
        for (int j = 0; j < other.count; ++j) add_pair(own, i, other, j, pairs);
      monitor_.look();
    });
  }

 private:
  /// visitor(number) for blocks after one whose boxes overlap a box.
  template <class Visitor>
  void visit_later(int level, std::int64_t group, std::int64_t after, const Range& range,
                   const Visitor& visitor) const {
    const Boxes& boxes = mesh_.tree.levels[static_cast<std::size_t>(level)][static_cast<std::size_t>(group)];
    for (int i = 0; i < kFan; ++i) {
      const std::int64_t node = group * kFan + i;
      if ((node + 1) << (3 * level) <= after + 1 || !overlap(range, range_at(boxes, static_cast<std::size_t>(i))))
        continue;
      if (level == 0) visitor(node);
      else visit_later(level - 1, node, after, range, visitor);
    }
  }

  void add_pair(const Facets& a, int i, const Facets& b, int j, Pairs& pairs) const {
    const auto p = static_cast<std::size_t>(i), q = static_cast<std::size_t>(j);
    if (!overlap(a.ranges[p], b.ranges[q])) return;
    const auto corners = [&](std::int32_t id) { return mesh_.surface.corners[static_cast<std::size_t>(id)]; };
    if (meet(a.corners[p], corners(a.ids[p]), b.corners[q], corners(b.ids[q]))) pairs.add(a.ids[p], b.ids[q], most_);
  }

  const PreparedMesh& mesh_;
  const std::size_t most_;
  Monitor& monitor_;
};

}  // namespace

SelfIntersections self_intersections(const TriangleSet& set, const SelfIntersectionOptions& options) {
  if (options.most_pairs < 0 || options.most_pairs > INT32_MAX)
    throw InvalidArgument("the number of pairs to keep is " + std::to_string(options.most_pairs) +
                          "; it must be from 0 to 2147483647");
  if (options.execution.backend == Backend::cuda)
    throw InvalidArgument("self-intersections are found by the backend cpu alone; use auto or cpu");
  const cpu::Run run = cpu::run_of(options.execution);
  const auto on_host = on_the_host(set);
  const PreparedMesh& mesh = *on_host;
  const auto most = static_cast<std::size_t>(options.most_pairs);
  const std::size_t bytes =
      most * 6 * sizeof(Pair) * static_cast<std::size_t>(run.threads) + (set.on_device() ? mesh.bytes() : 0);
  cpu::check_scratch(options.execution, bytes);
  const auto blocks = static_cast<std::int64_t>(mesh.tree.blocks.size());
  Monitor monitor(options.execution, blocks);
  const Search search(mesh, std::max<std::size_t>(most, 1), monitor);
  std::vector<Pairs> found(static_cast<std::size_t>(run.threads));
  constexpr std::int64_t kOfJob = 64;
  parallel_jobs(run.threads, (blocks + kOfJob - 1) / kOfJob, [&](int worker, std::int64_t job) {
    const std::int64_t begin = job * kOfJob, end = std::min(blocks, begin + kOfJob);
    for (std::int64_t block = begin; block < end; ++block)
      search.add_pairs(block, found[static_cast<std::size_t>(worker)]);
    monitor.advance(end - begin);
  });
  SelfIntersections result;
  std::vector<Pair> all;
  for (const Pairs& pairs : found) {
    result.count += pairs.count();
    all.insert(all.end(), pairs.kept().begin(), pairs.kept().end());
  }
  Pairs::keep_lowest(all, most);
  std::sort(all.begin(), all.end());
  result.pairs = Array(DType::int32, {static_cast<std::int64_t>(all.size()), 2});
  std::copy(all.begin(), all.end(), reinterpret_cast<Pair*>(result.pairs.as<std::int32_t>().data()));
  result.report = {Backend::cpu, run.set, run.threads, bytes, {}};
  return result;
}

}  // namespace fathom::mesh
