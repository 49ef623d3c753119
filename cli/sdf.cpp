#include "sdf.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>

#include "chart/chart.h"
#include "fathom/apps/sdf.h"
#include "options.h"

namespace fathom::cli {

namespace {

constexpr const char* kExamples = R"(Examples:
  fathom sdf icon.png -o icon_sdf.png --range 8 --size 64x64 --pad 4
      8 bits a texel: 128 on the outline, more inside; 8 texels from 0 to 255
  fathom sdf logo.png -o logo_sdf.tif --dtype float32 --range 1
      floats: 0.5 on the outline, and not cut, in texels; the file's own size
  fathom sdf scan.png -o scan_sdf.png --invert
      dark ink on light paper

Coverage is the opacity of an image that has it, else its luminance; --channel takes another.
Exit codes: 0 done, 2 usage, 3 data or files, 4 device, 70 internal.)";

double parse_texels(const char* option, const std::string& text, bool positive) {
  const auto value = number<double>(text);
  if (!value || !std::isfinite(*value) || !(positive ? *value > 0 : *value >= 0))
    throw InvalidArgument(fmt::format("{} takes a number of texels {}, not '{}'", option,
                                      positive ? "above 0" : "that is at least 0", text));
  return *value;
}

DType parse_dtype(const std::string& text) {
  for (DType dtype : {DType::uint8, DType::uint16, DType::float32, DType::float64})
    if (fathom::name_of(dtype) == text) return dtype;
  throw InvalidArgument(fmt::format("--dtype of a texture is uint8, uint16, float32 or float64, not '{}'", text));
}

/// The image's opacity, if it has one and nothing else was asked for.
OperationArguments with_channel(OperationArguments a) {
  a.input.tones = true;
  if (a.input.channel.empty() && a.input.axes.empty() &&
      probe_input(a.input, io::Colours::luminance).info.meaning.alpha)
    a.input.channel = "alpha";
  return a;
}

}  // namespace

Work declare_sdf(CLI::App* verb) {
  const auto arguments = std::make_shared<SdfArguments>();
  SdfArguments& a = *arguments;
  verb->footer(kExamples);
  verb->add_option("IMAGE", a.common.input.path,
                   "Coverage of each pixel: .png .tif .npy and others; - for standard input")
      ->required();
  verb->add_option("-o,--output", a.common.output,
                   "Where the texture goes: .png .tif .npy; - for standard output (NPY)");
  verb->add_option("--range", a.range, "Texels from the lowest value to the highest (default 8)");
  verb->add_option("--size", a.size, "WIDTHxHEIGHT of the texture (default: the image's, and the padding)");
  verb->add_option("--pad", a.pad, "Texels on each side that the image leaves free (default 0)");
  verb->add_option("--dtype", a.dtype, "uint8 (default), uint16, float32 or float64; floats are not cut to the range");
  verb->add_flag("--invert", a.invert, "The object is what is dark");
  verb->add_option("--preview", a.common.preview, "Chart of the field, as PNG");
  verb->add_option("--title", a.common.title, "Title of the chart");
  declare_input(verb, a.common.input);
  declare_execution(verb, a.common);
  return [arguments] { return run_sdf(*arguments); };
}

int run_sdf(const SdfArguments& a) {
  apps::SdfOptions options;
  options.range = parse_texels("--range", a.range, true);
  options.pad = parse_texels("--pad", a.pad, false);
  options.invert = a.invert;
  const DType dtype = parse_dtype(a.dtype);
  const OperationArguments common = with_channel(a.common);
  Operation operation("sdf", common, io::Colours::luminance);
  const Shape image = operation.input().shape();
  if (image.rank() != 2)
    throw InvalidArgument(fmt::format("{} has the shape {}; a texture is made of one image of height and width",
                                      input_name(common.input.path), to_string(image)));
  const auto padded = [&](std::int64_t n) { return n + static_cast<std::int64_t>(std::ceil(2 * options.pad)); };
  const Shape size = a.size.empty() ? Shape{padded(image[0]), padded(image[1])} : parse_size(a.size);
  operation.settings = {{"size", fmt::format("{}x{}", size[1], size[0])},
                        {"range", options.range},
                        {"pad", options.pad},
                        {"coverage", common.input.channel.empty() ? "luminance" : common.input.channel}};
  if (a.invert) operation.settings["invert"] = true;
  // The texture is another image than the input: nothing of what the input says of itself goes along.
  io::WriteOptions format;
  if (common.output == "-") format.format = io::Format::npy;
  const auto say = fmt::format("texture, {}, {}", fathom::name_of(dtype), to_string(size));
  if (!common.output.empty()) {
    const io::Format written = io::check_write(common.output, dtype, size, {}, format);
    if (written == io::Format::png && dtype != DType::uint8 && dtype != DType::uint16)
      throw InvalidArgument("a PNG holds no floats; write them to .tif or .npy, or use --dtype uint16");
  }
  operation.add({"-o", common.output, say, dtype, size, false});
  options.execution = operation.execution();
  const std::size_t scratch = apps::sdf_scratch_bytes(image, options);
  operation.fit(scratch, scratch, static_cast<std::size_t>(element_count(size)) * size_of(dtype));
  if (common.plan) return operation.print_plan();

  const Arranged coverage = operation.read();
  operation.begin("computing");
  options.execution = operation.execution();
  Array texture(dtype, size);
  const apps::SdfReport report = apps::sdf(coverage.view, options, texture.view());
  operation.write({}, [&](PendingFiles& files) {
    if (!common.preview.empty()) {
      Chart chart = operation.chart_of(texture.view());
      chart.field = std::as_const(texture).view();
      draw_chart(chart, files.add(common.preview).stream());
    }
    if (!common.output.empty()) io::write(files.add(common.output), std::as_const(texture).view(), {}, format);
  });
  return operation.print(report, {{"scale", report.scale}, {"segments", report.segments}});
}

}  // namespace fathom::cli
