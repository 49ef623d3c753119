#include "reproduce/khan_rays.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "reproduce/hare.h"
#include "reproduce/khan_points.h"
#include "reproduce/measure.h"

namespace fathom::cli {

namespace {

constexpr const char *kSamples = "Section VI-B: samples of a ray, mean",
                     *kTimes = "Section VI-B: all distances of rays";

/// What a ray may step by; angle < 0: the distance in all directions.
struct Stride {
  const char* name;
  double angle;
};
constexpr double kPi = std::numbers::pi;
constexpr Stride kStrides[] = {{"DT", -1},
                               {"ADT, θ = π/2", kPi / 2},
                               {"ADT, θ = π/3", kPi / 3},
                               {"ADT, θ = π/5", kPi / 5},
                               {"ADT, θ = π/10", kPi / 10},
                               {"ADT, θ = π/20", kPi / 20},
                               {"ADT, θ = ε", 0}};

/// Through the middles of voxels along the second axis, all side by side.
struct Ray {
  std::int32_t place[3];
  int samples = 0;
};

std::vector<Ray> make_rays(const Shape& shape, int side) {
  std::vector<Ray> rays;
  const auto at = [&](int axis, int k) { return static_cast<std::int32_t>((2 * k + 1) * shape[axis] / (2 * side)); };
  for (int i = 0; i < side; ++i)
    for (int k = 0; k < side; ++k) rays.push_back({{at(0, i), 0, at(2, k)}});
  return rays;
}

double mean_samples(const std::vector<Ray>& rays) {
  double sum = 0;
  for (const Ray& ray : rays) sum += ray.samples;
  return sum / static_cast<double>(rays.size());
}

/// The share of rays that take more than so many samples.
Curve distribution(const std::string& name, const std::vector<Ray>& rays) {
  int most = 0;
  for (const Ray& ray : rays) most = std::max(most, ray.samples);
  std::vector<int> with(static_cast<std::size_t>(most) + 1);
  for (const Ray& ray : rays) ++with[static_cast<std::size_t>(ray.samples)];
  Curve curve{name, {}};
  auto left = static_cast<double>(rays.size());
  for (int n = 1; n <= most; ++n) {
    left -= with[static_cast<std::size_t>(n)];
    curve.points.emplace_back(n, 100 * left / static_cast<double>(rays.size()));
  }
  return curve;
}

/// A sample at every voxel until one is solid.
std::vector<Ray> march_by_units(const Array& volume, int side) {
  std::vector<Ray> rays = make_rays(volume.shape(), side);
  const Shape& shape = volume.shape();
  for (Ray& ray : rays) {
    const auto is_solid = [&] {
      return volume.as<std::uint8_t>().data()[(ray.place[0] * shape[1] + ray.place[1]) * shape[2] + ray.place[2]] != 0;
    };
    for (; ray.place[1] < shape[1]; ++ray.place[1]) {
      ++ray.samples;
      if (is_solid()) break;
    }
  }
  return rays;
}

struct March {
  std::vector<Ray> rays;
  double published = 0, own = 0;  ///< seconds of all distances
};

/// A step goes as far as whole voxels fit into the distance, until that is 0.
March march(const Machine& machine, const points::SiteSet& set, const Array& sites, const Shape& shape, int side,
            const Stride& stride) {
  published::MapReduceOptions options;
  options.execution = machine.execution();
  constexpr double kAlong[3] = {0, 1, 0};
  if (stride.angle >= 0) {
    options.directions = HostView<const double>(kAlong, {1, 3});
    options.half_angle = stride.angle;
  }
  March march{make_rays(shape, side)};
  std::vector<Ray*> active;
  for (Ray& ray : march.rays) active.push_back(&ray);
  while (!active.empty()) {
    Array queries(DType::int32, {static_cast<std::int64_t>(active.size()), 3});
    for (std::size_t q = 0; q < active.size(); ++q)
      std::copy_n(active[q]->place, 3, queries.as<std::int32_t>().data() + 3 * q);
    const Reduced found = reduce(set, sites, queries, options, 1);
    march.published += found.seconds;
    march.own += found.own;
    std::vector<Ray*> left;
    for (std::size_t q = 0; q < active.size(); ++q) {
      Ray& ray = *active[q];
      ++ray.samples;
      const double distance = std::floor(static_cast<double>(found.distance.as<float>().data()[q]));
      if (distance == 0 || ray.place[1] + distance >= static_cast<double>(shape[1])) continue;
      ray.place[1] += static_cast<std::int32_t>(distance);
      left.push_back(&ray);
    }
    active = std::move(left);
  }
  return march;
}

}  // namespace

Outcome measure_rays(const Machine& machine, double part, int rays) {
  const Array volume = make_hare(part), sites = solid_voxels(volume);
  const points::SiteSet set = make_set(machine, sites);
  const Shape& shape = volume.shape();
  const std::string note = fmt::format("{} × {} rays into {} × {} × {} voxels, {} of them solid", rays, rays, shape[0],
                                       shape[1], shape[2], sites.shape()[0]);
  Outcome outcome;
  const std::vector<Ray> by_units = march_by_units(volume, rays);
  Figure shares{"Figure 8: samples of rays",
                "samples",
                "% of rays that take more",
                {distribution("unit steps", by_units)},
                true,
                false,
                "The paper shows a picture for each."};
  Figure means{"Figure 9 (a): samples by angle", "θ, degrees", "samples of a ray, mean", {{"ADT", {}}}};
  outcome.rows.push_back({kSamples, "unit steps", "", "samples", {}, mean_samples(by_units), {}, {}, note});
  double with_dt = 0, with_least = 0;
  for (const Stride& stride : kStrides) {
    const March found = march(machine, set, sites, shape, rays, stride);
    const double samples = mean_samples(found.rays);
    outcome.rows.push_back({kSamples, stride.name, "", "samples", {}, samples, {}, {}, ""});
    outcome.rows.push_back({kTimes, stride.name, "", "ms", {}, 1e3 * found.published, 1e3 * found.own, {}, ""});
    if (stride.angle < 0) with_dt = samples;
    else means.curves[0].points.insert(means.curves[0].points.begin(), {stride.angle * 180 / kPi, samples});
    if (stride.angle < 0 || stride.angle == 0 || stride.angle == kPi / 5)
      shares.curves.push_back(distribution(stride.name, found.rays));
    with_least = samples;
  }
  outcome.rows.push_back(
      {"Section VI-B: times fewer samples than DT", "ADT, θ = ε", "", "×", 15.89, with_dt / with_least, {}, {}, ""});
  outcome.figures = {std::move(shares), std::move(means)};
  return outcome;
}

Outcome measure_cones(const Machine& machine, std::int64_t count) {
  const Array sites = random_points(count, 512, 1), queries = random_points(1024, 512, 2);
  const points::SiteSet set = make_set(machine, sites);
  published::MapReduceOptions options;
  options.execution = machine.execution();
  const double everywhere = reduce(set, sites, queries, options).seconds;
  constexpr double kAlong[3] = {0, 1, 0};
  options.directions = HostView<const double>(kAlong, {1, 3});
  options.half_angle = kPi / 5;
  const double in_cones = reduce(set, sites, queries, options).seconds;
  return {{},
          {{"Figure 9 (b): speed-up of DT over ADT",
            "sites",
            "×",
            {{"θ = π/5", {{static_cast<double>(count), in_cones / everywhere}}}},
            true,
            false,
            ""}},
          {}};
}

}  // namespace fathom::cli
