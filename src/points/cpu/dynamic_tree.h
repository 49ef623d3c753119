// A tree whose sites come and go: leaves along a Hilbert curve that have room for more.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.h"
#include "points/tree.h"
#include "points/tree_change.h"

namespace fathom::points::cpu {

/// Places along a curve through a box: of points outside, those of the box's nearest points.
class CurvePlaces {
 public:
  CurvePlaces() = default;
  CurvePlaces(const Box& box, int axes);

  bool holds(const std::array<double, 3>& at) const;
  std::uint64_t key_of(const std::array<double, 3>& at) const;

 private:
  Box box_;
  int axes_ = 3;
  double scale_ = 0;  ///< cells per unit
};

class DynamicTree {
 public:
  /// @param tree     of sorted storage, without sites; what is edited. Outlives this
  /// @param threads  to rebuild it
  DynamicTree(Tree& tree, int threads) : tree_(tree), threads_(threads) {}

  std::int64_t ids() const { return static_cast<std::int64_t>(leaf_of_.size()); }  ///< given out so far
  bool contains(std::int64_t id) const { return leaf_of_[static_cast<std::size_t>(id)] != kNowhere; }
  std::int64_t size() const { return size_; }
  std::size_t bytes() const;  ///< besides the tree

  /// The first sites. A tree whose building is stopped is of no use.
  void build(const Cloud& sites, Monitor& monitor);
  /// With ids that follow those given out before. Where an edit is stopped some of its sites are changed.
  /// @throws Cancelled (as below) the monitor was told to stop
  void add(const Cloud& sites, Monitor& monitor);
  /// @param ids  of sites that there are, each once
  void remove(std::span<const std::int64_t> ids, Monitor& monitor);
  void move(std::span<const std::int64_t> ids, const Cloud& to, Monitor& monitor);

  /// Makes boxes, repeated sites and counts true again after edits: before that nobody may ask. Tells what changed
  /// since the last time.
  TreeChange settle();

  /// Whether something was changed since close(): an edit is at work, or broke off.
  bool is_open() const { return open_; }
  void close() { open_ = false; }

 private:
  struct Site {
    std::uint64_t key;
    std::array<double, 3> at;
    std::uint32_t id;
    bool operator<(const Site& other) const { return key < other.key || (key == other.key && id < other.id); }
  };
  static constexpr std::uint32_t kNowhere = kNoId;

  /// Without its key, as all sites until they are ordered.
  static Site site_of(const Cloud& cloud, std::int64_t i, std::int64_t id);
  std::uint8_t& held_by(std::int64_t leaf) { return tree_.sizes[static_cast<std::size_t>(leaf)]; }
  std::int64_t leaf_of_key(std::uint64_t key) const;
  std::int64_t place_of_id(std::int64_t leaf, std::int64_t id) const;

  void insert(Site site);
  void erase(std::int64_t id);
  void put(std::int64_t leaf, std::int64_t place, const Site& site);
  void touch(std::int64_t leaf);

  /// @param more  sites that will follow
  std::vector<Site> gather(std::int64_t begin, std::int64_t end, std::int64_t more = 0) const;
  /// Sites along a curve.
  struct Ordered {
    std::vector<Site> sites;
    Box extent;
    CurvePlaces curve;
  };
  /// What a tree is built anew of. Changes nothing. @throws Cancelled
  Ordered ordered(std::vector<Site> sites, Monitor& monitor) const;
  void order(std::vector<Site>& sites, const CurvePlaces& curve, Monitor& monitor) const;
  void spread_about(std::int64_t leaf, const Site* newcomer);
  void spread(std::int64_t begin, std::int64_t end, const std::vector<Site>& sites, const Site* newcomer,
              Monitor& monitor);
  void rebuild(Ordered ordered, Monitor& monitor);
  void rebuild(std::vector<Site> sites);
  void allocate(std::int64_t leaves);

  template <class T>
  void settle_leaf(std::int64_t leaf);

  Tree& tree_;
  int threads_;
  bool open_ = false;
  std::int64_t size_ = 0;
  std::int64_t strays_ = 0;                ///< sites that came outside of the curve's box
  CurvePlaces curve_;                      ///< through the sites as they were when it was rebuilt
  std::vector<std::uint64_t> least_keys_;  ///< of each leaf: its sites have no lower ones, nor those before it higher
  std::vector<std::uint32_t> leaf_of_;     ///< of each id; kNowhere: removed
  TreeChange change_;
  std::vector<bool> touched_;  ///< whether each leaf is in the change
};

}  // namespace fathom::points::cpu
