// Khan & Zahran, "Space-efficient Pointwise Computation of the Distance Transform on GPUs": table II, the numbers of
// sections III, V and VI, and figures 5 to 9.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "clock.h"
#include "fathom/core/device.h"
#include "reproduce/hare.h"
#include "reproduce/khan_points.h"
#include "reproduce/khan_rays.h"
#include "reproduce/measure.h"

namespace fathom::cli {

namespace {

constexpr std::int64_t kQueries = 1024;
constexpr int kKernels = 10, kStreams = 2;  ///< of figure 3

/// Milliseconds.
struct TableRow {
  std::int64_t sites;
  double single, multi, atomic;
};
constexpr TableRow kTableII[] = {{16384, 2.85, 0.31, 0.24},
                                 {65536, 2.99, 0.75, 0.65},
                                 {262144, 6.03, 2.62, 2.30},
                                 {16777216, 291.06, 159.55, 141.25}};

/// The paper's numbers, which stand also where they are not measured.
std::vector<Row> printed_rows(const TableRow& printed) {
  std::vector<Row> rows;
  for (const auto& [column, paper] :
       {std::pair("single kernel", printed.single), {"multi-kernel", printed.multi}, {"atomic ops.", printed.atomic}})
    rows.push_back({"Table II: 1024 queries, by sites", fmt::format("{}", printed.sites), column, "ms", paper, {}});
  return rows;
}

published::MapReduceOptions with(const Machine& machine, int kernels, int streams, bool atomic = false) {
  published::MapReduceOptions options;
  options.kernels = kernels;
  options.streams = streams;
  options.atomic = atomic;
  options.execution = machine.execution();
  return options;
}

/// Seconds that a thread of the CPU takes for so many sites: of no more than 16,384 measured, since all cost the same.
double serial_seconds(const Array& queries, std::int64_t sites) {
  const std::int64_t some = std::min<std::int64_t>(sites, 16384);
  Machine host;
  published::MapReduceOptions options = with(host, 1, 1);
  options.execution.threads = 1;
  const Array few = random_points(some, 1024, 1);
  return reduce(make_set(host, few), few, queries, options, 3).seconds * static_cast<double>(sites) /
         static_cast<double>(some);
}

/// Two devices, or one of them twice.
std::vector<int> two_devices() { return {0, device_count() > 1 ? 1 : 0}; }

/// What a number of sites adds to figures 5 and 6.
class SizeCurves {
 public:
  SizeCurves(std::int64_t sites, double serial) : sites_(static_cast<double>(sites)), serial_(serial) {}

  void add_speed(const char* name, double seconds, bool of_variants) {
    const Curve curve{name, {{sites_, serial_ / seconds}}};
    if (of_variants) speeds_of_variants_.push_back(curve);
    if (!of_variants || curve.name == kMulti) speeds_.push_back(curve);
  }
  void add_bytes(const char* name, std::size_t bytes) {
    bytes_.push_back({name, {{sites_, static_cast<double>(bytes) / 1e6}}});
  }
  std::vector<Figure> figures() const {
    const char* const over = "speed-up over one thread of the CPU";
    std::vector<Figure> all = {
        {"Figure 5 (a): speed-up by sites", "sites", over, speeds_, true, true, ""},
        {"Figure 6 (a): speed-up of variants", "sites", over, speeds_of_variants_, true, true, ""},
        {"Figure 6 (b): working set", "sites", "MB", bytes_, true, true, ""}};
    if (sites_ <= 1 << 20)
      all.push_back({"Figure 5 (b): speed-up by sites, close", "sites", over, speeds_, false, false, ""});
    return all;
  }
  static constexpr const char* kMulti = "multiple kernels";

 private:
  double sites_, serial_;
  std::vector<Curve> speeds_, speeds_of_variants_, bytes_;
};

Outcome measure_sites(const Machine& machine, std::int64_t count) {
  const Array sites = random_points(count, 1024, 1), queries = random_points(kQueries, 1024, 2);
  const auto begun = Clock::now();
  const points::SiteSet set = make_set(machine, sites);
  const double built = seconds_since(begun);
  const auto run = [&](const published::MapReduceOptions& options) { return reduce(set, sites, queries, options); };
  const Reduced single = run(with(machine, 1, 1)), multi = run(with(machine, kKernels, kStreams)),
                atomic = run(with(machine, 1, 1, true));

  SizeCurves curves(count, serial_seconds(queries, count));
  curves.add_speed("single kernel", single.seconds, true);
  curves.add_speed(SizeCurves::kMulti, multi.seconds, true);
  curves.add_speed("atomic operations", atomic.seconds, true);
  curves.add_speed("Fathom", multi.own, false);
  if (machine.device) {
    published::MapReduceOptions shared = with(machine, kKernels, kStreams);
    shared.devices = two_devices();
    curves.add_speed(
        shared.devices[1] == 0 ? "the device twice, copies of sites counted" : "two devices, copies of sites counted",
        run(shared).seconds, false);
  }
  curves.add_bytes("single kernel", single.report.intermediate_bytes);
  curves.add_bytes("10 kernels, 2 streams", multi.report.intermediate_bytes);
  if (machine.device || count <= 1 << 20) {
    const auto kernels = static_cast<int>(std::max<std::int64_t>(1, count / 1024));
    curves.add_bytes("kernels in proportion to sites, 2 streams",
                     run(with(machine, kernels, kStreams)).report.intermediate_bytes);
  }
  Outcome outcome{{}, curves.figures(), {}};
  for (const TableRow& printed : kTableII) {
    if (printed.sites != count) continue;
    outcome.rows = printed_rows(printed);
    const Reduced* const found[] = {&single, &multi, &atomic};
    for (std::size_t k = 0; k < 3; ++k) {
      outcome.rows[k].published = 1e3 * found[k]->seconds;
      outcome.rows[k].fathom = 1e3 * found[k]->own;
      outcome.rows[k].copy = 1e3 * copy_seconds(machine, found[k]->distance.bytes());
    }
    Row once{
        "Table II: Fathom's sets of sites, sorted and boxed once", fmt::format("{} sites", count), "", "ms", {}, {}};
    once.fathom = 1e3 * built;
    outcome.rows.push_back(std::move(once));
  }
  return outcome;
}

/// Section III-B: a volume of 512³ with a site in a hundred voxels. On the CPU of fewer queries, each with as much.
Outcome measure_memory(const Machine& machine) {
  const std::int64_t some = machine.device ? kQueries : kQueries / 16;
  const Array sites = random_points(1'342'178, 512, 1), queries = random_points(some, 512, 2);
  const points::SiteSet set = make_set(machine, sites);
  const auto bytes = [&](int kernels, int streams) {
    const Reduced found = reduce(set, sites, queries, with(machine, kernels, streams), 1);
    return static_cast<double>(found.report.intermediate_bytes) * static_cast<double>(kQueries / some);
  };
  const double whole = bytes(1, 1);
  const char* const table = "Section III-B: intermediate data of 1,342,178 sites, 1024 queries";
  const std::string note = fmt::format("the paper: MB{}", machine.device ? "" : "; here of 64 queries, times 16");
  const char* const share = "Section III-B: intermediate data, of one kernel's";
  return {{{table, "one kernel", "", "MiB", 40, whole / 0x1p20, {}, {}, note},
           {share, "10 kernels, 2 streams (figure 3)", "", "share", 0.2, bytes(10, 2) / whole, {}, {}, ""},
           {share, "10 kernels, 3 streams (figure 4)", "", "share", 0.3, bytes(10, 3) / whole, {}, {}, ""}},
          {},
          {}};
}

/// Section V: how two devices share the sites.
Outcome measure_shares(const Machine& machine) {
  Row row{"Section V: shares of two devices", "first : second", "", "ratio", 4, {}};
  row.note = "the paper: TITAN Black and GTX 750 Ti";
  if (!machine.device) return {{row}, {}, {"Shares of two devices (section V): takes a device."}};
  const Array sites = random_points(1 << 20, 1024, 1), queries = random_points(kQueries, 1024, 2);
  published::MapReduceOptions options = with(machine, kKernels, kStreams);
  options.devices = two_devices();
  const std::vector<double> shares = reduce(make_set(machine, sites), sites, queries, options, 1).report.shares;
  row.published = shares[0] / shares[1];
  if (options.devices[1] == 0) row.note += "; here one device twice";
  return {{row}, {}, {}};
}

/// Voxels that are not solid, each as likely as any other.
Array queries_outside(const Array& volume) {
  const Shape& shape = volume.shape();
  Array queries(DType::int32, {kQueries, 3});
  std::mt19937_64 random(3);
  for (std::int64_t q = 0; q < kQueries;) {
    std::int64_t index = 0;
    for (int k = 0; k < 3; ++k) {
      const auto at = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(shape[k]));
      queries.as<std::int32_t>().data()[3 * q + k] = static_cast<std::int32_t>(at);
      index = index * shape[k] + at;
    }
    q += volume.as<std::uint8_t>().data()[index] == 0;
  }
  return queries;
}

/// Rows in random order.
Array permuted(const Array& points) {
  Array mixed(points.dtype(), points.shape());
  std::vector<std::int64_t> order(static_cast<std::size_t>(points.shape()[0]));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(4));
  for (std::size_t i = 0; i < order.size(); ++i)
    std::copy_n(points.as<std::int32_t>().data() + 3 * order[i], 3, mixed.as<std::int32_t>().data() + 3 * i);
  return mixed;
}

/// E of section VI-A, over the queries that are no site.
double error_of(const Array& distance, const Array& exact) {
  double sum = 0;
  std::int64_t counted = 0;
  for (std::int64_t q = 0; q < exact.size(); ++q) {
    const double right = static_cast<double>(exact.as<float>().data()[q]);
    if (right == 0) continue;
    sum += std::abs(right - static_cast<double>(distance.as<float>().data()[q])) / right;
    ++counted;
  }
  return 100 * sum / static_cast<double>(counted);
}

struct Perforated {
  Curve curve;              ///< error, %, by speed-up
  double fastest = 1;       ///< speed-up whose error is below 10 %
  double error_at_two = 0;  ///< %, of every other site
};

Perforated perforate(const Machine& machine, const std::string& name, const Array& sites, const Array& queries) {
  Perforated found{{name, {}}};
  Reduced exact;
  for (const std::int64_t every : {1, 2, 3, 4, 6, 8, 12, 16, 23, 24, 32, 48, 64}) {
    published::MapReduceOptions options = with(machine, 1, 1);
    options.every = every;
    options.execution.threads = 1;  // on the CPU: of few sites, threads that wait for one another are what is measured
    Reduced one = reduce(make_set(machine, sites, every), sites, queries, options, 3);
    if (every == 1) exact = std::move(one);
    else {
      const double speed = exact.seconds / one.seconds, error = error_of(one.distance, exact.distance);
      found.curve.points.emplace_back(speed, error);
      if (error < 10) found.fastest = std::max(found.fastest, speed);
      if (every == 2) found.error_at_two = error;
    }
  }
  std::sort(found.curve.points.begin(), found.curve.points.end());
  return found;
}

Outcome measure_perforation(const Machine& machine, double part) {
  const Array volume = make_hare(part), sites = solid_voxels(volume), queries = queries_outside(volume);
  const auto side = static_cast<std::int32_t>(volume.shape()[0]);
  const Perforated in_order = perforate(machine, "in the order of memory", sites, queries),
                   mixed = perforate(machine, "in random order", permuted(sites), queries),
                   uniform =
                       perforate(machine, "uniform random sites", random_points(sites.shape()[0], side, 1), queries);
  const char* const table = "Section VI-A: perforation";
  const auto figure = [](const char* name, std::vector<Curve> curves) {
    return Figure{name, "speed-up", "error, %", std::move(curves), true, false, ""};
  };
  return {
      {{table,
        "hare, in the order of memory",
        "speed-up with an error below 10 %",
        "×",
        23,
        in_order.fastest,
        {},
        {},
        fmt::format("{} sites of {} × {} × {} voxels; the paper: fractionally over 23", sites.shape()[0],
                    volume.shape()[0], volume.shape()[1], volume.shape()[2])},
       {table, "hare, in the order of memory", "error of every other site", "%", {}, in_order.error_at_two, {}, {}, ""},
       {table,
        "hare, in random order",
        "error of every other site",
        "%",
        {},
        mixed.error_at_two,
        {},
        {},
        "the paper: very high"},
       {table,
        "uniform random sites",
        "error of every other site",
        "%",
        {},
        uniform.error_at_two,
        {},
        {},
        "the paper: similarly high"}},
      {figure("Figure 7 (a): error by speed-up, hare", {in_order.curve, mixed.curve}),
       figure("Figure 7 (b): error by speed-up, uniform random sites", {uniform.curve})},
      {}};
}

}  // namespace

Study khan_study(const Machine& machine) {
  Study study;
  study.paper = {
      "khan", "Space-efficient Pointwise Computation of the Distance Transform on GPUs", "Numair Khan, Mohamed Zahran",
      "no year printed",
      "NVIDIA GeForce GTX TITAN Black, GeForce GTX 750 Ti; speed-ups over one thread of an AMD Opteron 6272, 2.1 GHz"};
  study.replaced = {
      "The CT scan of the Stanford bunny: a hollow hare of ellipsoids in 512 × 360 × 512 voxels, as it has, or fewer, "
      "which the tables say.",
      "Sites and queries of table II and of figures 5, 6 and 9 (b), which are not said: random whole coordinates.",
      "The rays of figures 8 and 9 (a): side by side through the middles of voxels.",
  };
  study.corrected = {
      "The loops over a tile, which never advance i on the paper's pages, do.",
      "The boundary of an angle counts as inside: its cosine is taken 2⁻⁵⁰ less, which is the paper's ε.",
  };
  const std::int64_t most = machine.quick ? 1 << 18 : 1 << 24;
  const double speed = machine.device ? 1e9 : 2e8;  // sites · queries in a second, about, with what is made and copied
  for (std::int64_t sites = 1 << 12; sites <= most; sites *= 4)
    study.steps.push_back({fmt::format("{} sites", sites), 0.5 + static_cast<double>(sites * kQueries) / speed,
                           [=] { return measure_sites(machine, sites); }});
  if (machine.quick)
    study.steps.push_back(
        {"16777216 sites", 0.01, [] {
           return Outcome{printed_rows(kTableII[3]), {}, {"16,777,216 sites: takes too long for --quick."}};
         }});
  study.steps.push_back({"intermediate data", 2, [=] { return measure_memory(machine); }});
  study.steps.push_back({"shares of devices", 0.3, [=] { return measure_shares(machine); }});
  const bool on_device = machine.device && !machine.quick;
  const double part = on_device ? 1 : machine.quick ? 1.0 / 8 : 1.0 / 4;
  study.steps.push_back(
      {"perforation", machine.quick ? 3.0 : 30.0, [=] { return measure_perforation(machine, part); }});
  study.steps.push_back(
      {"rays", machine.quick ? 3.0 : 20.0, [=] {  // each step of theirs copies all sites to the device
         return measure_rays(machine, on_device ? part / 2 : part, on_device ? 128 : 32);
       }});
  const std::int64_t most_of_cones = machine.quick ? 1 << 16 : machine.device ? 1 << 22 : 1 << 18;
  for (std::int64_t sites = 1 << 12; sites <= most_of_cones; sites *= 4)
    study.steps.push_back({fmt::format("cones, {} sites", sites), 0.3 + static_cast<double>(sites * kQueries) / speed,
                           [=] { return measure_cones(machine, sites); }});
  return study;
}

}  // namespace fathom::cli
