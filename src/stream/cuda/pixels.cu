// Each pixel by itself: a thread for one in each of some rows. Pixels are float while they are computed, which has all
// values of the types.
// Cost: what is read and written; blends read every copy of a square at each of its pixels.
#include "core/cuda/runtime.h"
#include "core/noise.hd.h"
#include "stream/cuda/pixels.h"
#include "stream/saturate.hd.h"

namespace fathom::stream::cuda {

namespace {

using fathom::cuda::check_launch;

constexpr int kBlock = 256, kRows = 4;

__device__ float load(const Patch& from, std::int64_t y, std::int64_t x) {
  const std::int64_t at = (y - from.part.y0) * from.pitch + (x - from.part.x0);
  if (from.dtype == DType::float32) return reinterpret_cast<const float*>(from.data)[at];
  if (from.dtype == DType::uint16) return reinterpret_cast<const std::uint16_t*>(from.data)[at];
  return reinterpret_cast<const std::uint8_t*>(from.data)[at];
}

/// 0 outside.
__device__ float load_any(const Patch& from, std::int64_t y, std::int64_t x) {
  const Rectangle& part = from.part;
  return y >= part.y0 && y < part.y1 && x >= part.x0 && x < part.x1 ? load(from, y, x) : 0;
}

// Devices forget what bits a NaN has where they change its width; processors do not.
__device__ double widened(float x) {
  if (x == x) return x;
  const std::uint64_t bits = __float_as_uint(x);
  return __longlong_as_double(
      static_cast<long long>((bits >> 31) << 63 | 0x7ff8000000000000u | (bits & 0x3fffff) << 29));
}
__device__ float narrowed(double x) {
  if (x == x) return static_cast<float>(x);
  const auto bits = static_cast<std::uint64_t>(__double_as_longlong(x));
  return __uint_as_float(static_cast<unsigned>((bits >> 63) << 31 | 0x7fc00000u | (bits >> 29 & 0x3fffff)));
}

/// As the CPU rounds and saturates it.
__device__ float as_pixel(double value, DType dtype) {
  if (dtype == DType::float32) return narrowed(value);
  if (dtype == DType::uint16) return saturated<std::uint16_t>(value);
  return dtype == DType::uint8 ? saturated<std::uint8_t>(value) : saturated<bool>(value);
}

template <class Function>
__global__ void __launch_bounds__(kBlock)
    compute_pixels(const __grid_constant__ Patch to, unsigned across, const __grid_constant__ Function function) {
  const std::int64_t x = to.part.x0 + std::int64_t{blockIdx.x % across} * kBlock + threadIdx.x;
  if (x >= to.part.x1) return;
  const std::int64_t y0 = to.part.y0 + std::int64_t{blockIdx.x / across} * kRows;
#pragma unroll
  for (std::int64_t y = y0; y < y0 + kRows; ++y) {
    if (y >= to.part.y1) break;
    const float value = function(y, x);
    const std::int64_t at = (y - to.part.y0) * to.pitch + (x - to.part.x0);
    if (to.dtype == DType::float32) reinterpret_cast<float*>(to.data)[at] = value;
    else if (to.dtype == DType::uint16)
      reinterpret_cast<std::uint16_t*>(to.data)[at] = static_cast<std::uint16_t>(value);
    else reinterpret_cast<std::uint8_t*>(to.data)[at] = static_cast<std::uint8_t>(value);
  }
}

template <class Function>
void compute(const Function& function, const Patch& to, cudaStream_t stream, const char* doing) {
  const auto across = static_cast<unsigned>((to.part.width() + kBlock - 1) / kBlock);
  const auto down = static_cast<unsigned>((to.part.height() + kRows - 1) / kRows);
  compute_pixels<Function><<<across * down, kBlock, 0, stream>>>(to, across, function);
  check_launch(doing);
}

struct Looked {
  Patch from;
  operation::Look how;
  Size size;

  __device__ std::int64_t middle(std::int64_t i, std::int64_t most) const {
    const double at = (static_cast<double>(i) + 0.5) * how.ratio, last = static_cast<double>(most - 1);
    return static_cast<std::int64_t>(at < last ? at : last);
  }
  __device__ float operator()(std::int64_t y, std::int64_t x) const {
    if (how.ratio > 0) return load(from, middle(y, size.height), middle(x, size.width));
    if (how.repeats) return load(from, y % size.height, x % size.width);
    const std::int64_t i = how.transposed ? x : y, j = how.transposed ? y : x;
    return load(from, how.y + how.row_step * i, how.x + how.column_step * j);
  }
};

struct Random {
  std::uint64_t seed;
  DType dtype;

  __device__ float operator()(std::int64_t y, std::int64_t x) const {
    const std::uint64_t bits = noise_bits(noise_row(seed, y), x);
    if (dtype == DType::float32) return static_cast<float>(bits >> 40) * 0x1p-24F;
    return static_cast<float>(bits >> (dtype == DType::uint16 ? 48 : dtype == DType::uint8 ? 56 : 63));
  }
};

struct WhereMask {
  Patch data, mask;
  float background;

  __device__ float operator()(std::int64_t y, std::int64_t x) const {
    return load_any(mask, y, x) != 0 ? load(data, y, x) : background;
  }
};

struct AtLeast {
  Patch from;
  operation::Limit how;

  __device__ float operator()(std::int64_t y, std::int64_t x) const {
    const double value = load(from, y, x);
    return (how.above ? value > how.value : value >= how.value) ? 1 : 0;
  }
};

struct Dithered {
  Patch from;
  const double* limits;
  int side;

  __device__ float operator()(std::int64_t y, std::int64_t x) const {
    const std::int64_t at = (y & (side - 1)) * side + (x & (side - 1));
    return static_cast<double>(load(from, y, x)) > limits[at] ? 1 : 0;
  }
};

struct Tabulated {
  Table table;

  __device__ float operator()(std::int64_t y, std::int64_t x) const {
    unsigned index = 0;
    for (int k = 0, shift = 0; k < table.count; shift += table.bits[k++])
      index |= static_cast<unsigned>(load_any(table.children[k], y, x)) << shift;
    return table.values[index];
  }
};

struct Calculated {
  Calculation how;
  DType dtype;

  __device__ float operator()(std::int64_t y, std::int64_t x) const {
    double values[Arithmetic::kMostVariables];
    if (how.count == 0) {
      values[0] = static_cast<double>(x);
      values[1] = static_cast<double>(y);
    }
    for (int k = 0; k < how.count; ++k) values[k] = widened(load_any(how.children[k], y, x));
    return as_pixel(how.steps(values), dtype);
  }
};

struct OfRoot {
  Patch from;
  RootTable table;

  __device__ float operator()(std::int64_t y, std::int64_t x) const {
    const float distance = load(from, y, x);
    const double steps = static_cast<double>(distance) / table.unit, square = steps * steps + 0.5;
    if (square < static_cast<double>(table.count)) return table.values[static_cast<std::int64_t>(square)];
    if (table.missed && distance != INFINITY) *table.missed = 1;
    return table.values[table.count];
  }
};

struct Blended {
  CopyLists lists;
  Blend blend;
  DType dtype;
  bool all_covered;
  float transparent, background;
  std::int64_t y0, x0;  ///< of the first square

  __device__ float operator()(std::int64_t y, std::int64_t x) const {
    const std::int64_t square = (y - y0) / CopyLists::kSide * lists.across + (x - x0) / CopyLists::kSide;
    bool covered = false;
    float result = 0;
    double sum = 0, weights = 0;
    for (std::int32_t k = lists.starts[square]; k < lists.starts[square + 1]; ++k) {
      const Placement copy = lists.copies[lists.numbers[k]];
      const std::int64_t in_y = y - copy.y, in_x = x - copy.x;
      const Patch& child = lists.children[copy.child];
      if (in_y < child.part.y0 || in_y >= child.part.y1 || in_x < child.part.x0 || in_x >= child.part.x1) continue;
      const float value = load(child, in_y, in_x);
      if (!all_covered && value == transparent) continue;
      if (lists.mask.data && load(lists.mask, in_y, in_x) == 0) continue;
      if (blend == Blend::sum || blend == Blend::mean) {
        const double weight = lists.weight.data ? load(lists.weight, in_y, in_x) : 1.0;
        sum += lists.weight.data ? weight * static_cast<double>(value) : static_cast<double>(value);
        weights += weight;
      } else if (!covered || blend == Blend::last || (blend == Blend::max && value > result) ||
                 (blend == Blend::min && value < result)) {
        result = value;
      }
      covered = true;
    }
    if (blend != Blend::sum && blend != Blend::mean) return covered ? result : background;
    if (weights == 0) return background;
    if (blend == Blend::sum) return as_pixel(sum, dtype);
    const double mean = sum / weights;
    return as_pixel(dtype == DType::float32 ? mean : floor(mean + 0.5), dtype);
  }
};

}  // namespace

void look(const operation::Look& how, const Patch& from, Size size, const Patch& to, cudaStream_t stream) {
  compute(Looked{from, how, size}, to, stream, "moving pixels");
}

void make_noise(std::uint64_t seed, const Patch& to, cudaStream_t stream) {
  compute(Random{seed, to.dtype}, to, stream, "making noise");
}

void set_masked(const Patch& data, const Patch& mask, double background, const Patch& to, cudaStream_t stream) {
  compute(WhereMask{data, mask, static_cast<float>(background)}, to, stream, "masking pixels");
}

void limit(const Patch& from, const operation::Limit& how, const Patch& to, cudaStream_t stream) {
  compute(AtLeast{from, how}, to, stream, "comparing pixels");
}

void dither(const Patch& from, const double* limits, int side, const Patch& to, cudaStream_t stream) {
  compute(Dithered{from, limits, side}, to, stream, "dithering pixels");
}

void look_up(const Table& table, const Patch& to, cudaStream_t stream) {
  compute(Tabulated{table}, to, stream, "looking up pixels");
}

void calculate(const Calculation& how, const Patch& to, cudaStream_t stream) {
  compute(Calculated{how, to.dtype}, to, stream, "calculating pixels");
}

void look_up_roots(const Patch& from, const RootTable& table, const Patch& to, cudaStream_t stream) {
  compute(OfRoot{from, table}, to, stream, "looking up distances");
}

void blend(const CopyLists& lists, const Blending& how, const Patch& to, cudaStream_t stream) {
  compute(Blended{lists, how.blend, to.dtype, !how.transparent, static_cast<float>(how.transparent.value_or(0)),
                  static_cast<float>(how.background), to.part.y0, to.part.x0},
          to, stream, "blending copies");
}

}  // namespace fathom::stream::cuda
