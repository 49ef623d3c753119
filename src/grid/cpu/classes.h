// How elements are told apart: sites from others, or labels from one another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fathom/core/execution.h"
#include "grid/problem.h"

namespace fathom::grid::cpu {

inline constexpr int kRun = 128;  ///< most neighbouring elements that are handled at once

class Classes {
 public:
  Classes(const Problem& problem, InstructionSet instruction_set);

  DType dtype() const { return dtype_; }
  bool by_label() const { return by_label_; }
  /// Each element looks for the nearest element of another class; else all look for sites.
  bool boundaries() const { return boundaries_; }
  /// Label 0 has distance 0.
  bool pins() const { return pins_; }

  /// Bit i of the words, 32 elements each: element i is a site (masks), or differs from element i − 1 (labels; bit 0
  /// of the row is 0). Here and below, 0 behind the end unless it is said.
  /// @param background  of the row, if pins()
  void row_bits(const std::byte* row, std::int64_t count, const std::uint32_t* background, std::uint32_t* words) const;
  /// Whether two elements are of different classes.
  bool differ(const std::byte* a, const std::byte* b) const;

  /// Bit i of the words: elements i of the two rows are of different classes.
  void differing(const std::byte* a, const std::byte* b, std::int64_t count, std::uint32_t* words) const;
  /// The same, but 0 where either is background: pinned, it is a site anyway.
  /// @param background  of `a`
  void touching(const std::byte* a, const std::byte* b, const std::uint32_t* background, std::int64_t count,
                std::uint32_t* words) const;
  /// Bit i of the words: element i has label 0, or is behind the end.
  void background(const std::byte* elements, std::int64_t count, std::uint32_t* words) const;
  bool is_background(const std::byte* element) const;

  /// bytes[i] = 1 where element i lies inside, for signed fields.
  void inside(const std::byte* elements, std::int64_t count, std::uint8_t* bytes) const;
  /// Whether what lies beyond a `sites` border is of the inside class.
  bool border_is_inside() const;

 private:
  void site_bits(const std::byte* row, std::int64_t count, std::uint32_t* words) const;

  DType dtype_;
  InstructionSet set_;
  Sites sites_;
  bool by_label_;
  bool boundaries_;
  bool pins_;
};

}  // namespace fathom::grid::cpu
