// Two surfaces, each against the other: how far at most, and how far in the mean.
#include "fathom/mesh/compare.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/text.h"
#include "fathom/core/error.h"
#include "mesh/cpu/farthest.h"
#include "mesh/cpu/mean_distance.h"

namespace fathom::mesh {

namespace {

constexpr std::int64_t kCutsOfPart = 32;

void check(const CompareOptions& options) {
  if (options.tolerance && !(*options.tolerance >= 0 && std::isfinite(*options.tolerance)))
    throw InvalidArgument("the tolerance is " + text(*options.tolerance) + "; it must be finite, and at least 0");
  for (const auto& [name, value] : {std::pair{"samples", options.samples}, {"parts", options.most_parts}})
    if (value < 1 || value > INT32_MAX)
      throw InvalidArgument("the number of " + std::string(name) + " is " + std::to_string(value) +
                            "; it must be from 1 to 2147483647");
}

/// Of the box around both.
double diagonal(const Bounds& a, const Bounds& b) {
  double size[3];
  for (std::size_t k = 0; k < 3; ++k) size[k] = std::max(a.high[k], b.high[k]) - std::min(a.low[k], b.low[k]);
  return std::hypot(size[0], size[1], size[2]);
}

Point point_of(Vec3 p) { return {p.x, p.y, p.z}; }

Deviation deviation(const cpu::Samples& samples, const PreparedMesh& from, const PreparedMesh& to,
                    const cpu::FarthestOptions& options, const cpu::Run& run, Monitor& monitor) {
  const cpu::Farthest farthest = cpu::find_farthest(from, to.tree, options, run, monitor);
  const cpu::MeanDistance mean = samples.distance(to.tree, run, monitor);
  const MeshView view = to.view().mesh;
  return {.max = std::sqrt(farthest.squared),
          .bound = farthest.bound,
          .point = point_of(farthest.point),
          .nearest = point_of(closest_at(view, farthest.place, farthest.point)),
          .triangle = farthest.triangle,
          .nearest_triangle = view.ids[farthest.place],
          .mean = mean.mean,
          .rms = mean.rms,
          .error = mean.error};
}

}  // namespace

Comparison compare(const TriangleSet& first, const TriangleSet& second, const CompareOptions& options) {
  check(options);
  const auto host_a = on_the_host(first), host_b = on_the_host(second);
  const PreparedMesh &a = *host_a, &b = *host_b;
  const std::size_t copied = (first.on_device() ? a.bytes() : 0) + (second.on_device() ? b.bytes() : 0);
  const Execution& execution = options.execution;
  if (execution.backend == Backend::cuda)
    throw InvalidArgument("meshes are compared by the backend cpu alone; use auto or cpu");
  const cpu::Run run = cpu::run_of(execution);
  const auto bytes = [&](std::int64_t parts) {
    return copied + cpu::Samples::bytes(a) + cpu::Samples::bytes(b) +
           std::max(cpu::farthest_bytes(a, parts), cpu::farthest_bytes(b, parts));
  };
  cpu::check_scratch(execution, bytes(1));
  std::int64_t parts = options.most_parts;
  while (execution.scratch_limit && bytes(parts) > *execution.scratch_limit) parts = (parts + 1) / 2;
  const cpu::FarthestOptions farthest{options.tolerance.value_or(1e-6 * diagonal(first.bounds(), second.bounds())),
                                      parts, options.most_parts * kCutsOfPart};
  const cpu::Samples of_a(a, options.samples), of_b(b, options.samples);
  Monitor monitor(execution, first.topology().vertices + second.topology().vertices + of_a.size() + of_b.size());
  return {.forward = deviation(of_a, a, b, farthest, run, monitor),
          .backward = deviation(of_b, b, a, farthest, run, monitor),
          .tolerance = farthest.tolerance,
          .report = {Backend::cpu, run.set, run.threads, bytes(parts), {}}};
}

}  // namespace fathom::mesh
