// The engine for transposed volumes (volume/transposed/plain_3d_transposed.cu): kernels of the last pass, which write
// float distances of masks.
#include "grid/cuda/volume/solve_kernels.cuh"
#include "grid/cuda/volume/transposed/along_x.cuh"

namespace fathom::grid::cuda::volume {

namespace {

template <int kThreads>
void near_along_x(const VolumePasses& p) {
  const auto launch_blocks = [&](auto* kernel, std::int64_t of_last_column) {
    launch(kernel, p.y_tiles() + of_last_column, kThreads, along_x_memory(p.volume.ny), p.stream, p.volume);
  };
  if (p.volume.has_last_column) launch_blocks(search_along_x<kThreads, true>, last_column_blocks(p.volume.nz));
  else launch_blocks(search_along_x<kThreads>, 0);
}

}  // namespace

void VolumePasses::search_along_x() const {
  constexpr Writing kWriting = Writing::transposed;
  const int n = volume.ny;
  if (n <= kShortAlongX) near_along_x<kAlongXBlock>(*this);
  else if (n <= kLongAlongX) near_along_x<kLongAlongXBlock>(*this);
  else near_along_x<kLongestAlongXBlock>(*this);
  if (n <= 128) far_along_y<256, 8, kWriting>(*this);
  else if (n <= 256) far_along_y<256, 16, kWriting>(*this);
  else if (n <= 512) far_along_y<256, 32, kWriting>(*this);
  else if (n <= 640) far_along_y<320, 32, kWriting>(*this);
  else far_along_y<512, 32, kWriting>(*this);
}

}  // namespace fathom::grid::cuda::volume
