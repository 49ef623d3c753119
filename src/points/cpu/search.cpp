// Nearest sites through the tree: depth first, the nearest child first, leaving out what is farther than the worst of
// the list. Each query starts from the sites that answered the one before, which along a curve is close by.
// Source: Roussopoulos et al. 1995; departs by 8 boxes at a time, by bounds that need no margin (measure.hd.h), and by
// leaving out equally near nodes that hold no lower id, without which many equal sites would all be visited.
// Cost: O(log n) nodes per query for sites spread out; at worst, for sites all equally far, every site.
#include "points/cpu/search.h"

#include "core/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "points/cpu/search.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>

#include "points/cpu/kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::points::cpu::HWY_NAMESPACE {

template <class Kernel>
class Search {
 public:
  using Value = typename Kernel::Value;
  using T = typename Kernel::Coordinate;
  static constexpr int kAxes = Kernel::kAxisCount;

  explicit Search(const SearchJob& job)
      : job_(job),
        tree_(*job.tree),
        request_(*job.request),
        kernel_(request_.period),
        limit_(squared_limit<Value>(request_)) {}

  void run() {
    constexpr std::int64_t kAhead = 8;
    const Stretch& queries = job_.queries;
    for (std::int64_t i = queries.begin; i < queries.end; ++i) {
      request_.queries.prefetch(queries.query_at(std::min(i + kAhead, queries.end - 1)));
      answer_one(queries.query_at(i));
    }
  }

 private:
  struct Node {
    Value bound;
    std::int64_t index;
    int level;
  };

  void answer_one(std::int64_t query) {
    place_ = place_of(request_, query);
    kernel_.set_query(place_);
    if (has_cones()) cone_ = cone_of(request_.cones, query);
    clear(list_, request_.k, starting_limit());
    reach_ = reach_of(request_, worst().squared, worst().id);
    work_ = 0;
    depth_ = 0;
    const bool stopped = descend();
    write(query, stopped);
  }

  /// The radius; or, closer, how far the sites are that answered the query before, if they would do for this one.
  Value starting_limit() const {
    if (!may_carry_ || !request_.exact() || has_cones()) return limit_;
    Value farthest{};
    for (int j = 0; j < request_.k; ++j) farthest = std::max(farthest, squared_distance(list_[j].position));
    return std::min(farthest, limit_);
  }

  Value squared_distance(std::int64_t position) const {
    Value sum{};
    for (int k = 0; k < kAxes; ++k) {
      using Step = Difference<Value>;
      const auto i = static_cast<std::size_t>(k);
      sum = with_way<Kernel::kMetric>(sum, way(static_cast<Step>(place_[i]), static_cast<Step>(coordinate(k, position)),
                                               static_cast<Step>(request_.period[i])));
    }
    return sum;
  }

  double coordinate(int k, std::int64_t position) const {
    if (tree_.storage != Storage::sorted) return tree_.sites.at(k, position);
    const std::int64_t leaf = position / kSortedLeaf;
    return static_cast<double>(
        reinterpret_cast<const T*>(tree_.blocks.data())[(leaf * kAxes + k) * kSortedLeaf + position % kSortedLeaf]);
  }

  bool has_cones() const { return Kernel::kMetric == Metric::euclidean && request_.cones.present; }

  const Candidate<Value>& worst() const { return list_[request_.k - 1]; }

  bool worth_visiting(const Node& node) const {
    if (node.bound > reach_) return false;
    return node.bound < worst().squared || lowest_id(node) < worst().id;
  }

  std::int64_t lowest_id(const Node& node) const {
    const Level& level = tree_.levels[static_cast<std::size_t>(node.level)];
    if (!level.lowest.empty()) return level.lowest[static_cast<std::size_t>(node.index)];
    return (node.index * tree_.leaf << (3 * node.level)) * tree_.sites.every;
  }

  /// @return whether the work limit ended it
  bool descend() {
    push_children(static_cast<int>(tree_.levels.size()) - 1, 0);
    while (depth_ > 0) {
      if (request_.work_limit > 0 && work_ >= request_.work_limit) return true;
      const Node node = stack_[--depth_];
      if (!worth_visiting(node)) continue;
      if (node.level > 0) push_children(node.level - 1, node.index);
      else visit_leaf(node.index);
    }
    return false;
  }

  /// Siblings that are worth it go onto the stack, the nearest on top.
  void push_children(int level_number, std::int64_t group) {
    const Level& level = tree_.levels[static_cast<std::size_t>(level_number)];
    const T* boxes = reinterpret_cast<const T*>(level.boxes.data()) + group * (2 * kAxes * kFan);
    alignas(64) Value bounds[kFan];
    const std::int64_t first = group * kFan, count = std::min<std::int64_t>(kFan, level.count - first);
    unsigned near = kernel_.bounds(boxes, reach_, bounds) & ((1u << count) - 1);
    const int bottom = depth_;
    for (; near != 0; near &= near - 1) {
      const int i = std::countr_zero(near);
      const Node node{bounds[i], first + i, level_number};
      if (!worth_visiting(node) || (has_cones() && !cone_meets(boxes + i))) continue;
      int at = depth_++;
      for (; at > bottom && !(node.bound < stack_[at - 1].bound); --at) stack_[at] = stack_[at - 1];
      stack_[at] = node;
    }
    // Equal bounds: the later sibling lies deeper, so that ids are met in ascending order.
  }

  bool cone_meets(const T* box) const {
    double low[kAxes], high[kAxes];
    for (int k = 0; k < kAxes; ++k) {
      low[k] = static_cast<double>(box[2 * k * kFan]) - place_[static_cast<std::size_t>(k)];
      high[k] = static_cast<double>(box[(2 * k + 1) * kFan]) - place_[static_cast<std::size_t>(k)];
    }
    return may_hold(cone_, low, high, kAxes);
  }

  void visit_leaf(std::int64_t leaf) {
    const std::int64_t first = leaf * tree_.leaf, end = first + tree_.size_of_leaf(leaf);
    work_ += end - first;
    if (tree_.storage == Storage::sorted) {
      const T* block = reinterpret_cast<const T*>(tree_.blocks.data()) + leaf * (kAxes * kSortedLeaf);
      return measure(block, first, end - first);
    }
    alignas(64) double gathered[kAxes * kBlock];
    for (std::int64_t at = first; at < end; at += kBlock) {
      const std::int64_t size = std::min<std::int64_t>(kBlock, end - at);
      gather_block<kAxes>(tree_.sites, at, size, gathered, kBlock);
      measure(gathered, at, size);
    }
  }

  template <class S>
  HWY_INLINE void measure(const S* sites, std::int64_t first, std::int64_t size) {
    alignas(64) Value squared[kBlock];
    std::uint32_t near = kernel_.distances(sites, kBlock, worst().squared, squared) & first_bits(size);
    for (; near != 0; near &= near - 1) {
      const int j = std::countr_zero(near);
      if (!(worst().squared < squared[j])) consider({squared[j], raw_id(first + j), first + j});
    }
  }

  std::int64_t raw_id(std::int64_t position) const {
    return tree_.ids.empty() ? position * tree_.sites.every : tree_.ids[static_cast<std::size_t>(position)];
  }

  void consider(const Candidate<Value>& candidate) {
    if (!comes_before(candidate.squared, candidate.id, worst())) return;
    if (has_cones() && !in_cone(candidate)) return;
    insert(list_, request_.k, candidate);
    reach_ = reach_of(request_, worst().squared, worst().id);
  }

  bool in_cone(const Candidate<Value>& candidate) const {
    double offset[kAxes];
    for (int k = 0; k < kAxes; ++k) offset[k] = coordinate(k, candidate.position) - place_[static_cast<std::size_t>(k)];
    return holds(cone_, offset, static_cast<double>(candidate.squared), kAxes);
  }

  /// No site that was not looked at is nearer.
  Value lower_bound(bool stopped) const {
    Value lower = std::min(list_[0].squared, reach_);
    if (stopped)
      for (int i = 0; i < depth_; ++i) lower = std::min(lower, stack_[i].bound);
    return lower;
  }

  void write(std::int64_t query, bool stopped) {
    may_carry_ = worst().id != kNobody;
    const bool known = stopped || list_[0].id != kNobody;
    const Value lower = lower_bound(stopped);
    if (request_.naming.linear)
      for (int j = 0; j < request_.k && list_[j].id != kNobody; ++j)
        list_[j].id = id_of(tree_, request_.naming, list_[j].position);
    answer(request_, query, list_, lower, known);
  }

  const SearchJob& job_;
  const Tree& tree_;
  const Request& request_;
  Kernel kernel_;
  const Value limit_;
  std::array<double, 3> place_{};
  ConeOfQuery cone_;
  Value reach_{};
  std::int64_t work_ = 0;
  bool may_carry_ = false;  ///< the list holds k sites, which answered the query before
  int depth_ = 0;
  Candidate<Value> list_[64];
  Node stack_[kFan * 16];  ///< 16 levels of 8 children are more than 2³² leaves
};

template <class T, int kAxes>
void search_among(const SearchJob& job) {
  if constexpr (std::is_same_v<T, std::int32_t>)
    if (job.wide) return Search<WideKernel<kAxes>>(job).run();
  visit_metric(job.request->metric, [&](auto metric) {
    job.request->periodic() ? Search<RealKernel<T, kAxes, true, metric>>(job).run()
                            : Search<RealKernel<T, kAxes, false, metric>>(job).run();
  });
}

void search_tree(const SearchJob& job) {
  visit_coordinates(job.tree->dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    job.tree->axes == 2 ? search_among<T, 2>(job) : search_among<T, 3>(job);
  });
}

}  // namespace fathom::points::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::points::cpu {

void search(const SearchJob& job, InstructionSet instruction_set) {
  FATHOM_COMPILED_FOR(instruction_set, search_tree)(job);
}

std::int64_t id_of(const Tree& tree, const Naming& naming, std::int64_t position) {
  if (!tree.ids.empty()) return tree.ids[static_cast<std::size_t>(position)];
  return naming.linear ? linear_id(naming, tree.sites, position) : position * tree.sites.every;
}

}  // namespace fathom::points::cpu
#endif
