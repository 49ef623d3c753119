#include "mesh/cpu/tile_corners.h"

#include <algorithm>
#include <new>

#include "mesh/cpu/sides.h"

namespace fathom::mesh::cpu {

std::size_t TileCorners::bytes(const std::array<std::int64_t, 3>& tiles) {
  std::int64_t words = 0;
  if (__builtin_mul_overflow(rows(tiles), tiles[0] / 64 + 1, &words) || words > INT64_MAX / 16) throw std::bad_alloc();
  return static_cast<std::size_t>(words) * sizeof(std::uint64_t);
}

TileCorners::TileCorners(const PreparedMesh& prepared, const Lattice& lattice, const std::array<std::int64_t, 3>& tiles,
                         const Run& run, Monitor& monitor)
    : tiles_(tiles), words_(tiles[0] / 64 + 1), rows_y_(tiles[1] + 1), bits_(bytes(tiles) / sizeof(std::uint64_t)) {
  const TreeView tree = prepared.view();
  parallel_jobs(run.threads, rows(tiles), [&](int, std::int64_t row) {
    std::vector<Vec3> points;
    for (std::int64_t tx = 0; tx <= tiles[0]; ++tx)
      points.push_back({lattice.at(0, tx * kTileSide), lattice.at(1, row % rows_y_ * kTileSide),
                        lattice.at(2, row / rows_y_ * kTileSide)});
    ask_sides(prepared.tree, tree, points, run.set, [&](std::size_t i, bool is_in) {
      bits_[static_cast<std::size_t>(row * words_) + i / 64] |= std::uint64_t{is_in} << i % 64;
    });
    monitor.advance(1);
  });
}

bool TileCorners::agree(std::int64_t begin, std::int64_t end, std::int64_t ty, std::int64_t tz,
                        std::int64_t around) const {
  const bool first = is_inside(begin, ty, tz);
  const auto low = [&](std::int64_t at) { return std::max<std::int64_t>(at - around, 0); };
  const auto high = [&](std::int64_t at, std::size_t axis) { return std::min(at + around, tiles_[axis]); };
  for (std::int64_t z = low(tz); z <= high(tz + 1, 2); ++z)
    for (std::int64_t y = low(ty); y <= high(ty + 1, 1); ++y)
      for (std::int64_t x = low(begin); x <= high(end, 0); ++x)
        if (is_inside(x, y, z) != first) return false;
  return true;
}

}  // namespace fathom::mesh::cpu
