// The front of local thickness: validates, computes distances, hands them over.
#include "fathom/apps/local_thickness.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/check.h"
#include "apps/cpu/balls.h"
#include "apps/cpu/thickness.h"
#include "apps/device_call.h"
#include "apps/images.h"
#include "apps/squares.h"
#include "fathom/core/array.h"
#include "fathom/core/error.h"
#include "fathom/grid/distance.h"

#ifdef FATHOM_HAS_CUDA
#include "apps/cuda/local_thickness.h"
#endif

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

/// The same options for arrays in another memory.
template <MemorySpace To, MemorySpace From>
BasicLocalThicknessOptions<To> with_inlets(const BasicAnyView<const std::byte, To>& inlets,
                                           const BasicLocalThicknessOptions<From>& options) {
  return {options.spacing, options.batch_axes, inlets, options.from_faces, options.execution};
}

DeviceLocalThicknessOptions options_at(const DeviceCopies& at, const LocalThicknessOptions& options) {
  return with_inlets(at.inputs[1], options_on_device(options));
}

template <MemorySpace Space>
bool has_inlets(const BasicLocalThicknessOptions<Space>& options) {
  return options.inlets.present() || options.from_faces;
}

std::size_t bytes_of(const Images& images, const AnyConstView& input, const LocalThicknessOptions& options,
                     const AnyView& out, int threads) {
  const Lattice3& lattice = images.lattice;
  if (wants_device(options.execution)) {
    const DeviceCopies copies = copies_of({input, options.inlets}, {out});
    return copies.bytes + scratch_bytes(copies.inputs[0], options_at(copies, options), copies.outputs[0]);
  }
  if (element_count(images.shape) == 0) return 0;
  const std::size_t value = size_of(squares_of(lattice));
  const AnyConstView image = images.view(input, 0);
  grid::DistanceOutputs outputs;
  outputs.squared = AnyView(nullptr, squares_of(lattice), image.shape());
  const std::size_t distances =
      grid::scratch_bytes(image, distance_options(lattice, host_part_of(options.execution, 0, 1)), outputs);
  const std::size_t invasion = has_inlets(options) ? cpu::invasion_bytes(lattice, value) : 0;
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

/// 1 where balls enter an image, else 0. @param given  absent: through its faces
Array inlets_of(const AnyConstView& given, const Lattice3& lattice) {
  if (given.present()) return grid::mark_sites(given, {grid::Sites::Rule::nonzero});
  Array marks(DType::uint8, {lattice.size()});
  for (std::int64_t i = 0; i < lattice.size(); ++i) {
    bool on_face = false;
    std::int64_t left = i;
    for (std::size_t k = 3; k-- > 3 - static_cast<std::size_t>(lattice.rank); left /= lattice.extent[k])
      on_face = on_face || left % lattice.extent[k] == 0 || left % lattice.extent[k] + 1 == lattice.extent[k];
    marks.data()[i] = static_cast<std::byte>(on_face);
  }
  return marks;
}

/// @throws InvalidArgument as local_thickness(); memory is not looked at
Plan make_plan(const AnyConstView& input, const LocalThicknessOptions& options, const AnyView& out) {
  Plan plan{.images = Images(input.shape(), options.batch_axes, options.spacing), .report = {}};
  if (!out.present()) throw InvalidArgument("no output was given");
  check_output(input, out, "out", {DType::float32, DType::float64});
  if (out.dtype() == DType::float32 && !fits_float32(plan.images.lattice))
    throw InvalidArgument("float32 does not hold thicknesses with such a spacing; give float64");
  if (options.inlets.present() && options.from_faces)
    throw InvalidArgument("inlets are given, and faces are to be inlets; give one of them");
  if (options.inlets.present() && !(options.inlets.shape() == input.shape()))
    throw InvalidArgument("the inlets have the shape " + to_string(options.inlets.shape()) + "; they must have " +
                          to_string(input.shape()) + ", as the input");
  plan.report.threads = thread_count(options.execution);
  plan.report.instruction_set = resolve(options.execution.instruction_set);
  return plan;
}

}  // namespace

std::size_t scratch_bytes(const AnyConstView& input, const LocalThicknessOptions& options, const AnyView& out) {
  const Plan plan = make_plan(input, options, out);
  return bytes_of(plan.images, input, options, out, plan.report.threads);
}

LocalThicknessReport local_thickness(const AnyConstView& input, const LocalThicknessOptions& options,
                                     const AnyView& out) {
  Plan plan = make_plan(input, options, out);
  plan.report.scratch_bytes = bytes_of(plan.images, input, options, out, plan.report.threads);
  check_scratch(options.execution, plan.report.scratch_bytes);
  const Images& images = plan.images;
  if (wants_device(options.execution)) {
    plan.report.backend = Backend::cuda;
    const auto work = [&](const DeviceCopies& at, Stream stream) {
      local_thickness(at.inputs[0], options_at(at, options), at.outputs[0], stream);
    };
    plan.report.device = run_on_device({input, options.inlets}, {out}, options.execution, work);
  } else if (element_count(images.shape) > 0) {
    Array squares(squares_of(images.lattice), images.view(input, 0).shape());
    each_item(images, options.execution, [&](std::int64_t item, const Execution& part) {
      grid::DistanceOutputs outputs;
      outputs.squared = squares.view();
      grid::distance_transform(images.view(input, item), distance_options(images.lattice, part_of(part, 0, 5)),
                               outputs);
      const cpu::Thickness thickness{.lattice = images.lattice,
                                     .out = images.rows(out, item),
                                     .instruction_set = plan.report.instruction_set,
                                     .threads = plan.report.threads,
                                     .execution = part_of(part, .25, 1.25)};
      if (has_inlets(options))
        cpu::invade(squares, inlets_of(images.view(options.inlets, item), images.lattice), thickness);
      cpu::draw_thickness(squares, out.dtype(), thickness);
    });
  }
  if (options.execution.progress) options.execution.progress(1);
  return plan.report;
}

#ifdef FATHOM_HAS_CUDA

namespace {

Images check_device_call(const AnyConstDeviceView& input, const DeviceLocalThicknessOptions& options,
                         const AnyDeviceView& out) {
  check_device_execution(options.execution);
  return make_plan(unchecked(input), with_inlets(unchecked(options.inlets), options), unchecked(out)).images;
}

}  // namespace

std::size_t scratch_bytes(const AnyConstDeviceView& input, const DeviceLocalThicknessOptions& options,
                          const AnyDeviceView& out) {
  const Images images = check_device_call(input, options, out);
  return element_count(input.shape()) == 0 ? 0 : cuda::local_thickness_bytes(input, options, images);
}

LocalThicknessReport local_thickness(const AnyConstDeviceView& input, const DeviceLocalThicknessOptions& options,
                                     const AnyDeviceView& out, Stream stream) {
  const Images images = check_device_call(input, options, out);
  const std::size_t bytes = scratch_bytes(input, options, out);
  check_scratch(options.execution, bytes);
  if (bytes == 0) return {.backend = Backend::cuda};
  return {.backend = Backend::cuda,
          .scratch_bytes = bytes,
          .device = cuda::local_thickness(input, options, images, out, stream)};
}

#else

std::size_t scratch_bytes(const AnyConstDeviceView&, const DeviceLocalThicknessOptions&, const AnyDeviceView&) {
  refuse_device_views();
}
LocalThicknessReport local_thickness(const AnyConstDeviceView&, const DeviceLocalThicknessOptions&,
                                     const AnyDeviceView&, Stream) {
  refuse_device_views();
}

#endif

}  // namespace fathom::apps
