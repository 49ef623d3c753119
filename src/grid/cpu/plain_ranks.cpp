#include "grid/cpu/plain_ranks.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace fathom::grid::cpu::plain {

void fill(const RealAxis& slow, const RealAxis& fast, Ranks& ranks) {
  std::memset(ranks.at, Ranks::kUnranked, sizeof ranks.at);
  ranks.span = 0;
  const auto squared = [&](double rows, double columns) {
    return fast.weight * (columns * columns) + slow.weight * (rows * rows);
  };
  // Sites so many rows away, each row's in rising order, are merged, until one has no place in the table.
  constexpr int kLast = Ranks::kRows - 1;
  const double none = squared(kLast, 0);
  int column[kLast] = {}, rank = -1;
  double next[kLast], before = -1;
  for (int row = 0; row < kLast; ++row) next[row] = squared(row, 0);
  for (;;) {
    const int row = static_cast<int>(std::min_element(next, next + kLast) - next);
    const double least = std::min(next[row], none);
    const bool fits = least == before || rank + 1 < Ranks::kUnranked;
    if (least == none || column[row] == Ranks::kColumns || !fits) {
      ranks.reach = static_cast<int>(std::sqrt(least) / (fast.unit * kRoundedUp));
      return;
    }
    if (least > before) {
      before = least;
      ranks.distance[++rank] = static_cast<float>(std::sqrt(least));
      ranks.told[rank] = Steps<double>::real_told(least, fast.unit);
    }
    ranks.span = std::max(ranks.span, column[row]);
    ranks.at[column[row]++][row] = static_cast<std::uint8_t>(rank);
    next[row] = squared(row, column[row]);
  }
}

}  // namespace fathom::grid::cpu::plain
