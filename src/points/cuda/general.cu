// Nearest sites through the tree, whatever is asked for and by each metric: several neighbours, radii, periods, cones,
// stated errors, limits of work. A warp for each query goes its way (descent.cuh).
#include "core/cuda/runtime.h"
#include "points/cuda/descent.cuh"
#include "points/cuda/search.h"

namespace fathom::points::cuda {

void search_generally(const DeviceTree& tree, const DeviceRequest& request, cudaStream_t stream) {
  visit_kind(tree.dtype, tree.axes, [&](auto tag, auto axes) {
    visit_general(request.metric, [&](auto kind) {
      launch_one_by_one<typename decltype(tag)::type, decltype(axes)::value, decltype(kind)::value>(tree, request,
                                                                                                    stream);
    });
  });
  fathom::cuda::check_launch("searching the nearest sites");
}

}  // namespace fathom::points::cuda
