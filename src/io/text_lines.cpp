#include "io/text_lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "io/sizes.h"

namespace fathom::io::text {

namespace {

/// Whether a number's nearest float32 has the same digits, as many as are written: then it was one. Halves may have
/// been rounded either way.
bool is_float32(double value, std::string_view word) {
  const auto narrow = static_cast<double>(static_cast<float>(value));
  if (narrow == value || !std::isfinite(value)) return true;
  const std::size_t mark = std::min(word.find_first_of("eE"), word.size());
  const std::size_t dot = std::min(word.find('.'), mark);
  int exponent = 0;
  if (mark < word.size()) {
    const char* digits = word.data() + mark + 1;
    std::from_chars(digits + (*digits == '+' ? 1 : 0), word.data() + word.size(), exponent);
  }
  const double decimals = static_cast<double>(mark - std::min(dot + 1, mark)) - exponent;
  return std::abs(narrow - value) <= 0.50001 * std::pow(10.0, -decimals) + std::abs(value) * 0x1p-52;
}

}  // namespace

WordLines::WordLines(const ByteSource& source, std::string_view text, GoesOn goes_on)
    : source_(&source), text_(text), goes_on_(goes_on) {
  if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);  // a byte order mark
  end_ = text_.find('\n') == std::string_view::npos ? '\r' : '\n';
}

bool WordLines::next() {
  while (!text_.empty()) {
    line_ = next_line_;
    std::size_t end = 0;
    for (bool more = true; more; ++next_line_) {
      end = std::min(text_.find(end_, end), text_.size());
      const std::string_view before = text_.substr(0, end - (end > 0 && text_[end - 1] == '\r'));
      more = goes_on_ != nullptr && before.ends_with('\\') && end < text_.size() && goes_on_(before);
      end = std::min(end + 1, text_.size());
    }
    rest_ = text_.substr(0, end);
    text_.remove_prefix(end);
    skip_blanks();
    if (!rest_.empty() && rest_[0] != '#') return true;
  }
  rest_ = {};
  return false;
}

void WordLines::skip_blanks() {
  std::size_t blanks = 0;
  while (blanks < rest_.size() && is_blank(rest_[blanks])) ++blanks;
  rest_.remove_prefix(blanks);
}

std::string_view WordLines::word() {
  skip_blanks();
  std::size_t length = 0;
  while (length < rest_.size() && !is_blank(rest_[length])) ++length;
  const std::string_view word = rest_.substr(0, length);
  if (word.starts_with('#')) return rest_ = {};
  rest_.remove_prefix(length);
  return word;
}

double WordLines::number() {
  const std::string_view word = this->word();
  const std::string_view digits = word.substr(word.starts_with('+') ? 1 : 0);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (word.empty()) fail("fewer numbers than belong there");
  if (error == std::errc::result_out_of_range && end == digits.data() + digits.size()) {
    const bool tiny = digits.find("e-") != std::string_view::npos || digits.find("E-") != std::string_view::npos;
    if (!tiny) fail_at(word, "which is beyond float64");
    return 0;
  }
  if (error != std::errc{} || end != digits.data() + digits.size()) fail_at(word, "which is no number");
  if (!wide_ && !is_float32(value, digits)) wide_ = true;
  return value;
}

std::int64_t WordLines::integer() {
  const std::string_view word = this->word();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty()) fail("fewer numbers than belong there");
  if (error != std::errc{} || end != word.data() + word.size()) fail_at(word, "which is no integer");
  return value;
}

void WordLines::fail(const std::string& text) const {
  source_->fail("has in line " + std::to_string(line_) + " " + text);
}

void WordLines::fail_at(std::string_view word, std::string_view text) const {
  fail(std::string("'").append(one_line(word)).append("', ").append(text));
}

}  // namespace fathom::io::text
