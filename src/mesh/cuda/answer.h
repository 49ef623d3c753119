// Answers on a device: for points, and for all points of a lattice. In the order of a stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "mesh/tree_view.hd.h"

namespace fathom::mesh::cuda {

/// Rows of x, y, z.
struct Points {
  const std::byte* data;
  DType dtype;        ///< float32 or float64
  std::int64_t step;  ///< in elements
  std::int64_t count;

  FATHOM_HD double at(std::int64_t i, int axis) const {
    return dtype == DType::float32 ? static_cast<double>(reinterpret_cast<const float*>(data)[i * step + axis])
                                   : reinterpret_cast<const double*>(data)[i * step + axis];
  }
};

/// A point with a coordinate that is no number to count with has no answer: see put_none().
void answer_points(const TreeView& tree, const Points& points, const Places& to, cudaStream_t stream);

/// Bytes that answer_lattice() takes for each plane.
std::size_t plane_bytes(const TreeView& tree, const Grid& grid);

/// @param to  places are counted from the first of the planes
void answer_lattice(const TreeView& tree, const Grid& grid, const Planes& planes, const Places& to, std::byte* scratch,
                    cudaStream_t stream);

}  // namespace fathom::mesh::cuda
