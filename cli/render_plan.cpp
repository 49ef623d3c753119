#include "render_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "json.h"
#include "memory.h"
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

/// "white", "transparent", "128".
void parse_background(const std::string& text, RenderPlan& plan) {
  const bool is_level = !text.empty() && text.size() <= 3 && text.find_first_not_of("0123456789") == std::string::npos;
  const int level = text == "white"                            ? 255
                    : text == "black" || text == "transparent" ? 0
                    : is_level                                 ? std::stoi(text)
                                                               : -1;
  if (level < 0 || level > 255)
    throw InvalidArgument(
        fmt::format("--background takes white, black, transparent or a level from 0 to 255, not '{}'", text));
  plan.march.background = static_cast<std::uint8_t>(level);
  plan.transparent = text == "transparent";
}

void check_pictures(const RenderArguments& arguments, const RenderPlan& plan) {
  constexpr std::int64_t kMostOfCairo = 32767;
  for (const std::string& path : {arguments.output, arguments.samples})
    if (!path.empty()) io::check_write(path, DType::uint8, plan.picture);
  if (!plan.transparent || arguments.output.empty()) return;
  if (io::format_from_path(arguments.output) != io::Format::png)
    throw InvalidArgument(
        fmt::format("--background transparent is for PNG; '{}' does not end in .png", arguments.output));
  if (plan.picture[0] > kMostOfCairo || plan.picture[1] > kMostOfCairo)
    throw InvalidArgument(
        fmt::format("--background transparent takes a --size of up to {} pixels a side", kMostOfCairo));
}

/// What the volume's header says, or the command line of one without.
void probe_volume(const RenderArguments& arguments, RenderPlan& plan) {
  if (plan.raw) {
    if (arguments.plan) io::check_raw(arguments.input.path, *plan.raw);
    plan.volume = plan.raw->shape;
    plan.dtype = plan.raw->dtype;
  } else {
    InputArguments given = arguments.input;
    if (given.stack) given.slices = stack_of({given.path});
    plan.input = probe_input(given, arguments.threshold.empty() ? io::Colours::packed : io::Colours::luminance);
    if (plan.input.batch_axes > 0)
      throw IoError(fmt::format("{} is several volumes along {}; --channel takes one channel", plan.input.path,
                                plan.input.batch_names()));
    plan.volume = plan.input.shape();
    plan.dtype = plan.input.info.dtype;
    if (plan.marcher.spacing.empty()) plan.marcher.spacing = plan.input.spacing();
    if (plan.marcher.threshold) plan.marcher.threshold = compared_in(plan.input.info, *plan.marcher.threshold);
  }
  if (plan.volume.rank() != 3)
    throw IoError(fmt::format("{} has {} axes, {}; a volume has 3", arguments.input.path, plan.volume.rank(),
                              to_string(plan.volume)));
}

/// Of the volume, and of what is kept for each pixel.
std::size_t array_bytes(const RenderPlan& plan) {
  const bool averaged = plan.march.antialias > 1 || plan.march.background != 255 || plan.transparent;
  const std::size_t of_a_pixel =
      1 + (plan.counts ? sizeof(std::int32_t) : 0) + (plan.transparent ? 1 : 0) + (averaged ? 5 : 0);
  const Shape& read = plan.raw ? plan.volume : plan.input.file_shape;
  return static_cast<std::size_t>(element_count(read)) * size_of(plan.dtype) +
         static_cast<std::size_t>(element_count(plan.picture)) * of_a_pixel;
}

/// With so many voxels in the surface.
std::size_t marcher_bytes(const RenderPlan& plan, std::int64_t surface) {
  return apps::RayMarcher::needed_bytes(AnyConstView(nullptr, plan.dtype, plan.volume), plan.marcher, surface);
}

/// Leaves the marcher what the volume and the picture leave of the budget.
void fit_into_memory(std::size_t budget, RenderPlan& plan) {
  const std::size_t arrays = array_bytes(plan);
  const std::size_t marcher = plan.marcher.execution.backend == Backend::cuda ? 0 : marcher_bytes(plan, 0);
  if (arrays + marcher > budget)
    throw InvalidArgument(fmt::format("--memory {} is too small: volume and picture need {}, --step {} {} or more",
                                      memory_text(budget), memory_text(arrays), name_of(plan.marcher.stepping),
                                      memory_text(marcher)));
  plan.marcher.memory_limit = budget - arrays;
}

/// "all but 0", "not less than 1843".
std::string solid_text(const RenderArguments& arguments) {
  return arguments.threshold.empty() ? "all but 0" : "not less than " + arguments.threshold;
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
  parse_background(arguments.background, plan);
  check_pictures(arguments, plan);
  plan.counts = arguments.json || !arguments.samples.empty();
  plan.raw = parse_raw(arguments);
  if (!arguments.spacing.empty()) plan.marcher.spacing = parse_spacing(arguments.spacing);
  if (!arguments.threshold.empty()) plan.marcher.threshold = parse_threshold(arguments.threshold);
  plan.marcher.stepping = parse_stepping(arguments.step);
  if (!arguments.cone.empty()) plan.march.half_angle = parse_degrees("--cone", arguments.cone, 0, 180);
  if (!arguments.cone.empty() && plan.marcher.stepping != apps::Stepping::cone)
    throw InvalidArgument("--cone is the half-angle of --step cone; give that, too");
  plan.march.camera = parse_camera(arguments);
  plan.march.antialias = static_cast<int>(parse_count("--antialias", arguments.antialias, 1, 16));
  plan.repeat = static_cast<int>(parse_count("--repeat", arguments.repeat, 1, 1000));
  plan.marcher.execution.backend = parse_backend(arguments.backend);
  plan.marcher.execution.threads = parse_threads(arguments.threads);
  plan.march.execution = plan.marcher.execution;
  std::optional<std::size_t> memory;
  if (!arguments.memory.empty()) memory = parse_memory(arguments.memory);
  for (const std::string& path : {arguments.output, arguments.samples})
    if (!path.empty()) io::AtomicFile::check(path);
  probe_volume(arguments, plan);
  if (memory) fit_into_memory(*memory, plan);
  return plan;
}

Json plan_json(const RenderArguments& arguments, const RenderPlan& plan) {
  Json outputs = Json::array();
  for (const auto& [path, content] : {std::pair{arguments.output, "picture"}, {arguments.samples, "samples"}})
    if (!path.empty()) outputs.push_back({{"path", path}, {"content", content}, {"shape", to_json(plan.picture)}});
  const std::size_t marcher = marcher_bytes(plan, 0);
  return {{"operation", "plan"},
          {"verb", "render"},
          {"input",
           {{"path", arguments.input.path}, {"dtype", fathom::name_of(plan.dtype)}, {"shape", to_json(plan.volume)}}},
          {"outputs", outputs},
          {"spacing", plan.marcher.spacing.empty() ? Json(nullptr) : Json(plan.marcher.spacing)},
          {"solid", solid_text(arguments)},
          {"step", name_of(plan.marcher.stepping)},
          {"rays", element_count(plan.picture) * plan.march.antialias * plan.march.antialias},
          {"bytes",
           {{"arrays", array_bytes(plan)}, {"marcher", marcher}, {"per_voxel", marcher_bytes(plan, 1) - marcher}}}};
}

std::string plan_text(const RenderArguments& arguments, const RenderPlan& plan) {
  std::string text = fmt::format("read     {}: {}, {}, {}\n", input_name(arguments.input.path),
                                 plan.raw ? "raw" : io::name_of(plan.input.info.format), fathom::name_of(plan.dtype),
                                 to_string(plan.volume));
  text += fmt::format("solid    {}\n", solid_text(arguments));
  if (!plan.marcher.spacing.empty()) text += fmt::format("spacing  {}\n", fmt::join(plan.marcher.spacing, ", "));
  const int rays = plan.march.antialias * plan.march.antialias;
  text += fmt::format("draw     {} × {} pixels, {} ray{} each, --step {}\n", plan.picture[1], plan.picture[0], rays,
                      rays == 1 ? "" : "s", name_of(plan.marcher.stepping));
  if (!arguments.output.empty()) text += fmt::format("write    {}: picture\n", shown(arguments.output));
  if (!arguments.samples.empty()) text += fmt::format("write    {}: samples per ray\n", shown(arguments.samples));
  const std::size_t marcher = marcher_bytes(plan, 0), of_a_voxel = marcher_bytes(plan, 1) - marcher;
  text += fmt::format("memory   {} for volume and picture, {} for --step {}", memory_text(array_bytes(plan)),
                      memory_text(marcher), name_of(plan.marcher.stepping));
  if (of_a_voxel > 0) text += fmt::format(" and {} for each voxel of the surface", memory_text(of_a_voxel));
  return text + "\n";
}

}  // namespace fathom::cli
