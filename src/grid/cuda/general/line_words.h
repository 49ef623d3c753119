// The words of all lines along an axis (grid/line_word.hd.h), in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "grid/cuda/input/classes.cuh"
#include "grid/cuda/input/layout.cuh"
#include "grid/line_word.hd.h"

namespace fathom::grid::cuda::general {

__host__ __device__ inline std::int32_t words_of(std::int64_t extent) {
  return static_cast<std::int32_t>((extent + kWordElements - 1) / kWordElements);
}

/// Arrays of outer × words × inner.
struct LineWords {
  std::uint32_t* bits = nullptr;
  std::uint32_t* pinned = nullptr;  ///< null where nothing is pinned
  std::int32_t* left = nullptr;
  std::int32_t* right = nullptr;
  Lines lines;
  bool changes = false;
  bool periodic = false;

  /// The arrays, for so many words.
  void take(Scratch& s, std::int64_t count, bool pins) {
    bits = s.take<std::uint32_t>(count);
    left = s.take<std::int32_t>(count);
    right = s.take<std::int32_t>(count);
    if (pins) pinned = s.take<std::uint32_t>(count);
  }
  /// Leaves out lines that have no others beside them.
  void begin_at(std::int64_t line) {
    const std::int64_t before = line * words();
    bits += before, left += before, right += before;
    if (pinned) pinned += before;
  }

  __host__ __device__ std::int32_t words() const { return words_of(lines.extent); }  ///< of a line
  __host__ __device__ std::int64_t count() const { return lines.count() * words(); }

  __host__ __device__ std::int64_t at(std::int64_t outer, std::int64_t inner, std::int32_t x) const {
    return (outer * words() + x / kWordElements) * lines.inner + inner;
  }
  __device__ LineWord word(std::int64_t i) const { return {bits[i], pinned ? pinned[i] : 0u, left[i], right[i]}; }
  /// The site nearest to element x of a line.
  __device__ InLine nearest(std::int64_t outer, std::int64_t inner, std::int32_t x) const {
    return nearest_in_line(word(at(outer, inner, x)), x, lines.extent, changes);
  }
};

/// Fills the words. @param first_item  of the batch, among the lines' items
void fill_line_words(const LineWords& words, const Input& input, const Classes& classes, std::int64_t first_item,
                     cudaStream_t stream);

}  // namespace fathom::grid::cuda::general
