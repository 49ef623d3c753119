// Nearest triangles through the tree: depth first, the nearest child first, leaving out what is farther than the best.
// Each point starts from the block that answered the one before.
// Source: Roussopoulos et al. 1995; departs by 8 boxes and 8 triangles at a time.
// Cost: O(log n) nodes per point near the surface; far from a finely divided one, every block about equally near.
#include "mesh/cpu/search.h"

#include <algorithm>
#include <chrono>

#include "core/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mesh/cpu/search.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "mesh/cpu/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::mesh::cpu::HWY_NAMESPACE {

class Search {
 public:
  explicit Search(const Tree& tree) : tree_(tree) {}

  /// @param near  where the search starts
  Found nearest(Vec3 point, std::int64_t near) {
    point_ = point;
    best_ = {};
    best_id_ = std::numeric_limits<std::int32_t>::max();
    visit_block(near / kFan);
    const std::int64_t visited = near / kFan;
    depth_ = 0;
    push_children(static_cast<int>(tree_.levels.size()) - 1, 0);
    while (depth_ > 0) {
      const Node node = stack_[--depth_];
      if (node.bound > reach_) continue;
      if (node.level > 0) push_children(node.level - 1, node.index);
      else if (node.index != visited) visit_block(node.index);
    }
    return best_;
  }

 private:
  struct Node {
    double bound;
    std::int64_t index;
    int level;
  };

  void visit_block(std::int64_t number) {
    const Block& block = tree_.blocks[static_cast<std::size_t>(number)];
    const Vec3s point = set(point_);
    double squares[kFan];
    for (std::size_t i = 0; i < kFan; i += hn::Lanes(kDoubles)) {
      const Lane square = squared(load(block, i), point);
      if (hn::AllFalse(kDoubles, hn::Le(square, hn::Set(kDoubles, best_.squared)))) continue;
      hn::StoreU(square, kDoubles, squares);
      for (std::size_t lane = 0; lane < hn::Lanes(kDoubles); ++lane)
        take(squares[lane], number * kFan + static_cast<std::int64_t>(i + lane));
    }
    reach_ = reach_of(best_.squared, tree_.longest_squared);
  }

  void take(double square, std::int64_t place) {
    const std::int32_t id = tree_.ids[static_cast<std::size_t>(place)];
    if (!(square < best_.squared || (square == best_.squared && id < best_id_))) return;
    best_ = {square, place};
    best_id_ = id;
  }

  /// The nodes of a group that may hold something nearer, the nearest on top.
  void push_children(int level, std::int64_t group) {
    const Boxes& boxes = tree_.levels[static_cast<std::size_t>(level)][static_cast<std::size_t>(group)];
    double bounds[kFan];
    for (std::size_t i = 0; i < kFan; i += hn::Lanes(kDoubles)) hn::StoreU(bounds_of(boxes, i), kDoubles, bounds + i);
    const int first = depth_;
    for (int i = 0; i < kFan; ++i) {
      if (!(bounds[i] <= reach_)) continue;
      int at = depth_++;
      for (; at > first && stack_[at - 1].bound < bounds[i]; --at) stack_[at] = stack_[at - 1];
      stack_[at] = {bounds[i], group * kFan + i, level};
    }
  }

  HWY_INLINE Lane bounds_of(const Boxes& boxes, std::size_t first) const {
    const double place[3] = {point_.x, point_.y, point_.z};
    Lane sum = hn::Zero(kDoubles);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const Lane q = hn::Set(kDoubles, place[axis]);
      const Lane gap = hn::Max(hn::Max(hn::Sub(hn::LoadU(kDoubles, boxes.low[axis] + first), q),
                                       hn::Sub(q, hn::LoadU(kDoubles, boxes.high[axis] + first))),
                               hn::Zero(kDoubles));
      sum = hn::Add(sum, hn::Mul(gap, gap));
    }
    return sum;
  }

  const Tree& tree_;
  Vec3 point_;
  Found best_;
  std::int32_t best_id_ = 0;
  double reach_ = 0;
  Node stack_[kFan * 16];  // 8¹¹ blocks hold more triangles than can be counted
  int depth_ = 0;
};

void find_all(const Tree& tree, const Vec3* points, std::int64_t count, std::int64_t near, Found* found) {
  Search search(tree);
  for (std::int64_t i = 0; i < count; ++i) {
    found[i] = search.nearest(points[i], near);
    near = found[i].place;
  }
}

}  // namespace fathom::mesh::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::mesh::cpu {

void find_nearest(const Tree& tree, const Vec3* points, std::int64_t count, Found* found, InstructionSet set,
                  std::int64_t near) {
  FATHOM_COMPILED_FOR(set, find_all)(tree, points, count, near, found);
}

void find_nearest(const Tree& tree, const std::vector<Vec3>& points, std::vector<Found>& found, InstructionSet set,
                  Monitor& monitor) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kLittle{5};
  found.resize(points.size());
  const auto count = static_cast<std::int64_t>(points.size());
  std::int64_t size = 1, near = 0;
  for (std::int64_t at = 0; at < count; monitor.look()) {
    const Clock::time_point begin = Clock::now();
    const std::int64_t now = std::min(size, count - at);
    find_nearest(tree, points.data() + at, now, found.data() + at, set, near);
    at += now;
    near = found[static_cast<std::size_t>(at - 1)].place;
    if (Clock::now() - begin < kLittle) size *= 2;
  }
}

}  // namespace fathom::mesh::cpu
#endif
