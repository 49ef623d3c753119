// Each step marks the sites on a grid, asks grid for the nearest one of each element, and adds up regions.
// Cost: grid's nearest sites and a pass over them; memory for a mask, nearest sites and a table of numbers, which is
// read at sites alone.
#include "apps/cpu/lloyd.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "apps/lloyd.hd.h"
#include "core/parallel.h"
#include "fathom/grid/distance.h"

namespace fathom::apps::cpu {

namespace {

grid::DistanceOptions transform_options(const Execution& execution, Workspace* workspace) {
  grid::DistanceOptions options;
  options.sites.rule = grid::Sites::Rule::nonzero;
  options.execution = execution;
  options.execution.backend = Backend::cpu;
  options.execution.progress = nullptr;
  options.execution.scratch_limit.reset();
  options.execution.workspace = workspace;
  return options;
}

}  // namespace

DType index_type(const Shape& shape) { return element_count(shape) <= INT32_MAX ? DType::int32 : DType::int64; }

Lloyd::Lloyd(const Weights& weights, std::int64_t sites, const LloydOptions& options)
    : weights_(weights),
      options_(options),
      count_(sites),
      threads_(options.execution.threads > 0 ? options.execution.threads : available_threads()),
      layout_{weights.shape.rank(), options.energies},
      shape_(finer(weights.shape, options.supersample)),
      sampler_(weights, options.seed),
      mask_(DType::uint8, shape_),
      nearest_(index_type(shape_), shape_),
      numbers_(DType::int32, shape_),
      places_(static_cast<std::size_t>(sites * shape_.rank())),
      elements_(static_cast<std::size_t>(sites)),
      sums_(static_cast<std::size_t>(sites * layout_.fields())) {
  std::memset(mask_.data(), 0, mask_.bytes());
}

std::size_t Lloyd::bytes(const Shape& weights, std::int64_t sites, const LloydOptions& options, int threads) {
  const Shape shape = finer(weights, options.supersample);
  const auto elements = static_cast<std::size_t>(element_count(shape)), n = static_cast<std::size_t>(sites);
  const SumLayout layout{weights.rank(), options.energies};
  grid::DistanceOutputs outputs;
  outputs.nearest = AnyView(nullptr, index_type(shape), shape);
  const std::size_t transform = grid::scratch_bytes(AnyConstView(nullptr, DType::uint8, shape),
                                                    transform_options(options.execution, nullptr), outputs);
  const std::size_t records =
      n * (8 * static_cast<std::size_t>(layout.fields() + 1) + 4 * static_cast<std::size_t>(layout.axes));
  return elements * (1 + size_of(index_type(shape)) + 4) + 2 * static_cast<std::size_t>(element_count(weights)) +
         transform + records + static_cast<std::size_t>(threads) * row_bytes(weights.back(), shape.back());
}

void Lloyd::place(const double* positions) {
  auto* const mask = mask_.as<std::uint8_t>().data();
  auto* const numbers = numbers_.as<std::int32_t>().data();
  for (const std::int64_t element : elements_) mask[element] = 0;  // the first time: of the first element
  for (std::int64_t site = count_ - 1; site >= 0; --site) {        // so that the lowest number remains
    std::int64_t element = 0;
    for (int axis = 0; axis < layout_.axes; ++axis) {
      const std::int64_t k = site * layout_.axes + axis;
      const std::int32_t at = element_of(positions[k], options_.supersample, shape_[axis]);
      places_[static_cast<std::size_t>(k)] = at;
      element = element * shape_[axis] + at;
    }
    elements_[static_cast<std::size_t>(site)] = element;
    mask[element] = 1;
    numbers[element] = static_cast<std::int32_t>(site);
  }
}

void Lloyd::assign(const double* positions) {
  place(positions);
  grid::DistanceOutputs outputs;
  outputs.nearest = nearest_.view();
  grid::distance_transform(std::as_const(mask_).view(), transform_options(options_.execution, &workspace_), outputs);
  std::fill(sums_.begin(), sums_.end(), 0);
  const Regions regions{shape_,
                        std::as_const(nearest_).view(),
                        numbers_.as<std::int32_t>().data(),
                        places_.data(),
                        weights_,
                        options_.supersample};
  sum_regions(regions, layout_, sums_.data(), threads_, options_.execution);
}

double Lloyd::move(std::uint64_t iteration, double* positions) const {
  double farthest = 0;
  for (std::int64_t site = 0; site < count_; ++site) {
    const std::int64_t* const sums = record(site);
    double* const position = positions + site * layout_.axes;
    if (sums[1] == 0) {
      if (options_.on_elements) continue;
      sampler_.draw(iteration + 1, site, position);
      farthest = HUGE_VAL;
      continue;
    }
    for (int axis = 0; axis < layout_.axes; ++axis) {
      const std::int32_t at = places_[static_cast<std::size_t>(site * layout_.axes + axis)];
      const std::int64_t first = sums[layout_.first() + axis];
      const double before = position[axis];
      position[axis] = options_.on_elements ? static_cast<double>(at + rounded_step(first, sums[1]))
                                            : centroid_of(at, first, sums[1], options_.supersample);
      farthest = std::max(farthest, std::abs(position[axis] - before));
    }
  }
  return farthest;
}

double Lloyd::energy(const double* positions) const {
  return energy_of(layout_, options_.supersample, count_, sums_.data(), places_.data(), positions);
}

std::vector<std::int64_t> iterate(const Weights& weights, const LloydOptions& options, std::vector<double>& positions,
                                  LloydReport& report, bool masses) {
  const std::int64_t count = static_cast<std::int64_t>(positions.size()) / weights.shape.rank();
  Lloyd engine(weights, count, options);
  Monitor monitor(options.execution, options.iterations + 1);
  const auto assign = [&] {
    engine.assign(positions.data());
    if (options.energies) report.energies.push_back(engine.energy(positions.data()));
    monitor.advance(1);
  };
  while (report.iterations < options.iterations && !report.at_rest) {
    assign();
    const double farthest = engine.move(static_cast<std::uint64_t>(report.iterations++), positions.data());
    report.at_rest = farthest <= (options.on_elements ? 0 : options.tolerance);
  }
  std::vector<std::int64_t> result;
  if (masses || options.energies) assign();
  if (options.execution.progress) options.execution.progress(1);
  for (std::int64_t site = 0; masses && site < count; ++site) result.push_back(engine.mass(site));
  return result;
}

}  // namespace fathom::apps::cpu
