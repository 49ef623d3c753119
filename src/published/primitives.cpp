#include "published/primitives.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace fathom::published {

namespace {

/// A face as one of those that a vertex or an edge belongs to.
struct Owner {
  std::int32_t from, to;  ///< the edge's vertices; of a vertex, itself twice
  std::int32_t face;

  friend auto operator<=>(const Owner&, const Owner&) = default;
};

}  // namespace

Primitives PrimitiveLists::view() const {
  const auto count = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  return {count(vertices), count(edges),       count(faces),      vertices.data(), edges.data(),
          faces.data(),    of_vertices.view(), of_edges.view(), true};
}

PrimitiveLists primitives_of(const mesh::Surface& surface) {
  PrimitiveLists lists;
  lists.vertices = surface.vertices;
  std::vector<Owner> corners, sides;
  for (std::int64_t face = 0; face < surface.size(); ++face) {
    const mesh::Corners& given = surface.corners[static_cast<std::size_t>(face)];
    const mesh::Ascending order = mesh::ascending(given.data());
    std::array<std::int32_t, 3> at;
    for (std::size_t k = 0; k < 3; ++k) at[k] = given[static_cast<std::size_t>(order.at[k])];
    const auto place = [&](std::int32_t vertex) { return surface.vertices[static_cast<std::size_t>(vertex)]; };
    lists.faces.push_back(mesh::make_triangle(place(at[0]), place(at[1]), place(at[2])));
    const auto number = static_cast<std::int32_t>(face);
    for (const std::int32_t vertex : at) corners.push_back({vertex, vertex, number});
    for (const auto& [from, to] : {std::pair(at[0], at[1]), std::pair(at[0], at[2]), std::pair(at[1], at[2])})
      if (from != to) sides.push_back({from, to, number});
  }
  std::sort(corners.begin(), corners.end());
  std::sort(sides.begin(), sides.end());

  lists.of_vertices.starts.resize(lists.vertices.size() + 1);
  for (const Owner& corner : corners) {
    ++lists.of_vertices.starts[static_cast<std::size_t>(corner.from) + 1];
    lists.of_vertices.list.push_back(corner.face);
  }
  std::partial_sum(lists.of_vertices.starts.begin(), lists.of_vertices.starts.end(), lists.of_vertices.starts.begin());
  for (std::size_t k = 0; k < sides.size(); ++k) {
    const Owner& side = sides[k];
    if (k == 0 || side.from != sides[k - 1].from || side.to != sides[k - 1].to) {
      const Vec3 way = lists.vertices[static_cast<std::size_t>(side.to)] -
                       lists.vertices[static_cast<std::size_t>(side.from)];
      lists.edges.push_back({side.from, side.to, mesh::reciprocal(mesh::dot(way, way))});
      lists.of_edges.starts.push_back(static_cast<std::int64_t>(k));
    }
    lists.of_edges.list.push_back(side.face);
  }
  lists.of_edges.starts.push_back(static_cast<std::int64_t>(sides.size()));
  return lists;
}

}  // namespace fathom::published
