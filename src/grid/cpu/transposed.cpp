#include "grid/cpu/transposed.h"

#include <algorithm>
#include <cstring>

#include "core/parallel.h"
#include "grid/cpu/plain.h"
#include "grid/cpu/row_words.h"
#include "grid/metric.h"

namespace fathom::grid::cpu {

namespace {

Axes with_last(const Axes& axes, int last) {
  Axes result;
  for (int k = 0; k < axes.rank(); ++k)
    if (k != last) result.push_back(axes[k]);
  result.push_back(axes[last]);
  return result;
}

Strides in_bytes(Strides strides, std::size_t size) {
  for (int k = 0; k < strides.rank(); ++k) strides[k] *= static_cast<std::int64_t>(size);
  return strides;
}

template <class T>
void rotate(PerAxis<T>& values, int rank, int axis) {
  std::rotate(values.begin() + axis, values.begin() + axis + 1, values.begin() + rank);
}

}  // namespace

int best_row_axis(const Problem& p) {
  const int last = p.rank - 1;
  // Of three squares and more that are rounded, the order of the axes decides the last bit; that is the caller's.
  if (p.rank > 2 && value_kind(p) == ValueKind::f64) return last;
  int longest = last;
  for (int k = last - 1; k >= 0; --k)
    if (p.extent(k) > p.extent(longest)) longest = k;
  const std::int64_t row = p.extent(last), ratio = p.extent(longest) / row;
  // The fast engine only wastes vectors. The general one works on 32 elements of a row at once, and keeps some KiB of
  // scratch for each element of the longest axis.
  const bool pays = plain_serves(p) ? row < 8 && ratio >= 16 : ratio >= (row < kStrip ? 4 : 16);
  return pays ? longest : last;
}

Transposed::Transposed(const Problem& problem, int axis, Arena& arena) : problem_(problem) {
  const int rank = problem.rank;
  if (axis == rank - 1) return;
  problem_.input = input(problem.input, axis, arena);
  for_each_output([&](const OutputKind&, AnyView& view) { view = output(view, axis, arena); }, problem_.outputs);
  rotate(problem_.spacing, rank, axis);
  rotate(problem_.border, rank, axis);
  rotate(problem_.region, rank, axis);
  rotate(problem_.multiple, rank, axis);
  rotate(problem_.caller_axis, rank, axis);
  rotate(problem_.index_step, rank, axis);
  drop_unit_axes(problem_);  // the caller's last may be one
}

AnyConstView Transposed::input(const AnyConstView& view, int axis, Arena& arena) {
  const Shape shape = with_last(view.shape(), axis);
  const Strides strides = with_last(view.strides(), axis);
  if (strides.back() == 1) return {view.data(), view.dtype(), shape, strides};
  const std::size_t size = size_of(view.dtype());
  std::byte* const copy = arena.take<std::byte>(element_count(shape) * static_cast<std::int64_t>(size));
  inputs_.push_back({size, shape, view.data(), in_bytes(strides, size), copy, in_bytes(dense_strides(shape), size)});
  return {copy, view.dtype(), shape};
}

AnyView Transposed::output(const AnyView& view, int axis, Arena& arena) {
  if (!view.present()) return view;
  const int last = view.rank() - problem_.rank + axis;
  const Shape shape = with_last(view.shape(), last);
  const Strides strides = with_last(view.strides(), last);
  if (strides.back() == 1) return {view.data(), view.dtype(), shape, strides};
  const std::size_t size = size_of(view.dtype());
  std::byte* const copy = arena.take<std::byte>(element_count(shape) * static_cast<std::int64_t>(size));
  outputs_.push_back({size, shape, copy, in_bytes(dense_strides(shape), size), view.data(), in_bytes(strides, size)});
  return {copy, view.dtype(), shape};
}

void Transposed::copy_input(int threads, const Execution& execution) const {
  for (const Copy& copy : inputs_) copy.run(threads, execution);
}

void Transposed::copy_outputs(int threads, const Execution& execution) const {
  for (const Copy& copy : outputs_) copy.run(threads, execution);
}

void Transposed::Copy::run(int threads, const Execution& execution) const {
  constexpr std::int64_t kElementsOfJob = std::int64_t{1} << 16;
  const int last = extent.rank() - 1;
  const std::int64_t rows = extent[last - 1], columns = extent[last], planes = element_count(extent) / (rows * columns);
  const std::int64_t columns_of_job = 1 + kElementsOfJob / rows;
  const std::int64_t jobs = (columns + columns_of_job - 1) / columns_of_job;
  const auto copy = size == 1   ? &Copy::plane<1>
                    : size == 2 ? &Copy::plane<2>
                    : size == 4 ? &Copy::plane<4>
                                : &Copy::plane<8>;
  parallel_jobs(execution, threads, planes * jobs, [&](int, std::int64_t job) {
    const std::int64_t begin = job % jobs * columns_of_job;
    std::int64_t plane = job / jobs, from_plane = 0, to_plane = 0;
    for (int k = last - 2; k >= 0; --k) {
      from_plane += plane % extent[k] * from_step[k];
      to_plane += plane % extent[k] * to_step[k];
      plane /= extent[k];
    }
    (this->*copy)(from + from_plane, to + to_plane, {begin, std::min(columns, begin + columns_of_job)});
  });
}

/// Of one array the last axis is contiguous, of the other the one before: tiles of both stay in the first cache.
template <std::size_t kSize>
void Transposed::Copy::plane(const std::byte* first, std::byte* to_first, const Range& columns) const {
  constexpr std::int64_t kRows = 32, kColumns = 256;
  const int last = extent.rank() - 1;
  const std::int64_t rows = extent[last - 1];
  for (std::int64_t row = 0; row < rows; row += kRows)
    for (std::int64_t column = columns.begin; column < columns.end; column += kColumns)
      for (std::int64_t y = row; y < std::min(rows, row + kRows); ++y)
        for (std::int64_t x = column; x < std::min(columns.end, column + kColumns); ++x)
          std::memcpy(to_first + y * to_step[last - 1] + x * to_step[last],
                      first + y * from_step[last - 1] + x * from_step[last], kSize);
}

}  // namespace fathom::grid::cpu
