// Generalised winding numbers by clusters: each node of the tree over the triangles has the first three terms of a series
// for points far from it; near ones are looked into, down to triangles.
//
// Source: Barill, Dickson, Schmidt, Levin & Jacobson, Fast winding numbers for soups and clouds, 2018. Departs: a tree of
// eight along a Hilbert curve; harmonic parts of the terms alone; the terms of upper nodes from those below them.
// Cost: O(n) to build, 48 bytes a triangle; O(log n) a point.
#include "mesh/cpu/fast_winding.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fathom::mesh {

namespace {

/// Clusters are far from points that are at least so many of their radii away.
double kReach = getenv("REACH") ? atof(getenv("REACH")) : 2;

static_assert(Clusters::kSiblings == kFan);

// Homogeneous polynomials, by their coefficients in the order that Clusters has.
using Linear = std::array<double, 3>;
using Quadratic = std::array<double, 6>;
using Cubic = std::array<double, 10>;

Linear linear(Vec3 p) { return {p.x, p.y, p.z}; }

Quadratic operator*(const Linear& p, const Linear& q) {
  return {p[0] * q[0], p[1] * q[1], p[2] * q[2], p[0] * q[1] + p[1] * q[0], p[0] * q[2] + p[2] * q[0], p[1] * q[2] + p[2] * q[1]};
}

Cubic operator*(const Quadratic& p, const Linear& q) {
  const auto& [xx, yy, zz, xy, xz, yz] = p;
  const auto& [x, y, z] = q;
  return {xx * x, yy * y, zz * z, xx * y + xy * x, xx * z + xz * x, yy * x + xy * y, yy * z + yz * y, zz * x + xz * z,
          zz * y + yz * z, (xy * z + xz * y) + yz * x};
}

template <std::size_t kSize>
void add(std::array<double, kSize>& sum, const std::array<double, kSize>& p, double factor = 1) {
  for (std::size_t i = 0; i < kSize; ++i) sum[i] += factor * p[i];
}

/// Terms of a cluster about its middle, and its area.
struct Moments {
  Vec3 middle;
  double area = 0;
  Linear first{};
  Quadratic second{};
  Cubic third{};
};

/// @param turn  −1: corners run the other way
Moments moments_of(const Triangle& t, double turn) {
  const Vec3 middle = t.a + (1.0 / 3) * ((t.b - t.a) + (t.c - t.a)), normal = (0.5 * turn) * cross(t.b - t.a, t.c - t.a);
  Moments moments{middle, std::sqrt(dot(normal, normal)), linear(normal), {}, {}};
  for (const Vec3 corner : {t.a, t.b, t.c}) {
    const Linear x = linear(corner - middle);
    add(moments.third, moments.first * x * x, 1.0 / 12);
  }
  return moments;
}

/// Of up to kFan parts together.
Moments merged(const Moments* parts, std::size_t count) {
  Moments sum;
  Vec3 offset;
  for (const Moments* part = parts; part < parts + count; ++part) {
    sum.area += part->area;
    offset = offset + part->area * (part->middle - parts->middle);
  }
  sum.middle = sum.area > 0 ? parts->middle + (1 / sum.area) * offset : parts->middle;
  for (const Moments* part = parts; part < parts + count; ++part) {
    const Linear x = linear(part->middle - sum.middle);
    const Quadratic shift = part->first * x;
    add(sum.first, part->first);
    add(sum.second, part->second);
    add(sum.second, shift);
    add(sum.third, part->third);
    add(sum.third, part->second * x, 2);
    add(sum.third, shift * x);
  }
  return sum;
}

/// What remains for the series: without traces, times the factors of its terms.
void put(Clusters& clusters, std::size_t i, const Moments& moments, double near) {
  Quadratic m = moments.second;
  const double third_of_trace = (m[0] + m[1] + m[2]) / 3;
  for (std::size_t k = 0; k < 3; ++k) m[k] -= third_of_trace;
  Cubic q = moments.third;
  const double x = 0.6 * q[0] + 0.2 * (q[5] + q[7]), y = 0.6 * q[1] + 0.2 * (q[3] + q[8]), z = 0.6 * q[2] + 0.2 * (q[4] + q[6]);
  add(q, Cubic{x, y, z, y, z, x, z, x, y, 0}, -1);
  const Linear middle = linear(moments.middle);
  for (std::size_t k = 0; k < 3; ++k) clusters.middle[k][i] = middle[k];
  clusters.near[i] = near;
  for (std::size_t k = 0; k < 3; ++k) clusters.first[k][i] = moments.first[k];
  for (std::size_t k = 0; k < 6; ++k) clusters.second[k][i] = -3 * m[k];
  for (std::size_t k = 0; k < 10; ++k) clusters.third[k][i] = 7.5 * q[k];
}

/// Square of kReach times the way from a cluster's middle to the farthest corner of its box.
double near_of(const Boxes& boxes, std::size_t i, Vec3 middle) {
  const Linear m = linear(middle);
  double squared = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const double way = std::max(boxes.high[k][i] - m[k], m[k] - boxes.low[k][i]);
    squared += way * way;
  }
  return kReach * kReach * squared;
}

}  // namespace

FastWinding::FastWinding(const Surface& surface, const Tree& tree, int threads) : tree_(tree) {
  const std::size_t blocks = tree.blocks.size();
  turns_.resize(blocks);
  std::vector<Moments> nodes(blocks);
  constexpr std::size_t kOfJob = 1024;
  parallel_jobs(threads, static_cast<std::int64_t>((blocks + kOfJob - 1) / kOfJob), [&](int, std::int64_t job) {
    const std::size_t begin = static_cast<std::size_t>(job) * kOfJob;
    for (std::size_t block = begin; block < std::min(blocks, begin + kOfJob); ++block) {
      std::array<Moments, kFan> parts;
      const std::size_t first = block * kFan, count = std::min<std::size_t>(kFan, static_cast<std::size_t>(tree.count) - first);
      for (std::size_t i = 0; i < count; ++i) {
        const bool forward = is_ascending(surface.corners[static_cast<std::size_t>(tree.ids[first + i])]);
        turns_[block][i] = forward ? 1 : -1;
        parts[i] = moments_of(tree.triangle(static_cast<std::int64_t>(first + i)), turns_[block][i]);
      }
      nodes[block] = merged(parts.data(), count);
    }
  });
  for (const std::vector<Boxes>& boxes : tree.levels) {
    std::vector<Clusters>& level = levels_.emplace_back(boxes.size());
    std::vector<Moments> above(boxes.size());
    for (std::size_t group = 0; group < boxes.size(); ++group) {
      const std::size_t first = group * kFan, count = std::min<std::size_t>(kFan, nodes.size() - first);
      for (std::size_t i = 0; i < kFan; ++i)
        if (i < count) put(level[group], i, nodes[first + i], near_of(boxes[group], i, nodes[first + i].middle));
        else put(level[group], i, {}, -1);
      above[group] = merged(nodes.data() + first, count);
    }
    nodes = std::move(above);
  }
}

double FastWinding::at(Vec3 point) const {
  return solid_angle_of_group(levels_.size() - 1, 0, point) * (0.25 / std::numbers::pi);
}

double FastWinding::solid_angle_of_group(std::size_t level, std::size_t group, Vec3 point) const {
  const Clusters& clusters = levels_[level][group];
  double angles[kFan];
  bool is_near[kFan];
  for (int i = 0; i < kFan; ++i) angles[i] = solid_angle(clusters, i, point, is_near[i]);
  double sum = 0;
  for (std::size_t i = 0; i < kFan; ++i) {
    const std::size_t child = group * kFan + i;
    if (!is_near[i]) sum += angles[i];
    else sum += level == 0 ? solid_angle_of_block(child, point) : solid_angle_of_group(level - 1, child, point);
  }
  return sum;
}

double FastWinding::solid_angle_of_block(std::size_t number, Vec3 point) const {
  const auto& x = tree_.blocks[number].corners;
  double halves[kFan];
  for (int i = 0; i < kFan; ++i)
    halves[i] = half_solid_angle(Vec3{x[0][i], x[1][i], x[2][i]} - point, Vec3{x[3][i], x[4][i], x[5][i]} - point,
                                 Vec3{x[6][i], x[7][i], x[8][i]} - point);
  double sum = 0;
  for (std::size_t i = 0; i < kFan; ++i) sum += turns_[number][i] * halves[i];
  return 2 * sum;
}

std::size_t FastWinding::bytes() const {
  std::size_t sum = turns_.size() * sizeof(turns_[0]);
  for (const auto& level : levels_) sum += level.size() * sizeof(Clusters);
  return sum;
}

}  // namespace fathom::mesh
