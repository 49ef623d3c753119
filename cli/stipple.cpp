#include "stipple.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>

#include "dots.h"
#include "fathom/apps/stipple.h"
#include "fathom/io/points.h"
#include "options.h"

namespace fathom::cli {

namespace {

constexpr const char* kExamples = R"(Examples:
  fathom stipple photo.jpg -o dots.svg --dots 20000
      for screens, printers and plotters; dots follow the tone, and so does the size of each
  fathom stipple photo.jpg -o dots.png --dots 20000 --gamma 1.5 --zoom 3
      light tones lose dots; three pixels for each of the photo's
  fathom stipple night.png -o stars.png --invert --paper '#10142a'
      light dots for light tones
  fathom stipple photo.jpg -o dots.csv --seed 2
      x, y and radius in pixels from the upper left corner; another seed draws other dots

The same seed gives the same bytes on any number of threads.
Exit codes: 0 done, 2 usage, 3 data or files, 4 device, 70 internal.)";

enum class Kind { svg, png, table };

Kind kind_of(const std::string& output) {
  const std::string ending = std::filesystem::path(output).extension().string();
  if (ending == ".svg") return Kind::svg;
  if (ending == ".png") return Kind::png;
  if (ending == ".csv" || ending == ".npy") return Kind::table;
  throw InvalidArgument(output.empty()
                            ? "no output was asked for; give -o FILE.svg, .png, .csv or .npy"
                            : fmt::format("-o takes a name ending in .svg, .png, .csv or .npy, not '{}'", output));
}

double parse_positive(const char* option, const std::string& text) {
  const auto value = number<double>(text);
  if (!value || !std::isfinite(*value) || !(*value > 0))
    throw InvalidArgument(fmt::format("{} takes a number above 0, not '{}'", option, text));
  return *value;
}

apps::StippleOptions parse_options(const StippleArguments& a) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  apps::StippleOptions options;
  options.dots = parse_count("--dots", a.dots, 1, kMost);
  options.seed = parse_seed(a.seed);
  options.iterations = static_cast<int>(parse_count("--iterations", a.iterations, 0, kMost));
  options.gamma = parse_positive("--gamma", a.gamma);
  if (!a.supersample.empty())
    options.supersample = static_cast<int>(parse_count("--supersample", a.supersample, 1, 16));
  options.invert = a.invert;
  return options;
}

/// Colours and the photo's shape; dots come later.
Dots parse_dots(const StippleArguments& a, const Shape& photo) {
  Dots dots;
  dots.photo = photo;
  constexpr Colour kBlack{0, 0, 0}, kWhite{1, 1, 1};
  dots.ink = a.ink.empty() ? (a.invert ? kWhite : kBlack) : parse_colour("--ink", a.ink);
  if (a.paper.empty()) dots.paper = a.invert ? kBlack : kWhite;
  else if (a.paper != "none") dots.paper = parse_colour("--paper", a.paper);
  return dots;
}

void take(const apps::Stipples& stipples, double size, Dots& dots) {
  const Shape shape = stipples.radii.shape();
  for (Array* array : {&dots.x, &dots.y, &dots.radius}) *array = Array(DType::float64, shape);
  const auto* const position = stipples.positions.as<double>().data();
  for (std::int64_t k = 0; k < shape[0]; ++k) {
    dots.x.as<double>().data()[k] = position[2 * k + 1] + 0.5;
    dots.y.as<double>().data()[k] = position[2 * k] + 0.5;
    dots.radius.as<double>().data()[k] = size * stipples.radii.as<double>().data()[k];
  }
}

void write(const Dots& dots, Kind kind, double zoom, io::AtomicFile& file) {
  if (kind == Kind::svg) return write_dots_svg(dots, file.stream());
  if (kind == Kind::png) return write_dots_png(dots, zoom, file.stream());
  const auto view = [](const Array& array) { return array.view(); };
  io::write_table(file, {{"x", view(dots.x)}, {"y", view(dots.y)}, {"radius", view(dots.radius)}}, {},
                  io::TableFormat::automatic);
}

}  // namespace

Work declare_stipple(CLI::App* verb) {
  const auto arguments = std::make_shared<StippleArguments>();
  StippleArguments& a = *arguments;
  a.common.input.tones = true;
  verb->footer(kExamples);
  verb->add_option("PHOTO", a.common.input.path, "JPEG, PNG, TIFF and others; - for standard input")->required();
  verb->add_option("-o,--output", a.common.output, "Where the dots go: .svg .png .csv .npy");
  verb->add_option("--dots", a.dots, "How many (default 10000)");
  verb->add_option("--seed", a.seed, "Of the first places of the dots, 0 or more (default 0)");
  verb->add_option("--iterations", a.iterations, "Most steps of Lloyd's, which ends when dots rest (default 100)");
  verb->add_option("--gamma", a.gamma, "Exponent of the ink; above 1, light tones lose dots (default 1)");
  verb->add_flag("--invert", a.invert, "Light dots for light tones, on black paper");
  verb->add_option("--supersample", a.supersample,
                   "Regions on a grid so many times as fine as the photo, 1 to 16 (default: by the density of dots)");
  verb->add_option("--dot-size", a.dot_size, "Factor for the radii; at 1 dots have the area of their ink (default 1)");
  verb->add_option("--zoom", a.zoom, "Pixels of a PNG for each of the photo's (default 2)");
  verb->add_option("--ink", a.ink, "Colour of the dots, such as #1c2b33 (default black)");
  verb->add_option("--paper", a.paper, "Colour behind them, or none (default white)");
  declare_input(verb, a.common.input);
  declare_execution(verb, a.common);
  return [arguments] { return run_stipple(*arguments); };
}

int run_stipple(const StippleArguments& a) {
  apps::StippleOptions options = parse_options(a);
  const double size = parse_positive("--dot-size", a.dot_size), zoom = parse_positive("--zoom", a.zoom);
  const Kind kind = kind_of(a.common.output);
  Operation operation("stipple", a.common, io::Colours::luminance);
  const Shape shape = operation.input().shape();
  if (shape.rank() != 2)
    throw InvalidArgument(fmt::format("{} has the shape {}; stippling takes one image of height and width",
                                      input_name(a.common.input.path), to_string(shape)));
  constexpr double kMostPixels = 32767;  // of Cairo's pictures
  const double longest = zoom * static_cast<double>(std::max(shape[0], shape[1]));
  if (kind == Kind::png && !(longest <= kMostPixels))
    throw InvalidArgument(fmt::format("a PNG of {:.0f} pixels is too large; give a --zoom of at most {:.3g}, or an SVG",
                                      longest, zoom * kMostPixels / longest));
  Dots dots = parse_dots(a, shape);
  operation.settings = {{"dots", options.dots}, {"seed", options.seed}};
  if (options.gamma != 1) operation.settings["gamma"] = options.gamma;
  if (options.invert) operation.settings["invert"] = true;
  operation.add(
      {"-o", a.common.output, fmt::format("{} dots", options.dots), DType::float64, {options.dots, 3}, false});
  options.execution = operation.execution();
  const std::size_t scratch = apps::stipple_scratch_bytes(shape, options);
  const auto picture =
      kind == Kind::png ? static_cast<std::size_t>(4 * zoom * zoom * static_cast<double>(element_count(shape))) : 0;
  operation.fit(scratch, scratch, picture + static_cast<std::size_t>(options.dots) * 6 * sizeof(double));
  if (a.common.plan) return operation.print_plan();

  const Arranged photo = operation.read();
  operation.begin("stippling");
  options.execution = operation.execution();
  const apps::Stipples stipples = apps::stipple(photo.view, options);
  take(stipples, size, dots);
  operation.output(0).detail =
      fmt::format(" after {} iteration{}", stipples.report.iterations, stipples.report.iterations == 1 ? "" : "s");
  operation.write({}, [&](PendingFiles& files) { write(dots, kind, zoom, files.add(a.common.output)); });
  return operation.print(stipples.report, {{"dots", options.dots},
                                           {"iterations", stipples.report.iterations},
                                           {"at_rest", stipples.report.at_rest},
                                           {"supersample", stipples.supersample}});
}

}  // namespace fathom::cli
