// What balls cover in an image on a device: local thickness, and the balls of a medial axis.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "apps/images.h"
#include "apps/lattice3.h"

namespace fathom::apps::cuda {

/// Most elements of an image.
inline constexpr std::int64_t kMostElements = (std::int64_t{1} << 31) - 1;

/// Bytes of scratch that the calls take.
std::size_t balls_bytes(const Lattice3& lattice);

/// @param squares  squared distances of the image, dense, of the type squares_of()
/// @param out      float32 or float64, by its size
/// @param scratch  balls_bytes()
void draw_thickness(const Lattice3& lattice, const std::byte* squares, const ImageRows<std::byte>& out,
                    std::byte* scratch, cudaStream_t stream);

/// @param nearest  int32 or int64, by its size; negative: a ball without end
/// @param out      bytes: a ball where it is not 0; then the result
/// @param squares  of as many elements as the image, of the type squares_of(): scratch
/// @param scratch  balls_bytes()
void draw_axis_balls(const Lattice3& lattice, const ImageRows<const std::byte>& nearest,
                     const ImageRows<std::byte>& out, std::byte* squares, std::byte* scratch, cudaStream_t stream);

}  // namespace fathom::apps::cuda
