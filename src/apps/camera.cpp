#include "apps/camera.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/text.h"
#include "fathom/core/error.h"

namespace fathom::apps {

namespace {

using Vector = std::array<double, 3>;

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

Vector scaled(const Vector& a, double by) { return {a[0] * by, a[1] * by, a[2] * by}; }

Vector sum(const Vector& a, const Vector& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Of length 1; scaled first, since squares may pass what numbers hold.
Vector unit(const Vector& a) {
  const Vector near_unit = scaled(a, 1 / std::max({std::abs(a[0]), std::abs(a[1]), std::abs(a[2])}));
  return scaled(near_unit, 1 / std::sqrt(dot(near_unit, near_unit)));
}

void check_vector(const char* name, const Vector& vector) {
  const double most = std::max({std::abs(vector[0]), std::abs(vector[1]), std::abs(vector[2])});
  if (!(most >= 1e-300 && most <= 1e300) || !std::isfinite(vector[0] + vector[1] + vector[2]))
    throw InvalidArgument(std::string("the camera's vector ") + name + " is not finite or has no length");
}

/// The axis to the right: the order of the shape is z, y, x, which turns a cross product around.
Vector right_of(const Camera& camera) { return cross(unit(camera.up), scaled(unit(camera.toward_eye), -1)); }

/// What a picture must have room for: the solid voxels; the volume, if there are none.
class Body {
 public:
  Body(const Solid& solid, const Vector& spacing) : solid_(solid), spacing_(spacing) {
    for (std::size_t k = 0; k < 3; ++k) {
      const double low = solid.count == 0 ? 0 : solid.low[k];
      const double high = solid.count == 0 ? std::max(solid.extents[k] - 1, 0) : solid.high[k];
      middle_[k] = 0.5 * (low + high) * spacing[k];
      half_[k] = 0.5 * (high - low + 1) * spacing[k];
    }
  }

  /// Of the box around it.
  const Vector& middle() const { return middle_; }
  double radius() const { return std::sqrt(dot(half_, half_)); }

  /// How far it reaches that way from the middle: the largest scalar product.
  double reach(const Vector& way) const {
    const Vector size = {std::abs(way[0]), std::abs(way[1]), std::abs(way[2])};
    if (solid_.count == 0) return dot(size, half_);
    const Vector step = {way[0] * spacing_[0], way[1] * spacing_[1], way[2] * spacing_[2]};
    double most = -HUGE_VAL;
    for (const Index& at : solid_.corners)
      most = std::max(most, dot(step, {double(at[0]), double(at[1]), double(at[2])}));
    return most - dot(way, middle_) + 0.5 * dot(size, spacing_);
  }

 private:
  const Solid& solid_;
  Vector spacing_, middle_{}, half_{};
};

/// What an axis of the picture has to see of a body: where its middle is, from the body's, and half its width; for an
/// eye whose view widens by `slope` per length, in the plane through the body's middle.
struct Extent {
  double middle, half;
};

Extent seen(const Body& body, const Vector& along, const Vector& toward, double slope) {
  const Vector widening = scaled(toward, slope);
  const double after = body.reach(sum(widening, along)), before = body.reach(sum(widening, scaled(along, -1)));
  return {0.5 * (after - before), 0.5 * (after + before)};
}

void put(double* to, const Vector& vector) { std::copy(vector.begin(), vector.end(), to); }

}  // namespace

void check_camera(const Camera& camera) {
  check_vector("toward_eye", camera.toward_eye);
  check_vector("up", camera.up);
  const Vector right = right_of(camera);
  if (dot(right, right) < 1e-12) throw InvalidArgument("the camera's up is parallel to its view; turn one of them");
  if (!(camera.field_of_view > 0 && camera.field_of_view < std::numbers::pi))
    throw InvalidArgument("the camera's field of view is " + text(camera.field_of_view) +
                          "; give radians between 0 and pi");
  if (!(camera.zoom > 0) || !std::isfinite(camera.zoom))
    throw InvalidArgument("the camera's zoom is " + text(camera.zoom) + "; give a finite number above 0");
}

Frame frame_of(const Camera& camera, const Solid& solid, const std::array<double, 3>& spacing, const Shape& picture) {
  constexpr double kFilled = 1 - 2 * 0.04;  // of the picture
  const Body body(solid, spacing);
  const Vector toward = unit(camera.toward_eye), forward = scaled(toward, -1), right = unit(right_of(camera));
  const Vector down = unit(cross(toward, right));
  Frame frame;
  frame.height = picture[0];
  frame.width = picture[1];
  frame.parallel = camera.projection == Projection::orthographic;
  const auto width = static_cast<double>(std::max<std::int64_t>(1, frame.width));
  const auto height = static_cast<double>(std::max<std::int64_t>(1, frame.height));
  // On the plane at distance 1.
  double pixel = frame.parallel ? 0 : 2 * std::tan(0.5 * camera.field_of_view) / std::min(width, height);
  const double across = 0.5 * kFilled * width, upright = 0.5 * kFilled * height;  // pixels from the middle
  const Extent wide = seen(body, right, toward, pixel * across), high = seen(body, down, toward, pixel * upright);
  const double needed = std::max(wide.half / across, high.half / upright);  // a pixel, at the body's middle
  // An eye that sees nearly half of all would stand on a corner.
  const double nearest = body.reach(toward) + 0.1 * body.radius();
  const double away = frame.parallel ? 2 * body.radius() : std::max(needed / pixel, nearest);
  if (frame.parallel) pixel = needed;
  pixel /= camera.zoom;
  put(frame.eye,
      sum(sum(body.middle(), scaled(toward, away)), sum(scaled(right, wide.middle), scaled(down, high.middle))));
  put(frame.forward, forward);
  put(frame.right, scaled(right, pixel));
  put(frame.down, scaled(down, pixel));
  // From over the viewer's left shoulder: edges and hollows show that light from the eye would hide.
  put(frame.light, unit(sum(toward, sum(scaled(right, -0.4), scaled(down, -0.5)))));
  put(frame.spacing, spacing);
  return frame;
}

}  // namespace fathom::apps
