// What a call needs for each element is there before the number of sites is known; what it needs for each site, and for
// each face between regions, comes after.
#include "apps/cuda/voronoi.h"

#include <string>

#include "apps/boundary.h"
#include "apps/check.h"
#include "apps/cuda/arrays.h"
#include "apps/cuda/regions.h"
#include "apps/cuda/weights.h"
#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "fathom/core/error.h"

namespace fathom::apps::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::DeviceMemory;
using fathom::cuda::Scratch;

grid::DeviceDistanceOutputs nearest_into(std::int32_t* nearest, const Shape& shape) {
  grid::DeviceDistanceOutputs outputs;
  outputs.nearest = DeviceView<std::int32_t>(nearest, shape);
  return outputs;
}

struct OfElements {
  std::int32_t *nearest, *numbers;
  std::byte* numbering;
  Counter* faces;
  int* overflow;
  std::size_t bytes;

  OfElements(const Shape& shape, std::byte* base) {
    Scratch scratch(base);
    const std::int64_t elements = element_count(shape);
    nearest = scratch.take<std::int32_t>(elements);
    numbers = scratch.take<std::int32_t>(elements);
    numbering = scratch.take<std::byte>(static_cast<std::int64_t>(SiteNumbers::scratch_bytes(elements)));
    faces = scratch.take<Counter>(1);
    overflow = scratch.take<int>(1);
    bytes = scratch.bytes();
  }
};

struct OfSites {
  std::int64_t *sites, *sums;
  std::int32_t* places;
  std::size_t bytes;

  OfSites(std::int64_t count, const SumLayout& layout, std::byte* base) {
    Scratch scratch(base);
    sites = scratch.take<std::int64_t>(count);
    sums = scratch.take<std::int64_t>(count * layout.fields());
    places = scratch.take<std::int32_t>(count * layout.axes);
    bytes = scratch.bytes();
  }
};

template <class T>
std::vector<T> read(const T* from, std::int64_t count, cudaStream_t stream) {
  std::vector<T> values(static_cast<std::size_t>(count));
  check(cudaMemcpyAsync(values.data(), from, values.size() * sizeof(T), cudaMemcpyDeviceToHost, stream),
        "reading regions");
  check(cudaStreamSynchronize(stream), "reading regions");
  return values;
}

/// @param scratch  that the call has taken
std::vector<Boundary> find_boundaries(const Regions& regions, std::int64_t sites, Counter* counter,
                                      const std::vector<double>& face, const Execution& execution, std::size_t& scratch,
                                      cudaStream_t stream) {
  const std::int64_t count = count_faces(regions, counter, stream);
  std::vector<Boundary> result;
  if (count == 0) return result;
  if (count > INT32_MAX)
    throw InvalidArgument("the boundaries have " + std::to_string(count) +
                          " faces, and a device takes 2147483647; use the backend cpu");
  const FaceKeys form(sites);
  scratch += Faces(count, form, nullptr).bytes();
  check_scratch(execution, scratch);
  const DeviceMemory memory(Faces(count, form, nullptr).bytes(), stream);
  Faces faces(count, form, memory.data());
  const std::int64_t kinds = faces.find(regions, stream);
  const auto keys = read(faces.keys(), kinds, stream);
  const auto counts = read(faces.counts(), kinds, stream);
  for (std::size_t k = 0; k < keys.size(); ++k)
    add_faces({form.first(keys[k]), form.second(keys[k]),
               static_cast<double>(counts[k]) * face[FaceKeys::axis(keys[k])]},
              result);
  return result;
}

}  // namespace

FoundRegions find_regions(const AnyConstDeviceView& sites, const AnyConstDeviceView& weights,
                          const VoronoiOptions& options, const grid::DistanceOptions& transform,
                          const std::vector<double>& face, const AnyDeviceView& to, Stream its_stream) {
  const int device = device_of({{sites, "sites"}, {weights, "weights"}, {to, "regions"}}, its_stream);
  refuse_capture(its_stream, "a Voronoi diagram");
  const fathom::cuda::OnDevice on_device(device);
  const cudaStream_t stream = fathom::cuda::native(its_stream);
  const Shape& shape = sites.shape();
  const SumLayout layout{shape.rank(), options.moments};
  FoundRegions found;
  found.device = describe_device(device).name;
  const auto check_limit = [&](std::int64_t count) {
    found.scratch_bytes = regions_scratch_bytes(sites, transform, layout, count, weights.present());
    check_scratch(options.execution, found.scratch_bytes);
  };
  check_limit(0);
  const DeviceWeights heavy(weights, shape, stream);
  found.weight_scale = heavy.scale();
  const DeviceMemory memory(OfElements(shape, nullptr).bytes, stream);
  const OfElements at(shape, memory.data());
  grid::distance_transform(sites, transform, nearest_into(at.nearest, shape), its_stream);
  Regions regions(shape, at.nearest, at.numbers);
  regions.weights = heavy.values();
  const std::int64_t count = SiteNumbers::find(regions, at.numbering, stream);
  check_limit(count);
  const DeviceMemory of_sites(OfSites(count, layout, nullptr).bytes, stream);
  const OfSites table(count, layout, of_sites.data());
  if (count > 0) {
    SiteNumbers::list(regions, table.sites, table.places, stream);
    regions.places = table.places;
    const std::size_t bytes = static_cast<std::size_t>(count * layout.fields()) * sizeof(std::int64_t);
    check(cudaMemsetAsync(table.sums, 0, bytes, stream), "clearing sums");
    check(cudaMemsetAsync(at.overflow, 0, sizeof(int), stream), "clearing sums");
    sum_regions(regions, layout, table.sums, at.overflow, stream);
    if (read(at.overflow, 1, stream)[0] != 0) throw_moments_too_large();
    if (options.boundaries)
      found.boundaries =
          find_boundaries(regions, count, at.faces, face, options.execution, found.scratch_bytes, stream);
    found.sites = read(table.sites, count, stream);
    found.sums = read(table.sums, count * layout.fields(), stream);
  }
  if (to.present()) number_regions(regions, to, stream);
  return found;
}

std::size_t regions_scratch_bytes(const AnyConstDeviceView& sites, const grid::DistanceOptions& transform,
                                  const SumLayout& layout, std::int64_t count, bool weighted) {
  return OfElements(sites.shape(), nullptr).bytes + OfSites(count, layout, nullptr).bytes +
         DeviceWeights::bytes(sites.shape(), weighted) +
         grid::scratch_bytes(sites, transform, nearest_into(nullptr, sites.shape()));
}

}  // namespace fathom::apps::cuda
