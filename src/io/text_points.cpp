// Points as text: the first lines tell how the rest is laid out, then one pass over the text, a piece at a time, keeps
// the coordinates alone. Cost: O(bytes); memory: up to three times the coordinates as float64.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "io/point_formats.h"
#include "io/text_layout.h"
#include "io/text_number.h"
#include "io/text_records.h"

namespace fathom::io::text {

namespace {

std::string count_of(std::size_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

class Reader {
 public:
  Reader(const ByteSource& source, Layout layout, const MemoryLimit& limit)
      : source_(source),
        layout_(std::move(layout)),
        limit_(limit),
        splitter_(layout_.delimiter),
        decimal_sure_(layout_.decimal_sure) {
    splitter_.set_expected(layout_.fields);
  }

  void read(TextBuffer& buffer) {
    buffer.consume(layout_.skip_bytes);
    line_ = layout_.skip_lines + 1;
    while (!(buffer.whole() && buffer.text().empty())) {
      const Record record = splitter_.next(buffer.text(), buffer.whole(), fields_);
      if (record.kind == Record::Kind::unfinished) {
        buffer.read_more();
        continue;
      }
      if (record.kind == Record::Kind::broken) fail(record.fault);
      if (record.kind == Record::Kind::fields) add_record();
      if (record.kind == Record::Kind::comment) check_comment(record.comment);
      buffer.consume(record.bytes);
      line_ += record.lines;
    }
    check_end();
  }

  /// Whether 0, 1, 2 … or 1, 2, 3 … stand before two columns that are no such integers.
  bool begins_with_numbers_of_lines() const {
    const bool counts = values_.size() > 0 && (values_[0] == 0 || values_[0] == 1);
    if (!counts || axes() != 3 || rows() < 3 || layout_.coordinates.places[0] != 0) return false;
    bool whole = true;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      if (k % 3 == 0 && values_[k] != values_[0] + static_cast<double>(k / 3)) return false;
      whole &= values_[k] == std::floor(values_[k]);
    }
    return !whole;
  }

  Array points() {
    if (values_.empty()) source_.fail("holds no points");
    const bool whole = std::all_of(values_.begin(), values_.end(), [](double x) {
      return x == std::floor(x) && std::abs(x) <= 2147483647.0 && !(x == 0 && std::signbit(x));
    });
    Array result = allocate(source_, whole ? DType::int32 : DType::float64, {rows(), axes()}, limit_,
                            values_.capacity() * sizeof(double));
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

  std::int64_t axes() const { return static_cast<std::int64_t>(layout_.coordinates.places.size()); }
  std::int64_t rows() const { return static_cast<std::int64_t>(values_.size()) / axes(); }

  void add_record() {
    if (layout_.announced && rows() == *layout_.announced && add_scan()) return;
    check_count();
    if (values_.size() + 3 > values_.capacity()) grow();
    for (const std::size_t place : layout_.coordinates.places) {
      double value = 0;
      const std::string_view text = fields_[place].text;
      if (layout_.decimal != '.' || !plain_number(text, value)) value = slow_value(place);
      if (!is_exact(text, value))
        fail("the integer " + one_line(text) + ", which float64 does not hold; subtract the same from all points");
      values_.push_back(value);
    }
  }

  /// In PTS another scan may follow, with its own count. @return whether this is its count
  bool add_scan() {
    if (layout_.molecule)
      fail("something after the " + std::to_string(*layout_.announced) +
           " atoms that it announces; save one frame without the others");
    double more = 0;
    if (fields_.size() != 1 || !plain_number(fields_[0].text, more) || more < 0 || more > 1e15) return false;
    *layout_.announced += static_cast<std::int64_t>(more);
    return true;
  }

  void check_count() const {
    std::size_t count = fields_.size();
    while (count > layout_.fields && fields_[count - 1].text.empty()) --count;
    if (count == layout_.fields) return;
    std::string text = count_of(count, "value") + " where line " + std::to_string(layout_.line_of_fields) +
                       (layout_.molecule || !have_names(layout_.columns) ? " has " + std::to_string(layout_.fields)
                                                   : " names " + count_of(layout_.fields, "column"));
    if (layout_.delimiter == ',' && count == 2 * layout_.fields)
      text += "; with --decimal , the --delimiter is another, such as ';'";
    fail(text);
  }

  double slow_value(std::size_t place) {
    const std::string_view text = fields_[place].text;
    const Number number = parse_number(text, layout_.decimal);
    if (number.fault == nullptr) {
      if (text.find(',') != std::string_view::npos) decimal_sure_ |= number.sure;
      if (!decimal_sure_ && doubtful_.empty()) doubtful_ = std::string(text);
      return number.value;
    }
    if (text.empty()) {
      std::string where = "no value in the column ";
      fail(where.append(label_of(layout_.columns, place)).append("; leave such lines out"));
    }
    std::string shown = "'";
    shown.append(one_line(text)).append("', ").append(number.fault);
    if (layout_.delimiter == ',' && has_groups(text) && text.find(' ') != std::string_view::npos)
      shown.append(", or say --delimiter space where blanks divide columns");
    fail(shown);
  }

  /// A line that begins with '#' might be a point whose first column is no coordinate.
  void check_comment(std::string_view comment) {
    const auto& places = layout_.coordinates.places;
    if (layout_.delimiter == kBlanks || std::find(places.begin(), places.end(), std::size_t{0}) != places.end()) return;
    splitter_.next(comment, true, fields_);
    if (fields_.size() != layout_.fields) return;
    if (std::all_of(places.begin(), places.end(), [&](std::size_t k) { return looks_numeric(fields_[k].text); }))
      fail("a comment that looks like a point; quote its first value, or leave the line out");
  }

  /// Twice the room, as long as that and the result stay within the limit.
  void grow() {
    const std::size_t room = std::max<std::size_t>(std::size_t{1} << 12, 2 * values_.capacity());
    if (room > limit_.bytes / (2 * sizeof(double))) {
      if (values_.size() + 3 > limit_.bytes / (2 * sizeof(double)))
        source_.fail("is larger than the memory limit of " + format_bytes(limit_.bytes));
      values_.reserve(static_cast<std::size_t>(limit_.bytes / (2 * sizeof(double))));
      return;
    }
    values_.reserve(room);
  }

  void check_end() const {
    if (layout_.announced && rows() != *layout_.announced)
      source_.fail("announces " + std::to_string(*layout_.announced) + (layout_.molecule ? " atoms" : " points") +
                   " and holds " + std::to_string(rows()));
    if (!decimal_sure_)
      source_.fail("has numbers such as '" + one_line(doubtful_) +
                   "', whose comma may be a decimal one or divide thousands; say --decimal , if it is decimal");
  }

  const ByteSource& source_;
  Layout layout_;
  MemoryLimit limit_;
  Splitter splitter_;
  std::vector<Field> fields_;
  std::vector<double> values_;
  std::int64_t line_ = 1;
  bool decimal_sure_;
  std::string doubtful_;
};

/// Enough of the text to see how it is laid out: several lines, if it has as many.
void fill(TextBuffer& buffer) {
  constexpr std::ptrdiff_t kLines = 4;
  const auto ends_line = [](char c) { return c == '\n' || c == '\r'; };
  do buffer.read_more();
  while (!buffer.whole() && std::count_if(buffer.text().begin(), buffer.text().end(), ends_line) < kLines);
}

void skip_byte_order_mark(const ByteSource& source, TextBuffer& buffer) {
  const std::string_view text = buffer.text();
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    source.fail("is text in UTF-16 or UTF-32; save it as UTF-8");
  if (text.starts_with("\xef\xbb\xbf")) buffer.consume(3);
}

}  // namespace

Points read(ByteSource& source, const MemoryLimit& limit, const PointOptions& options, bool first) {
  constexpr std::size_t kPiece = std::size_t{1} << 18;  // stays in the second-level cache
  TextBuffer buffer(source,
                    static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, source.size().value_or(kPiece) + 1)),
                    std::max<std::uint64_t>(kPiece, limit.bytes / 4));
  fill(buffer);
  skip_byte_order_mark(source, buffer);
  if (buffer.text().substr(0, kPiece).find('\0') != std::string_view::npos)
    source.fail("holds bytes that are no text, in no format of points");
  Layout layout = find_layout(source, buffer.text(), buffer.whole(), options, first);
  Points result = described(layout.columns, layout.coordinates);
  result.is_text = true;
  const bool named = have_names(layout.columns);
  Reader reader(source, std::move(layout), limit);
  reader.read(buffer);
  if (!named && options.columns.empty() && reader.begins_with_numbers_of_lines())
    result.warnings.push_back(source.name() +
                              ": the first column, taken as x, numbers the lines; --columns 2,3 leaves it out");
  result.data = reader.points();
  return result;
}

}  // namespace fathom::io::text
