#include "render.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "clock.h"
#include "exit_code.h"
#include "json.h"
#include "memory.h"
#include "pending_files.h"
#include "pictures.h"
#include "progress.h"
#include "render_plan.h"
#include "report.h"

namespace fathom::cli {

namespace {

constexpr const char* kExamples = R"(Examples:
  fathom render scan.nii.gz -o scan.png --threshold 1843
      what is at least so dense, as a shaded picture
  fathom render mask.npy -o mask.png --azimuth 120 --elevation 10 --size 800x600
      from another side; mask.npy has 3 axes, and all but 0 is solid
  fathom render mask.npy -o mask.png --step cone --cone 36 --samples samples.png
      without a field in memory, and a picture of how many samples each ray took
  fathom render head.raw -o head.png --shape 256,256,256 --dtype uint8 --threshold 90

Every --step draws the same picture. Exit codes: 0 done, 2 usage, 3 data or files, 4 device, 70 internal.)";

struct RenderOutcome {
  Array shade;
  Array coverage;
  Array samples;
  apps::RayMarchReport report;
  std::int32_t most_samples = 0;
  std::int64_t solid = 0;
  std::size_t marcher_bytes = 0;
  double read = 0, build = 0, draw = 0, write = 0, total = 0;

  double mean_samples() const {
    return report.rays == 0 ? 0 : static_cast<double>(report.samples) / static_cast<double>(report.rays);
  }
};

Arranged read_volume(const RenderArguments& arguments, const RenderPlan& plan) {
  if (!plan.raw) {
    Arranged volume = read_elements(plan.input);
    warn_of(plan.input);
    return volume;
  }
  Arranged volume;
  volume.data = io::read_raw(arguments.input.path, *plan.raw);
  volume.view = std::as_const(volume.data).view();
  return volume;
}

RenderOutcome draw(RenderPlan& plan, Arranged volume, Progress& progress) {
  RenderOutcome outcome;
  const auto build_start = Clock::now();
  progress.begin("preparing");
  plan.marcher.execution.progress = progress.callback();
  const apps::RayMarcher marcher(volume.view, plan.marcher);
  volume = {};
  outcome.build = seconds_since(build_start);
  outcome.solid = marcher.solid();
  outcome.marcher_bytes = marcher.bytes();

  progress.begin("drawing");
  plan.march.execution.progress = progress.callback();
  outcome.shade = Array(DType::uint8, plan.picture);
  apps::RayMarchOutputs outputs;
  outputs.shade = outcome.shade.view();
  if (plan.transparent) {
    outcome.coverage = Array(DType::uint8, plan.picture);
    outputs.coverage = outcome.coverage.view();
  }
  if (plan.counts) {
    outcome.samples = Array(DType::int32, plan.picture);
    outputs.samples = outcome.samples.view();
  }
  outcome.draw = std::numeric_limits<double>::infinity();
  for (int k = 0; k < plan.repeat; ++k) {
    const auto start = Clock::now();
    outcome.report = marcher.render(plan.march, outputs);
    outcome.draw = std::min(outcome.draw, seconds_since(start));
  }
  if (plan.counts) {
    const auto* counts = outcome.samples.as<std::int32_t>().data();
    outcome.most_samples = *std::max_element(counts, counts + outcome.samples.size());
  }
  return outcome;
}

void write_pictures(const RenderArguments& arguments, const RenderPlan& plan, const RenderOutcome& outcome) {
  PendingFiles files;
  if (!arguments.samples.empty())
    io::write(files.add(arguments.samples), samples_picture(outcome.samples, outcome.most_samples).view());
  if (!arguments.output.empty() && plan.transparent)
    write_transparent(outcome.shade, outcome.coverage, files.add(arguments.output).stream());
  else if (!arguments.output.empty()) io::write(files.add(arguments.output), outcome.shade.view());
  files.commit();
}

std::string text_of(const RenderArguments& arguments, const RenderPlan& plan, const RenderOutcome& outcome) {
  std::string text;
  if (!arguments.output.empty())
    text += fmt::format("{}: {} × {}, {} of {} voxels are solid\n", shown(arguments.output), plan.picture[1],
                        plan.picture[0], outcome.solid, element_count(plan.volume));
  if (!arguments.samples.empty())
    text +=
        fmt::format("{}: samples per ray, white for 1, black for {}\n", shown(arguments.samples), outcome.most_samples);
  return text + fmt::format("{}: {:.4g} samples per ray, {:.3g} frames per second\n", name_of(plan.marcher.stepping),
                            outcome.mean_samples(), 1 / outcome.draw);
}

Json json_of(const RenderArguments& arguments, const RenderPlan& plan, const RenderOutcome& outcome) {
  Json json = {
      {"operation", "render"},
      {"input",
       {{"path", arguments.input.path}, {"dtype", fathom::name_of(plan.dtype)}, {"shape", to_json(plan.volume)}}},
      {"output", {{"path", arguments.output}, {"samples", arguments.samples}}},
      {"size", {plan.picture[1], plan.picture[0]}},
      {"solid", outcome.solid},
      {"step", name_of(plan.marcher.stepping)},
      {"half_angle", plan.march.half_angle},
      {"rays", outcome.report.rays},
      {"hits", outcome.report.hits},
      {"samples", outcome.report.samples},
      {"mean_samples", outcome.mean_samples()},
      {"most_samples", outcome.most_samples},
      {"frames_per_second", 1 / outcome.draw},
      {"marcher_bytes", outcome.marcher_bytes},
      {"seconds",
       {{"read", outcome.read},
        {"build", outcome.build},
        {"draw", outcome.draw},
        {"write", outcome.write},
        {"total", outcome.total}}}};
  add_execution(outcome.report, json);
  return json;
}

void print_outcome(const RenderArguments& arguments, const RenderPlan& plan, const RenderOutcome& outcome) {
  if (arguments.json) return print_line(json_of(arguments, plan, outcome));
  print_report(text_of(arguments, plan, outcome), {arguments.output, arguments.samples});
}

}  // namespace

Work declare_render(CLI::App* verb) {
  const auto arguments = std::make_shared<RenderArguments>();
  RenderArguments& a = *arguments;
  verb->footer(kExamples);
  verb->add_option("VOLUME", a.input.path, "NPY, NIfTI, TIFF, or raw with --shape and --dtype; - for standard input")
      ->required();
  verb->add_option("-o,--output", a.output, "Where the picture goes: .png .tif .npy; - for standard output (NPY)");
  verb->add_option("--samples", a.samples, "File for a picture of how many samples each ray took");
  verb->add_option("--threshold", a.threshold, "Solid is what is not less (default: all but 0)");
  verb->add_option("--shape", a.shape, "Of a file without a header: Z,Y,X");
  verb->add_option("--dtype", a.dtype, "Of a file without a header: uint8, int16, float32, ...");
  verb->add_flag("--big-endian", a.big_endian, "A file without a header has its highest bytes first");
  declare_input(verb, a.input);
  verb->add_option("--spacing", a.spacing,
                   "Size of a voxel: one number, or one per axis in the shape's order (default: the file's or 1)");
  verb->add_option("--step", a.step,
                   "How rays find how far they may go: unit, field (default), pointwise or cone; same picture");
  verb->add_option("--cone", a.cone, "Half-angle of --step cone in degrees, 0 to 180 (default 0)");
  verb->add_option("--size", a.size, "WIDTHxHEIGHT of the picture (default 512x512)");
  verb->add_option("--azimuth", a.azimuth, "Degrees around the up axis, from in front to the right (default 30)");
  verb->add_option("--elevation", a.elevation, "Degrees above the horizon, -90 to 90 (default 20)");
  verb->add_option("--up", a.up, "Axis that points up: x, y, z, -x, -y or -z (default z, the shape's first)");
  verb->add_option("--projection", a.projection, "perspective (default) or orthographic");
  verb->add_option("--fov", a.field_of_view, "Field of view of the shorter side in degrees (default 30)");
  verb->add_option("--zoom", a.zoom, "Enlarges the middle of the picture, which the solid fills at 1 (default 1)");
  verb->add_option("--antialias", a.antialias, "Averages N x N rays for each pixel, N from 1 to 16 (default 3)");
  verb->add_option("--background", a.background, "white (default), black, transparent (PNG) or a level from 0 to 255");
  verb->add_option("--repeat", a.repeat, "Draws so often and reports the shortest time (default 1)");
  verb->add_option("--backend", a.backend, "auto, cpu or cuda (default auto)");
  verb->add_option("--threads", a.threads, "Most threads; 0 for all processors (default)");
  verb->add_option("--memory", a.memory, "Most memory for volume, picture and field or sites, such as 4GiB");
  verb->add_flag("--plan", a.plan, "Say what would be read, drawn and written, and the memory it takes; do nothing");
  verb->add_flag("--json", a.json, "Print one line of JSON about the work");
  return [arguments] { return run_render(*arguments); };
}

int run_render(const RenderArguments& arguments) {
  const auto start = Clock::now();
  RenderPlan plan = make_render_plan(arguments);
  if (arguments.plan) {
    if (!plan.raw) warn_of(plan.input);
    arguments.json ? print_line(plan_json(arguments, plan)) : print_text(plan_text(arguments, plan));
    return kDone;
  }
  Progress progress;
  progress.begin("reading");
  Arranged volume = read_volume(arguments, plan);
  const double read = seconds_since(start);
  RenderOutcome outcome = draw(plan, std::move(volume), progress);
  outcome.read = read;

  const auto write_start = Clock::now();
  progress.begin("writing");
  write_pictures(arguments, plan, outcome);
  outcome.write = seconds_since(write_start);
  outcome.total = seconds_since(start);
  progress.end();
  print_outcome(arguments, plan, outcome);
  return kDone;
}

}  // namespace fathom::cli
