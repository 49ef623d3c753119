// Rows of arrays of one shape, on many threads.
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

/// Calls work(offsets, n, row) for each row of n elements: offsets, in elements, of the row in each of K arrays.
/// @throws Cancelled the caller's stop token asks for it
template <std::size_t K, class Work>
void for_each_row(const Shape& shape, const std::array<Strides, K>& strides, const Execution& execution, int threads,
                  const Work& work) {
  if (element_count(shape) == 0) return;
  const int last = shape.rank() - 1;
  const std::int64_t n = shape[last], rows = element_count(shape) / n;
  constexpr std::int64_t kElements = 1 << 16;  // of a job
  const std::int64_t of_a_job = std::max<std::int64_t>(1, kElements / n);
  parallel_jobs(execution, threads, (rows + of_a_job - 1) / of_a_job, [&](int, std::int64_t job) {
    const std::int64_t end = std::min(rows, (job + 1) * of_a_job);
    for (std::int64_t row = job * of_a_job; row < end; ++row) {
      std::array<std::int64_t, K> offsets{};
      std::int64_t rest = row;
      for (int axis = last - 1; axis >= 0; --axis) {
        const std::int64_t index = rest % shape[axis];
        rest /= shape[axis];
        for (std::size_t k = 0; k < K; ++k) offsets[k] += index * strides[k][axis];
      }
      work(offsets, n, row);
    }
  });
}

}  // namespace fathom::apps
