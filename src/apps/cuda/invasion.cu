// How large a ball gets where from inlets: of all paths the one whose least squared distance is largest, from a forest
// of maximum weight (Borůvka 1926). A step between neighbours weighs what the smaller of their squares does. Elements
// are trees of their own at first, those of the inlets one tree, the outside. Each round joins every other tree to the
// one that its heaviest step leads to, the lowest root among equals, and halves the trees at least.
//
// What gets to a tree's root from outside comes over that step or a lighter one; and from the root to the element where
// a step of weight w leaves the tree there is always a way of w or more. So the least weight of what joined trees
// between an element and the outside is the answer, and each element keeps that of the way to its root.
//
// Departs from the CPU's search in order, whose result it is. Phases of a round, thread = element, blocks of 256: 1.
// the weight of each tree's heaviest step; 2. where it leads; 3. roots join; 4. those that did find their new root;
// 5. their elements follow. Nobody waits: there are as many rounds as there can be, and those after the last do
// nothing. Memory, per element: 13 bytes, 17 where squares have 64 bits. Cost: a few instructions per element and
// phase, in some ten rounds.
#include "apps/cuda/invasion.h"

#include <bit>
#include <climits>

#include "apps/division.hd.h"
#include "apps/squares.h"
#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "fathom/grid/mark_sites.h"

namespace fathom::apps::cuda {

namespace {

using fathom::cuda::check_launch;
using fathom::cuda::Scratch;

constexpr int kBlock = 256;
constexpr int kRounds = 32;   ///< at most; images have less than 2³¹ elements
constexpr int kOutside = -1;  ///< the root of what inlets lead to
constexpr int kNowhere = INT_MAX;

/// @param K  unsigned integers as wide as squares, and in their order: those of doubles have the order of their bits
template <class K>
struct Forest {
  /// @param scratch  what lies behind null is counted
  Forest(const Lattice3& lattice, bool by_faces, K* squares, Scratch& scratch)
      : axes(lattice.rank),
        by_width(lattice.extent[2]),
        by_height(lattice.extent[1]),
        squared(squares),
        inlets(by_faces ? nullptr : scratch.take<std::uint8_t>(lattice.size())),
        root(scratch.take<int>(lattice.size())),
        target(scratch.take<int>(lattice.size())),
        least(scratch.take<K>(lattice.size())),
        joined(scratch.take<int>(kRounds)) {
    for (std::size_t k = 0; k < 3; ++k) extent[k] = static_cast<int>(lattice.extent[k]);
  }

  int axes, extent[3];  ///< the last axes are there
  Division by_width, by_height;
  K* squared;
  std::uint8_t* inlets;  ///< null: faces
  int* root;    ///< of an element's tree; at the end of a round a root's own is itself
  int* target;  ///< of roots, and of those that join: where the heaviest step leads
  K* least;     ///< on the way to the root; of roots the weight of the heaviest step
  int* joined;  ///< by round: whether trees did

  __device__ int size() const { return extent[0] * extent[1] * extent[2]; }
  __device__ void places(int element, int (&at)[3]) const {
    const int row = by_width(element);
    at[0] = by_height(row);
    at[1] = row - at[0] * extent[1];
    at[2] = element - row * extent[2];
  }
  __device__ bool enters(int element) const {
    if (inlets) return inlets[element] != 0;
    int at[3];
    places(element, at);
    bool on_face = false;
    for (int k = 3 - axes; k < 3; ++k) on_face = on_face || at[k] == 0 || at[k] + 1 == extent[k];
    return on_face;
  }
  /// Calls look(root of a neighbour's tree, weight of the step) for steps out of the element's own.
  template <class Look>
  __device__ void each_step(int element, const Look& look) const {
    const int own = root[element];
    int at[3];
    places(element, at);
    const int stride[3] = {extent[1] * extent[2], extent[2], 1};
    for (int k = 0; k < 3; ++k)
      for (int side = -1; side <= 1; side += 2) {
        if (at[k] + side < 0 || at[k] + side >= extent[k]) continue;
        const int neighbour = element + side * stride[k];
        if (root[neighbour] != own) look(root[neighbour], min(squared[element], squared[neighbour]));
      }
  }
};

template <class K>
__global__ void __launch_bounds__(kBlock) plant(const __grid_constant__ Forest<K> forest) {
  const unsigned element = blockIdx.x * kBlock + threadIdx.x;
  if (element < kRounds) forest.joined[element] = 0;
  if (element >= static_cast<unsigned>(forest.size())) return;
  const bool enters = forest.enters(static_cast<int>(element));
  forest.root[element] = enters ? kOutside : static_cast<int>(element);
  forest.target[element] = kNowhere;
  forest.least[element] = enters ? forest.squared[element] : 0;
}

/// Calls work(element) in each thread, until a round in which no tree joined another is over.
template <class K, class Work>
__device__ void each_element(const Forest<K>& forest, int round, const Work& work) {
  const unsigned element = blockIdx.x * kBlock + threadIdx.x;
  if (element < static_cast<unsigned>(forest.size()) && (round == 0 || forest.joined[round - 1] != 0))
    work(static_cast<int>(element));
}

template <class K>
__device__ K now(const K* value) {
  return *const_cast<const volatile K*>(value);
}

template <class K>
__global__ void __launch_bounds__(kBlock) weigh_steps(const __grid_constant__ Forest<K> forest, int round) {
  each_element(forest, round, [&](int element) {
    if (forest.root[element] == kOutside || forest.squared[element] == 0) return;
    K most = 0;
    forest.each_step(element, [&](int, K weight) { most = max(most, weight); });
    K* const tree = forest.least + forest.root[element];
    if (most > now(tree)) atomicMax(tree, most);
  });
}

template <class K>
__global__ void __launch_bounds__(kBlock) find_targets(const __grid_constant__ Forest<K> forest, int round) {
  each_element(forest, round, [&](int element) {
    const int own = forest.root[element];
    if (own == kOutside || forest.squared[element] == 0) return;
    const K most = forest.least[own];
    int lowest = kNowhere;
    forest.each_step(element, [&](int to, K weight) {
      if (weight == most && most > 0) lowest = min(lowest, to);
    });
    if (lowest < now(forest.target + own)) atomicMin(forest.target + own, lowest);
  });
}

/// Among equals the lowest is chosen, so that no more than two trees choose each other in a ring; the lower of them
/// stays.
template <class K>
__global__ void __launch_bounds__(kBlock) join(const __grid_constant__ Forest<K> forest, int round) {
  each_element(forest, round, [&](int element) {
    const int to = forest.target[element];
    if (to == kNowhere || (to > element && forest.target[to] == element)) return;
    forest.root[element] = to;
    forest.joined[round] = 1;
  });
}

/// Steps from a tree to its new root weigh no less than its own: `least` stays.
template <class K>
__global__ void __launch_bounds__(kBlock) find_roots(const __grid_constant__ Forest<K> forest, int round) {
  each_element(forest, round, [&](int element) {
    if (forest.target[element] == kNowhere) return;
    int at = now(forest.root + element);
    while (at != kOutside) {
      const int next = now(forest.root + at);
      if (next == at) break;
      at = next;
      forest.root[element] = at;  // ways of others get shorter
    }
  });
}

template <class K>
__global__ void __launch_bounds__(kBlock) follow(const __grid_constant__ Forest<K> forest, int round) {
  each_element(forest, round, [&](int element) {
    const int before = forest.root[element];
    forest.target[element] = kNowhere;
    if (before == element) forest.least[element] = 0;
    if (before == kOutside || before == element || forest.root[before] == before) return;
    forest.root[element] = forest.root[before];
    forest.least[element] = min(forest.least[element], forest.least[before]);
  });
}

template <class K>
__global__ void __launch_bounds__(kBlock) tell_reached(const __grid_constant__ Forest<K> forest) {
  const unsigned element = blockIdx.x * kBlock + threadIdx.x;
  if (element >= static_cast<unsigned>(forest.size())) return;
  forest.squared[element] = forest.root[element] == kOutside ? forest.least[element] : 0;
}

/// Calls work(an unsigned integer as wide as the lattice's squares).
template <class Work>
void with_keys(const Lattice3& lattice, const Work& work) {
  if (squares_of(lattice) == DType::uint32) work(0u);
  else work(0ull);
}

}  // namespace

std::size_t invasion_bytes(const Lattice3& lattice, bool by_faces) {
  Scratch scratch(nullptr);
  with_keys(lattice, [&](auto key) { Forest<decltype(key)>(lattice, by_faces, nullptr, scratch); });
  return scratch.bytes();
}

void invade(const Lattice3& lattice, const AnyConstDeviceView& inlets, std::byte* squares, std::byte* scratch,
            Stream stream) {
  const cudaStream_t native = fathom::cuda::native(stream);
  with_keys(lattice, [&](auto key) {
    using K = decltype(key);
    Scratch taken(scratch);
    const Forest<K> forest(lattice, !inlets.present(), reinterpret_cast<K*>(squares), taken);
    if (inlets.present())
      grid::mark_sites(inlets, {grid::Sites::Rule::nonzero}, DeviceView<std::uint8_t>(forest.inlets, inlets.shape()),
                       stream);
    const unsigned blocks = static_cast<unsigned>((lattice.size() + kBlock - 1) / kBlock);
    plant<K><<<blocks, kBlock, 0, native>>>(forest);
    const int rounds = std::bit_width(static_cast<std::uint64_t>(lattice.size()));
    for (int round = 0; round < rounds; ++round) {
      weigh_steps<K><<<blocks, kBlock, 0, native>>>(forest, round);
      find_targets<K><<<blocks, kBlock, 0, native>>>(forest, round);
      join<K><<<blocks, kBlock, 0, native>>>(forest, round);
      find_roots<K><<<blocks, kBlock, 0, native>>>(forest, round);
      follow<K><<<blocks, kBlock, 0, native>>>(forest, round);
    }
    tell_reached<K><<<blocks, kBlock, 0, native>>>(forest);
    check_launch("filling pores from inlets");
  });
}

}  // namespace fathom::apps::cuda
