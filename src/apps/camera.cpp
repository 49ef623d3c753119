#include "apps/camera.h"

#include <algorithm>
#include <cmath>
#include <string>

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

/// Middle and radius of a ball around the solid voxels; around the volume, if there are none.
struct Ball {
  Vector middle{};
  double radius = 0;
};

Ball ball_of(const Solid& solid, const Vector& spacing) {
  Ball ball;
  Vector half{};
  for (std::size_t k = 0; k < 3; ++k) {
    const double low = solid.count == 0 ? 0 : solid.low[k];
    const double high = solid.count == 0 ? std::max(solid.extents[k] - 1, 0) : solid.high[k];
    ball.middle[k] = 0.5 * (low + high) * spacing[k];
    half[k] = 0.5 * (high - low + 1) * spacing[k];
  }
  ball.radius = std::sqrt(dot(half, half));
  return ball;
}

void put(double* to, const Vector& vector) { std::copy(vector.begin(), vector.end(), to); }

}  // namespace

void check_camera(const Camera& camera) {
  check_vector("toward_eye", camera.toward_eye);
  check_vector("up", camera.up);
  const Vector right = right_of(camera);
  if (dot(right, right) < 1e-12) throw InvalidArgument("the camera's up is parallel to its view; turn one of them");
  if (!(camera.field_of_view > 0 && camera.field_of_view < std::numbers::pi))
    throw InvalidArgument("the camera's field of view is " + std::to_string(camera.field_of_view) +
                          "; give radians between 0 and pi");
  if (!(camera.zoom > 0) || !std::isfinite(camera.zoom))
    throw InvalidArgument("the camera's zoom is " + std::to_string(camera.zoom) + "; give a finite number above 0");
}

Frame frame_of(const Camera& camera, const Solid& solid, const std::array<double, 3>& spacing, const Shape& picture) {
  const Ball ball = ball_of(solid, spacing);
  const Vector toward = unit(camera.toward_eye), forward = scaled(toward, -1), right = unit(right_of(camera));
  const Vector down = unit(cross(toward, right));
  Frame frame;
  frame.height = picture[0];
  frame.width = picture[1];
  frame.parallel = camera.projection == Projection::orthographic;
  const double half = 0.5 * camera.field_of_view;
  const double away = frame.parallel ? 2 * ball.radius : ball.radius / std::sin(half);
  const double reach = (frame.parallel ? ball.radius : std::tan(half)) / camera.zoom;
  const double pixel = 2 * reach / static_cast<double>(std::max<std::int64_t>(1, std::min(picture[0], picture[1])));
  put(frame.eye, sum(ball.middle, scaled(toward, away)));
  put(frame.forward, forward);
  put(frame.right, scaled(right, pixel));
  put(frame.down, scaled(down, pixel));
  // From over the viewer's left shoulder: edges and hollows show that light from the eye would hide.
  put(frame.light, unit(sum(toward, sum(scaled(right, -0.4), scaled(down, -0.5)))));
  put(frame.spacing, spacing);
  return frame;
}

}  // namespace fathom::apps
