// Pictures of a volume's solid voxels by ray marching, with steps as long as the distance to them allows.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "fathom/core/device.h"
#include "fathom/core/execution.h"
#include "fathom/core/view.h"
#include "fathom/grid/distance.h"

namespace fathom::apps {

/// How a ray finds out how far it may go without meeting a solid voxel.
enum class Stepping {
  unit,       ///< it does not: one unit after the other
  field,      ///< from a distance field of the whole volume, 4 bytes per voxel
  pointwise,  ///< from the distance to the nearest solid voxel, computed where the ray is; no field
  cone,       ///< from the distance to the nearest one ahead: in a cone, or so near the ray that it may be met
};

struct RayMarcherOptions {
  Stepping stepping = Stepping::field;
  /// Solid are the elements that are not less, compared as `grid::Sites` compares; absent: those that are not 0.
  std::optional<grid::Sites::Value> threshold;
  /// Physical size of a voxel along each axis, finite, > 0; empty: 1 everywhere; one value: for all axes.
  std::vector<double> spacing;
  /// Most bytes that the marcher may keep, and take while it is built.
  std::optional<std::size_t> memory_limit;
  /// Of the building: threads, scratch limit, progress and stop; and the backend, which says where the marcher lives.
  /// `cuda`: in the current device's memory, where it draws. `automatic`: there, if there is room for it.
  Execution execution;
};

enum class Projection { perspective, orthographic };

/// Stands where the solid voxels fill the picture at zoom 1, up to a margin of 4 % of it on each side. Vectors have the
/// order of the shape and any length but 0.
struct Camera {
  std::array<double, 3> toward_eye = {0.35, -0.8, 0.5};  ///< against the view
  std::array<double, 3> up = {1, 0, 0};                  ///< not parallel to it
  Projection projection = Projection::perspective;
  double field_of_view = std::numbers::pi / 6;  ///< of the picture's shorter side, radians, in (0, π)
  double zoom = 1;                              ///< of the picture's middle; finite, > 0
};

struct RayMarchOptions {
  Camera camera;
  /// Half-angle of `cone` in radians, 0 … π. Every angle gives the same picture.
  double half_angle = 0;
  /// Rays along a pixel's side, 1 … 16: shade and coverage are averages of its square. Cost: so many pictures; above 1,
  /// or with a coverage, 5 bytes of scratch per pixel on the host.
  int antialias = 1;
  std::uint8_t background = 255;  ///< shade of rays that meet nothing
  Execution execution;
};

/// Any number of views, all of the picture's shape [height, width]; a default view is not computed. Voxel, depth and
/// samples are of the ray through the pixel's middle.
struct RayMarchOutputs {
  AnyView shade;          ///< uint8: brightness of the surface, from 30 to 235; the background's where there is none
  AnyView voxel;          ///< int64: linear index of the first solid voxel that the ray meets; −1: none
  AnyView depth;          ///< float32: from the eye (orthographic: its plane) to that voxel's surface; +inf: none
  AnyView samples;        ///< int32: how often the ray was stopped to see how far it may go; 0 outside of the volume
  AnyView coverage = {};  ///< uint8: of the pixel, 0 … 255
};

/// What a call did.
struct RayMarchReport {
  Backend backend = Backend::cpu;
  InstructionSet instruction_set = InstructionSet::baseline;
  int threads = 1;
  std::size_t scratch_bytes = 0;
  std::int64_t rays = 0;     ///< that meet the volume
  std::int64_t hits = 0;     ///< of them, those that meet a solid voxel
  std::int64_t samples = 0;  ///< of all rays
  std::string device = {};   ///< name of the device that did the work; empty: the CPU did
};

/// A volume prepared for pictures. Movable; after construction render() may be called by many threads at once.
///
/// A ray takes samples: each asks how far nothing is solid, goes there, and looks at every voxel on the next unit of
/// its way, the unit being a voxel's edge. Which voxels a ray passes does not depend on where it stopped, and no step
/// passes a solid one, so that shade, voxel and depth are the same bytes for every stepping, angle and thread count,
/// and from a device.
///
/// Source: Khan & Zahran, pointwise evaluation of distance transforms (steps by pointwise and cone-restricted
/// distance); faces in the order of Amanatides & Woo 1987. Departs in that voxels have extent: a step ends half a
/// voxel's diagonal early, and the cone is joined by a cylinder of that radius: a narrow cone alone skips voxels.
class RayMarcher {
 public:
  /// @param volume  3 axes of up to 2³¹ − 1, any element type; not referred to afterwards
  /// @throws InvalidArgument what was wrong and what would work
  /// @throws DeviceError CUDA was asked for, and is not to be had
  explicit RayMarcher(const AnyConstView& volume, const RayMarcherOptions& options = {});
  /// Of a volume in a device's memory; it lives there, and is built in the order of the stream, for which this waits.
  /// The backend `cpu` is refused. Scratch: 1 byte per voxel and 12 per row, and what the field takes.
  /// @throws InvalidArgument as above | the volume's memory is not on one device | the stream is being captured
  /// @throws DeviceError a launch failed, or the device has not enough memory
  explicit RayMarcher(const AnyConstDeviceView& volume, const RayMarcherOptions& options = {}, Stream stream = {});
  ~RayMarcher();
  RayMarcher(RayMarcher&&) noexcept;
  RayMarcher& operator=(RayMarcher&&) noexcept;

  /// What the memory limit must allow for a marcher on the host.
  /// @param volume   not read: its shape and type count
  /// @param surface  solid voxels that have a face to what is not solid; only pointwise and cone keep them
  /// @throws InvalidArgument, DeviceError as above
  static std::size_t needed_bytes(const AnyConstView& volume, const RayMarcherOptions& options,
                                  std::int64_t surface = 0);

  std::int64_t solid() const;  ///< solid voxels
  std::size_t bytes() const;   ///< that the marcher keeps

  /// @param outputs  at least one view
  /// @throws InvalidArgument as above, before any output is touched
  /// @throws Cancelled the stop token asked for it; outputs are unspecified
  RayMarchReport render(const RayMarchOptions& options, const RayMarchOutputs& outputs) const;

 private:
  struct Prepared;
  std::unique_ptr<const Prepared> prepared_;
};

}  // namespace fathom::apps
