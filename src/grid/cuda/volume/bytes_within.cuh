// Bytes of an array by words, also where these reach over its ends.
#pragma once

#include "grid/cuda/input/layout.cuh"

namespace fathom::grid::cuda::volume {

/// Those of sixteen bytes that lie in the array; others are not read, but 0. Not inlined: it is rare.
__device__ __noinline__ inline uint4 load_part(const std::byte* at, MemoryRange array) {
  unsigned words[4] = {};
  for (int k = 0; k < 16; ++k)
    if (at + k >= array.begin && at + k < array.end) words[k / 4] |= static_cast<unsigned>(at[k]) << (k % 4 * 8);
  return make_uint4(words[0], words[1], words[2], words[3]);
}

/// The same at a multiple of sixteen. Where all lie inside, they are one load, and such loads do not wait for others.
/// @tparam kOnce  whether nothing else reads them
template <bool kOnce = true>
__device__ uint4 sixteen_within(const std::byte* at, MemoryRange array) {
  const auto load = [](const uint4* sixteen) { return kOnce ? __ldcs(sixteen) : __ldg(sixteen); };
  return array.holds(at, at + 16) ? load(reinterpret_cast<const uint4*>(at)) : load_part(at, array);
}
/// Four at a multiple of four.
__device__ inline unsigned four_within(const std::byte* at, MemoryRange array) {
  return array.holds(at, at + 4) ? __ldg(reinterpret_cast<const unsigned*>(at)) : load_part(at, array).x;
}

/// Sixteen of thirty-two bytes, those from `first` on, which is below sixteen.
__device__ inline uint4 sixteen_from(uint4 a, uint4 b, unsigned first) {
  if (first & 8) a = make_uint4(a.z, a.w, b.x, b.y), b.x = b.z, b.y = b.w;
  if (first & 4) a = make_uint4(a.y, a.z, a.w, b.x), b.x = b.y;
  const unsigned bits = first % 4 * 8;
  return make_uint4(__funnelshift_r(a.x, a.y, bits), __funnelshift_r(a.y, a.z, bits), __funnelshift_r(a.z, a.w, bits),
                    __funnelshift_r(a.w, b.x, bits));
}

}  // namespace fathom::grid::cuda::volume
