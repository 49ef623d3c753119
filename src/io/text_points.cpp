// Points as text: one in each line, numbers separated by commas, semicolons or white space; a header and comments.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "fathom/core/error.h"
#include "io/point_formats.h"

namespace fathom::io::text {

namespace {

bool separates(char c) { return c == ',' || c == ';' || c == ' ' || c == '\t' || c == '\r'; }

/// Words of a line without its comment. Separators in a row count as one.
std::vector<std::string_view> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < line.size();) {
    while (i < line.size() && separates(line[i])) ++i;
    std::size_t end = i;
    while (end < line.size() && !separates(line[end])) ++end;
    if (end > i) words.push_back(line.substr(i, end - i));
    i = end;
  }
  return words;
}

std::optional<double> number(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

class Reader {
 public:
  Reader(const ByteSource& source, bool first_columns) : source_(source), first_columns_(first_columns) {}

  void add_line(std::string_view line) {
    ++line_;
    const auto words = words_of(line);
    if (words.empty()) return;
    if (columns_.empty() && !number(words[0])) return read_header(words);
    if (columns_.empty()) choose_columns(words.size());
    for (std::size_t column : columns_) values_.push_back(value_in(words, column));
  }

  Array points() const {
    const auto axes = static_cast<std::int64_t>(columns_.size());
    if (values_.empty()) source_.fail("holds no points");
    const bool whole = std::all_of(values_.begin(), values_.end(), [](double x) {
      return x == std::floor(x) && std::abs(x) <= 2147483647.0 && !(x == 0 && std::signbit(x));
    });
    Array result(whole ? DType::int32 : DType::float64, {static_cast<std::int64_t>(values_.size()) / axes, axes});
    if (whole)
      std::transform(values_.begin(), values_.end(), reinterpret_cast<std::int32_t*>(result.data()),
                     [](double x) { return static_cast<std::int32_t>(x); });
    else std::memcpy(result.data(), values_.data(), result.bytes());
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& text) const {
    source_.fail("has in line " + std::to_string(line_) + " " + text);
  }

  void read_header(const std::vector<std::string_view>& words) {
    for (const char axis : {'x', 'y', 'z'}) {
      const auto names_axis = [axis](std::string_view word) {
        return word.size() == 1 && std::tolower(static_cast<unsigned char>(word[0])) == axis;
      };
      const auto named = std::find_if(words.begin(), words.end(), names_axis);
      if (named == words.end()) continue;
      if (std::any_of(named + 1, words.end(), names_axis))
        fail(std::string("more than one column '") + axis + "'; a header names each axis once");
      columns_.push_back(static_cast<std::size_t>(named - words.begin()));
    }
    if (columns_.size() < 2) columns_.clear();
    if (columns_.empty()) choose_columns(words.size());
  }

  void choose_columns(std::size_t count) {
    if (count < 2 || (count > 3 && !first_columns_))
      fail(std::to_string(count) + (count == 1 ? " column" : " columns") +
           "; points have 2 or 3, or a header that names x, y and z");
    for (std::size_t k = 0; k < std::min<std::size_t>(count, 3); ++k) columns_.push_back(k);
  }

  double value_in(const std::vector<std::string_view>& words, std::size_t column) const {
    if (column >= words.size())
      fail(std::to_string(words.size()) + (words.size() == 1 ? " value" : " values") + ", too few for a point");
    const auto value = number(words[column]);
    if (value) return *value;
    std::string text = "'";
    fail(text.append(one_line(words[column])).append("', which is no number"));
  }

  const ByteSource& source_;
  bool first_columns_;
  std::vector<std::size_t> columns_;
  std::vector<double> values_;
  std::int64_t line_ = 0;
};

}  // namespace

Array read(ByteSource& source, const MemoryLimit& limit, bool first_columns) {
  const std::vector<std::byte> bytes =
      read_rest(source, limit.bytes / 4);  // the numbers take up to three times as much
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (rest.find('\0') != std::string_view::npos) source.fail("holds bytes that are no text, in no format of points");
  Reader reader(source, first_columns);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    reader.add_line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return reader.points();
}

}  // namespace fathom::io::text
