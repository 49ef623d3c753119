// Words in a sentence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom::io {

/// "a, b or c", with `last` = "or".
inline std::string listed(const std::vector<std::string>& words, std::string_view last) {
  std::string text;
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (k > 0 && k + 1 < words.size()) text += ", ";
    else if (k > 0) text.append(" ").append(last).append(" ");
    text += words[k];
  }
  return text;
}

}  // namespace fathom::io
