// Passes over arrays of one shape in a device's memory: thread = a few neighbours of a row, blocks of 256 threads.
// Cost: that of the memory that is read and written.
//
// What is done to elements is an object with `kElements`, how many a thread gets at most, and a function
//
//   __device__ void operator()(const Place<K>& place) const
//
// that may use place.at[k], where the first of them lies in array k, in elements; place.count, how many there are; and
// place.number, the first one's row-major number.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/cuda/runtime.h"
#include "fathom/core/shape.h"

namespace fathom::apps::cuda {

template <int K>
struct Place {
  std::int64_t at[K];
  std::int64_t number;
  int count;
};

/// Where elements lie in each of K arrays. Axes that lie dense in all arrays are one.
template <int K>
struct Elements {
  int rank = 1;  ///< at least
  std::int64_t extent[kMaxRank] = {1};
  std::int64_t stride[K][kMaxRank] = {};
  std::int64_t rows = 1;

  static Elements of(const Shape& shape, const std::array<Strides, K>& strides) {
    Elements elements;
    elements.rank = 0;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const auto joins = [&](const Strides& one) { return one[axis - 1] == shape[axis] * one[axis]; };
      const bool joined = axis > 0 && std::all_of(strides.begin(), strides.end(), joins);
      const int to = joined ? elements.rank - 1 : elements.rank++;
      elements.extent[to] = (joined ? elements.extent[to] : 1) * shape[axis];
      for (int k = 0; k < K; ++k) elements.stride[k][to] = strides[static_cast<std::size_t>(k)][axis];
    }
    for (int axis = 0; axis + 1 < elements.rank; ++axis) elements.rows *= elements.extent[axis];
    return elements;
  }

  __host__ __device__ std::int64_t row_length() const { return extent[rank - 1]; }

  __device__ Place<K> place(std::int64_t row, std::int64_t column, int most) const {
    Place<K> place;
    place.number = row * row_length() + column;
    place.count = static_cast<int>(min(row_length() - column, static_cast<std::int64_t>(most)));
    for (int k = 0; k < K; ++k) place.at[k] = column;
    for (int axis = rank - 2; axis >= 0; --axis) {
      const std::int64_t index = row % extent[axis];
      for (int k = 0; k < K; ++k) place.at[k] += index * stride[k][axis];
      row /= extent[axis];
    }
    return place;
  }
};

inline constexpr int kElementsBlock = 256;

template <int K, class Work>
__global__ void __launch_bounds__(kElementsBlock)
    each_element(const __grid_constant__ Elements<K> elements, std::int64_t row_threads,
                 const __grid_constant__ Work work) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kElementsBlock + threadIdx.x;
  const std::int64_t row = elements.rows == 1 ? 0 : thread / row_threads;
  if (thread >= elements.rows * row_threads) return;
  work(elements.place(row, (thread - row * row_threads) * Work::kElements, Work::kElements));
}

/// @param doing  what an error says: "thresholding"
template <int K, class Work>
void for_each_element(const Shape& shape, const std::array<Strides, K>& strides, const Work& work, const char* doing,
                      cudaStream_t stream) {
  if (element_count(shape) == 0) return;
  const Elements<K> elements = Elements<K>::of(shape, strides);
  const std::int64_t row_threads = (elements.row_length() + Work::kElements - 1) / Work::kElements;
  const std::int64_t blocks = (elements.rows * row_threads + kElementsBlock - 1) / kElementsBlock;
  each_element<<<static_cast<unsigned>(blocks), kElementsBlock, 0, stream>>>(elements, row_threads, work);
  fathom::cuda::check_launch(doing);
}

/// Calls work(an unsigned type of so many bytes), as what only copies elements and asks whether they are 0 needs it.
template <class Work>
void with_bits(std::size_t bytes, const Work& work) {
  if (bytes == 1) work(std::uint8_t{});
  else if (bytes == 2) work(std::uint16_t{});
  else if (bytes == 4) work(std::uint32_t{});
  else work(std::uint64_t{});
}

}  // namespace fathom::apps::cuda
