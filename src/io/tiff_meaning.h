// What a TIFF says of its pages: descriptions by ImageJ, OME and tifffile, and GeoTIFF's tags.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/native.h"
#include "io/tiff_page.h"

namespace fathom::io::tiff {

/// How pages make an array: axes before y and x, and which page holds each plane.
struct Stack {
  std::vector<Axis> axes;
  Shape extents;
  std::vector<std::size_t> pages;  ///< of each plane, row-major
  bool in_one_block = false;       ///< the first directory alone is there, and all planes lie behind one another
};

/// Tags of the first directory that say what an array is.
struct Tags {
  std::string description;
  std::vector<double> pixel_scale, tie_points, transformation, geo_doubles;
  std::vector<std::uint16_t> geo_keys;
  std::string geo_text, no_data;
  double x_resolution = 0, y_resolution = 0;  ///< pixels per unit; 0: not stated
  std::uint16_t resolution_unit = 0;
  std::vector<std::string> labels;            ///< ImageJ's, of the planes
  bool is_lsm = false;
  std::vector<std::array<std::uint8_t, 3>> palette;

  bool is_geo() const { return !pixel_scale.empty() || !transformation.empty() || !geo_keys.empty(); }
};

/// @throws IoError a MetaMorph stack, of which one plane would be read
Tags read_tags(const TiffFile& file, const ByteSource& source);

/// GeoTIFF's tags, as they go back into a file.
class NativeGeo final : public Native {
 public:
  explicit NativeGeo(Tags all) : tags(std::move(all)) {}
  std::shared_ptr<const Native> cropped(const std::vector<std::int64_t>& begin) const override;
  Tags tags;
};

/// The order of the pages, and what the tags say of the array, whose axes end in y and x.
/// @param pages  directories that are pages, all like the first
/// @throws IoError descriptions that contradict the pages
Stack stack_of(const ByteSource& source, const Tags& tags, const Page& first, std::size_t pages,
               const ReadOptions& options, ImageInfo& info);

/// The names of planes in ImageJ's own tags.
/// @param sizes  bytes of the metadata's header and of each entry
std::vector<std::string> imagej_labels(const std::vector<std::uint32_t>& sizes,
                                       const std::vector<std::uint8_t>& metadata);

/// Each of these knows one description; false: it is none of theirs. info.meaning.axes are y and x before, and the
/// stack's axes go before them later.
bool read_imagej(const ByteSource& source, const Tags& tags, std::size_t pages, const ReadOptions& options,
                 Stack& stack, ImageInfo& info);
bool read_ome(const ByteSource& source, const Tags& tags, const Page& first, std::size_t pages, Stack& stack,
              ImageInfo& info);
bool read_tifffile(const ByteSource& source, const Tags& tags, const Page& first, std::size_t pages, Stack& stack,
                   ImageInfo& info);
/// Spacing, unit and reference of GeoTIFF's tags.
void read_geo(const Tags& tags, ImageInfo& info);

/// The description that says what an array is, by ImageJ's or OME's rules; empty where nothing needs to be said.
struct Description {
  std::string text;
  double x_resolution = 0, y_resolution = 0;  ///< pixels per unit, for ImageJ; 0: none
};
/// @throws InvalidArgument more than three axes that have no names, or names that no description holds
Description describe(DType dtype, const Shape& shape, const Meaning& meaning);

/// Calls put(tag, value) for all that says so: texts, vectors of double and uint16, double (resolutions) and int.
template <class Put>
void for_each_tag(const Description& description, const Meaning& meaning, Put put) {
  const auto put_list = [&](std::uint32_t tag, const auto& list) {
    if (!list.empty()) put(tag, list);
  };
  put_list(TIFFTAG_IMAGEDESCRIPTION, description.text);
  if (description.x_resolution > 0 && description.y_resolution > 0) {
    put(TIFFTAG_RESOLUTIONUNIT, static_cast<int>(RESUNIT_NONE));
    put(TIFFTAG_XRESOLUTION, description.x_resolution);
    put(TIFFTAG_YRESOLUTION, description.y_resolution);
  }
  put_list(42113, meaning.no_data);
  const auto* geo = dynamic_cast<const NativeGeo*>(meaning.native.get());
  if (!geo) return;
  put_list(33550, geo->tags.pixel_scale);
  put_list(33922, geo->tags.tie_points);
  put_list(34264, geo->tags.transformation);
  put_list(34735, geo->tags.geo_keys);
  put_list(34736, geo->tags.geo_doubles);
  put_list(34737, geo->tags.geo_text);
}

}  // namespace fathom::io::tiff
