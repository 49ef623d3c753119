// Sites on the elements of a grid that come and go, and queries against them: no rebuild between.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fathom/points/site_set.h"

namespace fathom::points {

/// Elements of a grid that answer queries as SiteSet does: same options but for the metric, which is Euclidean, same
/// outputs, order and tie rule. Ids are linear (row-major) indices. One bit per element and 1/63 more above, in words
/// of 4 × 4 × 4 (2D: 8 × 8) elements, on the host or in a device's memory. Same bytes from both, of approximate
/// answers, too, where no d² passes 2⁵³.
///
/// Movable. nearest() may be called by many threads at once; while add(), remove() or move() is at work, nothing else.
///
/// Cost of an edit: O(log of the largest extent), mostly one bit. Of a query: the words near it, the nearest first.
/// Edits of a set on a device wait for queries at work and are done when they return, so that many are best made in one
/// call. Memory is never moved: a graph that was captured before an edit may run after it, not meanwhile, and finds the
/// sites of then.
class VoxelSet {
 public:
  /// An empty set.
  /// @param extents    2 or 3 axes, each up to 2³¹ − 1
  /// @param execution  the backend: `cuda`: in the current device's memory, where the set answers; else the host's
  /// @throws InvalidArgument another number of axes; larger extents
  /// @throws DeviceError CUDA was asked for and is not to be had, or the device has not enough memory
  explicit VoxelSet(const Shape& extents, const Execution& execution = {});
  ~VoxelSet();
  VoxelSet(VoxelSet&&) noexcept;
  VoxelSet& operator=(VoxelSet&&) noexcept;

  /// The nonzero elements of an array.
  /// @throws InvalidArgument, DeviceError as above
  static VoxelSet of_mask(const AnyConstView& mask, const Execution& execution = {});
  /// The same of an array in a device's memory, where the set lives, too. Waits until it is built.
  /// @param stream  in whose order the array is there
  static VoxelSet of_mask(const AnyConstDeviceView& mask, Stream stream = {});

  const Shape& extents() const;
  std::int64_t size() const;
  std::size_t bytes() const;
  bool on_device() const;

  /// @throws InvalidArgument (as all below) there is no such element; nothing is changed then
  bool contains(std::int64_t element) const;
  /// Linear indices of the sites, in any order. Of a set on a device waits.
  std::vector<std::int64_t> elements() const;
  /// @param watch  (as below) progress and stop, for a set in the host's memory
  /// @return how many were no sites before
  /// @throws Cancelled (as below) it was stopped when a part of the edit was made
  std::int64_t add(std::span<const std::int64_t> elements, const Execution& watch = {});
  bool add(std::int64_t element) { return add({&element, 1}) == 1; }
  /// @return how many were sites before
  std::int64_t remove(std::span<const std::int64_t> elements, const Execution& watch = {});
  bool remove(std::int64_t element) { return remove({&element, 1}) == 1; }
  /// The sites among `from` leave, then each comes to its place in `to`, where there may be one already.
  /// @param to  as many
  /// @return how many of `from` were sites
  std::int64_t move(std::span<const std::int64_t> from, std::span<const std::int64_t> to, const Execution& watch = {});
  bool move(std::int64_t from, std::int64_t to) { return move({&from, 1}, {&to, 1}) == 1; }

  /// The same with elements in the memory of the set's device, [n], in the stream's order. Waits until it is done.
  std::int64_t add(const DeviceView<const std::int64_t>& elements, Stream stream = {});
  std::int64_t remove(const DeviceView<const std::int64_t>& elements, Stream stream = {});
  std::int64_t move(const DeviceView<const std::int64_t>& from, const DeviceView<const std::int64_t>& to,
                    Stream stream = {});

  /// As SiteSet::nearest(); one cloud of queries, which need not lie inside the grid.
  QueryReport nearest(const Coordinates& queries, const QueryOptions& options, const QueryOutputs& outputs) const;
  /// As SiteSet's for a set, queries and outputs in one device's memory: in the stream's order, without waiting.
  QueryReport nearest(const DeviceCoordinates& queries, const QueryOptions& options, const DeviceQueryOutputs& outputs,
                      Stream stream = {}) const;
  /// Bytes of device memory that the call above takes from the pool for as many queries and such options.
  std::size_t scratch_bytes(const DeviceCoordinates& queries, const QueryOptions& options) const;

 private:
  struct Contents;
  explicit VoxelSet(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents_;
};

}  // namespace fathom::points
