// What NRRD and MetaImage have in common: a header in lines of text, and elements behind it or in a file of their own,
// the first axis fastest, raw, by deflate or as text.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fathom/core/error.h"
#include "io/formats.h"
#include "io/numbers.h"
#include "io/samples.h"

namespace fathom::io {

inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Without blanks at its ends.
std::string_view trimmed(std::string_view text);

/// The words between blanks.
std::vector<std::string_view> words_of(std::string_view text);

/// All of the text as a number, perhaps with a plus; none if it is something else.
std::optional<double> number_of(std::string_view text);

/// The next line without its end; none at the end of the source.
/// @throws IoError headers of more than 1 MiB
std::optional<std::string> read_header_line(ByteSource& source);

/// An axis as such headers state it.
struct FileAxis {
  std::int64_t extent = 0;
  AxisKind kind = AxisKind::space;
  double spacing = 0;  ///< 0: not stated
  std::string unit = {};
  std::optional<std::array<double, 3>> direction = {};  ///< a unit vector
};

enum class Coding { raw, deflated, text };

/// A header that was read, and what is to become of the elements.
struct TextVolume {
  ImageInfo info;
  Pixel pixel;  ///< of several samples: a fastest axis of colours, which the axes do not count
  Taking taking;
  bool time_guessed = false;  ///< axes of space beyond the third are taken for time
  bool swapped = false;
  Coding coding = Coding::raw;
  std::string data_file;  ///< where the elements are, as the header has it; empty: behind the header
  std::int64_t skip_lines = 0;
  std::int64_t skip_bytes = 0;  ///< of what is inflated; −1: the elements end the file
};

/// Shape, names and place of axes, first the fastest. The axes of space are x, y, z; further ones are taken for time.
/// @param origin  of the first element, where the axes have directions
void set_axes(TextVolume& volume, const ByteSource& source, const std::vector<FileAxis>& axes, Place::Frame frame,
              const std::array<double, 3>& origin);

/// Says what is taken of the pixels, and checks that there are as many bytes as the header promises.
/// @param source  stands behind the header
ImageInfo finish_probe(TextVolume& volume, ByteSource& source, const ReadContext& context);

/// The same, and the elements.
Image read_elements(TextVolume& volume, ByteSource& source, const ReadContext& context);

/// A unit as ASCII has it: "um".
std::string ascii_unit(std::string_view unit);

/// Puts a blank and a word behind a line.
void add_word(std::string& line, std::string_view word);

/// Axes of space of an array of this rank: their indices, first the slowest.
std::vector<std::size_t> axes_of_space(const Meaning& meaning, int rank);

/// Whether a place needs no more than the first axes of its frame: of an image, that it lies in x and y at z = 0.
bool lies_in(const Place& place, std::size_t axes);

/// @throws InvalidArgument the array has no element, or not 1 to `most` axes
void check_extents(std::string_view title, const Shape& shape, int most);

}  // namespace fathom::io
