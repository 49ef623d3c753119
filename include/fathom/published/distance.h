// Distance transforms as they were published: to call, to read, and to measure beside grid's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fathom/core/execution.h"
#include "fathom/core/view.h"
#include "fathom/grid/distance.h"
#include "fathom/published/phase.h"

namespace fathom::published {

enum class Algorithm {
  pba,        ///< Parallel Banding, Cao, Tang, Mohamed & Tan 2010: exact
  proximate,  ///< proximate points of columns, Man, Uda, Ito & Nakano 2012: exact, images alone
  jfa,        ///< Jump Flooding, Rong & Tan 2006: approximate
  skw,        ///< sweeps of vectors, Schneider, Kraus & Westermann 2009: approximate
  brute,      ///< every element against every site: exact
};

/// How the two steps of `proximate` read and write the image: along columns, which neighbouring threads do together
/// (vertical), or along rows, where they do not (horizontal); or vertical both ways, transposed in between.
enum class Access { vv_hh, hh_vv, vh_vh, hv_hv, vtv_vtv };

struct DistanceOptions {
  Algorithm algorithm = Algorithm::pba;
  grid::Sites sites = {};             ///< all rules but `labels`
  int m1 = 16;                        ///< pba: bands in which a line is swept, 1 … 32
  int m2 = 16;                        ///< pba: bands of a line that are merged, ≥ 1
  int m3 = 4;                         ///< pba: elements of a line that threads of a device colour at a time, 1 … 32
  std::optional<std::int64_t> slice;  ///< pba: of a volume, this slice alone, in the memory of an image
  Access access = Access::vtv_vtv;    ///< proximate: on the CPU, hv_hv is done whatever this says
  int more_rounds = 0;                ///< jfa: rounds of one step that follow, 0 … 2: JFA, JFA+1, JFA+2
  bool measure_error = false;         ///< compare the result with the exact one
  Execution execution;                ///< backend `automatic` is a device if there is one
};

/// A default view is not computed. Of the input's shape, or of a slice's. They must not overlap the input or one
/// another.
struct DistanceOutputs {
  AnyView distance;  ///< float32 or float64: of the site that was found; +inf without one
  AnyView nearest;   ///< int32 or int64: linear index in the input of the site that was found; −1 without one
};

/// How far a result is from the exact one.
struct Deviation {
  std::int64_t wrong = 0;  ///< elements whose site is not a nearest one
  double share = 0;        ///< of all elements
  double largest = 0;      ///< by which a distance is too large, in elements
};

/// What a call did.
struct DistanceReport {
  Backend backend = Backend::cpu;
  int threads = 1;
  std::string device = {};        ///< empty: the CPU did the work
  std::size_t scratch_bytes = 0;  ///< of the host, and on a device all that lies there
  bool exact = true;              ///< whether the algorithm is
  /// Times of the algorithm's phases, on a device without the copies there and back.
  std::vector<Phase> phases;
  std::optional<Deviation> error;  ///< if asked for
};

/// Distance from each element of an image or volume to a nearest site, by an algorithm as it was published. Use
/// grid::distance_transform() to have distances: it is exact, and faster than all of these. Distances of exact
/// algorithms are its bytes; of equally near sites each may find another, but always the same one with the same
/// options.
///
/// @param input    2 or 3 axes, of up to 32,768 each in images, and up to 1,023, 2,048 and 2,048 in volumes; any type
/// @param outputs  at least one view
/// @throws InvalidArgument what was wrong and what would work, before any output is touched
/// @throws DeviceError CUDA was asked for and is not to be had, or failed
/// @throws Cancelled the stop token asked for it; outputs are unspecified
/// Cost: O(N) for pba, proximate and skw; O(N log n) for jfa; O(N · sites) for brute. Source and departures: see
/// src/published, where each is a file to read.
DistanceReport distance_transform(const AnyConstView& input, const DistanceOptions& options,
                                  const DistanceOutputs& outputs);

/// Bytes of scratch that the call takes on the host; on a device about as much again.
/// @throws InvalidArgument as distance_transform()
std::size_t scratch_bytes(const AnyConstView& input, const DistanceOptions& options, const DistanceOutputs& outputs);

/// Whether an algorithm finds nearest sites always.
bool is_exact(Algorithm algorithm);

}  // namespace fathom::published
