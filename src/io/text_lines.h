// Text of words and numbers, line by line: OBJ, OFF, STL.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/byte_source.h"

namespace fathom::io::text {

/// Lines end in LF, CR LF, or all in CR; a word that begins with '#' and all behind it is a comment.
class WordLines {
 public:
  /// Whether a line that ends in a backslash goes on in the next.
  using GoesOn = bool (*)(std::string_view line);

  /// @param goes_on  null: no line does
  WordLines(const ByteSource& source, std::string_view text, GoesOn goes_on = nullptr);

  /// Goes to the next line that has words. False at the end.
  bool next();
  /// The next word of the line; empty at its end.
  std::string_view word();
  /// What word() will give.
  std::string_view peek() const { return WordLines(*this).word(); }
  /// The next word, a number; inf and nan are some. @throws IoError it is none
  double number();
  /// The next word, an integer that makes sense as a count or a number of something. @throws IoError it is none
  std::int64_t integer();

  /// Of the line where the current one begins, from 1.
  std::int64_t line() const { return line_; }
  /// Whether a number had other digits than its float32 has.
  bool wide() const { return wide_; }
  /// @throws IoError "NAME has in line 12 TEXT"
  [[noreturn]] void fail(const std::string& text) const;
  /// @throws IoError "NAME has in line 12 'WORD', TEXT"
  [[noreturn]] void fail_at(std::string_view word, std::string_view text) const;

 private:
  bool is_blank(char c) const { return c == ' ' || (c >= '\t' && c <= '\r') || (c == '\\' && goes_on_ != nullptr); }
  void skip_blanks();

  const ByteSource* source_;
  std::string_view text_;  ///< behind the line
  std::string_view rest_;  ///< of the line
  GoesOn goes_on_;
  char end_;
  std::int64_t line_ = 0, next_line_ = 1;
  bool wide_ = false;
};

}  // namespace fathom::io::text
