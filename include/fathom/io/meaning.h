// What a file says of an array beyond its elements: what its axes are, how large an element is, where it lies.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::io {

/// What the indices along an axis count. Distances are measured along `space`; along all others an array is a batch.
enum class AxisKind : std::uint8_t { space, channel, time, samples, other };

struct Axis {
  AxisKind kind = AxisKind::space;
  char name = 0;                    ///< 'z', 'y', 'x', 'c', 't', 's', …; 0: the file names none
  double spacing = 0;               ///< from an element to the next, > 0; 0: the file states none
  std::string unit = {};            ///< of the spacing: "mm", "µm", "s", …; empty: not stated
  std::vector<std::string> labels = {};  ///< names of the elements, such as channels'; empty: none
};

/// The axis that a letter names: z, y, x, w are of space, c counts channels, t time, s the samples of a pixel (red,
/// green, blue); others are `other`.
Axis axis_named(char name);

/// Where an array lies: the element with the indices i has the position origin + Σ iₖ · spacingₖ · directionsₖ, over
/// the axes of space in the order of the shape.
struct Place {
  enum class Frame {
    unstated,
    ras,  ///< x to the right, y to the front, z up, as NIfTI has it
    lps,  ///< x to the left, y to the back, z up, as DICOM and ITK have it
  };
  Frame frame = Frame::unstated;
  std::array<double, 3> origin{};                  ///< x, y, z
  std::vector<std::array<double, 3>> directions;   ///< unit vectors x, y, z
};

/// The same position in another frame; one that is not stated stays as it is.
Place in_frame(Place place, Place::Frame frame);

/// What only files of the same format can take back: a NIfTI's header, a GeoTIFF's keys.
class Native;

/// All of it. What a file does not say is empty.
struct Meaning {
  Meaning() = default;
  /// Spacing alone, of axes of space. @param spacing  one per axis of the array, or none
  Meaning(const std::vector<double>& spacing);  // NOLINT: a list of spacings is a meaning
  Meaning(std::initializer_list<double> spacing) : Meaning(std::vector<double>(spacing)) {}

  std::vector<Axis> axes;              ///< one per axis of the array, or none: all are of space
  std::optional<Place> place;
  std::string no_data;                 ///< the value of elements that hold none, as text: "255", "nan"; empty: none
  int colours = 0;                     ///< samples of a pixel that are colour, 3 of RGB; 0: the file holds no colour
  bool alpha = false;                  ///< a pixel has a sample of opacity
  std::vector<std::array<std::uint8_t, 3>> palette;  ///< red, green, blue of the elements, which are indices
  std::string georeference;            ///< what degrees or metres the spacing is in, in words: "WGS 84, degrees"
  std::shared_ptr<const Native> native;

  /// Along each axis, 1 where none is stated; empty if none is stated at all.
  std::vector<double> spacing() const;
  /// The unit of the axes of space; empty: not stated. Readers bring them to one unit.
  std::string unit() const;
  /// Whether an axis is not of space.
  bool has_batch() const;
  /// "czyx", "?" for an axis that has no name; empty if no axis has one.
  std::string axis_names() const;
};

}  // namespace fathom::io
