#include "io/numbers.h"
#include "io/ply_elements.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <sstream>
#include <utility>

#include "io/point_records.h"
#include "io/sizes.h"

namespace fathom::io::ply {

namespace {

constexpr std::array<std::pair<std::string_view, DType>, 16> kTypes = {{{"char", DType::int8},
                                                                        {"uchar", DType::uint8},
                                                                        {"short", DType::int16},
                                                                        {"ushort", DType::uint16},
                                                                        {"int", DType::int32},
                                                                        {"uint", DType::uint32},
                                                                        {"float", DType::float32},
                                                                        {"double", DType::float64},
                                                                        {"int8", DType::int8},
                                                                        {"uint8", DType::uint8},
                                                                        {"int16", DType::int16},
                                                                        {"uint16", DType::uint16},
                                                                        {"int32", DType::int32},
                                                                        {"uint32", DType::uint32},
                                                                        {"float32", DType::float32},
                                                                        {"float64", DType::float64}}};

class HeaderReader {
 public:
  HeaderReader(ByteSource& source, Lines& lines) : source_(source), lines_(lines) {}

  Header read() {
    lines_.next();  // "ply"
    for (std::string line; (line = lines_.next()) != "end_header";) add(line);
    if (!format_known_) fail("the format is missing");
    return std::move(header_);
  }

 private:
  [[noreturn]] void fail(const std::string& text) const { source_.fail("has a broken PLY header: " + text); }

  void add(const std::string& line) {
    std::istringstream words(line);
    std::string keyword, first, second;
    words >> keyword >> first >> second;
    if (keyword == "comment" || keyword == "obj_info" || keyword.empty()) return;
    if (keyword == "format") return set_format(first);
    if (keyword == "element") return begin_element(first, second);
    if (keyword != "property") fail("the keyword '" + one_line(keyword) + "' is unknown");
    if (header_.elements.empty()) fail("a property stands before any element");
    Property property;
    if (first == "list") {
      property.list = type_named(second);
      if (*property.list == DType::float32 || *property.list == DType::float64)
        fail("the length of a list is no integer");
      words >> first >> second;
    }
    property.dtype = type_named(first);
    property.name = second;
    header_.elements.back().properties.push_back(std::move(property));
  }

  void set_format(const std::string& format) {
    format_known_ = true;
    header_.text = format == "ascii";
    if (header_.text) return;
    const bool little = format == "binary_little_endian";
    if (!little && format != "binary_big_endian") fail("the format '" + one_line(format) + "' is unknown");
    header_.swapped = little != (std::endian::native == std::endian::little);
  }

  void begin_element(const std::string& name, const std::string& text) {
    const std::int64_t count = parsed<std::int64_t>(text).value_or(-1);
    if (count < 0) fail("the number of elements '" + one_line(name) + "' is no count");
    header_.elements.push_back({name, count, {}});
  }

  DType type_named(const std::string& type) const {
    for (const auto& [known, dtype] : kTypes)
      if (known == type) return dtype;
    fail("the type '" + one_line(type) + "' is unknown");
  }

  ByteSource& source_;
  Lines& lines_;
  Header header_;
  bool format_known_ = false;
};

}  // namespace

bool Element::has_lists() const {
  return std::any_of(properties.begin(), properties.end(), [](const Property& p) { return p.list.has_value(); });
}

std::size_t Element::bytes() const {
  std::size_t sum = 0;
  for (const Property& property : properties) sum += property.list ? 0 : size_of(property.dtype);
  return sum;
}

std::string Lines::next() {
  constexpr std::size_t kMostLine = std::size_t{1} << 16, kStep = 128;
  std::string line;
  for (bool ended = false; !ended;) {
    const auto ahead = source_.peek(kStep);
    if (ahead.empty() && line.empty()) source_.fail("is truncated: the PLY file ends before its elements do");
    if (ahead.empty()) break;
    const std::size_t before = line.size(), size = std::min(ahead.size(), kStep);
    line.append(reinterpret_cast<const char*>(ahead.data()), size);
    const std::size_t end = end_ != 0 ? line.find(end_, before) : line.find_first_of("\r\n", before);
    ended = end != std::string::npos;
    source_.read(line.data() + before, ended ? end + 1 - before : size);
    if (ended && end_ == 0) {
      end_ = line[end] == '\n' || peeks_line_feed() ? '\n' : '\r';
      ended = line[end] == end_;  // else a line feed follows
    }
    if (end != std::string::npos) line.resize(end);
    if (line.size() > kMostLine) source_.fail("has a PLY line that does not end");
  }
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.pop_back();
  return line;
}

bool Lines::peeks_line_feed() {
  const auto next = source_.peek(1);
  return !next.empty() && next[0] == std::byte{'\n'};
}

Header read_header(ByteSource& source, Lines& lines) { return HeaderReader(source, lines).read(); }

const Element& vertices_of(const ByteSource& source, const Header& header) {
  const Element* vertices = nullptr;
  for (const Element& element : header.elements)
    if (element.name == "vertex") {
      if (vertices != nullptr) source.fail("has a broken PLY header: there are two elements 'vertex'");
      vertices = &element;
    }
  if (vertices == nullptr) source.fail("has a broken PLY header: there is no element 'vertex'");
  return *vertices;
}

void ElementReader::fail(const std::string& text) const {
  source_.fail("has in " + one_line(element_->name) + " " + std::to_string(row_) + " " + text);
}

std::string ElementReader::next_line() {
  std::string line;
  while (line.empty()) line = lines_.next();
  return line;
}

std::string_view ElementReader::next_word() {
  rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r"), rest_.size()));
  const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t\r"));
  rest_.remove_prefix(word.size());
  return word;
}

/// inf and nan are numbers in text, as they are in binary files.
void ElementReader::read_number(DType dtype) {
  double value = 0;
  if (text_) {
    std::string_view word = next_word();
    const std::string shown = one_line(word);
    if (word.starts_with('+')) word.remove_prefix(1);
    const auto number = parsed(word);
    if (!number) fail("'" + shown + "', which is no number");
    value = *number;
  } else {
    std::array<std::byte, 8> bytes{};
    source_.read_exactly(bytes.data(), size_of(dtype), "the elements");
    value = value_of(bytes.data(), {dtype, 0, swapped_, false});
  }
  values_.push_back(value);
}

void ElementReader::read_list(const Property& property) {
  read_number(*property.list);
  const double length = values_[0];
  if (text_ && !(length == std::floor(length) && length >= 0 && length <= INT32_MAX))
    fail("a list whose length is no count");
  if (length < 0) source_.fail("has a list with the length " + std::to_string(length));
  values_.clear();
  for (auto left = static_cast<std::uint64_t>(length); left > 0; --left) read_number(property.dtype);
}

void ElementReader::read(const Element& element, const Visit& visit) {
  element_ = &element;
  if (element.properties.empty()) return;
  for (row_ = 0; row_ < element.count; ++row_) {
    if (text_) rest_ = line_ = next_line();
    for (std::size_t k = 0; k < element.properties.size(); ++k) {
      const Property& property = element.properties[k];
      values_.clear();
      property.list ? read_list(property) : read_number(property.dtype);
      visit(row_, k, values_);
    }
    if (text_ && !next_word().empty()) fail("more values than it has properties");
  }
}

void ElementReader::check_end(const Element& last) {
  const char* const what = last.name == "vertex" ? "vertices" : last.name == "face" ? "faces" : "elements";
  while (text_ && !source_.peek(1).empty())
    if (!lines_.next().empty())
      source_.fail("announces " + std::to_string(last.count) + " " + what + " and holds more lines");
}

void ElementReader::skip(const Element& element) {
  if (element.properties.empty()) return;
  if (text_) {
    for (std::int64_t i = 0; i < element.count; ++i) next_line();
  } else if (element.has_lists()) {
    read(element, [](std::int64_t, std::size_t, std::span<const double>) {});
  } else {
    const std::uint64_t bytes = element.bytes();
    if (static_cast<std::uint64_t>(element.count) > INT64_MAX / bytes)
      source_.fail("promises more elements '" + one_line(element.name) + "' than a file holds");
    source_.skip(static_cast<std::uint64_t>(element.count) * bytes, "the vertices");
  }
}

}  // namespace fathom::io::ply
