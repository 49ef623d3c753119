#include "grid/cuda/engine.h"

#include "grid/cuda/tuning.h"

namespace fathom::grid::cuda {

Choice choose_engine(const Problem& problem, bool on_device) {
  if (auto engine = small::make_engine(problem)) return {std::move(engine), "small"};
  if (auto engine = plane::make_engine(problem)) return {std::move(engine), "plane"};
  const std::int64_t voxels = on_device ? element_count(problem.input.shape()) : 0;
  if (voxels >= kVoxelsWorthTransposing)
    if (auto engine = make_transposed_volume_engine(problem)) return {std::move(engine), "volume"};
  if (auto engine = make_volume_engine(problem)) return {std::move(engine), "volume"};
  return {general::make_engine(problem), "general"};
}

}  // namespace fathom::grid::cuda
