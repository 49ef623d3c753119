#include "mesh/meshes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <span>

#include "run.h"

namespace fathom::test {

namespace {

double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

Place random_place(Random& random, double scale = 1) {
  return {uniform(random, -scale, scale), uniform(random, -scale, scale), uniform(random, -scale, scale)};
}

Place middle_of(const Place& p, const Place& q) {
  return {0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1]), 0.5 * (p[2] + q[2])};
}

/// Two triangles; corners counter-clockwise as seen from outside.
void add_square(Mesh& mesh, const std::array<Place, 4>& corners) {
  const auto first = static_cast<std::int64_t>(mesh.vertices.size());
  mesh.vertices.insert(mesh.vertices.end(), corners.begin(), corners.end());
  mesh.triangles.push_back({first, first + 1, first + 2});
  mesh.triangles.push_back({first, first + 2, first + 3});
}

/// Vertices of equal place joined, unused ones left out.
Mesh welded(const Mesh& mesh) {
  Mesh result;
  std::map<Place, std::int64_t> numbers;
  for (const Corners& triangle : mesh.triangles) {
    Corners corners;
    for (std::size_t k = 0; k < 3; ++k) {
      const Place& place = mesh.vertices[static_cast<std::size_t>(triangle[k])];
      const auto [at, is_new] = numbers.try_emplace(place, static_cast<std::int64_t>(result.vertices.size()));
      if (is_new) result.vertices.push_back(place);
      corners[k] = at->second;
    }
    result.triangles.push_back(corners);
  }
  return result;
}

Mesh slivers(Random& random) {
  Mesh mesh;
  for (std::int64_t i = 0; i < 3 * (1 + below(random, 12)); i += 3) {
    const Place a = random_place(random), b = random_place(random), off = random_place(random);
    const double along = uniform(random, -0.1, 1.1), height = std::ldexp(uniform(random, 0.2, 2), pick<int>(random, {-25, -25, -24, -20, -30, -45}));
    Place c;
    for (std::size_t k = 0; k < 3; ++k) c[k] = a[k] + along * (b[k] - a[k]) + height * off[k];
    for (const Place& corner : {a, b, c}) mesh.vertices.push_back(corner);
    mesh.triangles.push_back({i, i + 1, i + 2});
  }
  return mesh;
}

Mesh degenerate(Random& random) {
  Mesh mesh = soup(1 + below(random, 10), random);
  for (Corners& triangle : mesh.triangles) {
    const std::int64_t kind = below(random, 5);
    if (kind < 2) triangle[static_cast<std::size_t>(below(random, 3))] = triangle[static_cast<std::size_t>(below(random, 3))];
    if (kind == 2) triangle = {triangle[1], triangle[1], triangle[1]};
    if (kind == 3)
      mesh.vertices[static_cast<std::size_t>(triangle[0])] =
          middle_of(mesh.vertices[static_cast<std::size_t>(triangle[1])], mesh.vertices[static_cast<std::size_t>(triangle[2])]);
  }
  return mesh;
}

Mesh duplicated(Random& random) {
  Mesh mesh = soup(1 + below(random, 12), random);
  for (std::size_t i = 0, count = mesh.triangles.size(); i < count; ++i) {
    Corners copy = mesh.triangles[i];
    if (chance(random, 0.5)) std::swap(copy[0], copy[2]);
    if (chance(random, 0.7)) mesh.triangles.push_back(copy);
  }
  std::shuffle(mesh.triangles.begin(), mesh.triangles.end(), random);
  return mesh;
}

void store_place(Array& array, std::int64_t at, const Place& place) {
  for (std::size_t k = 0; k < 3; ++k) store(array, at + static_cast<std::int64_t>(k), place[k]);
}

}  // namespace

Mesh box(Place low, Place high) {
  Mesh mesh;
  for (int i = 0; i < 8; ++i)
    mesh.vertices.push_back({(i & 1 ? high : low)[0], (i & 2 ? high : low)[1], (i & 4 ? high : low)[2]});
  mesh.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return mesh;
}

Mesh tetrahedron(Place a, Place b, Place c, Place d) {
  Mesh mesh{{a, b, c, d}, {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}}};
  double six_volumes = 0;  // turned outward where it is positive
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
    six_volumes += (b[k] - a[k]) * ((c[i] - a[i]) * (d[j] - a[j]) - (c[j] - a[j]) * (d[i] - a[i]));
  }
  return six_volumes < 0 ? inside_out(mesh) : mesh;
}

Mesh sphere(Place middle, double radius, int levels) {
  Mesh mesh;
  mesh.vertices = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  mesh.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  for (int level = 0; level < levels; ++level) mesh = divided(mesh);
  return moved(mesh, [&](const Place& p) {
    const double length = std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    return Place{middle[0] + radius * p[0] / length, middle[1] + radius * p[1] / length, middle[2] + radius * p[2] / length};
  });
}

Mesh torus(double radius, double tube, int around, int across) {
  Mesh mesh;
  for (int i = 0; i < around; ++i)
    for (int j = 0; j < across; ++j) {
      const double u = 2 * std::numbers::pi * i / around, v = 2 * std::numbers::pi * j / across;
      const double r = radius + tube * std::cos(v);
      mesh.vertices.push_back({r * std::cos(u), r * std::sin(u), tube * std::sin(v)});
      const auto at = [&](int a, int b) { return static_cast<std::int64_t>(a % around * across + b % across); };
      mesh.triangles.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
      mesh.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
    }
  return mesh;
}

Mesh columns(int side, int highest, Random& random) {
  std::map<std::pair<int, int>, int> heights;
  const auto height = [&](int x, int y) { return heights.contains({x, y}) ? heights[{x, y}] : 0; };
  // Four columns about a corner: two across from one another must not both be higher than the others.
  const auto is_tight = [&](int x, int y) {
    const int a = height(x, y), b = height(x - 1, y), c = height(x, y - 1), d = height(x - 1, y - 1);
    return std::min(a, d) <= std::max(b, c) && std::min(b, c) <= std::max(a, d);
  };
  for (int x = 0; x < side; ++x)
    for (int y = 0; y < side; ++y) heights[{x, y}] = 1;
  for (int i = 0; i < 8 * side * side; ++i) {
    const auto x = static_cast<int>(below(random, side)), y = static_cast<int>(below(random, side));
    const int before = heights[{x, y}];
    heights[{x, y}] = std::max(static_cast<int>(below(random, highest + 1)), x + y == 0 ? 1 : 0);  // never all of them 0
    if (!(is_tight(x, y) && is_tight(x + 1, y) && is_tight(x, y + 1) && is_tight(x + 1, y + 1))) heights[{x, y}] = before;
  }
  Mesh mesh;
  for (int x = -1; x <= side; ++x)
    for (int y = -1; y <= side; ++y) {
      const double u = x, v = y;
      const int here = height(x, y);
      if (here > 0) {
        const double top = here;
        add_square(mesh, {{{u, v, top}, {u + 1, v, top}, {u + 1, v + 1, top}, {u, v + 1, top}}});
        add_square(mesh, {{{u, v, 0}, {u, v + 1, 0}, {u + 1, v + 1, 0}, {u + 1, v, 0}}});
      }
      // Walls, a unit square at a time, so that all edges meet.
      for (int z = 0; z < highest; ++z) {
        const double w = z;
        const bool solid = z < here, right = z < height(x + 1, y), behind = z < height(x, y + 1);
        if (solid != right) {
          std::array<Place, 4> wall = {{{u + 1, v, w}, {u + 1, v + 1, w}, {u + 1, v + 1, w + 1}, {u + 1, v, w + 1}}};
          if (right) std::reverse(wall.begin(), wall.end());
          add_square(mesh, wall);
        }
        if (solid != behind) {
          std::array<Place, 4> wall = {{{u + 1, v + 1, w}, {u, v + 1, w}, {u, v + 1, w + 1}, {u + 1, v + 1, w + 1}}};
          if (behind) std::reverse(wall.begin(), wall.end());
          add_square(mesh, wall);
        }
      }
    }
  return welded(mesh);
}

Mesh soup(std::int64_t triangles, Random& random) {
  Mesh mesh;
  const std::int64_t vertices = 3 + below(random, 2 * triangles + 1);
  for (std::int64_t i = 0; i < vertices; ++i) mesh.vertices.push_back(random_place(random));
  for (std::int64_t i = 0; i < triangles; ++i)
    mesh.triangles.push_back({below(random, vertices), below(random, vertices), below(random, vertices)});
  return mesh;
}

Mesh joined(const Mesh& a, const Mesh& b) {
  Mesh mesh = a;
  const auto first = static_cast<std::int64_t>(a.vertices.size());
  mesh.vertices.insert(mesh.vertices.end(), b.vertices.begin(), b.vertices.end());
  for (const Corners& t : b.triangles) mesh.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  return mesh;
}

Mesh inside_out(Mesh mesh) {
  for (Corners& triangle : mesh.triangles) std::swap(triangle[1], triangle[2]);
  return mesh;
}

Mesh divided(const Mesh& mesh) {
  Mesh result{mesh.vertices, {}};
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> middles;
  const auto middle = [&](std::int64_t i, std::int64_t j) {
    const auto [at, is_new] = middles.try_emplace(std::minmax(i, j), static_cast<std::int64_t>(result.vertices.size()));
    if (is_new)
      result.vertices.push_back(middle_of(mesh.vertices[static_cast<std::size_t>(i)], mesh.vertices[static_cast<std::size_t>(j)]));
    return at->second;
  };
  for (const auto& [a, b, c] : mesh.triangles) {
    const std::int64_t ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
    for (const Corners& part : {Corners{a, ab, ca}, Corners{ab, b, bc}, Corners{ca, bc, c}, Corners{ab, bc, ca}})
      result.triangles.push_back(part);
  }
  return result;
}

Mesh split(const Mesh& mesh) {
  Mesh result;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto first = static_cast<std::int64_t>(3 * i);
    for (std::size_t k = 0; k < 3; ++k) result.vertices.push_back(mesh.corner(i, k));
    result.triangles.push_back({first, first + 1, first + 2});
  }
  return result;
}

Mesh rounded(Mesh mesh, double scale) {
  return moved(std::move(mesh), [&](const Place& p) {
    return Place{std::round(scale * p[0]), std::round(scale * p[1]), std::round(scale * p[2])};
  });
}

const char* name_of(Kind kind) {
  constexpr std::array kNames = {"soup",        "whole",   "sphere",  "box",        "torus",      "columns", "nested",
                                 "overlapping", "divided", "slivers", "degenerate", "duplicated", "single"};
  return kNames[static_cast<std::size_t>(kind)];
}

Mesh make_mesh(Kind kind, Random& random) {
  const auto some_sphere = [&] { return sphere(random_place(random), uniform(random, 0.2, 1), static_cast<int>(below(random, 3))); };
  const auto some_box = [&] {
    const Place low = random_place(random);
    return box(low, {low[0] + uniform(random, 0.1, 1), low[1] + uniform(random, 0.1, 1), low[2] + uniform(random, 0.1, 1)});
  };
  switch (kind) {
    case Kind::soup: return soup(1 + below(random, chance(random, 0.1) ? 600 : 40), random);
    case Kind::whole: return rounded(soup(1 + below(random, 40), random), 2);
    case Kind::sphere: return some_sphere();
    case Kind::box: return some_box();
    case Kind::torus: return torus(1, 0.4, static_cast<int>(3 + below(random, 12)), static_cast<int>(3 + below(random, 8)));
    case Kind::columns: return columns(3, 3, random);
    case Kind::nested: return joined(sphere({}, 1, 2), inside_out(sphere({}, 0.6, static_cast<int>(below(random, 2)))));
    case Kind::overlapping: return joined(some_box(), joined(some_sphere(), some_box()));
    case Kind::divided: return divided(chance(random, 0.5) ? divided(some_box()) : rounded(some_sphere(), 8));
    case Kind::slivers: return slivers(random);
    case Kind::degenerate: return degenerate(random);
    case Kind::duplicated: return duplicated(random);
    case Kind::single: return soup(1, random);
  }
  return {};
}

MeshArrays::MeshArrays(const Mesh& mesh, DType vertex_type, DType index_type, std::int64_t padding)
    : vertex(vertex_type, {static_cast<std::int64_t>(mesh.vertices.size()), 3 + padding}),
      index(index_type, {static_cast<std::int64_t>(mesh.triangles.size()), 3 + padding}),
      vertex_count(vertex.shape()[0]),
      triangle_count(index.shape()[0]) {
  poison(vertex);
  poison(index);
  for (std::int64_t i = 0; i < vertex_count; ++i)
    store_place(vertex, i * (3 + padding), mesh.vertices[static_cast<std::size_t>(i)]);
  for (std::int64_t i = 0; i < triangle_count; ++i)
    for (std::size_t k = 0; k < 3; ++k)
      store(index, i * (3 + padding) + static_cast<std::int64_t>(k), static_cast<double>(mesh.triangles[static_cast<std::size_t>(i)][k]));
}

mesh::Triangles MeshArrays::view() const {
  return {{vertex.data(), vertex.dtype(), {vertex_count, 3}, {vertex.shape()[1], 1}},
          {index.data(), index.dtype(), {triangle_count, 3}, {index.shape()[1], 1}}};
}

std::vector<Place> MeshArrays::vertices() const {
  std::vector<Place> places;
  for (std::int64_t i = 0; i < vertex_count; ++i) {
    const std::int64_t at = i * vertex.shape()[1];
    places.push_back({value_at(vertex, at), value_at(vertex, at + 1), value_at(vertex, at + 2)});
  }
  return places;
}

mesh::TriangleSet set_of(const Mesh& mesh, mesh::Sign sign) {
  const MeshArrays arrays(mesh, DType::float64, DType::int64);
  mesh::TriangleSetOptions options;
  options.sign = sign;
  options.execution.threads = 1;
  return mesh::TriangleSet(arrays.view(), options);
}

Array points_array(const std::vector<Place>& points) {
  Array array(DType::float64, {static_cast<std::int64_t>(points.size()), 3});
  for (std::size_t i = 0; i < points.size(); ++i) store_place(array, static_cast<std::int64_t>(3 * i), points[i]);
  return array;
}

std::vector<double> distances(const mesh::TriangleSet& set, const std::vector<Place>& points) {
  std::vector<double> result(points.size());
  mesh::Outputs outputs;
  outputs.distance = HostView<double>(result.data(), {static_cast<std::int64_t>(points.size())});
  const Array array = points_array(points);
  set.nearest(array.view(), outputs);
  return result;
}

}  // namespace fathom::test
