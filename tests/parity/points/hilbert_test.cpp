// The order of cells along a Hilbert curve, on the host; devices take the same steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

#include "core/hilbert.hd.h"
#include "points/hilbert_table.hd.h"

namespace fathom::test {
namespace {

template <int kAxes>
using Cell = std::array<std::uint32_t, kAxes>;

/// The cells of a cube at the origin, 8 along each axis, in the order of their keys.
template <int kAxes, int kKeyBits, class Key>
std::vector<std::pair<Key, Cell<kAxes>>> cells_in_order() {
  std::vector<std::pair<Key, Cell<kAxes>>> cells;
  for (std::uint32_t i = 0; i < 1u << 3 * kAxes; ++i) {
    std::uint32_t spent[kAxes];
    Cell<kAxes> cell;
    for (int k = 0; k < kAxes; ++k) spent[k] = cell[static_cast<std::size_t>(k)] = i >> 3 * k & 7;
    cells.emplace_back(hilbert_key<kAxes, kKeyBits, Key>(spent), cell);
  }
  std::sort(cells.begin(), cells.end());
  return cells;
}

/// An aligned cube is one stretch of the curve, whose steps go from neighbour to neighbour.
template <int kAxes, int kKeyBits, class Key>
void check_curve() {
  const auto cells = cells_in_order<kAxes, kKeyBits, Key>();
  for (std::size_t i = 1; i < cells.size(); ++i) {
    ASSERT_EQ(cells[i].first, cells[i - 1].first + 1) << i;
    int way = 0;
    for (std::size_t k = 0; k < kAxes; ++k)
      way += std::abs(static_cast<int>(cells[i].second[k]) - static_cast<int>(cells[i - 1].second[k]));
    ASSERT_EQ(way, 1) << i;
  }
}

TEST(Hilbert, StepsFromCellToNeighbour) {
  check_curve<2, 30, std::uint32_t>();
  check_curve<3, 30, std::uint32_t>();
  check_curve<2, 60, std::uint64_t>();
  check_curve<3, 60, std::uint64_t>();
}

/// The highest cell's bits are not lost where they are spaced out.
TEST(Hilbert, KeysOfFarCellsDiffer) {
  std::uint32_t last[3] = {1023, 1023, 1023}, before[3] = {1023, 1023, 1022};
  EXPECT_NE(hilbert_key<3>(last), hilbert_key<3>(before));
  std::uint32_t low[2] = {0, 0}, high[2] = {(1u << 30) - 1, 0};
  const auto first = hilbert_key<2, 60, std::uint64_t>(low);
  EXPECT_EQ((hilbert_key<2, 60, std::uint64_t>(high)), first + (std::uint64_t{1} << 60) - 1);
}

/// The table leads to the same places.
template <int kAxes, int kKeyBits, class Key>
void check_table() {
  static constexpr points::HilbertTable<kAxes> kTable;
  constexpr int kBits = hilbert_bits(kAxes, kKeyBits);
  std::mt19937_64 random(kKeyBits);
  for (int i = 0; i < 10000; ++i) {
    std::uint32_t cell[kAxes];
    for (std::uint32_t& x : cell) x = static_cast<std::uint32_t>(random() & ((1u << kBits) - 1));
    const Key key = points::HilbertTable<kAxes>::template key<kBits, Key>(kTable.entries, cell);
    ASSERT_EQ(key, (hilbert_key<kAxes, kKeyBits, Key>(cell))) << i;
  }
}

TEST(Hilbert, TablesAgree) {
  check_table<2, 32, std::uint32_t>();
  check_table<3, 32, std::uint32_t>();
  check_table<2, 36, std::uint64_t>();
  check_table<3, 36, std::uint64_t>();
  check_table<2, 60, std::uint64_t>();
  check_table<3, 60, std::uint64_t>();
}

}  // namespace
}  // namespace fathom::test
