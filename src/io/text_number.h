// Numbers in text: what a coordinate may look like, and what it is when it is none.
#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include "io/numbers.h"

namespace fathom::io::text {

/// Decimal notation, whole and finite, with '.': nearly all there is, and fast.
inline bool plain_number(std::string_view text, double& value) {
  const auto number = parsed(text);
  value = number.value_or(0);
  return number && std::isfinite(value);
}

struct Number {
  double value = 0;
  const char* fault = nullptr;  ///< what is wrong, such as "which is no number"
  bool sure = true;             ///< false: a decimal comma that might divide thousands, as in 1,234
};

/// Also a plus, Fortran's exponents (1.0D+03), and decimal commas.
Number parse_number(std::string_view text, char decimal);

/// Whether a number is not an integer, or one that float64 tells from its neighbours.
bool is_exact(std::string_view text, double value);

/// Whether it is meant as a number, of whatever country.
bool looks_numeric(std::string_view text);

/// Whether it is a number with marks between thousands: 1.234,5 or 1'234 or 1 234.
bool has_groups(std::string_view text);

/// "", "NA", "nan", "null" …: what stands for no value.
bool is_missing(std::string_view text);

}  // namespace fathom::io::text
