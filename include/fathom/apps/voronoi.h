// Voronoi regions of sites on a grid: what each holds and which touch, and Lloyd's iteration to centroidal regions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fathom/core/device.h"
#include "fathom/core/execution.h"
#include "fathom/core/view.h"
#include "fathom/grid/distance.h"

namespace fathom::apps {

struct VoronoiOptions {
  grid::Sites sites = {grid::Sites::Rule::nonzero};  ///< all rules but `labels`
  /// Decides which site is nearest, and how long boundaries are; as grid's.
  std::vector<double> spacing;
  bool moments = false;     ///< also second moments
  bool boundaries = false;  ///< also which regions touch
  /// Backend `automatic` is the CPU for arrays of the host. Of the scratch grid has the most: see
  /// voronoi_scratch_bytes().
  Execution execution;
};

/// Two regions that touch: elements of theirs have a face in common.
struct Boundary {
  std::int64_t first = 0, second = 0;  ///< numbers of their sites, first < second
  double length = 0;                   ///< of all such faces, in units^(axes − 1); of one axis, how many
};

/// Sums over the region of each site; [n] or [n, …], a site's number being its place in ascending order of linear
/// indices. All are exact integers. Positions p and s of element and site count elements along the axes.
struct Voronoi {
  std::vector<std::int64_t> sites;   ///< [n] linear index
  std::vector<std::int64_t> areas;   ///< [n] elements
  std::vector<std::int64_t> masses;  ///< [n] Σ w
  std::vector<std::int64_t> firsts;  ///< [n, axes] Σ w (p − s): the centroid is s + first / mass
  /// [n, axes (axes + 1) / 2] Σ w (p − s)ᵢ (p − s)ⱼ for i ≤ j: of two axes 00, 01, 11; empty unless asked for
  std::vector<std::int64_t> seconds;
  std::vector<Boundary> boundaries;  ///< ascending: the edges of the Delaunay graph on the grid
  double weight_scale = 1;           ///< w is the given weight times it, rounded

  Backend backend = Backend::cpu;
  InstructionSet instruction_set = InstructionSet::baseline;
  int threads = 1;
  std::size_t scratch_bytes = 0;
  std::string device = {};
};

/// Regions of all sites and their sums. An element is in the region of its nearest site, of equally near ones in that
/// of the one with the lowest linear index.
/// @param sites    1 to 3 axes of up to 2³¹ − 1, any element type; at most 2³¹ − 1 sites
/// @param weights  of the same shape, or not given: 1 everywhere. Integers from 0 to 65535 are taken as they are; of
///   floats, finite and not negative, the largest becomes 65535 and the others are in proportion, rounded
/// @param options  see VoronoiOptions
/// @param regions  int32 or int64, of the same shape, or not given: the number of the site; −1 if there is none
/// @throws InvalidArgument what was wrong and what would work, before the output is touched; sums that pass 64 bits
/// @throws Cancelled the stop token asked for it; the output is unspecified
/// Cost O(N): grid's nearest sites, and one pass that adds each run of elements of one region in a row. Same result for
/// every thread count and backend. Source: Cao et al. 2010, section 6 (prefix sums of rows, one interval for each site
/// and row); departs in that sums are integers, added in any order.
Voronoi voronoi(const AnyConstView& sites, const AnyConstView& weights, const VoronoiOptions& options,
                const AnyView& regions = {});

/// The same of arrays in a device's memory, with at most 2³¹ − 1 elements. Tables are in the host's memory: waits for
/// the regions, but not until their numbers are written.
/// @throws InvalidArgument as above | a view's memory is not on one device | the stream is being captured into a graph
/// @throws DeviceError a launch failed, or the device has not enough memory for the scratch
Voronoi voronoi(const AnyConstDeviceView& sites, const AnyConstDeviceView& weights, const VoronoiOptions& options,
                const AnyDeviceView& regions = {}, Stream stream = {});

/// The same of every image of a batch, by itself; scratch for each image that is worked at.
/// @param sites       [batch…, 1 to 3 axes], as are weights and regions
/// @param batch_axes  so many axes in front number the images
/// @returns [images] in row-major order
/// On the CPU each thread has an image where there are as many, unless there is a scratch limit.
std::vector<Voronoi> voronoi_batch(const AnyConstView& sites, const AnyConstView& weights, int batch_axes,
                                   const VoronoiOptions& options, const AnyView& regions = {});
std::vector<Voronoi> voronoi_batch(const AnyConstDeviceView& sites, const AnyConstDeviceView& weights, int batch_axes,
                                   const VoronoiOptions& options, const AnyDeviceView& regions = {},
                                   Stream stream = {});

/// Bytes of scratch that voronoi() takes for such arrays and at most so many sites; the memory behind them is not read.
/// On a device boundaries take some 20 bytes more for each face between two regions.
std::size_t voronoi_scratch_bytes(const AnyConstView& sites, const VoronoiOptions& options, std::int64_t count);
std::size_t voronoi_scratch_bytes(const AnyConstDeviceView& sites, const VoronoiOptions& options, std::int64_t count);

struct LloydOptions {
  int iterations = 100;  ///< at most; ≥ 0
  /// Sites are elements, and centroids are rounded to the nearest: energy falls with every iteration that moves one,
  /// until none does. Otherwise positions are real: regions are those of sites rounded to a grid `supersample` times as
  /// fine, and end closer to the optimum.
  bool on_elements = false;
  int supersample = 1;   ///< 1 … 16; 1 for `on_elements`
  double tolerance = 0;  ///< real positions are at rest when none moves farther along an axis, in elements
  bool energies = false;
  std::uint64_t seed = 0;  ///< of what is drawn, see lloyd()
  Execution execution;
};

struct LloydReport {
  Backend backend = Backend::cpu;
  InstructionSet instruction_set = InstructionSet::baseline;
  int threads = 1;
  std::size_t scratch_bytes = 0;
  std::string device = {};
  int iterations = 0;    ///< that were done
  bool at_rest = false;  ///< no site moved farther than the tolerance in the last one
  /// If asked for: Σ w |p − s|² before each iteration and after the last, w as given, in elements.
  std::vector<double> energies;
};

/// Moves sites to the centroids of their regions, again and again.
/// @param weights  1 to 3 axes, as voronoi() takes them; not all 0
/// @param sites    [n, axes] positions in elements, the middle of the first being 0; whole numbers for `on_elements`,
///   and n at most as many as there are elements that are not 0, on the finer grid; moved
/// Sites that lie on one element share it: its region is that of the lowest number. A site whose region has no weight
/// stays where it is `on_elements`; a real one is drawn anew, by weight, from the seed, the iteration and its number.
/// @throws InvalidArgument, Cancelled as voronoi(); sites are then unspecified
/// Cost O(N) an iteration. Same bytes for every thread count and backend. Source: Lloyd 1982, Cao et al. 2010.
LloydReport lloyd(const AnyConstView& weights, const HostView<double>& sites, const LloydOptions& options);

/// The same of arrays in a device's memory, with at most 2³¹ − 1 elements of the finer grid. Waits for each few
/// iterations, to see whether sites rest.
/// @throws InvalidArgument as above | a view's memory is not on one device | the stream is being captured into a graph
/// @throws DeviceError a launch failed, or the device has not enough memory for the scratch
LloydReport lloyd(const AnyConstDeviceView& weights, const DeviceView<double>& sites, const LloydOptions& options,
                  Stream stream = {});

/// The same of every image of a batch, by itself and from the same seed.
/// @param weights     [batch…, 1 to 3 axes]
/// @param sites       [batch…, n, axes]
/// @param batch_axes  as for voronoi_batch()
/// @returns [images] in row-major order
std::vector<LloydReport> lloyd_batch(const AnyConstView& weights, const HostView<double>& sites, int batch_axes,
                                     const LloydOptions& options);
std::vector<LloydReport> lloyd_batch(const AnyConstDeviceView& weights, const DeviceView<double>& sites, int batch_axes,
                                     const LloydOptions& options, Stream stream = {});

/// Bytes of scratch that lloyd() takes for weights of such a shape and so many sites: of the host, or of a device with
/// backend `cuda`.
std::size_t lloyd_scratch_bytes(const Shape& weights, std::int64_t sites, const LloydOptions& options);

}  // namespace fathom::apps
