// Sites beyond the device's memory: they pass by in pieces, and what has been found is carried from piece to piece.
//
// Work: three pieces at a time, each with a stream of its own, so that copies overlap with one another and with the
// search of the piece before; searches follow one another. Source: Khan & Zahran's K kernels and J streams; departs by
// carrying exact neighbours (carried.h): 8 bytes for each beside the answers, whatever the number of sites. Memory: one
// block, with pieces as large as the limit allows.
#include "points/cuda/streamed.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/cuda/capture.h"
#include "core/cuda/runtime.h"
#include "core/cuda/staging.h"
#include "fathom/core/error.h"
#include "fathom/core/execution.h"
#include "points/cuda/build.h"
#include "points/cuda/cones.h"
#include "points/cuda/copies.h"
#include "points/cuda/products.h"
#include "points/cuda/search.h"
#include "points/site_list.h"

namespace fathom::points::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::DeviceMemory;
using fathom::cuda::Event;
using fathom::cuda::HostRows;
using fathom::cuda::OnDevice;
using fathom::cuda::OwnStream;
using fathom::cuda::Scratch;
using fathom::cuda::Staging;

constexpr int kPieces = 3;                        ///< at a time
constexpr std::int64_t kSmallestPiece = 4096;     ///< sites: fewer would leave the device idle
constexpr std::int64_t kLargestPiece = 64 << 20;  ///< bytes: more would only delay the first search

/// What is known of a cloud: a tree without boxes, over sites that are nowhere yet.
DeviceTree tree_of(const Cloud& sites, const Box& box) {
  Extent extent{box, sites.dtype == DType::int32};
  for (std::size_t k = 0; k < static_cast<std::size_t>(sites.axes); ++k)
    extent.whole &= box.low[k] >= -kWholeInFloat && box.high[k] <= kWholeInFloat;
  DeviceTree tree = make_tree(sites, Storage::plain);
  set_extent(tree, extent);
  return tree;
}

/// What a search of pieces takes of a call's block of device memory; without a base it counts.
struct Layout {
  Carried carried;
  std::array<std::byte*, kPieces> pieces;
  std::byte* pass;

  /// @param answers  where they go on the device
  /// @param piece    the largest
  Layout(const Request& request, const Answers& answers, const DeviceTree& piece, Scratch& scratch) {
    carried = carried_of(request, answers, piece, scratch);
    for (std::byte*& memory : pieces) memory = scratch.take<std::byte>(piece.count * row_bytes(piece.sites));
    const std::size_t bytes = std::max(pass_scratch_bytes(piece, request), pass_scratch_bytes(last_of(piece), request));
    pass = scratch.take<std::byte>(static_cast<std::int64_t>(bytes));
  }

  /// The piece that is left at the end, whose search may take more than that of a larger one: a table in place of
  /// candidates, or more slices. Without sites, if there is none.
  static DeviceTree last_of(const DeviceTree& piece) {
    DeviceTree last = piece;
    if (piece.count > 0) last.count = piece.sites.count % piece.count;
    return last;
  }
};

/// Where everything is in the block of a call between arrays of the host, …
struct HostLayout {
  Scratch scratch;
  Copies copies;
  Layout search;

  HostLayout(const Request& request, const DeviceTree& piece, std::byte* base)
      : scratch(base), copies(request, scratch), search(request, copies.answers(), piece, scratch) {}
};

/// … and on the device.
struct DeviceLayout {
  Scratch scratch;
  ConeOfQuery* cones;  ///< the queries' own
  Layout search;

  DeviceLayout(const Request& request, const DeviceTree& piece, std::byte* base)
      : scratch(base),
        cones(request.cones.on_device ? scratch.take<ConeOfQuery>(request.queries.count) : nullptr),
        search(request, request.answers, piece, scratch) {}
};

/// The tree with as many sites as there is room for, but with some.
template <class AnyLayout>
DeviceTree largest_piece(const DeviceTree& tree, const Request& request, std::size_t room) {
  DeviceTree piece = tree;
  const std::int64_t all = piece.count, least = std::min(all, kSmallestPiece);
  piece.count = std::clamp<std::int64_t>(kLargestPiece / row_bytes(piece.sites), least, std::max(least, all));
  while (piece.count > least && AnyLayout(request, piece, nullptr).scratch.bytes() > room)
    piece.count = std::max(piece.count * 7 / 8 / kSmallestPiece * kSmallestPiece, least);
  return piece;
}

/// Copies sites of the host to the device, as rows if that is what they are.
Cloud upload_sites(Staging& staging, const Cloud& sites, std::byte* to, cudaStream_t stream) {
  const auto size = static_cast<std::int64_t>(size_of(sites.dtype));
  if (is_dense(sites)) {
    HostRows<const std::byte> all;
    all.data = sites.data[0];
    all.bytes = static_cast<std::size_t>(sites.count * row_bytes(sites));
    staging.upload(all, to, stream);
    return rows_at(sites, to);
  }
  Cloud columns = sites;
  for (int k = 0; k < sites.axes; ++k) {
    HostRows<const std::byte> column{
        sites.data[k], {sites.count}, {sites.step[k] * size}, 0, sites.count, static_cast<std::size_t>(size)};
    column.join();
    columns.data[k] = to + k * sites.count * size;
    columns.step[k] = 1;
    staging.upload(column, to + k * sites.count * size, stream);
  }
  return columns;
}

/// A place for pieces, one after the other.
struct Slot {
  OwnStream stream;
  Event filled, searched;
};

class StreamedSet : public ResidentSet {
 public:
  explicit StreamedSet(const StreamedSource& source) : device_(source.device) {
    const OwnStream stream;
    for (std::size_t c = 0; c < source.clouds.size(); ++c) {
      trees_.push_back(tree_of(source.clouds[c], source.boxes[c]));
      trees_.back().products = products_serve(trees_.back()) && products_are_exact(stream.get());
    }
  }

  std::string device_name() const override { return describe_device(device_).name; }
  bool reaches(const void* address) const override { return fathom::cuda::device_of(address, "queries") == device_; }
  std::int64_t count() const override { return trees_.empty() ? 0 : trees_[0].count; }
  std::size_t bytes() const override { return 0; }
  SiteList sites(std::size_t cloud) const override { return sites_of(trees_[cloud].sites); }

  std::size_t scratch_bytes(const Request& request, std::size_t room) const override {
    return bytes_of<DeviceLayout>(request, room);
  }
  std::size_t host_bytes(const Request& request, std::size_t room) const override {
    return bytes_of<HostLayout>(request, room);
  }

  void answer(const std::vector<Request>& requests, std::size_t room, Stream given) const override {
    if (requests.empty() || requests[0].queries.count == 0) return;
    check_memory(requests[0], device_);
    const OnDevice on_device(device_);
    const cudaStream_t stream = fathom::cuda::native(given);
    refuse_capture(stream);
    const DeviceMemory memory(scratch_bytes(requests[0], room), stream);
    for (std::size_t c = 0; c < requests.size(); ++c) {
      const DeviceTree piece = largest_piece<DeviceLayout>(trees_[c], requests[c], room);
      const DeviceLayout layout(requests[c], piece, memory.data());
      if (layout.cones) make_cones(requests[c].cones, requests[c].queries.count, layout.cones, stream);
      DeviceRequest request = device_request(requests[c], trees_[c], layout.cones);
      search_pieces(trees_[c], request, layout.search, piece.count, stream);
    }
  }

  void answer_host(const std::vector<Request>& requests, std::size_t room) const override {
    if (requests.empty() || requests[0].queries.count == 0) return;
    const OnDevice on_device(device_);
    const OwnStream stream;
    const DeviceMemory memory(host_bytes(requests[0], room), stream.get());
    for (std::size_t c = 0; c < requests.size(); ++c) {
      const DeviceTree piece = largest_piece<HostLayout>(trees_[c], requests[c], room);
      const HostLayout layout(requests[c], piece, memory.data());
      const Request uploaded = layout.copies.upload(requests[c], stream.get());
      const ConeOfQuery* cones = layout.copies.upload_cones(requests[c], stream.get());
      DeviceRequest request = device_request(uploaded, trees_[c], cones);
      search_pieces(trees_[c], request, layout.search, piece.count, stream.get());
      layout.copies.download(stream.get());
    }
  }

 private:
  static void refuse_capture(cudaStream_t stream) {
    if (fathom::cuda::is_capturing(stream))
      throw InvalidArgument(
          "sites that pass by from the host's memory cannot be captured into a graph; raise device_memory, so that "
          "they stay on the device");
  }

  template <class AnyLayout>
  std::size_t bytes_of(const Request& request, std::size_t room) const {
    const OnDevice on_device(device_);
    std::size_t most = 0;
    for (const DeviceTree& tree : trees_) {
      const DeviceTree piece = largest_piece<AnyLayout>(tree, request, room);
      most = std::max(most, AnyLayout(request, piece, nullptr).scratch.bytes());
    }
    return most;
  }

  /// In the stream's order: slot by slot, and a search as soon as a slot is filled.
  static void search_pieces(const DeviceTree& tree, DeviceRequest& request, const Layout& layout, std::int64_t size,
                            cudaStream_t stream) {
    std::array<Slot, kPieces> slots;
    const Event ready;
    ready.record(stream);
    for (const Slot& slot : slots) ready.hold_back(slot.stream.get());
    Staging staging(available_threads(), static_cast<std::size_t>(tree.count * row_bytes(tree.sites)));
    request.carried = layout.carried;
    DeviceTree piece = tree;
    for (std::int64_t first = 0, number = 0; first == 0 || first < tree.count; first += size, ++number) {
      const auto place = static_cast<std::size_t>(number % kPieces);
      const Slot& slot = slots[place];
      slot.searched.hold_back(slot.stream.get());
      piece.first = first;
      piece.count = std::min(size, tree.count - first);
      piece.sites =
          upload_sites(staging, part_of(tree.sites, first, piece.count), layout.pieces[place], slot.stream.get());
      slot.filled.record(slot.stream.get());
      slot.filled.hold_back(stream);
      request.carried.more = first + size < tree.count;
      pass(piece, request, layout.pass, stream);
      request.carried.begun = true;
      slot.searched.record(stream);
    }
    check(cudaStreamSynchronize(stream), "searching the pieces of a set");
  }

  int device_;
  std::vector<DeviceTree> trees_;  ///< without boxes, over sites of the host
};

}  // namespace

std::unique_ptr<ResidentSet> make_streamed(const StreamedSource& source) {
  const OnDevice on_device(source.device);
  return std::make_unique<StreamedSet>(source);
}

}  // namespace fathom::points::cuda
