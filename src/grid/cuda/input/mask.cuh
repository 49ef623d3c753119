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

  /// Whether single bytes are told apart by being zero.
  bool has_zero_bytes() const {
    return size_of(input.dtype) == 1 &&
           (rule.kind == ElementRule::Kind::zero || rule.kind == ElementRule::Kind::nonzero);
  }

  /// kBytes: has_zero_bytes()
  template <bool kBytes = false>
  __device__ bool is_site(std::int64_t index) const {
    if constexpr (kBytes) return (input.data[index] == std::byte{0}) == is_zero_site();
    return fulfils(rule, input.data, index) != others;
  }
  /// Where bytes are told apart by being zero: whether the zero ones are the sites.
  __device__ bool is_zero_site() const { return (rule.kind == ElementRule::Kind::zero) != others; }

  /// Of up to 32 elements in a column, in bits. Bytes are asked for before any is looked at, for which the last one is
  /// read again: no branch keeps loads from being in flight together.
  template <bool kBytes>
  __device__ unsigned sites_of_column(std::int64_t first, std::int64_t stride, int rows) const {
    unsigned sites = 0;
    if constexpr (!kBytes) {
      for (int r = 0; r < rows; ++r) sites |= unsigned{is_site(first + r * stride)} << r;
      return sites;
    }
    const auto* at = reinterpret_cast<const unsigned char*>(input.data) + first;
#pragma unroll
    for (int r = 0; r < 32; ++r) {
      sites |= unsigned{__ldg(at) != 0} << r;
      if (r + 1 < rows) at += stride;
    }
    return (is_zero_site() ? ~sites : sites) & 0xFFFFFFFFu >> (32 - rows);
  }
};

}  // namespace fathom::grid::cuda
