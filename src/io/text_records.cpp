// A tokenizer for tables of text. One pass over the bytes, without copies: fields point into the text. Source: RFC
// 4180; departs by other delimiters, blanks around fields, any line ends, comments, and quotes within fields that do
// not begin with one.
#include "io/text_records.h"

#include <algorithm>
#include <cstring>

#include "io/sizes.h"
#include "io/text_number.h"

namespace fathom::io::text {

namespace {

constexpr std::size_t index_of(char c) { return static_cast<unsigned char>(c); }

}  // namespace

std::string to_string(const Field& field) {
  std::string text;
  for (std::size_t i = 0; i < field.text.size(); ++i) {
    text += field.text[i];
    if (field.quoted && field.text[i] == '"') ++i;
  }
  return text;
}

struct Splitter::Cursor {
  const char* at;
  const char* end;
  bool whole;
  std::int64_t lines = 0;
  const char* fault = nullptr;

  bool at_line_end() const { return at != end && (*at == '\n' || *at == '\r'); }

  /// Steps over LF, CR or CR LF. False: a CR at the end, of which the LF may follow.
  bool skip_line_end() {
    if (at == end) return true;
    if (*at == '\r') {
      if (at + 1 == end && !whole) return false;
      if (at + 1 != end && at[1] == '\n') ++at;
    }
    ++at;
    ++lines;
    return true;
  }
  void skip_line() {
    while (at != end && *at != '\n' && *at != '\r') ++at;
  }
};

Splitter::Splitter(char delimiter) : delimiter_(delimiter) {
  for (const char c : {delimiter, '\n', '\r', '#', '\0'}) stops_[index_of(c)] = true;
  if (delimiter == kBlanks) stops_[index_of('\t')] = true;
}

void Splitter::skip_blanks(Cursor& cursor) const {
  while (cursor.at != cursor.end && is_blank(*cursor.at)) ++cursor.at;
}

bool Splitter::begins_comment(const Cursor& cursor, const char* begin, const std::vector<Field>& fields) const {
  const char* last = cursor.at;
  while (last != begin && is_blank(last[-1])) --last;
  const std::string_view word(begin, static_cast<std::size_t>(last - begin));
  if (expected_ > 0) return fields.size() + !word.empty() == expected_;
  if (delimiter_ != kBlanks && !fields.empty() && cursor.at[-1] == delimiter_) return false;  // 1,2,#ff0000
  return looks_numeric(!word.empty() || fields.empty() ? word : fields.back().text);
}

bool Splitter::add_quoted(Cursor& cursor, std::vector<Field>& fields) const {
  const char* const begin = ++cursor.at;
  for (;; ++cursor.at) {
    if (cursor.at == cursor.end) {
      if (cursor.whole) cursor.fault = "a quote that is not closed";
      return false;
    }
    const char c = *cursor.at;
    if (c == '\n' || (c == '\r' && (cursor.at + 1 == cursor.end || cursor.at[1] != '\n'))) ++cursor.lines;
    if (c == '\0') {
      cursor.fault = "a byte that is no text";
      return false;
    }
    if (c != '"') continue;
    if (cursor.at + 1 == cursor.end || cursor.at[1] != '"') break;
    ++cursor.at;
  }
  fields.push_back({{begin, static_cast<std::size_t>(cursor.at - begin)}, true});
  ++cursor.at;
  const char* const after = cursor.at;
  skip_blanks(cursor);
  if (cursor.at == cursor.end || *cursor.at == delimiter_ || cursor.at_line_end() || *cursor.at == '#') return true;
  if (delimiter_ == kBlanks && cursor.at != after) return true;
  cursor.fault = "text after a closing quote";
  return false;
}

void Splitter::add_plain(Cursor& cursor, std::vector<Field>& fields) const {
  const char* const begin = cursor.at;
  for (;; ++cursor.at) {
    while (cursor.at != cursor.end && !stops_[index_of(*cursor.at)]) ++cursor.at;
    if (cursor.at == cursor.end || *cursor.at != '#' || begins_comment(cursor, begin, fields)) break;
  }
  if (cursor.at != cursor.end && *cursor.at == '\0') cursor.fault = "a byte that is no text";
  const char* last = cursor.at;
  while (last != begin && is_blank(last[-1])) --last;
  if (last != begin || delimiter_ != kBlanks)
    fields.push_back({{begin, static_cast<std::size_t>(last - begin)}, false});
}

Record Splitter::next(std::string_view text, bool whole, std::vector<Field>& fields) const {
  fields.clear();
  Cursor cursor{text.data(), text.data() + text.size(), whole};
  const auto result = [&](Record::Kind kind, std::string_view comment = {}) {
    return Record{kind, static_cast<std::size_t>(cursor.at - text.data()), cursor.lines, comment, cursor.fault};
  };
  const auto ended = [&](Record::Kind kind, std::string_view comment = {}) {
    if ((cursor.at == cursor.end && !whole) || !cursor.skip_line_end()) return result(Record::Kind::unfinished);
    return result(kind, comment);
  };
  skip_blanks(cursor);
  const std::string_view rest(cursor.at, static_cast<std::size_t>(cursor.end - cursor.at));
  if (rest.starts_with('#') || rest.starts_with('%') || rest.starts_with("//")) {
    cursor.skip_line();
    std::string_view comment = rest.substr(0, static_cast<std::size_t>(cursor.at - rest.data()));
    comment.remove_prefix(comment.starts_with("//") ? 2 : 1);
    return ended(Record::Kind::comment, comment);
  }
  if (cursor.at == cursor.end || cursor.at_line_end()) return ended(Record::Kind::blank);
  for (;;) {
    skip_blanks(cursor);
    if (delimiter_ == kBlanks && (cursor.at == cursor.end || cursor.at_line_end())) break;
    if (cursor.at != cursor.end && *cursor.at == '"') {
      if (!add_quoted(cursor, fields)) return result(cursor.fault ? Record::Kind::broken : Record::Kind::unfinished);
    } else {
      add_plain(cursor, fields);
    }
    if (cursor.fault) return result(Record::Kind::broken);
    if (cursor.at == cursor.end || cursor.at_line_end()) break;
    if (*cursor.at == '#') {
      cursor.skip_line();
      break;
    }
    if (*cursor.at == delimiter_) ++cursor.at;
  }
  return ended(Record::Kind::fields);
}

TextBuffer::TextBuffer(ByteSource& source, std::size_t piece, std::uint64_t most)
    : source_(source), most_(most), bytes_(piece) {}

void TextBuffer::read_more() {
  if (begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == bytes_.size()) {
    if (end_ > most_) source_.fail("has a line of more than " + format_bytes(most_));
    bytes_.resize(2 * end_);
  }
  const std::size_t got = source_.read(bytes_.data() + end_, bytes_.size() - end_);
  whole_ = got < bytes_.size() - end_;
  end_ += got;
}

}  // namespace fathom::io::text
