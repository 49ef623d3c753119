// Work mapping: a vector holds the same row of W neighbouring lines; 8 targets live in registers while sources stream
// by.
#include "grid/cpu/column_pass.h"

#include "core/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grid/cpu/column_pass.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "grid/cpu/column_blocks-inl.h"
#include "grid/cpu/column_envelope-inl.h"
#include "grid/cpu/column_lines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::HWY_NAMESPACE {

/// Sources near the targets, one step outwards at a time. True if no other can matter.
/// @param patience  steps after which to give up unless the whole window would settle it
template <class Join, class V, bool kSites>
HWY_INLINE bool search_window(const Lines<V, kSites>& lines, Targets<V, kSites>& block, std::int64_t at, int patience) {
  const Vec<V> cap = lines.set(lines.c.cap);
  for (int k = 1;; ++k) {
    const Vec<V> worst = hn::Min(block.worst(), cap);
    if (lines.hopeless(lines.cost(k), worst)) return true;
    if (k > kWindow || (k == patience && !lines.hopeless(lines.cost(kWindow), worst))) return false;
    offer_window<Join>(lines, block, at, k);
  }
}

/// Euclidean and taxicab: targets whose sites are not near are left to the envelope.
template <class V, bool kSites>
void search_additive(const Lines<V, kSites>& lines) {
  constexpr int kPatience = 4;
  const bool empty = lines.empty();
  int patience = kPatience;
  std::int64_t far = 0;
  for (std::int64_t t = 0; t < lines.c.targets; t += kTargets) {
    auto block = lines.own(t);
    if (!empty) {
      const bool near = search_window<Add>(lines, block, lines.c.first_target + t, patience);
      if (!near) lines.c.far[far++] = static_cast<std::int32_t>(t);
      patience = near ? kPatience : 1;  // behind a far block there is likely another
    }
    lines.store(block, t);
  }
  if (far > 0) Envelope<V, kSites>(lines, lines.c.far, far).run();
}

template <class V, bool kSites>
void search_chessboard(const Lines<V, kSites>& lines) {
  const BlockSearch<V, kSites> blocks(lines);
  for (std::int64_t t = 0; t < lines.c.targets; t += kTargets) {
    const std::int64_t at = lines.c.first_target + t;
    auto block = lines.own(t);
    if (!search_window<Max>(lines, block, at, kWindow + 1)) blocks.search(block, at);  // never gives up early
    lines.store(block, t);
  }
}

template <class V, bool kSites>
void search_strip(const Column<V>& column) {
  const int groups = kStrip / static_cast<int>(hn::Lanes(Tag<V>()));
  for (int g = 0; g < groups; ++g) {
    const Lines<V, kSites> lines(column, g);
    lines.pad();
    column.chessboard ? search_chessboard(lines) : search_additive(lines);
  }
}

template <class V>
void pass(const Column<V>& column) {
  column.site ? search_strip<V, true>(column) : search_strip<V, false>(column);
}

void pass_i32(const Column<std::int32_t>& column) { pass(column); }
void pass_i64(const Column<std::int64_t>& column) { pass(column); }
void pass_f64(const Column<double>& column) { pass(column); }

int lanes_i32() { return static_cast<int>(hn::Lanes(Tag<std::int32_t>())); }
int lanes_i64() { return static_cast<int>(hn::Lanes(Tag<std::int64_t>())); }
int lanes_f64() { return static_cast<int>(hn::Lanes(Tag<double>())); }

}  // namespace fathom::grid::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::grid::cpu {

std::int64_t bounds_size(std::int64_t sources) {
  const std::int64_t blocks = (sources + kTargets - 1) / kTargets;
  return 2 * blocks * kStrip;
}

std::int64_t candidates_size(std::int64_t sources) { return sources + 2 * (sources / kTargets + 2); }

template <>
int lanes<std::int32_t>(InstructionSet set) {
  return FATHOM_COMPILED_FOR(set, lanes_i32)();
}
template <>
int lanes<std::int64_t>(InstructionSet set) {
  return FATHOM_COMPILED_FOR(set, lanes_i64)();
}
template <>
int lanes<double>(InstructionSet set) {
  return FATHOM_COMPILED_FOR(set, lanes_f64)();
}

void column_pass(const Column<std::int32_t>& column, InstructionSet set) { FATHOM_COMPILED_FOR(set, pass_i32)(column); }
void column_pass(const Column<std::int64_t>& column, InstructionSet set) { FATHOM_COMPILED_FOR(set, pass_i64)(column); }
void column_pass(const Column<double>& column, InstructionSet set) { FATHOM_COMPILED_FOR(set, pass_f64)(column); }

}  // namespace fathom::grid::cpu
#endif
