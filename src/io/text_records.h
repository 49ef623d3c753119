// Text as records of fields: RFC 4180's delimiters and quotes, or words between blanks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.h"

namespace fathom::io::text {

/// As a delimiter: any number of blanks and tabs.
inline constexpr char kBlanks = ' ';

struct Field {
  std::string_view text;  ///< without the blanks and quotes around it; "" still stands for a quote in it
  bool quoted = false;
};

std::string to_string(const Field& field);

/// What lies at the start of a text.
struct Record {
  enum class Kind { fields, comment, blank, unfinished, broken };
  Kind kind = Kind::blank;
  std::size_t bytes = 0;        ///< with its line end
  std::int64_t lines = 0;       ///< line ends in it
  std::string_view comment;     ///< without what begins it
  const char* fault = nullptr;  ///< of a broken one
};

/// Cuts records off a text.
class Splitter {
 public:
  explicit Splitter(char delimiter);

  char delimiter() const { return delimiter_; }
  /// How many fields a record has; with this known, a '#' where a record is complete begins a comment, and others are
  /// text. 0: not known, and a '#' after a number begins one, but not right after a delimiter.
  void set_expected(std::size_t fields) { expected_ = fields; }

  /// The first record of a text. Lines end in LF, CR or both; '#', '%' and "//" begin a comment where a record begins.
  /// @param whole   whether the text ends here; else a record that might go on is unfinished
  /// @param fields  of the record; they point into the text
  Record next(std::string_view text, bool whole, std::vector<Field>& fields) const;

 private:
  struct Cursor;
  bool is_blank(char c) const { return c == ' ' || (c == '\t' && delimiter_ != '\t'); }
  bool begins_comment(const Cursor& cursor, const char* begin, const std::vector<Field>& fields) const;
  bool add_quoted(Cursor& cursor, std::vector<Field>& fields) const;
  void add_plain(Cursor& cursor, std::vector<Field>& fields) const;
  void skip_blanks(Cursor& cursor) const;

  char delimiter_;
  std::size_t expected_ = 0;
  std::array<bool, 256> stops_{};  // bytes at which a field without quotes may end
};

/// The text of a source, a piece at a time.
class TextBuffer {
 public:
  /// @param piece  bytes to read at once
  /// @param most   a record may have
  TextBuffer(ByteSource& source, std::size_t piece, std::uint64_t most);

  /// What was read and not consumed.
  std::string_view text() const { return {bytes_.data() + begin_, end_ - begin_}; }
  /// Whether the source ends where text() does.
  bool whole() const { return whole_; }
  void consume(std::size_t bytes) { begin_ += bytes; }
  /// Makes text() longer, or whole. @throws IoError a record is longer than the most
  void read_more();

 private:
  ByteSource& source_;
  std::uint64_t most_;
  std::vector<char> bytes_;
  std::size_t begin_ = 0, end_ = 0;
  bool whole_ = false;
};

}  // namespace fathom::io::text
