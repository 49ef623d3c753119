// Ends and middles of the outline's segments are sites. Of the nearest few of each texel the segments are looked at:
// the nearest segment is hardly ever another, and then by little, since no point of a segment is far from a site.
#include "fathom/apps/sdf.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "apps/check.h"
#include "apps/device_call.h"
#include "apps/each_image.h"
#include "apps/outline.h"
#include "apps/row_access.h"
#include "apps/sdf.hd.h"
#include "core/parallel.h"
#include "core/text.h"
#include "fathom/core/array.h"
#include "fathom/core/error.h"
#include "fathom/points/site_set.h"
#ifdef FATHOM_HAS_CUDA
#include "apps/cuda/download.h"
#include "apps/cuda/sdf.h"
#endif

namespace fathom::apps {

namespace {

constexpr std::int64_t kAtATime = 1 << 16;  ///< texels

void check(const Shape& image, const SdfOptions& options, const AnyView& texture) {
  if (!(options.range > 0) || std::isinf(options.range))
    throw InvalidArgument("range is " + text(options.range) + "; give a finite number of texels above 0");
  if (!(options.pad >= 0) || std::isinf(options.pad))
    throw InvalidArgument("pad is " + text(options.pad) +
                          "; give a finite number of texels that is at least 0");
  const DType dtype = texture.dtype();
  if (dtype != DType::uint8 && dtype != DType::uint16 && dtype != DType::float32 && dtype != DType::float64)
    throw InvalidArgument("the texture is " + std::string(name_of(dtype)) +
                          "; it must be uint8, uint16, float32 or float64");
  if (element_count(image) == 0) throw InvalidArgument("the image has no pixels");
  for (std::int64_t extent : texture.shape())
    if (element_count(texture.shape()) > 0 && !(static_cast<double>(extent) > 2 * options.pad))
      throw InvalidArgument("pad is " + text(options.pad) + " texels, which leaves nothing of a texture of " +
                            to_string(texture.shape()) + "; give less, or a larger size");
}

Placing placing_of(const Shape& image, const Shape& texture, double pad) {
  const auto room = [&](int axis) { return static_cast<double>(texture[axis]) - 2 * pad; };
  const auto extent = [](const Shape& shape, int axis) { return static_cast<double>(shape[axis]); };
  const double scale = std::min(room(0) / extent(image, 0), room(1) / extent(image, 1));
  return {scale, extent(image, 0) / 2 - extent(texture, 0) / (2 * scale),
          extent(image, 1) / 2 - extent(texture, 1) / (2 * scale)};
}

/// Ends and middles of segments.
Array sites_of(const std::vector<Segment>& segments) {
  Array sites(DType::float64, {kSitesOfSegment * static_cast<std::int64_t>(segments.size()), 2});
  double* to = sites.as<double>().data();
  for (const Segment& s : segments)
    for (const auto& [y, x] :
         {std::pair{s.y0, s.x0}, std::pair{(s.y0 + s.y1) / 2, (s.x0 + s.x1) / 2}, std::pair{s.y1, s.x1}}) {
      *to++ = y;
      *to++ = x;
    }
  return sites;
}

class Field {
 public:
  Field(const Texels& texels, const Array& sites, const Placing& placing, const Execution& execution, int threads)
      : texels_(texels),
        placing_(placing),
        execution_(execution),
        threads_(threads),
        set_(points::Coordinates(sites.view()), set_options()) {}

  /// Texels first ≤ k < last, row by row.
  template <class T>
  void fill(std::int64_t first, std::int64_t last, const HostView<T>& texture) const {
    const std::int64_t count = last - first, width = texture.shape()[1];
    Array places(DType::float64, {count, 2}), nearest(DType::int64, {count, kNearestSites});
    double* const place = places.as<double>().data();
    for (std::int64_t k = 0; k < count; ++k) {
      place[2 * k] = placing_.row((first + k) / width);
      place[2 * k + 1] = placing_.column((first + k) % width);
    }
    points::QueryOptions query;
    query.k = kNearestSites;
    query.execution = quiet();
    points::QueryOutputs outputs;
    outputs.site = nearest.view();
    set_.nearest(points::Coordinates(std::as_const(places).view()), query, outputs);
    constexpr std::int64_t kPiece = 1024;
    parallel_jobs(execution_, threads_, (count + kPiece - 1) / kPiece, [&](int, std::int64_t job) {
      for (std::int64_t k = job * kPiece; k < std::min(count, (job + 1) * kPiece); ++k) {
        const std::int64_t* const sites_near = nearest.as<std::int64_t>().data() + k * kNearestSites;
        const double value = texels_.value(place[2 * k], place[2 * k + 1], sites_near);
        row_at(texture, (first + k) / width)[(first + k) % width] = stored<T>(value);
      }
    });
  }

 private:
  /// Of parts of the call: they report nothing.
  Execution quiet() const {
    Execution execution = execution_;
    execution.backend = Backend::cpu;
    execution.scratch_limit.reset();
    execution.progress = nullptr;
    return execution;
  }
  points::SiteSetOptions set_options() const {
    points::SiteSetOptions options;
    options.execution = quiet();
    return options;
  }

  const Texels texels_;
  const Placing& placing_;
  const Execution& execution_;
  const int threads_;
  const points::SiteSet set_;
};

void fill_on_cpu(const Texels& texels, const Array& sites, const Placing& placing, const Execution& execution,
                 int threads, const AnyView& texture) {
  const Field field(texels, sites, placing, execution, threads);
  const std::int64_t all = element_count(texture.shape());
  Monitor monitor(execution, all);
  for (std::int64_t first = 0; first < all; first += kAtATime) {
    const std::int64_t last = std::min(all, first + kAtATime);
    switch (texture.dtype()) {
      case DType::uint8: field.fill(first, last, texture.as<std::uint8_t>()); break;
      case DType::uint16: field.fill(first, last, texture.as<std::uint16_t>()); break;
      case DType::float32: field.fill(first, last, texture.as<float>()); break;
      default: field.fill(first, last, texture.as<double>()); break;
    }
    monitor.advance(last - first);
  }
}

/// Of scratch at most, for one image.
std::size_t image_bytes(const Shape& image, Backend backend) {
  // Two faces for each pixel, and those at the ends; a sorted set of float64 takes up to 30 bytes a site, and twice as
  // much while it is built.
  constexpr std::size_t kSet = 3 * 30, kSite = 2 * sizeof(double);
  std::size_t segments = 2 * static_cast<std::size_t>(element_count(image));
  for (std::int64_t extent : image) segments += 2 * static_cast<std::size_t>(extent);
  return static_cast<std::size_t>(element_count(image)) * sizeof(float) +
         segments * (sizeof(Segment) + static_cast<std::size_t>(kSitesOfSegment) * (kSite + kSet)) +
         static_cast<std::size_t>(backend == Backend::cuda ? kTexelsOnDevice : kAtATime) *
             (kSite + kNearestSites * sizeof(std::int64_t));
}

/// Calls fill(texels, sites, placing) unless the texture is empty.
/// @param texture  whose memory is not looked at
template <class Fill>
SdfReport draw(const AnyConstView& image, const SdfOptions& options, const AnyView& texture, const Fill& fill) {
  SdfReport report;
  report.threads = thread_count(options.execution);
  report.instruction_set = resolve(options.execution.instruction_set);
  const Coverage coverage(image, options.invert);
  check(image.shape(), options, texture);
  report.scratch_bytes = image_bytes(image.shape(), options.execution.backend);
  check_scratch(options.execution, report.scratch_bytes);
  if (element_count(texture.shape()) == 0) return report;
  const Placing placing = placing_of(image.shape(), texture.shape(), options.pad);
  const std::vector<Segment> segments = coverage.outline();
  report.scale = placing.scale;
  report.segments = static_cast<std::int64_t>(segments.size());
  fill({coverage.shares(), segments.data(), placing.scale, options.range}, sites_of(segments), placing);
  if (options.execution.progress) options.execution.progress(1);
  return report;
}

/// One image, with arrays of the host.
SdfReport draw_here(const AnyConstView& image, const SdfOptions& options, const AnyView& texture) {
  if (!wants_device(options.execution))
    return draw(image, options, texture, [&](const Texels& texels, const Array& sites, const Placing& placing) {
      fill_on_cpu(texels, sites, placing, options.execution, thread_count(options.execution), texture);
    });
  std::string device;
  SdfReport report;
#ifdef FATHOM_HAS_CUDA
  report = draw(image, options, texture, [&](const Texels& texels, const Array& sites, const Placing& placing) {
    device = run_on_device({}, {texture}, options.execution, [&](const DeviceCopies& at, Stream stream) {
      cuda::fill_texture(texels, sites, placing, at.outputs[0], stream);
    });
  });
#endif
  report.backend = Backend::cuda;
  report.device = std::move(device);
  return report;
}

/// Every image by itself. @param draw_one  draws one, from and to arrays as they are here
template <class Texture, class Draw>
SdfReport draw_each(const AnyConstView& images, const SdfOptions& options, const Texture& textures,
                    const Draw& draw_one) {
  const std::int64_t count = image_count(images.shape(), options.batch_axes);
  bool fits = textures.rank() == options.batch_axes + 2;
  for (int k = 0; fits && k < options.batch_axes; ++k) fits = textures.shape()[k] == images.shape()[k];
  if (!fits)
    throw InvalidArgument("the texture has the shape " + to_string(textures.shape()) + "; for images of the shape " +
                          to_string(images.shape()) + " it must have the same " + std::to_string(options.batch_axes) +
                          " batch axes, then height and width");
  const auto reports = of_each_image<SdfReport>(options, count, [&](std::int64_t item, const SdfOptions& own) {
    return draw_one(image_of(images, options.batch_axes, item), own, image_of(textures, options.batch_axes, item));
  });
  SdfReport report = reports.empty() ? SdfReport() : reports.front();
  report.segments = 0;
  for (const SdfReport& one : reports) report.segments += one.segments;
  report.scratch_bytes = sdf_scratch_bytes(images.shape(), options);
  report.threads = thread_count(options.execution);
  return report;
}

}  // namespace

SdfReport sdf(const AnyConstView& coverage, const SdfOptions& options, const AnyView& texture) {
  return draw_each(coverage, options, texture, draw_here);
}

#ifdef FATHOM_HAS_CUDA
SdfReport sdf(const AnyConstDeviceView& coverage, const SdfOptions& options, const AnyDeviceView& texture,
              Stream stream) {
  const SdfOptions own = on_its_device(options);
  const auto draw_one = [stream](const AnyConstView& image, const SdfOptions& its, const AnyDeviceView& to) {
    return draw(image, its, unchecked(to), [&](const Texels& texels, const Array& sites, const Placing& placing) {
      cuda::fill_texture(texels, sites, placing, to, stream);
    });
  };
  SdfReport report;
  cuda::with_download(coverage, "coverage", stream, [&](const AnyConstView& images) {
    report = draw_each(images, own, texture, draw_one);
    report.device = describe_device(current_device()).name;
  });
  report.backend = Backend::cuda;
  return report;
}
#else
SdfReport sdf(const AnyConstDeviceView&, const SdfOptions&, const AnyDeviceView&, Stream) { refuse_device_views(); }
#endif

std::size_t sdf_scratch_bytes(const Shape& coverage, const SdfOptions& options) {
  const std::int64_t count = image_count(coverage, options.batch_axes);
  Shape image;
  for (int axis = options.batch_axes; axis < coverage.rank(); ++axis) image.push_back(coverage[axis]);
  return image_bytes(image, options.execution.backend) *
         static_cast<std::size_t>(images_at_once(options.execution, count));
}

}  // namespace fathom::apps
