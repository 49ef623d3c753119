// Numbers in messages.
#pragma once

#include <cstdio>
#include <string>

namespace fathom {

/// As short as %g has it.
inline std::string text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", value);
  return buffer;
}

}  // namespace fathom
