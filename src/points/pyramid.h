// Bits of a grid's elements in words that are little cubes, and above them bits that say which words have any.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fathom/core/shape.h"
#include "points/voxel_cell.hd.h"

namespace fathom::points {

inline Cell extents_of(const Shape& shape) {
  Cell extents{{1, 1, 1}};
  for (int k = 0; k < shape.rank(); ++k) extents[k] = shape[k];
  return extents;
}

/// Calls visitor(extents in words) for each level over a grid, up to one of a single word.
template <class Visitor>
void for_each_level(Cell extents, int axes, Visitor&& visitor) {
  do {
    extents = words_for(extents, axes);
    visitor(extents);
  } while (count_of(extents) > 1);
}

class Pyramid {
 public:
  /// @param extents  of 2 or 3 axes
  Pyramid(const Cell& extents, int axes) : axes_(axes) {
    for_each_level(extents, axes, [&](const Cell& words) {
      levels_.push_back({words, std::vector<std::uint64_t>(static_cast<std::size_t>(count_of(words)))});
    });
  }

  int axes() const { return axes_; }
  /// Of the words; the elements are the bits of level 0.
  int levels() const { return static_cast<int>(levels_.size()); }
  std::span<const std::uint64_t> words(int level) const { return levels_[static_cast<std::size_t>(level)].words; }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Level& level : levels_) sum += level.words.size() * sizeof(std::uint64_t);
    return sum;
  }

  /// The word at a cell of a level, whose bits are the cells word_shift() finer.
  std::uint64_t word(int level, const Cell& cell) const {
    const Level& at = levels_[static_cast<std::size_t>(level)];
    return at.words.empty() ? 0 : at.words[index_of(at, cell)];
  }
  bool contains(const Cell& element) const { return word(0, parent_of(element, axes_)) >> bit_of(element, axes_) & 1; }

  /// @return whether the bit was not set
  bool add(Cell cell) {
    for (Level& level : levels_) {
      const std::uint64_t bit = std::uint64_t{1} << bit_of(cell, axes_);
      cell = parent_of(cell, axes_);
      std::uint64_t& word = level.words[index_of(level, cell)];
      const std::uint64_t before = word;
      word |= bit;
      if (before != 0) return (before & bit) == 0;
    }
    return true;
  }

  /// @return whether the bit was set
  bool remove(Cell cell) {
    if (!contains(cell)) return false;
    for (Level& level : levels_) {
      const std::uint64_t bit = std::uint64_t{1} << bit_of(cell, axes_);
      cell = parent_of(cell, axes_);
      std::uint64_t& word = level.words[index_of(level, cell)];
      word &= ~bit;
      if (word != 0) break;
    }
    return true;
  }

 private:
  struct Level {
    Cell extents;  ///< in words
    std::vector<std::uint64_t> words;
  };

  std::size_t index_of(const Level& level, const Cell& word) const {
    return static_cast<std::size_t>(linear_index(word, level.extents, axes_));
  }

  int axes_;
  std::vector<Level> levels_;
};

}  // namespace fathom::points
