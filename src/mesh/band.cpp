#include "fathom/mesh/band.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "fathom/core/dtype.h"
#include "fathom/core/error.h"

namespace fathom::mesh {

namespace {

void check(const AnyView& view, const char* name, DType dtype, const Shape& shape) {
  if (!view.present()) return;
  if (view.dtype() != dtype || !(view.shape() == shape))
    throw InvalidArgument(std::string("the output '") + name + "' is " + std::string(name_of(view.dtype())) +
                          " of the shape " + to_string(view.shape()) + "; it must be " + std::string(name_of(dtype)) +
                          " of " + to_string(shape));
}

/// Points of a tile that lie inside the lattice, along each axis.
std::array<std::int64_t, 3> size_of_tile(const Lattice& lattice, const std::int64_t (&tile)[3]) {
  std::array<std::int64_t, 3> size;
  for (std::size_t k = 0; k < 3; ++k)
    size[k] = std::min<std::int64_t>(kTileSide, lattice.shape[k] - tile[k] * kTileSide);
  return size;
}

/// Calls visitor(first element, points along x) for the lines along x of a tile.
template <class Visitor>
void visit_lines(const Lattice& lattice, const AnyView& out, const std::int64_t (&tile)[3], const Visitor& visitor) {
  const auto size = size_of_tile(lattice, tile);
  for (std::int64_t z = 0; z < size[2]; ++z)
    for (std::int64_t y = 0; y < size[1]; ++y)
      visitor((tile[2] * kTileSide + z) * out.strides()[0] + (tile[1] * kTileSide + y) * out.strides()[1] +
                  tile[0] * kTileSide,
              size[0], y + kTileSide * z);
}

template <class T>
void fill_dense(const Band& band, const AnyView& out) {
  T* const to = reinterpret_cast<T*>(out.data());
  const T* const from = band.distances.as<T>().data();
  const std::int32_t* const tiles = band.tiles.as<std::int32_t>().data();
  const auto shape = band.tile_shape();
  std::int64_t stored = 0;
  for (std::int64_t row = 0; row < shape[1] * shape[2]; ++row) {
    bool inside = band.row_inside.as<std::uint8_t>().data()[row] != 0;
    for (std::int64_t x = 0; x < shape[0]; ++x) {
      const std::int64_t tile[3] = {x, row % shape[1], row / shape[1]};
      const bool is_stored = stored < band.count() && std::equal(tile, tile + 3, tiles + 3 * stored);
      const auto background = static_cast<T>(inside ? -band.cutoff : band.cutoff);
      visit_lines(band.lattice, out, tile, [&](std::int64_t first, std::int64_t size, std::int64_t line) {
        if (is_stored)
          std::memcpy(to + first, from + stored * kTilePoints + line * kTileSide,
                      static_cast<std::size_t>(size) * sizeof(T));
        else std::fill_n(to + first, size, background);
      });
      if (is_stored) inside = band.after_inside.as<std::uint8_t>().data()[stored++] != 0;
    }
  }
}

template <class T>
void fill_list(const Band& band, const AnyView& places, const AnyView& distances) {
  const std::uint64_t* const masks = band.masks.as<std::uint64_t>().data();
  const std::int32_t* const tiles = band.tiles.as<std::int32_t>().data();
  std::int64_t at = 0;
  for (std::int64_t tile = 0; tile < band.count(); ++tile)
    for (std::int64_t z = 0; z < kTileSide; ++z)
      for (std::uint64_t word = masks[tile * kTileSide + z]; word != 0; word &= word - 1, ++at) {
        const int bit = __builtin_ctzll(word);
        const std::int64_t in_tile[3] = {bit % kTileSide, bit / kTileSide, z};
        if (places.present())
          for (int k = 0; k < 3; ++k)
            reinterpret_cast<std::int32_t*>(places.data())[at * places.strides()[0] + k] =
                static_cast<std::int32_t>(tiles[3 * tile + k] * kTileSide + in_tile[k]);
        if (distances.present())
          reinterpret_cast<T*>(distances.data())[at] =
              band.distances.as<T>().data()[tile * kTilePoints + kTileSide * kTileSide * z + bit];
      }
}

}  // namespace

void Band::to_dense(const AnyView& out) const {
  if (!out.present()) throw InvalidArgument("no output was given");
  check(out, "out", distances.dtype(), lattice.array_shape());
  distances.dtype() == DType::float32 ? fill_dense<float>(*this, out) : fill_dense<double>(*this, out);
}

void Band::to_list(const AnyView& places, const AnyView& values) const {
  check(places, "places", DType::int32, {active, 3});
  check(values, "distances", distances.dtype(), {active});
  distances.dtype() == DType::float32 ? fill_list<float>(*this, places, values)
                                      : fill_list<double>(*this, places, values);
}

}  // namespace fathom::mesh
