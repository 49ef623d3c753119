// Sites in the order of a Hilbert curve, in leaves with gaps. A new site goes where its key belongs. A leaf without
// room for it, or one that has lost its last site, shares out the sites of the smallest node about it that is neither
// too full nor too empty evenly among that node's leaves; where there is no such node, all is built anew. The higher
// the node, the narrower the limits, so that nodes below are far from theirs afterwards.
// Source: Itai, Konheim & Rodeh 1981 (sorted sequences with gaps); Bender, Demaine & Farach-Colton 2005 (limits by
// height). Departs by leaves of 32 places, unsorted inside, as the search wants them (tree.h).
// Cost of an edit: O(1) without such sharing, which few edits cause; O(log² n) on average in any case. Memory: 8 to 26
// sites in 32 places on average, 20 after a rebuild, which takes 40 bytes per site while it works.
#include "points/cpu/dynamic_tree.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/parallel.h"
#include "points/cpu/boxes.h"
#include "core/hilbert.hd.h"

namespace fathom::points::cpu {

namespace {

constexpr std::int64_t kBuilt = 20;       ///< sites of a leaf after a rebuild
constexpr double kMost = 26, kLeast = 8;  ///< on average in all leaves
constexpr std::int64_t kBulk = 4;         ///< a rebuild is cheaper than edits to one of so many sites
constexpr std::int64_t kFewStrays = 64;   ///< for which the curve's box is not worth another
constexpr std::int64_t kSitesOfJob = 4096;
constexpr std::int64_t kLeavesBetween = 256;  ///< two looks whether to go on

constexpr int kKeyBits = 60;
constexpr int kShift = std::countr_zero(static_cast<unsigned>(kFan));

template <int kAxes>
std::uint64_t key_of_cell(const std::array<std::uint32_t, 3>& from) {
  std::uint32_t cell[kAxes];
  std::copy_n(from.begin(), kAxes, cell);
  return hilbert_key<kAxes, kKeyBits, std::uint64_t>(cell);
}

/// Calls visit(coordinate) with a reference to coordinate k at a place of a leaf.
template <class Visit>
void visit_place(const Tree& tree, std::int64_t leaf, std::int64_t place, int k, const Visit& visit) {
  visit_coordinates(tree.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    visit(const_cast<T*>(reinterpret_cast<const T*>(tree.blocks.data()))[(leaf * tree.axes + k) * kSortedLeaf + place]);
  });
}

/// Shares of the sites for each leaf where `mean` would be even: of what room there is, one half goes to the leaves
/// about one of them, the nearer the more.
void leave_room_about(std::int64_t near, double mean, std::vector<double>& shares) {
  const auto nearness = [&](std::size_t leaf) {
    return 1 / (1 + std::abs(static_cast<double>(leaf) - static_cast<double>(near)));
  };
  double sum = 0;
  for (std::size_t leaf = 0; leaf < shares.size(); ++leaf) sum += nearness(leaf);
  const double room = (kSortedLeaf - mean) / 2, about = room * static_cast<double>(shares.size()) / sum;
  for (std::size_t leaf = 0; leaf < shares.size(); ++leaf)
    shares[leaf] = std::max(2.0, kSortedLeaf - room - about * nearness(leaf));
}

std::vector<std::uint32_t> parents_of(const std::vector<std::uint32_t>& nodes) {
  std::vector<std::uint32_t> parents;
  for (std::uint32_t node : nodes)
    if (parents.empty() || parents.back() != node >> kShift) parents.push_back(node >> kShift);
  return parents;
}

}  // namespace

CurvePlaces::CurvePlaces(const Box& box, int axes) : box_(box), axes_(axes) {
  double extent = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(axes); ++k) extent = std::max(extent, box.high[k] - box.low[k]);
  const double scale = static_cast<double>(1u << hilbert_bits(axes, kKeyBits)) / extent;
  if (extent > 0 && std::isfinite(scale)) scale_ = scale;
}

bool CurvePlaces::holds(const std::array<double, 3>& at) const {
  bool inside = true;
  for (std::size_t k = 0; k < static_cast<std::size_t>(axes_); ++k)
    inside &= box_.low[k] <= at[k] && at[k] <= box_.high[k];
  return inside;
}

std::uint64_t CurvePlaces::key_of(const std::array<double, 3>& at) const {
  const double most = static_cast<double>((1u << hilbert_bits(axes_, kKeyBits)) - 1);
  std::array<std::uint32_t, 3> cell{};
  for (std::size_t k = 0; k < static_cast<std::size_t>(axes_); ++k)
    cell[k] = static_cast<std::uint32_t>(std::clamp((at[k] - box_.low[k]) * scale_, 0.0, most));
  return axes_ == 2 ? key_of_cell<2>(cell) : key_of_cell<3>(cell);
}

std::size_t DynamicTree::bytes() const {
  return least_keys_.size() * sizeof(std::uint64_t) + leaf_of_.size() * sizeof(std::uint32_t) + touched_.size() / 8;
}

DynamicTree::Site DynamicTree::site_of(const Cloud& cloud, std::int64_t i, std::int64_t id) {
  Site site{0, {}, static_cast<std::uint32_t>(id)};
  for (int k = 0; k < cloud.axes; ++k) site.at[static_cast<std::size_t>(k)] = cloud.at(k, i);
  return site;
}

std::int64_t DynamicTree::leaf_of_key(std::uint64_t key) const {
  return std::upper_bound(least_keys_.begin() + 1, least_keys_.end(), key) - least_keys_.begin() - 1;
}

std::int64_t DynamicTree::place_of_id(std::int64_t leaf, std::int64_t id) const {
  const auto first = tree_.ids.begin() + leaf * kSortedLeaf;
  return std::find(first, first + kSortedLeaf, static_cast<std::uint32_t>(id)) - first;
}

void DynamicTree::touch(std::int64_t leaf) {
  const auto i = static_cast<std::size_t>(leaf);
  if (!touched_[i]) change_.leaves.push_back(static_cast<std::uint32_t>(leaf));
  touched_[i] = true;
}

void DynamicTree::put(std::int64_t leaf, std::int64_t place, const Site& site) {
  for (int k = 0; k < tree_.axes; ++k)
    visit_place(tree_, leaf, place, k,
                [&]<class T>(T& x) { x = static_cast<T>(site.at[static_cast<std::size_t>(k)]); });
  tree_.ids[static_cast<std::size_t>(leaf * kSortedLeaf + place)] = site.id;
  leaf_of_[site.id] = static_cast<std::uint32_t>(leaf);
  touch(leaf);
}

std::vector<DynamicTree::Site> DynamicTree::gather(std::int64_t begin, std::int64_t end, std::int64_t more) const {
  std::vector<Site> sites;
  sites.reserve(
      std::accumulate(tree_.sizes.begin() + begin, tree_.sizes.begin() + end, static_cast<std::size_t>(more)));
  for (std::int64_t leaf = begin; leaf < end; ++leaf)
    for (std::int64_t place = 0; place < tree_.size_of_leaf(leaf); ++place) {
      Site site{0, {}, tree_.ids[static_cast<std::size_t>(leaf * kSortedLeaf + place)]};
      for (int k = 0; k < tree_.axes; ++k)
        visit_place(tree_, leaf, place, k,
                    [&](auto& x) { site.at[static_cast<std::size_t>(k)] = static_cast<double>(x); });
      sites.push_back(site);
    }
  return sites;
}

void DynamicTree::order(std::vector<Site>& sites, const CurvePlaces& curve, Monitor& monitor) const {
  const auto count = static_cast<std::int64_t>(sites.size());
  parallel_jobs(threads_, (count + kSitesOfJob - 1) / kSitesOfJob, [&](int, std::int64_t job) {
    for (std::int64_t i = job * kSitesOfJob; i < std::min(count, (job + 1) * kSitesOfJob); ++i) {
      Site& site = sites[static_cast<std::size_t>(i)];
      site.key = curve.key_of(site.at);
    }
    monitor.look();
  });
  std::int64_t compared = 0;
  std::sort(sites.begin(), sites.end(), Watched{monitor, compared});
}

/// @param sites     in order, more than leaves
/// @param newcomer  one of them, or no key at all: where more are to be expected
void DynamicTree::spread(std::int64_t begin, std::int64_t end, const std::vector<Site>& sites, const Site* newcomer,
                         Monitor& monitor) {
  const auto count = static_cast<std::int64_t>(sites.size()), leaves = end - begin;
  const auto mean = static_cast<double>(count) / static_cast<double>(leaves);
  std::vector<double> ends(static_cast<std::size_t>(leaves), mean);
  if (newcomer) {
    const std::int64_t rank = std::lower_bound(sites.begin(), sites.end(), *newcomer) - sites.begin();
    leave_room_about(rank * leaves / count, mean, ends);
  }
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::int64_t first = 0;
  for (std::int64_t leaf = begin; leaf < end; ++leaf) {
    const double part = ends[static_cast<std::size_t>(leaf - begin)] / ends.back();
    const std::int64_t after = end - leaf - 1;  // leaves, none of which may be left empty or without a place
    const auto last =
        std::clamp(static_cast<std::int64_t>(part * static_cast<double>(count)),
                   std::max(first + 1, count - after * kSortedLeaf), std::min(first + kSortedLeaf, count - after));
    if (leaf % kLeavesBetween == 0) monitor.look();
    if (leaf > begin) least_keys_[static_cast<std::size_t>(leaf)] = sites[static_cast<std::size_t>(first)].key;
    for (std::int64_t i = first; i < last; ++i) put(leaf, i - first, sites[static_cast<std::size_t>(i)]);
    held_by(leaf) = static_cast<std::uint8_t>(last - first);
    first = last;
  }
}

void DynamicTree::spread_about(std::int64_t leaf, const Site* newcomer) {
  const std::int64_t leaves = tree_.leaves();
  const auto height = static_cast<double>(tree_.levels.size());
  for (int level = 1; leaves > std::int64_t{1} << kShift * level; ++level) {
    const std::int64_t begin = leaf >> kShift * level << kShift * level;
    const std::int64_t end = std::min(begin + (std::int64_t{1} << kShift * level), leaves);
    const double share = level / height;
    const std::int64_t held = std::accumulate(tree_.sizes.begin() + begin, tree_.sizes.begin() + end, std::int64_t{0});
    const double mean = static_cast<double>(held + (newcomer ? 1 : 0)) / static_cast<double>(end - begin);
    if (mean > kSortedLeaf - share * (kSortedLeaf - kMost) || mean < 1 + share * (kLeast - 1)) continue;
    std::vector<Site> sites = gather(begin, end);
    if (newcomer) sites.push_back(*newcomer);
    const Execution silent;
    Monitor unwatched(silent, 1);
    order(sites, curve_, unwatched);
    return spread(begin, end, sites, newcomer, unwatched);
  }
  std::vector<Site> sites = gather(0, leaves);
  if (newcomer) sites.push_back(*newcomer);
  rebuild(std::move(sites));
}

void DynamicTree::allocate(std::int64_t leaves) {
  tree_.count = leaves * kSortedLeaf;
  tree_.leaf = kSortedLeaf;
  tree_.blocks = Array(tree_.dtype, {leaves, tree_.axes, kSortedLeaf});
  tree_.ids.assign(static_cast<std::size_t>(tree_.count), kNoId);
  tree_.sizes.assign(static_cast<std::size_t>(leaves), 0);
  tree_.levels.clear();
  least_keys_.assign(static_cast<std::size_t>(leaves), 0);
  touched_.assign(static_cast<std::size_t>(leaves), false);
  change_ = {true, {}};
  if (leaves == 0) return;
  tree_.levels.push_back(make_level(tree_, leaves));
  for (std::int64_t count = leaves; count > kFan; tree_.levels.push_back(make_level(tree_, count)))
    count = (count + kFan - 1) / kFan;
}

DynamicTree::Ordered DynamicTree::ordered(std::vector<Site> sites, Monitor& monitor) const {
  Ordered result;
  for (std::size_t i = 0; i < sites.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      const double x = sites[i].at[k];
      result.extent.low[k] = i == 0 ? x : std::min(result.extent.low[k], x);
      result.extent.high[k] = i == 0 ? x : std::max(result.extent.high[k], x);
    }
  result.curve = CurvePlaces(result.extent, tree_.axes);
  order(sites, result.curve, monitor);
  result.sites = std::move(sites);
  return result;
}

void DynamicTree::rebuild(Ordered ordered, Monitor& monitor) {
  tree_.extent = ordered.extent;
  curve_ = ordered.curve;
  strays_ = 0;
  allocate((static_cast<std::int64_t>(ordered.sites.size()) + kBuilt - 1) / kBuilt);
  spread(0, tree_.leaves(), ordered.sites, nullptr, monitor);
}

void DynamicTree::rebuild(std::vector<Site> sites) {
  const Execution silent;
  Monitor unwatched(silent, 1);
  rebuild(ordered(std::move(sites), unwatched), unwatched);
}

void DynamicTree::build(const Cloud& sites, Monitor& monitor) {
  std::vector<Site> all;
  all.reserve(static_cast<std::size_t>(sites.count));
  for (std::int64_t i = 0; i < sites.count; ++i) all.push_back(site_of(sites, i, i));
  leaf_of_.resize(all.size(), kNowhere);
  open_ = true;
  size_ = sites.count;
  rebuild(ordered(std::move(all), monitor), monitor);
}

void DynamicTree::insert(Site site) {
  if (tree_.count == 0) return rebuild({site});
  for (std::size_t k = 0; k < 3; ++k) {
    tree_.extent.low[k] = std::min(tree_.extent.low[k], site.at[k]);
    tree_.extent.high[k] = std::max(tree_.extent.high[k], site.at[k]);
  }
  site.key = curve_.key_of(site.at);
  const std::int64_t leaf = leaf_of_key(site.key);
  if (held_by(leaf) == kSortedLeaf) spread_about(leaf, &site);
  else put(leaf, held_by(leaf)++, site);
  if (!curve_.holds(site.at) && ++strays_ > size_ / kBulk + kFewStrays) rebuild(gather(0, tree_.leaves()));
}

void DynamicTree::erase(std::int64_t id) {
  const std::int64_t leaf = leaf_of_[static_cast<std::size_t>(id)], place = place_of_id(leaf, id);
  const std::int64_t last = --held_by(leaf);
  for (int k = 0; k < tree_.axes; ++k)
    visit_place(tree_, leaf, last, k, [&](auto& from) {
      visit_place(tree_, leaf, place, k, [&]<class T>(T& to) { to = static_cast<T>(from); });
    });
  std::uint32_t* const ids = &tree_.ids[static_cast<std::size_t>(leaf * kSortedLeaf)];
  ids[place] = ids[last];
  leaf_of_[static_cast<std::size_t>(id)] = kNowhere;
  touch(leaf);
  if (last == 0) spread_about(leaf, nullptr);
}

void DynamicTree::add(const Cloud& sites, Monitor& monitor) {
  const std::int64_t first = ids();
  const auto name = [&] { leaf_of_.resize(static_cast<std::size_t>(first + sites.count), kNowhere); };
  if (sites.count * kBulk >= size_ + sites.count) {  // what most memory is asked for comes before any change
    std::vector<Site> all = gather(0, tree_.leaves(), sites.count);
    for (std::int64_t i = 0; i < sites.count; ++i) all.push_back(site_of(sites, i, first + i));
    Ordered in_order = ordered(std::move(all), monitor);
    name();  // changes nothing where it fails
    open_ = true;
    size_ += sites.count;
    const Execution silent;
    Monitor unwatched(silent, 1);
    return rebuild(std::move(in_order), unwatched);
  }
  name();
  open_ = true;
  for (std::int64_t i = 0; i < sites.count; ++i) {
    if (i % kSitesOfJob == 0) monitor.look();
    ++size_;
    insert(site_of(sites, i, first + i));
  }
}

void DynamicTree::remove(std::span<const std::int64_t> ids, Monitor& monitor) {
  if (static_cast<std::int64_t>(ids.size()) * kBulk >= size_) {
    std::vector<bool> goes(leaf_of_.size());
    for (const std::int64_t id : ids) goes[static_cast<std::size_t>(id)] = true;
    std::vector<Site> left = gather(0, tree_.leaves());
    std::erase_if(left, [&](const Site& site) { return goes[site.id]; });
    Ordered in_order = ordered(std::move(left), monitor);
    open_ = true;
    size_ -= static_cast<std::int64_t>(ids.size());
    for (const std::int64_t id : ids) leaf_of_[static_cast<std::size_t>(id)] = kNowhere;
    const Execution silent;
    Monitor unwatched(silent, 1);
    return rebuild(std::move(in_order), unwatched);
  }
  open_ = true;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i % kSitesOfJob == 0) monitor.look();
    --size_;
    erase(ids[i]);
  }
  if (tree_.leaves() > 1 && static_cast<double>(size_) < kLeast * static_cast<double>(tree_.leaves()))
    rebuild(gather(0, tree_.leaves()));
}

void DynamicTree::move(std::span<const std::int64_t> ids, const Cloud& to, Monitor& monitor) {
  if (to.count * kBulk >= size_) {
    std::vector<Site> all = gather(0, tree_.leaves());
    std::vector<std::uint32_t> place_of(leaf_of_.size());
    for (std::size_t i = 0; i < all.size(); ++i) place_of[all[i].id] = static_cast<std::uint32_t>(i);
    for (std::int64_t i = 0; i < to.count; ++i) {
      const std::int64_t id = ids[static_cast<std::size_t>(i)];
      all[place_of[static_cast<std::size_t>(id)]] = site_of(to, i, id);
    }
    Ordered in_order = ordered(std::move(all), monitor);
    open_ = true;
    const Execution silent;
    Monitor unwatched(silent, 1);
    return rebuild(std::move(in_order), unwatched);
  }
  open_ = true;
  for (std::int64_t i = 0; i < to.count; ++i) {
    if (i % kSitesOfJob == 0) monitor.look();
    const std::int64_t id = ids[static_cast<std::size_t>(i)];
    erase(id);
    insert(site_of(to, i, id));
  }
}

template <class T>
void DynamicTree::settle_leaf(std::int64_t leaf) {
  const std::int64_t held = held_by(leaf);
  T* const block = reinterpret_cast<T*>(tree_.blocks.data()) + leaf * tree_.axes * kSortedLeaf;
  T* const box = box_at<T>(tree_.levels[0], tree_.axes, leaf);
  for (int k = 0; k < tree_.axes; ++k) {
    T* const column = block + k * kSortedLeaf;
    std::fill(column + held, column + kSortedLeaf, column[held - 1]);
    Bounds<T> bounds;
    for (int j = 0; j < kSortedLeaf; ++j) bounds.add(column[j]);
    bounds.put(box, k);
  }
  std::uint32_t* const ids = &tree_.ids[static_cast<std::size_t>(leaf * kSortedLeaf)];
  std::fill(ids + held, ids + kSortedLeaf, ids[held - 1]);
  tree_.levels[0].lowest[static_cast<std::size_t>(leaf)] = *std::min_element(ids, ids + held);
  touched_[static_cast<std::size_t>(leaf)] = false;
}

TreeChange DynamicTree::settle() {
  TreeChange change = std::exchange(change_, {});
  std::sort(change.leaves.begin(), change.leaves.end());
  tree_.vacant = tree_.count - size_;
  visit_coordinates(tree_.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::uint32_t leaf : change.leaves) settle_leaf<T>(leaf);
    std::vector<std::uint32_t> nodes = change.leaves;
    for (std::size_t level = 1; level < tree_.levels.size(); ++level) {
      nodes = parents_of(nodes);
      for (std::uint32_t node : nodes) box_node<T>(tree_, level, node);
    }
  });
  return change;
}

}  // namespace fathom::points::cpu
