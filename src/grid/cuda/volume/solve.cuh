// The passes of the engine for volumes, as its host side launches them. There are kernels for every form of results and
// for spacings, and a compiler takes long over them: they are compiled in parts, *.cu. Here are those for
// distances, for values of any type, and for packing; in volume/nearest/ those for nearest sites; in volume/transposed/
// for transposed volumes; in volume/any/ with any spacings, where labels and nearest sites have a part of their own.
#pragma once

#include <cuda_runtime_api.h>

#include "grid/cuda/input/mask.cuh"
#include "grid/cuda/output/limits.cuh"
#include "grid/cuda/volume/runs.cuh"
#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda::volume {

struct PackingLaunch {
  std::int64_t items;
  cudaStream_t stream;
  bool is_early;  ///< right behind the kernel that fills tables, and beside it
};

void pack_mask(const Volume& volume, const Mask& mask, const PackingLaunch& launch);

/// @param last_plane  of labels, dense: that before the input's first; null: there is none
void pack_labels(const Volume& volume, const Input& input, const std::byte* last_plane, const PackingLaunch& launch);

/// Fills a volume's tables of near sites. A kernel that is launched next, early, waits for this one before it ends.
void tabulate_near_sites(const Volume& volume, const ExactWeights& weights, float scale, cudaStream_t stream);

/// From words to results.
struct VolumePasses {
  Volume volume;
  Emitter<std::int64_t> emitter;
  cudaStream_t stream = nullptr;
  bool is_long = false;         ///< an axis is longer than the keys of envelopes reach
  bool writes_sectors = false;  ///< rows of float results begin where sectors of memory do
  bool turns_words = false;     ///< the pass along y leaves the words of the other side (volume/sides.cuh)

  /// With equal spacings: the pass along z, and that along y, which writes the results.
  template <bool kLabels>
  void search_along_z() const;
  template <Writing kWriting>
  void search_along_y() const;
  /// The pass along z with nearest sites, and that along y, or of a transposed volume along x.
  void find_sites_along_z() const;
  void find_sites_along_y() const;
  void find_sites_along_x() const;

  /// Both, each as one kernel, with any spacings: float distances.
  template <Runs kRuns>
  void solve_any(const ExactWeights& weights) const;
  /// Nearest sites, and anything else, likewise.
  /// @param to  in place of the emitter: of integers where there is a unit, else of double
  template <Runs kRuns, class V>
  void find_any_sites(const ExactWeights& weights, const Emitter<V>& to) const;

  std::int64_t z_tiles() const { return volume.items * volume.words * volume.ny; }
  std::int64_t y_tiles() const { return volume.items * volume.words * volume.nz; }
};

}  // namespace fathom::grid::cuda::volume
