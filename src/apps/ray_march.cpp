// The front of ray marching: validates, prepares volumes, hands over to the CPU's loop.
#include "fathom/apps/ray_march.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "apps/camera.h"
#include "apps/cpu/march.h"
#include "fathom/core/error.h"

namespace fathom::apps {

struct RayMarcher::Prepared {
  Solid solid;
  std::array<double, 3> spacing{};
  std::unique_ptr<const cpu::Steps> steps;
};

namespace {

int threads_of(const Execution& execution) {
  if (execution.threads < 0)
    throw InvalidArgument("the number of threads is " + std::to_string(execution.threads) +
                          "; give 1 or more, or 0 for all processors");
  if (execution.backend == Backend::cuda)
    throw DeviceError("ray marching has no CUDA backend in this version; use backend auto or cpu");
  return execution.threads > 0 ? execution.threads : available_threads();
}

void check_volume(const AnyConstView& volume, const RayMarcherOptions& options) {
  if (volume.rank() != 3)
    throw InvalidArgument("rays march through volumes with 3 axes, not " + std::to_string(volume.rank()));
  for (std::int64_t n : volume.shape())
    if (n > std::numeric_limits<std::int32_t>::max())
      throw InvalidArgument("the volume's shape " + to_string(volume.shape()) + " passes what int32 indices hold");
  if (options.threshold && std::isnan(*options.threshold))
    throw InvalidArgument("the threshold is not a number; give one, or none for the elements that are not 0");
}

std::array<double, 3> spacing_of(const std::vector<double>& spacing) {
  if (spacing.size() > 1 && spacing.size() != 3)
    throw InvalidArgument(std::to_string(spacing.size()) +
                          " spacings given for 3 axes; give one for all axes or one per axis");
  std::array<double, 3> all{1, 1, 1};
  for (std::size_t k = 0; k < 3 && !spacing.empty(); ++k) all[k] = spacing[spacing.size() == 1 ? 0 : k];
  for (double one : all)
    if (!(one > 0) || !std::isfinite(one)) throw InvalidArgument("a spacing is not finite or not above 0");
  return all;
}

void check_output(const AnyView& view, const char* name, DType dtype, Shape& picture) {
  if (!view.present()) return;
  const std::string title = std::string("the output '") + name + "'";
  if (view.dtype() != dtype)
    throw InvalidArgument(title + " is " + std::string(name_of(view.dtype())) + "; it must be " +
                          std::string(name_of(dtype)));
  if (view.rank() != 2 || (!picture.empty() && !(view.shape() == picture)))
    throw InvalidArgument(title + " has the shape " + to_string(view.shape()) + "; it must have " +
                          (picture.empty() ? "2 axes, height and width" : to_string(picture)));
  picture = view.shape();
}

/// The picture's shape.
Shape check_outputs(const RayMarchOutputs& outputs) {
  Shape picture;
  check_output(outputs.shade, "shade", DType::uint8, picture);
  check_output(outputs.voxel, "voxel", DType::int64, picture);
  check_output(outputs.depth, "depth", DType::float32, picture);
  check_output(outputs.samples, "samples", DType::int32, picture);
  if (picture.empty()) throw InvalidArgument("no output was given; give shade, voxel, depth or samples");
  return picture;
}

/// As many threads as the scratch limit lets work.
int fit_threads(const Execution& execution, int threads, std::size_t each) {
  const std::size_t limit = execution.scratch_limit.value_or(SIZE_MAX);
  if (each > limit)
    throw InvalidArgument("the scratch limit of " + std::to_string(limit) +
                          " bytes is too small; the smallest that works here is " + std::to_string(each) + " bytes");
  return static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(threads), limit / each));
}

}  // namespace

RayMarcher::RayMarcher(const AnyConstView& volume, const RayMarcherOptions& options) {
  check_volume(volume, options);
  const int threads = threads_of(options.execution);
  auto made = std::make_unique<Prepared>();
  made->spacing = spacing_of(options.spacing);
  made->solid = solid_of(volume, options.threshold, threads);
  made->steps = cpu::make_steps(volume, made->solid, options);
  prepared_ = std::move(made);
}

RayMarcher::~RayMarcher() = default;
RayMarcher::RayMarcher(RayMarcher&&) noexcept = default;
RayMarcher& RayMarcher::operator=(RayMarcher&&) noexcept = default;

std::int64_t RayMarcher::solid() const { return prepared_->solid.count; }

std::size_t RayMarcher::bytes() const { return prepared_->solid.bytes() + prepared_->steps->bytes(); }

RayMarchReport RayMarcher::render(const RayMarchOptions& options, const RayMarchOutputs& outputs) const {
  const Execution& execution = options.execution;
  const Shape picture = check_outputs(outputs);
  check_camera(options.camera);
  if (!(options.half_angle >= 0 && options.half_angle <= std::numbers::pi))
    throw InvalidArgument("the cone's half-angle is " + std::to_string(options.half_angle) +
                          "; give radians from 0 to pi");
  const std::size_t each = cpu::march_scratch_bytes(*prepared_->steps);
  const int threads = fit_threads(execution, threads_of(execution), each);
  RayMarchReport report{Backend::cpu, resolve(execution.instruction_set), threads,
                        each * static_cast<std::size_t>(threads)};
  if (execution.stop.stop_requested()) throw Cancelled();
  const Frame frame = frame_of(options.camera, prepared_->solid, prepared_->spacing, picture);
  Monitor monitor(execution, cpu::tile_count(frame));
  cpu::march({&prepared_->solid, prepared_->steps.get(), &options, &outputs, frame}, threads, monitor, report);
  if (execution.progress) execution.progress(1);
  return report;
}

}  // namespace fathom::apps
