// The front of sets that change: checks edits, makes them in the tree of the host, and has devices follow it.
#include "fathom/points/dynamic_set.h"

#include <algorithm>
#include <string>
#include <utility>

#include "fathom/core/error.h"
#include "points/check.h"
#include "points/cpu/dynamic_tree.h"
#include "points/cpu/extent.h"
#include "points/device_build.h"
#include "points/sites.h"

namespace fathom::points {

namespace {

SiteSetOptions options_of(const DynamicSetOptions& options) {
  SiteSetOptions result;
  result.period = options.period;
  result.devices = options.devices;
  result.execution = options.execution;
  return result;
}

/// @throws InvalidArgument they are a batch
Cloud one_cloud(const CoordinateLayout& sites) {
  if (sites.batched()) throw InvalidArgument("the sites are a batch of clouds, the set is one; give [n, d]");
  return cloud_of(sites, 0);
}

/// None, of the type and number of coordinates that some have.
Coordinates none_of(const CoordinateLayout& sites) {
  if (sites.batched()) throw InvalidArgument("the sites are a batch of clouds, which cannot change; give [n, d]");
  return AnyConstView(nullptr, sites.dtype(), {0, sites.axes()});
}

}  // namespace

struct DynamicSet::Contents {
  SiteSet set;
  SiteSet::Sites* own;  ///< the set's
  int threads;
  cpu::DynamicTree tree;
  std::vector<FollowingSet*> followers;  ///< the set's, on devices

  static Contents of(std::unique_ptr<SiteSet::Sites> sites, const SiteSetOptions& options) {
    SiteSet::Sites* const own = sites.get();
    Tree& tree = own->trees.emplace_back();
    tree.storage = Storage::sorted;
    tree.axes = own->facts.axes;
    tree.dtype = own->dtype;
    std::vector<FollowingSet*> followers;
    if (options.execution.backend == Backend::cuda) {
      auto sets = make_followers(tree, options);
      for (auto& set : sets) followers.push_back(set.get());
      own->keep({std::make_move_iterator(sets.begin()), std::make_move_iterator(sets.end())});
    }
    const int threads = threads_of(options.execution);
    return {SiteSet(std::move(sites)), own, threads, cpu::DynamicTree(tree, threads), std::move(followers)};
  }

  /// @throws Error an edit broke off, as where memory ran out
  void check_whole() const {
    if (tree.is_open())
      throw Error("an edit of the set failed before it was done, and nobody knows its sites now; build the set anew");
  }
  /// What is wrong with sites to come, before anything changes.
  Cloud checked(const Coordinates& sites) const;
  void check_room(std::int64_t more) const {
    if (tree.ids() + more > std::int64_t{kNoId})
      throw InvalidArgument("ids would go up to " + std::to_string(tree.ids() + more - 1) +
                            ", which the set does not hold (at most 4294967294)");
  }
  void check_ids(std::span<const std::int64_t> ids) const;

  /// Makes an edit of the tree: all of it, or what was done until it was stopped.
  template <class Work>
  void edit(const Execution& watch, std::int64_t count, const Work& work) {
    Monitor monitor(watch, count);
    try {
      work(monitor);
    } catch (const Cancelled&) {
      settle();
      throw;
    }
    settle();
  }

  void settle() {
    own->facts.largest_id = tree.ids() - 1;
    const TreeChange change = tree.settle();
    for (FollowingSet* follower : followers) follower->follow(own->trees[0], change);
    tree.close();
  }
};

Cloud DynamicSet::Contents::checked(const Coordinates& sites) const {
  check_whole();
  const SetFacts& facts = own->facts;
  const Cloud cloud = one_cloud(sites);
  if (sites.axes() != facts.axes)
    throw InvalidArgument("the sites have " + std::to_string(sites.axes()) + " coordinates, those of the set " +
                          std::to_string(facts.axes) + "; give [n, " + std::to_string(facts.axes) + "]");
  if (sites.dtype() != own->dtype)
    throw InvalidArgument("the sites are " + std::string(name_of(sites.dtype())) + ", those of the set " +
                          std::string(name_of(own->dtype)) + "; convert them");
  const Box extent = cpu::extent_of(cloud, "site", threads);
  if (cloud.count > 0) check_inside(extent, facts.period, facts.axes);
  return cloud;
}

void DynamicSet::Contents::check_ids(std::span<const std::int64_t> ids) const {
  check_whole();
  for (std::int64_t id : ids) {
    if (id < 0 || id >= tree.ids())
      throw InvalidArgument("there is no site " + std::to_string(id) + "; " + std::to_string(tree.ids()) +
                            " ids, from 0 on, have been given out");
    if (!tree.contains(id))
      throw InvalidArgument("site " + std::to_string(id) + " was removed before; contains() tells which are there");
  }
  std::vector<std::int64_t> sorted(ids.begin(), ids.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    throw InvalidArgument("site " + std::to_string(*twice) + " is named twice; name each once");
}

DynamicSet::DynamicSet(const Coordinates& sites, const DynamicSetOptions& given) {
  const SiteSetOptions options = options_of(given);
  contents_ =
      std::make_unique<Contents>(Contents::of(std::make_unique<SiteSet::Sites>(none_of(sites), options), options));
  const Cloud cloud = contents_->checked(sites);
  contents_->check_room(cloud.count);
  Monitor monitor(given.execution, cloud.count);
  contents_->tree.build(cloud, monitor);
  contents_->settle();
}

DynamicSet::DynamicSet(const DeviceCoordinates& sites, const DynamicSetOptions& options, Stream stream)
    : DynamicSet(none_of(sites), options) {
  add(sites, stream);
}

DynamicSet::~DynamicSet() = default;
DynamicSet::DynamicSet(DynamicSet&&) noexcept = default;
DynamicSet& DynamicSet::operator=(DynamicSet&&) noexcept = default;

const SiteSet& DynamicSet::sites() const {
  contents_->check_whole();
  return contents_->set;
}
std::size_t DynamicSet::bytes() const { return contents_->set.bytes() + contents_->tree.bytes(); }
std::int64_t DynamicSet::ids() const { return contents_->tree.ids(); }

bool DynamicSet::contains(std::int64_t id) const {
  if (id < 0 || id >= ids())
    throw InvalidArgument("there never was a site " + std::to_string(id) + "; " + std::to_string(ids()) +
                          " ids, from 0 on, have been given out");
  return contents_->tree.contains(id);
}

std::int64_t DynamicSet::add(const Coordinates& sites, const Execution& watch) {
  const Cloud cloud = contents_->checked(sites);
  const std::int64_t first = ids();
  contents_->check_room(cloud.count);
  contents_->edit(watch, cloud.count, [&](Monitor& monitor) { contents_->tree.add(cloud, monitor); });
  return first;
}

std::int64_t DynamicSet::add(const DeviceCoordinates& sites, Stream stream) {
  const Array rows = download(one_cloud(sites), stream);
  return add(Coordinates(rows.view()));
}

void DynamicSet::remove(std::span<const std::int64_t> ids, const Execution& watch) {
  contents_->check_ids(ids);
  const auto count = static_cast<std::int64_t>(ids.size());
  contents_->edit(watch, count, [&](Monitor& monitor) { contents_->tree.remove(ids, monitor); });
}

void DynamicSet::move(std::span<const std::int64_t> ids, const Coordinates& to, const Execution& watch) {
  const Cloud cloud = contents_->checked(to);
  if (cloud.count != static_cast<std::int64_t>(ids.size()))
    throw InvalidArgument(std::to_string(ids.size()) + " sites are to move to " + std::to_string(cloud.count) +
                          " places; give one for each");
  contents_->check_ids(ids);
  contents_->edit(watch, cloud.count, [&](Monitor& monitor) { contents_->tree.move(ids, cloud, monitor); });
}

void DynamicSet::move(std::span<const std::int64_t> ids, const DeviceCoordinates& to, Stream stream) {
  const Array rows = download(one_cloud(to), stream);
  move(ids, Coordinates(rows.view()));
}

}  // namespace fathom::points
