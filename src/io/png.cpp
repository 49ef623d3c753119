// PNG through libpng. Images of one sample – gray, indices of a palette – are decoded straight into the array's rows;
// others and interlaced ones a row at a time.
//
// libpng reports errors by longjmp and calls back for bytes. C++ exceptions must not cross its frames and longjmp
// must not skip destructors: callbacks keep what they catch, and what runs between setjmp and longjmp owns nothing.
#include <png.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <exception>
#include <limits>
#include <new>
#include <vector>

#include "fathom/core/error.h"
#include "io/convert.h"
#include "io/formats.h"
#include "io/rows.h"
#include "io/samples.h"

namespace fathom::io::png {

namespace {

/// What libpng's callbacks know.
struct Context {
  ByteSource* source = nullptr;
  ByteSink* sink = nullptr;
  std::array<char, 160> message{};
  std::exception_ptr caught;
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto* context = static_cast<Context*>(png_get_error_ptr(png));
  std::snprintf(context->message.data(), context->message.size(), "%s", message);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep out, std::size_t count) {
  auto* context = static_cast<Context*>(png_get_io_ptr(png));
  bool complete = false;
  try {
    complete = context->source->read(out, count) == count;
  } catch (...) {
    context->caught = std::current_exception();
  }
  if (!complete) png_error(png, "the file is truncated");
}

void on_write(png_structp png, png_bytep data, std::size_t count) {
  auto* context = static_cast<Context*>(png_get_io_ptr(png));
  try {
    context->sink->write(data, count);
  } catch (...) {
    context->caught = std::current_exception();
  }
  if (context->caught) png_error(png, "the target cannot be written");
}

void on_flush(png_structp) {}

/// Runs libpng calls; false if libpng gave up. `body` must own nothing that needs a destructor.
template <class Body>
bool run_guarded(png_structp png, Body body) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  body();
  return true;
}

struct Header {
  png_uint_32 width = 0, height = 0;
  int depth = 0, color = 0, interlace = 0;

  bool palette() const { return color == PNG_COLOR_TYPE_PALETTE; }
  /// As libpng hands it out: palettes as indices.
  Pixel pixel() const {
    const bool colour = !palette() && (color & PNG_COLOR_MASK_COLOR) != 0;
    const bool alpha = (color & PNG_COLOR_MASK_ALPHA) != 0;
    const DType stored = depth == 16                                          ? DType::uint16
                         : depth == 1 && color == PNG_COLOR_TYPE_GRAY ? DType::boolean
                                                                              : DType::uint8;
    return {stored, (colour ? 3 : 1) + (alpha ? 1 : 0), colour, alpha};
  }
  /// Bytes of the rows as they are compressed, without the filter bytes.
  std::uint64_t raw_bytes() const {
    const int bits = pixel().samples * depth;
    return (std::uint64_t{width} * static_cast<std::uint64_t>(bits) + 7) / 8 * height;
  }
};

class Reader {
 public:
  explicit Reader(ByteSource& source) : source_(source) {
    context_.source = &source;
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &context_, on_error, on_warning);
    if (png_) info_ = png_create_info_struct(png_);
    if (!info_) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
    png_set_read_fn(png_, &context_, on_read);
  }
  ~Reader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Header read_header() {
    Header header;
    guarded([&] {
      png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // what is too large is decided against the limit
      png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);  // text, profiles and the like
      png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_AS_DEFAULT, reinterpret_cast<png_const_bytep>("pHYs"), 1);
      png_read_info(png_, info_);
      png_get_IHDR(png_, info_, &header.width, &header.height, &header.depth, &header.color, &header.interlace, nullptr,
                   nullptr);
    });
    return header;
  }

  /// Asks for one byte per sample, or two in native order. @return bytes per full row
  std::size_t start(const Header& header) {
    std::size_t row_bytes = 0;
    guarded([&] {
      if (header.color == PNG_COLOR_TYPE_GRAY && (header.depth == 2 || header.depth == 4))
        png_set_expand_gray_1_2_4_to_8(png_);
      else if (header.depth < 8) png_set_packing(png_);
      if (header.depth == 16 && std::endian::native == std::endian::little) png_set_swap(png_);
      png_read_update_info(png_, info_);
      row_bytes = png_get_rowbytes(png_, info_);
    });
    return row_bytes;
  }

  std::vector<std::array<std::uint8_t, 3>> palette() const {
    png_colorp colors = nullptr;
    int count = 0;
    png_get_PLTE(png_, info_, &colors, &count);
    std::vector<std::array<std::uint8_t, 3>> palette;
    for (int i = 0; i < count; ++i) palette.push_back({colors[i].red, colors[i].green, colors[i].blue});
    return palette;
  }

  /// Whether colours, or indices of the palette, stand for what is seen through.
  bool has_transparent_colours() const {
    png_bytep opacity = nullptr;
    int count = 0;
    png_color_16p colour = nullptr;
    if (!png_get_tRNS(png_, info_, &opacity, &count, &colour)) return false;
    return !opacity || std::any_of(opacity, opacity + count, [](png_byte value) { return value < 255; });
  }

  /// Millimetres from pixel to pixel, {y, x}, at which the image is to be printed; 0: not stated.
  std::array<double, 2> print_spacing() const {
    png_uint_32 x = 0, y = 0;
    int unit = PNG_RESOLUTION_UNKNOWN;
    png_get_pHYs(png_, info_, &x, &y, &unit);
    if (unit != PNG_RESOLUTION_METER || x == 0 || y == 0) return {};
    return {1000.0 / y, 1000.0 / x};
  }

  void read_row(std::byte* row) {
    guarded([&] { png_read_row(png_, reinterpret_cast<png_bytep>(row), nullptr); });
  }
  void read_end() {
    guarded([&] { png_read_end(png_, nullptr); });
  }

 private:
  template <class Body>
  void guarded(Body body) {
    if (run_guarded(png_, body)) return;
    if (context_.caught) std::rethrow_exception(context_.caught);
    source_.fail("is no PNG that can be read: " + one_line(context_.message.data()));
  }

  ByteSource& source_;
  Context context_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

/// Header and what it says; the reader then stands before the first row.
class Opened {
 public:
  Opened(ByteSource& source, const ReadContext& context) : reader(source), header(reader.read_header()) {
    check_can_inflate_to(source, header.raw_bytes());
    taking = taking_of(source, header.pixel(), context.options);
    info = picture_info(source, Format::png, {std::int64_t{header.height}, std::int64_t{header.width}}, header.pixel(),
                        taking, context.options, reader.print_spacing());
    if (header.palette()) info.meaning.palette = reader.palette();
    if (context.options.channel.empty() && reader.has_transparent_colours())
      info.warnings.push_back("holds colours that are transparent (tRNS), which is left out");
  }

  Reader reader;
  Header header;
  Taking taking;
  ImageInfo info;
};

/// Puts rows of samples into the array.
class RowStore {
 public:
  RowStore(const Opened& file, std::byte* out)
      : pixel_(file.header.pixel()), taking_(file.taking), width_(file.header.width), out_(out) {}
  std::byte* row_of(png_uint_32 y) const { return out_ + std::size_t{y} * width_ * element_bytes(); }

  /// @param x, step  columns x, x + step, … of row y
  void store(const std::byte* samples, std::size_t count, png_uint_32 y, std::size_t x, std::size_t step) const {
    const std::size_t size = size_of(pixel_.stored);
    const PixelRow row{samples, size, size * static_cast<std::size_t>(pixel_.samples), count};
    store_pixels(pixel_, taking_, row,
                 {row_of(y) + x * element_bytes(), step * static_cast<std::size_t>(taking_.count), 1});
  }

 private:
  std::size_t element_bytes() const { return size_of(taking_.dtype) * static_cast<std::size_t>(taking_.count); }

  Pixel pixel_;
  Taking taking_;
  std::size_t width_;
  std::byte* out_;
};

/// Adam7: libpng hands out each pass as a smaller image, whose elements are spread here.
void read_interlaced(Reader& reader, const Header& header, const RowStore& store, std::byte* row) {
  for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; ++pass) {
    const png_uint_32 columns = PNG_PASS_COLS(header.width, pass);
    const png_uint_32 rows = PNG_PASS_ROWS(header.height, pass);
    if (columns == 0) continue;
    for (png_uint_32 y = 0; y < rows; ++y) {
      reader.read_row(row);
      store.store(row, columns, PNG_ROW_FROM_PASS_ROW(y, pass), PNG_PASS_START_COL(pass),
                  std::size_t{1} << PNG_PASS_COL_SHIFT(pass));
    }
  }
}

void read_rows(Reader& reader, const Header& header, const RowStore& store, std::byte* row) {
  for (png_uint_32 y = 0; y < header.height; ++y) {
    if (header.pixel().samples == 1) {
      reader.read_row(store.row_of(y));
    } else {
      reader.read_row(row);
      store.store(row, header.width, y, 0, 1);
    }
  }
}

}  // namespace

ImageInfo probe(ByteSource& source, const ReadContext& context) { return Opened(source, context).info; }

Image read(ByteSource& source, const ReadContext& context) {
  Opened file(source, context);
  const std::uint64_t widest_row = std::uint64_t{file.header.width} * 8;  // four channels of 16 bits
  constexpr std::uint64_t kRows = 3;                                      // ours and two of libpng
  Image image{allocate(source, file.info.dtype, file.info.shape, context.limit, kRows * widest_row),
              file.info.meaning, file.info.warnings};
  std::vector<std::byte> row(file.reader.start(file.header));
  const RowStore store(file, image.data.data());
  if (file.header.interlace != PNG_INTERLACE_NONE) read_interlaced(file.reader, file.header, store, row.data());
  else read_rows(file.reader, file.header, store, row.data());
  file.reader.read_end();
  return image;
}

// ---- writing ----

namespace {

class Writer {
 public:
  explicit Writer(ByteSink& sink) {
    context_.sink = &sink;
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &context_, on_error, on_warning);
    if (png_) info_ = png_create_info_struct(png_);
    if (!info_) {
      png_destroy_write_struct(&png_, nullptr);
      throw std::bad_alloc();
    }
    png_set_write_fn(png_, &context_, on_write, on_flush);
  }
  ~Writer() { png_destroy_write_struct(&png_, &info_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// @param depth  1: rows have a byte per element, packed here; 16: rows are in native order
  void write_header(const Shape& shape, int depth) {
    guarded([&] {
      png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
      png_set_IHDR(png_, info_, static_cast<png_uint_32>(shape[1]), static_cast<png_uint_32>(shape[0]), depth,
                   PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
      // Twice to four times as fast as zlib's default, for files that are a few percent larger.
      png_set_compression_level(png_, 3);
      png_write_info(png_, info_);
      if (depth == 1) png_set_packing(png_);
      if (depth == 16 && std::endian::native == std::endian::little) png_set_swap(png_);
    });
  }
  void write_row(const std::byte* row) {
    guarded([&] { png_write_row(png_, reinterpret_cast<png_const_bytep>(row)); });
  }
  void write_end() {
    guarded([&] { png_write_end(png_, nullptr); });
  }

 private:
  template <class Body>
  void guarded(Body body) {
    if (run_guarded(png_, body)) return;
    if (context_.caught) std::rethrow_exception(context_.caught);
    throw InternalError("libpng refused to write: " + one_line(context_.message.data()));
  }

  Context context_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

/// Linear map of values to 0 … 65535.
struct Scale {
  double offset = 0;
  double factor = 1;

  std::uint16_t operator()(double value) const {
    constexpr double kMost = 65535;
    const double scaled = std::round((value - offset) * factor);
    if (!(scaled > 0)) return 0;  // also NaN
    return static_cast<std::uint16_t>(std::min(scaled, kMost));
  }
};

/// The scale that takes the smallest finite value to 0 and the largest to 65535.
template <class T>
Scale find_scale(const AnyConstView& data) {
  T low = std::numeric_limits<T>::max();
  T high = std::numeric_limits<T>::lowest();
  for_each_run(data, [&](const std::byte* run, std::size_t bytes) {
    const auto* values = reinterpret_cast<const T*>(run);
    for (std::size_t i = 0; i < bytes / sizeof(T); ++i) {
      if constexpr (std::is_floating_point_v<T>)
        if (!std::isfinite(values[i])) continue;
      low = std::min(low, values[i]);
      high = std::max(high, values[i]);
    }
  });
  if (low > high) return {};  // nothing finite
  Scale scale{static_cast<double>(low), 1};
  // Differences of float64 may be beyond float64, and too small to divide by: the factor stays finite and positive.
  const double range = std::min(static_cast<double>(high) - scale.offset, std::numeric_limits<double>::max());
  if (range > 0) scale.factor = std::min(65535 / range, std::numeric_limits<double>::max());
  return scale;
}

template <class T>
void write_scaled(Writer& writer, const AnyConstView& data, const Scale& scale) {
  std::vector<std::uint16_t> row(static_cast<std::size_t>(data.shape()[1]));
  for (std::int64_t y = 0; y < data.shape()[0]; ++y) {
    const auto* values = reinterpret_cast<const T*>(data.data()) + y * data.strides()[0];
    for (std::size_t x = 0; x < row.size(); ++x) row[x] = scale(static_cast<double>(values[x]));
    writer.write_row(reinterpret_cast<const std::byte*>(row.data()));
  }
}

WriteReport write_as_scaled(Writer& writer, const AnyConstView& data) {
  return visit_dtype(data.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Scale scale = find_scale<T>(data);
    writer.write_header(data.shape(), 16);
    write_scaled<T>(writer, data, scale);
    return WriteReport{Format::png, true, scale.offset, scale.factor};
  });
}

WriteReport write_as_is(Writer& writer, const AnyConstView& data) {
  const auto size = static_cast<std::int64_t>(size_of(data.dtype()));
  writer.write_header(data.shape(), data.dtype() == DType::boolean ? 1 : static_cast<int>(8 * size));
  for (std::int64_t y = 0; y < data.shape()[0]; ++y) writer.write_row(data.data() + y * data.strides()[0] * size);
  return {Format::png, false, 0, 1};
}

}  // namespace

void check(DType, const Shape& shape, const Meaning&) {
  if (shape.rank() != 2)
    throw InvalidArgument("PNG holds images of 2 axes, not of " + std::to_string(shape.rank()) +
                          "; write .npy, .nii or .tif");
  for (std::int64_t extent : shape)
    if (extent < 1 || extent > std::int64_t{PNG_UINT_31_MAX})
      throw InvalidArgument("PNG cannot hold " + to_string(shape) + " elements: each side must be 1 to 2147483647; "
                            "write .npy");
}

WriteReport write(Target& target, const AnyConstView& data, const Meaning&) {
  Writer writer(target.sink);
  const bool as_is =
      data.dtype() == DType::boolean || data.dtype() == DType::uint8 || data.dtype() == DType::uint16;
  const WriteReport report = as_is ? write_as_is(writer, data) : write_as_scaled(writer, data);
  writer.write_end();
  return report;
}

}  // namespace fathom::io::png
