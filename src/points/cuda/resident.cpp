#include "points/cuda/resident.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "core/cuda/readers.h"
#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "points/check.h"
#include "points/cuda/build.h"
#include "points/cuda/cones.h"
#include "points/cuda/copies.h"
#include "points/cuda/device_request.h"
#include "points/cuda/download.h"
#include "points/cuda/follow.h"
#include "points/cuda/left_over.h"
#include "points/cuda/products.h"
#include "points/cuda/search.h"
#include "points/cuda/trial.h"
#include "points/site_list.h"

namespace fathom::points::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::DeviceMemory;
using fathom::cuda::Event;
using fathom::cuda::OnDevice;
using fathom::cuda::OwnStream;
using fathom::cuda::Readers;
using fathom::cuda::Scratch;

/// A tree and the memory behind it.
struct Resident {
  struct Part {
    std::size_t bytes;
    std::unique_ptr<DeviceMemory> memory;
  };
  DeviceTree tree;
  std::size_t bytes = 0;
  std::vector<Part> memory;

  /// Memory that is given back in the order of the default stream: the set outlives the stream that built it.
  std::byte* allocate(std::size_t size) {
    memory.push_back({size, std::make_unique<DeviceMemory>(size, nullptr)});
    bytes += size;
    check(cudaStreamSynchronize(nullptr), "asking for memory");
    return memory.back().memory->data();
  }

  /// What was allocated last, which nobody uses any more.
  void give_back() {
    bytes -= memory.back().bytes;
    memory.pop_back();
  }

  std::size_t scratch_bytes(const Request& request, std::size_t room) const {
    return tree.levels > 0 ? search_scratch_bytes(tree, request, room) : pass_scratch_bytes(tree, request);
  }

  void answer(const DeviceRequest& request, std::span<std::byte> scratch, cudaStream_t stream) const {
    if (request.queries.count == 0) return;
    tree.levels > 0 ? search(tree, request, scratch, stream) : pass(tree, request, scratch.data(), stream);
  }
};

/// Bytes of device memory that building takes, at most.
std::size_t build_bytes(const ResidentSource& source, const Cloud& sites) {
  DeviceTree tree = make_tree(sites, sites.count == 0 ? Storage::plain : source.storage);
  const bool copies = source.space == MemorySpace::host || (source.passing && source.storage != Storage::sorted);
  const auto copied = copies ? static_cast<std::size_t>(sites.count * row_bytes(sites)) : 0;
  if (tree.levels == 0) return copied;
  const std::size_t for_sorting = source.storage == Storage::sorted ? sort_scratch_bytes(tree) : 0;
  return copied + place_tree(tree, source.storage, nullptr) + for_sorting + source.ids.size() * sizeof(std::uint32_t);
}

/// How queries of a set without boxes are filtered.
void choose_filter(DeviceTree& tree, bool boxes_failed, cudaStream_t stream) {
  const Trial trial = boxes_failed && tree.count > kQuickTrial ? Trial() : try_queries(tree, stream);
  tree.products = !trial.vague && products_are_exact(stream);
  tree.copies = trial.tied && !tree.whole;  // whole numbers: the lowest group of equally near ones is known
}

/// @param sites  of one cloud
Resident make_resident_cloud(const ResidentSource& source, Cloud sites, cudaStream_t stream) {
  Resident resident;
  const bool sorted = source.storage == Storage::sorted;
  if (sites.count == 0) {
    resident.tree = make_tree(sites, Storage::plain);
    return resident;
  }
  std::unique_ptr<DeviceMemory> passing;  // sites of the host until they are sorted
  if (source.space == MemorySpace::host) {
    const auto bytes = static_cast<std::size_t>(sites.count * row_bytes(sites));
    if (sorted) passing = std::make_unique<DeviceMemory>(bytes, stream);
    sites = upload(sites, sorted ? passing->data() : resident.allocate(bytes), stream);
  } else if (source.passing && !sorted) {
    const auto bytes = static_cast<std::size_t>(sites.count * row_bytes(sites));
    std::byte* const rows = resident.allocate(bytes);
    check(cudaMemcpyAsync(rows, sites.data[0], bytes, cudaMemcpyDeviceToDevice, stream), "copying sites");
    sites = rows_at(sites, rows);
  }
  DeviceTree& tree = resident.tree = make_tree(sites, source.storage);
  const auto place = [&] {
    place_tree(tree, source.storage, resident.allocate(place_tree(tree, source.storage, nullptr)));
  };
  const bool boxed = source.storage == Storage::boxed;
  if (boxed) place();
  const auto [extent, divide] = boxed ? box_tree(tree, stream) : Boxed{extent_of(sites, stream), false};
  source.accept(extent.box);
  set_extent(tree, extent);
  if (boxed && !divide) {
    tree.levels = 0;
    resident.give_back();
  }
  if (tree.levels == 0 && products_serve(tree)) choose_filter(tree, boxed, stream);
  if (!sorted) return resident;
  const std::size_t needed = sort_scratch_bytes(tree), for_ids = source.ids.size() * sizeof(std::uint32_t);
  check_build_scratch(source.scratch_limit, needed);
  place();
  const DeviceMemory scratch(needed, stream), ids(for_ids, stream);
  if (for_ids > 0)
    check(cudaMemcpyAsync(ids.data(), source.ids.data(), for_ids, cudaMemcpyHostToDevice, stream), "copying ids");
  const auto* copied_ids = reinterpret_cast<const std::uint32_t*>(ids.data());
  sort_tree(tree, sites, for_ids > 0 ? copied_ids : source.ids_there, scratch.data(), stream);
  tree.hollow = is_hollow(tree, stream);
  return resident;
}

/// A tree with gaps, whose leaves are still to be put.
Resident make_room(const Tree& tree) {
  Resident resident;
  resident.tree = make_tree(tree);
  place_tree(resident.tree, Storage::sorted, resident.allocate(place_tree(resident.tree, Storage::sorted, nullptr)));
  resident.tree.sizes = reinterpret_cast<std::uint8_t*>(resident.allocate(tree.sizes.size()));
  return resident;
}

Cloud no_sites(const Tree& tree) {
  Cloud none;
  none.dtype = tree.dtype;
  none.axes = tree.axes;
  return none;
}

/// As many elements of the device's memory.
template <class T>
void copy_down(T* to, const void* from, std::size_t count, cudaStream_t stream) {
  if (count == 0) return;
  check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, stream), "copying sites");
}

/// The same tree in the host's memory, as far as its sites go.
Tree host_tree(const DeviceTree& from, cudaStream_t stream) {
  Tree tree;
  tree.storage = Storage::sorted;
  tree.axes = from.axes;
  tree.dtype = from.dtype;
  tree.count = from.count;
  tree.vacant = from.vacant;
  tree.leaf = kSortedLeaf;
  tree.blocks = Array(from.dtype, {tree.leaves(), from.axes, kSortedLeaf});
  tree.ids.resize(static_cast<std::size_t>(tree.leaves() * kSortedLeaf));
  tree.sizes.resize(from.sizes ? static_cast<std::size_t>(tree.leaves()) : 0);
  copy_down(tree.blocks.data(), from.blocks, tree.blocks.bytes(), stream);
  copy_down(tree.ids.data(), from.ids, tree.ids.size(), stream);
  copy_down(tree.sizes.data(), from.sizes, tree.sizes.size(), stream);
  check(cudaStreamSynchronize(stream), "copying sites");
  return tree;
}

class DeviceSet : public FollowingSet {
 public:
  explicit DeviceSet(int device) : device_(device) {}
  ~DeviceSet() override {
    try {
      const OnDevice on_device(device_);
      readers_.hold_back(nullptr);
      clouds_.clear();
    } catch (const Error&) {  // the device is gone, and the memory with it
    }
  }

  void add(const ResidentSource& source, const Cloud& sites, cudaStream_t stream) {
    check_device_memory(source.memory, bytes() + build_bytes(source, sites));
    clouds_.push_back(make_resident_cloud(source, sites, stream));
  }

  /// A cloud without sites, for follow() to fill.
  void add_empty(const Tree& tree) { clouds_.emplace_back().tree = make_tree(no_sites(tree), Storage::plain); }

  void follow(const Tree& tree, const TreeChange& change) override {
    const OnDevice on_device(device_);
    const OwnStream stream;
    readers_.hold_back(stream.get());
    Resident& cloud = clouds_[0];
    if (change.rebuilt) {
      readers_.hold_back(nullptr);
      cloud = {};
      cloud.tree = make_tree(no_sites(tree), Storage::plain);
    }
    if (tree.count == 0) return;
    if (change.rebuilt) cloud = make_room(tree);
    set_extent(cloud.tree, {.box = tree.extent});
    cloud.tree.vacant = tree.vacant;
    put_leaves(cloud.tree, tree, change.leaves, stream.get());
  }

  std::string device_name() const override { return describe_device(device_).name; }
  bool reaches(const void* address) const override { return fathom::cuda::device_of(address, "queries") == device_; }
  std::int64_t count() const override { return clouds_.empty() ? 0 : clouds_[0].tree.count - clouds_[0].tree.vacant; }

  std::size_t bytes() const override {
    std::size_t sum = 0;
    for (const Resident& cloud : clouds_) sum += cloud.bytes;
    return sum;
  }

  SiteList sites(std::size_t cloud) const override {
    const OnDevice on_device(device_);
    const OwnStream stream;
    const DeviceTree& tree = clouds_[cloud].tree;
    if (tree.blocks) return sites_of(host_tree(tree, stream.get()));
    const Array rows = download(tree.sites, {stream.get()});
    return sites_of(rows_at(tree.sites, rows.data()));
  }

  std::size_t scratch_bytes(const Request& request, std::size_t room) const override {
    const OnDevice on_device(device_);
    Scratch scratch(nullptr);
    cones_in(scratch, request);
    const std::size_t left = room - std::min(room, scratch.bytes());
    std::size_t most = 0;
    for (const Resident& cloud : clouds_) most = std::max(most, cloud.scratch_bytes(request, left));
    return scratch.bytes() + most;
  }

  std::size_t host_bytes(const Request& request, std::size_t room) const override {
    Scratch arrays(nullptr);
    const Copies copies(request, arrays);
    return arrays.bytes() + scratch_bytes(request, room - std::min(room, arrays.bytes()));
  }

  void answer(const std::vector<Request>& requests, std::size_t room, Stream given) const override {
    if (requests.empty() || requests[0].queries.count == 0) return;
    check_memory(requests[0], device_);
    const OnDevice on_device(device_);
    const cudaStream_t stream = fathom::cuda::native(given);
    const std::size_t bytes = scratch_bytes(requests[0], room);
    const DeviceMemory memory(bytes, stream);
    Scratch scratch(memory.data());
    ConeOfQuery* cones = cones_in(scratch, requests[0]);
    const std::span for_search(memory.data() + scratch.bytes(), bytes - scratch.bytes());
    const Readers::Reading reading(readers_, stream);
    for (std::size_t c = 0; c < requests.size(); ++c) {
      if (cones) make_cones(requests[c].cones, requests[c].queries.count, cones, stream);
      const DeviceRequest request = device_request(requests[c], clouds_[c].tree, cones);
      clouds_[c].answer(request, for_search, stream);
    }
  }

  void answer_host(const std::vector<Request>& requests, std::size_t room) const override {
    if (requests.empty() || requests[0].queries.count == 0) return;
    const OnDevice on_device(device_);
    const OwnStream stream;
    const std::size_t bytes = host_bytes(requests[0], room);
    const DeviceMemory memory(bytes, stream.get());
    for (std::size_t c = 0; c < requests.size(); ++c) {
      Scratch arrays(memory.data());
      const Copies copies(requests[c], arrays);
      const Request request = copies.upload(requests[c], stream.get());
      const ConeOfQuery* cones = copies.upload_cones(requests[c], stream.get());
      const std::span for_search(memory.data() + arrays.bytes(), bytes - arrays.bytes());
      clouds_[c].answer(device_request(request, clouds_[c].tree, cones), for_search, stream.get());
      copies.download(stream.get());
    }
  }

 private:
  /// Where the queries' own cones go.
  static ConeOfQuery* cones_in(Scratch& scratch, const Request& request) {
    return request.cones.on_device ? scratch.take<ConeOfQuery>(request.queries.count) : nullptr;
  }

  int device_;
  std::vector<Resident> clouds_;
  mutable Readers readers_;
};

}  // namespace

std::unique_ptr<ResidentSet> make_resident(const ResidentSource& source, Stream given) {
  int device = source.device;
  if (source.space == MemorySpace::device)
    for (const Cloud& cloud : source.clouds)
      if (cloud.count > 0) device = device_of(cloud, "sites");
  const OnDevice on_device(device);
  const OwnStream own;
  const cudaStream_t stream = source.space == MemorySpace::host ? own.get() : fathom::cuda::native(given);
  auto set = std::make_unique<DeviceSet>(device);
  for (const Cloud& cloud : source.clouds) set->add(source, cloud, stream);
  check(cudaStreamSynchronize(stream), "building the set");
  return set;
}

std::unique_ptr<FollowingSet> make_follower(const Tree& tree, int device) {
  auto set = std::make_unique<DeviceSet>(device);
  set->add_empty(tree);
  return set;
}

}  // namespace fathom::points::cuda
