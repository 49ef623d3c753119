// Nearest voxels through the pyramid of bits: depth first, the nearest child first, leaving out what is farther than
// the worst of the list, as in search.cpp. A word's 64 bounds come from a few squares along each axis. Exact searches
// begin at the word about the query and go up as far as they must; the others begin at the top, as those of devices do.
// Cost: O(log of the extent) words per query where voxels are spread out, each with 64 children at most.
#include "points/cpu/voxel_search.h"

#include <algorithm>
#include <bit>

#include "points/cpu/stretch.h"
#include "points/nearest_list.h"

namespace fathom::points::cpu {

namespace {

template <class Value, int kAxes>
class VoxelSearch {
 public:
  VoxelSearch(const Pyramid& pyramid, const Cell& extents, const Request& request)
      : pyramid_(pyramid), extents_(extents), request_(request), limit_(squared_limit<Value>(request)) {}

  void answer_one(std::int64_t query) {
    place_ = place_of(request_, query);
    if (request_.cones.present) cone_ = cone_of(request_.cones, query);
    clear(list_, request_.k, starting_limit());
    reach_ = unseen_ = reach_of(request_, worst().squared, worst().id);
    work_ = 0;
    stopped_ = false;
    if (request_.exact() && count_of(extents_) > 0) climb();
    else visit(pyramid_.levels() - 1, {});
    may_carry_ = worst().id != kNobody;
    answer(request_, query, list_, std::min({list_[0].squared, reach_, unseen_}), stopped_ || list_[0].id != kNobody);
  }

 private:
  static constexpr int kShift = word_shift(kAxes), kSide = word_side(kAxes);

  struct Child {
    Value bound;
    int bit;
  };

  /// Squares of the ways along each axis to a word's children: a child's bound is their sum.
  struct Squares {
    Value of[kAxes][kSide];

    Value sum(int bit) const {
      Value total = of[0][step_of(bit, 0, kAxes)];
      for (int k = 1; k < kAxes; ++k) total += of[k][step_of(bit, k, kAxes)];
      return total;
    }
  };

  const Candidate<Value>& worst() const { return list_[request_.k - 1]; }

  /// The radius; or, closer, how far the sites are that answered the query before, if they would do for this one.
  Value starting_limit() const {
    if (!may_carry_ || !request_.exact() || request_.cones.present) return limit_;
    Value farthest{};
    for (int j = 0; j < request_.k; ++j) {
      const Cell cell = cell_at(list_[j].id, extents_, kAxes);
      Value squared{};
      for (int k = 0; k < kAxes; ++k) squared += square_to_cell<Value>(place_[static_cast<std::size_t>(k)], cell[k], 0);
      farthest = std::max(farthest, squared);
    }
    return std::min(farthest, limit_);
  }

  Squares squares_of(const Cell& word, int shift) const {
    Squares squares;
    for (int k = 0; k < kAxes; ++k)
      for (int i = 0; i < kSide; ++i)
        squares.of[k][i] = square_to_cell<Value>(place_[static_cast<std::size_t>(k)], (word[k] << kShift) + i, shift);
    return squares;
  }

  /// From the word about the query up, until nothing outside of what was looked at can matter: answers that are exact
  /// do not depend on the order.
  void climb() {
    Cell cell;
    for (int k = 0; k < kAxes; ++k)
      cell[k] = static_cast<std::int64_t>(
          std::clamp(place_[static_cast<std::size_t>(k)], 0.0, static_cast<double>(extents_[k] - 1)));
    std::uint64_t seen = 0;
    for (int level = 0; level < pyramid_.levels(); ++level) {
      const Cell word = parent_of(cell, kAxes);
      visit(level, word, seen);
      if (is_enough(word, kShift * (level + 1))) return;
      seen = std::uint64_t{1} << bit_of(word, kAxes);
      cell = word;
    }
  }

  /// Whether all elements outside of a cell that is 2^shift wide are too far away. The query is inside, or beyond the
  /// grid's end where the cell is.
  bool is_enough(const Cell& cell, int shift) const {
    for (int k = 0; k < kAxes; ++k) {
      const auto at = static_cast<Difference<Value>>(place_[static_cast<std::size_t>(k)]);
      const std::int64_t before = (cell[k] << shift) - 1, behind = (cell[k] + 1) << shift;
      const auto way_out = [&](std::int64_t element) {
        return square<Value>(way(at, static_cast<Difference<Value>>(element), Difference<Value>{}));
      };
      if (before >= 0 && !(way_out(before) > reach_)) return false;
      if (behind < extents_[k] && !(way_out(behind) > reach_)) return false;
    }
    return true;
  }

  /// @param word  cell of the level
  /// @param seen  children that are left out
  void visit(int level, const Cell& word, std::uint64_t seen = 0) {
    const std::uint64_t bits = pyramid_.word(level, word) & ~seen;
    if (bits == 0) return;
    const int shift = kShift * level;
    const Squares squares = squares_of(word, shift);
    if (level == 0) return take(word, bits, squares);
    Child children[64];
    int count = 0;
    for (std::uint64_t rest = bits; rest != 0; rest &= rest - 1) {
      const int bit = std::countr_zero(rest);
      const Value bound = squares.sum(bit);
      if (!(bound > reach_)) children[count++] = {bound, bit};
    }
    const auto before = [](const Child& a, const Child& b) {
      return a.bound < b.bound || (a.bound == b.bound && a.bit < b.bit);
    };
    std::sort(children, children + count, before);
    for (int i = 0; i < count && !(children[i].bound > reach_); ++i) {
      stopped_ = stopped_ || (request_.work_limit > 0 && work_ >= request_.work_limit);
      if (stopped_) {
        unseen_ = std::min(unseen_, children[i].bound);
        return;  // those that follow are no nearer
      }
      const Cell cell = child_of(word, children[i].bit, kAxes);
      if (may_better(children[i].bound, cell, shift)) visit(level - 1, cell);
    }
  }

  /// Whether one of a cell's elements could go on the list.
  bool may_better(Value bound, const Cell& cell, int shift) const {
    const CellBox box = CellBox::of(cell, shift, extents_, kAxes);
    if (bound == worst().squared && linear_index(box.low, extents_, kAxes) > worst().id) return false;
    return !request_.cones.present || may_hold(cone_, place_.data(), box, kAxes);
  }

  /// The elements of a word of level 0.
  void take(const Cell& word, std::uint64_t bits, const Squares& squares) {
    work_ += std::popcount(bits);
    for (; bits != 0; bits &= bits - 1) {
      const int bit = std::countr_zero(bits);
      const Value squared = squares.sum(bit);
      if (worst().squared < squared) continue;
      const Cell element = child_of(word, bit, kAxes);
      const std::int64_t id = linear_index(element, extents_, kAxes);
      if (!comes_before(squared, id, worst()) || !in_cone(element, squared)) continue;
      insert(list_, request_.k, {squared, id, 0});
      reach_ = reach_of(request_, worst().squared, worst().id);
    }
  }

  bool in_cone(const Cell& element, Value squared) const {
    return !request_.cones.present || holds(cone_, place_.data(), element, static_cast<double>(squared), kAxes);
  }

  const Pyramid& pyramid_;
  const Cell& extents_;
  const Request& request_;
  const Value limit_;
  std::array<double, 3> place_{};
  ConeOfQuery cone_;
  Value reach_{};
  Value unseen_{};  ///< least bound of what the work limit left unseen
  std::int64_t work_ = 0;
  bool stopped_ = false;
  bool may_carry_ = false;  ///< the list holds k sites, which answered the query before
  Candidate<Value> list_[64];
};

template <class Value, int kAxes>
void search_all(const Pyramid& pyramid, const Cell& extents, const Request& request, const VoxelCut& cut,
                Monitor& monitor) {
  for_each_stretch(request.queries, cut.ordered, cut.threads, monitor, [&](const Stretch& stretch) {
    VoxelSearch<Value, kAxes> search(pyramid, extents, request);
    for (std::int64_t i = stretch.begin; i < stretch.end; ++i) search.answer_one(stretch.query_at(i));
  });
}

}  // namespace

void search_voxels(const Pyramid& pyramid, const Cell& extents, const Request& request, const VoxelCut& cut,
                   Monitor& monitor) {
  const auto run = pyramid.axes() == 2 ? (cut.wide ? search_all<Wide, 2> : search_all<double, 2>)
                                       : (cut.wide ? search_all<Wide, 3> : search_all<double, 3>);
  run(pyramid, extents, request, cut, monitor);
}

}  // namespace fathom::points::cpu
