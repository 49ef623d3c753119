// The outline of an image of coverage, as segments.
#pragma once

#include <cstdint>
#include <vector>

#include "fathom/core/view.h"

namespace fathom::apps {

/// Positions are in pixels from the image's upper left corner; pixel (y, x) covers y … y + 1 and x … x + 1.
struct Segment {
  double y0, x0, y1, x1;
};

/// What of each pixel is covered, from 0 to 1.
class Coverage {
 public:
  /// @param image  [height, width] @throws InvalidArgument another shape or type, or a float that is no share
  /// @param invert  1 less it
  explicit Coverage(const AnyConstView& image, bool invert = false);

  std::int64_t height() const { return height_; }
  std::int64_t width() const { return width_; }
  /// 0 outside of the image.
  double at(std::int64_t y, std::int64_t x) const {
    return y < 0 || x < 0 || y >= height_ || x >= width_ ? 0 : shares_[static_cast<std::size_t>(y * width_ + x)];
  }
  /// Whether a position is inside of the outline.
  bool inside(double y, double x) const;
  std::vector<Segment> outline() const;

 private:
  /// The edge through a pixel that is covered in part: a unit vector towards the covered side, and how far from the
  /// pixel's middle the edge is in that direction.
  struct Edge {
    double y = 0, x = 0, offset = 0;
  };
  /// @return false: the coverage around has no gradient
  bool find_edge(std::int64_t y, std::int64_t x, Edge& edge) const;
  /// A rectangle in the middle of such a pixel that holds less of it than its neighbours on both sides, or more: of a
  /// line, or of a dot.
  struct Strip {
    int across = 0;  ///< the axis along which the coverage is least or most here
    double half = 0.5, reach = 0.5;  ///< half the extents across, and along the other axis
    bool covered = true;
  };
  /// @return false: the coverage around is even
  bool find_strip(std::int64_t y, std::int64_t x, Strip& strip) const;
  static void add_strip(const Strip& strip, std::int64_t y, std::int64_t x, std::vector<Segment>& to);
  void add_faces(std::int64_t y, std::int64_t x, std::vector<Segment>& to) const;

  std::int64_t height_ = 0, width_ = 0;
  std::vector<float> shares_;
};

}  // namespace fathom::apps
