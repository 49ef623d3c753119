// Ends and middles of the outline's segments are sites. Of the nearest few of each texel the segments are looked at: the
// nearest segment is hardly ever another, and then by little, since no point of a segment is far from a site.
#include "fathom/apps/sdf.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "apps/check.h"
#include "apps/outline.h"
#include "apps/row_access.h"
#include "core/parallel.h"
#include "core/text.h"
#include "fathom/core/array.h"
#include "fathom/core/error.h"
#include "fathom/points/site_set.h"

namespace fathom::apps {

namespace {

constexpr std::int64_t kSites = 3;          ///< of a segment: its ends, and the middle
constexpr int kNearest = 4;                 ///< sites that are looked for
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
  if (texture.rank() != 2)
    throw InvalidArgument("the texture has " + std::to_string(texture.rank()) +
                          " axes; it must have 2, height and width");
  if (element_count(image) == 0) throw InvalidArgument("the image has no pixels");
  for (std::int64_t extent : texture.shape())
    if (element_count(texture.shape()) > 0 && !(static_cast<double>(extent) > 2 * options.pad))
      throw InvalidArgument("pad is " + text(options.pad) + " texels, which leaves nothing of a texture of " +
                            to_string(texture.shape()) + "; give less, or a larger size");
}

/// Where texels lie on the image.
struct Placing {
  double scale = 1;  ///< texels for each pixel
  double y = 0, x = 0;

  Placing(const Shape& image, const Shape& texture, double pad) {
    const auto room = [&](int axis) { return static_cast<double>(texture[axis]) - 2 * pad; };
    const auto extent = [](const Shape& shape, int axis) { return static_cast<double>(shape[axis]); };
    scale = std::min(room(0) / extent(image, 0), room(1) / extent(image, 1));
    y = extent(image, 0) / 2 - extent(texture, 0) / (2 * scale);
    x = extent(image, 1) / 2 - extent(texture, 1) / (2 * scale);
  }
  double row(std::int64_t texel) const { return y + (static_cast<double>(texel) + 0.5) / scale; }
  double column(std::int64_t texel) const { return x + (static_cast<double>(texel) + 0.5) / scale; }
};

double squared_distance(const Segment& s, double y, double x) {
  const double dy = s.y1 - s.y0, dx = s.x1 - s.x0, length = dy * dy + dx * dx;
  double t = length > 0 ? ((y - s.y0) * dy + (x - s.x0) * dx) / length : 0;
  t = std::clamp(t, 0.0, 1.0);
  const double away_y = y - (s.y0 + t * dy), away_x = x - (s.x0 + t * dx);
  return away_y * away_y + away_x * away_x;
}

template <class T>
T stored(double value) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(value);
  else return static_cast<T>(std::floor(std::clamp(value, 0.0, 1.0) * std::numeric_limits<T>::max() + 0.5));
}

class Field {
 public:
  Field(const Coverage& coverage, const Placing& placing, const SdfOptions& options, int threads)
      : coverage_(coverage),
        placing_(placing),
        options_(options),
        threads_(threads),
        segments_(coverage.outline()),
        set_(points::Coordinates(sites_of(segments_).view()), set_options()) {}

  std::int64_t segments() const { return static_cast<std::int64_t>(segments_.size()); }

  /// Texels first ≤ k < last, row by row.
  template <class T>
  void fill(std::int64_t first, std::int64_t last, const HostView<T>& texture) const {
    const std::int64_t count = last - first, width = texture.shape()[1];
    Array places(DType::float64, {count, 2}), nearest(DType::int64, {count, kNearest});
    double* const place = places.as<double>().data();
    for (std::int64_t k = 0; k < count; ++k) {
      place[2 * k] = placing_.row((first + k) / width);
      place[2 * k + 1] = placing_.column((first + k) % width);
    }
    points::QueryOptions query;
    query.k = kNearest;
    query.execution = quiet();
    points::QueryOutputs outputs;
    outputs.site = nearest.view();
    set_.nearest(points::Coordinates(std::as_const(places).view()), query, outputs);
    constexpr std::int64_t kPiece = 1024;
    parallel_jobs(options_.execution, threads_, (count + kPiece - 1) / kPiece, [&](int, std::int64_t job) {
      for (std::int64_t k = job * kPiece; k < std::min(count, (job + 1) * kPiece); ++k) {
        const double value = value_at(place[2 * k], place[2 * k + 1], nearest.as<std::int64_t>().data() + k * kNearest);
        row_at(texture, (first + k) / width)[(first + k) % width] = stored<T>(value);
      }
    });
  }

 private:
  static Array sites_of(const std::vector<Segment>& segments) {
    Array sites(DType::float64, {kSites * static_cast<std::int64_t>(segments.size()), 2});
    double* to = sites.as<double>().data();
    for (const Segment& s : segments)
      for (const auto& [y, x] :
           {std::pair{s.y0, s.x0}, std::pair{(s.y0 + s.y1) / 2, (s.x0 + s.x1) / 2}, std::pair{s.y1, s.x1}}) {
        *to++ = y;
        *to++ = x;
      }
    return sites;
  }

  /// Of parts of the call: they report nothing.
  Execution quiet() const {
    Execution execution = options_.execution;
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

  double value_at(double y, double x, const std::int64_t* sites) const {
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < kNearest && sites[k] >= 0; ++k)
      least = std::min(least, squared_distance(segments_[static_cast<std::size_t>(sites[k] / kSites)], y, x));
    const double share = std::sqrt(least) * placing_.scale / options_.range;
    return coverage_.inside(y, x) ? 0.5 + share : 0.5 - share;
  }

  const Coverage& coverage_;
  const Placing& placing_;
  const SdfOptions& options_;
  const int threads_;
  const std::vector<Segment> segments_;
  const points::SiteSet set_;
};

}  // namespace

SdfReport sdf(const AnyConstView& image, const SdfOptions& options, const AnyView& texture) {
  SdfReport report;
  report.threads = host_threads(options.execution, "sdf");
  report.instruction_set = resolve(options.execution.instruction_set);
  const Coverage coverage(image, options.invert);
  check(image.shape(), options, texture);
  report.scratch_bytes = sdf_scratch_bytes(image.shape(), options);
  check_scratch(options.execution, report.scratch_bytes);
  const std::int64_t texels = element_count(texture.shape());
  if (texels == 0) return report;
  const Placing placing(image.shape(), texture.shape(), options.pad);
  const Field field(coverage, placing, options, report.threads);
  report.scale = placing.scale;
  report.segments = field.segments();
  Monitor monitor(options.execution, texels);
  for (std::int64_t first = 0; first < texels; first += kAtATime) {
    const std::int64_t last = std::min(texels, first + kAtATime);
    switch (texture.dtype()) {
      case DType::uint8: field.fill(first, last, texture.as<std::uint8_t>()); break;
      case DType::uint16: field.fill(first, last, texture.as<std::uint16_t>()); break;
      case DType::float32: field.fill(first, last, texture.as<float>()); break;
      default: field.fill(first, last, texture.as<double>()); break;
    }
    monitor.advance(last - first);
  }
  if (options.execution.progress) options.execution.progress(1);
  return report;
}

std::size_t sdf_scratch_bytes(const Shape& coverage, const SdfOptions& options) {
  host_threads(options.execution, "sdf");
  // Two faces for each pixel, and those at the ends; a sorted set of float64 takes up to 30 bytes a site, and twice as
  // much while it is built.
  constexpr std::size_t kSet = 3 * 30, kSite = 2 * sizeof(double);
  std::size_t segments = 2 * static_cast<std::size_t>(element_count(coverage));
  for (std::int64_t extent : coverage) segments += 2 * static_cast<std::size_t>(extent);
  return static_cast<std::size_t>(element_count(coverage)) * sizeof(float) +
         segments * (sizeof(Segment) + static_cast<std::size_t>(kSites) * (kSite + kSet)) +
         static_cast<std::size_t>(kAtATime) * (kSite + kNearest * sizeof(std::int64_t));
}

}  // namespace fathom::apps
