// The tree over a cloud: leaves of consecutive sites, boxes over each, boxes over kFan boxes, and so on upwards.
// Source: packed R-trees in Hilbert order, Kamel & Faloutsos 1993; the 8-ary tree without pointers follows the
// implicit trees of ray tracing. Cost: O(n).
#include "points/cpu/build.h"

#include <algorithm>

#include "points/cpu/boxes.h"
#include "core/curve_order.h"

namespace fathom::points::cpu {

namespace {

constexpr std::int64_t kLeavesOfJob = 512;

/// Sites of leaf `leaf` in curve order, its ids and box.
template <class T>
void fill_sorted_leaf(Tree& tree, const std::vector<std::uint64_t>& order, const std::vector<std::uint32_t>& ids,
                      const Cloud& sites, std::int64_t leaf) {
  const std::int64_t first = leaf * kSortedLeaf, size = std::min<std::int64_t>(kSortedLeaf, tree.count - first);
  T* block = reinterpret_cast<T*>(tree.blocks.data()) + leaf * tree.axes * kSortedLeaf;
  T* box = box_at<T>(tree.levels[0], tree.axes, leaf);
  for (int k = 0; k < tree.axes; ++k) {
    Bounds<T> bounds;
    for (std::int64_t j = 0; j < kSortedLeaf; ++j) {
      const auto entry = order[static_cast<std::size_t>(first + std::min(j, size - 1))];
      const T x = sites.get<T>(k, index_in(entry));
      block[k * kSortedLeaf + j] = x;
      bounds.add(x);
    }
    bounds.put(box, k);
  }
  std::uint32_t lowest = kNoId;
  for (std::int64_t i = first; i < first + size; ++i) {
    const std::int64_t index = index_in(order[static_cast<std::size_t>(i)]);
    const auto id =
        ids.empty() ? static_cast<std::uint32_t>(index * sites.every) : ids[static_cast<std::size_t>(index)];
    tree.ids[static_cast<std::size_t>(i)] = id;
    lowest = std::min(lowest, id);
  }
  tree.levels[0].lowest[static_cast<std::size_t>(leaf)] = lowest;
}

template <class T>
void box_leaf(Tree& tree, std::int64_t leaf) {
  const std::int64_t first = leaf * tree.leaf, end = std::min(first + tree.leaf, tree.count);
  T* box = box_at<T>(tree.levels[0], tree.axes, leaf);
  for (int k = 0; k < tree.axes; ++k) {
    Bounds<T> bounds;
    for (std::int64_t i = first; i < end; ++i) bounds.add(tree.sites.get<T>(k, i));
    bounds.put(box, k);
  }
}

template <class T>
void add_upper_level(Tree& tree) {
  const std::size_t number = tree.levels.size();
  tree.levels.push_back(make_level(tree, (tree.levels.back().count + kFan - 1) / kFan));
  for (std::int64_t node = 0; node < tree.levels[number].count; ++node) box_node<T>(tree, number, node);
}

template <class T>
void fill_tree(Tree& tree, const std::vector<std::uint64_t>& order, const std::vector<std::uint32_t>& ids,
               const Cloud& sites, int threads, Monitor& monitor) {
  const std::int64_t leaves = tree.leaves();
  parallel_jobs(threads, (leaves + kLeavesOfJob - 1) / kLeavesOfJob, [&](int, std::int64_t job) {
    const std::int64_t begin = job * kLeavesOfJob, end = std::min(begin + kLeavesOfJob, leaves);
    for (std::int64_t leaf = begin; leaf < end; ++leaf)
      tree.storage == Storage::sorted ? fill_sorted_leaf<T>(tree, order, ids, sites, leaf) : box_leaf<T>(tree, leaf);
    monitor.advance((end - begin) * tree.leaf);
  });
  while (tree.levels.back().count > kFan) add_upper_level<T>(tree);
}

/// Whether boxes in the caller's order leave anything out: those of sites in random order all reach over everything,
/// and a search would look into each, which costs more than to look at the sites alone.
template <class T>
bool boxes_divide(Tree& tree) {
  constexpr double kMostMean = 0.5;
  double sum = 0;
  for (std::int64_t leaf = 0; leaf < tree.levels[0].count; ++leaf) {
    const T* box = box_at<T>(tree.levels[0], tree.axes, leaf);
    double share = 1;  // of the whole box
    for (int k = 0; k < tree.axes; ++k) {
      const auto i = static_cast<std::size_t>(k);
      const double all = tree.extent.high[i] - tree.extent.low[i];
      const double own = static_cast<double>(box[(2 * k + 1) * kFan]) - static_cast<double>(box[2 * k * kFan]);
      if (all > 0) share *= own / all;
    }
    sum += share;
  }
  return tree.levels[0].count == 1 || sum <= kMostMean * static_cast<double>(tree.levels[0].count);
}

}  // namespace

std::size_t build_scratch_bytes(const Cloud& sites, Storage storage) {
  return storage == Storage::sorted ? curve_order_bytes(sites.count) : 0;
}

Tree build_tree(const Cloud& sites, const std::vector<std::uint32_t>& ids, const Box& extent, Storage storage,
                int threads, Monitor& monitor) {
  Tree tree;
  tree.storage = storage;
  tree.axes = sites.axes;
  tree.dtype = sites.dtype;
  tree.count = sites.count;
  tree.extent = extent;
  tree.leaf = storage == Storage::sorted ? kSortedLeaf : boxed_leaf(sites.dtype);
  if (storage != Storage::sorted) tree.sites = sites;
  if (storage == Storage::plain || sites.count == 0) return tree;
  std::vector<std::uint64_t> order;
  if (storage == Storage::sorted) {
    order = curve_order(sites, extent, threads, monitor);
    tree.blocks = Array(sites.dtype, {tree.leaves(), sites.axes, kSortedLeaf});
    tree.ids.resize(static_cast<std::size_t>(sites.count));
  }
  tree.levels.push_back(make_level(tree, tree.leaves()));
  visit_coordinates(sites.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    fill_tree<T>(tree, order, ids, sites, threads, monitor);
    if (storage == Storage::boxed && !boxes_divide<T>(tree)) tree.levels.clear();
  });
  return tree;
}

}  // namespace fathom::points::cpu
