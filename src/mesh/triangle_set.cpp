// The front of the mesh room: validates, prepares a mesh, hands over to the backend.
#include "fathom/mesh/triangle_set.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/curve_order.h"
#include "core/parallel.h"
#include "core/require_device.h"
#include "core/text.h"
#include "fathom/core/error.h"
#include "mesh/band_rule.h"
#include "mesh/cpu/band.h"
#include "mesh/cpu/fast_winding.h"
#include "mesh/cpu/field.h"
#include "mesh/outputs.h"
#include "mesh/prepared.h"
#include "mesh/resident_mesh.h"

#ifdef FATHOM_HAS_CUDA
#include "mesh/cuda/resident.h"
#endif

namespace fathom::mesh {

namespace {

Report report_of(const cpu::Run& run, std::size_t scratch_bytes) {
  return {Backend::cpu, run.set, run.threads, scratch_bytes, {}};
}

std::unique_ptr<const ResidentMesh> make_resident([[maybe_unused]] const PreparedMesh& prepared) {
  require_device();
#ifdef FATHOM_HAS_CUDA
  return cuda::make_resident(prepared, prepared.device_memory);
#else
  throw InternalError("a device without CUDA");
#endif
}

/// A mesh of a device's memory in the host's.
struct Downloaded {
  Array vertices, triangles;

  Downloaded([[maybe_unused]] const DeviceTriangles& mesh, [[maybe_unused]] Stream stream) {
    require_device();
#ifdef FATHOM_HAS_CUDA
    vertices = cuda::download(mesh.vertices, stream);
    triangles = cuda::download(mesh.triangles, stream);
#endif
  }
  Triangles views() const { return {vertices.view(), triangles.view()}; }
};

/// @throws InvalidArgument the backend that was asked for is not where the set lives
void check_backend(const Execution& execution, bool on_device) {
  if (on_device && execution.backend == Backend::cpu)
    throw InvalidArgument("the mesh is in a device's memory, where the backend cpu cannot work; use auto or cuda");
  if (on_device || execution.backend != Backend::cuda) return;
  require_device();
  throw InvalidArgument("the mesh is in the host's memory; build the set with the backend cuda, or use auto or cpu");
}

const ResidentMesh& on_its_device(const std::unique_ptr<const ResidentMesh>& resident, const Execution& execution) {
  check_backend(execution, resident != nullptr);
  if (!resident)
    throw InvalidArgument(
        "the mesh is in the host's memory, where arrays of a device cannot be answered; build the set with "
        "the backend cuda");
  return *resident;
}

Report report_of(const ResidentMesh& resident, std::size_t scratch_bytes) {
  return {.backend = Backend::cuda, .scratch_bytes = scratch_bytes, .device = resident.device_name()};
}

/// @param call  call(execution) works on the device, within the caller's limit and what the set leaves of the memory
///   that it may have there
template <class Call>
auto within_memory(const PreparedMesh& prepared, const ResidentMesh& resident, const Execution& execution,
                   const Call& call) {
  const std::size_t kept = resident.bytes();
  if (!prepared.device_memory || execution.scratch_limit.value_or(SIZE_MAX) <= *prepared.device_memory - kept)
    return call(execution);
  Execution within = execution;
  within.scratch_limit = *prepared.device_memory - kept;
  try {
    return call(within);
  } catch (const ScratchTooSmall& error) {
    throw device_memory_too_small(*prepared.device_memory, kept + error.needed());
  }
}

BandOptions with(const Execution& execution, BandOptions options) {
  options.execution = execution;
  return options;
}

template <class View>
void check_shape(const View& points) {
  if (points.rank() != 2 || points.shape()[1] != 3)
    throw InvalidArgument("points must have the shape [n, 3], not " + to_string(points.shape()));
  if (points.dtype() != DType::float32 && points.dtype() != DType::float64)
    throw InvalidArgument("points are " + std::string(name_of(points.dtype())) + "; give float32 or float64");
}

void check_points(const AnyConstView& points) {
  check_shape(points);
  const auto check = [&]<class T>(const HostView<const T>& view) {
    for (std::int64_t i = 0; i < view.shape()[0]; ++i)
      for (int k = 0; k < 3; ++k)
        if (const auto x = static_cast<double>(view.data()[i * view.strides()[0] + k]); !(std::abs(x) <= 1e150))
          throw InvalidArgument("point " + std::to_string(i) + " has the coordinate " + text(x) +
                                "; coordinates must be finite, and at most 1e150");
  };
  points.dtype() == DType::float32 ? check(points.as<float>()) : check(points.as<double>());
}

void check_lattice(const Lattice& lattice) {
  for (std::size_t k = 0; k < 3; ++k) {
    if (!(lattice.spacing[k] > 0) || !std::isfinite(lattice.spacing[k]))
      throw InvalidArgument("the lattice's spacing along " + std::string(1, "xyz"[k]) +
                            " is not finite or not above 0");
    if (lattice.shape[k] < 0 || lattice.shape[k] > INT32_MAX)
      throw InvalidArgument("the lattice has " + std::to_string(lattice.shape[k]) + " points along " +
                            std::string(1, "xyz"[k]) + "; 0 to 2147483647 can be counted");
    if (!(std::abs(lattice.origin[k]) <= 1e150) || !(std::abs(lattice.at(k, lattice.shape[k])) <= 1e150))
      throw InvalidArgument("the lattice reaches beyond 1e150 along " + std::string(1, "xyz"[k]));
  }
}

}  // namespace

void check_band(const Lattice& lattice, const BandOptions& options) {
  check_lattice(lattice);
  if (!(options.cutoff > 0) || !std::isfinite(options.cutoff))
    throw InvalidArgument("the cutoff is not finite or not above 0; give the largest distance of the band");
  if (options.dtype != DType::float32 && options.dtype != DType::float64)
    throw InvalidArgument("a band's distances are float32 or float64, not " + std::string(name_of(options.dtype)));
  if (options.dtype == DType::float32 && static_cast<float>(options.cutoff) == 0)
    throw InvalidArgument("the cutoff " + text(options.cutoff) +
                          " is 0 as float32, which has no sides; ask for float64");
}

namespace {

Sign chosen(Sign wanted, const Topology& topology) {
  if (wanted == Sign::automatic) return topology.closed() ? Sign::winding : Sign::fast_winding;
  if (wanted == Sign::winding && !topology.closed())
    throw InvalidArgument("the mesh has " + std::to_string(topology.open) +
                          " open edges, so that nothing is certainly inside; use the sign fast-winding, or none");
  return wanted;
}

}  // namespace

std::size_t band_bytes(std::int64_t tiles, const BandOptions& options) {
  const std::size_t of_point = size_of(options.dtype) + (options.triangles ? sizeof(std::int32_t) : 0) +
                               (options.closest ? 3 * sizeof(float) : 0);
  const std::size_t values = static_cast<std::size_t>(tiles) * kTilePoints * of_point;
  const std::size_t waiting = static_cast<std::size_t>(cpu::run_of(options.execution).threads) * cpu::kPieceBytes;
  const std::size_t of_tile = 3 * 4 + kTileSide * 8 + 1 + (options.compact ? 8 + kTileSide * 8 : 0);
  return values + std::min(values, waiting) + static_cast<std::size_t>(tiles) * 2 * of_tile;
}

TriangleSet::TriangleSet(const Triangles& mesh, const TriangleSetOptions& options) {
  if (options.execution.backend == Backend::cuda) require_device();
  const cpu::Run run = cpu::run_of(options.execution);
  auto prepared = std::make_unique<PreparedMesh>();
  prepared->surface = make_surface(mesh);
  cpu::check_scratch(options.execution, build_scratch_bytes(prepared->surface.size()));
  const bool with_normals = options.sign == Sign::pseudonormal;
  const bool with_features = options.execution.backend == Backend::cuda && prepared->surface.size() <= kMostNamed;
  prepared->topology = topology_of(prepared->surface, with_normals ? &prepared->pseudonormals : nullptr,
                                   with_features ? &prepared->features : nullptr, run.threads);
  prepared->sign = chosen(options.sign, prepared->topology);
  prepared->rule = options.rule;
  prepared->device_memory = options.device_memory;
  Monitor monitor(options.execution, prepared->surface.size());
  prepared->tree = build_tree(prepared->surface, run.threads, monitor);
  if (prepared->sign == Sign::fast_winding)
    prepared->fast_winding = std::make_shared<FastWinding>(prepared->surface, prepared->tree, run.threads);
  if (options.execution.backend == Backend::cuda) {
    resident_ = make_resident(*prepared);
    prepared->release();
  }
  prepared_ = std::move(prepared);
}

TriangleSet::TriangleSet(const DeviceTriangles& mesh, const TriangleSetOptions& options, Stream stream) {
  if (options.execution.backend == Backend::cpu)
    throw InvalidArgument("the mesh is in a device's memory, where the backend cpu cannot work; use auto or cuda");
  TriangleSetOptions there = options;
  there.execution.backend = Backend::cuda;
  *this = TriangleSet(Downloaded(mesh, stream).views(), there);
}

TriangleSet::~TriangleSet() = default;
TriangleSet::TriangleSet(TriangleSet&&) noexcept = default;
TriangleSet& TriangleSet::operator=(TriangleSet&&) noexcept = default;

std::int64_t TriangleSet::size() const { return prepared_->tree.count; }
std::size_t TriangleSet::bytes() const { return resident_ ? resident_->bytes() : prepared_->bytes(); }
bool TriangleSet::on_device() const { return resident_ != nullptr; }
std::shared_ptr<const PreparedMesh> on_the_host(const TriangleSet& set) {
  if (!set.on_device()) return {std::shared_ptr<void>(), set.prepared_.get()};
  const auto copy = std::make_shared<PreparedMesh>(*set.prepared_);  // all that is small
  copy->sign = Sign::none;
  set.resident_->download(copy->surface, copy->tree);
  return copy;
}

const Bounds& TriangleSet::bounds() const { return prepared_->surface.bounds; }
const Topology& TriangleSet::topology() const { return prepared_->topology; }
Sign TriangleSet::sign() const { return prepared_->sign; }

Report TriangleSet::nearest(const AnyConstView& points, const Outputs& outputs, const Execution& execution) const {
  check_points(points);
  check_backend(execution, on_device());
  const Places to = places_of(outputs, {points.shape()[0]});
  if (resident_)
    return within_memory(*prepared_, *resident_, execution, [&](const Execution& within) {
      return report_of(*resident_, resident_->nearest(points, to, within));
    });
  const cpu::Run run = cpu::run_of(execution);
  constexpr std::int64_t kWorthOrder = 64, kMostOrdered = UINT32_MAX;
  const std::int64_t count = points.shape()[0];
  const bool ordered = count >= kWorthOrder && count <= kMostOrdered &&
                       curve_order_bytes(count) <= execution.scratch_limit.value_or(SIZE_MAX);
  cpu::answer_points(*prepared_, points, ordered, to, run);
  return report_of(run, ordered ? curve_order_bytes(count) : 0);
}

Report TriangleSet::field(const Lattice& lattice, const Outputs& outputs, const Execution& execution) const {
  check_lattice(lattice);
  check_backend(execution, on_device());
  const Places to = places_of(outputs, lattice.array_shape());
  if (resident_)
    return within_memory(*prepared_, *resident_, execution, [&](const Execution& within) {
      return report_of(*resident_, resident_->field(lattice, to, within));
    });
  const cpu::Run run = cpu::run_of(execution);
  cpu::answer_lattice(*prepared_, lattice, to, run);
  return report_of(run, 0);
}

Band TriangleSet::band(const Lattice& lattice, const BandOptions& options) const {
  check_band(lattice, options);
  check_backend(options.execution, on_device());
  if (resident_)
    return within_memory(*prepared_, *resident_, options.execution,
                         [&](const Execution& within) { return resident_->band(lattice, with(within, options)); });
  return cpu::make_band(*prepared_, lattice, options, cpu::run_of(options.execution));
}

Report TriangleSet::nearest(const AnyConstDeviceView& points, const DeviceOutputs& outputs, const Execution& execution,
                            Stream stream) const {
  const ResidentMesh& resident = on_its_device(resident_, execution);
  check_shape(points);
  return report_of(resident, resident.nearest(points, places_of(outputs, {points.shape()[0]}), stream));
}

Report TriangleSet::field(const Lattice& lattice, const DeviceOutputs& outputs, const Execution& execution,
                          Stream stream) const {
  const ResidentMesh& resident = on_its_device(resident_, execution);
  check_lattice(lattice);
  const Places to = places_of(outputs, lattice.array_shape());
  return within_memory(*prepared_, resident, execution, [&](const Execution& within) {
    return report_of(resident, resident.field(lattice, to, within, stream));
  });
}

DeviceBand TriangleSet::device_band(const Lattice& lattice, const BandOptions& options, Stream stream) const {
  const ResidentMesh& resident = on_its_device(resident_, options.execution);
  check_band(lattice, options);
  if (options.compact)
    throw InvalidArgument("a band in a device's memory is not compact; make it so by download() and Band::compact()");
  return within_memory(*prepared_, resident, options.execution,
                       [&](const Execution& within) { return resident.band(lattice, with(within, options), stream); });
}

}  // namespace fathom::mesh
