#include "grid/cpu/plain_ranks.h"

#include <cmath>
#include <cstring>

namespace fathom::grid::cpu::plain {

void fill(const RealAxis& slow, const RealAxis& fast, Ranks& ranks) {
  std::memset(ranks.at, Ranks::kUnranked, sizeof ranks.at);
  ranks.span = 0;
  const auto squared = [&](double rows, double columns) {
    return fast.weight * (columns * columns) + slow.weight * (rows * rows);
  };
  // Sites so many rows away, each row's in rising order, are merged.
  constexpr int kLast = Ranks::kRows - 1;
  int next[kLast] = {}, rank = -1;
  double before = -1;
  for (;;) {
    int row = 0;
    for (int r = 1; r < kLast; ++r)
      if (squared(r, next[r]) < squared(row, next[row])) row = r;
    const double least = squared(row, next[row]);
    const bool ends = next[row] == Ranks::kColumns || least >= squared(kLast, 0);
    if (ends || (least > before && rank + 1 == Ranks::kUnranked)) {
      ranks.reach = static_cast<int>(std::sqrt(std::fmin(least, squared(kLast, 0))) / (fast.unit * kRoundedUp));
      return;
    }
    if (least > before) {
      before = least;
      ranks.distance[++rank] = static_cast<float>(std::sqrt(least));
      ranks.told[rank] = Steps<double>::real_told(least, fast.unit);
    }
    if (next[row] > ranks.span) ranks.span = next[row];
    ranks.at[next[row]++][row] = static_cast<std::uint8_t>(rank);
  }
}

}  // namespace fathom::grid::cpu::plain
