// The narrow band of a field: tiles of 8 × 8 × 8 points, those that the surface is near to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fathom/core/array.h"
#include "fathom/core/device.h"
#include "fathom/core/execution.h"
#include "fathom/mesh/lattice.h"

namespace fathom::mesh {

inline constexpr int kTileSide = 8;
inline constexpr int kTilePoints = kTileSide * kTileSide * kTileSide;

/// Points of a lattice no farther than a cutoff from a surface, in tiles. Point (x, y, z) of a tile is its element
/// x + 8·y + 64·z, and bit x + 8·y of its word z. Tiles are in ascending order of z, then y, then x. With sides, tiles
/// whose points are all beyond it are stored, too, where inside and outside meet in them: where the surface passes, if
/// the cutoff is below a step of the lattice; and, if the surface has holes, far from it.
struct Band {
  Lattice lattice;
  double cutoff = 0;
  bool is_signed = false;
  std::int64_t active = 0;  ///< points in the band

  Array tiles;  ///< [n, 3] int32: x, y, z of each tile, in tiles
  Array masks;  ///< [n, 8] uint64: which of its points are in the band
  /// [n, 512] float32 or float64; points that are not in the band have ±cutoff, with their side's sign. [active] if the
  /// band is compact: then this and the next two hold the band's points alone, tile after tile, in the order of their
  /// bits.
  Array distances;
  Array triangles;  ///< [n, 512] int32: nearest triangle; −1 outside the band. Empty unless asked for
  Array closest;    ///< [n, 512, 3] float32: nearest point, x, y, z; NaN outside the band. Empty unless asked for
  Array first;      ///< [n + 1] int64: the band's points before each tile. Empty unless compact
  Array inside;     ///< [n, 8] uint64: which of its points are not outside. Empty unless compact and with sides

  /// Sides of what is not stored, on which all points of a tile are on one side: [tiles along z, tiles along y], 1
  /// where the first tile of a row is inside, if it is not stored; and [n], 1 where the tile after each is, if it is
  /// not. Of a surface with holes, inside may end where no surface is: that is looked for where corners of tiles are on
  /// different sides, so that far from the surface what of inside or outside is narrower than a tile may be missed.
  Array row_inside;
  Array after_inside;

  // What computed it.
  InstructionSet instruction_set = InstructionSet::baseline;
  int threads = 1;
  std::size_t scratch_bytes = 0;

  std::int64_t count() const { return tiles.shape().rank() == 2 ? tiles.shape()[0] : 0; }
  bool is_compact() const { return first.size() > 0; }
  std::size_t bytes() const {
    return tiles.bytes() + masks.bytes() + distances.bytes() + triangles.bytes() + closest.bytes() + first.bytes() +
           inside.bytes() + row_inside.bytes() + after_inside.bytes();
  }
  /// Tiles along each axis.
  std::array<std::int64_t, 3> tile_shape() const {
    return {(lattice.shape[0] + 7) / 8, (lattice.shape[1] + 7) / 8, (lattice.shape[2] + 7) / 8};
  }

  /// Writes the whole lattice: the band's distances, and ±cutoff elsewhere.
  /// @param out  [z, y, x], of the type of `distances`
  /// @throws InvalidArgument another shape or type
  void to_dense(const AnyView& out) const;

  /// The points of the band, tile after tile.
  /// @param places     [active, 3] int32: i, j, k of each, in the order x, y, z; or not given
  /// @param distances  [active], of the type of `distances`; or not given
  /// @throws InvalidArgument another shape or type
  void to_list(const AnyView& places, const AnyView& distances) const;

  /// A copy with the band's points alone: 4 bytes for each of float32, and 149 a tile.
  Band compact() const;
  /// A copy with all points of each tile.
  Band full() const;
};

/// The same in a device's memory. Movable; copies share the memory, which goes with the last of them: what still reads
/// it must be done.
struct DeviceBand {
  Lattice lattice;
  double cutoff = 0;
  bool is_signed = false;
  std::int64_t active = 0;

  AnyConstDeviceView tiles, masks, distances, triangles, closest;  ///< as those of Band
  AnyConstDeviceView row_inside, after_inside;

  std::string device;            ///< name of the device
  std::size_t bytes = 0;         ///< of its memory
  std::shared_ptr<void> memory;  ///< that the views lie in

  std::int64_t count() const { return tiles.rank() == 2 ? tiles.shape()[0] : 0; }
  /// A copy in the host's memory. Waits.
  Band download() const;

  /// As those of Band, on the band's device, in the order of a stream.
  /// @throws InvalidArgument another shape or type, or memory of the host
  void to_dense(const AnyDeviceView& out, Stream stream = {}) const;
  /// @param triangles  [active] int32: if the band has them; or not given
  /// @param closest    [active, 3] float32: the same
  void to_list(const AnyDeviceView& places, const AnyDeviceView& distances, const AnyDeviceView& triangles = {},
               const AnyDeviceView& closest = {}, Stream stream = {}) const;
};

}  // namespace fathom::mesh
