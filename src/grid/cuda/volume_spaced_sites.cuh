// The passes of volumes with nearest sites and unequal spacings.
//
// Of several nearest sites the first counts: along y, then along z the lowest row wins, and along x the left one, so
// that the slowest axis decides last. Between the passes a site takes 16 bits, its y; the word of its row tells the
// rest.
//
// Work mapping: as in volume_spaced.cuh, but by groups alone, without the window. Cost: one operation per element and
// row of a group, and some fifty at last where squares leave no bits for the row; 4 bytes are moved per element between
// the passes, and words are read once more.
#pragma once

#include "grid/cuda/volume_sites.cuh"
#include "grid/cuda/volume_spaced.cuh"

namespace fathom::grid::cuda {

inline constexpr unsigned kNoLead = 0xFFFFu;  ///< in place of a site's y: there is none in the plane

/// All rows of a tile, as solve_spaced() has them.
///
/// @param store  takes eight rows: store(first row, search, how many)
template <Winners kWinners, int kThreads, class Store>
__device__ void find_winners(const WindowRows<WindowSquares>& rows, unsigned* least, int n, unsigned weight,
                             Store&& store) {
  const unsigned line_least = find_least<kThreads>(rows, least);
  for (int q0 = static_cast<int>(threadIdx.x) / 32 * 2; q0 < rows.groups; q0 += kThreads / 16) {
    const int q = q0 + lane_id() / 16;
    SpacedSearch<kWinners> search(rows, least, min(q, rows.groups - 1), static_cast<int>(threadIdx.x) % 16, weight);
    search.run(line_least);
    store(q * 8, search, n - q * 8);
  }
}

/// In which row of its plane the site nearest to each element lies.
template <Winners kWinners, int kThreads>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResidentThreadsAt64 / kThreads))
    find_spaced_along_y(const __grid_constant__ Volume v) {
  extern __shared__ uint4 window_shared[];
  __shared__ uint2 of_byte[256];
  const int t = static_cast<int>(threadIdx.x), n = v.ny;
  const HalfTile half = half_along_y(v, blockIdx.x);
  if (half.is_outside(v)) return;
  auto* memory = reinterpret_cast<unsigned*>(window_shared);
  WindowRows<WindowSquares> rows(memory, n);
  for (int i = t; i < 256; i += kThreads) of_byte[i] = kByteDistances.of[i];
  rows.pad(n);
  __syncthreads();
  const uint2* words = v.word_line({half.tile.item, half.tile.word, 0}) + half.tile.line;
  load_squares<kThreads>(rows, words, v.depth, n, half.first, of_byte, 0, v.weight_x, 0);
  __syncthreads();
  std::uint16_t* leads = leads_of(v, half, half.tile.line, 0) + t % 16;
  const auto store = [&](int y, const SpacedSearch<kWinners>& search, int count) {
#pragma unroll
    for (int j = 0; j < 8; ++j)
      if (j < count)
        leads[(y + j) * 32] = static_cast<std::uint16_t>(
            search.best[j] >= search.kNone ? kNoLead : static_cast<unsigned>(search.winner(j)));
  };
  find_winners<kWinners, kThreads>(rows, memory + window_memory(n) / sizeof(unsigned), n, v.weight_y, store);
}

/// This thread's column of a tile along z: from leads to sites and squares in each plane.
class SitesOfPlanes {
 public:
  __device__ SitesOfPlanes(const Volume& v, const HalfTile& half)
      : v_(v),
        y_(half.tile.line),
        bit_(half.first + static_cast<int>(threadIdx.x) % 16),
        step_(std::int64_t{v.ny} * 32),
        leads_(leads_of(v, half, 0, half.tile.line) + threadIdx.x % 16),
        words_(v.word_line({half.tile.item, half.tile.word, 0})) {}

  __device__ unsigned lead(int z) const { return __ldg(leads_ + z * step_); }
  __device__ int steps(unsigned lead, int z) const {
    return steps_along_x(__ldg(words_ + static_cast<int>(lead) * v_.depth + z), bit_);
  }
  __device__ unsigned square(unsigned lead, int z) const {
    const int x = steps(lead, z), y = static_cast<int>(lead) - y_;
    return v_.weight_x * static_cast<unsigned>(x * x) + v_.weight_y * static_cast<unsigned>(y * y);
  }

 private:
  const Volume& v_;
  const int y_, bit_;
  const std::int64_t step_;
  const std::uint16_t* leads_;
  const uint2* words_;
};

/// Results of a tile along z, in this thread's column.
class PlaneSiteWriter {
 public:
  __device__ PlaneSiteWriter(const Volume& v, const Emitter<std::int64_t>& emitter, const HalfTile& half)
      : v_(v),
        emitter_(emitter),
        half_(half),
        nx_(static_cast<std::int32_t>(emitter.input.extent[2])),
        row_(emitter.plain.row(v.first_item + half.tile.item, 0, half.tile.line)) {}

  /// Linear index of the site `steps` from this column in row (z, y). There are at most 2³⁰ elements.
  __device__ std::int32_t site(int z, int y, int steps) const {
    return (z * v_.ny + y) * nx_ + v_.first_x + half_.x + steps;
  }
  /// @param site  −1: there is none
  __device__ void write(int z, unsigned square, std::int32_t site) const {
    const bool none = site < 0;
    if (!emitter_.plain.serves) return emit(z, none ? no_value<std::int64_t>() : std::int64_t{square}, site);
    emitter_.plain.write(emitter_.plain.behind(row_, z), half_.x, none ? v_.side.none() : v_.side.far(square), site);
  }

 private:
  __device__ __noinline__ void emit(int z, std::int64_t square, std::int32_t site) const {
    const std::int64_t at[kMaxSpaceRank] = {z, half_.tile.line, v_.first_x + half_.x};
    if (emitter_.in_region(at)) emitter_.emit(half_.tile.item, at, square, site);
  }

  const Volume& v_;
  const Emitter<std::int64_t>& emitter_;
  const HalfTile& half_;
  const std::int32_t nx_;
  const PlainSites::Row row_;  ///< of z = 0
};

template <Winners kWinners, int kThreads>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResidentThreadsAt64 / kThreads))
    find_spaced_along_z(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  constexpr int kTogether = 8, kStep = kThreads / 16;
  extern __shared__ uint4 window_shared[];
  const int t = static_cast<int>(threadIdx.x), n = v.nz;
  const HalfTile half = half_along_z(v, blockIdx.x);
  if (half.is_outside(v)) return;
  auto* memory = reinterpret_cast<unsigned*>(window_shared);
  WindowRows<WindowSquares> rows(memory, n);
  rows.pad(n);
  const SitesOfPlanes sites(v, half);
  for (int r0 = t / 16; r0 < n; r0 += kTogether * kStep) {
    unsigned lead[kTogether];  // all are read before any is followed, so that the waits are one
#pragma unroll
    for (int k = 0; k < kTogether; ++k) lead[k] = sites.lead(min(r0 + k * kStep, n - 1));
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      const int r = r0 + k * kStep;
      if (r < n) rows.put(r, t % 16, lead[k] == kNoLead ? kNoneSpaced : sites.square(lead[k], r));
    }
  }
  __syncthreads();
  const PlaneSiteWriter writer(v, emitter, half);
  const auto store = [&](int z0, const SpacedSearch<kWinners>& search, int count) {
    if (half.x >= v.nx) return;
    int z[8];
    unsigned lead[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      z[j] = search.best[j] < search.kNone ? search.winner(j) : 0;
      lead[j] = sites.lead(z[j]);
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      if (j >= count) break;
      const bool none = search.best[j] >= search.kNone;
      const std::int32_t site = none ? -1 : writer.site(z[j], static_cast<int>(lead[j]), sites.steps(lead[j], z[j]));
      writer.write(z0 + j, search.best[j], site);
    }
  };
  find_winners<kWinners, kThreads>(rows, memory + window_memory(n) / sizeof(unsigned), n, v.weight_z, store);
}

}  // namespace fathom::grid::cuda
