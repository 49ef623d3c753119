// Landgraf, "Constructing 3D Distance Fields on GPUs": tables 4.1 to 4.3, figures 3.1 to 4.4, and section 5.1.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fathom/published/band.h"
#include "reproduce/canister.h"
#include "reproduce/measure.h"

namespace fathom::cli {

namespace {

constexpr double kCutoff = 0.004;  ///< of the passes, and of all extents

/// Of tables 4.2 and 4.3. 0: not in that table.
struct Printed {
  double cutoff;
  std::int64_t extent;
  double on_device, on_disk, ratio;  ///< megabytes
  double writing, accessing;         ///< per cent
};
constexpr Printed kPrinted[] = {
    {0.001, 1000, 97.3, 323.7, 3.3, 84.50, 121.14}, {0.002, 1000, 176.4, 629.9, 3.6, 45.10, 254.62},
    {0.004, 1000, 335.3, 1242, 3.7, 23.04, 498.46}, {0.008, 1000, 654.8, 2472, 3.8, 15.56, 779.48},
    {0.016, 1000, 1161, 4414, 3.8, 5.29, 1449.70},  {0.004, 100, 0.6, 1.0, 1.7, 1008.83, 3.25},
    {0.004, 250, 6.0, 18.0, 3.0, 196.74, 45.06},    {0.004, 500, 43.4, 146.9, 3.4, 60.59, 163.41},
    {0.004, 750, 0, 0, 0, 31.93, 351.32},           {0.004, 1250, 1143, 2511, 2.2, 20.17, 766.33},
    {0.004, 1500, 1750, 4044, 2.3, 17.32, 910.09},
};

/// Table 4.1.
struct Passes {
  bool points, edges, faces;
  double size, time;  ///< per cent of all three
};
constexpr Passes kPasses[] = {
    {true, false, false, 22.87, 18.08}, {false, true, false, 90.42, 62.81}, {false, false, true, 98.37, 21.73},
    {true, true, false, 90.47, 79.60},  {true, false, true, 99.01, 37.54},  {false, true, true, 99.97, 82.92},
    {true, true, true, 100.00, 100.00},
};

Canister canister() { return make_canister(20, 0.23, 0.46); }

/// As many points along each axis, over the mesh and what is within the cutoff of it.
mesh::Lattice lattice_of(const mesh::Triangles& mesh, double cutoff, std::int64_t extent) {
  const mesh::Bounds bounds = mesh::bounds_of(mesh);
  mesh::Lattice lattice;
  for (std::size_t k = 0; k < 3; ++k) {
    lattice.origin[k] = bounds.low[k] - cutoff;
    lattice.spacing[k] = (bounds.high[k] - bounds.low[k] + 2 * cutoff) / static_cast<double>(extent - 1);
    lattice.shape[k] = extent;
  }
  return lattice;
}

mesh::TriangleSet set_of(const mesh::Triangles& mesh, const Execution& execution) {
  mesh::TriangleSetOptions options;
  options.sign = mesh::Sign::none;
  options.execution = execution;
  return mesh::TriangleSet(mesh, options);
}

/// Seconds that Fathom's band takes where the machine works, and its bytes.
struct OwnBand {
  double seconds;
  std::size_t bytes, compact;  ///< of its full and of its compact form

  /// @tparam Band  of the host's memory or a device's
  template <class Band>
  OwnBand(double seconds_of_band, const Band& band) : seconds(seconds_of_band), bytes(0) {
    const auto bytes_of = [](const auto& array) {
      return static_cast<std::size_t>(element_count(array.shape())) * size_of(array.dtype());
    };
    for (const auto* array : {&band.tiles, &band.masks, &band.distances, &band.row_inside, &band.after_inside})
      bytes += bytes_of(*array);
    const auto points = static_cast<std::size_t>(band.active), tiles = static_cast<std::size_t>(band.count());
    // Of the distances it has those of the band's points, and how many come before each tile.
    compact = bytes - bytes_of(band.distances) + points * sizeof(float) + (tiles + 1) * sizeof(std::int64_t);
  }
};

mesh::BandOptions own_options(const Machine& machine, double cutoff) {
  mesh::BandOptions options;
  options.cutoff = cutoff;
  options.execution = machine.execution();
  return options;
}

OwnBand own_band(const Machine& machine, const mesh::Triangles& mesh, const mesh::Lattice& lattice, double cutoff) {
  const mesh::BandOptions options = own_options(machine, cutoff);
  const mesh::TriangleSet set = set_of(mesh, options.execution);
  if (machine.device) {
    mesh::DeviceBand band;
    const double seconds = median_seconds([&] { band = set.device_band(lattice, options); });
    return {seconds, band};
  }
  mesh::Band band;
  const double seconds = median_seconds([&] { band = set.band(lattice, options); }, 3);
  return {seconds, band};
}

void check_bands(const mesh::Band& found, const mesh::Band& expected, const std::string& what) {
  check_equal(found.tiles.view(), expected.tiles.view(), what);
  check_equal(found.masks.view(), expected.masks.view(), what);
  check_equal(found.distances.view(), expected.distances.view(), what);
}

double passes_of(const published::BandReport& report) {
  return seconds_of(report.phases, "points") + seconds_of(report.phases, "edges") + seconds_of(report.phases, "faces");
}

/// Per cent that the first is slower than the second.
double slowdown(double seconds, double than) { return 100 * (seconds / than - 1); }

std::string label(const Printed& one) { return fmt::format("cutoff {}, extent {}", one.cutoff, one.extent); }

/// The paper's numbers of a size; the others are filled in where it is measured.
struct SizeRows {
  Row on_device, on_disk, ratio, writing, accessing;

  explicit SizeRows(const Printed& one) {
    const auto row = [&](const char* table, const char* unit, double paper) {
      return Row{table, label(one), "", unit, paper > 0 ? std::optional(paper) : std::nullopt, {}, {}, {}, ""};
    };
    on_device = row("Table 4.2: size on GPU, leaves of 8 bytes, not 4; Fathom: a compact band", "MB", one.on_device);
    on_disk = row("Table 4.2: size on disk, 16 bytes a point", "MB", one.on_disk);
    ratio = row("Table 4.2: compression", "×", one.ratio);
    writing = row("Table 4.3: writing slowdown", "%", one.writing);
    accessing = row("Table 4.3: accessing slowdown", "%", one.accessing);
  }
  void add_to(Outcome& outcome) const {
    for (const Row* row : {&on_device, &on_disk, &ratio, &writing, &accessing})
      if (row->paper || row->published) outcome.rows.push_back(*row);
  }
};

Figure figure(const char* name, const char* x, const char* y, std::vector<Curve> curves, std::string note = {}) {
  return {name, x, y, std::move(curves), false, false, std::move(note)};
}

/// How far the thesis' numbers of extents go where the machine is, and at which extent cutoffs are compared.
struct Limits {
  std::int64_t most, of_cutoffs;
};
Limits limits_of(const Machine& machine) {
  if (machine.quick) return {250, 100};
  return machine.device ? Limits{1500, 1000} : Limits{500, 250};
}

void add_figures(Outcome& outcome, const Printed& one, const Limits& limits, const std::array<double, 2>& seconds,
                 const std::array<double, 2>& bytes) {
  const auto curves = [](double x, const std::array<double, 2>& values, double unit) {
    return std::vector<Curve>{{"octree", {{x, values[0] / unit}}}, {"Fathom", {{x, values[1] / unit}}}};
  };
  if (one.extent == limits.of_cutoffs) {
    const std::string note = fmt::format("{} points along each axis; the thesis: 1000.", one.extent);
    outcome.figures.push_back(
        figure("Figure 4.1: time by cutoff", "cutoff distance", "ms", curves(one.cutoff, seconds, 1e-3), note));
    outcome.figures.push_back(
        figure("Figure 4.3: size by cutoff", "cutoff distance", "MB", curves(one.cutoff, bytes, 1e6), note));
  }
  if (one.cutoff == kCutoff) {
    const auto extent = static_cast<double>(one.extent);
    outcome.figures.push_back(
        figure("Figure 4.2: time by extent", "points along each axis", "ms", curves(extent, seconds, 1e-3)));
    outcome.figures.push_back(
        figure("Figure 4.4: size by extent", "points along each axis", "MB", curves(extent, bytes, 1e6)));
  }
}

Outcome measure_size(const Machine& machine, const Printed& one) {
  const Canister mesh = canister();
  const mesh::Lattice lattice = lattice_of(mesh.view(), one.cutoff, one.extent);
  published::BandOptions options;
  options.cutoff = one.cutoff;
  options.measure_tree = true;
  options.execution = machine.execution();
  const auto run = [&] { return published::band(mesh.view(), lattice, options); };
  if (one.extent <= (machine.device ? 500 : 100)) run();  // a first one takes longer, which is little of a large one
  options.measure_error = true;
  const published::BandResult found = run();
  const published::BandReport& report = found.report;
  const OwnBand own = own_band(machine, mesh.view(), lattice, one.cutoff);
  const double seconds = passes_of(report), compact = static_cast<double>(own.compact);
  const auto points = static_cast<double>(found.band.active),
             bytes = 32.0 * static_cast<double>(report.nodes) + 8 * points;

  Outcome outcome;
  SizeRows rows(one);
  rows.on_device.published = bytes / 1e6;
  rows.on_device.fathom = compact / 1e6;
  rows.on_disk.published = 16 * points / 1e6;
  rows.ratio.published = 16 * points / bytes;
  rows.ratio.fathom = 16 * points / compact;
  rows.writing.published = slowdown(seconds, seconds_of(report.phases, "again"));
  rows.accessing.published = slowdown(seconds, seconds_of(report.phases, "without tree"));
  rows.add_to(outcome);
  const auto add = [&](const char* table, const char* unit, double published, double fathom, std::optional<double> copy,
                       const std::string& note) {
    outcome.rows.push_back({table, label(one), "", unit, {}, published, fathom, copy, note});
  };
  add("Section 4.1: times", "ms", 1e3 * seconds, 1e3 * own.seconds, 1e3 * copy_seconds(machine, own.bytes),
      fmt::format("{:.3g} million points", points / 1e6));
  add("Section 5.1: points that are missed", "%", 100 * report.error->share, 0, {}, "");
  add("Section 5.1: distances too large by up to", "% of the cutoff", 100 * report.error->largest / one.cutoff, 0, {},
      fmt::format("at {} points", report.error->farther));
  add_figures(outcome, one, limits_of(machine), {seconds, own.seconds}, {bytes, compact});
  return outcome;
}

/// A size of the tables, or where that takes too long the thesis' numbers alone.
Step size_step(const Machine& machine, const Printed& one) {
  if (one.extent <= limits_of(machine).most) {
    const double million = std::pow(static_cast<double>(one.extent), 3) * one.cutoff / 1e6;
    return {label(one), 0.3 + (machine.device ? 1 : 25) * million, [=] { return measure_size(machine, one); }};
  }
  return {label(one), 0.01, [=] {
            Outcome outcome;
            SizeRows(one).add_to(outcome);
            outcome.left_out.push_back(
                fmt::format("{}: {}.", label(one), machine.quick ? "takes too long for --quick" : "takes a device"));
            return outcome;
          }};
}

Outcome measure_passes(const Machine& machine, std::int64_t extent) {
  const Canister mesh = canister();
  const mesh::Lattice lattice = lattice_of(mesh.view(), kCutoff, extent);
  struct Measured {
    double seconds, bytes;
  };
  const auto measure = [&](const Passes& passes) -> Measured {
    published::BandOptions options;
    options.cutoff = kCutoff;
    options.points = passes.points;
    options.edges = passes.edges;
    options.faces = passes.faces;
    options.execution = machine.execution();
    const published::BandResult found = published::band(mesh.view(), lattice, options);
    return {passes_of(found.report),
            32.0 * static_cast<double>(found.report.nodes) + 8.0 * static_cast<double>(found.band.active)};
  };
  if (machine.device) measure(kPasses[6]);  // a device's first kernels take longer
  const Measured all = measure(kPasses[6]);
  Outcome outcome;
  for (const Passes& passes : kPasses) {
    std::string name;
    for (const auto& [is_made, pass] :
         {std::pair(passes.points, "points"), {passes.edges, "edges"}, {passes.faces, "faces"}})
      if (is_made) name += fmt::format("{}{}", name.empty() ? "" : ", ", pass);
    const bool is_all = passes.points && passes.edges && passes.faces;
    const Measured one = is_all ? all : measure(passes);
    const std::string here = fmt::format("cutoff 0.004, extent {} here, 1500 in the thesis", extent);
    const auto add = [&](const char* what, double paper, double share) {
      outcome.rows.push_back(
          {fmt::format("Table 4.1: {}, {}", what, here), name, "", "%", paper, 100 * share, {}, {}, ""});
    };
    add("size", passes.size, one.bytes / all.bytes);
    add("time", passes.time, one.seconds / all.seconds);
  }
  return outcome;
}

/// An exact algorithm of chapter 1, or the octree with its faults corrected: Fathom's bytes.
Row measure_exact(const Machine& machine, published::BandAlgorithm algorithm, const char* name, std::int64_t extent) {
  const Canister mesh = canister();
  const mesh::Lattice lattice = lattice_of(mesh.view(), kCutoff, extent);
  Machine place = machine;
  place.device = machine.device && algorithm == published::BandAlgorithm::octree;
  const OwnBand own = own_band(place, mesh.view(), lattice, kCutoff);
  published::BandOptions options;
  options.algorithm = algorithm;
  options.cutoff = kCutoff;
  options.corrected = true;
  options.execution = place.execution();
  if (place.device) published::band(mesh.view(), lattice, options);  // a device's first kernels take longer
  const published::BandResult found = published::band(mesh.view(), lattice, options);
  check_bands(found.band, set_of(mesh.view(), options.execution).band(lattice, own_options(place, kCutoff)), name);
  return {"Chapters 1 and 5: exact bands, cutoff 0.004",
          fmt::format("{}, extent {}", name, extent),
          "",
          "ms",
          {},
          1e3 * sum_of(found.report.phases),
          1e3 * own.seconds,
          1e3 * copy_seconds(place, own.bytes),
          ""};
}

Outcome measure_exact(const Machine& machine) {
  using enum published::BandAlgorithm;
  Outcome outcome;
  outcome.rows.push_back(measure_exact(machine, naive, "naive (section 1.2.1), on the CPU", machine.quick ? 16 : 32));
  const std::int64_t extent = machine.quick ? 100 : 250;
  outcome.rows.push_back(measure_exact(machine, mauch, "Mauch's (section 1.2.2), on the CPU", extent));
  outcome.rows.push_back(measure_exact(machine, octree, "octree, corrected", extent));
  return outcome;
}

/// Distances that a line of the lattice through the side has, from the outer rim of the band inward.
Curve line_through(const mesh::Triangles& mesh, double cutoff, std::int64_t extent) {
  const mesh::Lattice lattice = lattice_of(mesh, cutoff, extent);
  mesh::Lattice line = lattice;
  for (const std::size_t k : {std::size_t{1}, std::size_t{2}}) {
    line.origin[k] = lattice.at(k, extent / 2);
    line.shape[k] = 1;
  }
  line.shape[0] = extent / 2;
  Array distances(DType::float64, line.array_shape());
  mesh::Outputs outputs;
  outputs.distance = distances.view();
  Execution execution;
  execution.backend = Backend::cpu;
  set_of(mesh, execution).field(line, outputs, execution);
  Curve curve{fmt::format("cutoff {}, extent {}", cutoff, extent), {}};
  for (std::int64_t i = 0; i < line.shape[0]; ++i)
    if (const double distance = distances.as<double>().data()[i]; distance <= cutoff)
      curve.points.emplace_back(1e3 * (lattice.at(0, i) - mesh::bounds_of(mesh).low[0]), 1e3 * distance);
  return curve;
}

Outcome draw_lines() {
  const Canister mesh = canister();
  Outcome outcome;
  const auto add = [&](const char* name, const std::vector<std::pair<double, std::int64_t>>& sizes) {
    Figure lines =
        figure(name, "place along x from the side inward, 1/1000", "distance, 1/1000", {},
               "The thesis shows renderings; these are Fathom's distances on a line of the lattice through the side.");
    for (const auto& [cutoff, extent] : sizes) lines.curves.push_back(line_through(mesh.view(), cutoff, extent));
    outcome.figures.push_back(std::move(lines));
  };
  add("Figure 3.1: fields of three cutoffs", {{0.001, 1000}, {0.002, 1000}, {0.004, 1000}});
  add("Figure 3.2: fields of three extents", {{0.004, 100}, {0.004, 500}, {0.004, 1500}});
  return outcome;
}

}  // namespace

Study landgraf_study(const Machine& machine) {
  Study study;
  study.paper = {"landgraf", "Constructing 3D Distance Fields on GPUs", "Joshua Landgraf", "2016",
                 "Xeon E5-2630 v2, Nvidia Tesla K20m"};
  study.replaced = {
      "Sean Mauch's canister mesh, whose scale is not said: a closed cylinder of 13,920 triangles, 0.46 wide and high, "
      "so "
      "that its bands have about as many points as the sizes on disk of table 4.2 say at 16 bytes a point, and points "
      "and "
      "edges about the shares of table 4.1.",
  };
  study.corrected = {
      "The octree misses points around the ends of edges, as section 5.1 expects: how many is a table of its own, and "
      "\"corrected\" finds them.",
  };
  const auto seconds = [&](double quick, double on_device, double on_host) {
    return machine.quick ? quick : machine.device ? on_device : on_host;
  };
  study.steps.push_back({"exact bands", seconds(2, 3, 12), [=] { return measure_exact(machine); }});
  study.steps.push_back(
      {"passes", seconds(1.5, 4, 25), [=] { return measure_passes(machine, machine.quick ? 150 : 500); }});
  for (const Printed& one : kPrinted) study.steps.push_back(size_step(machine, one));
  if (const std::int64_t extent = limits_of(machine).of_cutoffs; extent < 1000)
    for (const double cutoff : {0.001, 0.002, 0.008, 0.016})
      study.steps.push_back(size_step(machine, {cutoff, extent, 0, 0, 0, 0, 0}));
  study.steps.push_back({"lines through fields", 0.2, draw_lines});
  return study;
}

}  // namespace fathom::cli
