// What the last pass of a transposed volume writes with nearest sites: as volume/lines.cuh, of half a tile,
// float distances and indices of 32 bits.
//
// Work mapping: as there. Cost: for each output what distances alone cost.
#pragma once

#include "grid/cuda/volume/lines.cuh"

namespace fathom::grid::cuda {

/// Lines of a plane of the array, of which a transposed volume may be a part.
__device__ inline std::int32_t lines_of_array(const Emitter<std::int64_t>& emitter) {
  return static_cast<std::int32_t>(emitter.input.extent[1]);
}

/// Results of half a tile of a transposed volume: its lines are rows of the outputs.
template <int kThreads>
class SiteLineWriter {
 public:
  struct Result {
    std::uint32_t square;  ///< UINT32_MAX: there is no site
    std::int32_t site;     ///< −1 then
  };

  __device__ SiteLineWriter(const Volume& v, const Emitter<std::int64_t>& emitter, const HalfTile& half)
      : lines(min(16, v.nx - first_line_of(half))),
        plain_(emitter.sites),
        rows_(plain_.row(v.first_item + half.tile.item, half.tile.line, v.first_x + first_line_of(half))),
        nx_(v.ny),
        ny_(lines_of_array(emitter)),
        first_((half.tile.line * ny_ + v.first_x + first_line_of(half)) * nx_) {}

  /// Linear index of the site so many steps away from element x of a line along z, y and x.
  __device__ std::int32_t site(int line, int x, int along_z, int along_y) const {
    return first_ + (line + along_y + along_z * ny_) * nx_ + x;
  }
  /// From what a search says of an element.
  __device__ Result near_result(int line, int x, unsigned word) const {
    const int steps = WindowSites::steps(word);
    return {WindowSites::square(word), site(line, x + WindowSites::along_x(word), WindowSites::along_z_of(steps),
                                            WindowSites::along_line_of(steps))};
  }
  /// All rows, a warp each. @param results  of a line, from an element on: results(line)(x)(k), as write_row() asks
  template <class Results>
  __device__ void write_rows(Results&& results) const {
    for (int line = static_cast<int>(threadIdx.x) / 32; line < lines; line += kThreads / 32)
      write_row(distance(line), nx_, results(line), [from = distance(line), to = nearest(line)](int x, Result result) {
        __stcs(from + x, distance_of(result));
        __stcs(to + x, result.site);
      });
  }
  /// Up to eight neighbours of this thread's line, as TurnedLines has them.
  ///
  /// @param first   neighbour, which is there or not
  /// @param result  of the first, the second and so on
  template <class Of>
  __device__ void write_column(int first, Of&& result) const {
    __shared__ std::uint32_t turned[kThreads / 32][32 * TurnedLines<std::uint32_t>::kPitch];
    const TurnedLines<std::uint32_t> lines_of_warp(turned);
    const int x = __shfl_sync(kAllLanes, first, 0) + lane_id() % 16, line = lane_id() / 16;
    const int count = x < nx_ ? lines - line : 0;
    Result results[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) results[j] = result(j);
    lines_of_warp.turn([&](int j) { return __float_as_uint(distance_of(results[j])); },
                       [&](int k, std::uint32_t bits) {
                         if (k < count) distance(line + k)[x] = __uint_as_float(bits);
                       });
    lines_of_warp.turn([&](int j) { return static_cast<std::uint32_t>(results[j].site); },
                       [&](int k, std::uint32_t site) {
                         if (k < count) nearest(line + k)[x] = static_cast<std::int32_t>(site);
                       });
  }

  const int lines;  ///< that are there

 private:
  static __device__ int first_line_of(const HalfTile& half) { return half.tile.word * 32 + half.first; }
  static __device__ float distance_of(const Result& result) {
    return result.square == UINT32_MAX ? __int_as_float(0x7F800000) : small_root(small_float(result.square));
  }
  __device__ float* distance(int line) const { return plain_.down(rows_, line).distance; }
  __device__ std::int32_t* nearest(int line) const {
    return reinterpret_cast<std::int32_t*>(plain_.down(rows_, line).nearest);
  }

  const SiteResults& plain_;
  const SiteResults::Row rows_;
  const std::int32_t nx_, ny_, first_;  ///< the array's extents; linear index of the first element
};

}  // namespace fathom::grid::cuda
