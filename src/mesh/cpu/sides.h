// Which points of a lattice's lines are inside, by winding numbers: a bundle of 8 × 8 lines along x at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "mesh/cpu/winding.h"
#include "mesh/prepared.h"

namespace fathom::mesh::cpu {

class Bundle {
 public:
  Bundle(const PreparedMesh& prepared, const Lattice& lattice)
      : prepared_(prepared), lattice_(lattice), words_((lattice.shape[0] + 63) / 64) {}

  /// Computes the lines (j … j + 7, k … k + 7) of the lattice, as far as there are.
  void set(std::int64_t j, std::int64_t k) {
    bits_.resize(static_cast<std::size_t>(kTileSide * kTileSide * words_));
    for (std::int64_t z = 0; z < kTileSide && k + z < lattice_.shape[2]; ++z)
      for (std::int64_t y = 0; y < kTileSide && j + y < lattice_.shape[1]; ++y)
        winding_line(prepared_.surface, prepared_.tree, lattice_, j + y, k + z, prepared_.rule, line(y, z), scratch_);
  }
  /// @param y, z  less j and k
  bool is_inside(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return bits_[static_cast<std::size_t>((y + kTileSide * z) * words_ + x / 64)] >> x % 64 & 1;
  }

 private:
  std::uint64_t* line(std::int64_t y, std::int64_t z) { return bits_.data() + (y + kTileSide * z) * words_; }

  const PreparedMesh& prepared_;
  const Lattice& lattice_;
  std::int64_t words_;
  std::vector<std::uint64_t> bits_;
  LineScratch scratch_;
};

}  // namespace fathom::mesh::cpu
