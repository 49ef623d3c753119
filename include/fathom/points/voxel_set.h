// Sites on the elements of a grid that come and go, and queries against them: no rebuild between.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "fathom/points/site_set.h"

namespace fathom::points {

/// Elements of a grid that answer queries as SiteSet does: same options, outputs, order and tie rule. Ids are linear
/// (row-major) indices. One bit per element and 1/63 more above, in words of 4 × 4 × 4 (2D: 8 × 8) elements.
///
/// Movable. nearest() may be called by many threads at once; while add(), remove() or move() is at work, nothing else.
///
/// Cost of an edit: O(log of the largest extent), mostly one bit. Of a query: the words near it, the nearest first.
class VoxelSet {
 public:
  /// An empty set.
  /// @param extents  2 or 3 axes, each up to 2³¹ − 1
  /// @throws InvalidArgument another number of axes; larger extents
  explicit VoxelSet(const Shape& extents);
  ~VoxelSet();
  VoxelSet(VoxelSet&&) noexcept;
  VoxelSet& operator=(VoxelSet&&) noexcept;

  /// The nonzero elements of an array.
  /// @throws InvalidArgument as above
  static VoxelSet of_mask(const AnyConstView& mask);

  const Shape& extents() const;
  std::int64_t size() const;
  std::size_t bytes() const;

  /// @throws InvalidArgument (as all below) there is no such element; nothing is changed then
  bool contains(std::int64_t element) const;
  /// @return how many were no sites before
  std::int64_t add(std::span<const std::int64_t> elements);
  bool add(std::int64_t element) { return add({&element, 1}) == 1; }
  /// @return how many were sites before
  std::int64_t remove(std::span<const std::int64_t> elements);
  bool remove(std::int64_t element) { return remove({&element, 1}) == 1; }
  /// The site at `from` goes to `to`, where there may be one already. False: there is none at `from`.
  bool move(std::int64_t from, std::int64_t to);

  /// As SiteSet::nearest(); one cloud of queries, which need not lie inside the grid.
  QueryReport nearest(const Coordinates& queries, const QueryOptions& options, const QueryOutputs& outputs) const;

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

}  // namespace fathom::points
