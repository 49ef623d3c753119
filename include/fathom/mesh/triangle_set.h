// Triangle meshes that answer: how far is the surface, on which side of it is a point, which triangle is nearest and
// where?
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fathom/core/array.h"
#include "fathom/core/device.h"
#include "fathom/core/execution.h"
#include "fathom/mesh/band.h"
#include "fathom/mesh/lattice.h"

namespace fathom::mesh {

/// Triangles in the caller's memory.
struct Triangles {
  AnyConstView vertices;   ///< [n, 3]: x, y, z, float32 or float64
  AnyConstView triangles;  ///< [m, 3]: numbers of vertices from 0, int32 or int64
};

/// The smallest box of the vertices that triangles name, of those that are finite; low is +inf and high −inf if there
/// are none.
/// @throws InvalidArgument another shape or type; an index out of range
Bounds bounds_of(const Triangles& mesh);

/// Triangles in a device's memory.
struct DeviceTriangles {
  AnyConstDeviceView vertices, triangles;
};

/// How inside is told from outside.
enum class Sign {
  automatic,     ///< `winding` if the mesh is closed, else `fast_winding`
  none,          ///< not at all: distances are not negative
  pseudonormal,  ///< by the angle-weighted normal of what is nearest: for closed meshes that do not meet themselves
  winding,  ///< by how often the surface goes around the point, exact: for all closed meshes, nested and overlapping
  fast_winding,  ///< by the generalised winding number, inside from ½ on: for meshes with holes, too
};

/// Which winding numbers are inside.
enum class WindingRule {
  nonzero,   ///< all but 0, so that meshes that are inside out have an inside
  even_odd,  ///< the odd ones
  positive,  ///< those above 0, of surfaces that run counter-clockwise seen from outside
};

struct TriangleSetOptions {
  Sign sign = Sign::automatic;
  WindingRule rule = WindingRule::nonzero;  ///< of `winding`
  /// Most bytes of a device's memory that the set keeps and a call takes, together; not those of outputs there. Calls
  /// between arrays of the host go in pieces where they need more, bands in slabs.
  std::optional<std::size_t> device_memory;
  /// Of the building: threads, scratch limit, progress and stop; and the backend, which says where the set lives.
  /// `cuda`: in the current device's memory, where it answers.
  Execution execution;
};

/// What a mesh is like. "Edges" are those of vertices that are equal in value.
struct Topology {
  std::int64_t vertices = 0;  ///< that are used, equal ones counted once
  std::int64_t edges = 0;
  std::int64_t open = 0;        ///< edges that are not passed as often in one direction as in the other
  std::int64_t flipped = 0;     ///< of them, those between two faces that are turned against each other
  std::int64_t shared = 0;      ///< edges of more than two triangles
  std::int64_t degenerate = 0;  ///< triangles without an area
  std::int64_t duplicate = 0;   ///< triangles with the corners of one before, in any order
  double volume =
      0;  ///< enclosed, signed: negative where the surface is inside out. Of meshes with holes without a meaning
  double area = 0;

  /// Whether the surface bounds a solid: no open edge.
  bool closed() const { return open == 0; }
};

/// What part of a triangle is nearest.
enum class Feature : std::uint8_t { face, edge, vertex };

/// Where answers go: any number of dense or strided views. The shape is that of the questions – [n] for points,
/// [z, y, x] for lattices –, with a last axis of 3 where said so. A default view is not computed.
template <MemorySpace Space>
struct BasicOutputs {
  using Out = BasicAnyView<std::byte, Space>;
  Out distance;     ///< float32 or float64: rounded once; negative inside, +0 on the surface
  Out triangle;     ///< int32 or int64: number of the nearest triangle, the lowest of equally near ones
  Out closest;      ///< float32 or float64, [..., 3]: x, y, z of the nearest point of the surface
  Out barycentric;  ///< float32 or float64, [..., 3]: weights of the triangle's corners there
  Out feature;      ///< uint8: a Feature
  Out gradient;  ///< float32 or float64, [..., 3]: x, y, z of the distance's gradient; on the surface the face's normal
  Out inside;    ///< uint8: 1 inside, else 0; the surface is inside
};
using Outputs = BasicOutputs<MemorySpace::host>;
using DeviceOutputs = BasicOutputs<MemorySpace::device>;

/// What a call did.
struct Report {
  Backend backend = Backend::cpu;
  InstructionSet instruction_set = InstructionSet::baseline;
  int threads = 1;
  std::size_t scratch_bytes = 0;
  std::string device = {};  ///< name of the device that did the work; empty: the CPU did
};

struct BandOptions {
  /// Points of which distance, in the mesh's units, are in the band: those at most so far away. Finite, > 0.
  double cutoff = 0;
  DType dtype = DType::float32;  ///< of the distances, or float64
  bool triangles = false;        ///< keep the nearest triangle of each point, too
  bool closest = false;          ///< keep the nearest point of the surface, too, as float32
  /// Keep the band's points alone: a quarter to a half of the memory, also while it is computed. Of a set on a device
  /// what was made at once there is made compact after it was copied to the host.
  bool compact = false;
  Execution execution;
};

/// Bytes of the host that a set takes.
struct SetBytes {
  std::size_t kept = 0;   ///< as long as it lives: TriangleSet::bytes()
  std::size_t build = 0;  ///< beside them, while it is built
};

/// What a set takes of a mesh, known beforehand. `automatic` counts as the sign that takes more.
SetBytes set_bytes(std::int64_t triangles, std::int64_t vertices, Sign sign);

/// Bytes of the host that a band of so many tiles takes at most while it is computed, besides its scratch.
std::size_t band_bytes(std::int64_t tiles, const BandOptions& options);

struct PreparedMesh;
class ResidentMesh;

/// A mesh that answers. Movable; after construction all may be called by many threads at once.
///
/// Exact: with a, b, c the differences in float64 of a triangle's corners to the point, corners taken in ascending
/// order of their vertices, d² is that of the plane where the point lies in the prism over the face, else the least of
/// the edges and corners (src/mesh/triangle.hd.h has the formula). Features that triangles share give equal bits, and
/// the lowest triangle wins among equals. Distances are √d², rounded once to the output's type. Same bytes from any
/// number of threads and any instruction set, and as brute force over all triangles.
///
/// Vertices that are equal in value (−0 = 0) are one. A triangle whose height is below 2⁻²⁵ of its longest side has no
/// face, only edges; one without any extent is a point.
///
/// Source: Landgraf, Generating 3D distance fields on GPUs, 2016 (narrow bands of lattices); pseudonormals of Bærentzen
/// & Aanæs 2005. Departs in that all is built on one tree of boxes over the triangles.
/// Cost: O(n log n) to build; 140 bytes per triangle of closed meshes, with pseudonormals 85 more;
/// on a device 48 more.
class TriangleSet {
 public:
  /// @param mesh  not referred to afterwards
  /// @throws InvalidArgument another shape or type; no triangle; a vertex that is not finite or beyond ±1e70; an index
  ///   out of range; 2³¹ triangles or vertices; the sign `winding` for a mesh with holes
  /// @throws DeviceError CUDA was asked for and is not to be had, or the device has not enough memory
  explicit TriangleSet(const Triangles& mesh, const TriangleSetOptions& options = {});

  /// A mesh in a device's memory, where the set lives, too. Waits until it is built.
  /// @param stream  in whose order the mesh is there
  explicit TriangleSet(const DeviceTriangles& mesh, const TriangleSetOptions& options = {}, Stream stream = {});

  ~TriangleSet();
  TriangleSet(TriangleSet&&) noexcept;
  TriangleSet& operator=(TriangleSet&&) noexcept;

  std::int64_t size() const;  ///< triangles
  std::size_t bytes() const;  ///< that the set keeps, there where it lives
  bool on_device() const;
  const Bounds& bounds() const;
  const Topology& topology() const;
  Sign sign() const;  ///< what `automatic` chose

  /// Answers for any points.
  /// @param points  [n, 3]: x, y, z, float32 or float64
  /// @param outputs  at least one view
  /// @throws InvalidArgument what was wrong and what would work, before any output is touched
  /// @throws Cancelled the stop token asked for it; outputs are unspecified
  Report nearest(const AnyConstView& points, const Outputs& outputs, const Execution& execution = {}) const;

  /// Answers for every point of a lattice: a dense field.
  /// @throws InvalidArgument, Cancelled as above
  Report field(const Lattice& lattice, const Outputs& outputs, const Execution& execution = {}) const;

  /// Distances of the points of a lattice that are near the surface, and of no others. Of a set on a device the band
  /// counts as scratch there; where the device or the limit has no room for all of it, it is made in slabs of the
  /// lattice along z, down to one layer of tiles.
  /// @throws InvalidArgument, Cancelled as above; std::bad_alloc
  Band band(const Lattice& lattice, const BandOptions& options) const;

  /// The same for a set, points and outputs in one device's memory. Returns once the work is in the stream's order,
  /// without waiting for it; the set may go before it is done. Only the scratch limit of `execution` has a meaning
  /// here. A point with a coordinate that is not finite, or beyond ±1e150, is infinitely far from triangle −1.
  /// @throws InvalidArgument as above | a view is not in the set's device's memory
  /// @throws DeviceError a launch failed, or the device has not enough memory for the scratch
  Report nearest(const AnyConstDeviceView& points, const DeviceOutputs& outputs, const Execution& execution = {},
                 Stream stream = {}) const;
  Report field(const Lattice& lattice, const DeviceOutputs& outputs, const Execution& execution = {},
               Stream stream = {}) const;
  /// A band that stays on the set's device, in its full form. Waits until it is done; scratch, progress and stop are
  /// those of the host's calls.
  /// @throws InvalidArgument as above | `compact`
  DeviceBand device_band(const Lattice& lattice, const BandOptions& options, Stream stream = {}) const;

 private:
  friend std::shared_ptr<const PreparedMesh> on_the_host(const TriangleSet& set);

  std::unique_ptr<const PreparedMesh> prepared_;
  std::unique_ptr<const ResidentMesh>
      resident_;  ///< null unless the set lives on a device; then nothing that this copies is prepared
};

}  // namespace fathom::mesh
