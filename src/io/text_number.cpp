#include "io/text_number.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace fathom::io::text {

namespace {

constexpr const char* kMissing = "which is no coordinate; leave such lines out";
constexpr const char* kNone = "which is no number";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_sign(char c) { return c == '+' || c == '-'; }
bool is_exponent(char c) { return c == 'e' || c == 'E' || c == 'd' || c == 'D'; }

std::string_view without_sign(std::string_view text) {
  if (!text.empty() && is_sign(text[0])) text.remove_prefix(1);
  return text;
}

/// Whether the comma can only be a decimal one: not three digits behind it and one to three before it, as in 1,234.
bool surely_decimal(std::string_view text, std::size_t comma) {
  const std::string_view whole = without_sign(text.substr(0, comma)), fraction = text.substr(comma + 1);
  return fraction.size() != 3 || whole.empty() || whole.size() > 3 || whole[0] == '0' ||
         !std::all_of(fraction.begin(), fraction.end(), is_digit);
}

}  // namespace

bool has_groups(std::string_view text) {
  constexpr std::array<std::string_view, 7> kMarks = {".", ",", "'", " ", "_", "\xc2\xa0", "\xe2\x80\xaf"};
  text = without_sign(text);
  const auto digits = [&] {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  const std::size_t first = digits();
  if (first < 1 || first > 3) return false;
  int groups = 0;
  while (!text.empty()) {
    const auto* mark = std::find_if(kMarks.begin(), kMarks.end(), [&](auto m) { return text.starts_with(m); });
    if (mark == kMarks.end()) return false;
    text.remove_prefix(mark->size());
    if (digits() == 3) ++groups;
    else return text.empty() && groups > 0 && (*mark == "." || *mark == ",");
  }
  return groups > 0;
}

bool is_exact(std::string_view text, double value) {
  if (std::abs(value) < 0x1p53) return true;
  text = without_sign(text);
  if (!std::all_of(text.begin(), text.end(), is_digit)) return true;
  std::array<char, 400> digits;  // of all that float64 holds
  const char* end =
      std::to_chars(digits.data(), digits.data() + digits.size(), std::abs(value), std::chars_format::fixed, 0).ptr;
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  return text == std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

bool is_missing(std::string_view text) {
  constexpr std::array<std::string_view, 12> kWords = {"",     "na",      "n/a",  "#n/a", "<na>", "nan",
                                                       "null", "missing", "none", ".",    "-",    "?"};
  if (text.size() > 8) return false;
  const std::string word = lower_case(without_sign(text).empty() ? text : without_sign(text));
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

bool looks_numeric(std::string_view text) {
  text = without_sign(text);
  bool digits = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_digit(c)) digits = true;
    else if (c == '.' || c == ',') continue;
    else if (is_exponent(c) && digits && i + 1 < text.size()) digits = false;  // some must follow
    else if (!is_sign(c) || i == 0 || !is_exponent(text[i - 1])) return false;
  }
  return digits;
}

Number parse_number(std::string_view text, char decimal) {
  Number number;
  if (text.empty()) return {0, "", true};
  if (is_missing(text)) return {0, kMissing, true};
  std::string plain(text);
  if (plain.size() > 1 && plain[0] == '+' && !is_sign(plain[1])) plain.erase(0, 1);
  const std::size_t comma = plain.find(','), dot = plain.find('.');
  if ((decimal == ',' ? dot : comma) != std::string::npos && looks_numeric(text)) {
    const bool both = comma != std::string::npos && dot != std::string::npos;
    if (both || plain.find_last_of(".,") != std::min(comma, dot))
      return {0, "which has marks between thousands; save numbers without", true};
    return {0,
            decimal == ',' ? "which has a decimal point where the others have commas; --decimal . reads points"
                           : "which has a decimal comma; --decimal , reads those",
            true};
  }
  if (decimal == ',' && comma != std::string::npos) {
    number.sure = surely_decimal(plain, comma);
    plain[comma] = '.';
  }
  const std::size_t exponent = plain.find_first_of("dD");
  if (exponent != std::string::npos && looks_numeric(text)) plain[exponent] = 'e';
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), number.value);
  if (end != plain.data() + plain.size()) {
    number.fault = has_groups(text) ? "which has marks between thousands; save numbers without" : kNone;
  } else if (error == std::errc::result_out_of_range) {
    number.fault = "which is beyond float64";
  } else if (error != std::errc{}) {
    number.fault = kNone;
  } else if (!std::isfinite(number.value)) {
    number.fault = kMissing;
  }
  return number;
}

}  // namespace fathom::io::text
