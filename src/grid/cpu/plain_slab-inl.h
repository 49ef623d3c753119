// What the passes over volumes share: values of kSlab planes at a time, in strips of columns and in rows, and the bounds
// on distances that decide how each is solved.
#if defined(FATHOM_GRID_CPU_PLAIN_SLAB_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_PLAIN_SLAB_INL_H
#undef FATHOM_GRID_CPU_PLAIN_SLAB_INL_H
#else
#define FATHOM_GRID_CPU_PLAIN_SLAB_INL_H
#endif

#include <algorithm>

#include "grid/cpu/arena.h"
#include "grid/cpu/plain_rows-inl.h"
#include "grid/cpu/plain_walk-inl.h"
#include "grid/cpu/plain_window-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {

/// Rows that share a bound on the distance.
inline constexpr int kTile = kLanes16 < 16 ? 16 : kLanes16;
inline constexpr int kTileShift = kTile == 32 ? 5 : 4;
static_assert(1 << kTileShift == kTile);

/// Planes that take the first step together: more of them read bits and carries less often, but loosen the bounds.
inline constexpr int kSlab = kBlock / 4;

/// Columns of a strip: a vector, or as many as 16-bit vectors have where that is less.
template <class T>
inline constexpr int kColumns = sizeof(T) == 1 ? kLanes<D8> : kLanes16;

inline std::int64_t pieces(const Range& range, std::int64_t size) {
  return (range.end - range.begin + size - 1) / size;
}

template <class Form>
struct Scratch {
  using Wide = typename Form::Wide;
  std::byte* strip;  ///< [kSlab][strip_rows][kColumns] after kWindowPad rows: values of the first pass
  std::int64_t strip_rows, strip_bytes;
  std::byte* planes;  ///< [kSlab][region's middle][row_bytes] after kWindowPad elements: values within the planes
  std::int64_t row_bytes, planes_bytes;
  Wide* wide;  ///< [kSlab][region's middle][wide_pitch] after kWindowPad elements in the same memory: the same, wide
  std::int64_t wide_pitch, wide_bytes;
  RowSearch<Form, hn::ScalableTag<typename Form::Narrow>> search_narrow;
  RowSearch<Form, hn::ScalableTag<Wide>> search_wide;
  RowWalk<Form, D32> walk;
  RowWalk<Form, DDouble> wide_walk;  ///< of keys
  int* reach;                        ///< [tiles][segments], bound on the distances in a tile's segment
  int* span;                         ///< [tiles][segments], bound on their part along the fast axis, in columns
  int* strip_reach;                  ///< [tiles], bound on the distances that a strip can influence
  int* strip_span;                   ///< [tiles], bound on their part along the middle axis, in rows
  std::uint32_t* most;               ///< [tiles][segments], largest squared distance found
  std::uint8_t* crowded;             ///< [strips], most candidates of the strip were needed when last counted
  std::uint16_t* below;              ///< [a plane's columns], carries as they were before tiny keys were tried
  int* reach_before;                 ///< [tiles][segments], bounds as they were then
};

template <class Form>
Scratch<Form> carve(Arena& arena, const Frame& frame) {
  using Narrow = typename Form::Narrow;
  const Box& box = frame.box;
  const std::int64_t rows = frame.middle.end - frame.middle.begin;
  const std::int64_t line = std::max(box.middle, box.fast);
  const std::int64_t bounds = pieces(frame.middle, kTile) * pieces(frame.fast, kSegment);
  constexpr auto kElement = static_cast<std::int64_t>(sizeof(Narrow));
  constexpr auto kWide = static_cast<std::int64_t>(sizeof(typename Form::Wide));
  Scratch<Form> s;
  s.strip_rows = box.middle + kWindowPad;
  s.strip_bytes = (kWindowPad + kSlab * s.strip_rows) * kLanes16 * kElement;
  s.strip = arena.take<std::byte>(s.strip_bytes);
  s.row_bytes = kElement * row_pitch(box.fast + kWindowPad);
  s.planes_bytes = kSlab * rows * s.row_bytes + kElement * (kWindowPad + kSegment + kWindowPad);
  s.wide_pitch = row_pitch(box.fast + kWindowPad);
  s.wide_bytes = (kSlab * rows * s.wide_pitch + 2 * kWindowPad + kSegment) * kWide;
  s.planes = arena.take<std::byte>(std::max(s.planes_bytes, s.wide_bytes));
  s.wide = reinterpret_cast<typename Form::Wide*>(s.planes);
  s.search_narrow.carve(arena, line);
  s.search_wide.carve(arena, line);
  s.walk.carve(arena, box.fast);
  if (Form::kKeys) s.wide_walk.carve(arena, box.fast);
  s.reach = arena.take<int>(bounds);
  s.span = arena.take<int>(bounds);
  s.strip_span = arena.take<int>(pieces(frame.middle, kTile));
  s.strip_reach = arena.take<int>(pieces(frame.middle, kTile));
  s.most = arena.take<std::uint32_t>(bounds);
  s.crowded = arena.take<std::uint8_t>((box.fast + kLanes16 - 1) / kLanes16);
  s.below = arena.take<std::uint16_t>(Form::kKeys ? box.plane() : 0);
  s.reach_before = arena.take<int>(Form::kKeys ? bounds : 0);
  return s;
}

template <class Form, class T>
inline constexpr bool kIsWide = std::is_same_v<T, typename Form::Wide>;

template <class Form>
struct Slab {
  using Narrow = typename Form::Narrow;
  using Tiny = typename Form::Tiny;
  using Wide = typename Form::Wide;

  Slab(const Frame& its_frame, const Scratch<Form>& scratch)
      : frame(its_frame),
        s(scratch),
        tiny(frame.tiny, frame.slow_multiple, frame.tiny.reach),
        narrow(frame.narrow, frame.slow_multiple, frame.narrow.reach),
        wide(frame.wide, frame.slow_multiple, kAnyReach),
        tiles(static_cast<int>(pieces(frame.middle, kTile))),
        segments(static_cast<int>(pieces(frame.fast, kSegment))),
        rows(frame.middle.end - frame.middle.begin) {}

  template <class T>
  const Layout& layout() const {
    return std::is_same_v<T, Tiny> ? frame.tiny : kIsWide<Form, T> ? frame.wide : frame.narrow;
  }
  template <class T>
  const FirstPass<Form>& first_pass() const {
    return std::is_same_v<T, Tiny> ? tiny : kIsWide<Form, T> ? wide : narrow;
  }

  template <class T>
  T* strip_of(int plane) const {
    return reinterpret_cast<T*>(s.strip) + (kWindowPad + plane * s.strip_rows) * kColumns<T>;
  }
  template <class T>
  T* plane_of(int plane) const {
    if constexpr (kIsWide<Form, T>) return s.wide + kWindowPad + plane * rows * s.wide_pitch;
    else return reinterpret_cast<T*>(s.planes) + kWindowPad + plane * rows * pitch_of<T>();
  }
  template <class T>
  std::int64_t pitch_of() const {
    if constexpr (kIsWide<Form, T>) return s.wide_pitch;
    else return s.row_bytes / static_cast<std::int64_t>(sizeof(T));
  }
  int* reach_of(int tile) const { return s.reach + static_cast<std::int64_t>(tile) * segments; }
  /// @param nearer  smallest of what the first pass left in a strip or plane
  template <class T>
  void set_least(std::uint16_t nearer) {
    const bool none = nearer >= FirstPass<Form>::kAbsent;
    const std::int64_t units = std::int64_t{FirstPass<Form>::distance(nearer)} * frame.slow_multiple;
    least_square = none ? kNoSite32 : units * units;
    least_value = first_pass<T>().value(nearer);
  }

  /// No part of a distance along an axis has more steps if the distance is at most `reach` and the rest is at least the
  /// smallest distance along the slow axis.
  int span_of(int reach, int multiple) const {
    const std::int64_t rest = static_cast<std::int64_t>(reach) * reach - least_square;
    return rest <= 0 ? 0 : root_up(rest) / multiple;
  }

  const Frame& frame;
  Scratch<Form> s;
  const FirstPass<Form> tiny, narrow, wide;
  const int tiles, segments;
  const std::int64_t rows;
  std::int64_t least_square = 0;  ///< smallest along the slow axis in the plane's strip or the plane at hand
  std::int64_t least_value = 0;   ///< no value there is smaller

 private:
  static constexpr int kAnyReach = 1 << 29;
};

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
