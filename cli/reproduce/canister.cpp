#include "reproduce/canister.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace fathom::cli {

namespace {

/// Vertices around the axis; one alone is on it.
struct Ring {
  double radius, z;
  int count;
  int first = 0;  ///< of the mesh's vertices

  int edges() const { return count == 1 ? 0 : count; }
  std::int32_t vertex(int i) const { return first + i % count; }
};

std::vector<Ring> rings_of(int rings, double radius, double height) {
  const auto on_lid = [&](int k, double z) { return Ring{radius * k / rings, z, std::max(1, 6 * k)}; };
  const int rows = static_cast<int>(std::lround(height * 3 * rings / (std::numbers::pi * radius)));
  std::vector<Ring> all;
  for (int k = 0; k < rings; ++k) all.push_back(on_lid(k, height));
  for (int row = 0; row <= rows; ++row) all.push_back(on_lid(rings, height * (rows - row) / rows));
  for (int k = rings - 1; k >= 0; --k) all.push_back(on_lid(k, 0));
  return all;
}

/// Triangles between a ring and the one outside or below it, always from the ring that is behind.
void join(const Ring& a, const Ring& b, std::vector<std::int32_t>& triangles) {
  for (int i = 0, j = 0; i < a.edges() || j < b.edges();) {
    const bool along_b = j < b.edges() && (i == a.edges() || (j + 1) * a.edges() <= (i + 1) * b.edges());
    const std::int32_t third = along_b ? b.vertex(j + 1) : a.vertex(i + 1);
    triangles.insert(triangles.end(), {a.vertex(i), b.vertex(j), third});
    ++(along_b ? j : i);
  }
}

template <class T>
Array rows_of_3(DType dtype, const std::vector<T>& values) {
  Array rows(dtype, {static_cast<std::int64_t>(values.size() / 3), 3});
  std::copy(values.begin(), values.end(), rows.as<T>().data());
  return rows;
}

}  // namespace

Canister make_canister(int rings, double radius, double height) {
  std::vector<Ring> all = rings_of(rings, radius, height);
  std::vector<double> vertices;
  std::vector<std::int32_t> triangles;
  for (Ring& ring : all) {
    ring.first = static_cast<int>(vertices.size() / 3);
    for (int i = 0; i < ring.count; ++i) {
      const double angle = 2 * std::numbers::pi * i / ring.count;
      vertices.insert(vertices.end(), {ring.radius * std::cos(angle), ring.radius * std::sin(angle), ring.z});
    }
  }
  for (std::size_t k = 1; k < all.size(); ++k) join(all[k - 1], all[k], triangles);
  return {rows_of_3(DType::float64, vertices), rows_of_3(DType::int32, triangles)};
}

}  // namespace fathom::cli
