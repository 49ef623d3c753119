// Ways of stepping on the processor; why they are safe: safe_step.hd.h.
#include "apps/cpu/steps.h"

#include <algorithm>
#include <utility>

#include "apps/marcher.h"
#include "apps/safe_step.hd.h"
#include "fathom/grid/distance.h"
#include "fathom/points/site_set.h"

namespace fathom::apps::cpu {

namespace {

class UnitSteps : public Steps {
 public:
  void ahead(std::span<const Traveller> travellers, const RayMarchOptions&, double* lengths) const override {
    std::fill_n(lengths, travellers.size(), 0.0);
  }
  std::size_t bytes() const override { return 0; }
  std::size_t scratch_bytes() const override { return 0; }
};

class FieldSteps : public Steps {
 public:
  explicit FieldSteps(Array field) : field_(std::move(field)) {}

  void ahead(std::span<const Traveller> travellers, const RayMarchOptions&, double* lengths) const override {
    const float* field = field_.as<float>().data();
    const Shape& shape = field_.shape();
    for (const Traveller& one : travellers)
      *lengths++ = safe_step(static_cast<double>(field[(one.at[0] * shape[1] + one.at[1]) * shape[2] + one.at[2]]),
                             2 * kVoxelRadius);
  }
  std::size_t bytes() const override { return field_.bytes(); }
  std::size_t scratch_bytes() const override { return 0; }

 private:
  Array field_;
};

/// Distances to the surface's voxels: those behind it are no nearer, and no ray meets them first.
class PointSteps : public Steps {
 public:
  PointSteps(points::SiteSet sites, bool in_cone) : sites_(std::move(sites)), in_cone_(in_cone) {}

  void ahead(std::span<const Traveller> travellers, const RayMarchOptions& options, double* lengths) const override {
    const auto count = static_cast<std::int64_t>(travellers.size());
    Array queries(DType::float64, {count, 3}), directions(DType::float64, {in_cone_ ? count : 0, 3});
    double *query = queries.as<double>().data(), *direction = directions.as<double>().data();
    for (const Traveller& one : travellers)
      for (int k = 0; k < 3; ++k) {
        *query++ = one.ray.origin[k] + one.t * one.ray.direction[k];
        if (in_cone_) *direction++ = one.ray.direction[k];
      }
    points::QueryOptions query_options;
    query_options.execution.backend = Backend::cpu;
    query_options.execution.threads = 1;
    query_options.execution.instruction_set = options.execution.instruction_set;
    if (in_cone_) {
      query_options.cone.directions = directions.view();
      query_options.cone.half_angle = options.half_angle;
      query_options.cone.cylinder_radius = kVoxelRadius + kStepMargin;
    }
    points::QueryOutputs outputs;
    outputs.distance = HostView<double>(lengths, {count});
    sites_.nearest(queries.view(), query_options, outputs);
    for (double& length : std::span(lengths, travellers.size())) length = safe_step(length, kVoxelRadius);
  }
  std::size_t bytes() const override { return sites_.bytes(); }
  std::size_t scratch_bytes() const override { return 6 * sizeof(double) + 16; }  // 16: queries are put in order

 private:
  points::SiteSet sites_;
  bool in_cone_;
};

grid::DistanceOptions field_options(const RayMarcherOptions& options) {
  using Rule = grid::Sites::Rule;
  grid::DistanceOptions distance;
  distance.sites =
      options.threshold ? grid::Sites{Rule::greater_equal, *options.threshold} : grid::Sites{Rule::nonzero, 0};
  distance.execution = options.execution;
  return distance;
}

std::size_t steps_bytes(const AnyConstView& volume, const RayMarcherOptions& options, std::int64_t surface) {
  if (options.stepping == Stepping::unit) return 0;
  if (options.stepping != Stepping::field) {
    constexpr std::size_t kOfASite = 12 + 18 + 16;  // its indices, its place in the set, its turn while they are sorted
    constexpr std::size_t kOfASet = 4096;
    return static_cast<std::size_t>(surface) * kOfASite + kOfASet;
  }
  grid::DistanceOutputs outputs;
  outputs.distance = AnyView(nullptr, DType::float32, volume.shape());
  const std::size_t field = static_cast<std::size_t>(element_count(volume.shape())) * sizeof(float);
  return field + grid::scratch_bytes(volume, field_options(options), outputs);
}

std::unique_ptr<const Steps> make_point_steps(const Array& surface, const RayMarcherOptions& options) {
  points::SiteSetOptions set;
  set.execution = options.execution;
  set.execution.backend = Backend::cpu;
  return std::make_unique<PointSteps>(points::SiteSet(surface.view(), set), options.stepping == Stepping::cone);
}

}  // namespace

std::size_t needed_bytes(const AnyConstView& volume, const RayMarcherOptions& options, std::int64_t surface) {
  const Shape& shape = volume.shape();
  const std::int64_t words = shape[0] * shape[1] * words_of_row(shape[2]);
  return static_cast<std::size_t>(words) * sizeof(std::uint64_t) + steps_bytes(volume, options, surface);
}

std::unique_ptr<const Steps> make_steps(const AnyConstView& volume, const Solid& solid,
                                        const RayMarcherOptions& options) {
  const bool asks_points = options.stepping == Stepping::pointwise || options.stepping == Stepping::cone;
  const std::int64_t surface = asks_points ? count_surface(solid) : 0;
  check_memory(options, needed_bytes(volume, options, surface));
  if (asks_points) return make_point_steps(surface_of(solid, surface), options);
  if (options.stepping == Stepping::unit) return std::make_unique<UnitSteps>();
  return std::make_unique<FieldSteps>(grid::distance_transform(volume, field_options(options)));
}

}  // namespace fathom::apps::cpu
