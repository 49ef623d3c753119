// How results are written, and what is made of squares before.
#pragma once

#include <cstdint>

#include "grid/cuda/input/layout.cuh"
#include "grid/cuda/output/roots.cuh"

namespace fathom::grid::cuda {

/// How results are written.
enum class Writing {
  aligned,         ///< float distances, rows aligned to 16 bytes
  unaligned,       ///< float distances
  labels,          ///< float distances to other labels
  signed_labels,   ///< the same with signs: of label 0 positive, of others negative
  one_side,        ///< float distances of one side of a signed field
  sites,           ///< nearest sites, and whatever else, element by element
  label_sites,     ///< the same of labels
  general,         ///< anything else
  general_labels,  ///< the same of labels
};

__host__ __device__ constexpr bool is_of_labels(Writing writing) {
  return writing == Writing::labels || writing == Writing::signed_labels || writing == Writing::general_labels ||
         writing == Writing::label_sites;
}
__host__ __device__ constexpr bool finds_sites(Writing writing) {
  return writing == Writing::sites || writing == Writing::label_sites;
}
__host__ __device__ constexpr bool is_general(Writing writing) {
  return writing == Writing::general || writing == Writing::general_labels || finds_sites(writing);
}

/// From squares to distances. Of a signed field this is one side; what has distance 0 belongs to the other.
struct Side {
  float scale = 1;        ///< the sign, times the unit of unequal spacings
  float half = 0;         ///< from an element's centre to its faces, where those have distance 0
  bool is_first = false;  ///< the other side will be written over this one's

  __device__ float none() const { return scale * __int_as_float(0x7F800000); }
  static constexpr std::uint32_t kLeastFar = 1u << 21;  ///< squares below are near() always
  /// Of a squared distance below 2²⁴, or 2²¹ to faces.
  __device__ float near(float d2) const { return scale * small_root(d2, half); }
  __device__ float far(std::uint32_t d2) const { return scale * (half > 0 ? root_to_face(d2) : root_of(d2)); }
};

/// Where results are floats.
struct FloatResults {
  Placed<float> distance;
  bool is_aligned = false;  ///< all rows, to as many bytes as are written at once
  Side side;
};

}  // namespace fathom::grid::cuda
