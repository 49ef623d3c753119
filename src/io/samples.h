// How the samples of a pixel – gray, colours, opacity – become elements of an array. One place for all formats.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "fathom/core/array.h"
#include "fathom/io/image.h"
#include "io/byte_source.h"

namespace fathom::io {

/// What a pixel of a file holds.
struct Pixel {
  DType stored = DType::uint8;  ///< of a sample
  int samples = 1;
  bool colour = false;          ///< the first three are red, green and blue
  bool alpha = false;           ///< the last is opacity
};

/// What is taken of a pixel.
struct Taking {
  enum class Kind {
    copy,       ///< `count` samples from `first` on
    luminance,  ///< Rec. 601
    packed,     ///< red, green and blue in one integer
    any,        ///< whether one of red, green and blue is not 0
  };
  Kind kind = Kind::copy;
  DType dtype = DType::uint8;  ///< of the elements
  int first = 0;
  int count = 1;               ///< elements per pixel
};

/// @throws IoError the channel that the options name is not there
Taking taking_of(const ByteSource& source, const Pixel& pixel, const ReadOptions& options);

/// Says what of a pixel is left out or reinterpreted, and adds the axis of samples if there is one.
void tell_samples(const Pixel& pixel, const Taking& taking, const ReadOptions& options, ImageInfo& info);

/// What a header says that tells of rows of pixels and little else.
/// @param print_spacing  millimetres from pixel to pixel, {y, x}, at which the image is to be printed; 0: not stated
/// @throws IoError the options ask for that spacing, and there is none
ImageInfo picture_info(const ByteSource& source, Format format, const Shape& shape, const Pixel& pixel,
                       const Taking& taking, const ReadOptions& options, const std::array<double, 2>& print_spacing);

/// A row of pixels in memory, in native byte order; steps in bytes.
struct PixelRow {
  const std::byte* first = nullptr;
  std::size_t sample_step = 0;
  std::size_t pixel_step = 0;
  std::size_t count = 0;
};

/// Where elements go; steps in elements.
struct ElementRow {
  std::byte* first = nullptr;
  std::size_t pixel_step = 1;
  std::size_t sample_step = 1;  ///< between the elements of a pixel
};

void store_pixels(const Pixel& pixel, const Taking& taking, const PixelRow& from, const ElementRow& to);

}  // namespace fathom::io
