// Numbers and letters as text, whatever the locale: a program that uses the library may have another decimal mark than
// a point.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace fathom::io {

/// With at most so many digits that count.
inline std::string number_text(double value, int digits) {
  char text[40];
  return std::string(text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits).ptr);
}

/// As few digits as read back as the same number; 0 for −0.
inline std::string shortest(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value + 0).ptr};
}

/// Letters of ASCII made small.
inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// All of the text as a number; nothing if it is something else.
template <class T = double>
std::optional<T> parsed(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The number that the text begins with, behind blanks; nothing if there is none.
inline std::optional<double> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t+"), text.size()));
  double value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{}) return std::nullopt;
  return value;
}

}  // namespace fathom::io
