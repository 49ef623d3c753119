// Narrow bands of mesh distances as they were published: to call, to read, and to measure beside mesh's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fathom/core/execution.h"
#include "fathom/mesh/band.h"
#include "fathom/mesh/triangle_set.h"
#include "fathom/published/phase.h"

namespace fathom::published {

enum class BandAlgorithm {
  octree,  ///< points around vertices, edges and faces, into an octree by atomics, Landgraf 2016
  mauch,   ///< scan conversion of polyhedra around vertices, edges and faces, Mauch 2000: exact, on the CPU
  naive,   ///< every point of the lattice against every triangle: exact, on the CPU
};

struct BandOptions {
  BandAlgorithm algorithm = BandAlgorithm::octree;
  double cutoff = 0;             ///< largest distance of the band, in the mesh's units. Finite, > 0
  DType dtype = DType::float32;  ///< of the distances, or float64
  /// octree: also the points around the ends of edges, and those at the rim of balls, that the published enumeration
  /// leaves out.
  bool corrected = false;
  /// octree: which of its three passes are made. Without one of them it is not exact.
  bool points = true, edges = true, faces = true;
  /// octree: make all passes once more over the finished tree, and once more without a tree (phases "again" and
  /// "without tree"), as section 4.4 does.
  bool measure_tree = false;
  bool measure_error = false;  ///< compare the band with the exact one
  Execution execution;         ///< backend `automatic` is a device if there is one; mauch and naive are of the CPU
};

/// How far a band is from the exact one.
struct BandDeviation {
  std::int64_t missed = 0;  ///< points of the exact band that were not found
  double share = 0;         ///< of the exact band's points
  std::int64_t farther = 0; ///< points that were found, but with too large a distance
  double largest = 0;       ///< by which a distance is too large
};

/// What a call did.
struct BandReport {
  Backend backend = Backend::cpu;
  int threads = 1;
  std::string device = {};        ///< empty: the CPU did the work
  std::size_t scratch_bytes = 0;  ///< the tree, or an array of the whole lattice, where that lies
  bool exact = true;              ///< whether the algorithm is, with these options
  std::int64_t nodes = 0;         ///< octree: of 32 bytes each, besides leaves of 8, one for each point
  std::int64_t visited = 0;       ///< points whose distance to a vertex, an edge, a face or a triangle was computed
  /// Times of the passes, on a device without the copies there and back.
  std::vector<Phase> phases;
  std::optional<BandDeviation> error;  ///< if asked for
};

struct BandResult {
  mesh::Band band;  ///< in its full form, without sides
  BandReport report;
};

/// The points of a lattice that are no farther than a cutoff from a mesh, by an algorithm as it was published. Use
/// mesh::TriangleSet::band() to have bands: it is exact, has sides, and is faster than all of these. Exact algorithms
/// give its bytes.
///
/// @throws InvalidArgument what was wrong and what would work
/// @throws DeviceError CUDA was asked for and is not to be had, or failed
/// @throws Cancelled the stop token asked for it
/// Cost: for V, E and F vertices, edges and faces and bands of r steps of the lattice, O(V·r³ + E·length·r² + boxes of
/// faces) for octree, with O(log n) for each point that is found; like it for mauch, with O(lattice) memory; O(lattice
/// · F) for naive.
BandResult band(const mesh::Triangles& mesh, const mesh::Lattice& lattice, const BandOptions& options);

}  // namespace fathom::published
