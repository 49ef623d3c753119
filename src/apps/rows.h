// Parts of arrays, and passes over arrays of one shape on many threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/parallel.h"
#include "fathom/core/shape.h"
#include "fathom/core/view.h"

namespace fathom::apps {

/// The elements [begin, end) along an axis. @param array  a view of any kind
template <class Any>
Any cropped(const Any& array, int axis, std::int64_t begin, std::int64_t end) {
  Shape shape = array.shape();
  shape[axis] = end - begin;
  const std::int64_t offset = begin * array.strides()[axis] * static_cast<std::int64_t>(size_of(array.dtype()));
  return {array.data() + offset, array.dtype(), shape, array.strides()};
}

/// One of the arrays that the first axis counts.
template <class Any>
Any one_of(const Any& array, std::int64_t index) {
  Shape shape;
  Strides strides;
  for (int axis = 1; axis < array.rank(); ++axis) {
    shape.push_back(array.shape()[axis]);
    strides.push_back(array.strides()[axis]);
  }
  const std::int64_t offset = index * array.strides()[0] * static_cast<std::int64_t>(size_of(array.dtype()));
  return {array.data() + offset, array.dtype(), shape, strides};
}

/// Calls work(offsets, n) for runs of n elements that lie one behind the other in each of K arrays, at most some 2¹⁶:
/// offsets, in elements, of the run in each. Axes that lie dense in all arrays are one.
/// @throws Cancelled the caller's stop token asks for it
template <std::size_t K, class Work>
void for_each_run(Shape shape, std::array<Strides, K> strides, const Execution& execution, int threads,
                  const Work& work) {
  if (element_count(shape) == 0) return;
  int last = shape.rank() - 1;
  const auto is_dense = [&](const Strides& one) { return one[last - 1] == shape[last]; };
  for (; last > 0 && std::all_of(strides.begin(), strides.end(), is_dense); --last) {
    shape[last - 1] *= shape[last];
    for (Strides& one : strides) one[last - 1] = 1;
  }
  std::int64_t rows = 1;
  for (int axis = 0; axis < last; ++axis) rows *= shape[axis];
  constexpr std::int64_t kElements = 1 << 16;                                  // of a job
  const std::int64_t n = shape[last], runs = (n + kElements - 1) / kElements;  // of a row
  const std::int64_t rows_of_a_job = std::max<std::int64_t>(1, kElements / n);
  parallel_jobs(execution, threads, (rows + rows_of_a_job - 1) / rows_of_a_job * runs, [&](int, std::int64_t job) {
    const std::int64_t begin = job % runs * kElements, length = std::min(n - begin, kElements);
    const std::int64_t first = job / runs * rows_of_a_job, end = std::min(rows, first + rows_of_a_job);
    for (std::int64_t row = first; row < end; ++row) {
      std::array<std::int64_t, K> offsets;
      offsets.fill(begin);
      for (std::int64_t axis = last - 1, rest = row; axis >= 0; rest /= shape[static_cast<int>(axis--)])
        for (std::size_t k = 0; k < K; ++k)
          offsets[k] += rest % shape[static_cast<int>(axis)] * strides[k][static_cast<int>(axis)];
      work(offsets, length);
    }
  });
}

}  // namespace fathom::apps
