// Copies of a cell: a warp writes 512 bytes of a row at once, sixteen a lane, in as many rows as let divisions vanish;
// the cell stays in the cache. Bytes, whatever they mean: five words that hold a lane's sixteen are shifted to where
// they belong.
// Cost: of writing alone.
#include "core/cuda/runtime.h"
#include "stream/cuda/pixels.h"

namespace fathom::stream::cuda {

namespace {

using fathom::cuda::check_launch;

constexpr int kBlock = 256, kRows = 32, kBytes = 16;

/// A byte a thread.
__global__ void __launch_bounds__(kBlock) stretch_rows(const __grid_constant__ DeviceCell cell) {
  const std::int64_t again = cell.pitch - cell.width, at = std::int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (at >= cell.height * again) return;
  std::byte* const row = cell.data + at / again * cell.pitch;
  row[cell.width + at % again] = row[at % again % cell.width];
}

__device__ void store(std::byte* to, const unsigned (&words)[4], std::int64_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(to);
  if (bytes >= kBytes && address % 16 == 0) {
    __stcs(reinterpret_cast<uint4*>(to), make_uint4(words[0], words[1], words[2], words[3]));
  } else if (bytes >= kBytes && address % 4 == 0) {
#pragma unroll
    for (int k = 0; k < 4; ++k) reinterpret_cast<unsigned*>(to)[k] = words[k];
  } else {
#pragma unroll
    for (int k = 0; k < kBytes; ++k)
      if (k < bytes) to[k] = static_cast<std::byte>(words[k / 4] >> (8 * (k % 4)));
  }
}

/// @param row, column  of the cell's bytes for the first that are written, without a skew
__global__ void __launch_bounds__(kBlock)
    copy_rows(const __grid_constant__ DeviceCell cell, std::int64_t row, std::int64_t column, std::byte* to,
              std::int64_t pitch, std::int64_t rows, std::int64_t bytes) {
  const std::int64_t at = (std::int64_t{blockIdx.y} * kBlock + threadIdx.x) * kBytes;
  if (at >= bytes) return;
  std::int64_t y = std::int64_t{blockIdx.x} * kRows;
  const std::int64_t end = min(rows, y + kRows), turn = (row + y) / cell.height;
  std::int64_t from_row = row + y - turn * cell.height;
  std::int64_t from = (column + at) % cell.width - turn * cell.skew % cell.width;
  if (from < 0) from += cell.width;
  for (; y < end; ++y) {
    const std::byte* const source = cell.data + from_row * cell.pitch + from;
    const unsigned shift = 8 * (reinterpret_cast<std::uintptr_t>(source) % 4);
    const auto* const in = reinterpret_cast<const unsigned*>(source - shift / 8);
    unsigned words[4] = {__ldg(in), __ldg(in + 1), __ldg(in + 2), __ldg(in + 3)};
    if (shift != 0) {
      const unsigned last = __ldg(in + 4);
#pragma unroll
      for (int k = 0; k < 3; ++k) words[k] = __funnelshift_r(words[k], words[k + 1], shift);
      words[3] = __funnelshift_r(words[3], last, shift);
    }
    store(to + y * pitch + at, words, bytes - at);
    if (++from_row == cell.height) {
      from_row = 0;
      from -= cell.skew;
      if (from < 0) from += cell.width;
    }
  }
}

unsigned pieces(std::int64_t length, std::int64_t piece) { return static_cast<unsigned>((length + piece - 1) / piece); }

}  // namespace

void stretch(const DeviceCell& cell, cudaStream_t stream) {
  stretch_rows<<<pieces(cell.height * (cell.pitch - cell.width), kBlock), kBlock, 0, stream>>>(cell);
  check_launch("completing a cell");
}

void copy_cell(const DeviceCell& cell, std::int64_t y, std::int64_t x, const Patch& to, cudaStream_t stream) {
  __extension__ using Wide = __int128;
  const auto size = static_cast<std::int64_t>(size_of(to.dtype));
  const std::int64_t rows = to.part.height(), bytes = to.part.width() * size, turn = y / cell.height;
  const auto moved = static_cast<std::int64_t>(Wide{turn} * cell.skew % cell.width);  // by the rows above
  const auto column = static_cast<std::int64_t>((Wide{x} * size + cell.width - moved) % cell.width);
  copy_rows<<<dim3(pieces(rows, kRows), pieces(bytes, kBlock * kBytes)), kBlock, 0, stream>>>(
      cell, y % cell.height, column, to.data, to.pitch * size, rows, bytes);
  check_launch("copying a cell");
}

}  // namespace fathom::stream::cuda
