// Small pieces of text that pages and plots share.
#pragma once

#include <string>

#include "reproduce/study.h"

namespace fathom::cli {

/// Text in which nothing means anything to HTML.
inline std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

/// "Step 1, VTV-VTV"
inline std::string label_of(const Row& row) {
  return row.row.empty() ? row.column : row.column.empty() ? row.row : row.row + ", " + row.column;
}

}  // namespace fathom::cli
