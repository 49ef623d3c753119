// PLY: its header, and its elements in text or binary of either byte order; what points and meshes share.
// Source: Greg Turk, "The PLY polygon file format", 1994; departs by any line ends, empty lines in text, and lists as
// properties of vertices.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fathom/core/dtype.h"
#include "io/byte_source.h"

namespace fathom::io::ply {

struct Property {
  std::string name;
  DType dtype = DType::float32;
  std::optional<DType> list;  ///< the type of its length, where it is a list
};

struct Element {
  std::string name;
  std::int64_t count = 0;
  std::vector<Property> properties;

  bool has_lists() const;
  /// Of a binary one, without its lists.
  std::size_t bytes() const;
};

struct Header {
  bool text = false;
  bool swapped = false;
  std::vector<Element> elements;
};

/// Lines that end as the first one does: in LF, in CR LF, or in CR alone.
class Lines {
 public:
  explicit Lines(ByteSource& source) : source_(source) {}
  std::string next();

 private:
  bool peeks_line_feed();

  ByteSource& source_;
  char end_ = 0;
};

/// Leaves the source at the first element. @throws IoError a broken one
Header read_header(ByteSource& source, Lines& lines);

/// The element "vertex". @throws IoError there is none, or there are two
const Element& vertices_of(const ByteSource& source, const Header& header);

/// The elements behind a header, in the order of the file. In text each has a line.
class ElementReader {
 public:
  ElementReader(ByteSource& source, Lines& lines, const Header& header)
      : source_(source), lines_(lines), text_(header.text), swapped_(header.swapped) {}

  /// Gets the number of the element, the number of its property, and one value, or those of a list.
  using Visit = std::function<void(std::int64_t, std::size_t, std::span<const double>)>;
  /// @throws IoError broken, or truncated
  void read(const Element& element, const Visit& visit);
  void skip(const Element& element);
  /// What follows the last element in text would be more of them. @throws IoError there is something
  void check_end(const Element& last);

 private:
  [[noreturn]] void fail(const std::string& text) const;
  std::string next_line();
  std::string_view next_word();
  void read_number(DType dtype);
  void read_list(const Property& property);

  ByteSource& source_;
  Lines& lines_;
  bool text_, swapped_;
  const Element* element_ = nullptr;
  std::int64_t row_ = 0;
  std::string line_;       // of text
  std::string_view rest_;  // of the line
  std::vector<double> values_;
};

}  // namespace fathom::io::ply
