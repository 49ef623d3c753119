// Bits of a grid's elements in words that are little cubes, and above them bits that say which words have any.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fathom/core/shape.h"

namespace fathom::points {

/// Indices along the axes; in 2D the last is 0.
using Cell = std::array<std::int64_t, 3>;

/// Bits of a coordinate that tell places in a word of 64: 8 × 8 or 4 × 4 × 4.
constexpr int word_shift(int axes) { return axes == 2 ? 3 : 2; }

class Pyramid {
 public:
  /// @param extents  2 or 3 axes
  explicit Pyramid(const Shape& extents) : axes_(extents.rank()), shift_(word_shift(extents.rank())) {
    Cell words{1, 1, 1};
    for (int k = 0; k < axes_; ++k) words[static_cast<std::size_t>(k)] = extents[k];
    do {
      std::int64_t count = 1;
      for (int k = 0; k < axes_; ++k) {
        std::int64_t& n = words[static_cast<std::size_t>(k)];
        count *= n = (n + (std::int64_t{1} << shift_) - 1) >> shift_;
      }
      levels_.push_back({words, std::vector<std::uint64_t>(static_cast<std::size_t>(count))});
    } while (levels_.back().words.size() > 1);
  }

  int axes() const { return axes_; }
  /// Of the words; the elements are the bits of level 0.
  int levels() const { return static_cast<int>(levels_.size()); }
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
  bool contains(const Cell& element) const { return word(0, parent_of(element)) >> bit_of(element) & 1; }

  /// @return whether the bit was not set
  bool add(Cell cell) {
    for (Level& level : levels_) {
      std::uint64_t& word = level.words[index_of(level, parent_of(cell))];
      const std::uint64_t bit = std::uint64_t{1} << bit_of(cell), before = word;
      word |= bit;
      if (before != 0) return (before & bit) == 0;
      cell = parent_of(cell);
    }
    return true;
  }

  /// @return whether the bit was set
  bool remove(Cell cell) {
    if (!contains(cell)) return false;
    for (Level& level : levels_) {
      std::uint64_t& word = level.words[index_of(level, parent_of(cell))];
      word &= ~(std::uint64_t{1} << bit_of(cell));
      if (word != 0) break;
      cell = parent_of(cell);
    }
    return true;
  }

 private:
  struct Level {
    Cell extents;  ///< in words
    std::vector<std::uint64_t> words;
  };

  static std::size_t index_of(const Level& level, const Cell& cell) {
    return static_cast<std::size_t>((cell[0] * level.extents[1] + cell[1]) * level.extents[2] + cell[2]);
  }
  Cell parent_of(const Cell& cell) const { return {cell[0] >> shift_, cell[1] >> shift_, cell[2] >> shift_}; }
  /// Row-major inside the word, so that ids rise with the bits.
  int bit_of(const Cell& cell) const {
    const std::int64_t mask = (std::int64_t{1} << shift_) - 1;
    std::int64_t bit = 0;
    for (int k = 0; k < axes_; ++k) bit = bit << shift_ | (cell[static_cast<std::size_t>(k)] & mask);
    return static_cast<int>(bit);
  }

  int axes_, shift_;
  std::vector<Level> levels_;
};

}  // namespace fathom::points
