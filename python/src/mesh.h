// Triangle meshes that answer, and the bands of their fields.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <array>
#include <cstddef>
#include <optional>
#include <tuple>

#include "arrays.h"
#include "fathom/mesh/triangle_set.h"

namespace fathom::python {

/// Numbers of a mesh::Sign, a mesh::WindingRule and a Backend; most bytes of a device.
using MeshChoices = std::tuple<int, int, int, std::optional<std::size_t>>;

mesh::TriangleSet make_triangle_set(nanobind::handle vertices, nanobind::handle faces, const MeshChoices& choices,
                                    int threads, nanobind::object progress);

inline constexpr std::size_t kMeshOutputs = 7;

/// Outputs in the order of mesh::Outputs, those that are given.
/// @param of_points  any number of axes count the questions, and lie dense in memory
template <MemorySpace Space>
mesh::BasicOutputs<Space> outputs_of(const std::array<RawArray, kMeshOutputs>& arrays, bool of_points) {
  const auto view = [&](std::size_t k) {
    const bool is_vector = k == 2 || k == 3 || k == 5;
    RawArray array = of_points ? arrays[k].joined(0, is_vector) : arrays[k];
    if (array.dtype == DType::boolean) array.dtype = DType::uint8;
    return view_of<std::byte, Space>(array);
  };
  return {view(0), view(1), view(2), view(3), view(4), view(5), view(6)};
}

void add_mesh(nanobind::module_& m);

}  // namespace fathom::python
