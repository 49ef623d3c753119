// A resident set of sites, and queries against it: which site is nearest to a point, and how far away is it?
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fathom/core/array.h"
#include "fathom/core/device.h"
#include "fathom/core/execution.h"
#include "fathom/points/coordinates.h"
#include "fathom/points/metric.h"

namespace fathom::points {

/// What a set keeps besides the caller's array.
enum class Storage {
  plain,   ///< nothing; a query looks at every site
  boxed,   ///< boxes of consecutive sites, ≤ 0.3 bytes per site; for orders in which neighbours lie near one another.
           ///< Where boxes would leave nothing out, as in random order, none are kept
  sorted,  ///< a copy in Hilbert order with ids and boxes; the caller's array may go. In 3D ≤ 17.1 bytes per site, for
           ///< float64 ≤ 30
};

struct SiteSetOptions {
  Storage storage = Storage::sorted;
  /// Keep sites 0, p, 2p, … only: perforation. Ids remain those of the caller's array.
  std::int64_t every = 1;
  /// Extent of a periodic box [0, period) along each axis, 0: not periodic; empty: none; one value: for all axes.
  std::vector<double> period;
  /// Most bytes of a device's memory that the set keeps and a call takes, together. Queries that need more go in
  /// batches. Plain sites of the host that would take more than half of it stay on the host, unchanged as long as the
  /// set, and pass by in pieces for every call: as many as wanted.
  std::optional<std::size_t> device_memory;
  /// With the backend `cuda`, of sites of the host: devices that have the set each. Queries of the host they share, in
  /// proportion to how fast each was before; queries of one of them that one answers. Empty: the current device.
  std::vector<int> devices;
  /// Of the building: threads, scratch limit, progress and stop; and the backend, which says where the set lives.
  /// `automatic`: where the coordinates are. `cuda`: in the current device's memory, where it answers.
  Execution execution;
};

/// Only the sites in a cone from the query: s with (s − q)·direction ≥ cos(angle)·|s − q|, boundary included, which
/// counts as 2⁻⁵⁰ thick in the cosine. And, with a radius, those no farther than it from the cone's axis, the ray
/// {q + t·direction, t ≥ 0}: every site whose ball of that radius the ray touches.
struct Cone {
  /// float32 or float64, [n, d] or [batch, n, d] like the queries, or [1, d] for all; any length but 0. Absent: no
  /// cone.
  AnyConstView directions;
  /// Half-angle in radians, 0 … π.
  double half_angle = 0;
  /// float64, [n] or [batch, n]: a half-angle for each query, instead. Absent: half_angle for all.
  AnyConstView half_angles;
  /// Radius of the cylinder with round ends about the axis; 0: no cylinder.
  double cylinder_radius = 0;
  /// Instead of the first and the third, for queries in a device's memory: there, too. What cannot be a direction or an
  /// angle makes a cone that nothing lies in.
  AnyConstDeviceView device_directions, device_half_angles;
};

struct QueryOptions {
  /// How many of the nearest sites, 1 … 64.
  int k = 1;
  /// Of all distances here. Cones and squares are Euclidean: others go without.
  Metric metric = Metric::euclidean;
  /// Sites whose distance, as float64, is greater do not qualify.
  double radius = std::numeric_limits<double>::infinity();
  /// Allowed excess of a returned distance: (1 + relative) · true, or true + absolute, whichever is more.
  double relative_error = 0;
  double absolute_error = 0;
  /// Sites that a query may look at before it is content with the best so far; 0: no limit. Needs boxes. What is known
  /// then is the interval from `lower` to `distance`. A set without boxes looks at all.
  std::int64_t work_limit = 0;
  Cone cone;
  Execution execution;
};

/// Where answers go: any number of dense or strided views, each [n] or, where `columns` is given, [n, k]; behind the
/// batch axis if there is one. A default view is not computed. No site: +inf and −1.
template <MemorySpace Space>
struct BasicQueryOutputs {
  using Out = BasicAnyView<std::byte, Space>;
  Out distance;  ///< float32 or float64: rounded once
  Out squared;   ///< float32 or float64; of the Euclidean metric
  Out site;      ///< int32 or int64: index in the caller's array; of a mask: linear index of the element
  Out lower;     ///< float32 or float64: no site that qualifies is nearer than this. Only for k = 1
};
using QueryOutputs = BasicQueryOutputs<MemorySpace::host>;
using DeviceQueryOutputs = BasicQueryOutputs<MemorySpace::device>;

/// What a call did.
struct QueryReport {
  Backend backend = Backend::cpu;
  InstructionSet instruction_set = InstructionSet::baseline;
  int threads = 1;
  std::size_t scratch_bytes = 0;  ///< on a device: with the copies of the queries and the answers; of several, the most
  std::string device = {};        ///< names of the devices that did the work; empty: the CPU did
};

/// Sites as they were given, in any order.
struct SiteList {
  Array coordinates;              ///< [n, d], of the set's type
  std::vector<std::int64_t> ids;  ///< [n]
};

/// Sites that answer queries. Movable; after construction nearest() may be called by many threads at once.
///
/// Exact: between integer coordinates, d² = Σ (q − s)² is exact at any size. Otherwise coordinates are taken as
/// float64, and d² = ((q₀ − s₀)² + (q₁ − s₁)²) + (q₂ − s₂)² in float64 arithmetic decides, as in brute force. The
/// lowest id wins among equals. Distances are √d², rounded once to the output's type. By another metric it is d itself
/// that decides, and is rounded: (|q₀ − s₀| + |q₁ − s₁|) + |q₂ − s₂|, or the largest of the three, in float64, which is
/// exact between integers. Same bytes for every storage, thread count and instruction set, and from a device; of
/// approximate answers for one storage, and one of CPU and devices, whose trees differ.
///
/// Real coordinates are 0, or between 1e-138 and 1e150 on either side: float64 holds the squares of their differences,
/// and the sums. An output of float32 is rounded to +inf or 0 where a distance, or a square, is beyond its range.
///
/// A set that is resident on a device answers there, queries of the host and of that device.
///
/// Source: Khan & Zahran, pointwise evaluation of distance transforms (resident sites, perforation, cones); packed
/// Hilbert-ordered trees after Kamel & Faloutsos 1993.
class SiteSet {
 public:
  /// @param sites  with `plain` and `boxed` the memory behind must live, unchanged, as long as the set
  /// @throws InvalidArgument a coordinate that is not finite or beyond the range above, or outside of the periodic box;
  ///   more sites than ids can name (sorted: 2³² − 2); options without a meaning
  /// @throws DeviceError CUDA was asked for and is not to be had, or the device has not enough memory
  explicit SiteSet(const Coordinates& sites, const SiteSetOptions& options = {});

  /// Sites in a device's memory, where the set lives, too. Waits until it is built.
  /// @param sites   as above; nothing refers to them afterwards with `sorted`
  /// @param stream  of the device that holds them
  explicit SiteSet(const DeviceCoordinates& sites, const SiteSetOptions& options = {}, Stream stream = {});

  ~SiteSet();
  SiteSet(SiteSet&&) noexcept;
  SiteSet& operator=(SiteSet&&) noexcept;

  /// The nonzero elements of an array with 2 or 3 axes. Coordinates are int32 indices along its axes, ids are linear
  /// (row-major) indices. Nothing refers to the array afterwards; `plain` and `boxed` keep the coordinates.
  /// @throws InvalidArgument another number of axes; extents beyond int32; options without a meaning
  static SiteSet of_mask(const AnyConstView& mask, const SiteSetOptions& options = {});

  /// The same of an array in a device's memory, where the set lives, too. Waits until it is built.
  /// @param stream  in whose order the array is there
  static SiteSet of_mask(const AnyConstDeviceView& mask, const SiteSetOptions& options = {}, Stream stream = {});

  std::int64_t size() const;  ///< sites of a cloud that are kept
  int axes() const;
  bool batched() const;
  std::int64_t clouds() const;  ///< 1 without a batch
  DType dtype() const;
  std::size_t bytes() const;  ///< that the set keeps itself, on all devices together
  bool on_device() const;

  /// The sites of a cloud that are kept, read back: another set can be built of them. Of a set on a device waits.
  SiteList sites(std::int64_t cloud = 0) const;

  /// The nearest sites of each query; row j of the result in ascending order of distance, then id.
  /// @param queries  as many axes and clouds as the sites; any of the element types
  /// @param outputs  at least one view
  /// @throws InvalidArgument what was wrong and what would work, before any output is touched
  /// @throws Cancelled the stop token asked for it; outputs are unspecified
  QueryReport nearest(const Coordinates& queries, const QueryOptions& options, const QueryOutputs& outputs) const;

  /// The same for a set, queries and outputs in one device's memory. Returns once the work is in the stream's order,
  /// without waiting for it; works while the stream is captured into a graph. The set may go before it is done, but not
  /// before such a graph; arrays that the set refers to stay until it is done.
  /// A query that is not finite, or beyond the range, finds nothing: +inf and −1. A cone that serves all queries may
  /// have its direction [1, d] in the host's memory. Threads, progress and stop have no meaning here; the scratch comes
  /// from Fathom's stream-ordered pool of the device. A set whose sites pass by from the host waits, and cannot be
  /// captured.
  /// @throws InvalidArgument as above | a view is not in the set's device's memory
  /// @throws DeviceError a launch failed, or the device has not enough memory for the scratch
  QueryReport nearest(const DeviceCoordinates& queries, const QueryOptions& options, const DeviceQueryOutputs& outputs,
                      Stream stream = {}) const;

  /// Bytes of device memory that the call above takes from the pool for as many queries and such options.
  std::size_t scratch_bytes(const DeviceCoordinates& queries, const QueryOptions& options) const;

 private:
  friend class DynamicSet;
  struct Sites;
  explicit SiteSet(std::unique_ptr<const Sites> sites);
  std::unique_ptr<const Sites> sites_;
};

/// Mean absolute percentage error of one set's distances against another's, as the paper has it:
/// 100 · mean(|approximate − exact| / exact) over the queries whose exact distance is finite and not 0.
/// @return 0 where no query counts
double percentage_error(const SiteSet& exact, const SiteSet& approximate, const Coordinates& queries,
                        const QueryOptions& options = {});

}  // namespace fathom::points
