// The front of ray marching: validates, prepares volumes, hands over to the backend.
#include "fathom/apps/ray_march.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "apps/antialias.h"
#include "apps/camera.h"
#include "apps/cpu/march.h"
#include "apps/cpu/steps.h"
#include "apps/device_call.h"
#include "apps/marcher.h"
#include "apps/shade.hd.h"
#include "core/require_device.h"
#include "fathom/core/device.h"
#include "fathom/core/error.h"
#ifdef FATHOM_HAS_CUDA
#include "apps/cuda/march.h"
#endif

namespace fathom::apps {

struct RayMarcher::Prepared {
  std::array<double, 3> spacing{};
  std::unique_ptr<const Marcher> marcher;
};

namespace {

void check_threads(const Execution& execution) {
  if (execution.threads < 0)
    throw InvalidArgument("the number of threads is " + std::to_string(execution.threads) +
                          "; give 1 or more, or 0 for all processors");
}

void check_volume(const AnyConstView& volume, const RayMarcherOptions& options) {
  if (volume.rank() != 3)
    throw InvalidArgument("rays march through volumes with 3 axes, not " + std::to_string(volume.rank()));
  for (std::int64_t n : volume.shape())
    if (n > std::numeric_limits<std::int32_t>::max())
      throw InvalidArgument("the volume's shape " + to_string(volume.shape()) + " passes what int32 indices hold");
  if (options.threshold && options.threshold->is_nan())
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
  check_output(outputs.coverage, "coverage", DType::uint8, picture);
  if (picture.empty()) throw InvalidArgument("no output was given; give shade, voxel, depth, samples or coverage");
  return picture;
}

/// @throws InvalidArgument the marcher is elsewhere
void check_backend(Backend wanted, Backend marcher) {
  if (wanted == Backend::automatic || wanted == marcher) return;
  if (marcher == Backend::cuda)
    throw InvalidArgument("the marcher is in a device's memory, where the backend cpu cannot work; use auto or cuda");
  require_device();
  throw InvalidArgument("the marcher is in the host's memory; build it with the backend cuda, or use auto or cpu");
}

/// Where the caller wants it; with `automatic` on a device that has room for it.
std::unique_ptr<const Marcher> make_marcher(const AnyConstView& volume, const RayMarcherOptions& options) {
  const Execution& execution = options.execution;
  const auto solid = [&] {
    return solid_of(volume, options.threshold, execution.threads > 0 ? execution.threads : available_threads());
  };
  if (execution.backend == Backend::cuda) require_device();
#ifdef FATHOM_HAS_CUDA
  if (execution.backend != Backend::cpu && device_count() > 0) {
    try {
      return cuda::make_marcher(solid(), options);
    } catch (const DeviceError&) {
      if (execution.backend == Backend::cuda) throw;
    }
  }
#endif
  return cpu::make_marcher(volume, solid(), options);
}

}  // namespace

RayMarcher::RayMarcher(const AnyConstView& volume, const RayMarcherOptions& options) {
  check_volume(volume, options);
  check_threads(options.execution);
  prepared_.reset(new Prepared{spacing_of(options.spacing), make_marcher(volume, options)});
}

#ifdef FATHOM_HAS_CUDA
RayMarcher::RayMarcher(const AnyConstDeviceView& volume, const RayMarcherOptions& options, Stream stream) {
  check_device_execution(options.execution);
  check_volume(unchecked(volume), options);
  check_threads(options.execution);
  const int threads = options.execution.threads > 0 ? options.execution.threads : available_threads();
  prepared_.reset(new Prepared{spacing_of(options.spacing), cuda::make_marcher(volume, options, threads, stream)});
}
#else
RayMarcher::RayMarcher(const AnyConstDeviceView&, const RayMarcherOptions&, Stream) { refuse_device_views(); }
#endif

RayMarcher::~RayMarcher() = default;
RayMarcher::RayMarcher(RayMarcher&&) noexcept = default;
RayMarcher& RayMarcher::operator=(RayMarcher&&) noexcept = default;

std::size_t RayMarcher::needed_bytes(const AnyConstView& volume, const RayMarcherOptions& options,
                                     std::int64_t surface) {
  check_volume(volume, options);
  spacing_of(options.spacing);
  if (options.execution.backend == Backend::cuda) require_device();
  return cpu::needed_bytes(volume, options, surface);
}

std::int64_t RayMarcher::solid() const { return prepared_->marcher->solid().count; }

std::size_t RayMarcher::bytes() const { return prepared_->marcher->bytes(); }

RayMarchReport RayMarcher::render(const RayMarchOptions& options, const RayMarchOutputs& outputs) const {
  const Marcher& marcher = *prepared_->marcher;
  const Shape picture = check_outputs(outputs);
  check_camera(options.camera);
  if (!(options.half_angle >= 0 && options.half_angle <= std::numbers::pi))
    throw InvalidArgument("the cone's half-angle is " + std::to_string(options.half_angle) +
                          "; give radians from 0 to pi");
  if (options.antialias < 1 || options.antialias > kMostAntialias)
    throw InvalidArgument("antialias is " + std::to_string(options.antialias) + "; give 1 to " +
                          std::to_string(kMostAntialias) + " rays along a pixel's side");
  check_threads(options.execution);
  check_backend(options.execution.backend, marcher.backend());
  const Frame frame = frame_of(options.camera, marcher.solid(), prepared_->spacing, picture);
  const bool as_it_is = options.antialias == 1 && options.background == kBackground;
  const bool averaged = outputs.coverage.present() || (outputs.shade.present() && !as_it_is);
  const RayMarchReport report =
      averaged ? march_averaged(marcher, frame, options, outputs) : marcher.march(frame, options, outputs);
  if (options.execution.progress) options.execution.progress(1);
  return report;
}

}  // namespace fathom::apps
