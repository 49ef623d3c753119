// The kernels that plane/solve.cuh declares.
#include <algorithm>
#include <iterator>

#include "fathom/core/error.h"
#include "grid/cuda/plane/far.cuh"
#include "grid/cuda/plane/near.cuh"
#include "grid/cuda/plane/solve.cuh"

namespace fathom::grid::cuda::plane {

namespace {

// In far tiles floats go one by one: rows need no alignment. Which multiples of a unit spacings are does not matter.
constexpr Writing far_writing(Writing w) { return w == Writing::aligned ? Writing::unaligned : w; }
constexpr Spacing far_spacing(Spacing s) { return s == Spacing::unit_along_columns ? Spacing::unit : s; }

template <Writing kWriting, Spacing kSpaced, class V = std::int64_t>
constexpr Kernels<V> kKernels = {kWriting,
                                 kSpaced,
                                 kNearWidth<kWriting, kSpaced>,
                                 far_blocks(far_writing(kWriting), far_spacing(kSpaced)),
                                 solve_near<kWriting, kSpaced, V>,
                                 solve_far<far_writing(kWriting), far_spacing(kSpaced), V>};

}  // namespace

const Kernels<std::int64_t>& kernels_of(Writing writing, Spacing spacing) {
  using enum Writing;
  using enum Spacing;
  static constexpr Kernels<std::int64_t> kAll[] = {
      kKernels<aligned, equal>,        kKernels<unaligned, equal>,     kKernels<unaligned, unit_along_columns>,
      kKernels<unaligned, unit>,       kKernels<unaligned, any>,       kKernels<one_side, equal>,
      kKernels<one_side, unit>,        kKernels<one_side, any>,        kKernels<one_side, unit_along_columns>,
      kKernels<labels, equal>,         kKernels<labels, unit>,         kKernels<labels, unit_along_columns>,
      kKernels<general, equal>,        kKernels<general, unit>,        kKernels<general, any>,
      kKernels<general_labels, equal>, kKernels<general_labels, unit>, kKernels<sites, equal>,
      kKernels<sites, unit>,           kKernels<label_sites, equal>,   kKernels<label_sites, unit>};
  const auto found = std::find_if(std::begin(kAll), std::end(kAll), [&](const Kernels<std::int64_t>& kernels) {
    return kernels.writing == writing && kernels.spacing == spacing;
  });
  if (found == std::end(kAll)) throw InternalError("no kernels write such results of images");
  return *found;
}

const Kernels<double>& kernels_in_double() { return kKernels<Writing::general, Spacing::any, double>; }

}  // namespace fathom::grid::cuda::plane
