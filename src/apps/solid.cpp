#include "apps/solid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/parallel.h"

namespace fathom::apps {

namespace {

/// The least element that is solid; nothing if none can be. The double becomes the first integer that is not less.
template <class T>
std::optional<T> least_solid(const grid::Sites::Value& threshold) {
  using Limits = std::numeric_limits<T>;
  const auto least = [](auto value) -> std::optional<T> {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(static_cast<double>(value));
    } else if constexpr (std::is_integral_v<decltype(value)>) {
      if (std::cmp_greater(value, Limits::max())) return std::nullopt;
      return std::cmp_less(value, Limits::min()) ? Limits::min() : static_cast<T>(value);
    } else {
      const double first = std::ceil(value);
      if (first >= std::ldexp(1.0, Limits::digits)) return std::nullopt;
      return first < static_cast<double>(Limits::min()) ? Limits::min() : static_cast<T>(first);
    }
  };
  return std::visit(least, threshold.number);
}

/// Bits of one row, and what there is in it.
template <class T>
SolidRow pack_row(const T* row, std::int32_t extent, const std::optional<T>& least, std::uint64_t* out) {
  SolidRow found;
  for (std::int32_t begin = 0; begin < extent; begin += 64) {
    const std::int32_t end = std::min(begin + 64, extent);
    std::uint64_t word = 0;
    for (std::int32_t x = begin; x < end; ++x) {
      const bool solid = least ? row[x] >= *least : row[x] != T{};
      word |= static_cast<std::uint64_t>(solid) << (x - begin);
    }
    *out++ = word;
    if (word != 0)
      found.take(begin, word, __builtin_popcountll(word), __builtin_ctzll(word), 63 - __builtin_clzll(word));
  }
  return found;
}

/// Count and bounds of one plane's bits.
struct Found {
  std::int64_t count = 0;
  std::array<std::int32_t, 2> low{INT32_MAX, INT32_MAX}, high{-1, -1};
  std::vector<Index> corners;

  void take_row(std::int32_t z, std::int32_t y, const SolidRow& row) {
    if (row.count == 0) return;
    count += row.count;
    low = {std::min(low[0], y), std::min(low[1], row.first)};
    high = {y, std::max(high[1], row.last)};
    corners.push_back({z, y, row.first});
    corners.push_back({z, y, row.last});
  }
};

template <class T>
Found pack_plane(const View<const T, MemorySpace::host>& volume, std::int32_t z, const std::optional<T>& least,
                 Solid& solid) {
  Found found;
  const std::int64_t row_words = words_of_row(solid.extents[2]);
  for (std::int32_t y = 0; y < solid.extents[1]; ++y) {
    std::uint64_t* out = solid.words.data() + (z * static_cast<std::int64_t>(solid.extents[1]) + y) * row_words;
    const T* row = volume.data() + z * volume.strides()[0] + y * volume.strides()[1];
    found.take_row(z, y, pack_row(row, solid.extents[2], least, out));
  }
  keep_corners(found.corners, 0);
  return found;
}

void take_planes(const std::vector<Found>& planes, Solid& solid) {
  solid.low.fill(INT32_MAX);
  solid.high.fill(-1);
  for (std::size_t z = 0; z < planes.size(); ++z) {
    const Found& found = planes[z];
    if (found.count == 0) continue;
    solid.count += found.count;
    solid.corners.insert(solid.corners.end(), found.corners.begin(), found.corners.end());
    const Index low = {static_cast<std::int32_t>(z), found.low[0], found.low[1]};
    const Index high = {static_cast<std::int32_t>(z), found.high[0], found.high[1]};
    for (std::size_t k = 0; k < 3; ++k) {
      solid.low[k] = std::min(solid.low[k], low[k]);
      solid.high[k] = std::max(solid.high[k], high[k]);
    }
  }
  for (std::size_t axis : {1, 2, 0}) keep_corners(solid.corners, axis);
  solid.corners.shrink_to_fit();
}

bool is_surface(const Voxels& voxels, std::int32_t z, std::int32_t y, std::int32_t x) {
  return !(voxels.anywhere(z - 1, y, x) && voxels.anywhere(z + 1, y, x) && voxels.anywhere(z, y - 1, x) &&
           voxels.anywhere(z, y + 1, x) && voxels.anywhere(z, y, x - 1) && voxels.anywhere(z, y, x + 1));
}

/// Calls visit(z, y, x) for each voxel of the surface in row-major order.
template <class Visit>
void for_each_surface(const Voxels& voxels, const Visit& visit) {
  const std::uint64_t* words = voxels.words;
  for (std::int32_t z = 0; z < voxels.extents[0]; ++z)
    for (std::int32_t y = 0; y < voxels.extents[1]; ++y)
      for (std::int64_t w = 0; w < voxels.row_words; ++w)
        for (std::uint64_t rest = *words++, x; rest != 0; rest &= rest - 1) {
          x = static_cast<std::uint64_t>(64 * w + __builtin_ctzll(rest));
          if (is_surface(voxels, z, y, static_cast<std::int32_t>(x))) visit(z, y, static_cast<std::int32_t>(x));
        }
}

}  // namespace

Solid solid_of(const AnyConstView& volume, const std::optional<grid::Sites::Value>& threshold, int threads) {
  Solid solid;
  for (int k = 0; k < 3; ++k) solid.extents[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(volume.shape()[k]);
  const Shape& shape = volume.shape();
  solid.words.resize(static_cast<std::size_t>(shape[0] * shape[1] * words_of_row(shape[2])));
  std::vector<Found> planes(static_cast<std::size_t>(shape[0]));
  // A bool is read as the byte it is: memory of other origin may hold more than 0 and 1.
  const DType dtype = volume.dtype() == DType::boolean ? DType::uint8 : volume.dtype();
  const AnyConstView bytes(volume.data(), dtype, shape, volume.strides());
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool>) {
      const std::optional<T> least = threshold ? least_solid<T>(*threshold) : std::nullopt;
      if (threshold && !least) return;
      const auto view = bytes.as<T>();
      parallel_jobs(threads, shape[0], [&](int, std::int64_t z) {
        planes[static_cast<std::size_t>(z)] = pack_plane(view, static_cast<std::int32_t>(z), least, solid);
      });
    }
  });
  take_planes(planes, solid);
  return solid;
}

Solid solid_of(const std::array<std::int32_t, 3>& extents, const SolidRow* rows, int threads) {
  Solid solid;
  solid.extents = extents;
  std::vector<Found> planes(static_cast<std::size_t>(extents[0]));
  parallel_jobs(threads, extents[0], [&](int, std::int64_t z) {
    Found& found = planes[static_cast<std::size_t>(z)];
    for (std::int32_t y = 0; y < extents[1]; ++y)
      found.take_row(static_cast<std::int32_t>(z), y, rows[z * extents[1] + y]);
    keep_corners(found.corners, 0);
  });
  take_planes(planes, solid);
  return solid;
}

std::int64_t count_surface(const Solid& solid) {
  std::int64_t count = 0;
  for_each_surface(solid.voxels(), [&](auto, auto, auto) { ++count; });
  return count;
}

Array surface_of(const Solid& solid, std::int64_t count) {
  Array indices(DType::int32, {count, 3});
  auto* out = indices.as<std::int32_t>().data();
  for_each_surface(solid.voxels(), [&](std::int32_t z, std::int32_t y, std::int32_t x) {
    for (std::int32_t index : {z, y, x}) *out++ = index;
  });
  return indices;
}

}  // namespace fathom::apps
