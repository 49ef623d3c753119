// The front of the published algorithms: validates, marks sites, runs one, and turns places into distances.
#include "fathom/published/distance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/parallel.h"
#include "core/root.hd.h"
#include "fathom/core/array.h"
#include "fathom/core/error.h"
#include "published/cpu/algorithms.h"
#include "published/front.h"
#include "published/problem.h"
#ifdef FATHOM_HAS_CUDA
#include "published/cuda/algorithms.h"
#endif

namespace fathom::published {

namespace {

constexpr int kImageBits = 15, kVolumeBits = 11;

void check_options(const DistanceOptions& options, int rank) {
  check_range("m1", options.m1, 1, 32);
  check_range("m2", options.m2, 1, std::numeric_limits<std::int16_t>::max());
  check_range("m3", options.m3, 1, 32);
  check_range("the number of more rounds", options.more_rounds, 0, 2);
  if (options.sites.rule == grid::Sites::Rule::labels)
    throw InvalidArgument("the published algorithms know sites, not labels; use grid's distance transform for labels");
  if (options.algorithm == Algorithm::proximate && rank != 2)
    throw InvalidArgument("proximate points are of images with 2 axes; take pba for volumes");
  if (options.slice && (options.algorithm != Algorithm::pba || rank != 3))
    throw InvalidArgument("a single slice is there of pba in volumes with 3 axes");
}

/// @throws InvalidArgument not 2 or 3 axes, or longer ones than places hold
Places places_of(const Shape& shape) {
  if (shape.rank() != 2 && shape.rank() != 3)
    throw InvalidArgument("the published algorithms take images and volumes, with 2 or 3 axes, not " +
                          std::to_string(shape.rank()));
  const bool is_volume = shape.rank() == 3;
  const std::int64_t most = is_volume ? 1 << kVolumeBits : 1 << kImageBits, most_slices = is_volume ? 1023 : 1;
  if (shape[shape.rank() - 1] > most || shape[shape.rank() - 2] > most || (is_volume && shape[0] > most_slices))
    throw InvalidArgument("the shape " + to_string(shape) + " is beyond what the published algorithms hold: " +
                          (is_volume ? "1023 × 2048 × 2048" : "32768 × 32768") + "; use grid's distance transform");
  Places places;
  places.bits = is_volume ? kVolumeBits : kImageBits;
  places.width = static_cast<int>(shape[shape.rank() - 1]);
  places.height = static_cast<int>(shape[shape.rank() - 2]);
  places.depth = is_volume ? static_cast<int>(shape[0]) : 1;
  return places;
}

Shape result_shape(const Shape& input, const DistanceOptions& options) {
  return options.slice ? Shape{input[1], input[2]} : input;
}

struct Plan {
  Places places;
  bool on_device = false;
  int threads = 1;
  std::size_t scratch_bytes = 0;
};

Plan make_plan(const AnyConstView& input, const DistanceOptions& options, const DistanceOutputs& outputs) {
  Plan plan;
  plan.places = places_of(input.shape());
  check_options(options, input.rank());
  if (options.slice && (*options.slice < 0 || *options.slice >= plan.places.depth))
    throw InvalidArgument("slice " + std::to_string(*options.slice) + " is not one of the " +
                          std::to_string(plan.places.depth) + " that the volume has");
  const Shape shape = result_shape(input.shape(), options);
  check_output(outputs.distance, "distance", {DType::float32, DType::float64}, shape);
  check_output(outputs.nearest, "nearest", {DType::int32, DType::int64}, shape);
  if (!outputs.distance.present() && !outputs.nearest.present())
    throw InvalidArgument("no output was given; give distance, nearest or both");
  if (outputs.nearest.present() && outputs.nearest.dtype() == DType::int32 &&
      plan.places.size() > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument("'nearest' is int32, which does not hold the indices of the shape " +
                          to_string(input.shape()) + "; it must be int64");
  plan.on_device = runs_on_device(options.execution);
  plan.threads = threads_of(options.execution);
  const Problem problem{plan.places, nullptr, nullptr, options, plan.threads};
  const auto results = static_cast<std::size_t>(element_count(shape));
  plan.scratch_bytes = static_cast<std::size_t>(plan.places.size()) + results * sizeof(std::uint32_t) +
                       (options.measure_error ? results * sizeof(std::uint32_t) : 0);
#ifdef FATHOM_HAS_CUDA
  plan.scratch_bytes += plan.on_device ? cuda::scratch_bytes(problem) : cpu::scratch_bytes(problem);
#else
  plan.scratch_bytes += cpu::scratch_bytes(problem);
#endif
  if (options.execution.scratch_limit && plan.scratch_bytes > *options.execution.scratch_limit)
    throw InvalidArgument("the scratch limit of " + std::to_string(*options.execution.scratch_limit) +
                          " bytes is too small; what works here is " + std::to_string(plan.scratch_bytes) + " bytes");
  return plan;
}

Phases run_on_cpu(const Problem& problem) {
  switch (problem.options.algorithm) {
    case Algorithm::pba: return cpu::pba(problem);
    case Algorithm::proximate: return cpu::proximate(problem);
    case Algorithm::jfa: return cpu::jump_flooding(problem);
    case Algorithm::skw: return cpu::sweeping(problem);
    case Algorithm::brute: break;
  }
  return cpu::brute_force(problem);
}

/// The places of a row as what an output holds.
template <class T>
void write_row(const Problem& problem, const AnyView& out, std::int64_t row, std::int64_t first_slice) {
  const Places& p = problem.places;
  const HostView<T> view = out.as<T>();
  const std::int64_t y = row % p.height, z = row / p.height;
  const int rank = view.shape().rank();
  T* to = view.data() + y * view.strides()[rank - 2] + (rank == 3 ? z * view.strides()[0] : 0);
  for (int x = 0; x < p.width; ++x) {
    const std::uint32_t place = problem.nearest[row * p.width + x];
    if constexpr (std::is_floating_point_v<T>) {
      const Point own{x, static_cast<int>(y), static_cast<int>(z + first_slice)};
      to[x] = place == kNone ? std::numeric_limits<T>::infinity()
                             : rounded_sqrt<T>(static_cast<std::uint64_t>(squared_distance(p.unpack(place), own)));
    } else {
      to[x] = place == kNone ? T{-1} : static_cast<T>(p.index(p.unpack(place)));
    }
  }
}

void write_outputs(const Problem& problem, const DistanceOutputs& outputs, std::int64_t rows,
                   std::int64_t first_slice) {
  parallel_jobs(problem.options.execution, problem.threads, rows, [&](int, std::int64_t row) {
    for (const AnyView& out : {outputs.distance, outputs.nearest}) {
      if (!out.present()) continue;
      switch (out.dtype()) {
        case DType::float32: write_row<float>(problem, out, row, first_slice); break;
        case DType::float64: write_row<double>(problem, out, row, first_slice); break;
        case DType::int32: write_row<std::int32_t>(problem, out, row, first_slice); break;
        default: write_row<std::int64_t>(problem, out, row, first_slice);
      }
    }
  });
}

/// Beside grid's squared distances.
Deviation error_of(const Problem& problem, const AnyConstView& input) {
  const Places& p = problem.places;
  grid::DistanceOptions options;
  options.sites = problem.options.sites;
  options.execution = problem.options.execution;
  options.execution.progress = {};
  options.execution.scratch_limit = {};
  if (problem.options.slice)
    options.region = {{*problem.options.slice, *problem.options.slice + 1}, {0, p.height}, {0, p.width}};
  const Shape shape = grid::result_shape(input.shape(), options);
  Array exact(DType::uint32, shape);
  grid::DistanceOutputs wanted;
  wanted.squared = exact.view();
  grid::distance_transform(input, options, wanted);
  const std::uint32_t* squares = exact.as<std::uint32_t>().data();
  const std::int64_t first = problem.options.slice.value_or(0) * p.width * p.height, count = element_count(shape);
  Deviation error;
  for (std::int64_t at = 0; at < count; ++at) {
    const std::uint32_t place = problem.nearest[at];
    if (squares[at] == std::numeric_limits<std::uint32_t>::max()) continue;
    const double found = place == kNone ? std::numeric_limits<double>::infinity()
                                        : squared_distance(p.unpack(place), p.point(first + at));
    if (found == squares[at]) continue;
    ++error.wrong;
    error.largest = std::max(error.largest, std::sqrt(found) - std::sqrt(static_cast<double>(squares[at])));
  }
  error.share = count > 0 ? static_cast<double>(error.wrong) / static_cast<double>(count) : 0;
  return error;
}

}  // namespace

bool is_exact(Algorithm algorithm) { return algorithm != Algorithm::jfa && algorithm != Algorithm::skw; }

std::size_t scratch_bytes(const AnyConstView& input, const DistanceOptions& options, const DistanceOutputs& outputs) {
  return make_plan(input, options, outputs).scratch_bytes;
}

DistanceReport distance_transform(const AnyConstView& input, const DistanceOptions& options,
                                  const DistanceOutputs& outputs) {
  const Plan plan = make_plan(input, options, outputs);
  DistanceReport report;
  report.backend = plan.on_device ? Backend::cuda : Backend::cpu;
  report.threads = plan.threads;
  report.scratch_bytes = plan.scratch_bytes;
  report.exact = is_exact(options.algorithm);
  const Shape shape = result_shape(input.shape(), options);
  if (element_count(shape) == 0) {
    if (options.measure_error) report.error = Deviation();
    return report;
  }
  const Array mask = grid::mark_sites(input, options.sites);
  Array nearest(DType::uint32, shape);
  const Problem problem{plan.places, mask.as<std::uint8_t>().data(), nearest.as<std::uint32_t>().data(), options,
                        plan.threads};
#ifdef FATHOM_HAS_CUDA
  if (plan.on_device) {
    report.phases = cuda::run(problem);
    report.device = describe_device(current_device()).name;
  } else {
    report.phases = run_on_cpu(problem);
  }
#else
  report.phases = run_on_cpu(problem);
#endif
  const std::int64_t first_slice = options.slice.value_or(0);
  write_outputs(problem, outputs, element_count(shape) / plan.places.width, first_slice);
  if (options.measure_error) report.error = error_of(problem, input);
  if (options.execution.progress) options.execution.progress(1);
  return report;
}

}  // namespace fathom::published
