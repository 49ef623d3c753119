#include "render_plan.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "options.h"

namespace fathom::cli {

namespace {

constexpr double kDegree = std::numbers::pi / 180;
constexpr std::array kSteppings = {apps::Stepping::unit, apps::Stepping::field, apps::Stepping::pointwise,
                                   apps::Stepping::cone};

apps::Stepping parse_stepping(const std::string& text) {
  for (apps::Stepping stepping : kSteppings)
    if (name_of(stepping) == text) return stepping;
  throw InvalidArgument(fmt::format("--step takes unit, field, pointwise or cone, not '{}'", text));
}

double parse_number(const char* option, const std::string& text, double least, double most, const char* unit) {
  const auto numbers = parse_numbers(option, text);
  if (numbers.size() != 1 || numbers[0] < least || numbers[0] > most)
    throw InvalidArgument(fmt::format("{} takes {} from {:g} to {:g}, not '{}'", option, unit, least, most, text));
  return numbers[0];
}

double parse_degrees(const char* option, const std::string& text, double least, double most) {
  return parse_number(option, text, least, most, "degrees") * kDegree;
}

/// "640x480": width, then height.
Shape parse_size(const std::string& text) {
  constexpr std::int64_t kMost = 32768;
  const std::size_t cross = text.find('x');
  if (cross == std::string::npos)
    throw InvalidArgument(fmt::format("--size takes WIDTHxHEIGHT, such as 640x480, not '{}'", text));
  const std::int64_t width = parse_count("--size", text.substr(0, cross), 1, kMost);
  return {parse_count("--size", text.substr(cross + 1), 1, kMost), width};
}

Shape parse_shape(const std::string& text) {
  Shape shape;
  for (double extent : parse_numbers("--shape", text)) {
    if (extent < 0 || extent != std::floor(extent) || extent > std::numeric_limits<std::int32_t>::max())
      throw InvalidArgument(fmt::format("--shape takes three whole numbers, slowest axis first, not '{}'", text));
    shape.push_back(static_cast<std::int64_t>(extent));
  }
  return shape;
}

std::optional<io::RawLayout> parse_raw(const RenderArguments& arguments) {
  if (arguments.shape.empty() && arguments.dtype.empty() && !arguments.big_endian) return std::nullopt;
  if (arguments.shape.empty() || arguments.dtype.empty())
    throw InvalidArgument("a file without a header needs both --shape and --dtype");
  return io::RawLayout{dtype_from_name(arguments.dtype), parse_shape(arguments.shape), arguments.big_endian};
}

/// The axis that points up in the picture: its place in the shape, z first, and its sign.
std::array<double, 3> parse_up(const std::string& text) {
  const std::string axis = text.starts_with('-') ? text.substr(1) : text;
  const std::size_t place = std::string("zyx").find(axis);
  if (axis.size() != 1 || place == std::string::npos)
    throw InvalidArgument(fmt::format("--up takes x, y, z, -x, -y or -z, not '{}'", text));
  std::array<double, 3> up{};
  up[place] = text.starts_with('-') ? -1 : 1;
  return up;
}

/// Axes to the front and to the right of the up axis: with z, the eye at azimuth 0 looks along y and has x on
/// its right. Others are turned from there; for a negative axis, half around the one on the right.
struct Directions {
  std::array<double, 3> up{}, front{}, right{};
};

Directions directions_from(const std::array<double, 3>& up) {
  Directions axes{up, {}, {}};
  for (std::size_t k = 0; k < 3; ++k) {
    if (up[k] == 0) continue;
    axes.front[(k + 1) % 3] = up[k];
    axes.right[(k + 2) % 3] = 1;
  }
  return axes;
}

apps::Camera parse_camera(const RenderArguments& arguments) {
  apps::Camera camera;
  const double azimuth = parse_degrees("--azimuth", arguments.azimuth, -360, 360);
  const double elevation = parse_degrees("--elevation", arguments.elevation, -90, 90);
  const Directions axes = directions_from(parse_up(arguments.up));
  for (std::size_t k = 0; k < 3; ++k) {
    const double outward = std::sin(azimuth) * axes.right[k] - std::cos(azimuth) * axes.front[k];
    camera.toward_eye[k] = std::cos(elevation) * outward + std::sin(elevation) * axes.up[k];
    // Not the axis itself, which lies along the view where the eye is right above.
    camera.up[k] = std::cos(elevation) * axes.up[k] - std::sin(elevation) * outward;
  }
  if (arguments.projection == "orthographic") camera.projection = apps::Projection::orthographic;
  else if (arguments.projection != "perspective")
    throw InvalidArgument(
        fmt::format("--projection takes perspective or orthographic, not '{}'", arguments.projection));
  camera.field_of_view = parse_degrees("--fov", arguments.field_of_view, 0.1, 170);
  camera.zoom = parse_number("--zoom", arguments.zoom, 1e-3, 1e6, "a number");
  return camera;
}

}  // namespace

std::string_view name_of(apps::Stepping stepping) {
  switch (stepping) {
    case apps::Stepping::unit: return "unit";
    case apps::Stepping::field: return "field";
    case apps::Stepping::pointwise: return "pointwise";
    case apps::Stepping::cone: return "cone";
  }
  throw InternalError("a stepping without a name");
}

RenderPlan make_render_plan(const RenderArguments& arguments) {
  RenderPlan plan;
  if (arguments.output.empty() && arguments.samples.empty())
    throw InvalidArgument("no output was asked for; give -o FILE or --samples FILE");
  check_outputs({{"-o", arguments.output}, {"--samples", arguments.samples}}, arguments.json);
  plan.picture = parse_size(arguments.size);
  for (const std::string& path : {arguments.output, arguments.samples})
    if (!path.empty()) io::check_write(path, DType::uint8, plan.picture);
  plan.raw = parse_raw(arguments);
  if (!arguments.spacing.empty()) plan.marcher.spacing = parse_spacing(arguments.spacing);
  if (!arguments.threshold.empty()) plan.marcher.threshold = parse_threshold(arguments.threshold);
  plan.marcher.stepping = parse_stepping(arguments.step);
  if (!arguments.cone.empty()) plan.march.half_angle = parse_degrees("--cone", arguments.cone, 0, 180);
  if (!arguments.cone.empty() && plan.marcher.stepping != apps::Stepping::cone)
    throw InvalidArgument("--cone is the half-angle of --step cone; give that, too");
  plan.march.camera = parse_camera(arguments);
  plan.repeat = static_cast<int>(parse_count("--repeat", arguments.repeat, 1, 1000));
  plan.marcher.execution.backend = parse_backend(arguments.backend);
  plan.marcher.execution.threads = parse_threads(arguments.threads);
  plan.march.execution = plan.marcher.execution;
  if (!arguments.memory.empty()) plan.memory = parse_memory(arguments.memory);
  for (const std::string& path : {arguments.output, arguments.samples})
    if (!path.empty()) io::AtomicFile::check(path);
  return plan;
}

}  // namespace fathom::cli
