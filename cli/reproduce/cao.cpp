// Cao, Tang, Mohamed & Tan: running times of sections 5 and 6, and Figures 4 to 14.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "fathom/apps/medial_axis.h"
#include "fathom/apps/morphology.h"
#include "fathom/apps/voronoi.h"
#include "reproduce/grids.h"

namespace fathom::cli {

namespace {

using published::Algorithm;

constexpr double kDensity = 0.11;  // "slightly above 10 %", section 5.2

struct Bands {
  int m1, m2, m3;
};

published::DistanceOptions options_of(const Machine& machine, Algorithm algorithm, Bands bands = {1, 1, 1}) {
  published::DistanceOptions options;
  options.algorithm = algorithm;
  options.m1 = bands.m1;
  options.m2 = bands.m2;
  options.m3 = bands.m3;
  options.execution = machine.execution();
  return options;
}

/// The paper's best ones for images: m3 is 16, 8, 4, 2, 1 for 512² to 8192².
Bands bands_of_image(std::int64_t n) { return {16, 16, static_cast<int>(std::clamp<std::int64_t>(8192 / n, 1, 16))}; }
/// For volumes: m1 = m3 = 1, and m2 = 2 or 4.
constexpr Bands kBandsOfVolume = {1, 2, 1};

/// PBA, JFA, SKW and Fathom on the same random sites.
struct Contest {
  std::int64_t n;
  Exact exact;
  Published pba, plain, jfa, skw;  ///< plain: PBA without bands
};

Contest contest(const Machine& machine, std::int64_t n, bool volume) {
  const Array mask = random_mask(volume ? cube(n) : square(n), kDensity);
  const Bands bands = volume ? kBandsOfVolume : bands_of_image(n);
  Contest c{n, exact_of(machine, mask), {}, {}, {}, {}};
  c.pba = published_of(mask, c.exact, options_of(machine, Algorithm::pba, bands), "PBA");
  c.plain = published_of(mask, c.exact, options_of(machine, Algorithm::pba), "PBA without bands");
  c.jfa = published_of(mask, c.exact, options_of(machine, Algorithm::jfa), "JFA");
  c.skw = published_of(mask, c.exact, options_of(machine, Algorithm::skw), "SKW");
  return c;
}

/// Figures 4 and 10: what phases take, of all of them without bands.
Figure phases_figure(const Contest& c, const Published& found, const std::string& name) {
  Figure figure{name, "elements along an axis", "% of PBA without bands", {}, true};
  for (const char* const phase : {"band sweeping", "hierarchical merging", "block colouring", "transposing"})
    figure.curves.push_back({phase, {{c.n, 100 * seconds_of(found.report.phases, phase) / c.plain.seconds}}});
  return figure;
}

/// Sections 5.3 and 5.4 of one size.
Outcome sizes(const Machine& machine, std::int64_t n, bool volume, std::optional<double> over_skw,
              std::optional<double> over_jfa) {
  const Contest c = contest(machine, n, volume);
  const std::string dimensions = volume ? "3D" : "2D", size = fmt::format("{}{}", n, volume ? "³" : "²");
  const std::string times = fmt::format("Running time in {}", dimensions),
                    ratios = fmt::format("How many times faster PBA and Fathom are, in {}", dimensions),
                    errors = fmt::format("Errors of the approximate algorithms in {}", dimensions);
  Outcome outcome;
  const auto time = [&](const char* name, const Published& found, bool own) {
    outcome.rows.push_back({times,
                            size,
                            name,
                            "ms",
                            {},
                            kMilli * found.seconds,
                            own ? std::optional(kMilli * c.exact.seconds) : std::nullopt,
                            own ? std::optional(kMilli * c.exact.copy) : std::nullopt});
  };
  time("PBA", c.pba, true);
  time("JFA", c.jfa, false);
  time("SKW", c.skw, false);
  const auto ratio = [&](const char* name, const Published& other, std::optional<double> paper, const char* note) {
    outcome.rows.push_back({ratios,
                            size,
                            fmt::format("than {}", name),
                            "×",
                            paper,
                            other.seconds / c.pba.seconds,
                            other.seconds / c.exact.seconds,
                            {},
                            paper ? note : ""});
  };
  ratio("SKW", c.skw, over_skw, "the paper: up to, on small sizes");
  ratio("JFA", c.jfa, over_jfa, "the paper: of its largest, 8192²");
  for (const auto& [name, found] : {std::pair("JFA", &c.jfa), std::pair("SKW", &c.skw)}) {
    outcome.rows.push_back({errors,
                            size,
                            fmt::format("{}, elements with a site that is not the nearest", name),
                            "%",
                            {},
                            100 * found->wrong,
                            {},
                            {}});
    outcome.rows.push_back(
        {errors, size, fmt::format("{}, largest error of a distance", name), "elements", {}, found->largest, {}, {}});
  }
  const std::string axis = "elements along an axis";
  const auto point = [&](double value) { return std::vector{std::pair(static_cast<double>(n), value)}; };
  outcome.figures = {
      {volume ? "Figure 9 (a): running time in 3D" : "Figure 7 (a): running time in 2D",
       axis,
       "ms",
       {{"PBA", point(kMilli * c.pba.seconds)},
        {"JFA", point(kMilli * c.jfa.seconds)},
        {"SKW", point(kMilli * c.skw.seconds)},
        {"Fathom", point(kMilli * c.exact.seconds)},
        {"copying", point(kMilli * c.exact.copy)}},
       true,
       true},
      {volume ? "Figure 9 (b): frame rates, SKW = 1" : "Figure 7 (b): frame rates, SKW = 1",
       axis,
       "times SKW’s",
       {{"PBA", point(c.skw.seconds / c.pba.seconds)},
        {"JFA", point(c.skw.seconds / c.jfa.seconds)},
        {"SKW", point(1)},
        {"Fathom", point(c.skw.seconds / c.exact.seconds)}},
       true,
       true},
      phases_figure(c, c.plain,
                    volume ? "Figure 10: phases in 3D, m1 = m2 = m3 = 1" : "Figure 4: phases in 2D, m1 = m2 = m3 = 1"),
      phases_figure(c, c.pba, volume ? "Figure 10: phases in 3D, optimized" : "Figure 4: phases in 2D, optimized")};
  return outcome;
}

/// Figure 5: phase 2 by its number of bands.
Outcome merging(const Machine& machine, const std::vector<std::int64_t>& sizes) {
  Figure figure{"Figure 5: phase 2 by its bands m2", "m2", "times as fast as one band", {}, true};
  for (const std::int64_t n : sizes) {
    const Array mask = random_mask(square(n), kDensity);
    const Exact exact = exact_of(machine, mask);
    Curve curve{fmt::format("{}²", n), {}};
    double one = 0;
    for (int m2 = 1; m2 <= 64; m2 *= 2) {
      const Published found = published_of(mask, exact, options_of(machine, Algorithm::pba, {16, m2, 4}), "PBA");
      const double seconds = seconds_of(found.report.phases, "hierarchical merging");
      if (m2 == 1) one = seconds;
      curve.points.emplace_back(m2, one / seconds);
    }
    figure.curves.push_back(std::move(curve));
  }
  return {{}, {std::move(figure)}, {}};
}

/// Figure 8: speed-up against the number of processors.
Outcome processors(const Machine& machine, const std::vector<std::int64_t>& sizes) {
  if (!machine.device)
    return {{}, {}, {"Figure 8: not reproduced; it needs a CUDA device, whose multiprocessors it limits."}};
  Figure figure{
      "Figure 8: speed-up of PBA by multiprocessors", "multiprocessors", "times as fast as the fewest", {}, true, true};
  const int all = describe_device(current_device()).multiprocessors;
  try {
    for (const std::int64_t n : sizes) {
      const Array mask = random_mask(square(n), kDensity);
      const Exact exact = exact_of(machine, mask);
      Curve curve{fmt::format("{}²", n), {}};
      double first = 0;
      for (int count = 8; count <= all; count = count < all ? std::min(2 * count, all) : all + 1) {
        double seconds = 0;
        const int had = on_multiprocessors(count, [&] {
          seconds = published_of(mask, exact, options_of(machine, Algorithm::pba, bands_of_image(n)), "PBA").seconds;
        });
        if (first == 0) first = seconds;
        curve.points.emplace_back(had, first / seconds);
      }
      figure.curves.push_back(std::move(curve));
    }
  } catch (const DeviceError& error) {
    return {{}, {}, {fmt::format("Figure 8: not reproduced; {}.", error.what())}};
  }
  return {{}, {std::move(figure)}, {}};
}

/// Figure 6: densities of sites.
Outcome densities(const Machine& machine, std::int64_t n) {
  Curve pba{"PBA", {}}, own{"Fathom", {}};
  for (const double percent : {0.01, 0.1, 1.0, 10.0, 30.0, 50.0, 70.0, 90.0, 99.0}) {
    const Array mask = random_mask(square(n), percent / 100);
    const Exact exact = exact_of(machine, mask);
    pba.points.emplace_back(
        percent,
        kMilli * published_of(mask, exact, options_of(machine, Algorithm::pba, bands_of_image(n)), "PBA").seconds);
    own.points.emplace_back(percent, kMilli * exact.seconds);
  }
  return {{}, {{fmt::format("Figure 6: densities of sites, {}²", n), "sites, %", "ms", {pba, own}, false, true}}, {}};
}

/// Seconds of Fathom's Voronoi regions with their weighted sums.
double voronoi_seconds(const Machine& machine, std::int64_t n, double density) {
  const Array sites = make_mask(square(n), [=](double random, std::int64_t) { return random >= density; });
  Array weights(DType::uint8, square(n));
  for (std::int64_t k = 0; k < weights.size(); ++k)
    weights.as<std::uint8_t>().data()[k] = static_cast<std::uint8_t>(1 + (k % n + k / n) * 254 / (2 * n));
  apps::VoronoiOptions options;
  if (!machine.device) return median_seconds([&] { apps::voronoi(sites.view(), weights.view(), options); }, 3);
  const DeviceArray sites_there(sites.view()), weights_there(weights.view());
  return median_seconds([&] {
    apps::voronoi(AnyConstDeviceView(sites_there.view()), AnyConstDeviceView(weights_there.view()), options);
  });
}

/// Figure 12: an iteration of weighted centroids.
Outcome centroids(const Machine& machine, const std::vector<std::int64_t>& sizes) {
  Figure by_density{fmt::format("Figure 12 (a): weighted centroids by density, {}²", sizes.back()),
                    "sites, %",
                    "ms",
                    {{"Fathom", {}}},
                    true,
                    true,
                    "Fathom’s own; PBA’s centroids are not among the published algorithms."},
      by_size{"Figure 12 (b): weighted centroids by size, 1 % sites",
              "elements along an axis",
              "ms",
              {{"Fathom", {}}},
              true,
              true,
              by_density.note};
  for (const double percent : {0.01, 0.1, 1.0, 10.0, 50.0})
    by_density.curves[0].points.emplace_back(percent, kMilli * voronoi_seconds(machine, sizes.back(), percent / 100));
  for (const std::int64_t n : sizes)
    by_size.curves[0].points.emplace_back(n, kMilli * voronoi_seconds(machine, n, 0.01));
  return {{}, {std::move(by_density), std::move(by_size)}, {}};
}

/// Blobs with fine bumps: what stands for the paper's picture and head. 1 inside.
Array blobs(const Shape& shape, double crack) {
  const auto n = static_cast<double>(shape.back());
  const std::int64_t width = shape.back();
  return make_mask(shape, [&, n](double random, std::int64_t index) {
    const double x = static_cast<double>(index % width) / n, y = static_cast<double>(index / width % width) / n,
                 z = static_cast<double>(index / width / width) / n;
    const double field = std::sin(9 * x + 2 * std::sin(5 * y)) + std::cos(8 * y + 3 * z) + std::sin(7 * z + 4 * x) +
                         0.1 * std::sin(60 * (x - y));
    return field < 0.3 || random < crack;
  });
}

/// Section 6.2: skeletons a second.
Outcome skeleton(const Machine& machine, std::int64_t n) {
  const Array image = blobs(square(n), 0);
  const Exact exact = exact_of(machine, image);
  apps::MedialAxisOptions options;
  Array axis(DType::uint8, image.shape()), nearest(DType::int32, image.shape());
  apps::medial_axis(image.view(), options, {axis.view(), {}, nearest.view(), {}});
  const Published pba = published_of(image, exact, options_of(machine, Algorithm::pba, bands_of_image(n)), "PBA");
  double own = 0, rest = 0;
  if (machine.device) {
    const DeviceArray there(image.view()), axis_there(DType::uint8, image.shape()), nearest_there(nearest.view());
    own = median_device_seconds([&](Stream stream) {
      apps::medial_axis(AnyConstDeviceView(there.view()), options, {axis_there.view(), {}, {}, {}}, stream);
    });
    check_equal(axis_there.to_host().view(), axis.view(), "the medial axis on the device");
    rest = median_device_seconds([&](Stream stream) {
      apps::medial_axis_of_nearest(AnyConstDeviceView(nearest_there.view()), options, {axis_there.view(), {}, {}, {}},
                                   stream);
    });
  } else {
    own = median_seconds([&] { apps::medial_axis(image.view(), options, {axis.view(), {}, {}, {}}); });
    rest = median_seconds([&] { apps::medial_axis_of_nearest(nearest.view(), options, {axis.view(), {}, {}, {}}); });
  }
  return {{{"Section 6.2: integer medial axis", fmt::format("{}²", n), "", "frames per second", 300,
            1 / (pba.seconds + rest), 1 / own, 1 / copy_seconds(machine, axis.bytes()),
            "the paper: more than, of 1024²; published: PBA, and then Fathom’s axis of nearest sites"}},
          {},
          {}};
}

/// Section 6.3: a closing of a volume, which is a distance transform, a threshold, and both again.
Outcome closing(const Machine& machine, std::int64_t n) {
  const Array volume = blobs(cube(n), 0.02);
  Outcome outcome;
  for (const int radius : {5, 10}) {
    apps::MorphologyOptions options;
    options.size = radius;
    Array closed(DType::uint8, volume.shape()), object(DType::uint8, volume.shape());
    apps::morphology(volume.view(), options, closed.view());
    const double own = [&] {
      if (!machine.device) return median_seconds([&] { apps::morphology(volume.view(), options, closed.view()); }, 3);
      const DeviceArray there(volume.view()), out(DType::uint8, volume.shape());
      const double seconds = median_device_seconds(
          [&](Stream stream) { apps::morphology(AnyConstDeviceView(there.view()), options, out.view(), stream); });
      check_equal(out.to_host().view(), closed.view(), "a closing on the device");
      return seconds;
    }();
    std::array<double, 2> others{};  // PBA, JFA
    std::size_t at = 0;
    for (const Algorithm algorithm : {Algorithm::pba, Algorithm::jfa}) {
      published::DistanceOptions pass = options_of(machine, algorithm, kBandsOfVolume);
      pass.sites.rule = grid::Sites::Rule::nonzero;
      Array distances(DType::float32, volume.shape());
      const auto dilated = published::distance_transform(volume.view(), pass, {distances.view(), {}});
      for (std::int64_t k = 0; k < object.size(); ++k)
        object.as<std::uint8_t>().data()[k] = distances.as<float>().data()[k] <= static_cast<float>(radius) ? 1 : 0;
      pass.sites.rule = grid::Sites::Rule::zero;
      const auto eroded = published::distance_transform(object.view(), pass, {distances.view(), {}});
      for (std::int64_t k = 0; k < object.size(); ++k)
        object.as<std::uint8_t>().data()[k] = distances.as<float>().data()[k] > static_cast<float>(radius) ? 1 : 0;
      others[at++] = sum_of(dilated.phases) + sum_of(eroded.phases);
      if (algorithm == Algorithm::pba) check_equal(object.view(), closed.view(), "a closing by PBA");
    }
    const std::string table = "Section 6.3: closings of a volume", size = fmt::format("{}³, {} voxels", n, radius);
    outcome.rows.push_back({table,
                            size,
                            "PBA",
                            "frames per second",
                            5,
                            1 / others[0],
                            1 / own,
                            {},
                            "the paper: 5 to 6, of 256³ with rendering; here without"});
    outcome.rows.push_back({table,
                            size,
                            "JFA",
                            "frames per second",
                            3,
                            1 / others[1],
                            {},
                            {},
                            "the paper: approximate ones, at most 2 to 3"});
  }
  return outcome;
}

}  // namespace

Study cao_study(const Machine& machine) {
  Study study;
  study.paper = {"cao", "Parallel Banding Algorithm to Compute Exact Distance Transform with the GPU",
                 "Thanh-Tung Cao, Ke Tang, Anis Mohamed, Tiow-Seng Tan", "2010",
                 "GeForce GTX280 in 2D, Tesla C1060 in 3D, 8800GTX for Figure 8; CPU: Intel Core2 Quad Q6600"};
  study.replaced = {
      "The pictures of Figures 13 and 14, of which one is the UNC CT head: blobs with bumps, and for the closing "
      "with holes in them."};
  const auto pick = [&](std::vector<std::int64_t> quick, std::vector<std::int64_t> cpu,
                        std::vector<std::int64_t> device) {
    return machine.quick ? quick : machine.device ? device : cpu;
  };
  const auto images = pick({256, 512}, {512, 1024, 2048}, {512, 1024, 2048, 4096, 8192});
  const auto volumes = pick({32, 48}, {64, 96, 128}, {64, 128, 256, 512});
  const auto add = [&](std::string name, double weight, std::function<Outcome()> run) {
    study.steps.push_back({std::move(name), weight, std::move(run)});
  };
  for (const bool volume : {false, true})
    for (const std::int64_t n : volume ? volumes : images)
      add(fmt::format("{}{}", n, volume ? "³" : "²"),
          0.5 + static_cast<double>(volume ? n * n * n : n * n) * (machine.device ? 2e-7 : 6e-6), [=] {
            const bool smallest = !volume && n == images.front(), largest = !volume && n == images.back();
            return sizes(machine, n, volume, smallest ? std::optional(9.0) : std::nullopt,
                         largest ? std::optional(6.0) : std::nullopt);
          });
  const auto merged = pick({512}, {512, 1024}, {512, 1024, 2048, 4096});
  add("bands", machine.quick ? 2 : 8, [=] { return merging(machine, merged); });
  add("densities", machine.quick ? 3 : 8, [=] { return densities(machine, machine.quick ? 512 : 1024); });
  const auto limited = pick({1024}, {}, {1024, 4096});
  add("processors", machine.device ? 2 : 0.1, [=] { return processors(machine, limited); });
  const auto centred = pick({256, 512}, {256, 512, 1024}, {512, 1024, 2048, 4096});
  add("centroids", 2, [=] { return centroids(machine, centred); });
  add("skeleton", 1, [=] { return skeleton(machine, machine.quick ? 512 : 1024); });
  add("closings", machine.quick ? 2 : 10, [=] {
    return closing(machine, machine.quick ? 48 : machine.device ? 256 : 128);
  });
  return study;
}

}  // namespace fathom::cli
