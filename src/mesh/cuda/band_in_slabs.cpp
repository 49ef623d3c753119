// Slabs are halved until they fit: how much a band takes is known once its tiles are.
// Cost: tiles are looked for anew in each try, which takes a small part of the time that their distances take.
#include "mesh/cuda/band_in_slabs.h"

#include <algorithm>
#include <vector>

#include "core/cuda/runtime.h"
#include "mesh/band_forms.h"
#include "mesh/cuda/band.h"
#include "mesh/resident_mesh.h"

namespace fathom::mesh::cuda {

Band band_in_slabs(const TreeView& tree, const Lattice& lattice, const BandOptions& options) {
  const std::int64_t all = lattice.shape[2];
  Planes slab{0, all};
  double told = 0;
  BandOptions of_slab = options;
  if (options.execution.progress)
    of_slab.execution.progress = [&](double share) {
      const double done = static_cast<double>(slab.first) + share * static_cast<double>(slab.count);
      told = std::max(told, all > 0 ? done / static_cast<double>(all) : share);  // a try that failed has told, too
      options.execution.progress(told);
    };
  std::vector<Band> bands;
  const auto halve = [&] {
    const std::int64_t layers = (slab.count + kTileSide - 1) / kTileSide;
    slab.count = (layers + 1) / 2 * kTileSide;
    return layers > 1;
  };
  do {
    slab.count = std::min(slab.count, all - slab.first);
    try {
      Band band = make_band(tree, lattice, slab, of_slab, true, nullptr).download();
      bands.push_back(options.compact ? band.compact() : std::move(band));
      slab.first += slab.count;
    } catch (const ScratchTooSmall&) {
      if (!halve()) throw;
    } catch (const fathom::cuda::OutOfMemory&) {
      if (!halve()) throw;
    }
  } while (slab.first < all);
  return bands.size() == 1 ? std::move(bands.front()) : joined(bands);
}

}  // namespace fathom::mesh::cuda
