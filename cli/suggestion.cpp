#include "suggestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace fathom::cli {

namespace {

/// Optimal string alignment: like Levenshtein's distance, with neighbours swapped as one step.
std::size_t difference(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = above;
    above = row;
  }
  return above.back();
}

}  // namespace

std::string suggestion(std::string_view given, const std::vector<std::string>& names) {
  std::string best;
  std::size_t least = SIZE_MAX;
  for (const std::string& name : names) {
    const bool begins = given.size() > 3 && name.starts_with(given);
    const std::size_t steps = begins ? 1 : difference(given, name);
    if (steps >= least || steps > (std::max(given.size(), name.size()) + 2) / 4) continue;
    least = steps;
    best = name;
  }
  return best.empty() ? "" : fmt::format("did you mean {}?", best);
}

}  // namespace fathom::cli
