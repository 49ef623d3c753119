// Distance to the nearest pixel within a bound: each part from its surroundings, by the room grid.
#include "stream/distance.h"

#include <array>
#include <cmath>
#include <string>

#include "fathom/core/error.h"
#include "fathom/stream/nodes.h"
#include "stream/operation.h"
#include "stream/period.h"
#include "stream/pixels.h"
#include "stream/reduce.h"

namespace fathom::stream {

namespace {

class Distance final : public Reduction<Distance> {
 public:
  static constexpr auto kRoles = roles::kDistance;

  Distance(const NodeRef& mask, const DistanceOptions& options)
      : Reduction("distance", {mask->height(), mask->width(), DType::float32, mask->pixel()}, {{mask, Role::mask}}),
        options_(options) {
    constexpr double kMost = 4096;
    const double steps = options.max / pixel().size;
    if (!(steps > 0) || !(steps <= kMost))
      throw InvalidArgument("the bound of 'distance' is " + std::to_string(steps) +
                            " pixels; it must be above 0 and at most 4096. Without a bound the distance is exact "
                            "everywhere, and streamed in rows");
    halo_ = static_cast<std::int64_t>(std::ceil(steps)) + (options.signed_distance ? 1 : 0);
  }
  std::string_view type() const override { return "distance"; }
  void describe(Description& to) const override {
    to.number("max", options_.max);
    to.text("to", options_.to_zero ? "zero" : "nonzero");
    if (options_.signed_distance) to.truth("signed", true);
  }
  Rectangle need(std::size_t child, const Rectangle& part) const override {
    return intersection(part.grown(halo_), children()[child].node->whole());
  }
  Size largest_need(std::size_t, Size part) const override {
    return {std::min(height(), part.height + 2 * halo_), std::min(width(), part.width + 2 * halo_)};
  }
  std::size_t scratch_bytes(Size part) const override {
    const Size from = largest_need(0, part);
    const AnyConstView input(nullptr, children()[0].node->dtype(), {from.height, from.width});
    grid::DistanceOutputs outputs;
    outputs.distance = AnyView(nullptr, DType::float32, {part.height, part.width});
    return aligned(grid::scratch_bytes(input, options_of({0, 0, part.height, part.width}), outputs));
  }
  std::int64_t halo() const override { return halo_; }
  double bound() const override { return options_.max; }
  bool needs_again(std::size_t) const override { return true; }
  std::optional<Period> period() const override {
    auto period = children()[0].node->period();
    if (period) period->region = period->region.grown(-halo_);
    return within(period, whole());
  }
  std::shared_ptr<const Operation> operation() const override { return make_operation(operation::Far{options_}); }

  struct Work {
    std::optional<double> constant;
  };
  Work begin(const Step&) const { return {}; }
  void reduce(As<Role::mask>, std::size_t child, Work& work, const Step& step) const {
    const Rectangle from = need(child, step.part);
    const Pixels pixels = step.children.fetch(*children()[child].node, from);
    if (pixels.constant) {
      const bool is_site = (*pixels.constant == 0) == options_.to_zero;
      const double far = options_.signed_distance && *pixels.constant != 0 ? -INFINITY : INFINITY;
      work.constant = is_site && !options_.signed_distance ? 0 : far;
    } else {
      grid::DistanceOutputs outputs;
      outputs.distance = step.out;
      grid::distance_transform(pixels.view, options_of(step.part.moved(-from.y0, -from.x0)), outputs);
    }
  }
  std::optional<double> end(Work& work, const Step&) const { return work.constant; }

 private:
  grid::DistanceOptions options_of(const Rectangle& region) const {
    grid::DistanceOptions options = grid_options(options_, pixel().size, region);
    options.execution.backend = Backend::cpu;
    options.execution.threads = 1;
    return options;
  }

  DistanceOptions options_;
  std::int64_t halo_ = 0;
};

}  // namespace

grid::DistanceOptions grid_options(const DistanceOptions& wanted, double unit, const Rectangle& region) {
  grid::DistanceOptions options;
  options.sites.rule = wanted.to_zero ? grid::Sites::Rule::zero : grid::Sites::Rule::nonzero;
  if (unit != 1) options.spacing = {unit};
  options.max_distance = wanted.max;
  options.signed_distance = wanted.signed_distance;
  options.region = {{region.y0, region.y1}, {region.x0, region.x1}};
  return options;
}

NodeRef distance(NodeRef mask, const DistanceOptions& options) {
  if (!mask) throw InvalidArgument("'distance' has no child");
  return std::make_shared<Distance>(mask, options);
}

}  // namespace fathom::stream
