#include "dots.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "chart/canvas.h"
#include "fathom/core/error.h"
#include "options.h"

namespace fathom::cli {

namespace {

std::string hex(const Colour& colour) {
  const auto level = [](double share) { return static_cast<int>(std::lround(255 * share)); };
  return fmt::format("#{:02x}{:02x}{:02x}", level(colour.red), level(colour.green), level(colour.blue));
}

}  // namespace

Colour parse_colour(std::string_view option, std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data() + text.starts_with('#'), text.data() + text.size(), value, 16);
  if (text.size() != 7 || text.front() != '#' || error != std::errc{} || end != text.data() + text.size())
    throw InvalidArgument(fmt::format("{} takes a colour such as #1c2b33, not '{}'", option, text));
  return {(value >> 16) / 255.0, (value >> 8 & 255) / 255.0, (value & 255) / 255.0};
}

void write_dots_svg(const Dots& dots, std::FILE* stream) {
  std::string text =
      fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{1}\" height=\"{0}\" viewBox=\"0 0 {1} {0}\">\n",
                  dots.photo[0], dots.photo[1]);
  if (dots.paper) text += fmt::format("<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n", hex(*dots.paper));
  text += fmt::format("<g fill=\"{}\">\n", hex(dots.ink));
  for (std::int64_t k = 0; k < dots.x.size(); ++k)
    text += fmt::format("<circle cx=\"{:.3f}\" cy=\"{:.3f}\" r=\"{:.3f}\"/>\n", dots.x.as<double>().data()[k],
                        dots.y.as<double>().data()[k], dots.radius.as<double>().data()[k]);
  text += "</g>\n</svg>\n";
  if (std::fwrite(text.data(), 1, text.size(), stream) != text.size() || std::fflush(stream) != 0)
    throw IoError(std::string("cannot write the SVG: ") + std::strerror(errno));
}

void write_dots_png(const Dots& dots, double zoom, std::FILE* stream) {
  const auto pixels = [&](std::int64_t n) { return static_cast<int>(std::lround(zoom * static_cast<double>(n))); };
  const Surface surface = make_surface(pixels(dots.photo[1]), pixels(dots.photo[0]));
  const std::unique_ptr<cairo_t, void (*)(cairo_t*)> cairo(cairo_create(surface.get()), cairo_destroy);
  const auto use = [&](const Colour& c) { cairo_set_source_rgb(cairo.get(), c.red, c.green, c.blue); };
  if (dots.paper) {
    use(*dots.paper);
    cairo_paint(cairo.get());
  }
  use(dots.ink);
  cairo_set_antialias(cairo.get(), CAIRO_ANTIALIAS_BEST);
  for (std::int64_t k = 0; k < dots.x.size(); ++k) {
    const auto at = [&](const Array& values) { return zoom * values.as<double>().data()[k]; };
    cairo_arc(cairo.get(), at(dots.x), at(dots.y), at(dots.radius), 0, 2 * std::numbers::pi);
    cairo_fill(cairo.get());
  }
  write_png(surface.get(), stream);
}

}  // namespace fathom::cli
