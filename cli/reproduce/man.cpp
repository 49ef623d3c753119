// Man, Uda, Ito & Nakano: Table 1, and the densities of Figures 19 to 22.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "reproduce/grids.h"

namespace fathom::cli {

namespace {

using published::Access;

published::DistanceOptions proximate(const Machine& machine, Access access) {
  published::DistanceOptions options;
  options.algorithm = published::Algorithm::proximate;
  options.access = access;
  options.execution = machine.execution();
  return options;
}

/// The sequential algorithm: on the CPU, which takes HV-HV, by k threads.
published::DistanceOptions sequential(int threads) {
  published::DistanceOptions options = proximate({}, Access::hv_hv);
  options.execution.threads = threads;
  return options;
}

/// Rings and shades as of a photo, by dots: what stands for Lenna.
Array photo_mask(std::int64_t n) {
  return make_mask(square(n), [n](double random, std::int64_t index) {
    const double x = static_cast<double>(index % n) / static_cast<double>(n) - 0.5,
                 y = static_cast<double>(index / n) / static_cast<double>(n) - 0.5;
    const double tone = 0.5 + 0.3 * std::sin(9 * x + 3 * std::sin(7 * y)) + 0.2 * std::cos(40 * std::hypot(x, y));
    return random < std::clamp(tone, 0.0, 1.0);
  });
}

/// Three times of the paper: steps 1 and 2, and both.
using Steps = std::array<double, 3>;
constexpr std::array<const char*, 3> kSteps = {"Step 1", "Step 2", "Total"};

struct PaperDevice {
  const char* name;
  Steps vh, vh_speedup, vtv, vtv_speedup;
  double with_transfer;
};
constexpr Steps kPaperCpu = {3956, 7205, 11161};
constexpr PaperDevice kPaperDevices[] = {
    {"Table 1 (a), Tesla C1060", {147, 621, 768}, {26.9, 11.6, 14.5}, {39, 508, 547}, {101.4, 14.7, 20.4}, 10},
    {"Table 1 (b), GTX 480", {90, 273, 363}, {43.9, 26.3, 30.7}, {20, 221, 241}, {197.8, 35.4, 46.0}, 30},
    {"Table 1 (c), GTX 580", {93, 238, 331}, {42.5, 30.2, 33.7}, {16, 190, 206}, {247.2, 39.1, 54.1}, 34},
};

Steps steps_of(const Published& found) {
  return {kMilli * seconds_of(found.report.phases, "step 1"), kMilli * seconds_of(found.report.phases, "step 2"),
          kMilli * found.seconds};
}

/// Milliseconds of the mask's way to the device and of the distances' way back.
double transfer_time(const Array& mask, const Exact& exact) {
  const DeviceArray distances(exact.distances.view());
  return kMilli * median_seconds(
                      [&] {
                        const DeviceArray there(mask.view());
                        distances.to_host();
                      },
                      3);
}

/// What a device takes, and with the copies there and back.
struct OnDevice {
  Steps vh, vtv;
  double fathom, copy, transfer;
};

OnDevice on_device(const Machine& machine, const Array& mask) {
  const Exact exact = exact_of(machine, mask);
  return {steps_of(published_of(mask, exact, proximate(machine, Access::vh_vh), "VH-VH")),
          steps_of(published_of(mask, exact, proximate(machine, Access::vtv_vtv), "VTV-VTV")), kMilli * exact.seconds,
          kMilli * exact.copy, transfer_time(mask, exact)};
}

/// One part of the table. @param cpu  milliseconds here @param here  nothing without a device
void add_part(const PaperDevice& there, const std::string& size, const Steps& cpu, const std::optional<OnDevice>& here,
              std::vector<Row>& rows) {
  const auto given = [&](double value) { return here ? std::optional(value) : std::nullopt; };
  const OnDevice ours = here.value_or(OnDevice{});
  const std::string times = fmt::format("{}, times, {}", there.name, size),
                    speedups = fmt::format("{}, speed-up over the CPU, {}", there.name, size);
  struct Mode {
    const char* name;
    const Steps *paper, *paper_speedup, *here;
  };
  const Mode modes[] = {{"VH-VH", &there.vh, &there.vh_speedup, &ours.vh},
                        {"VTV-VTV", &there.vtv, &there.vtv_speedup, &ours.vtv}};
  for (std::size_t k = 0; k < 3; ++k)
    for (const Mode& mode : modes)
      rows.push_back({times, kSteps[k], mode.name, "ms", (*mode.paper)[k], given((*mode.here)[k]), {}, {}});
  if (here) {
    rows.back().fathom = ours.fathom;
    rows.back().copy = ours.copy;
  }
  for (std::size_t k = 0; k < 3; ++k)
    for (const Mode& mode : modes)
      rows.push_back(
          {speedups, kSteps[k], mode.name, "×", (*mode.paper_speedup)[k], given(cpu[k] / (*mode.here)[k]), {}, {}});
  if (here) rows.back().fathom = cpu[2] / ours.fathom;
  rows.push_back({speedups, "With transfers", "VTV-VTV", "×", there.with_transfer,
                  given(cpu[2] / (ours.vtv[2] + ours.transfer)), given(cpu[2] / (ours.fathom + ours.transfer)), {},
                  "“about”, in the text"});
}

Outcome table(const Machine& machine, std::int64_t n) {
  const Array mask = photo_mask(n);
  Machine host = machine;
  host.device = false;
  const Exact exact = exact_of(host, mask);
  const Steps cpu = steps_of(published_of(mask, exact, sequential(1), "the sequential algorithm"));
  const std::string size = n == 9216 ? "9216²" : fmt::format("{}² (the paper: 9216²)", n);
  Outcome outcome;
  for (std::size_t k = 0; k < 3; ++k)
    outcome.rows.push_back(
        {"Table 1, one thread of the CPU, HV-HV, " + size, kSteps[k], "", "ms", kPaperCpu[k], cpu[k], {}, {}});
  outcome.rows.back().fathom = kMilli * exact.seconds;
  outcome.rows.back().copy = kMilli * exact.copy;
  outcome.rows.back().note = fmt::format("Fathom and copying: {} threads", machine.threads);
  std::optional<OnDevice> here;
  if (machine.device) here = on_device(machine, mask);
  else
    outcome.left_out.push_back(
        "Table 1 (a) to (c): VH-VH and VTV-VTV are ways of a device to its memory; they need a CUDA device.");
  for (const PaperDevice& there : kPaperDevices) add_part(there, size, cpu, here, outcome.rows);
  return outcome;
}

/// The modes of Figure 14, which the paper compares by words.
Outcome access_modes(const Machine& machine, std::int64_t n) {
  constexpr std::array<std::pair<Access, const char*>, 5> kModes = {{{Access::vv_hh, "VV-HH"},
                                                                     {Access::hh_vv, "HH-VV"},
                                                                     {Access::hv_hv, "HV-HV"},
                                                                     {Access::vh_vh, "VH-VH"},
                                                                     {Access::vtv_vtv, "VTV-VTV"}}};
  if (!machine.device) return {{}, {}, {"The access modes beside one another (Figure 14): they need a CUDA device."}};
  const Array mask = photo_mask(n);
  const Exact exact = exact_of(machine, mask);
  Outcome outcome;
  for (const auto& [access, name] : kModes)
    outcome.rows.push_back({fmt::format("Access modes of Figure 14, {}²", n),
                            name,
                            "total",
                            "ms",
                            {},
                            kMilli * published_of(mask, exact, proximate(machine, access), name).seconds,
                            kMilli * exact.seconds,
                            kMilli * exact.copy});
  return outcome;
}

/// Corollary 3.2: k processors take the time of one divided by k.
Outcome threads(const Machine& machine, std::int64_t n) {
  const Array mask = random_mask(square(n), 0.1);
  Machine host = machine;
  host.device = false;
  const Exact exact = exact_of(host, mask);
  Curve curve{"HV-HV", {}};
  double one = 0;
  for (int k = 1;; k = std::min(2 * k, machine.threads)) {
    const double seconds = published_of(mask, exact, sequential(k), "the sequential algorithm").seconds;
    if (k == 1) one = seconds;
    curve.points.emplace_back(k, one / seconds);
    if (k == machine.threads) break;
  }
  return {{},
          {{fmt::format("Corollary 3.2: k threads of the CPU, {}²", n), "threads", "times as fast as one", {curve}}},
          {}};
}

/// Everything that depends on how many pixels are black.
Outcome densities(const Machine& machine, std::int64_t n) {
  Curve vh{"VH-VH", {}}, vtv{"VTV-VTV", {}}, cpu{"HV-HV, one thread", {}}, own{"Fathom", {}}, speedup{"VTV-VTV", {}};
  double worst = 0, worst_density = 0, least_speedup = HUGE_VAL, own_speedup = HUGE_VAL;
  for (const int percent : {0, 5, 10, 20, 30, 40, 50, 60, 80, 100}) {
    const Array mask = random_mask(square(n), percent / 100.0);
    const Exact exact = exact_of(machine, mask);
    own.points.emplace_back(percent, kMilli * exact.seconds);
    const Published host = published_of(mask, exact, sequential(1), "the sequential algorithm");
    cpu.points.emplace_back(percent, kMilli * host.seconds);
    if (!machine.device) continue;
    const Published columns = published_of(mask, exact, proximate(machine, Access::vh_vh), "VH-VH"),
                    turned = published_of(mask, exact, proximate(machine, Access::vtv_vtv), "VTV-VTV");
    vh.points.emplace_back(percent, kMilli * columns.seconds);
    vtv.points.emplace_back(percent, kMilli * turned.seconds);
    speedup.points.emplace_back(percent, host.seconds / turned.seconds);
    least_speedup = std::min(least_speedup, host.seconds / turned.seconds);
    own_speedup = std::min(own_speedup, host.seconds / exact.seconds);
    if (turned.seconds > worst) worst = turned.seconds, worst_density = percent;
  }
  Outcome outcome;
  const std::string size = fmt::format("{}²", n), density = "black pixels, %";
  if (machine.device) {
    outcome.rows = {{"Section 7, random pixels, " + size,
                     "Density of the worst time",
                     "VTV-VTV",
                     "%",
                     40,
                     worst_density,
                     {},
                     {},
                     "“close to about 40 %”"},
                    {"Section 7, random pixels, " + size,
                     "Least speed-up over the CPU",
                     "VTV-VTV",
                     "×",
                     40,
                     least_speedup,
                     own_speedup,
                     {},
                     "“at least 40 times”"}};
    outcome.figures.push_back({"Figure 19: access modes, " + size, density, "ms", {vh, vtv, own}, false, true});
    outcome.figures.push_back({"Figure 21: speed-up over the CPU, " + size, density, "×", {speedup}});
    own.name = "Fathom, on the device";
  } else {
    outcome.left_out.push_back(
        "Figures 19 and 21, the density of the worst time and the least speed-up: they need a CUDA device.");
    own.name = fmt::format("Fathom, {} threads", machine.threads);
  }
  outcome.figures.push_back({"Figure 20: the CPU, " + size, density, "ms", {cpu, own}, false, true});
  return outcome;
}

/// Figure 22: sites in even rows and columns are the worst for a device's memory.
Outcome uniform(const Machine& machine, std::int64_t n) {
  Outcome outcome;
  const published::DistanceOptions options = machine.device ? proximate(machine, Access::vtv_vtv) : sequential(1);
  for (const bool even : {false, true}) {
    const Array mask = even ? uniform_mask(n) : random_mask(square(n), 0.1);
    const Exact exact = exact_of(machine, mask);
    outcome.rows.push_back(
        {fmt::format("Figure 22: uniform pixels, {}, {}²", machine.device ? "VTV-VTV" : "HV-HV, one thread", n),
         even ? "10 % uniform" : "10 % at random",
         "",
         "ms",
         {},
         kMilli * published_of(mask, exact, options, "proximate points").seconds,
         kMilli * exact.seconds,
         kMilli * exact.copy});
  }
  return outcome;
}

}  // namespace

Study man_study(const Machine& machine) {
  const std::int64_t whole = machine.quick ? 1152 : 9216,  // the paper's
      part = machine.quick    ? 576
             : machine.device ? 4608
                              : 2304;  // where one thread takes many turns
  Study study;
  study.paper = {"man", "Accelerating Computation of Euclidean Distance Map using the GPU with Efficient Memory Access",
                 "Duhu Man, Kenji Uda, Yasuaki Ito, Koji Nakano", "2011 (as printed; it appeared in 2012)",
                 "Tesla C1060, GTX 480, GTX 580; CPU: Intel Core i7"};
  study.replaced = {
      "The binary image of Lenna (Figure 18): an image of shades and rings, half of it black, as random dots.",
      fmt::format("Random images of Figures 19 to 21: {0} × {0} in place of 9216 × 9216, since one thread of "
                  "the CPU takes part in all of them.",
                  part)};
  study.corrected = {
      "Section 4 names access by what neighbouring threads do together, section 5 by what each thread does: the "
      "vertical "
      "access of the modes is the horizontal, coalesced one of section 4. Names here are those of section 5.",
      "Step 1 in section 3 takes the least |k − i| of the black pixels b(k, j), which is along a row where pixels are "
      "(column, row), as the section has them; along the column it is |k − j| of b(i, k)."};
  study.steps = {{"Table 1", machine.quick ? 1.0 : 20, [=] { return table(machine, whole); }},
                 {"access modes", machine.device ? 15.0 : 0.1, [=] { return access_modes(machine, whole); }},
                 {"threads", machine.quick ? 0.5 : 6, [=] { return threads(machine, part); }},
                 {"densities", machine.quick ? 2.0 : 30, [=] { return densities(machine, part); }},
                 {"uniform pixels", machine.quick ? 0.5 : 3, [=] { return uniform(machine, part); }}};
  return study;
}

}  // namespace fathom::cli
