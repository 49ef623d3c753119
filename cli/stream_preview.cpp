#include "stream_preview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "chart/canvas.h"
#include "chart/colour_map.h"
#include "fathom/core/array.h"
#include "fathom/core/error.h"
#include "stream_plan.h"

namespace fathom::cli {

namespace {

constexpr std::int64_t kMost = 600;       ///< pixels of each of the two parts, each way
constexpr std::int64_t kMostTiled = 200;  ///< where a whole tile is computed for a pixel

/// How many samples a length has: at least one.
std::int64_t count_of(std::int64_t length, std::int64_t scale) { return std::max<std::int64_t>(1, length / scale); }
/// Where the first one lies.
std::int64_t first_of(std::int64_t length, std::int64_t scale) { return std::min(scale / 2, length / 2); }

/// One pixel of every scale × scale of a part of the child.
class Samples final : public stream::Node {
 public:
  Samples(const stream::NodeRef& child, const Rectangle& part, std::int64_t scale)
      : Node({count_of(part.height(), scale), count_of(part.width(), scale), child->dtype(), child->pixel()},
             {{child}}),
        part_(part),
        scale_(scale) {}
  std::string_view type() const override { return "samples"; }
  void describe(stream::Description&) const override {}
  Rectangle need(std::size_t, const Rectangle& part) const override {
    const Rectangle first = at(part.y0, part.x0, 1), last = at(part.y1 - 1, part.x1 - 1, 1);
    return {first.y0, first.x0, last.y1, last.x1};
  }
  stream::Size largest_need(std::size_t, stream::Size part) const override {
    return {1, is_near() ? part.width * scale_ : 1};
  }
  std::optional<double> compute(const Rectangle& part, const AnyView& out, stream::Children& children) const override {
    const std::int64_t count = is_near() ? part.width() : 1;  // that are fetched at once
    const std::size_t size = size_of(dtype());
    for (std::int64_t y = part.y0; y < part.y1; ++y)
      for (std::int64_t x = part.x0; x < part.x1; x += count) {
        const stream::Children::Mark mark(children);
        const stream::Pixels pixels = children.fetch(*this->children()[0].node, at(y, x, count));
        for (std::int64_t k = 0; k < count; ++k) {
          std::byte* const to =
              out.data() + ((y - part.y0) * out.strides()[0] + x - part.x0 + k) * static_cast<std::int64_t>(size);
          if (pixels.constant) store(*pixels.constant, to);
          else std::memcpy(to, pixels.view.data() + static_cast<std::size_t>(k * scale_) * size, size);
        }
      }
    return std::nullopt;
  }

 private:
  /// It costs less to compute what lies between samples than to begin anew for each.
  bool is_near() const { return scale_ <= 64; }
  /// The pixels from one sample to another of its row.
  Rectangle at(std::int64_t y, std::int64_t x, std::int64_t count) const {
    const std::int64_t y0 = part_.y0 + y * scale_ + first_of(part_.height(), scale_),
                       x0 = part_.x0 + x * scale_ + first_of(part_.width(), scale_);
    return {y0, x0, y0 + 1, x0 + (count - 1) * scale_ + 1};
  }
  void store(double value, std::byte* to) const {
    visit_dtype(dtype(), [&](auto tag) {
      const auto typed = static_cast<typename decltype(tag)::type>(value);
      std::memcpy(to, &typed, sizeof typed);
    });
  }

  Rectangle part_;
  std::int64_t scale_;
};

struct Pictures {
  Array all, middle;
  std::int64_t scale = 1;
  Rectangle region, window;
};

Rectangle middle_of(const Rectangle& region, std::int64_t height, std::int64_t width) {
  const std::int64_t y = region.y0 + (region.height() - height) / 2, x = region.x0 + (region.width() - width) / 2;
  return {y, x, y + height, x + width};
}

/// Whether a sample has a whole tile of some node computed: what is made of cells has not.
bool is_tiled(const stream::Plan& plan) {
  std::vector<bool> reached(plan.entries.size());
  reached.back() = true;
  for (std::size_t k = plan.entries.size(); k-- > 0;) {
    const stream::Plan::Entry& entry = plan.entries[k];
    if (!reached[k] || entry.cell) continue;
    if (entry.pooled) return true;
    for (const std::size_t child : entry.children) reached[child] = true;
  }
  return false;
}

/// All rows are computed, once, and both pictures taken from them.
void take_from_bands(stream::Evaluator& evaluator, Pictures& pictures) {
  const stream::Plan& plan = evaluator.plan();
  constexpr double kMostPixels = 4e9;
  const Rectangle region = pictures.region;
  if (static_cast<double>(region.height()) * static_cast<double>(region.width()) > kMostPixels)
    throw InvalidArgument(
        fmt::format("--preview of an exact distance computes all of {} pixels; --region draws a part, "
                    "and 'max' makes it bounded",
                    to_string(region.shape())));
  const std::size_t size = size_of(pictures.all.dtype());
  const std::int64_t scale = pictures.scale, width = pictures.all.shape()[1], rows = pictures.all.shape()[0],
                     first_x = first_of(region.width(), scale);
  Array band(pictures.all.dtype(), plan.band.area() > 0 ? Shape{plan.band.height, plan.band.width} : Shape{0, 0});
  for (std::int64_t y = region.y0; y < region.y1; y += plan.band.height) {
    const Rectangle part{y, region.x0, std::min(y + plan.band.height, region.y1), region.x1};
    evaluator.compute(part, {band.data(), band.dtype(), part.shape()});
    for (std::int64_t row = part.y0; row < part.y1; ++row) {
      const std::byte* const from = band.data() + static_cast<std::size_t>((row - y) * part.width()) * size;
      const std::int64_t k = (row - region.y0) / scale;
      if ((row - region.y0) % scale == first_of(region.height(), scale) && k < rows)
        for (std::int64_t x = 0; x < width; ++x)
          std::memcpy(pictures.all.data() + static_cast<std::size_t>(k * width + x) * size,
                      from + static_cast<std::size_t>(x * scale + first_x) * size, size);
      if (row >= pictures.window.y0 && row < pictures.window.y1)
        std::memcpy(pictures.middle.data() +
                        static_cast<std::size_t>((row - pictures.window.y0) * pictures.window.width()) * size,
                    from + static_cast<std::size_t>(pictures.window.x0 - region.x0) * size,
                    static_cast<std::size_t>(pictures.window.width()) * size);
    }
  }
}

Pictures take_pictures(const stream::NodeRef& root, const PreviewOptions& options) {
  stream::Evaluator whole(root, options.evaluator);
  Pictures pictures;
  pictures.region = whole.plan().region;
  const std::int64_t height = pictures.region.height(), width = pictures.region.width(),
                     longest = std::max(height, width);
  const auto scale_for = [&](std::int64_t most) { return (longest + most - 1) / most; };
  const bool is_swept = sweeps(whole.plan());
  std::int64_t scale = scale_for(kMost);
  constexpr std::int64_t kTileSide = 256;
  if (scale > kTileSide && !is_swept && is_tiled(whole.plan())) scale = scale_for(kMostTiled);
  pictures.scale = std::min(options.scale.value_or(scale), longest);
  constexpr std::int64_t kMostSide = 8192;  // of a picture
  if (longest / pictures.scale > kMostSide)
    throw InvalidArgument(fmt::format("--scale {} makes a picture of {} pixels; at least {} draws it", pictures.scale,
                                      longest / pictures.scale, scale_for(kMostSide)));
  pictures.window = middle_of(pictures.region, std::min(height, kMost), std::min(width, kMost));
  pictures.all = Array(root->dtype(), {count_of(height, pictures.scale), count_of(width, pictures.scale)});
  pictures.middle = Array(root->dtype(), pictures.window.shape());
  if (is_swept) {
    take_from_bands(whole, pictures);
    return pictures;
  }
  stream::EvaluatorOptions evaluator = options.evaluator;
  evaluator.region = {};
  const auto samples = std::make_shared<Samples>(root, pictures.region, pictures.scale);
  stream::Evaluator(samples, evaluator).compute(samples->whole(), pictures.all.view());
  whole.compute(pictures.window, pictures.middle.view());
  return pictures;
}

/// Grey levels over the whole range of integers; of floats over what there is.
class Shades {
 public:
  explicit Shades(const Pictures& pictures) {
    const DType dtype = pictures.all.dtype();
    is_float_ = dtype == DType::float32;
    high_ = dtype == DType::boolean ? 1 : dtype == DType::uint8 ? 255 : 65535;
    if (!is_float_) return;
    low_ = std::numeric_limits<double>::infinity();
    high_ = -low_;
    for (const Array* const array : {&pictures.all, &pictures.middle}) {
      const float* const values = array->as<float>().data();
      for (std::int64_t i = 0; i < array->size(); ++i)
        if (values[i] == std::numeric_limits<float>::infinity()) {
          has_infinite_ = true;
        } else if (std::isfinite(values[i])) {
          low_ = std::min<double>(low_, values[i]);
          high_ = std::max<double>(high_, values[i]);
        }
    }
    if (!(low_ <= high_)) low_ = high_ = 0;
  }
  Colour of(double value) const {
    const double share = high_ > low_ ? (value - low_) / (high_ - low_) : value > high_ ? 1 : 0;
    const double t = std::isnan(share) ? 0 : std::clamp(share, 0.0, 1.0);
    return is_float_ ? ColourMap::sequential().at(t) : Colour{t, t, t};
  }
  std::string text() const {
    return is_float_ ? fmt::format("dark is {:.4g}, light is {:.4g}{}", low_, high_, has_infinite_ ? " and inf" : "")
                     : fmt::format("black is 0, white is {:g}", high_);
  }

 private:
  bool is_float_ = false, has_infinite_ = false;
  double low_ = 0, high_ = 1;
};

/// The pixels of an array, each a whole number of the picture's.
void draw_pixels(Canvas& canvas, const Array& array, const Shades& shades, const Rect& where) {
  const auto height = static_cast<int>(array.shape()[0]), width = static_cast<int>(array.shape()[1]);
  const Surface surface = make_surface(width, height);
  unsigned char* const rows = cairo_image_surface_get_data(surface.get());
  const int stride = cairo_image_surface_get_stride(surface.get());
  visit_dtype(array.dtype(), [&](auto tag) {
    const auto* at = array.as<typename decltype(tag)::type>().data();
    for (int y = 0; y < height; ++y) {
      auto* row = reinterpret_cast<std::uint32_t*>(rows + std::ptrdiff_t{y} * stride);
      for (int x = 0; x < width; ++x) {
        const Colour colour = shades.of(static_cast<double>(*at++));
        const auto byte = [](double share) { return static_cast<std::uint32_t>(std::lround(share * 255)); };
        *row++ = 0xff000000u | byte(colour.red) << 16 | byte(colour.green) << 8 | byte(colour.blue);
      }
    }
  });
  cairo_surface_mark_dirty(surface.get());
  cairo_t* const cairo = canvas.cairo();
  cairo_save(cairo);
  cairo_translate(cairo, where.x, where.y);
  cairo_scale(cairo, where.width / width, where.height / height);
  cairo_set_source_surface(cairo, surface.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_NEAREST);
  cairo_paint(cairo);
  cairo_restore(cairo);
  canvas.frame(where, {0.6, 0.6, 0.6});
}

/// Pixels as large as whole numbers allow.
Rect magnified(const Array& array, double x, double y) {
  const auto height = static_cast<double>(array.shape()[0]), width = static_cast<double>(array.shape()[1]);
  const double zoom = std::max(1.0, std::floor(static_cast<double>(kMost) / std::max(height, width)));
  return {x, y, zoom * width, zoom * height};
}

}  // namespace

void draw_preview(const stream::NodeRef& root, const PreviewOptions& options, std::FILE* stream) {
  const Pictures pictures = take_pictures(root, options);
  const Shades shades(pictures);
  constexpr double kMargin = 16, kTitle = 28, kLeast = 260;
  const bool both = pictures.scale > 1;
  const Rect all = magnified(pictures.all, kMargin, kTitle + kMargin);
  const Rect middle = both ? magnified(pictures.middle, all.x + std::max(all.width, kLeast) + kMargin, all.y) : all;
  const double width = middle.x + std::max(middle.width, kLeast) + kMargin,
               height = std::max(all.y + all.height, middle.y + middle.height) + kTitle + kMargin;
  Canvas canvas(static_cast<int>(width), static_cast<int>(height));
  canvas.fill({0, 0, width, height}, {1, 1, 1});
  const TextStyle style{13, {0.2, 0.2, 0.2}};
  const auto caption = [&](const std::string& text, const Rect& over) {
    canvas.text(canvas.fitted(text, style, std::max(over.width, kLeast)), {over.x, over.y - kMargin}, {0, 0.5}, style);
  };
  const std::string size = to_string(pictures.region.shape());
  caption(both ? fmt::format("{}, one pixel of {} × {}", size, pictures.scale, pictures.scale) : size, all);
  draw_pixels(canvas, pictures.all, shades, all);
  if (both) {
    const Rectangle& window = pictures.window;
    caption(fmt::format("its middle: {}:{}, {}:{}", window.y0, window.y1, window.x0, window.x1), middle);
    draw_pixels(canvas, pictures.middle, shades, middle);
  }
  canvas.text(shades.text(), {all.x, height - kMargin}, {0, 0.5}, style);
  canvas.write_png(stream);
}

}  // namespace fathom::cli
