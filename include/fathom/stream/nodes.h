// The nodes that there are. Each function makes one; all check what they are given.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fathom/stream/node.h"

namespace fathom::stream {

// Sources.

/// A raster of one value, which is saturated to the type.
NodeRef constant(double value, const Extent& extent);

/// A raster that is read where it is needed.
/// @param name  what documents call it: a path, or the name of an array
/// @param kind  "file" or "array"
NodeRef source(std::shared_ptr<const RasterSource> raster, std::string kind, std::string name, PixelSize pixel = {});

/// Pixels in a device's memory as a raster, for source(): devices use them where they are, the CPU copies what it
/// reads. Evaluators work on that device, those of the backend `automatic` if they can compute everything there. They
/// must be complete before they are asked for, and stay as they are while the raster lives.
/// @throws InvalidArgument another type; not two axes | DeviceError there is no device
std::shared_ptr<const RasterSource> device_raster(const AnyConstDeviceView& pixels);

/// The value of an expression of x and y, columns and rows from 0.
/// @throws InvalidArgument it does not parse; the message says where
NodeRef formula(const std::string& expression, const Extent& extent);

/// Equally distributed random values over the whole range of the type; of float32 in [0, 1). A pixel's value depends on
/// the seed, x and y alone.
NodeRef noise(std::uint64_t seed, const Extent& extent);

// Layout: where pixels of children go.

/// The child again and again in both directions: pixel (y mod h, x mod w).
NodeRef repeat(NodeRef pattern, std::int64_t height, std::int64_t width);

/// What becomes of pixels that several copies cover.
enum class Blend {
  max,
  min,
  sum,
  first,
  last,
  mean,  ///< of integers by a 64-bit sum, rounded half up; of floats in double
};

/// The value of pixels that cover nothing; none: all cover. Not stated: of a lattice without a mask 0, else none.
struct Transparent : std::optional<double> {
  Transparent() = default;
  Transparent(std::optional<double> value) : std::optional<double>(value), is_stated(true) {}
  Transparent(double value) : Transparent(std::optional(value)) {}
  Transparent(std::nullopt_t) : is_stated(true) {}

  bool is_stated = false;
};

/// Outside all copies pixels are the background. A copy covers the pixels of its rectangle where its mask is not 0, if
/// it has one, and whose value is not `transparent`, if one is stated.
struct Blending {
  Blend blend = Blend::last;
  Transparent transparent = {};
  double background = 0;
};

/// Copies of the child, and of its mask and weight, at all i·u + j·v, j outer, i inner, in the order of their blending.
struct LatticeOptions {
  std::array<std::int64_t, 2> u{}, v{};  ///< steps (y, x), not parallel
  std::int64_t height = 0, width = 0;
  Blending blending;
  NodeRef mask;    ///< of the pattern's extent: a copy covers only where it is not 0
  NodeRef weight;  ///< of the pattern's extent: values are weighted by it; for `mean` alone
};
NodeRef lattice(NodeRef pattern, const LatticeOptions& options);

/// Copies of some nodes, in the order in which they are blended.
struct Placement {
  std::int64_t y = 0, x = 0;
  std::int32_t child = 0;
};
NodeRef place(std::vector<NodeRef> nodes, std::vector<Placement> placements, std::int64_t height, std::int64_t width,
              const Blending& blending = {});

/// Part of a child.
NodeRef crop(NodeRef data, const Rectangle& part);
/// Upside down, left to right, or both.
NodeRef flip(NodeRef data, bool rows, bool columns);
/// By quarter turns counter-clockwise.
NodeRef rotate(NodeRef data, int quarters);
/// To another size of pixels: each takes the value of the pixel in which its middle lies.
NodeRef resample(NodeRef data, PixelSize pixel);
/// The data where the mask is not 0, else the background.
NodeRef mask(NodeRef data, Child mask, double background = 0);

// Compute. Children lie where they say; the extent is the first one's, and outside of a child its value is 0. Results
// are rounded to nearest, ties to even, and saturated to the type; NaN becomes 0 in integers.

/// An expression of a, b, c, …, the children in their order.
NodeRef math(const std::string& expression, std::vector<Child> data, DType dtype);

/// Whether values are at least, or above, a number: bool.
NodeRef threshold(NodeRef data, double value, bool above = false);

/// z = f(d).
struct ProfileOptions {
  std::string expression = {};     ///< of d; or else
  std::vector<double> table = {};  ///< z at d = 0, 1, 2, …, linear in between; the last also beyond
  /// z of +inf. Not given: the table's last; the expression's value at the distance's bound, or at inf. Of -inf it is
  /// the table's first, or the expression's value at minus the bound.
  std::optional<double> infinite = {};
  DType dtype = DType::uint8;
};
NodeRef profile(NodeRef data, const ProfileOptions& options);

/// Distance to the nearest pixel that is not 0 (or that is 0), float32, in units of the pixel's size; +inf beyond
/// `max`.
struct DistanceOptions {
  double max = 0;  ///< in units of the pixel's size
  bool to_zero = false;
  bool signed_distance = false;  ///< negative inside, zero on the faces: as grid::Surface::faces
};
NodeRef distance(NodeRef mask, const DistanceOptions& options);

/// The same without a bound, exact: streamed in rows, from the first to the last. +inf where there is no site at all.
NodeRef exact_distance(NodeRef mask, bool to_zero = false);

/// Ordered dither to bits by Bayer's matrix of 2, 4, 8 or 16: the share of pixels that are set is that of the value in
/// the range of its type (of float32: in 0 … 1).
NodeRef halftone(NodeRef data, int matrix = 8);

}  // namespace fathom::stream
