#include "apps/cpu/nearest_value.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/parallel.h"

namespace fathom::apps::cpu {

namespace {

/// Calls work(pointer to the indices).
template <class Work>
void with_indices(const AnyConstView& nearest, const Work& work) {
  if (nearest.dtype() == DType::int32) work(nearest.as<std::int32_t>().data());
  else work(nearest.as<std::int64_t>().data());
}

/// Where an element with a row-major index lies.
std::int64_t offset_of(std::int64_t index, const Shape& shape, const Strides& strides) {
  std::int64_t offset = 0;
  for (int axis = shape.rank() - 1; axis > 0; index /= shape[axis--]) offset += index % shape[axis] * strides[axis];
  return offset + index * strides[0];
}

/// Calls work(row, its first index) for every row, some at a time.
template <class Work>
void each_row(const Shape& shape, const Execution& execution, int threads, const Work& work) {
  constexpr std::int64_t kElements = 1 << 16;  // of a job
  const std::int64_t n = shape.back(), elements = element_count(shape);
  if (elements == 0) return;
  const std::int64_t rows = elements / n, of_a_job = std::max<std::int64_t>(1, kElements / n);
  parallel_jobs(execution, threads, (rows + of_a_job - 1) / of_a_job, [&](int, std::int64_t job) {
    const std::int64_t end = std::min(rows, (job + 1) * of_a_job);
    for (std::int64_t row = job * of_a_job; row < end; ++row) work(row, row * n);
  });
}

}  // namespace

void carry(const AnyConstView& input, const AnyConstView& nearest, const AnyView& value, const Execution& execution,
           int threads) {
  const Shape& shape = input.shape();
  const bool dense = input.strides() == dense_strides(shape);
  with_indices(nearest, [&](const auto* indices) {
    visit_dtype(input.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* const from = input.as<T>().data();
      T* const to = value.as<T>().data();
      each_row(shape, execution, threads, [&](std::int64_t, std::int64_t first) {
        const std::int64_t own = offset_of(first, shape, input.strides());
        T* const row = to + offset_of(first, shape, value.strides());
        for (std::int64_t i = 0; i < shape.back(); ++i) {
          const auto site = static_cast<std::int64_t>(indices[first + i]);
          row[i] = from[site < 0 ? own + i : dense ? site : offset_of(site, shape, input.strides())];
        }
      });
    });
  });
}

void direct(const AnyConstView& nearest, const Compass& compass, const AnyView& direction, const Execution& execution,
            int threads) {
  const Shape& shape = nearest.shape();
  float* const to = direction.as<float>().data();
  with_indices(nearest, [&](const auto* indices) {
    each_row(shape, execution, threads, [&](std::int64_t y, std::int64_t first) {
      float* const row = to + y * direction.strides()[0];
      for (std::int64_t x = 0; x < shape[1]; ++x) {
        const auto site = static_cast<std::int64_t>(indices[first + x]);
        row[x] = site < 0 ? std::numeric_limits<float>::quiet_NaN() : compass.direction(first + x, site);
      }
    });
  });
}

}  // namespace fathom::apps::cpu
