// A mesh's vertices, edges and faces on the host.
#pragma once

#include <cstdint>
#include <vector>

#include "mesh/surface.h"
#include "published/primitives.hd.h"

namespace fathom::published {

struct OwnerLists {
  std::vector<std::int64_t> starts;
  std::vector<std::int32_t> list;

  Owners view() const { return {starts.data(), list.data()}; }
};

struct PrimitiveLists {
  std::vector<Vec3> vertices;
  std::vector<Edge> edges;
  std::vector<mesh::Triangle> faces;
  OwnerLists of_vertices, of_edges;

  Primitives view() const;
};

/// Vertices that no face names have none that they belong to, and count nowhere.
PrimitiveLists primitives_of(const mesh::Surface& surface);

}  // namespace fathom::published
