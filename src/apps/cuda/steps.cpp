#include "apps/cuda/steps.h"

#include <utility>

#include "apps/marcher.h"
#include "apps/safe_step.hd.h"
#include "core/cuda/runtime.h"
#include "fathom/core/error.h"
#include "fathom/grid/distance.h"
#include "fathom/points/site_set.h"

namespace fathom::apps::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::DeviceMemory;
using fathom::cuda::Scratch;

class UnitSteps : public Steps {
 public:
  void march(const Part& part, const RayMarchOptions&, std::byte*, cudaStream_t stream) const override {
    march_alone(part, nullptr, stream);
  }
  std::size_t bytes() const override { return 0; }
  std::size_t scratch_bytes(std::int64_t) const override { return 0; }
};

class FieldSteps : public Steps {
 public:
  explicit FieldSteps(std::size_t bytes) : bytes_(bytes), memory_(bytes, nullptr) {}

  float* field() { return reinterpret_cast<float*>(memory_.data()); }

  void march(const Part& part, const RayMarchOptions&, std::byte*, cudaStream_t stream) const override {
    march_alone(part, reinterpret_cast<const float*>(memory_.data()), stream);
  }
  std::size_t bytes() const override { return bytes_; }
  std::size_t scratch_bytes(std::int64_t) const override { return 0; }

 private:
  std::size_t bytes_;
  DeviceMemory memory_;
};

class PointSteps : public Steps {
 public:
  PointSteps(points::SiteSet sites, bool in_cone) : sites_(std::move(sites)), in_cone_(in_cone) {}

  void march(const Part& part, const RayMarchOptions& options, std::byte* scratch, cudaStream_t stream) const override {
    Scratch memory(scratch);
    Travellers travellers = Travellers::take(memory, part.count, in_cone_);
    set_to_none(travellers, stream);
    set_out_all(part, travellers, stream);
    while (const std::uint32_t rays = count_left(travellers, stream)) {
      if (options.execution.stop.stop_requested()) throw Cancelled();
      std::swap(travellers.active, travellers.left);
      set_to_none(travellers, stream);
      locate(travellers, rays, stream);
      measure(travellers, rays, options, stream);
      go_on_all(part, travellers, rays, stream);
    }
  }

  std::size_t bytes() const override { return sites_.bytes(); }

  std::size_t scratch_bytes(std::int64_t rays) const override {
    Scratch memory(nullptr);
    Travellers::take(memory, rays, in_cone_);
    return memory.bytes();
  }

 private:
  static void set_to_none(const Travellers& travellers, cudaStream_t stream) {
    check(cudaMemsetAsync(travellers.count, 0, sizeof *travellers.count, stream), "counting rays");
  }

  static std::uint32_t count_left(const Travellers& travellers, cudaStream_t stream) {
    std::uint32_t count = 0;
    check(cudaMemcpyAsync(&count, travellers.count, sizeof count, cudaMemcpyDeviceToHost, stream), "counting rays");
    check(cudaStreamSynchronize(stream), "marching rays");
    return count;
  }

  void measure(const Travellers& travellers, std::uint32_t rays, const RayMarchOptions& options,
               cudaStream_t stream) const {
    points::QueryOptions query;
    if (in_cone_) {
      query.cone.device_directions = DeviceView<const double>(travellers.direction, {rays, 3});
      query.cone.half_angle = options.half_angle;
      query.cone.cylinder_radius = kVoxelRadius + kStepMargin;
    }
    points::DeviceQueryOutputs outputs;
    outputs.distance = DeviceView<double>(travellers.length, {rays});
    sites_.nearest(DeviceView<const double>(travellers.place, {rays, 3}), query, outputs, Stream{stream});
  }

  points::SiteSet sites_;
  bool in_cone_;
};

/// Of the bits, so that volumes of every type and layout come to the same.
std::unique_ptr<const Steps> make_field_steps(const Solid& solid, const Voxels& voxels,
                                              const RayMarcherOptions& options) {
  const Shape shape{solid.extents[0], solid.extents[1], solid.extents[2]};
  const auto elements = static_cast<std::size_t>(element_count(shape));
  if (elements == 0) return std::make_unique<UnitSteps>();
  grid::DistanceOptions distance;
  distance.sites = {grid::Sites::Rule::nonzero, 0};
  grid::DeviceDistanceOutputs outputs;
  outputs.distance = DeviceView<float>(nullptr, shape);
  const std::size_t scratch = grid::scratch_bytes(DeviceView<const std::uint8_t>(nullptr, shape), distance, outputs);
  check_memory(options, solid.bytes() + elements * (sizeof(float) + 1) + scratch);
  auto steps = std::make_unique<FieldSteps>(elements * sizeof(float));
  const DeviceMemory mask(elements, nullptr);
  auto* bytes = reinterpret_cast<std::uint8_t*>(mask.data());
  unpack(voxels, bytes, nullptr);
  outputs.distance = DeviceView<float>(steps->field(), shape);
  grid::distance_transform(DeviceView<const std::uint8_t>(bytes, shape), distance, outputs);
  return steps;
}

/// From the surface's voxels, as on the CPU.
std::unique_ptr<const Steps> make_point_steps(const Solid& solid, const RayMarcherOptions& options) {
  constexpr std::size_t kOfASite = 12 + 12 + 18 + 32;  // indices here and there, place in the set, turn while sorted
  constexpr std::size_t kOfASet = std::size_t{1} << 20;
  const std::int64_t count = count_surface(solid);
  check_memory(options, solid.bytes() + static_cast<std::size_t>(count) * kOfASite + kOfASet);
  const Array surface = surface_of(solid, count);
  points::SiteSetOptions set;
  set.execution.backend = Backend::cuda;
  return std::make_unique<PointSteps>(points::SiteSet(surface.view(), set), options.stepping == Stepping::cone);
}

}  // namespace

std::unique_ptr<const Steps> make_steps(const Solid& solid, const Voxels& voxels, const RayMarcherOptions& options) {
  switch (options.stepping) {
    case Stepping::unit: check_memory(options, solid.bytes()); return std::make_unique<UnitSteps>();
    case Stepping::field: return make_field_steps(solid, voxels, options);
    case Stepping::pointwise:
    case Stepping::cone: return make_point_steps(solid, options);
  }
  throw InternalError("unknown stepping");
}

}  // namespace fathom::apps::cuda
