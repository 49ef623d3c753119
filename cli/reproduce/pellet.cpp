// Pellet, "Some super-simple benchmarked GPU kernels …": the tables of cases 1 and 3, and the two times of case 2.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "fathom/core/error.h"
#include "fathom/published/tiles.h"
#include "fathom/stream/evaluator.h"
#include "fathom/stream/nodes.h"
#include "reproduce/measure.h"

namespace fathom::cli {

namespace {

using published::LatticeVariant, published::NearVariant, published::RepeatVariant, published::TilesReport;
using stream::NodeRef;

constexpr std::int64_t kSide = 10240;  ///< SIZE_GLOBAL
constexpr int kReach = 15;             ///< DISTANCE_MAX
/// Of case 2, as (y, x): copies of 100 × 100 pixels lie beside one another.
constexpr std::array<std::int64_t, 2> kU{25, 100}, kV{100, -25};

/// Pixels in the host's memory as a raster.
class HostRaster final : public RasterSource {
 public:
  explicit HostRaster(const Array& pixels) : pixels_(pixels) {}
  DType dtype() const override { return pixels_.dtype(); }
  std::int64_t height() const override { return pixels_.shape()[0]; }
  std::int64_t width() const override { return pixels_.shape()[1]; }
  void read(const Rectangle& part, const AnyView& out) const override {
    for (std::int64_t y = part.y0; y < part.y1; ++y)
      std::copy_n(pixels_.as<float>().data() + y * width() + part.x0, part.width(),
                  out.as<float>().data() + (y - part.y0) * out.strides()[0]);
  }
  Shape piece() const override { return pixels_.shape(); }
  std::size_t kept_bytes() const override { return 0; }
  std::size_t bytes_of_read() const override { return 0; }
  std::string fingerprint() const override { return "made"; }

 private:
  const Array& pixels_;
};

/// Fathom's pixels, and seconds: from array to array where the machine works, and between arrays of the host.
struct Own {
  Array pixels;
  double seconds, with_copies, copy;
};

/// @param make  the raster that is made of the input's
Own own(const Machine& machine, const Array& input, const std::function<NodeRef(NodeRef)>& make) {
  stream::EvaluatorOptions options;
  options.execution = machine.execution();
  options.execution.threads = machine.threads;
  const NodeRef root = make(stream::source(std::make_shared<HostRaster>(input), "array", "input"));
  Own result{Array(DType::float32, root->whole().shape()), 0, 0, 0};
  stream::Evaluator evaluator(root, options);
  result.with_copies = median_seconds([&] { evaluator.compute(root->whole(), result.pixels.view()); });
  result.seconds = result.with_copies;
  if (machine.device) {
    const DeviceArray there(input.view()), out(DType::float32, result.pixels.shape());
    stream::Evaluator resident(make(stream::source(stream::device_raster(there.view()), "array", "input")), options);
    const auto compute = [&](Stream stream) { resident.compute(root->whole(), out.view(), stream); };
    result.seconds = median_device_seconds(compute);
    check_equal(out.to_host().view(), std::as_const(result.pixels).view(), "Fathom on arrays of the device");
  }
  result.copy = copy_seconds(machine, result.pixels.bytes());
  return result;
}

/// The slides' "single thread used".
Machine host_of(Machine machine) {
  machine.device = false;
  machine.threads = 1;
  return machine;
}

Array image(std::int64_t height, std::int64_t width) { return Array(DType::float32, {height, width}); }

Array make_repeater(std::int64_t side) {
  Array repeater = image(side, side);
  std::mt19937_64 random(1);
  for (std::int64_t i = 0; i < repeater.size(); ++i)
    repeater.as<float>().data()[i] = 0x1p-24f * static_cast<float>(1 + (random() >> 41));
  return repeater;
}

/// White discs of a radius of 12 that may overlap and cover a seventh.
Array make_discs(std::int64_t side) {
  Array mask = image(side, side);
  std::fill_n(mask.as<float>().data(), mask.size(), 0.0f);
  constexpr std::int64_t kRadius = 12;
  std::mt19937_64 random(1);
  const auto place = [&] {
    return kRadius + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(side - 2 * kRadius));
  };
  for (std::int64_t disc = 0; disc < side * side / 3000; ++disc) {
    const std::int64_t y = place(), x = place();
    for (std::int64_t dy = -kRadius; dy <= kRadius; ++dy)
      for (std::int64_t dx = -kRadius; dx <= kRadius; ++dx)
        if (dx * dx + dy * dy <= kRadius * kRadius) mask.as<float>().data()[(y + dy) * side + x + dx] = 1;
  }
  return mask;
}

/// A published kernel's time, once its pixels are Fathom's.
/// @param call  fills the target
TilesReport checked(const Own& own, const std::string& name, const std::function<TilesReport(const AnyView&)>& call) {
  Array target(DType::float32, own.pixels.shape());
  const TilesReport report = median_report([&] { return call(target.view()); });
  check_equal(std::as_const(target).view(), own.pixels.view(), name);
  return report;
}

/// Without the copies there and back, and without what the slides do not do: clearing the target, and roots.
double kernel_of(const TilesReport& report) {
  return seconds_of(report.phases, "stitching") + seconds_of(report.phases, "squared distances");
}

/// Microseconds of a table, and beside it how many times faster than its first row that is.
class TimesTable {
 public:
  explicit TimesTable(std::string name) : name_(std::move(name)) {}

  /// @param paper   µs
  /// @param faster  "7.5x faster"; 0: not printed
  void add(const std::string& row, double paper, double faster, double published, double fathom, double copy,
           const char* note = "") {
    if (times_.empty()) first_ = published;
    times_.push_back({name_, row, "", "µs", paper, 1e6 * published, 1e6 * fathom, 1e6 * copy, note});
    if (faster > 0)
      factors_.push_back(
          {"Times faster than the first. " + name_, row, "", "×", faster, first_ / published, first_ / fathom, {}, ""});
  }
  void add_printed(const std::string& row, double paper, const std::string& note) {
    times_.push_back({name_, row, "", "µs", paper, {}, {}, {}, note});
  }
  Outcome outcome() && {
    times_.insert(times_.end(), factors_.begin(), factors_.end());
    return {std::move(times_), {}, {}};
  }

 private:
  std::string name_;
  double first_ = 0;
  std::vector<Row> times_, factors_;
};

/// Of tables whose sizes the slides print.
std::string size_text(std::int64_t side) {
  return fmt::format("{0} × {0} pixels{1}", side, side == kSide ? "" : " here, 10240 × 10240 on the slides");
}

std::function<NodeRef(NodeRef)> repeated(std::int64_t side) {
  return [=](NodeRef repeater) { return stream::repeat(std::move(repeater), side, side); };
}

Outcome measure_case_1(const Machine& machine, std::int64_t side) {
  const Array repeater = make_repeater(100);
  const Machine host = host_of(machine);
  const Own on_host = own(host, repeater, repeated(side)), here = own(machine, repeater, repeated(side));
  const auto run = [&](const char* name, RepeatVariant variant, const Machine& where) {
    return checked(here, name, [&](const AnyView& target) {
      return published::repeat(repeater.view(), variant, target, where.execution());
    });
  };
  TimesTable table(fmt::format("Case 1: a repeater of 100 × 100, {}", size_text(side)));
  const auto add_host = [&](const char* name, RepeatVariant variant, double paper, double faster,
                            const char* note = "") {
    table.add(name, paper, faster, kernel_of(run(name, variant, host)), on_host.seconds, on_host.copy, note);
  };
  add_host("Host (basic)", RepeatVariant::basic, 870'000, 0, "all of the host on one thread");
  add_host("Host (indexed)", RepeatVariant::indexed, 114'000, 7.5);
  add_host("Host (ptr increment)", RepeatVariant::pointer, 99'600, 8.7);
  add_host("Host (repeater loop)", RepeatVariant::repeater_loop, 912'000, 0, "the slides: slower");
  const TilesReport modulo = run("GPU", RepeatVariant::modulo, machine);
  if (machine.device)
    table.add("GPU – with D-H and H-D copy", 34'000, 25, sum_of(modulo.phases), here.with_copies, here.copy);
  else table.add_printed("GPU – with D-H and H-D copy", 34'000, "no device");
  const char* const twin = machine.device ? "" : "one thread; Fathom: all";
  table.add("GPU – without copy", 2'030, 430, kernel_of(modulo), here.seconds, here.copy, twin);
  table.add("GPU – smem load", 816'000, 0, kernel_of(run("GPU – smem load", RepeatVariant::shared, machine)),
            here.seconds, here.copy);
  table.add("GPU – repeater grid", 3'200, 270,
            kernel_of(run("GPU – repeater grid", RepeatVariant::repeater_grid, machine)), here.seconds, here.copy);
  return std::move(table).outcome();
}

Outcome measure_repeater(const Machine& machine, std::int64_t side, std::int64_t extent, double gpu, double grid) {
  const Array repeater = make_repeater(extent);
  const Own here = own(machine, repeater, repeated(side));
  Outcome outcome;
  for (const auto& [name, variant, paper] :
       {std::tuple("GPU", RepeatVariant::modulo, gpu), {"GPU – rep grid", RepeatVariant::repeater_grid, grid}}) {
    const TilesReport report = checked(here, name, [&, variant = variant](const AnyView& target) {
      return published::repeat(repeater.view(), variant, target, machine.execution());
    });
    outcome.rows.push_back({fmt::format("Case 1: sizes of the repeater, {}", size_text(side)),
                            fmt::format("SIZE_REPEATER = {}", extent), name, "ms", paper, 1e3 * kernel_of(report),
                            1e3 * here.seconds, 1e3 * here.copy, ""});
  }
  return outcome;
}

Outcome measure_case_2(const Machine& machine, std::int64_t side) {
  const Array repeater = make_repeater(100);
  const Own here = own(machine, repeater, [&](NodeRef pattern) {
    stream::LatticeOptions options;
    options.u = kU;
    options.v = kV;
    options.height = options.width = side;
    return stream::lattice(std::move(pattern), options);
  });
  Outcome outcome;
  for (const auto& [name, variant, paper] :
       {std::tuple("loop over target (2.3)", LatticeVariant::target_loop, std::optional<double>()),
        {"loop over UV (2.4)", LatticeVariant::uv_loop, 9.8},
        {"loop over UV, atomicExch", LatticeVariant::uv_exchange, 6.3}}) {
    const TilesReport report = checked(here, name, [&, variant = variant](const AnyView& target) {
      return published::lattice(repeater.view(), kU, kV, variant, target, machine.execution());
    });
    outcome.rows.push_back({fmt::format("Case 2: a repeater of 100 × 100, {}", size_text(side)), name, "", "ms", paper,
                            1e3 * kernel_of(report), 1e3 * here.seconds, 1e3 * here.copy, ""});
  }
  return outcome;
}

Outcome measure_case_3(const Machine& machine, std::int64_t side) {
  const Array mask = make_discs(side);
  const Own here = own(machine, mask, [](NodeRef data) { return stream::distance(std::move(data), {kReach}); });
  TimesTable table(fmt::format("Case 3: distances up to 15, {0} × {0} pixels", side));
  const auto add = [&](const char* name, NearVariant variant, double paper, double faster) {
    const TilesReport report = checked(here, name, [&](const AnyView& target) {
      return published::near(mask.view(), kReach, variant, target, machine.execution());
    });
    table.add(name, paper, faster, kernel_of(report), here.seconds, here.copy);
  };
  add("White (unoptimized)", NearVariant::white, 251'000, 0);
  table.add_printed("White (block spread)", 246'000, "the slides show no code of it");
  add("White (distance check)", NearVariant::distance_check, 125'000, 2);
  add("White (neighbour check)", NearVariant::neighbour_check, 49'000, 5);
  add("White (improved neighbour check)", NearVariant::improved, 9'800, 26);
  add("Black", NearVariant::black, 90'000, 0);
  return std::move(table).outcome();
}

}  // namespace

Study pellet_study(const Machine& machine) {
  Study study;
  study.paper = {
      "pellet",
      "Some super-simple benchmarked GPU kernels that nobody really cares about – yet are relevant for my activity",
      "Norman Pellet", "slides without a date",
      "Intel i9-9900k (single thread used), RTX 2070, Windows 10 Pro, MSVC + CUDA 10.2"};
  study.replaced = {
      "The repeaters: random values above 0.",
      "u and v of case 2, which are not said: (100, 25) and (−25, 100), so that copies do not overlap.",
      "Size and mask of case 3, which are not said: white discs of a radius of 12 that cover a seventh of the image.",
  };
  study.corrected = {
      "Case 2.4: startY has the part of u (gridV * u.y on the slide).",
      "Case 3: loops that end before +R reach it, and what lies within R counts alone.",
      "Cases 1.3 and 2.2: an index that counts along rows is advanced down columns, which turns the repeater over.",
      "Case 2.2: copies that begin before the first row or column and reach into the image count, too.",
      "Cases 2.1 and 2.3: u and v of a pixel are quotients of whole numbers, where dot products with normalized "
      "vectors find "
      "them only if u and v are perpendicular.",
  };
  const std::int64_t side = machine.quick ? 2048 : kSide, near_side = machine.device  ? side
                                                                      : machine.quick ? 512
                                                                                      : 2048;
  const double scale = machine.quick ? 0.1 : 1;
  study.steps.push_back({"case 1", 14 * scale, [=] { return measure_case_1(machine, side); }});
  for (const auto& [extent, gpu, grid] : {std::tuple(128, 2.3, 1.4), {64, 2.3, 1.8}, {32, 2.5, 7.3}, {16, 2.5, 10.1}})
    study.steps.push_back(
        {fmt::format("repeater of {}", extent), 3 * scale,
         [=, extent = extent, gpu = gpu, grid = grid] { return measure_repeater(machine, side, extent, gpu, grid); }});
  study.steps.push_back({"case 2", 5 * scale, [=] { return measure_case_2(machine, side); }});
  study.steps.push_back({"case 3", 12 * scale, [=] { return measure_case_3(machine, near_side); }});
  return study;
}

}  // namespace fathom::cli
