// Sets of voxels, as the package holds them.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fathom/points/voxel_set.h"
#include "points.h"
#include "watch.h"

namespace fathom::python {

/// Answers as any set. Edits wait for those who ask, and the other way round. An edit by a thread that asks, out of a
/// progress function, throws std::runtime_error.
class VoxelSet : public SiteSet {
 public:
  enum class Edit { add, remove, move };

  explicit VoxelSet(points::VoxelSet voxels) : voxels_(std::move(voxels)), size_(voxels_.size()) {}
  /// @param backend  number of a Backend
  static VoxelSet* of_shape(const std::vector<std::int64_t>& shape, int backend);

  void ask(const points::Coordinates& queries, const points::QueryOptions& options,
           const points::QueryOutputs& outputs) const override {
    voxels_.nearest(queries, options, outputs);
  }
  void ask(const points::DeviceCoordinates& queries, const points::QueryOptions& options,
           const points::DeviceQueryOutputs& outputs, Stream stream) const override {
    voxels_.nearest(queries, options, outputs, stream);
  }
  bool batched() const override { return false; }
  /// What the last edit left, even while another is at work.
  std::int64_t size() const override { return size_; }
  std::size_t bytes() const override { return voxels_.bytes(); }
  points::SiteList list(std::int64_t) const override { return {Array(), voxels_.elements()}; }
  bool contains(std::int64_t element) const;

  /// Runs an edit of the set, work(set, who may stop it), without the interpreter's lock.
  template <class Work>
  std::int64_t run(const Work& work) {
    std::int64_t changed = 0;
    Execution watch;
    run_watched(nanobind::none(), watch, [&] {
      const Turns::Editing lock(turns_);
      try {
        changed = work(voxels_, watch);
      } catch (const Cancelled&) {
        size_ = voxels_.size();
        throw;
      }
      size_ = voxels_.size();
    });
    return changed;
  }

 private:
  points::VoxelSet voxels_;
  std::atomic<std::int64_t> size_;
};

void add_voxel_set(nanobind::module_& m);

}  // namespace fathom::python
