// Sphere tracing (Hart 1996): a ray goes on by the distance that the field states, so that it cannot pass the surface,
// and the last step is halved until it ends there. Between points the field is trilinear; its gradient is the normal.
// Ambient occlusion compares the field along the normal with the way gone (Evans 2006), the shadow is soft by how near
// the ray to the light passes other parts (Quilez 2010). Cost: some 20 samples a pixel, and as many again where it
// shows the solid.
#include "chart/solid.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <thread>
#include <vector>

namespace fathom::cli {

namespace {

struct Vector {
  double x = 0, y = 0, z = 0;
};
Vector operator+(const Vector& a, const Vector& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
Vector operator*(double s, const Vector& a) { return {s * a.x, s * a.y, s * a.z}; }
double dot(const Vector& a, const Vector& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vector unit(const Vector& a) { return 1 / std::max(std::sqrt(dot(a, a)), 1e-300) * a; }

constexpr double kAzimuth = 32 * std::numbers::pi / 180, kElevation = 27 * std::numbers::pi / 180;
const Vector kRight{std::cos(kAzimuth), std::sin(kAzimuth), 0};
const Vector kToEye{std::sin(kAzimuth) * std::cos(kElevation), -std::cos(kAzimuth) * std::cos(kElevation),
                    std::sin(kElevation)};
const Vector kUp{-std::sin(kAzimuth) * std::sin(kElevation), std::cos(kAzimuth) * std::sin(kElevation),
                 std::cos(kElevation)};
const Vector kToLight = unit(0.75 * kToEye + -0.62 * kRight + 0.95 * kUp);

/// The field between its points; positions are lengths from the middle of the box.
template <class T>
class Trilinear {
 public:
  explicit Trilinear(const SolidField& field) : values_(field.values.as<T>()), spacing_(field.spacing) {
    for (std::size_t k = 0; k < 3; ++k) last_[k] = static_cast<double>(values_.shape()[2 - static_cast<int>(k)] - 1);
  }

  double step() const { return *std::min_element(spacing_.begin(), spacing_.end()); }
  Vector half() const { return {last_[0] * spacing_[0] / 2, last_[1] * spacing_[1] / 2, last_[2] * spacing_[2] / 2}; }

  double at(const Vector& p) const {
    const std::array<double, 3> position{p.x, p.y, p.z};
    std::array<std::int64_t, 3> low, next;
    std::array<double, 3> share;
    for (std::size_t k = 0; k < 3; ++k) {
      const double u = std::clamp(position[k] / spacing_[k] + last_[k] / 2, 0.0, last_[k]);
      low[k] = static_cast<std::int64_t>(u);
      share[k] = u - static_cast<double>(low[k]);
      const std::int64_t stride = values_.strides()[2 - static_cast<int>(k)];
      next[k] = static_cast<double>(low[k]) < last_[k] ? stride : 0;
      low[k] *= stride;
    }
    const T* const corner = values_.data() + low[0] + low[1] + low[2];
    const auto between = [](double a, double b, double t) { return a + t * (b - a); };
    const auto along_x = [&](std::int64_t offset) {
      return between(static_cast<double>(corner[offset]), static_cast<double>(corner[offset + next[0]]), share[0]);
    };
    return between(between(along_x(0), along_x(next[1]), share[1]),
                   between(along_x(next[2]), along_x(next[1] + next[2]), share[1]), share[2]);
  }

  Vector normal(const Vector& p) const {
    const auto slope = [&](const Vector& way) { return at(p + way) - at(p + -1 * way); };
    const double h = step();
    return unit({slope({h, 0, 0}), slope({0, h, 0}), slope({0, 0, h})});
  }

 private:
  HostView<const T> values_;
  std::array<double, 3> spacing_;
  std::array<double, 3> last_;  // place of the last point along each axis
};

/// The part of a line inside the box: from where to where.
std::optional<std::array<double, 2>> inside_box(const Vector& from, const Vector& way, const Vector& half) {
  double begin = -std::numeric_limits<double>::infinity(), end = -begin;
  const auto cut = [&](double at, double speed, double most) {
    const double a = (-most - at) / speed, b = (most - at) / speed;
    begin = std::max(begin, std::min(a, b));
    end = std::min(end, std::max(a, b));
  };
  cut(from.x, way.x, half.x);
  cut(from.y, way.y, half.y);
  cut(from.z, way.z, half.z);
  if (!(begin < end)) return std::nullopt;
  return std::array{begin, end};
}

template <class T>
class Tracer {
 public:
  Tracer(const SolidField& field, double size)
      : field_(field),
        half_(field_.half()),
        size_(size),
        reach_(field.reach > 0 ? field.reach : std::numeric_limits<double>::infinity()) {}

  /// Where a ray meets the solid first, if it does. @param right, up  of the ray, from the middle of the box
  std::optional<Vector> meet(double right, double up) const {
    const Vector from = right * kRight + up * kUp, way = -1 * kToEye;
    const auto part = inside_box(from, way, half_);
    if (!part) return std::nullopt;
    double before = (*part)[0];
    for (double t = before; t < (*part)[1];) {
      const double distance = field_.at(from + t * way);
      if (distance <= 0) return from + surface_between(from, way, before, t) * way;
      before = t;
      t += std::max(kCaution * distance, kLeastStep * field_.step());
    }
    return std::nullopt;
  }

  /// Linear light that comes from a point of the surface.
  Colour shade(const Vector& at) const {
    const Vector normal = field_.normal(at), above = at + 0.5 * field_.step() * normal;
    const double open = openness(above, normal), facing = std::max(0.0, dot(normal, kToLight));
    const double key = facing > 0 ? facing * lit(above) : 0;
    const double sky = open * (0.5 + 0.5 * normal.z), back = open * std::max(0.0, dot(normal, kRight));
    const double glint = 0.16 * key * std::pow(std::max(0.0, dot(normal, unit(kToLight + kToEye))), 40);
    const auto light = [&](double own, double sun, double blue, double warm) {
      return own * (sun * key + blue * sky + warm * back + 0.05 * open) + glint;
    };
    return {light(0.80, 1.02, 0.34, 0.16), light(0.47, 0.98, 0.40, 0.10), light(0.25, 0.90, 0.55, 0.08)};
  }

 private:
  static constexpr double kCaution = 0.9;    // of the field's own distance, since between points it is not exact
  static constexpr double kLeastStep = 0.1;  // of a voxel

  double surface_between(const Vector& from, const Vector& way, double outside, double inside) const {
    for (int k = 0; k < 12; ++k) {
      const double middle = (outside + inside) / 2;
      (field_.at(from + middle * way) > 0 ? outside : inside) = middle;
    }
    return outside;
  }

  /// 1: open to all sides; less in hollows.
  double openness(const Vector& at, const Vector& normal) const {
    const double far = std::min(0.1 * size_, 0.9 * reach_);
    double hidden = 0, weight = 0.5;
    for (int k = 1; k <= 5; ++k, weight *= 0.62) {
      const double way = far * k / 5;
      hidden += weight * std::max(0.0, way - field_.at(at + way * normal)) / way;
    }
    return std::clamp(1 - 0.75 * hidden, 0.0, 1.0);
  }

  /// 1: the light is in sight; less where the ray to it passes something near.
  double lit(const Vector& at) const {
    constexpr double kSharpness = 9;
    double share = 1;
    const auto part = inside_box(at, kToLight, half_);
    for (double t = 2 * field_.step(); part && t < (*part)[1];) {
      const double distance = field_.at(at + t * kToLight);
      if (distance <= 0) return 0;
      if (distance < 0.99 * reach_) share = std::min(share, kSharpness * distance / t);
      t += std::max(kCaution * distance, 0.5 * field_.step());
    }
    return share * share * (3 - 2 * share);
  }

  Trilinear<T> field_;
  Vector half_;
  double size_;
  double reach_;
};

/// The part of the picture plane that shows the solid, y upward.
template <class T>
Rect seen_part(const Tracer<T>& tracer, const Rect& size) {
  constexpr int kLooks = 96;  // along each side
  double left = size.width, right = -left, low = size.height, high = -low;
  for (int look = 0; look < kLooks * kLooks; ++look) {
    const double x = (look % kLooks + 0.5) / kLooks * size.width - size.width / 2;
    const double y = (look / kLooks + 0.5) / kLooks * size.height - size.height / 2;
    if (!tracer.meet(x, y)) continue;
    left = std::min(left, x), right = std::max(right, x);
    low = std::min(low, y), high = std::max(high, y);
  }
  if (left > right) return {-size.width / 2, -size.height / 2, size.width, size.height};
  const double beyond = 1.5 * std::max(size.width, size.height) / kLooks;
  return {left - beyond, low - beyond, right - left + 2 * beyond, high - low + 2 * beyond};
}

/// One row of pixels, each the mean of some rays. @param at  the middle of the first pixel
template <class T>
void draw_row(const Tracer<T>& tracer, const Point& at, double pixel, int width, std::uint32_t* row) {
  constexpr int kRays = 2;  // along each side of a pixel
  for (int x = 0; x < width; ++x) {
    Colour sum;
    double seen = 0;
    for (int ray = 0; ray < kRays * kRays; ++ray) {
      const auto place = tracer.meet(at.x + (x + (ray % kRays + 0.5) / kRays - 0.5) * pixel,
                                     at.y + ((ray / kRays + 0.5) / kRays - 0.5) * pixel);
      if (!place) continue;
      const Colour colour = tracer.shade(*place);
      ++seen;
      sum = {sum.red + colour.red, sum.green + colour.green, sum.blue + colour.blue};
    }
    const double share = seen / (kRays * kRays);
    const auto byte = [&](double linear) {
      const double encoded = std::pow(std::clamp(linear / std::max(seen, 1.0), 0.0, 1.0), 1 / 2.2);
      return static_cast<std::uint32_t>(std::lround(255 * share * encoded));
    };
    row[x] = byte(seen) << 24 | byte(sum.red) << 16 | byte(sum.green) << 8 | byte(sum.blue);
  }
}

template <class T>
void draw_rows(const SolidField& field, cairo_surface_t* surface, int width, int height, int threads) {
  const Rect size = solid_size(field);
  const Tracer<T> tracer(field, std::max(size.width, size.height));
  const Rect seen = seen_part(tracer, size);
  const double pixel = std::max(seen.width / width, seen.height / height);
  const Point middle{seen.x + seen.width / 2, seen.y + seen.height / 2};
  unsigned char* const pixels = cairo_image_surface_get_data(surface);
  const int stride = cairo_image_surface_get_stride(surface);
  std::atomic<int> next{0};
  const auto work = [&] {
    for (int y = next++; y < height; y = next++)
      draw_row(tracer, {middle.x + (0.5 - 0.5 * width) * pixel, middle.y + (0.5 * height - 0.5 - y) * pixel}, pixel,
               width, reinterpret_cast<std::uint32_t*>(pixels + std::ptrdiff_t{y} * stride));
  };
  const int useful = std::min(threads, static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<std::jthread> others;
  for (int k = 1; k < useful; ++k) others.emplace_back(work);
  work();
}

}  // namespace

Rect solid_size(const SolidField& field) {
  std::array<double, 3> side;
  for (std::size_t k = 0; k < 3; ++k)
    side[k] = static_cast<double>(field.values.shape()[2 - static_cast<int>(k)]) * field.spacing[k];
  const auto along = [&](const Vector& way) {
    return std::abs(way.x) * side[0] + std::abs(way.y) * side[1] + std::abs(way.z) * side[2];
  };
  return {0, 0, along(kRight), along(kUp)};
}

Surface draw_solid(const SolidField& field, int width, int height, int threads) {
  Surface surface = make_surface(width, height);
  field.values.dtype() == DType::float32 ? draw_rows<float>(field, surface.get(), width, height, threads)
                                         : draw_rows<double>(field, surface.get(), width, height, threads);
  cairo_surface_mark_dirty(surface.get());
  return surface;
}

}  // namespace fathom::cli
