// Marching cubes. Source: Lorensen, Cline, Marching cubes, 1987. Departs from it by how the 256 cases are made: not
// written down, but from one rule for faces, so that neighbours agree, and closed surfaces come out closed. On each
// face of a cube the surface cuts off the corners that are below the level, each by itself where two of them lie
// across; the cuts join to loops; a loop is cut into triangles by diagonals that lie on no face, since the neighbour
// might have the same one.
#include "fathom/mesh/iso_surface.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "fathom/core/dtype.h"
#include "fathom/core/error.h"

namespace fathom::mesh {

namespace {

/// Corner c of a cube lies at x = c & 1, y = c >> 1 & 1, z = c >> 2. Edge 8·k + c goes from corner c along axis k.
constexpr int kEdges = 24;

/// The edge between two corners that are neighbours.
int edge_between(int a, int b) {
  const int axis = (a ^ b) == 1 ? 0 : (a ^ b) == 2 ? 1 : 2;
  return 8 * axis + std::min(a, b);
}

bool share_a_face(int a, int b) {
  for (int k = 0; k < 3; ++k) {
    const auto side = [&](int edge) { return edge / 8 == k ? -1 : edge >> k & 1; };
    if (side(a) >= 0 && side(a) == side(b)) return true;
  }
  return false;
}

using Loop = std::vector<int>;
using Triangles = std::vector<std::array<int, 3>>;

/// Triangles between the corners from first to last of a loop, without the diagonals on faces; nothing: there are none.
std::optional<Triangles> triangulate(const Loop& loop, std::size_t first, std::size_t last) {
  if (last - first < 2) return Triangles{};
  for (std::size_t apex = first + 1; apex < last; ++apex) {
    if (apex - first > 1 && share_a_face(loop[first], loop[apex])) continue;
    if (last - apex > 1 && share_a_face(loop[apex], loop[last])) continue;
    auto all = triangulate(loop, first, apex);
    const auto others = triangulate(loop, apex, last);
    if (!all || !others) continue;
    all->insert(all->end(), others->begin(), others->end());
    all->push_back({loop[first], loop[apex], loop[last]});
    return all;
  }
  return std::nullopt;
}

/// The triangles of a cube whose corners below the level are the bits of `below`, as three edges each.
Triangles triangles_of(int below) {
  std::array<int, kEdges> next;
  next.fill(-1);
  for (int axis = 0; axis < 3; ++axis)
    for (const int side : {0, 1}) {
      // Corners in counter-clockwise order, seen from outside the cube.
      const int base = side << axis, u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3;
      const std::array<int, 4> corners = {base, base + (side == 1 ? u : v), base + u + v, base + (side == 1 ? v : u)};
      for (std::size_t k = 0; k < 4; ++k) {
        const auto is_below = [&](std::size_t i) { return (below >> corners[i % 4] & 1) != 0; };
        if (is_below(k) || !is_below(k + 1)) continue;
        std::size_t end = k + 1;  // the last of the corners below that follow one another
        while (is_below(end + 1)) ++end;
        next[static_cast<std::size_t>(edge_between(corners[k], corners[(k + 1) & 3]))] =
            edge_between(corners[end & 3], corners[(end + 1) & 3]);
      }
    }
  Triangles all;
  for (int first = 0; first < kEdges; ++first) {
    Loop loop;
    for (int edge = first; next[static_cast<std::size_t>(edge)] >= 0;) {
      loop.push_back(edge);
      edge = std::exchange(next[static_cast<std::size_t>(edge)], -1);
    }
    if (loop.empty()) continue;
    const auto own = triangulate(loop, 0, loop.size() - 1);
    if (!own) throw InternalError("a cube without triangles");
    all.insert(all.end(), own->begin(), own->end());
  }
  return all;
}

const std::array<Triangles, 256>& all_cases() {
  static const auto cases = [] {
    std::array<Triangles, 256> made;
    for (int below = 0; below < 256; ++below) made[static_cast<std::size_t>(below)] = triangles_of(below);
    return made;
  }();
  return cases;
}

Array to_array(const auto& values, DType dtype) {
  Array array(dtype, {static_cast<std::int64_t>(values.size() / 3), 3});
  if (!values.empty()) std::memcpy(array.data(), values.data(), array.bytes());
  return array;
}

/// Layer after layer along z.
template <class T>
class Cubes {
 public:
  Cubes(const Lattice& lattice, const AnyConstView& field, double level)
      : lattice_(lattice), field_(field), level_(level), layer_(lattice.shape[0] * lattice.shape[1]) {
    for (auto& numbers : numbers_) numbers.resize(static_cast<std::size_t>(layer_));
  }

  IsoSurface run() {
    const std::int64_t ny = lattice_.shape[1], nz = lattice_.shape[2];
    number_within(0);
    for (std::int64_t z = 0; z + 1 < nz; ++z) {
      number_upwards(z);
      number_within(z + 1);
      for (std::int64_t y = 0; y + 1 < ny; ++y) add_row(y, z);
    }
    return {to_array(vertices_, dtype_of<T>()), to_array(triangles_, DType::int32), closed_};
  }

 private:
  const T* row(std::int64_t y, std::int64_t z) const {
    return reinterpret_cast<const T*>(field_.data()) + z * field_.strides()[0] + y * field_.strides()[1];
  }
  bool is_below(T value) const { return static_cast<double>(value) < level_; }

  /// Numbers of the vertices on the edges along an axis that begin in a layer; those upwards are needed for one alone.
  std::int32_t& number(int axis, std::int64_t x, std::int64_t y, std::int64_t z) {
    const std::size_t which = axis == 2 ? 4 : static_cast<std::size_t>(2 * axis + z % 2);
    return numbers_[which][static_cast<std::size_t>(y * lattice_.shape[0] + x)];
  }

  /// Puts a vertex on the edge along an axis that begins at a point, if the level lies between its ends a and b.
  void put(int axis, std::int64_t x, std::int64_t y, std::int64_t z, T a, T b) {
    if (is_below(a) == is_below(b)) return;
    if (vertices_.size() / 3 >= kMost) throw too_many();
    number(axis, x, y, z) = static_cast<std::int32_t>(vertices_.size() / 3);
    constexpr double kNearest = 1e-3;  // to an end, of a step: where the level is just there, triangles keep an area
    double part = (level_ - static_cast<double>(a)) / (static_cast<double>(b) - static_cast<double>(a));
    part = part > kNearest ? std::min(part, 1 - kNearest) : kNearest;
    const std::array<std::int64_t, 3> from = {x, y, z};
    for (std::size_t k = 0; k < 3; ++k) {
      const bool is_along = k == static_cast<std::size_t>(axis);
      const double place = static_cast<double>(from[k]) + (is_along ? part : 0);
      vertices_.push_back(static_cast<T>(lattice_.origin[k] + place * lattice_.spacing[k]));
      closed_ = closed_ && (is_along || (from[k] > 0 && from[k] + 1 < lattice_.shape[k]));
    }
  }

  void number_within(std::int64_t z) {
    const std::int64_t nx = lattice_.shape[0], ny = lattice_.shape[1];
    for (std::int64_t y = 0; y < ny; ++y) {
      const T *const here = row(y, z), *const next = y + 1 < ny ? row(y + 1, z) : here;
      for (std::int64_t x = 0; x < nx; ++x) {
        if (x + 1 < nx) put(0, x, y, z, here[x], here[x + 1]);
        put(1, x, y, z, here[x], next[x]);
      }
    }
  }

  void number_upwards(std::int64_t z) {
    for (std::int64_t y = 0; y < lattice_.shape[1]; ++y) {
      const T *const here = row(y, z), *const above = row(y, z + 1);
      for (std::int64_t x = 0; x < lattice_.shape[0]; ++x) put(2, x, y, z, here[x], above[x]);
    }
  }

  /// The cubes between two lines along x and those above them.
  void add_row(std::int64_t y, std::int64_t z) {
    const T* const rows[] = {row(y, z), row(y + 1, z), row(y, z + 1), row(y + 1, z + 1)};
    std::size_t left = 0;
    for (std::int64_t x = 0; x < lattice_.shape[0]; ++x) {
      std::size_t right = 0;  // corners of the cube before x
      for (std::size_t k = 0; k < 4; ++k) right |= std::size_t{is_below(rows[k][x])} << (2 * k);
      const std::size_t below = left | right << 1;
      left = right;
      if (x > 0 && below != 0 && below != 255) add_cube(cases_[below], x - 1, y, z);
    }
  }

  void add_cube(const Triangles& triangles, std::int64_t x, std::int64_t y, std::int64_t z) {
    for (const auto& triangle : triangles) {
      if (triangles_.size() / 3 >= kMost) throw too_many();
      for (const int edge : triangle)
        triangles_.push_back(number(edge / 8, x + (edge & 1), y + (edge >> 1 & 1), z + (edge >> 2 & 1)));
    }
  }

  static InvalidArgument too_many() {
    return InvalidArgument("the surface has more than 2147483647 vertices or triangles; take a coarser lattice");
  }

  static constexpr std::size_t kMost = INT32_MAX;
  const std::array<Triangles, 256>& cases_ = all_cases();
  const Lattice& lattice_;
  const AnyConstView& field_;
  const double level_;
  const std::int64_t layer_;
  std::array<std::vector<std::int32_t>, 5> numbers_;  // along x of even and odd layers, along y, upwards
  std::vector<T> vertices_;
  std::vector<std::int32_t> triangles_;
  bool closed_ = true;
};

}  // namespace

IsoSurface level_set(const Lattice& lattice, const AnyConstView& field, double level) {
  if (!field.present() || !(field.shape() == lattice.array_shape()) ||
      !(field.dtype() == DType::float32 || field.dtype() == DType::float64))
    throw InvalidArgument("a level set is of a field of float32 or float64 with the lattice's shape, " +
                          to_string(lattice.array_shape()));
  if (!std::isfinite(level)) throw InvalidArgument("the level of a level set is a finite number");
  if (element_count(field.shape()) == 0) return {Array(field.dtype(), {0, 3}), Array(DType::int32, {0, 3}), true};
  return field.dtype() == DType::float32 ? Cubes<float>(lattice, field, level).run()
                                         : Cubes<double>(lattice, field, level).run();
}

}  // namespace fathom::mesh
