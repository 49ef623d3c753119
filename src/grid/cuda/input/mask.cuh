// The mask that engines read.
#pragma once

#include "grid/cuda/input/layout.cuh"
#include "grid/element.hd.h"

namespace fathom::grid::cuda {

/// How a row is read.
enum class Reading {
  aligned_bytes,  ///< zero or not, 16 at a time
  bytes,          ///< the same at any address
  elements,       ///< anything
};

/// Four bytes that are not zero, as four bits.
__device__ inline unsigned nonzero_bytes(unsigned four) {
  const unsigned top = (((four & 0x7F7F7F7Fu) + 0x7F7F7F7Fu) | four) & 0x80808080u;
  return top * 0x00204081u >> 28;
}

/// Sixteen bytes that are not zero, as sixteen bits.
__device__ inline unsigned nonzero_bytes(uint4 v) {
  return nonzero_bytes(v.x) | nonzero_bytes(v.y) << 4 | nonzero_bytes(v.z) << 8 | nonzero_bytes(v.w) << 12;
}

struct Mask {
  Input input;
  ElementRule rule;
  bool others = false;     ///< the sites are the elements that do not fulfil the rule
  MemoryRange array = {};  ///< with all items

  static Mask of(const Input& input, const ElementRule& rule, bool others) {
    return {input, rule, others, MemoryRange::of(input)};
  }

  /// Whether single bytes are told apart by being zero.
  bool has_zero_bytes() const {
    return size_of(input.dtype) == 1 &&
           (rule.kind == ElementRule::Kind::zero || rule.kind == ElementRule::Kind::nonzero);
  }

  __device__ bool is_site(std::int64_t index) const { return fulfils(rule, input.data, index) != others; }
  /// Where bytes are told apart by being zero: whether the zero ones are the sites.
  __device__ bool is_zero_site() const { return (rule.kind == ElementRule::Kind::zero) != others; }
};

}  // namespace fathom::grid::cuda
