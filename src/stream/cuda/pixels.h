// Parts of rasters in a device's memory, and what computes them: one launch each.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "fathom/stream/nodes.h"
#include "stream/expression.hd.h"
#include "stream/operation.h"

namespace fathom::stream::cuda {

/// Pixels of a part of a raster; rows lie `pitch` pixels apart.
struct Patch {
  std::byte* data = nullptr;
  DType dtype = DType::uint8;
  Rectangle part;
  std::int64_t pitch = 0;

  /// As a parent sees it where it lies.
  Patch moved(std::int64_t y, std::int64_t x) const { return {data, dtype, part.moved(y, x), pitch}; }
  /// Some of it.
  Patch of(const Rectangle& some) const {
    return {data + ((some.y0 - part.y0) * pitch + some.x0 - part.x0) * static_cast<std::int64_t>(size_of(dtype)), dtype,
            some, pitch};
  }
};

/// Bytes of a raster that repeats itself, as Period has it; each row is followed by its begin again.
struct DeviceCell {
  static constexpr std::int64_t kAgain = 20;  ///< bytes at least

  std::byte* data = nullptr;
  std::int64_t pitch = 0, height = 0, width = 0, skew = 0;
};
/// Completes the rows of a cell.
void stretch(const DeviceCell& cell, cudaStream_t stream);
/// Copies of the cell. @param y, x  where the first pixel lies, counted from the region's corner
void copy_cell(const DeviceCell& cell, std::int64_t y, std::int64_t x, const Patch& to, cudaStream_t stream);

/// @param size  of the child
void look(const operation::Look& how, const Patch& from, Size size, const Patch& to, cudaStream_t stream);

void make_noise(std::uint64_t seed, const Patch& to, cudaStream_t stream);

void set_masked(const Patch& data, const Patch& mask, double background, const Patch& to, cudaStream_t stream);

void limit(const Patch& from, const operation::Limit& how, const Patch& to, cudaStream_t stream);

/// @param limits  on the device, [side, side]
void dither(const Patch& from, const double* limits, int side, const Patch& to, cudaStream_t stream);

/// Values of all that children of integers may be at a place: the bits of the first one's pixel are the lowest.
struct Table {
  static constexpr int kMostChildren = 16, kMostBits = 16;

  Patch children[kMostChildren];
  int bits[kMostChildren] = {};
  int count = 0;
  const float* values = nullptr;
};
void look_up(const Table& table, const Patch& to, cudaStream_t stream);

/// Of children's values; of none: of x and y.
struct Calculation {
  Patch children[Arithmetic::kMostVariables];
  int count = 0;
  Arithmetic steps;
};
void calculate(const Calculation& how, const Patch& to, cudaStream_t stream);

/// Values of distances that are roots of the integers below `count`, times a unit; and behind them that of +inf.
struct RootTable {
  const float* values = nullptr;
  std::int64_t count = 0;
  double unit = 1;
  int* missed = nullptr;  ///< set to 1 where a distance is beyond them
};
void look_up_roots(const Patch& from, const RootTable& table, const Patch& to, cudaStream_t stream);

/// Which copies reach into each square of a part: a square's are in numbers[starts[k]] … numbers[starts[k + 1]].
struct CopyLists {
  static constexpr std::int64_t kSide = 64;

  const Placement* copies = nullptr;
  const Patch* children = nullptr;
  const std::int32_t *starts = nullptr, *numbers = nullptr;
  std::int64_t across = 0;  ///< squares in a row
  Patch mask, weight;       ///< without memory: there is none
};
void blend(const CopyLists& lists, const Blending& how, const Patch& to, cudaStream_t stream);

}  // namespace fathom::stream::cuda
