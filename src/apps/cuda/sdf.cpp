// As on the CPU; the set of sites answers on the device. The outline is the host's work, which is small.
#include "apps/cuda/sdf.h"

#include <algorithm>
#include <optional>

#include "apps/cuda/arrays.h"
#include "apps/cuda/texels.h"
#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "fathom/core/error.h"
#include "fathom/points/site_set.h"

namespace fathom::apps::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::Scratch;

points::SiteSet set_of(const Array& sites) {
  points::SiteSetOptions options;
  options.execution.backend = Backend::cuda;
  return points::SiteSet(points::Coordinates(sites.view()), options);
}

/// The memory of a call.
struct Memory {
  Scratch scratch;
  float* shares;
  Segment* segments;
  double* places;
  std::int64_t* nearest;

  Memory(std::int64_t pixels, std::int64_t segment_count, std::int64_t texels, std::byte* base) : scratch(base) {
    shares = scratch.take<float>(pixels);
    segments = scratch.take<Segment>(segment_count);
    places = scratch.take<double>(2 * texels);
    nearest = scratch.take<std::int64_t>(kNearestSites * texels);
  }
};

}  // namespace

void fill_texture(const Texels& texels, const Array& sites, const Placing& placing, const AnyDeviceView& texture,
                  Stream its_stream) {
  if (device_of({{texture, "texture"}}, its_stream) != current_device())
    throw InvalidArgument("'texture' is on another device than 'coverage'");
  const cudaStream_t stream = fathom::cuda::native(its_stream);
  const std::int64_t pixels = texels.shares.height * texels.shares.width, all = element_count(texture.shape());
  const std::int64_t segments = sites.shape()[0] / kSitesOfSegment, at_a_time = std::min(all, kTexelsOnDevice);
  const fathom::cuda::DeviceMemory block(Memory(pixels, segments, at_a_time, nullptr).scratch.bytes(), stream);
  const Memory at(pixels, segments, at_a_time, block.data());
  const auto upload = [&](void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "copying an outline");
  };
  upload(at.shares, texels.shares.data, static_cast<std::size_t>(pixels) * sizeof(float));
  upload(at.segments, texels.segments, static_cast<std::size_t>(segments) * sizeof(Segment));
  Texels there = texels;
  there.shares.data = at.shares;
  there.segments = at.segments;
  check(cudaMemsetAsync(at.nearest, 0xFF, static_cast<std::size_t>(kNearestSites * at_a_time) * sizeof(std::int64_t),
                        stream),
        "clearing sites");  // −1 for an outline of nothing
  std::optional<points::SiteSet> set;
  if (segments > 0) set = set_of(sites);
  points::QueryOptions query;
  query.k = kNearestSites;
  for (std::int64_t first = 0; first < all; first += kTexelsOnDevice) {
    const TexelRange range{first, std::min(kTexelsOnDevice, all - first), texture.shape()[1]};
    place_texels(range, placing, at.places, stream);
    points::DeviceQueryOutputs outputs;
    outputs.site = DeviceView<std::int64_t>(at.nearest, {range.count, kNearestSites});
    if (set) set->nearest(DeviceView<const double>(at.places, {range.count, 2}), query, outputs, its_stream);
    write_texels(range, there, at.places, at.nearest, texture, stream);
  }
}

}  // namespace fathom::apps::cuda
