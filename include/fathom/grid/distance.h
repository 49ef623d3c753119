// Exact distance transforms of dense grids with 1 to 8 axes.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "fathom/core/array.h"
#include "fathom/core/device.h"
#include "fathom/core/execution.h"
#include "fathom/core/view.h"

namespace fathom::grid {

enum class Metric { euclidean, taxicab, chessboard };

/// What lies outside the array along an axis: nothing, sites, or the array again.
enum class Border { open, sites, periodic };

/// Where a signed field is zero: on the faces between inside and outside, ±(d − ½), or on the nearest centres, ±d.
enum class Surface { faces, centers };

/// Which elements are sites.
struct Sites {
  /// The comparisons are those of numbers, whatever the types: integers are compared whole with any number; for floats
  /// the value is rounded to their type first, so that the double 0.1 equals the float 0.1f. NaN is not_equal to every
  /// number and compares with none; `equal` and `not_equal` with the value NaN are "is NaN" and "is not NaN".
  enum class Rule {
    zero,           ///< elements equal to 0
    nonzero,        ///< all others; NaN is nonzero
    greater_equal,  ///< element ≥ value
    less_equal,     ///< element ≤ value
    equal,          ///< element = value
    labels,         ///< for each element, the elements with another label; elements with label 0 have distance 0
    greater,        ///< element > value
    less,           ///< element < value
    not_equal,      ///< element ≠ value
  };
  /// A double, or a 64-bit integer, which no double rounds.
  struct Value {
    std::variant<double, std::int64_t, std::uint64_t> number = 0.0;

    Value() = default;
    template <class T>
      requires std::is_arithmetic_v<T>
    Value(T value) {  // NOLINT: any number is a value
      if constexpr (std::is_floating_point_v<T>) number = static_cast<double>(value);
      else if constexpr (std::is_signed_v<T>) number = static_cast<std::int64_t>(value);
      else number = static_cast<std::uint64_t>(value);
    }
    /// The double nearest to it.
    double real() const {
      return std::visit([](auto exact) { return static_cast<double>(exact); }, number);
    }
    bool is_nan() const { return real() != real(); }
  };
  Rule rule = Rule::zero;
  Value value = {};
};

/// Half-open range of indices along an axis.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct DistanceOptions {
  Sites sites;
  Metric metric = Metric::euclidean;
  /// Physical size of an element along each axis, finite, > 0; empty: 1 everywhere; one value: for all axes.
  std::vector<double> spacing;
  /// Empty: open; one value: for all axes; else one per axis.
  std::vector<Border> border;
  /// Farther elements get +inf (integers: the type's maximum) and index −1; ≥ 0. With a spacing that is not a whole
  /// number, what lies a relative 2⁻⁵⁰ beyond is not farther: three steps of 0.1 are within 0.3.
  double max_distance = std::numeric_limits<double>::infinity();
  /// Negative inside, positive outside. Inside is the set of nonzero elements for `zero`, `nonzero` and `labels`, and
  /// the set of elements that compare true for a comparison. What a `sites` border adds is outside (for `nonzero` and
  /// the comparisons, whose sites are the inside: inside).
  bool signed_distance = false;
  Surface surface = Surface::faces;
  /// Part of the result to compute, one range per axis, from the whole input; empty: all of it.
  std::vector<Range> region;
  /// Leading axes of the input (and of the outputs) along which it is a batch of arrays that have nothing to do with
  /// one another; spacing, border, region and indices are those of the axes that remain.
  int batch_axes = 0;
  Execution execution;
};

/// What a transform can compute, and one T for each: a view of where it goes, its strides, a file's name.
template <class T>
struct PerOutput {
  /// float32 or float64: the correctly rounded distance, in units of the spacing; +inf without a site.
  T distance = {};
  /// uint32, uint64 (unit spacing) or float64: squared Euclidean distance; the type's maximum or +inf without a site.
  T squared = {};
  /// int32 or int64: linear (row-major) index in the whole input of the nearest site, the lowest among equals; −1
  /// without.
  T nearest = {};
  /// int32 or int64, shape [rank, batch…, region…]: the same site's coordinate along each axis; −1 without.
  T coordinates = {};
  /// float32 or float64, shaped as coordinates: the way to the same site, site minus element, over a periodic border
  /// where that is shorter; steps times spacing in double, rounded once. NaN without.
  T offset = {};
};

/// What all need to know of an output who do not compute it.
struct OutputKind {
  std::string_view name;          ///< as the member is called
  std::string_view title;         ///< in few words
  std::string_view content;       ///< in more
  std::span<const DType> dtypes;  ///< that it may have
  bool is_of_site = false;        ///< it says where the nearest site is; else how far
  bool has_components = false;    ///< before all others it has an axis of components, one along each axis of space
};

namespace detail {
inline constexpr DType kFloats[] = {DType::float32, DType::float64};
inline constexpr DType kSquares[] = {DType::uint32, DType::uint64, DType::float64};
inline constexpr DType kIndices[] = {DType::int32, DType::int64};
}  // namespace detail

/// Calls visit(kind, a.distance, b.distance, …), and so on for every output in the order above.
template <class Visit, class... Each>
constexpr void for_each_output(const Visit& visit, Each&... each) {
  visit(OutputKind{"distance", "distance", "distance to the nearest site", detail::kFloats}, each.distance...);
  visit(OutputKind{"squared", "squared distance", "its square", detail::kSquares}, each.squared...);
  visit(OutputKind{"nearest", "nearest site", "linear index of each nearest site; -1 without a site", detail::kIndices,
                   true},
        each.nearest...);
  visit(OutputKind{"coordinates", "coordinates of the nearest site",
                   "coordinates of each nearest site; -1 without a site", detail::kIndices, true, true},
        each.coordinates...);
  visit(OutputKind{"offset", "offset to the nearest site",
                   "way to each nearest site in units of the spacing; nan without a site", detail::kFloats, true, true},
        each.offset...);
}

/// Where results go: any number of views, each of the region's shape (behind the batch axes); a default view is not
/// computed. Outputs must not overlap the input or one another.
template <MemorySpace Space>
using BasicDistanceOutputs = PerOutput<BasicAnyView<std::byte, Space>>;
using DistanceOutputs = BasicDistanceOutputs<MemorySpace::host>;
using DeviceDistanceOutputs = BasicDistanceOutputs<MemorySpace::device>;

/// What a call did.
struct DistanceReport {
  Backend backend = Backend::cpu;
  InstructionSet instruction_set = InstructionSet::baseline;
  int threads = 1;
  std::size_t scratch_bytes = 0;  ///< on a device: with the pieces of the input and the outputs that are there at once
  std::string device = {};        ///< name of the device that did the work; empty: the CPU did
  /// Which engine served (docs/design.md, "Engines"): on the CPU "plain" or "general"; on a device "small", "plane",
  /// "volume" or "general". Empty: there was nothing to do.
  std::string engine = {};
};

/// Distance from each element to its nearest site. The backend `automatic` takes a device if there is one, its memory
/// is enough, and the arrays are large enough to be worth the way there and back; else the CPU. A device takes the
/// arrays in pieces, copying some while it computes others, so that they may be larger than its memory or the scratch
/// limit; the way to and from memory that is not pinned goes through up to 32 MiB that are.
/// @param input    [n₀, …, n₍r₋₁₎], 1 ≤ r ≤ 8 axes of any extents, any element type
/// @param options  see DistanceOptions; all combine unless a combination has no meaning
/// @param outputs  at least one view; shapes as DistanceOutputs says
/// @throws InvalidArgument what was wrong and what would work, before any output is touched
/// @throws DeviceError CUDA was asked for and is not to be had
/// @throws Cancelled the stop token asked for it; outputs are unspecified
/// @throws std::bad_alloc the machine has not enough memory for the scratch
/// Cost O(N) in practice, O(N log N) at worst for plain transforms; scratch: see scratch_bytes(). Same bytes for every
/// thread count and instruction set; among equally near sites the lowest linear index wins.
/// Where the nearest site lies beyond a `sites` border the index is −1; a site inside the array wins a tie with it.
/// Source: Hirata 1996, Meijster et al. 2000, Felzenszwalb & Huttenlocher 2012 (separable passes); the files under
/// src/grid say where they depart.
DistanceReport distance_transform(const AnyConstView& input, const DistanceOptions& options,
                                  const DistanceOutputs& outputs);

/// The same between arrays in a device's memory. Returns once the work is in the stream's order, without waiting for
/// it; works while the stream is captured into a graph. The backend `cpu`, instruction set, threads, workspace,
/// progress and stop have no meaning here. The scratch comes from Fathom's stream-ordered pool of the device; see
/// release_device_memory().
/// @param stream  of the device that holds the arrays
/// @throws InvalidArgument as above | a view's memory is not on one device | the scratch limit is too small
/// @throws DeviceError a launch failed, or the device has not enough memory for the scratch
/// Same bytes as the CPU.
DistanceReport distance_transform(const AnyConstDeviceView& input, const DistanceOptions& options,
                                  const DeviceDistanceOutputs& outputs, Stream stream = {});

/// Distances in a new array of the region's shape; `dtype` is float32 or float64.
Array distance_transform(const AnyConstView& input, const DistanceOptions& options, DType dtype = DType::float32);

/// Bytes of scratch that distance_transform() would use with these arguments; the memory behind the views is not
/// looked at and may be missing.
/// @throws InvalidArgument as distance_transform()
std::size_t scratch_bytes(const AnyConstView& input, const DistanceOptions& options, const DistanceOutputs& outputs);
std::size_t scratch_bytes(const AnyConstDeviceView& input, const DistanceOptions& options,
                          const DeviceDistanceOutputs& outputs);

/// The least scratch limit with which distance_transform() would work: with one thread, or the smallest pieces on a
/// device.
/// @throws InvalidArgument as distance_transform()
std::size_t least_scratch_bytes(const AnyConstView& input, const DistanceOptions& options,
                                const DistanceOutputs& outputs);

/// How many elements are sites; for `labels`, how many have label 0 and so the distance 0.
/// @param input  any shape, layout and element type; read once, by one thread
std::int64_t count_sites(const AnyConstView& input, const Sites& sites);

/// Which elements are sites: 1, else 0, uint8 in the input's shape; for `labels`, those with label 0.
/// @param input  as count_sites()
Array mark_sites(const AnyConstView& input, const Sites& sites);

/// Shape of the results: the region's, or the input's; behind the batch axes.
Shape result_shape(const Shape& input, const DistanceOptions& options);

}  // namespace fathom::grid
