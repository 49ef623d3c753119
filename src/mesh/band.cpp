#include "fathom/mesh/band.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>

#include "fathom/core/dtype.h"
#include "fathom/core/error.h"
#include "mesh/band_forms.h"

namespace fathom::mesh {

namespace {

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

/// The words of a tile's masks.
const std::uint64_t* words_of(const Array& masks, std::int64_t tile) {
  return masks.as<std::uint64_t>().data() + tile * kTileSide;
}

bool bit(const std::uint64_t* words, int i) { return words[i / 64] >> i % 64 & 1; }

/// The values of a band's tiles, `Width` of each of their points, whichever form it has.
template <class T, int Width = 1>
class TileValues {
 public:
  /// @param elsewhere  what points that are not in the band have; with sides the negative of it inside
  TileValues(const Band& band, const Array& values, T elsewhere)
      : band_(band),
        values_(values.as<T>().data()),
        elsewhere_(elsewhere),
        has_sides_(Width == 1 && elsewhere > 0 && band.is_signed) {}

  /// Of all points of a tile; until the next call.
  const T* of(std::int64_t tile) {
    if (!band_.is_compact()) return values_ + tile * kTilePoints * Width;
    const T* from = values_ + band_.first.as<std::int64_t>().data()[tile] * Width;
    const std::uint64_t* const mask = words_of(band_.masks, tile);
    const std::uint64_t* const inside = has_sides_ ? words_of(band_.inside, tile) : nullptr;
    for (int i = 0; i < kTilePoints; ++i) {
      const bool is_in = bit(mask, i), is_negative = !is_in && has_sides_ && bit(inside, i);
      for (int k = 0; k < Width; ++k) room_[i * Width + k] = is_in ? *from++ : is_negative ? -elsewhere_ : elsewhere_;
    }
    return room_;
  }

 private:
  const Band& band_;
  const T* const values_;
  const T elsewhere_;
  const bool has_sides_;
  T room_[kTilePoints * Width];
};

template <class T>
TileValues<T> distances_of(const Band& band) {
  return {band, band.distances, static_cast<T>(band.cutoff)};
}

template <class T>
void fill_dense(const Band& band, const AnyView& out) {
  T* const to = reinterpret_cast<T*>(out.data());
  TileValues<T> values = distances_of<T>(band);
  const std::int32_t* const tiles = band.tiles.as<std::int32_t>().data();
  const auto shape = band.tile_shape();
  std::int64_t stored = 0;
  for (std::int64_t row = 0; row < shape[1] * shape[2]; ++row) {
    bool inside = band.row_inside.as<std::uint8_t>().data()[row] != 0;
    for (std::int64_t x = 0; x < shape[0]; ++x) {
      const std::int64_t tile[3] = {x, row % shape[1], row / shape[1]};
      const bool is_stored = stored < band.count() && std::equal(tile, tile + 3, tiles + 3 * stored);
      const auto background = static_cast<T>(inside ? -band.cutoff : band.cutoff);
      const T* const from = is_stored ? values.of(stored) : nullptr;
      visit_lines(band.lattice, out, tile, [&](std::int64_t first, std::int64_t size, std::int64_t line) {
        if (is_stored) std::memcpy(to + first, from + line * kTileSide, static_cast<std::size_t>(size) * sizeof(T));
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
  TileValues<T> values = distances_of<T>(band);
  std::int64_t at = 0;
  for (std::int64_t tile = 0; tile < band.count(); ++tile) {
    const T* const from = values.of(tile);
    for (std::int64_t z = 0; z < kTileSide; ++z)
      for (std::uint64_t word = masks[tile * kTileSide + z]; word != 0; word &= word - 1, ++at) {
        const int bit = __builtin_ctzll(word);
        const std::int64_t in_tile[3] = {bit % kTileSide, bit / kTileSide, z};
        if (places.present())
          for (int k = 0; k < 3; ++k)
            reinterpret_cast<std::int32_t*>(places.data())[at * places.strides()[0] + k] =
                static_cast<std::int32_t>(tiles[3 * tile + k] * kTileSide + in_tile[k]);
        if (distances.present()) reinterpret_cast<T*>(distances.data())[at] = from[kTileSide * kTileSide * z + bit];
      }
  }
}

Array copy_of(const Array& from) {
  Array copy(from.dtype(), from.shape());
  if (from.bytes() > 0) std::memcpy(copy.data(), from.data(), from.bytes());
  return copy;
}

/// What both forms have.
Band form_of(const Band& from) {
  Band band;
  band.lattice = from.lattice;
  band.cutoff = from.cutoff;
  band.is_signed = from.is_signed;
  band.active = from.active;
  band.tiles = copy_of(from.tiles);
  band.masks = copy_of(from.masks);
  band.row_inside = copy_of(from.row_inside);
  band.after_inside = copy_of(from.after_inside);
  band.instruction_set = from.instruction_set;
  band.threads = from.threads;
  band.scratch_bytes = from.scratch_bytes;
  return band;
}

/// Copies values of the points of tiles: all of them, or those in the band.
template <class T, int Width = 1>
Array values_of(const Band& band, const Array& from, T elsewhere, bool compact) {
  if (from.data() == nullptr) return {};
  Shape shape = compact ? Shape{band.active} : Shape{band.count(), kTilePoints};
  if (Width > 1) shape.push_back(Width);
  Array copy(from.dtype(), shape);
  TileValues<T, Width> values(band, from, elsewhere);
  T* to = copy.as<T>().data();
  for (std::int64_t tile = 0; tile < band.count(); ++tile) {
    const T* const all = values.of(tile);
    const std::uint64_t* const mask = words_of(band.masks, tile);
    for (int i = 0; i < kTilePoints; ++i)
      if (!compact || bit(mask, i)) to = std::copy_n(all + i * Width, Width, to);
  }
  return copy;
}

void copy_values(const Band& from, bool compact, Band& to) {
  const bool is_float = from.distances.dtype() == DType::float32;
  to.distances = is_float ? values_of(from, from.distances, static_cast<float>(from.cutoff), compact)
                          : values_of(from, from.distances, from.cutoff, compact);
  to.triangles = values_of<std::int32_t>(from, from.triangles, -1, compact);
  to.closest = values_of<float, 3>(from, from.closest, std::numeric_limits<float>::quiet_NaN(), compact);
}

template <class T>
Array sides_of(const Band& band) {
  Array inside(DType::uint64, {band.count(), kTileSide});
  TileValues<T> values = distances_of<T>(band);
  for (std::int64_t tile = 0; tile < band.count(); ++tile) {
    const T* const distances = values.of(tile);
    for (int z = 0; z < kTileSide; ++z) {
      std::uint64_t word = 0;
      for (int i = 0; i < 64; ++i) word |= std::uint64_t{distances[64 * z + i] <= 0} << i;
      inside.as<std::uint64_t>().data()[tile * kTileSide + z] = word;
    }
  }
  return inside;
}

}  // namespace

Array points_before(const Array& masks) {
  const std::int64_t count = masks.shape()[0];
  Array first(DType::int64, {count + 1});
  std::int64_t* const to = first.as<std::int64_t>().data();
  to[0] = 0;
  for (std::int64_t tile = 0; tile < count; ++tile) {
    to[tile + 1] = to[tile];
    for (int z = 0; z < kTileSide; ++z)
      to[tile + 1] += std::popcount(masks.as<std::uint64_t>().data()[tile * kTileSide + z]);
  }
  return first;
}

Band joined(std::vector<Band>& slabs) {
  constexpr Array Band::*kArrays[] = {&Band::tiles,   &Band::masks,  &Band::distances,  &Band::triangles,
                                      &Band::closest, &Band::inside, &Band::row_inside, &Band::after_inside};
  const bool is_compact = slabs.front().is_compact();
  Band band;
  band.lattice = slabs.front().lattice;
  band.cutoff = slabs.front().cutoff;
  band.is_signed = slabs.front().is_signed;
  for (const Band& slab : slabs) band.active += slab.active;
  for (const auto array : kArrays) {
    const Array& one = slabs.front().*array;
    if (one.data() == nullptr) continue;
    Shape shape = one.shape();
    shape[0] = 0;
    for (const Band& slab : slabs) shape[0] += (slab.*array).shape()[0];
    band.*array = Array(one.dtype(), shape);
  }
  std::size_t copied[std::size(kArrays)] = {};
  std::int64_t layers = 0;
  for (Band& slab : slabs) {
    Band part = std::move(slab);
    std::int32_t* const tiles = part.tiles.as<std::int32_t>().data();
    for (std::int64_t tile = 0; tile < part.count(); ++tile) tiles[3 * tile + 2] += static_cast<std::int32_t>(layers);
    layers += part.row_inside.shape()[0];
    for (std::size_t k = 0; k < std::size(kArrays); ++k) {
      const Array& from = part.*kArrays[k];
      if (from.data() == nullptr) continue;
      std::memcpy((band.*kArrays[k]).data() + copied[k], from.data(), from.bytes());
      copied[k] += from.bytes();
    }
  }
  if (is_compact) band.first = points_before(band.masks);
  return band;
}

Band Band::compact() const {
  Band band = form_of(*this);
  band.first = points_before(masks);
  if (is_signed) band.inside = distances.dtype() == DType::float32 ? sides_of<float>(*this) : sides_of<double>(*this);
  copy_values(*this, true, band);
  return band;
}

Band Band::full() const {
  Band band = form_of(*this);
  copy_values(*this, false, band);
  return band;
}

void Band::to_dense(const AnyView& out) const {
  if (!out.present()) throw InvalidArgument("no output was given");
  check_array(out, "out", distances.dtype(), lattice.array_shape());
  distances.dtype() == DType::float32 ? fill_dense<float>(*this, out) : fill_dense<double>(*this, out);
}

void Band::to_list(const AnyView& places, const AnyView& values) const {
  check_array(places, "places", DType::int32, {active, 3});
  check_array(values, "distances", distances.dtype(), {active});
  distances.dtype() == DType::float32 ? fill_list<float>(*this, places, values)
                                      : fill_list<double>(*this, places, values);
}

}  // namespace fathom::mesh
