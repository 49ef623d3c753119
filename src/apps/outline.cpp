// Where an edge crosses a pixel follows from the share that it cuts off and from its direction, which is that of the
// gradient of coverage. Source: Gustavson & Strand 2011, section 3.
#include "apps/outline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "apps/row_access.h"
#include "core/text.h"
#include "fathom/core/error.h"

namespace fathom::apps {

namespace {

template <class T>
void take(const HostView<const T>& image, std::vector<float>& shares) {
  T most = 0;
  each_row<T>(image, [&](const T* row, std::int64_t) {
    for (std::int64_t x = 0; x < image.shape().back(); ++x) {
      if constexpr (std::is_floating_point_v<T>) {
        if (!(row[x] >= 0 && row[x] <= 1))
          throw InvalidArgument("a coverage is " + text(static_cast<double>(row[x])) +
                                "; floats are shares of pixels from 0 to 1");
        shares.push_back(static_cast<float>(row[x]));
      } else {
        shares.push_back(static_cast<float>(row[x]) / static_cast<float>(std::numeric_limits<T>::max()));
        most = std::max(most, row[x]);
      }
    }
  });
  if (std::numeric_limits<T>::max() > 1 && most == 1)
    throw InvalidArgument("the image is " + std::string(name_of(dtype_of<T>())) +
                          " and holds nothing above 1, next to no coverage; of a mask of 0 and 1 give bool");
}

/// The two sides of a strip; those of a dot tell its place well enough, and the segments stay few.
void add_strip(const Strip& strip, std::int64_t y, std::int64_t x, std::vector<Segment>& to) {
  const double middle_y = static_cast<double>(y) + 0.5, middle_x = static_cast<double>(x) + 0.5;
  for (const double side : {-strip.half, strip.half}) {
    if (strip.across == 0)
      to.push_back({middle_y + side, middle_x - strip.reach, middle_y + side, middle_x + strip.reach});
    else to.push_back({middle_y - strip.reach, middle_x + side, middle_y + strip.reach, middle_x + side});
  }
}

}  // namespace

Coverage::Coverage(const AnyConstView& image, bool invert) {
  if (image.rank() != 2)
    throw InvalidArgument("the image has " + std::to_string(image.rank()) +
                          " axes; a texture is made of 2, height and width");
  height_ = image.shape()[0];
  width_ = image.shape()[1];
  shares_.reserve(static_cast<std::size_t>(element_count(image.shape())));
  switch (image.dtype()) {
    case DType::boolean: take(image.as<bool>(), shares_); break;
    case DType::uint8: take(image.as<std::uint8_t>(), shares_); break;
    case DType::uint16: take(image.as<std::uint16_t>(), shares_); break;
    case DType::float32: take(image.as<float>(), shares_); break;
    case DType::float64: take(image.as<double>(), shares_); break;
    default:
      throw InvalidArgument("the image is " + std::string(name_of(image.dtype())) +
                            "; coverage is bool, uint8, uint16 or floats from 0 to 1");
  }
  if (invert)
    for (float& share : shares_) share = 1 - share;
}

/// To the neighbours on the left and above, and where the image ends on all sides.
void Coverage::add_faces(std::int64_t y, std::int64_t x, std::vector<Segment>& to) const {
  const auto differs = [&](double other) { return std::abs(at(y, x) - other) == 1; };
  const auto top = static_cast<double>(y), left = static_cast<double>(x);
  if (differs(at(y - 1, x))) to.push_back({top, left, top, left + 1});
  if (differs(at(y, x - 1))) to.push_back({top, left, top + 1, left});
  if (y + 1 == height_ && differs(0)) to.push_back({top + 1, left, top + 1, left + 1});
  if (x + 1 == width_ && differs(0)) to.push_back({top, left + 1, top + 1, left + 1});
}

std::vector<Segment> Coverage::outline() const {
  std::vector<Segment> segments;
  for (std::int64_t y = 0; y < height_; ++y)
    for (std::int64_t x = 0; x < width_; ++x) {
      const double share = at(y, x);
      Edge edge;
      Strip strip;
      if (share <= 0 || share >= 1) {
        add_faces(y, x, segments);
      } else if (shares().find_edge(y, x, edge)) {
        // The part of the line middle + offset · edge + t · (−edge.x, edge.y) that is within half a pixel of the
        // middle.
        double first = -1, last = 1;
        const double at_zero[] = {edge.offset * edge.y, edge.offset * edge.x}, step[] = {-edge.x, edge.y};
        for (int axis = 0; axis < 2; ++axis) {
          if (step[axis] == 0) continue;
          const double a = (-0.5 - at_zero[axis]) / step[axis], b = (0.5 - at_zero[axis]) / step[axis];
          first = std::max(first, std::min(a, b));
          last = std::min(last, std::max(a, b));
        }
        if (last < first) first = last = (first + last) / 2;  // a corner, as good as not covered at all
        const double middle[] = {static_cast<double>(y) + 0.5 + at_zero[0], static_cast<double>(x) + 0.5 + at_zero[1]};
        segments.push_back({middle[0] + first * step[0], middle[1] + first * step[1], middle[0] + last * step[0],
                            middle[1] + last * step[1]});
      } else if (shares().find_strip(y, x, strip)) {
        add_strip(strip, y, x, segments);
      }
    }
  return segments;
}

}  // namespace fathom::apps
