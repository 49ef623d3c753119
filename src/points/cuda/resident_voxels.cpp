#include "points/cuda/resident_voxels.h"

#include <optional>
#include <utility>
#include <vector>

#include "core/cuda/readers.h"
#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "points/check.h"
#include "points/cuda/cones.h"
#include "points/cuda/copies.h"
#include "points/cuda/device_request.h"
#include "points/cuda/voxel_edits.h"
#include "points/cuda/voxel_search.h"
#include "points/site_list.h"

namespace fathom::points::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::DeviceMemory;
using fathom::cuda::OnDevice;
using fathom::cuda::OwnStream;
using fathom::cuda::Readers;
using fathom::cuda::Scratch;

/// A pyramid without bits over a grid. @param memory  counts only, or has room for the words
DevicePyramid make_pyramid(const Shape& shape, Scratch& memory) {
  DevicePyramid pyramid;
  pyramid.axes = shape.rank();
  pyramid.extents = extents_of(shape);
  for_each_level(pyramid.extents, pyramid.axes, [&](const Cell& words) {
    pyramid.level[pyramid.levels++] = {words, memory.take<unsigned long long>(count_of(words))};
  });
  return pyramid;
}

class DeviceVoxels : public ResidentVoxels {
 public:
  DeviceVoxels(const Shape& shape, int device) : shape_(shape), device_(device) {
    Scratch sizing(nullptr);
    place(sizing);
    bytes_ = sizing.bytes();
    memory_.emplace(bytes_, nullptr);  // given back in the default stream's order: it outlives the one that filled it
    check(cudaStreamSynchronize(nullptr), "asking for memory");
    Scratch scratch(memory_->data());
    place(scratch);
    reset();
  }
  ~DeviceVoxels() override {
    try {
      const OnDevice on_device(device_);
      readers_.hold_back(nullptr);
      memory_.reset();
    } catch (const Error&) {  // the device is gone, and the memory with it
    }
  }

  void clear() {
    for (int level = 0; level < pyramid_.levels; ++level)
      check(cudaMemsetAsync(pyramid_.level[level].words, 0, bytes_of(level), edits_.get()), "clearing voxels");
    edits_.wait();
  }

  void fill(const Pyramid& from, std::int64_t count) {
    for (int level = 0; level < pyramid_.levels; ++level)
      check(cudaMemcpyAsync(pyramid_.level[level].words, from.words(level).data(), bytes_of(level),
                            cudaMemcpyHostToDevice, edits_.get()),
            "copying voxels");
    edits_.wait();
    count_ = count;
  }

  void fill(const AnyConstDeviceView& mask, cudaStream_t stream) {
    fill_from_mask(pyramid_, mask, report_, stream);
    count_ = static_cast<std::int64_t>(news(stream).added);
  }

  std::int64_t add(const ElementList& elements) override { return edit(elements, {}, add_elements).added; }
  std::int64_t remove(const ElementList& elements) override { return edit(elements, {}, remove_elements).removed; }
  std::int64_t move(const ElementList& from, const ElementList& to) override {
    return edit(from, to, move_elements).moved;
  }

  bool contains(const Cell& element) const override {
    const OnDevice on_device(device_);
    const auto* word = pyramid_.level[0].word_at(parent_of(element, pyramid_.axes), pyramid_.axes);
    unsigned long long bits = 0;
    check(cudaMemcpyAsync(&bits, word, sizeof bits, cudaMemcpyDeviceToHost, edits_.get()), "looking at an element");
    edits_.wait();
    return (bits >> bit_of(element, pyramid_.axes) & 1) != 0;
  }

  std::string device_name() const override { return describe_device(device_).name; }
  bool reaches(const void* address) const override { return fathom::cuda::device_of(address, "queries") == device_; }
  std::int64_t count() const override { return count_; }
  std::size_t bytes() const override { return bytes_; }
  SiteList sites(std::size_t) const override {
    const OnDevice on_device(device_);
    std::vector<std::uint64_t> words(bytes_of(0) / sizeof(std::uint64_t));
    check(cudaMemcpyAsync(words.data(), pyramid_.level[0].words, bytes_of(0), cudaMemcpyDeviceToHost, edits_.get()),
          "copying voxels");
    edits_.wait();
    return {Array(), elements_of(words, pyramid_.extents, pyramid_.axes)};
  }

  std::size_t scratch_bytes(const Request& request, std::size_t room) const override {
    const OnDevice on_device(device_);
    Scratch scratch(nullptr);
    cones_in(scratch, request);
    order_in(scratch, request, room);
    return scratch.bytes();
  }
  std::size_t host_bytes(const Request& request, std::size_t room) const override {
    const OnDevice on_device(device_);
    Scratch arrays(nullptr);
    const Copies copies(request, arrays);
    order_in(arrays, request, room);
    return arrays.bytes();
  }

  void answer(const std::vector<Request>& requests, std::size_t room, Stream given) const override {
    const Request& request = requests[0];
    if (request.queries.count == 0) return;
    check_memory(request, device_);
    const OnDevice on_device(device_);
    const cudaStream_t stream = fathom::cuda::native(given);
    const DeviceMemory memory(scratch_bytes(request, room), stream);
    Scratch scratch(memory.data());
    ConeOfQuery* cones = cones_in(scratch, request);
    const Readers::Reading reading(readers_, stream);
    if (cones) make_cones(request.cones, request.queries.count, cones, stream);
    std::byte* for_order = order_in(scratch, request, room);
    search_voxels(pyramid_, device_request(request, pyramid_.outline(), cones), for_order, stream);
  }

  void answer_host(const std::vector<Request>& requests, std::size_t room) const override {
    if (requests[0].queries.count == 0) return;
    const OnDevice on_device(device_);
    const OwnStream stream;
    const DeviceMemory memory(host_bytes(requests[0], room), stream.get());
    Scratch arrays(memory.data());
    const Copies copies(requests[0], arrays);
    const Request request = copies.upload(requests[0], stream.get());
    const ConeOfQuery* cones = copies.upload_cones(requests[0], stream.get());
    std::byte* for_order = order_in(arrays, request, room);
    search_voxels(pyramid_, device_request(request, pyramid_.outline(), cones), for_order, stream.get());
    copies.download(stream.get());
  }

 private:
  struct Changed {
    std::int64_t added, removed, moved;
  };

  /// @param memory  counts only, or is the set's
  void place(Scratch& memory) {
    pyramid_ = make_pyramid(shape_, memory);
    report_ = memory.take<EditReport>(1);
  }
  std::size_t bytes_of(int level) const {
    return static_cast<std::size_t>(count_of(pyramid_.level[level].extents)) * sizeof(std::uint64_t);
  }

  /// Where the queries' own cones go.
  static ConeOfQuery* cones_in(Scratch& scratch, const Request& request) {
    return request.cones.on_device ? scratch.take<ConeOfQuery>(request.queries.count) : nullptr;
  }

  /// Where the queries' order goes, if they are worth one and there is room for it; else null.
  static std::byte* order_in(Scratch& scratch, const Request& request, std::size_t room) {
    const std::size_t needed = voxel_order_bytes(request);
    const bool fits = needed > 0 && scratch.bytes() <= room && needed <= room - scratch.bytes();
    return fits ? scratch.take<std::byte>(static_cast<std::int64_t>(needed)) : nullptr;
  }

  /// Makes an edit behind the queries at work.
  /// @param second  without elements, or as many as the first
  Changed edit(const ElementList& first, const ElementList& second,
               void (*work)(const DevicePyramid&, const ElementEdit&, cudaStream_t)) {
    if (first.count == 0) return {};
    const OnDevice on_device(device_);
    const bool there = first.space == MemorySpace::device;
    if (there) check_place(first, second);
    const cudaStream_t stream = there ? fathom::cuda::native(first.stream) : edits_.get();
    readers_.hold_back(stream);
    Scratch sizing(nullptr);
    bring(sizing, first, second, stream);
    const DeviceMemory memory(sizing.bytes(), stream);
    Scratch scratch(memory.data());
    const ElementEdit edit = bring(scratch, first, second, stream);
    if (there) check_elements(pyramid_, edit, second.count > 0 ? 2 : 1, stream);
    work(pyramid_, edit, stream);
    const EditReport done = news(stream);
    if (done.first_wrong != ~0ull) refuse(first, second, static_cast<std::int64_t>(done.first_wrong), stream);
    count_ += static_cast<std::int64_t>(done.added) - static_cast<std::int64_t>(done.removed);
    return {static_cast<std::int64_t>(done.added), static_cast<std::int64_t>(done.removed),
            static_cast<std::int64_t>(done.moved)};
  }

  void reset() {
    seen_ = {};
    check(cudaMemcpyAsync(report_, &seen_, sizeof seen_, cudaMemcpyHostToDevice, edits_.get()), "making a report");
    edits_.wait();
  }

  /// What edits did since the last time. Waits for the stream.
  EditReport news(cudaStream_t stream) {
    EditReport now;
    check(cudaMemcpyAsync(&now, report_, sizeof now, cudaMemcpyDeviceToHost, stream), "reading a report");
    check(cudaStreamSynchronize(stream), "editing voxels");
    const EditReport before = std::exchange(seen_, now);
    return {now.first_wrong, now.added - before.added, now.removed - before.removed, now.moved - before.moved};
  }

  void check_place(const ElementList& first, const ElementList& second) const {
    for (const ElementList* list : {&first, &second})
      if (list->count > 0 && fathom::cuda::device_of(list->data, "elements") != device_)
        throw InvalidArgument("'elements' are on another device than the set");
  }

  /// @param scratch  counts only, or has room: lists of the host are copied there
  ElementEdit bring(Scratch& scratch, const ElementList& first, const ElementList& second, cudaStream_t stream) const {
    const auto list = [&](const ElementList& given) {
      if (given.space == MemorySpace::device) return given.data;
      auto* copy = scratch.take<std::int64_t>(given.count);
      if (copy && given.count > 0)
        check(cudaMemcpyAsync(copy, given.data, static_cast<std::size_t>(given.count) * sizeof *copy,
                              cudaMemcpyHostToDevice, stream),
              "copying elements");
      return static_cast<const std::int64_t*>(copy);
    };
    return {list(first), list(second), first.count, scratch.take<bool>(second.count), report_};
  }

  [[noreturn]] void refuse(const ElementList& first, const ElementList& second, std::int64_t wrong,
                           cudaStream_t stream) {
    reset();
    const std::int64_t* at = wrong < first.count ? first.data + wrong : second.data + (wrong - first.count);
    std::int64_t element = 0;
    check(cudaMemcpyAsync(&element, at, sizeof element, cudaMemcpyDeviceToHost, stream), "reading an element");
    check(cudaStreamSynchronize(stream), "reading an element");
    refuse_element(element, shape_);
  }

  const Shape shape_;
  const int device_;
  std::size_t bytes_ = 0;
  std::optional<DeviceMemory> memory_;
  DevicePyramid pyramid_;
  EditReport* report_ = nullptr;  ///< on the device
  EditReport seen_;               ///< of it
  std::int64_t count_ = 0;
  OwnStream edits_;  ///< of edits that come from the host, and of looks
  mutable Readers readers_;
};

}  // namespace

std::unique_ptr<ResidentVoxels> make_voxels(const Shape& shape, const Pyramid* pyramid, std::int64_t count) {
  auto voxels = std::make_unique<DeviceVoxels>(shape, current_device());
  pyramid ? voxels->fill(*pyramid, count) : voxels->clear();
  return voxels;
}

std::unique_ptr<ResidentVoxels> make_voxels(const AnyConstDeviceView& mask, Stream stream) {
  const int device = element_count(mask.shape()) > 0 ? fathom::cuda::device_of(mask.data(), "mask") : current_device();
  const OnDevice on_device(device);
  auto voxels = std::make_unique<DeviceVoxels>(mask.shape(), device);
  voxels->fill(mask, fathom::cuda::native(stream));
  return voxels;
}

}  // namespace fathom::points::cuda
