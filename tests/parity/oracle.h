// What distance_transform() must return, by brute force over all pairs of elements: slow, and simple enough to be
// believed. It shares no code with the library but the types of its interface.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "fathom/grid/distance.h"

namespace fathom::test {

using Index = std::array<std::int64_t, kMaxRank>;

/// Linear (row-major) index to one index per axis, and back.
Index unravel(std::int64_t linear, const Shape& shape);
std::int64_t ravel(const Index& index, const Shape& shape);

/// The float or double nearest to √d2, decided in integers.
template <class Float>
Float rounded_root(std::uint64_t d2);

/// The result at one element.
struct Answer {
  /// A site within max_distance, inside the array or beyond a `sites` border.
  bool found = false;
  /// In the negative part of a signed field.
  bool inside = false;
  /// Lowest linear index among the nearest; -1: none, or beyond a border.
  std::int64_t nearest = -1;
  /// Isotropic: squared (Euclidean) or plain distance in units of the spacing.
  std::uint64_t steps = 0;
  /// Distance without its sign, squared and plain; +inf without a site.
  double squared = 0;
  double distance = 0;
  /// Anisotropic: the distance is so close to max_distance that either side is right.
  bool at_cutoff = false;
};

class Oracle {
 public:
  /// `input` is read during construction only.
  Oracle(const AnyConstView& input, const grid::DistanceOptions& options);

  const Shape& shape() const { return shape_; }
  /// Region's begin and extents.
  const Index& origin() const { return origin_; }
  const Shape& result_shape() const { return result_shape_; }
  bool isotropic() const { return isotropic_; }

  /// @param element  linear index in the input
  Answer at(std::int64_t element) const;

  /// What the distance output must hold. Exact for isotropic spacing.
  template <class Float>
  Float distance_value(const Answer& answer) const;

  /// Distance between an element and a site that `nearest` claims for it; nothing: that is no site for the element.
  std::optional<double> distance_to(std::int64_t element, std::int64_t site) const;

  /// Along an axis, from an element to a site: over a periodic border where that is shorter.
  double offset_to(std::int64_t element, std::int64_t site, int axis) const;

  /// Anisotropic: a `sites` border is as near as the answer's site, up to rounding.
  bool border_is_as_near(std::int64_t element, const Answer& answer) const;

 private:
  struct Separation {
    std::uint64_t steps = 0;  ///< isotropic
    double measure = 0;       ///< anisotropic: squared (Euclidean) or plain
  };

  bool is_candidate(std::int64_t element, std::int64_t site) const;
  bool border_counts(std::int64_t element) const;
  Separation between(const Index& a, const Index& b) const;
  Separation to_border(const Index& element, int axis) const;
  bool closer(const Separation& a, const Separation& b) const;
  double distance_of(const Separation& s) const;
  double squared_of(const Separation& s) const;

  grid::DistanceOptions options_;
  Shape shape_;
  Shape result_shape_;
  Index origin_{};
  std::array<double, kMaxRank> spacing_{};
  std::array<grid::Border, kMaxRank> border_{};
  bool isotropic_ = true;
  std::vector<long double> values_;  ///< holds every supported element type exactly
  std::vector<Index> places_;
  std::vector<bool> in_class_;  ///< sites, or for a signed field and labels: the inside
};

/// Nearest sites of a mask by one exhaustive pass per axis, for sizes beyond the Oracle: isotropic, Euclidean.
/// Checked against the Oracle in its own test.
struct Separable {
  std::vector<std::uint64_t> squared;  ///< kNone without a site
  std::vector<std::int64_t> nearest;   ///< lowest linear index among equals; -1 beyond a border or without a site
  static constexpr std::uint64_t kNone = UINT64_MAX;
};
Separable separable(const std::vector<bool>& sites, const Shape& shape, const std::vector<grid::Border>& border);

}  // namespace fathom::test
