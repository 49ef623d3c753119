// The front of local thickness: validates, computes distances, hands them over.
#include "fathom/apps/local_thickness.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/cpu/balls.h"
#include "apps/cpu/thickness.h"
#include "apps/check.h"
#include "apps/images.h"
#include "fathom/core/array.h"
#include "fathom/core/error.h"
#include "fathom/grid/distance.h"

namespace fathom::apps {

namespace {

struct Plan {
  Images images;
  LocalThicknessReport report;
};

grid::DistanceOptions distance_options(const Lattice3& lattice, const Execution& execution) {
  grid::DistanceOptions options;
  if (!lattice.is_isotropic()) options.spacing.assign(lattice.spacing.end() - lattice.rank, lattice.spacing.end());
  options.execution = execution;
  return options;
}

/// The type that holds all squared distances exactly, or rounded where spacings differ.
DType squares_of(const Lattice3& lattice) {
  if (!lattice.is_isotropic()) return DType::float64;
  return lattice.squared_diagonal() < 0x1p32 - 1 ? DType::uint32 : DType::uint64;
}

std::size_t bytes_of(const Images& images, const AnyConstView& input, const LocalThicknessOptions& options,
                     int threads) {
  const Lattice3& lattice = images.lattice;
  if (element_count(images.shape) == 0) return 0;
  const std::size_t value = size_of(squares_of(lattice));
  const AnyConstView image = images.view(input, 0);
  grid::DistanceOutputs outputs;
  outputs.squared = AnyView(nullptr, squares_of(lattice), image.shape());
  const std::size_t distances =
      grid::scratch_bytes(image, distance_options(lattice, step_of(options.execution, 0, 1)), outputs);
  const std::size_t invasion = options.inlets.present() ? cpu::invasion_bytes(lattice, value) : 0;
  return value * static_cast<std::size_t>(lattice.size()) +
         std::max({distances, invasion, cpu::balls_bytes(lattice, threads, value)});
}

/// Whether every thickness there can be is a float32, neither too large nor too small.
bool fits_float32(const Lattice3& lattice) {
  double longest = 0, least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 3 - static_cast<std::size_t>(lattice.rank); k < 3; ++k) {
    longest = std::hypot(longest, static_cast<double>(lattice.extent[k]) * lattice.spacing[k]);
    least = std::min(least, lattice.spacing[k]);
  }
  using Limits = std::numeric_limits<float>;
  return 2 * longest <= static_cast<double>(Limits::max()) && least >= static_cast<double>(Limits::min());
}

Plan make_plan(const AnyConstView& input, const LocalThicknessOptions& options, const AnyView& out) {
  Plan plan{.images = Images(input.shape(), options.batch_axes, options.spacing), .report = {}};
  if (!out.present()) throw InvalidArgument("no output was given");
  check_output(out, "out", {DType::float32, DType::float64}, input.shape());
  if (out.dtype() == DType::float32 && !fits_float32(plan.images.lattice))
    throw InvalidArgument("float32 does not hold thicknesses with such a spacing; give float64");
  if (options.inlets.present() && !(options.inlets.shape() == input.shape()))
    throw InvalidArgument("the inlets have the shape " + to_string(options.inlets.shape()) + "; they must have " +
                          to_string(input.shape()) + ", as the input");
  plan.report.threads = host_threads(options.execution, "local thickness");
  plan.report.instruction_set = resolve(options.execution.instruction_set);
  plan.report.scratch_bytes = bytes_of(plan.images, input, options, plan.report.threads);
  check_scratch(options.execution, plan.report.scratch_bytes);
  return plan;
}

}  // namespace

std::size_t scratch_bytes(const AnyConstView& input, const LocalThicknessOptions& options, const AnyView& out) {
  return make_plan(input, options, out).report.scratch_bytes;
}

LocalThicknessReport local_thickness(const AnyConstView& input, const LocalThicknessOptions& options,
                                     const AnyView& out) {
  const Plan plan = make_plan(input, options, out);
  const Images& images = plan.images;
  if (element_count(images.shape) > 0) {
    const std::int64_t count = images.count();
    const Shape shape = images.view(input, 0).shape();
    Array squares(squares_of(images.lattice), shape);
    for (std::int64_t item = 0; item < count; ++item) {
      const auto part = [&](double share) { return (static_cast<double>(item) + share) / static_cast<double>(count); };
      grid::DistanceOutputs outputs;
      outputs.squared = squares.view();
      grid::distance_transform(images.view(input, item),
                               distance_options(images.lattice, step_of(options.execution, part(0), part(.2))),
                               outputs);
      const cpu::Thickness thickness{.lattice = images.lattice,
                                     .out = images.rows(out, item),
                                     .instruction_set = plan.report.instruction_set,
                                     .threads = plan.report.threads,
                                     .execution = step_of(options.execution, part(.2), part(1))};
      if (options.inlets.present())
        cpu::invade(squares, grid::mark_sites(images.view(options.inlets, item), {grid::Sites::Rule::nonzero}),
                    thickness);
      cpu::draw_thickness(squares, out.dtype(), thickness);
    }
  }
  if (options.execution.progress) options.execution.progress(1);
  return plan.report;
}

}  // namespace fathom::apps
