#include "points/device_build.h"

#include "core/require_device.h"
#include "fathom/core/device.h"
#include "fathom/core/error.h"
#include "points/cpu/extent.h"

#ifdef FATHOM_HAS_CUDA
#include "points/cuda/download.h"
#include "points/cuda/mask_sites.h"
#include "points/cuda/resident.h"
#include "points/cuda/resident_voxels.h"
#include "points/cuda/streamed.h"
#endif

namespace fathom::points {

namespace {

ResidentSource source_of(const std::vector<Cloud>& clouds, MemorySpace space, const std::vector<std::uint32_t>& ids,
                         const SetFacts& facts, const SiteSetOptions& options) {
  ResidentSource source;
  source.clouds = clouds;
  source.space = space;
  source.ids = ids;
  source.storage = facts.storage;
  source.scratch_limit = options.execution.scratch_limit;
  source.memory = options.device_memory;
  source.accept = [facts](const Box& extent) { check_inside(extent, facts.period, facts.axes); };
  return source;
}

std::unique_ptr<const ResidentSet> make_resident([[maybe_unused]] const ResidentSource& source,
                                                 [[maybe_unused]] Stream stream) {
#ifdef FATHOM_HAS_CUDA
  return cuda::make_resident(source, stream);
#else
  throw InternalError("a device without CUDA");
#endif
}

std::unique_ptr<const ResidentSet> make_streamed([[maybe_unused]] const StreamedSource& source) {
#ifdef FATHOM_HAS_CUDA
  return cuda::make_streamed(source);
#else
  throw InternalError("a device without CUDA");
#endif
}

/// Whether sites of the host stay there and pass by.
bool pass_by(const std::vector<Cloud>& clouds, const SetFacts& facts, const SiteSetOptions& options) {
  if (!options.device_memory || options.storage != Storage::plain || facts.naming.linear) return false;
  std::size_t bytes = 0;
  for (const Cloud& cloud : clouds) bytes += static_cast<std::size_t>(cloud.count * cloud.axes) * size_of(cloud.dtype);
  return bytes > *options.device_memory / 2;
}

std::vector<Box> boxes_of(const std::vector<Cloud>& clouds, const SetFacts& facts, const SiteSetOptions& options) {
  std::vector<Box> boxes;
  for (const Cloud& cloud : clouds) {
    boxes.push_back(cpu::extent_of(cloud, "site", threads_of(options.execution)));
    if (cloud.count > 0) check_inside(boxes.back(), facts.period, facts.axes);
  }
  return boxes;
}

std::vector<int> devices_of(const SiteSetOptions& options) {
  if (options.devices.empty()) return {current_device()};
  for (int device : options.devices)
    if (device < 0 || device >= device_count())
      throw InvalidArgument("there is no device " + std::to_string(device) + "; devices go from 0 to " +
                            std::to_string(device_count() - 1));
  return options.devices;
}

}  // namespace

ResidentSets make_residents(const std::vector<Cloud>& clouds, const std::vector<std::uint32_t>& ids,
                            const SetFacts& facts, const SiteSetOptions& options) {
  require_device();
  ResidentSets sets;
  if (pass_by(clouds, facts, options)) {
    const std::vector<Box> boxes = boxes_of(clouds, facts, options);
    for (int device : devices_of(options)) sets.push_back(make_streamed({clouds, boxes, device}));
    return sets;
  }
  ResidentSource source = source_of(clouds, MemorySpace::host, ids, facts, options);
  for (int device : devices_of(options)) {
    source.device = device;
    sets.push_back(make_resident(source, {}));
  }
  return sets;
}

ResidentSets make_residents_in_place(const std::vector<Cloud>& clouds, const SetFacts& facts,
                                     const SiteSetOptions& options, Stream stream) {
  require_device();
  ResidentSets sets;
  sets.push_back(make_resident(source_of(clouds, MemorySpace::device, {}, facts, options), stream));
  return sets;
}

ResidentSets make_residents_of_mask([[maybe_unused]] const AnyConstDeviceView& mask,
                                    [[maybe_unused]] const SetFacts& facts,
                                    [[maybe_unused]] const SiteSetOptions& options, [[maybe_unused]] Stream stream) {
  require_device();
#ifdef FATHOM_HAS_CUDA
  const cuda::MaskSites found(mask, options.every, options.storage == Storage::sorted, options.device_memory, stream);
  ResidentSource source = source_of({found.sites()}, MemorySpace::device, {}, facts, options);
  source.passing = true;
  source.ids_there = found.ids();
  if (source.memory) *source.memory -= found.bytes();
  ResidentSets sets;
  sets.push_back(cuda::make_resident(source, stream));
  return sets;
#else
  throw InternalError("a device without CUDA");
#endif
}

std::vector<std::unique_ptr<FollowingSet>> make_followers([[maybe_unused]] const Tree& tree,
                                                          const SiteSetOptions& options) {
  require_device();
  std::vector<std::unique_ptr<FollowingSet>> sets;
  for ([[maybe_unused]] int device : devices_of(options)) {
#ifdef FATHOM_HAS_CUDA
    sets.push_back(cuda::make_follower(tree, device));
#endif
  }
  return sets;
}

std::unique_ptr<ResidentVoxels> make_voxels([[maybe_unused]] const Shape& shape,
                                            [[maybe_unused]] const Pyramid* pyramid,
                                            [[maybe_unused]] std::int64_t count) {
  require_device();
#ifdef FATHOM_HAS_CUDA
  return cuda::make_voxels(shape, pyramid, count);
#else
  throw InternalError("a device without CUDA");
#endif
}

std::unique_ptr<ResidentVoxels> make_voxels([[maybe_unused]] const AnyConstDeviceView& mask,
                                            [[maybe_unused]] Stream stream) {
  require_device();
#ifdef FATHOM_HAS_CUDA
  return cuda::make_voxels(mask, stream);
#else
  throw InternalError("a device without CUDA");
#endif
}

Array download([[maybe_unused]] const Cloud& points, [[maybe_unused]] Stream stream) {
  require_device();
#ifdef FATHOM_HAS_CUDA
  return cuda::download(points, stream);
#else
  throw InternalError("a device without CUDA");
#endif
}

std::string names_of(const ResidentSets& sets) {
  std::string names;
  for (const auto& set : sets) names += (names.empty() ? "" : ", ") + set->device_name();
  return names;
}

const ResidentSet& nearest_to(const CoordinateLayout& queries, const ResidentSets& sets) {
  if (sets.size() == 1 || queries.count() == 0) return *sets[0];
  for (const auto& set : sets)
    if (set->reaches(queries.axis(0).data)) return *set;
  throw InvalidArgument("'queries' is on another device than the sites");
}

}  // namespace fathom::points
