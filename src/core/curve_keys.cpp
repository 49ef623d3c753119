// Hilbert keys, some hundred points at a time: their cells in columns, on which each step of the curve is a loop
// without branches that compilers turn into vector code, for each instruction set. Integers all: any set gives
// the same keys.
#include "core/curve_keys.h"

#include "core/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/curve_keys.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "core/hilbert.hd.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::HWY_NAMESPACE {

inline constexpr int kColumn = 256;

/// Steps of hilbert_key() on columns.
template <int kAxes>
void keys_of_cells(std::uint32_t (&cell)[kAxes][kColumn], std::uint32_t* keys) {
  constexpr int kBits = hilbert_bits(kAxes);
  for (int bit = kBits - 1; bit > 0; --bit)
    for (int k = 0; k < kAxes; ++k)
      for (int i = 0; i < kColumn; ++i) hilbert_turn(cell[0][i], cell[k][i], bit);
  for (int k = 1; k < kAxes; ++k)
    for (int i = 0; i < kColumn; ++i) cell[k][i] ^= cell[k - 1][i];
  for (int i = 0; i < kColumn; ++i) keys[i] = hilbert_flip<kBits>(cell[kAxes - 1][i]);
  for (int k = 0; k < kAxes; ++k)
    for (int i = 0; i < kColumn; ++i) cell[k][i] ^= keys[i];
  std::fill_n(keys, kColumn, 0u);
  for (int bit = kBits - 1; bit >= 0; --bit)
    for (int k = 0; k < kAxes; ++k)
      for (int i = 0; i < kColumn; ++i) keys[i] = keys[i] << 1 | (cell[k][i] >> bit & 1u);
}

template <class T, int kAxes>
void set_keys(const Cloud& cloud, const double* origin, double scale, std::uint64_t* entries, std::int64_t count) {
  const double most = static_cast<double>((1u << hilbert_bits(kAxes)) - 1);
  std::uint32_t cell[kAxes][kColumn] = {}, keys[kColumn];
  for (std::int64_t first = 0; first < count; first += kColumn) {
    const int size = static_cast<int>(std::min<std::int64_t>(kColumn, count - first));
    for (int k = 0; k < kAxes; ++k)
      for (int i = 0; i < size; ++i) {
        const double x = static_cast<double>(cloud.get<T>(k, index_in(entries[first + i])));
        cell[k][i] = static_cast<std::uint32_t>(static_cast<std::int32_t>(std::min((x - origin[k]) * scale, most)));
      }
    keys_of_cells<kAxes>(cell, keys);
    for (int i = 0; i < size; ++i)
      entries[first + i] = static_cast<std::uint64_t>(keys[i]) << kKeyShift | (entries[first + i] & 0xffffffffu);
  }
}

void set_all_keys(const Cloud& cloud, const double* origin, double scale, std::uint64_t* entries, std::int64_t count) {
  visit_coordinates(cloud.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    cloud.axes == 2 ? set_keys<T, 2>(cloud, origin, scale, entries, count)
                    : set_keys<T, 3>(cloud, origin, scale, entries, count);
  });
}

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom {

void set_curve_keys(const Cloud& cloud, const Box& box, std::uint64_t* entries, std::int64_t count) {
  double extent = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(cloud.axes); ++k)
    extent = std::max(extent, box.high[k] - box.low[k]);
  const double scale = static_cast<double>(1u << hilbert_bits(cloud.axes)) / extent;  // one for all: cells are cubes
  const bool divides = extent > 0 && std::isfinite(scale);
  FATHOM_COMPILED_FOR(resolve(InstructionSet::automatic), set_all_keys)
  (cloud, box.low.data(), divides ? scale : 0, entries, count);
}

}  // namespace fathom
#endif
