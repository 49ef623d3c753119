#include "chart/canvas.h"

#include <cerrno>
#include <cstring>
#include <new>

#include "fathom/core/error.h"

namespace fathom::cli {

Surface make_surface(int width, int height) {
  Surface surface(cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height));
  if (cairo_surface_status(surface.get()) != CAIRO_STATUS_SUCCESS) throw std::bad_alloc();
  return surface;
}

void write_png(cairo_surface_t* surface, std::FILE* stream) {
  const auto write = [](void* closure, const unsigned char* data, unsigned int length) {
    return std::fwrite(data, 1, length, static_cast<std::FILE*>(closure)) == length ? CAIRO_STATUS_SUCCESS
                                                                                   : CAIRO_STATUS_WRITE_ERROR;
  };
  cairo_surface_flush(surface);
  const cairo_status_t status = cairo_surface_write_to_png_stream(surface, write, stream);
  if (status == CAIRO_STATUS_NO_MEMORY) throw std::bad_alloc();
  if (status != CAIRO_STATUS_SUCCESS || std::fflush(stream) != 0)
    throw IoError(std::string("cannot write the PNG: ") + std::strerror(errno));
}

Canvas::Canvas(int width, int height) : surface_(make_surface(width, height)), context_(cairo_create(surface_.get())) {
  set_colour({1, 1, 1});
  cairo_paint(cairo());
}

void Canvas::set_colour(const Colour& c, double alpha) {
  cairo_set_source_rgba(cairo(), c.red, c.green, c.blue, alpha);
}

void Canvas::fill(const Rect& rect, const Colour& colour) {
  set_colour(colour);
  cairo_rectangle(cairo(), rect.x, rect.y, rect.width, rect.height);
  cairo_fill(cairo());
}

void Canvas::frame(const Rect& rect, const Colour& colour) {
  set_colour(colour);
  cairo_set_line_width(cairo(), 1);
  cairo_rectangle(cairo(), rect.x - 0.5, rect.y - 0.5, rect.width + 1, rect.height + 1);
  cairo_stroke(cairo());
}

void Canvas::line(const Point& from, const Point& to, double thickness) {
  cairo_set_line_width(cairo(), thickness);
  cairo_move_to(cairo(), from.x, from.y);
  cairo_line_to(cairo(), to.x, to.y);
  cairo_stroke(cairo());
}

void Canvas::use(const TextStyle& style) {
  cairo_select_font_face(cairo(), "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cairo(), style.size);
  set_colour(style.colour);
}

void Canvas::text(const std::string& text, const Point& at, const Anchor& anchor, const TextStyle& style,
                  double angle) {
  use(style);
  cairo_text_extents_t extents;
  cairo_text_extents(cairo(), text.c_str(), &extents);
  // Heights come from the size, not from the letters, so that neighbours share a base line.
  const double cap_height = 0.72 * style.size;
  cairo_save(cairo());
  cairo_translate(cairo(), at.x, at.y);
  cairo_rotate(cairo(), angle);
  cairo_move_to(cairo(), -anchor.x * extents.x_advance, (1 - anchor.y) * cap_height);
  cairo_show_text(cairo(), text.c_str());
  cairo_restore(cairo());
}

double Canvas::text_width(const std::string& text, const TextStyle& style) {
  use(style);
  cairo_text_extents_t extents;
  cairo_text_extents(cairo(), text.c_str(), &extents);
  return extents.x_advance;
}

std::string Canvas::fitted(const std::string& text, const TextStyle& style, double width) {
  if (text_width(text, style) <= width) return text;
  std::string shorter = text;
  while (!shorter.empty() && text_width(shorter + "…", style) > width) {
    do shorter.pop_back();
    while (!shorter.empty() && (static_cast<unsigned char>(shorter.back()) & 0xC0U) == 0x80U);
    // What is left may end in the first byte of a letter of several.
    if (!shorter.empty() && (static_cast<unsigned char>(shorter.back()) & 0xC0U) == 0xC0U) shorter.pop_back();
  }
  return shorter + "…";
}

Clip::Clip(const Canvas& canvas, const Rect& rect) : cairo_(canvas.cairo()) {
  cairo_save(cairo_);
  cairo_rectangle(cairo_, rect.x, rect.y, rect.width, rect.height);
  cairo_clip(cairo_);
}

}  // namespace fathom::cli
