// The engine for volumes (volume/plain_3d.cu): kernels for unequal spacings in a unit, without nearest sites.
#include "core/cuda/early_launch.cuh"
#include "grid/cuda/volume/solve_kernels.cuh"
#include "grid/cuda/volume/spaced/far.cuh"
#include "grid/cuda/volume/spaced/few.cuh"
#include "grid/cuda/volume/spaced/spaced.cuh"

namespace fathom::grid::cuda::volume {

namespace {

/// Which rows have sites, if few have some.
void find_rows(const VolumePasses& p) {
  const Volume& v = p.volume;
  const std::int64_t rows = v.items * v.ny * v.depth;
  fathom::cuda::launch_early(find_few_rows, blocks(1, rows, kFindRowsBlock).x, kFindRowsBlock, p.stream, v);
}

/// The half tiles that the search along y left, or what both passes did.
template <bool kLimited, bool kAside>
void solve_far_along_y(const VolumePasses& p) {
  const int n = p.volume.ny, longest = n <= 256 ? 256 : n <= 512 ? 512 : 1024;
  with_block<256, 512, 1024>(longest, [&](auto threads) {
    const auto kernel = solve_spaced_far_along_y<threads, kLimited, kAside>;
    const std::size_t memory = brackets_memory(n);
    const auto blocks = static_cast<unsigned>(persistent_blocks(kernel, 2 * p.y_tiles(), threads, memory));
    // Where rows begin inside sectors, results of few rows take longer then: of parts of sectors, which neighbouring
    // blocks are to write at about the same time.
    const bool early = p.writes_sectors;
    fathom::cuda::launch(kernel, blocks, threads, memory, p.stream, early, p.volume, p.emitter,
                         p.limits.value_or(Limits{}));
  });
}

/// Calls pass(threads) with the size of the blocks for lines of n elements, a constant.
/// @tparam kFloats  float distances of masks are written, without limits
template <bool kFloats, class Pass>
void with_spaced_block(int n, bool writes_sectors, Pass&& pass) {
  if constexpr (kFloats) with_block<128, 160, 192, 256, 288, 512>(spaced_block(n, writes_sectors), pass);
  else with_block<256, 512>(line_block(n), pass);
}

constexpr bool spaced_blocks_tell_of_lines() {
  for (int n = 1; n <= kLongestAxis; ++n)
    for (const int threads : {spaced_block(n, true), spaced_block(n, false), line_block(n)})
      if (n > longest_alike_line(threads)) return false;
  return true;
}
static_assert(spaced_blocks_tell_of_lines());

/// Both passes, and what they leave. @tparam kAside  squares may lie aside
template <Writing kWriting, bool kAside>
void solve_passes(const VolumePasses& p) {
  constexpr bool kLeaves = kWriting == Writing::unaligned;
  const Volume& v = p.volume;
  if (kLeaves && v.y_list) find_rows(p);
  const auto along_z = [&](auto threads) {
    launch(solve_spaced_along_z<threads, runs_of(kWriting), kAside>, 2 * p.z_tiles(), threads, spaced_memory(v.nz),
           p.stream, v);
  };
  const auto along_y = [&](auto is_limited) {
    with_spaced_block<kLeaves && !is_limited>(v.ny, p.writes_sectors, [&](auto threads) {
      launch(solve_spaced_along_y<threads, kWriting, is_limited, kAside>, 2 * p.y_tiles(), threads, spaced_memory(v.ny),
             p.stream, v, p.emitter, p.limits.value_or(Limits{}));
    });
    if (kLeaves && v.y_list) solve_far_along_y<is_limited, kAside>(p);
  };
  with_spaced_block<kLeaves>(v.nz, p.writes_sectors, along_z);
  if constexpr (!kAside && (kWriting == Writing::unaligned || kWriting == Writing::both_sides))
    if (p.limits) return along_y(std::true_type{});
  along_y(std::false_type{});
}

}  // namespace

template <Writing kWriting>
void VolumePasses::solve_spaced() const {
  if constexpr (kWriting == Writing::unaligned)
    if (volume.narrow) return solve_passes<kWriting, true>(*this);
  solve_passes<kWriting, false>(*this);
}

template void VolumePasses::solve_spaced<Writing::unaligned>() const;
template void VolumePasses::solve_spaced<Writing::both_sides>() const;
template void VolumePasses::solve_spaced<Writing::labels>() const;
template void VolumePasses::solve_spaced<Writing::general>() const;
template void VolumePasses::solve_spaced<Writing::general_labels>() const;

}  // namespace fathom::grid::cuda::volume
