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

  /// bytes[i] = 1 where element i is a site (masks), or differs from element i − 1 (labels; bytes[0] = 0).
  void row_bytes(const std::byte* row, std::int64_t count, std::uint8_t* bytes) const;
  /// Whether two elements are of different classes.
  bool differ(const std::byte* a, const std::byte* b) const;

  /// flags[i] = 1 where elements i of the two rows are of different classes, else 0; `count` ≤ kRun.
  void flag_differing(const std::byte* a, const std::byte* b, std::int64_t count, std::uint8_t* flags) const;
  /// Bit i of the words: elements i of the two rows are of different classes; `count` ≤ kRun elements, kRun / 32 words.
  void differing(const std::byte* a, const std::byte* b, int count, std::uint32_t* words) const;
  /// Bit i: element i has label 0; `count` ≤ 32.
  std::uint32_t background(const std::byte* elements, int count) const;
  /// bytes[i] = 1 where element i lies inside, for signed fields.
  void inside(const std::byte* elements, std::int64_t count, std::uint8_t* bytes) const;
  /// Whether what lies beyond a `sites` border is of the inside class.
  bool border_is_inside() const;

 private:
  DType dtype_;
  InstructionSet set_;
  Sites sites_;
  bool by_label_;
  bool boundaries_;
  bool pins_;
};

/// Bit i = bytes[i], for 32 bytes of 0 or 1 each.
std::uint32_t pack_bits(const std::uint8_t* bytes);

}  // namespace fathom::grid::cpu
