// The outline of an image of coverage, as segments.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/outline.hd.h"
#include "fathom/core/view.h"

namespace fathom::apps {

/// What of each pixel is covered, from 0 to 1.
class Coverage {
 public:
  /// @param image  [height, width] @throws InvalidArgument another shape or type, or a float that is no share
  /// @param invert  1 less it
  explicit Coverage(const AnyConstView& image, bool invert = false);

  /// To live no longer than this.
  Shares shares() const { return {shares_.data(), height_, width_}; }
  std::vector<Segment> outline() const;

 private:
  double at(std::int64_t y, std::int64_t x) const { return shares().at(y, x); }
  void add_faces(std::int64_t y, std::int64_t x, std::vector<Segment>& to) const;

  std::int64_t height_ = 0, width_ = 0;
  std::vector<float> shares_;
};

}  // namespace fathom::apps
