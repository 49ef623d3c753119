// Sites beyond the device's memory: they pass by in pieces, and what has been found is carried from piece to piece.
//
// Work: three pieces at a time, each with a stream of its own, so that copies overlap with one another and with the search
// of the piece before; searches follow one another. Source: Khan & Zahran's K kernels and J streams; departs by carrying
// exact neighbours: 8 bytes for each beside the answers (between integers 16), whatever the number of sites. Memory: one
// block, with pieces as large as the limit allows.
#include "points/cuda/streamed.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/cuda/runtime.h"
#include "core/cuda/staging.h"
#include "fathom/core/execution.h"
#include "points/check.h"
#include "points/cuda/build.h"
#include "points/cuda/copies.h"
#include "points/cuda/products.h"
#include "points/cuda/search.h"

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
  return make_tree(sites, extent, Storage::plain);
}

/// Where everything is in a call's block of device memory; without a base it counts.
struct Layout {
  Scratch scratch;
  Copies copies;
  Carried carried;
  std::array<std::byte*, kPieces> pieces;
  std::byte* pass;

  /// @param piece  the largest
  Layout(const Request& request, const DeviceTree& piece, std::byte* base) : scratch(base), copies(request, scratch) {
    const std::int64_t places = request.queries.count * request.k;
    const Column& sites = copies.site.device;
    carried.bytes = is_integral(request, piece) ? sizeof(Wide) : sizeof(double);
    carried.squared = scratch.take<std::byte>(places * static_cast<std::int64_t>(carried.bytes));
    const bool in_place = request.answers.site.data && sites.dtype == DType::int64;
    carried.ids = in_place ? reinterpret_cast<std::int64_t*>(sites.data) : scratch.take<std::int64_t>(places);
    for (std::byte*& memory : pieces) memory = scratch.take<std::byte>(piece.count * row_bytes(piece.sites));
    pass = scratch.take<std::byte>(static_cast<std::int64_t>(pass_scratch_bytes(piece, request)));
  }
};

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

/// Sites [first, first + count).
Cloud part_of(const Cloud& sites, std::int64_t first, std::int64_t count) {
  Cloud part = sites;
  part.count = count;
  for (int k = 0; k < sites.axes; ++k)
    part.data[k] += first * sites.step[k] * static_cast<std::int64_t>(size_of(sites.dtype));
  return part;
}

/// A place for pieces, one after the other.
struct Slot {
  OwnStream stream;
  Event filled, searched;
};

class StreamedSet : public ResidentSet {
 public:
  StreamedSet(int device, const StreamedSource& source) : device_(device), memory_(source.memory) {
    const OwnStream stream;
    for (std::size_t c = 0; c < source.clouds.size(); ++c) {
      trees_.push_back(tree_of(source.clouds[c], source.boxes[c]));
      trees_.back().products = products_serve(trees_.back()) && products_are_exact(stream.get());
    }
  }

  std::string device_name() const override { return describe_device(device_).name; }
  std::int64_t count() const override { return trees_.empty() ? 0 : trees_[0].count; }
  std::size_t bytes() const override { return 0; }
  std::size_t scratch_bytes(const Request&) const override { refuse_device(); }
  void answer(const std::vector<Request>&, Stream) const override { refuse_device(); }

  std::size_t host_bytes(const Request& request) const override {
    const OnDevice on_device(device_);
    std::size_t most = 0;
    for (const DeviceTree& tree : trees_)
      most = std::max(most, Layout(request, largest_piece(tree, request), nullptr).scratch.bytes());
    return most;
  }

  void answer_host(const std::vector<Request>& requests) const override {
    if (requests.empty() || requests[0].queries.count == 0) return;
    const OnDevice on_device(device_);
    const OwnStream stream;
    const DeviceMemory memory(host_bytes(requests[0]), stream.get());
    for (std::size_t c = 0; c < requests.size(); ++c) {
      const DeviceTree piece = largest_piece(trees_[c], requests[c]);
      const Layout layout(requests[c], piece, memory.data());
      const Request request = layout.copies.upload(requests[c], stream.get());
      DeviceRequest on_pieces =
          device_request(request, trees_[c], layout.copies.upload_cones(requests[c], stream.get()));
      on_pieces.carried = layout.carried;
      search_pieces(trees_[c], on_pieces, layout, piece.count, stream.get());
      layout.copies.download(stream.get());
    }
  }

 private:
  [[noreturn]] static void refuse_device() {
    throw InvalidArgument(
        "the sites stay in the host's memory, since the device's limit does not hold them; give queries of the host");
  }

  /// The tree with as many sites as the memory has room for.
  DeviceTree largest_piece(const DeviceTree& tree, const Request& request) const {
    DeviceTree piece = tree;
    const std::int64_t all = piece.count, least = std::min(all, kSmallestPiece);
    const auto needed = [&] { return Layout(request, piece, nullptr).scratch.bytes(); };
    piece.count = std::clamp<std::int64_t>(kLargestPiece / row_bytes(piece.sites), least, std::max(least, all));
    while (needed() > memory_ && piece.count > least)
      piece.count = std::max(piece.count * 7 / 8 / kSmallestPiece * kSmallestPiece, least);
    check_device_memory(memory_, needed());
    return piece;
  }

  /// In the stream's order: slot by slot, and a search as soon as a slot is filled.
  static void search_pieces(const DeviceTree& tree, DeviceRequest& request, const Layout& layout, std::int64_t size,
                            cudaStream_t stream) {
    std::array<Slot, kPieces> slots;
    const Event ready;
    ready.record(stream);
    for (const Slot& slot : slots) ready.hold_back(slot.stream.get());
    Staging staging(available_threads(), static_cast<std::size_t>(tree.count * row_bytes(tree.sites)));
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
  std::size_t memory_;
  std::vector<DeviceTree> trees_;  ///< without boxes, over sites of the host
};

}  // namespace

std::unique_ptr<ResidentSet> make_streamed(const StreamedSource& source) {
  return std::make_unique<StreamedSet>(current_device(), source);
}

}  // namespace fathom::points::cuda
