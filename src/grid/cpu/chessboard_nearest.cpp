#include "grid/cpu/chessboard_nearest.h"

#include <algorithm>
#include <bit>

#include "fathom/core/error.h"

namespace fathom::grid::cpu {

namespace {

std::size_t axis_index(int k) { return static_cast<std::size_t>(k); }

/// The coordinates at most `half_width` from `centre`, ascending: two ranges where they wrap round a periodic axis.
struct Window {
  Range ranges[2];
  int count = 1;

  Window(std::int64_t centre, std::int64_t half_width, std::int64_t extent, bool periodic) {
    const std::int64_t low = centre - half_width, high = centre + half_width + 1;
    if (!periodic || high - low >= extent) {
      ranges[0] = periodic ? Range{0, extent} : Range{std::max<std::int64_t>(low, 0), std::min(high, extent)};
    } else if (low < 0) {
      ranges[0] = {0, high};
      ranges[1] = {low + extent, extent};
      count = 2;
    } else if (high > extent) {
      ranges[0] = {0, high - extent};
      ranges[1] = {low, extent};
      count = 2;
    } else {
      ranges[0] = {low, high};
    }
  }
};

}  // namespace

template <class V>
struct ChessboardNearest<V>::Query {
  PerAxis<std::int64_t> at;
  PerAxis<std::int64_t> half_width;
  const std::byte* element;  ///< the element that looks
  std::int64_t found = kNone;  ///< lowest linear index

  static constexpr std::int64_t kNone = INT64_MAX;
};

template <class V>
ChessboardNearest<V>::ChessboardNearest(const Problem& problem, const Classes& classes, const RowWord* words)
    : p_(problem), classes_(classes), words_(words) {
  for (int k = 0; k < problem.rank; ++k) cost_[axis_index(k)] = axis_cost<V>(problem, k);
}

template <class V>
std::int64_t ChessboardNearest<V>::find(const PerAxis<std::int64_t>& at, V value, std::int64_t slowest) const {
  Query query{.at = at, .half_width = {}, .element = p_.input.data() + offset_of(p_.input, at)};
  for (int k = 0; k < p_.rank; ++k) {
    const AxisCost<V>& cost = cost_[axis_index(k)];
    auto steps = static_cast<std::int64_t>(value / cost.weight);
    while (steps > 0 && cost(steps) > value) --steps;
    while (cost(steps + 1) <= value && steps < p_.extent(k)) ++steps;
    query.half_width[axis_index(k)] = steps;
  }
  // A site with the lowest coordinate along axis 0 has the lowest index if no other axis is slower.
  if (p_.index_step[0] >= p_.index_step[axis_index(p_.rank - 1)]) try_coordinate(query, 0, 0, 0, slowest);
  else search(query, 0, 0, 0);
  if (query.found == Query::kNone) throw InternalError("a chessboard distance has no site");
  return query.found;
}

template <class V>
bool ChessboardNearest<V>::try_coordinate(Query& query, int axis, std::int64_t row, std::int64_t index,
                                          std::int64_t coordinate) const {
  return search(query, axis + 1, row * p_.extent(axis) + coordinate,
                index + coordinate * p_.index_step[axis_index(axis)]);
}

/// Searches axes `axis`, axis + 1, …, with the coordinates before them fixed in `row` and `index`. True if no other site
/// can have a lower index.
template <class V>
bool ChessboardNearest<V>::search(Query& query, int axis, std::int64_t row, std::int64_t index) const {
  const std::size_t k = axis_index(axis);
  const Window window(query.at[k], query.half_width[k], p_.extent(axis), p_.border[k] == Border::periodic);
  for (int r = 0; r < window.count; ++r) {
    if (axis == p_.rank - 1) {
      if (search_row(query, row, index, window.ranges[r])) return p_.index_step[k] == 1;
      continue;
    }
    for (std::int64_t c = window.ranges[r].begin; c < window.ranges[r].end; ++c)
      if (try_coordinate(query, axis, row, index, c)) return true;
  }
  return false;
}

template <class V>
bool ChessboardNearest<V>::search_row(Query& query, std::int64_t row, std::int64_t index, const Range& range) const {
  const std::int64_t extent = p_.extent(p_.rank - 1);
  const RowWord* words = words_ + row * strips_of(extent);
  std::int64_t x = range.begin;
  while (x < range.end) {
    if (in_class(query, row, x)) {
      query.found = std::min(query.found, index + x * p_.index_step[axis_index(p_.rank - 1)]);
      return true;
    }
    // The next set bit: a site, or an element of another class than the one before it.
    const RowWord& word = words[x / kStrip];
    const std::uint32_t behind = word.bits & ~(((2u << (x % kStrip)) - 1));
    std::int64_t next = word.right;
    if (behind) next = x / kStrip * kStrip + std::countr_zero(behind);
    if (next < 0 || next >= extent) return false;
    x = next;
  }
  return false;
}

/// Whether the element at x of the row is what the query looks for.
template <class V>
bool ChessboardNearest<V>::in_class(const Query& query, std::int64_t row, std::int64_t x) const {
  if (!classes_.boundaries())
    return words_[row * strips_of(p_.extent(p_.rank - 1)) + x / kStrip].bits >> (x % kStrip) & 1;
  PerAxis<std::int64_t> at{};
  at[axis_index(p_.rank - 1)] = x;
  for (int k = p_.rank - 2; k >= 0; --k) {
    at[axis_index(k)] = row % p_.extent(k);
    row /= p_.extent(k);
  }
  const std::byte* element = p_.input.data() + offset_of(p_.input, at);
  // Where label 0 is pinned, an element with distance 0 finds itself.
  if (element == query.element) return classes_.pins() && classes_.is_background(element);
  return classes_.differ(query.element, element);
}

template class ChessboardNearest<std::int32_t>;
template class ChessboardNearest<std::int64_t>;
template class ChessboardNearest<double>;

}  // namespace fathom::grid::cpu
