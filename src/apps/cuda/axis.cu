// The pairs of every element, tested from both sides: it decides alone whether it is on the axis, and nothing is
// shared.
//
// Work: thread = element, which reads its own nearest site and those of its 4 or 6 neighbours. Neighbours whose site is
// the same are passed over, as most are. Launch: blocks of 256 threads along an image's elements, images across.
// Memory: none. Cost: reads and writes each array once; what neighbours read comes from the caches. Source: Hesselink &
// Roerdink 2008; a thread gathers what is theirs to scatter.
#include <algorithm>
#include <limits>

#include "apps/axis_tests.h"
#include "apps/cuda/axis.h"
#include "apps/division.hd.h"
#include "core/cuda/runtime.h"

namespace fathom::apps::cuda {

namespace {

constexpr int kBlock = 256;
constexpr std::int64_t kMostAcross = 65535;  // blocks

template <class Number, class Index>
struct Work {
  PairTest<Number> tests[6];  ///< before and behind along z, y, x
  Index extent[3];
  Division by_width, by_height;
  std::int64_t count;
  ImageStack<const std::byte> nearest;
  ImageStack<std::byte> axis, witness;
};

__device__ std::int64_t index_at(const ImageRows<const std::byte>& rows, std::int64_t z, std::int64_t y,
                                 std::int64_t x) {
  return rows.size == 4 ? __ldg(rows.at<std::int32_t>(z, y) + x) : __ldg(rows.at<std::int64_t>(z, y) + x);
}

template <Pruning kPruning, class Number, class Index>
__device__ void find_of_element(const Work<Number, Index>& work, std::int64_t image, Index element) {
  const ImageRows<const std::byte> nearest = work.nearest.image(image);
  const auto places = [&](Index linear, Index(&at)[3]) {
    const Index row = work.by_width(linear), slice = work.by_height(row);
    at[0] = slice;
    at[1] = row - slice * work.extent[1];
    at[2] = linear - row * work.extent[2];
  };
  Index own[3];
  places(element, own);
  const auto site_of = [&](Index z, Index y, Index x) { return static_cast<Index>(index_at(nearest, z, y, x)); };
  const auto way_to = [&](Index site, Index z, Index y, Index x) {
    Index at[3];
    places(site, at);
    return Way<Number>{static_cast<Number>(at[0] - z), static_cast<Number>(at[1] - y), static_cast<Number>(at[2] - x)};
  };
  const Index site = site_of(own[0], own[1], own[2]);
  Index others[6];  // all asked for at once; where no neighbour is, as if its site were the same
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    Index there[3] = {own[0], own[1], own[2]};
    const Index along = there[k / 2] += k % 2 == 0 ? -1 : 1;
    others[k] = along >= 0 && along < work.extent[k / 2] ? site_of(there[0], there[1], there[2]) : site;
  }
  Index witness = -1;
  if (site >= 0) {  // in an image without a site there is no axis
    const Way<Number> way = way_to(site, own[0], own[1], own[2]);
    Number most = 0;
#pragma unroll
    for (int k = 0; k < 6; ++k) {
      if (others[k] == site) continue;
      const PairTest<Number>& test = work.tests[k];
      Index there[3] = {own[0], own[1], own[2]};
      there[k / 2] += k % 2 == 0 ? -1 : 1;
      const Way<Number> its = way_to(others[k], there[0], there[1], there[2]);
      if (!joins<kPruning, 3>(test, way, its)) continue;
      const Way<Number> apart = between_sites(test, way, its);
      const Number length = dot<3>(test, apart, apart);
      if (length <= most) continue;
      most = length;
      witness = others[k];
    }
  }
  if (work.axis.rows.data) {
    const ImageRows<std::byte> out = work.axis.image(image);
    out.at<std::uint8_t>(own[0], own[1])[own[2]] = witness >= 0;
  }
  if (!work.witness.rows.data) return;
  const ImageRows<std::byte> out = work.witness.image(image);
  if (out.size == 4) out.at<std::int32_t>(own[0], own[1])[own[2]] = static_cast<std::int32_t>(witness);
  else out.at<std::int64_t>(own[0], own[1])[own[2]] = witness;
}

template <Pruning kPruning, class Number, class Index>
__global__ void __launch_bounds__(kBlock) find_elements(const __grid_constant__ Work<Number, Index> work) {
  const std::int64_t element = std::int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (element >= std::int64_t{work.extent[0]} * work.extent[1] * work.extent[2]) return;
  for (std::int64_t image = blockIdx.y; image < work.count; image += gridDim.y)
    find_of_element<kPruning>(work, image, static_cast<Index>(element));
}

template <Pruning kPruning, class Number, class Index>
void find(const AxisProblem& p, cudaStream_t stream) {
  Work<Number, Index> work{};
  const auto tests = pair_tests<Number>(p.lattice, p.gamma, p.ties);
  std::copy(tests.begin(), tests.end(), work.tests);
  for (std::size_t k = 0; k < 3; ++k) work.extent[k] = static_cast<Index>(p.lattice.extent[k]);
  work.by_width = Division(p.lattice.extent[2]);
  work.by_height = Division(p.lattice.extent[1]);
  work.count = p.count;
  work.nearest = p.nearest;
  work.axis = p.axis;
  work.witness = p.witness;
  const dim3 blocks(static_cast<unsigned>((p.lattice.size() + kBlock - 1) / kBlock),
                    static_cast<unsigned>(std::min(p.count, kMostAcross)));
  find_elements<kPruning, Number, Index><<<blocks, kBlock, 0, stream>>>(work);
  fathom::cuda::check_launch("finding a medial axis");
}

/// The numbers are those of the CPU.
template <Pruning kPruning, class Index>
void find_in_numbers(const AxisProblem& p, cudaStream_t stream) {
  if (kPruning != Pruning::constant || !p.lattice.is_isotropic()) return find<kPruning, double, Index>(p, stream);
  if constexpr (kPruning == Pruning::constant) {
    if constexpr (sizeof(Index) == 4)
      if (axis_fits_int32(p.lattice)) return find<kPruning, std::int32_t, Index>(p, stream);
    find<kPruning, std::int64_t, Index>(p, stream);
  }
}

template <class Index>
void find_any(const AxisProblem& p, cudaStream_t stream) {
  switch (p.pruning) {
    case Pruning::constant: return find_in_numbers<Pruning::constant, Index>(p, stream);
    case Pruning::linear: return find_in_numbers<Pruning::linear, Index>(p, stream);
    case Pruning::square_root: return find_in_numbers<Pruning::square_root, Index>(p, stream);
  }
}

}  // namespace

void find_axis(const AxisProblem& p, cudaStream_t stream) {
  const bool is_narrow = p.lattice.size() <= std::numeric_limits<std::int32_t>::max();
  is_narrow ? find_any<std::int32_t>(p, stream) : find_any<std::int64_t>(p, stream);
}

}  // namespace fathom::apps::cuda
