#include "thickness.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "fathom/apps/local_thickness.h"
#include "options.h"

namespace fathom::cli {

namespace {

constexpr const char* kExamples = R"(Examples:
  fathom thickness bone.nii.gz -o thickness.nii.gz --threshold 1200 --distribution thickness.csv
      diameter of the largest ball inside what is not less than 1200 around each element, and how much is how thick
  fathom thickness pores.tif -o pores_thickness.npy --spacing 0.005 --preview pores.png
      in millimetres, and a chart
  fathom thickness pores.npy -o invaded.npy --inlets faces --distribution curve.csv
      of balls that come in through the faces: porosimetry

A distribution is a CSV file with a line per thickness: elements of this thickness, their size in units of the spacing,
their share of the object, and the share of all that is at least so thick.
Exit codes: 0 done, 2 usage, 3 data or files, 4 device, 70 internal.)";

/// Elements by thickness, the thickest first.
using Distribution = std::map<double, std::int64_t, std::greater<>>;

template <class Float>
Distribution distribution_of(const Float* thickness, std::int64_t size, std::int64_t object) {
  Distribution distribution;
  std::int64_t thick = 0;
  for (std::int64_t i = 0; i < size;) {  // neighbours are often alike
    const Float value = thickness[i];
    std::int64_t end = i + 1;
    while (end < size && thickness[end] == value) ++end;
    if (value > 0) {
      distribution[static_cast<double>(value)] += end - i;
      thick += end - i;
    }
    i = end;
  }
  if (thick < object) distribution[0] = object - thick;  // where no ball gets
  return distribution;
}

struct Summary {
  double mean = 0, deviation = 0, largest = 0;
};

/// Of what is not 0 thick; without background the thickness is infinite, which has no deviation.
Summary summary_of(const Distribution& distribution) {
  double count = 0, sum = 0, squares = 0;
  for (const auto& [thickness, elements] : distribution) {
    if (thickness == 0) continue;
    count += static_cast<double>(elements);
    sum += thickness * static_cast<double>(elements);
  }
  if (count == 0) return {};
  const double mean = sum / count;
  if (std::isinf(mean)) return {mean, 0, mean};
  for (const auto& [thickness, elements] : distribution)
    if (thickness > 0) squares += (thickness - mean) * (thickness - mean) * static_cast<double>(elements);
  return {mean, std::sqrt(squares / count), distribution.begin()->first};
}

/// @param element  size of one
/// @param digits   that the output's type has
void write_distribution(const Distribution& distribution, double element, int digits, std::FILE* file) {
  std::int64_t object = 0, so_far = 0;
  for (const auto& [thickness, elements] : distribution) object += elements;
  fmt::print(file, "thickness,elements,size,share,share_at_least\n");
  for (const auto& [thickness, elements] : distribution) {
    so_far += elements;
    fmt::print(file, "{:.{}g},{},{},{:.9g},{:.9g}\n", thickness, digits, elements,
               static_cast<double>(elements) * element, static_cast<double>(elements) / static_cast<double>(object),
               static_cast<double>(so_far) / static_cast<double>(object));
  }
}

/// @throws InvalidArgument, IoError
Arranged read_inlets(const ThicknessArguments& a, const Shape& shape) {
  InputArguments file = a.input;
  file.path = a.inlets;
  const Input input = probe_input(file, io::Colours::packed);
  if (!(input.shape() == shape))
    throw InvalidArgument(fmt::format("--inlets {} has the shape {}; it must have {}, as the input", a.inlets,
                                      to_string(input.shape()), to_string(shape)));
  return read_elements(input);
}

}  // namespace

int run_thickness(const ThicknessArguments& a) {
  if (!a.distribution.empty() && a.distribution != "-" && !a.distribution.ends_with(".csv"))
    throw InvalidArgument(fmt::format("--distribution takes the name of a .csv file, not '{}'", a.distribution));
  Operation operation("thickness", a, colours_of(a));
  const Input& input = operation.input();
  const Shape shape = input.shape();
  const DType dtype = parse_distance_dtype(a.dtype);
  apps::LocalThicknessOptions options;
  options.spacing = operation.spacing();
  options.batch_axes = input.batch_axes;
  options.execution.backend = operation.execution().backend;
  options.from_faces = a.inlets == "faces";
  const bool from_file = !a.inlets.empty() && !options.from_faces;
  if (from_file) options.inlets = AnyConstView(nullptr, DType::uint8, shape);
  const char* content = a.inlets.empty() ? "local thickness" : "porosimetry";
  operation.add({.option = "-o", .path = a.output, .content = content, .dtype = dtype, .shape = shape});
  operation.add(
      {.option = "--distribution", .path = a.distribution, .content = "distribution", .shape = {}, .is_array = false});
  if (!a.inlets.empty()) operation.settings["inlets"] = a.inlets;
  const auto scratch = [&](int threads) {
    options.execution.threads = threads;
    return apps::scratch_bytes(operation.unread(), options, AnyView(nullptr, dtype, shape));
  };
  const auto elements = static_cast<std::size_t>(element_count(shape));
  operation.fit(scratch(operation.execution().threads), scratch(1),
                operation.object_bytes() + (from_file ? elements : 0));
  if (a.plan) return operation.print_plan();

  const Arranged image = operation.read_object();
  Arranged inlets;
  if (from_file) options.inlets = (inlets = read_inlets(a, shape)).view;
  Array out(dtype, shape);
  operation.begin("computing");
  options.execution = operation.execution();
  const apps::LocalThicknessReport report = apps::local_thickness(image.view, options, out.view());
  const std::int64_t object = grid::count_sites(image.view, {grid::Sites::Rule::nonzero});
  const Distribution distribution = dtype == DType::float32
                                        ? distribution_of(out.as<float>().data(), out.size(), object)
                                        : distribution_of(out.as<double>().data(), out.size(), object);
  const Summary summary = summary_of(distribution);
  double element = 1;
  for (double spacing : operation.spacing()) element *= spacing;
  operation.write({out.view(), {}}, [&](PendingFiles& files) {
    if (!a.distribution.empty())
      write_distribution(distribution, element, dtype == DType::float32 ? 9 : 17, files.add(a.distribution).stream());
    if (a.preview.empty()) return;
    Chart chart = operation.chart_of(out.view());
    if (chart.title.empty()) chart.title = a.inlets.empty() ? "Local thickness" : "Porosimetry";
    chart.zero = a.inlets.empty() ? "background" : "background, and where no ball gets";
    chart.none = "no background";
    draw_chart(chart, files.add(a.preview).stream());
  });
  return operation.print(
      report,
      {{"object", object},
       {"mean", json_number(summary.mean)},
       {"standard_deviation", std::isinf(summary.mean) ? Json(nullptr) : Json(summary.deviation)},
       {"largest", json_number(summary.largest)},
       {"values", distribution.size()}},
      std::isinf(summary.mean)
          ? fmt::format("thickness of {} elements: infinite, for there is no background\n", object)
          : fmt::format("thickness of {} elements: mean {:.6g}, standard deviation {:.6g}, largest {:.6g}\n", object,
                        summary.mean, summary.deviation, summary.largest));
}

Work declare_thickness(CLI::App* verb) {
  const auto arguments = std::make_shared<ThicknessArguments>();
  ThicknessArguments& a = *arguments;
  verb->footer(kExamples);
  declare_image(verb, "MASK", "Image or volume; the object is what is not 0", "the thickness", a);
  declare_threshold(verb, a);
  verb->add_option("--dtype", a.dtype, "float32 (default) or float64");
  verb->add_option("--inlets", a.inlets,
                   "Porosimetry: balls come from there, from element to element across faces: faces, or a file of the "
                   "input's shape that is not 0 there");
  verb->add_option("--distribution", a.distribution, "CSV file for how much is how thick");
  declare_preview(verb, "the thickness", a);
  declare_work(verb, a);
  return [arguments] { return run_thickness(*arguments); };
}

}  // namespace fathom::cli
