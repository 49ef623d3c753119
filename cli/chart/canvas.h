// Cairo with owners: a surface to draw on, text with a place, a PNG at the end.
#pragma once

#include <cairo.h>

#include <cstdio>
#include <memory>
#include <string>

#include "chart/colour_map.h"
#include "chart/contour.h"

namespace fathom::cli {

struct Rect {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

struct SurfaceDeleter {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
using Surface = std::unique_ptr<cairo_surface_t, SurfaceDeleter>;

/// ARGB, premultiplied. @throws std::bad_alloc
Surface make_surface(int width, int height);

/// @throws IoError the stream cannot be written
void write_png(cairo_surface_t* surface, std::FILE* stream);

struct TextStyle {
  double size = 14;
  Colour colour;
  bool bold = false;
};

/// Where the given point stands in the text: 0 left or top, 0.5 centre, 1 right or bottom.
struct Anchor {
  double x = 0;
  double y = 0.5;
};

class Canvas {
 public:
  Canvas(int width, int height);

  cairo_t* cairo() const { return context_.get(); }

  void set_colour(const Colour& colour, double alpha = 1);
  void fill(const Rect& rect, const Colour& colour);
  /// A hairline around the rectangle, outside of it.
  void frame(const Rect& rect, const Colour& colour);
  void line(const Point& from, const Point& to, double thickness);
  void text(const std::string& text, const Point& at, const Anchor& anchor, const TextStyle& style, double angle = 0);
  double text_width(const std::string& text, const TextStyle& style);
  /// The text, shortened by an ellipsis where it is too long.
  std::string fitted(const std::string& text, const TextStyle& style, double width);

  /// @throws IoError the stream cannot be written
  void write_png(std::FILE* stream) const { cli::write_png(surface_.get(), stream); }

 private:
  void use(const TextStyle& style);

  struct ContextDeleter {
    void operator()(cairo_t* context) const { cairo_destroy(context); }
  };
  Surface surface_;
  std::unique_ptr<cairo_t, ContextDeleter> context_;
};

/// While one lives, drawing stays inside the rectangle.
class Clip {
 public:
  Clip(const Canvas& canvas, const Rect& rect);
  ~Clip() { cairo_restore(cairo_); }
  Clip(const Clip&) = delete;
  Clip& operator=(const Clip&) = delete;

 private:
  cairo_t* cairo_;
};

}  // namespace fathom::cli
