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

/// Four at a multiple of four. Where all lie inside, they are one load, and such loads do not wait for others.
__device__ inline unsigned four_within(const std::byte* at, MemoryRange array) {
  return array.holds(at, at + 4) ? __ldg(reinterpret_cast<const unsigned*>(at)) : load_part(at, array).x;
}

/// Sixteen at any address, of some rows.
/// @tparam kAligned  whether that is a multiple of sixteen everywhere
/// @tparam kOnce     whether nothing else reads them
template <bool kAligned, bool kOnce = false>
class SixteenBytes {
 public:
  /// @param first, end  of the rows; what lies beside them in their sixteens may not be the array's
  __device__ SixteenBytes(const MemoryRange& array, const std::byte* first, const std::byte* end)
      : array_(array), are_inside_(kAligned || array.holds(first - 15, end + 31)) {}

  __device__ uint4 operator()(const std::byte* at) const {
    if constexpr (kAligned) return all(at);
    const auto before = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(at) % 16);
    const std::byte* low = at - before;
    return are_inside_ ? from(all(low), all(low + 16), before) : from(within(low), within(low + 16), before);
  }

 private:
  static __device__ uint4 all(const std::byte* at) {
    const auto* sixteen = reinterpret_cast<const uint4*>(at);
    return kAligned && kOnce ? __ldcs(sixteen) : __ldg(sixteen);
  }
  __device__ uint4 within(const std::byte* at) const {
    return array_.holds(at, at + 16) ? all(at) : load_part(at, array_);
  }
  /// Sixteen of thirty-two bytes, those from `first` on, which is below sixteen.
  static __device__ uint4 from(uint4 a, uint4 b, unsigned first) {
    if (first & 8) a = make_uint4(a.z, a.w, b.x, b.y), b.x = b.z, b.y = b.w;
    if (first & 4) a = make_uint4(a.y, a.z, a.w, b.x), b.x = b.y;
    const unsigned bits = first % 4 * 8;
    return make_uint4(__funnelshift_r(a.x, a.y, bits), __funnelshift_r(a.y, a.z, bits), __funnelshift_r(a.z, a.w, bits),
                      __funnelshift_r(a.w, b.x, bits));
  }

  const MemoryRange& array_;
  const bool are_inside_;
};

}  // namespace fathom::grid::cuda::volume
