#include "points/cuda/resident_voxels.h"

#include <optional>

#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "points/check.h"
#include "points/cuda/cones.h"
#include "points/cuda/copies.h"
#include "points/cuda/device_request.h"
#include "points/cuda/readers.h"
#include "points/cuda/voxel_edits.h"
#include "points/cuda/voxel_search.h"

namespace fathom::points::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::DeviceMemory;
using fathom::cuda::OnDevice;
using fathom::cuda::OwnStream;
using fathom::cuda::Scratch;

Cell extents_of(const Shape& shape) {
  Cell extents{{1, 1, 1}};
  for (int k = 0; k < shape.rank(); ++k) extents[k] = shape[k];
  return extents;
}

/// A pyramid without bits over a grid. @param memory  counts only, or has room for the words
DevicePyramid make_pyramid(const Shape& shape, Scratch& memory) {
  DevicePyramid pyramid;
  pyramid.axes = shape.rank();
  pyramid.extents = extents_of(shape);
  Cell words = pyramid.extents;
  do {
    words = words_for(words, pyramid.axes);
    pyramid.level[pyramid.levels++] = {words, memory.take<unsigned long long>(count_of(words))};
  } while (count_of(words) > 1);
  return pyramid;
}

/// An edit's report on its way: cleared, then filled by kernels, then read.
class Report {
 public:
  Report(EditReport* there, cudaStream_t stream) : there_(there), stream_(stream) {
    check(cudaMemcpyAsync(there_, &here_, sizeof here_, cudaMemcpyHostToDevice, stream), "clearing a report");
  }
  EditReport* there() const { return there_; }

  /// Waits for it.
  const EditReport& read() {
    check(cudaMemcpyAsync(&here_, there_, sizeof here_, cudaMemcpyDeviceToHost, stream_), "reading a report");
    check(cudaStreamSynchronize(stream_), "editing voxels");
    return here_;
  }

 private:
  EditReport here_;
  EditReport* there_;
  cudaStream_t stream_;
};

class DeviceVoxels : public ResidentVoxels {
 public:
  DeviceVoxels(const Shape& shape, int device) : shape_(shape), device_(device) {
    Scratch sizing(nullptr);
    make_pyramid(shape, sizing);
    bytes_ = sizing.bytes();
    memory_.emplace(bytes_, nullptr);  // given back in the default stream's order: it outlives the one that filled it
    check(cudaStreamSynchronize(nullptr), "asking for memory");
    Scratch words(memory_->data());
    pyramid_ = make_pyramid(shape, words);
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
    const OwnStream stream;
    if (bytes_ > 0) check(cudaMemsetAsync(memory_->data(), 0, bytes_, stream.get()), "clearing voxels");
    stream.wait();
  }

  void fill(const Pyramid& from, std::int64_t count) {
    const OwnStream stream;
    for (int level = 0; level < pyramid_.levels; ++level) {
      const std::span<const std::uint64_t> words = from.words(level);
      if (words.empty()) continue;
      check(cudaMemcpyAsync(pyramid_.level[level].words, words.data(), words.size_bytes(), cudaMemcpyHostToDevice,
                            stream.get()),
            "copying voxels");
    }
    stream.wait();
    count_ = count;
  }

  void fill(const AnyConstDeviceView& mask, cudaStream_t stream) {
    const DeviceMemory memory(sizeof(EditReport), stream);
    Report report(reinterpret_cast<EditReport*>(memory.data()), stream);
    fill_from_mask(pyramid_, mask, report.there(), stream);
    count_ = static_cast<std::int64_t>(report.read().added);
  }

  std::int64_t add(const ElementList& elements) override {
    return edit(elements, {},
                [&](const Edit& edit) { add_elements(pyramid_, edit.first, edit.count, edit.report, edit.stream); })
        .added;
  }
  std::int64_t remove(const ElementList& elements) override {
    return edit(elements, {},
                [&](const Edit& edit) { remove_elements(pyramid_, edit.first, edit.count, edit.report, edit.stream); })
        .removed;
  }
  std::int64_t move(const ElementList& from, const ElementList& to) override {
    return edit(from, to,
                [&](const Edit& edit) {
                  move_elements(pyramid_, edit.first, edit.second, edit.count, edit.flags, edit.report, edit.stream);
                })
        .moved;
  }

  bool contains(const Cell& element) const override {
    const OnDevice on_device(device_);
    const OwnStream stream;
    const auto* word = pyramid_.level[0].word_at(parent_of(element, pyramid_.axes), pyramid_.axes);
    unsigned long long bits = 0;
    check(cudaMemcpyAsync(&bits, word, sizeof bits, cudaMemcpyDeviceToHost, stream.get()), "looking at an element");
    stream.wait();
    return (bits >> bit_of(element, pyramid_.axes) & 1) != 0;
  }

  std::string device_name() const override { return describe_device(device_).name; }
  bool reaches(const void* address) const override { return fathom::cuda::device_of(address, "queries") == device_; }
  std::int64_t count() const override { return count_; }
  std::size_t bytes() const override { return bytes_; }

  std::size_t scratch_bytes(const Request& request, std::size_t /*room*/) const override {
    Scratch scratch(nullptr);
    cones_in(scratch, request);
    return scratch.bytes();
  }
  std::size_t host_bytes(const Request& request, std::size_t room) const override {
    Scratch arrays(nullptr);
    const Copies copies(request, arrays);
    return arrays.bytes() + scratch_bytes(request, room);
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
    if (cones) make_cones(request.cones, request.queries.count, cones, stream);
    search_voxels(pyramid_, device_request(request, pyramid_.outline(), cones), stream);
    readers_.add(stream);
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
    search_voxels(pyramid_, device_request(request, pyramid_.outline(), cones), stream.get());
    copies.download(stream.get());
  }

 private:
  /// What an edit works on, all on the device.
  struct Edit {
    const std::int64_t *first, *second;  ///< lists of elements
    std::int64_t count;                  ///< of each
    bool* flags;                         ///< [count]
    EditReport* report;
    cudaStream_t stream;
  };
  struct Changed {
    std::int64_t added, removed, moved;
  };

  /// Where the queries' own cones go.
  static ConeOfQuery* cones_in(Scratch& scratch, const Request& request) {
    return request.cones.on_device ? scratch.take<ConeOfQuery>(request.queries.count) : nullptr;
  }

  /// Runs an edit behind the queries at work.
  /// @param second  without elements, or as many as the first
  template <class Work>
  Changed edit(const ElementList& first, const ElementList& second, const Work& work) {
    if (first.count == 0) return {};
    const OnDevice on_device(device_);
    const bool there = first.space == MemorySpace::device;
    if (there) check_place(first, second);
    const OwnStream own;
    const cudaStream_t stream = there ? fathom::cuda::native(first.stream) : own.get();
    readers_.hold_back(stream);
    Scratch sizing(nullptr);
    place(sizing, first, second, stream);
    const DeviceMemory memory(sizing.bytes(), stream);
    Scratch scratch(memory.data());
    const Edit edit = place(scratch, first, second, stream);
    Report report(edit.report, stream);
    if (there) {
      check_elements(pyramid_, first.data, first.count, 0, edit.report, stream);
      check_elements(pyramid_, second.data, second.count, first.count, edit.report, stream);
    }
    work(edit);
    const EditReport& done = report.read();
    if (done.first_wrong != ~0ull) refuse(first, second, static_cast<std::int64_t>(done.first_wrong), stream);
    const Changed changed{static_cast<std::int64_t>(done.added), static_cast<std::int64_t>(done.removed),
                          static_cast<std::int64_t>(done.moved)};
    count_ += changed.added - changed.removed;
    return changed;
  }

  void check_place(const ElementList& first, const ElementList& second) const {
    for (const ElementList* list : {&first, &second})
      if (list->count > 0 && fathom::cuda::device_of(list->data, "elements") != device_)
        throw InvalidArgument("'elements' are on another device than the set");
  }

  /// @param scratch  counts only, or has room: lists of the host are copied there
  static Edit place(Scratch& scratch, const ElementList& first, const ElementList& second, cudaStream_t stream) {
    const auto list = [&](const ElementList& given) {
      if (given.space == MemorySpace::device) return given.data;
      auto* copy = scratch.take<std::int64_t>(given.count);
      if (copy && given.count > 0)
        check(cudaMemcpyAsync(copy, given.data, static_cast<std::size_t>(given.count) * sizeof *copy,
                              cudaMemcpyHostToDevice, stream),
              "copying elements");
      return static_cast<const std::int64_t*>(copy);
    };
    Edit edit{list(first), list(second), first.count, nullptr, nullptr, stream};
    edit.flags = scratch.take<bool>(second.count);
    edit.report = scratch.take<EditReport>(1);
    return edit;
  }

  [[noreturn]] void refuse(const ElementList& first, const ElementList& second, std::int64_t wrong,
                           cudaStream_t stream) const {
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
  std::int64_t count_ = 0;
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
