// The chessboard metric: outwards search in blocks of eight sources, skipped or ended by lower bounds. max(g, cost) has
// no monotone argmin, so nothing but bounds prunes the search. Cost per line of n: at worst O(n²/64) tests of a bound.
#if defined(FATHOM_GRID_CPU_COLUMN_BLOCKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_COLUMN_BLOCKS_INL_H
#undef FATHOM_GRID_CPU_COLUMN_BLOCKS_INL_H
#else
#define FATHOM_GRID_CPU_COLUMN_BLOCKS_INL_H
#endif

#include "grid/cpu/column_lines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::HWY_NAMESPACE {

template <class V, bool kSites>
class BlockSearch {
 public:
  explicit BlockSearch(const Lines<V, kSites>& lines)
      : lines_(lines),
        blocks_((lines.c.sources + kTargets - 1) / kTargets),
        block_min_(lines.c.bounds),
        super_min_(lines.c.bounds + blocks_ * lines.lane_count()) {
    find_minima();
  }

  /// Offers all sources beyond the window of the targets at source rows at … at + 7 that can matter.
  HWY_INLINE void search(Targets<V, kSites>& block, std::int64_t at) const {
    Vec<V> worst = worst_of(block);
    search_left(block, worst, at);
    search_right(block, worst, at);
  }

 private:
  static constexpr Tag<V> d{};
  using Block = Targets<V, kSites>;

  void find_minima() {
    const int n = lines_.lane_count();
    for (std::int64_t b = 0; b < blocks_; ++b) {
      Vec<V> least = lines_.row(b * kTargets);  // rows behind the last are padding
      for (int j = 1; j < kTargets; ++j) least = hn::Min(least, lines_.row(b * kTargets + j));
      hn::Store(least, d, block_min_ + b * n);
      V* super = super_min_ + b / kSuperblock * n;
      hn::Store(b % kSuperblock ? hn::Min(least, hn::Load(d, super)) : least, d, super);
    }
  }

  HWY_INLINE Vec<V> worst_of(const Block& block) const { return hn::Min(block.worst(), hn::Set(d, lines_.c.cap)); }
  HWY_INLINE bool hopeless(const V* least, Vec<V> gap, Vec<V> worst) const {
    return lines_.hopeless(hn::Max(hn::Load(d, least), gap), worst);
  }

  HWY_INLINE void search_left(Block& block, Vec<V>& worst, std::int64_t at) const {
    const std::int64_t nearest = at + kTargets - 1 - kWindow - 1;
    if (nearest < 0) return;
    for (std::int64_t b = std::min(nearest / kTargets, blocks_ - 1); b >= 0; --b) {
      const Vec<V> gap = lines_.cost(std::max<std::int64_t>(kWindow + 1, at - (b * kTargets + kTargets - 1)));
      if (lines_.hopeless(gap, worst)) return;
      const bool at_end = b % kSuperblock == kSuperblock - 1;
      if (at_end && hopeless(super_min_ + b / kSuperblock * lines_.lane_count(), gap, worst)) b -= kSuperblock - 1;
      else if (!hopeless(block_min_ + b * lines_.lane_count(), gap, worst)) evaluate(block, worst, at, b);
    }
  }

  HWY_INLINE void search_right(Block& block, Vec<V>& worst, std::int64_t at) const {
    for (std::int64_t b = (at + kWindow + 1) / kTargets; b < blocks_; ++b) {
      const Vec<V> gap = lines_.cost(std::max<std::int64_t>(kWindow + 1, b * kTargets - (at + kTargets - 1)));
      if (lines_.hopeless(gap, worst)) return;
      const bool at_end = b % kSuperblock == 0;
      if (at_end && hopeless(super_min_ + b / kSuperblock * lines_.lane_count(), gap, worst)) b += kSuperblock - 1;
      else if (!hopeless(block_min_ + b * lines_.lane_count(), gap, worst)) evaluate(block, worst, at, b);
    }
  }

  /// All pairs of a block of sources and the targets.
  HWY_INLINE void evaluate(Block& block, Vec<V>& worst, std::int64_t at, std::int64_t b) const {
    const std::int64_t end = std::min(lines_.c.sources, (b + 1) * kTargets);
    for (std::int64_t i = b * kTargets; i < end; ++i) {
      const Vec<V> value = lines_.row(i);
      const Vec<V> site = kSites ? lines_.site(i) : value;
      const std::int64_t steps = at - i;
      for (int r = 0; r < kTargets; ++r)
        block.offer(r, hn::Max(value, lines_.cost(steps + r)), site);
    }
    worst = worst_of(block);
  }

  static constexpr int kSuperblock = 8;  ///< blocks that share a coarse bound

  const Lines<V, kSites>& lines_;
  std::int64_t blocks_;
  V* block_min_;
  V* super_min_;
};

}  // namespace fathom::grid::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
