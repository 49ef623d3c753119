// Offsets on the CPU: the engines write coordinates, to the caller's array or, where none are wanted, to that of the
// offsets, whose elements have the same size; then each coordinate becomes an offset, where it lies.
// Cost: offsets are read and written once more.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/parallel.h"
#include "grid/offset.hd.h"
#include "grid/problem.h"

namespace fathom::grid::cpu {

/// What the engines are to compute.
inline Problem without_offsets(const Problem& problem) {
  Problem own = problem;
  AnyView& offset = own.outputs.offset;
  if (offset.present() && !own.outputs.coordinates.present())
    own.outputs.coordinates = {offset.data(), offset.dtype() == DType::float32 ? DType::int32 : DType::int64,
                               offset.shape(), offset.strides()};
  offset = {};
  return own;
}

/// Neighbours along the last axis.
/// @param step  of the axis' index from one to the next
template <class Index, class Out>
void make_offsets(const std::byte* coordinates, std::byte* offsets, std::int64_t count, std::int64_t at, int step,
                  std::int64_t extent, bool is_periodic, double spacing) {
  for (std::int64_t i = 0; i < count; ++i, at += step) {
    Index site;
    std::memcpy(&site, coordinates + i * static_cast<std::int64_t>(sizeof site), sizeof site);
    const Out offset = site < 0 ? no_offset<Out>() : offset_of<Out>(steps_to(site, at, extent, is_periodic), spacing);
    std::memcpy(offsets + i * static_cast<std::int64_t>(sizeof offset), &offset, sizeof offset);
  }
}

/// After the engines have written coordinates. @throws Cancelled
inline void write_offsets(const Problem& p, int threads, const Execution& execution) {
  const AnyView& to = p.outputs.offset;
  if (!to.present()) return;
  const AnyView from = without_offsets(p).outputs.coordinates;
  const int last = p.rank - 1;
  const bool is_long = from.dtype() == DType::int64, is_double = to.dtype() == DType::float64;
  const auto make = is_long ? (is_double ? &make_offsets<std::int64_t, double> : &make_offsets<std::int64_t, float>)
                            : (is_double ? &make_offsets<std::int32_t, double> : &make_offsets<std::int32_t, float>);
  const auto address = [last](const AnyView& view, std::int64_t component, const PerAxis<std::int64_t>& row) {
    std::int64_t elements = component * view.strides()[0];
    for (int k = 0; k < last; ++k) elements += row[static_cast<std::size_t>(k)] * view.strides()[k + 1];
    return view.data() + elements * static_cast<std::int64_t>(size_of(view.dtype()));
  };
  std::int64_t rows = 1;
  for (int k = 0; k < last; ++k) rows *= p.region_extent(k);
  constexpr std::int64_t kElementsOfJob = std::int64_t{1} << 16;
  const std::int64_t rows_of_job = 1 + kElementsOfJob / p.region_extent(last);
  parallel_jobs(execution, threads, (rows + rows_of_job - 1) / rows_of_job, [&](int, std::int64_t job) {
    for (std::int64_t r = job * rows_of_job; r < std::min(rows, (job + 1) * rows_of_job); ++r) {
      PerAxis<std::int64_t> row{};
      for (std::int64_t k = last - 1, rest = r; k >= 0; --k) {
        row[static_cast<std::size_t>(k)] = rest % p.region_extent(static_cast<int>(k));
        rest /= p.region_extent(static_cast<int>(k));
      }
      for (int c = 0; c < p.caller_rank; ++c) {
        const auto begin = p.caller_axis.begin();
        const auto k = static_cast<int>(std::find(begin, begin + p.rank, c) - begin);  // rank: of one element
        const auto axis = static_cast<std::size_t>(k);
        const bool is_there = k < p.rank;
        make(address(from, c, row), address(to, c, row), p.region_extent(last),
             is_there ? p.range(k).begin + row[axis] : 0, k == last ? 1 : 0, is_there ? p.extent(k) : 1,
             is_there && p.border[axis] == Border::periodic, is_there ? p.spacing[axis] : 1);
      }
    }
  });
}

}  // namespace fathom::grid::cpu
