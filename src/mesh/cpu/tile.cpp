// The triangles of a tile, from coarse to fine: those whose boxes are within the cutoff of the tile; of them, for each
// cube of 4³ points and then of 2³, those that may be nearest to one of its points. What may is told by the distance
// from the cube's middle: with the cube's radius ρ, a triangle at d counts up to min(cutoff + ρ, least + 2ρ). The
// middles of a cube's eight parts are measured as eight points are, so that all three steps are one loop.
// Source: lists of candidates refined from coarse to fine are old; Landgraf 2016 spreads features over points instead.
// Cost: for each point of the band, some three triangles of a coarse mesh, and of a fine one those within two spacings.
#include "mesh/cpu/tile.h"

#include "core/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mesh/cpu/tile.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mesh/cpu/lanes-inl.h"

#ifndef FATHOM_MESH_CPU_TILE_ONCE
#define FATHOM_MESH_CPU_TILE_ONCE
namespace fathom::mesh::cpu {

/// What the steps of lanes-inl.h need of one triangle.
struct Candidate {
  std::int32_t id;
  std::int64_t place;
  Vec3 a, b, c, ab, ac, bc, normal, in_ab, in_ac, in_bc;
  double per_normal, per_ab, per_ac, per_bc;
};

struct TileScratch {
  const Tree& tree;
  double cutoff;
  InstructionSet set;
  std::vector<std::int64_t> nodes = {};                ///< on the way through the tree
  std::vector<Candidate> candidates = {};              ///< of the tile, in ascending order of ids
  std::vector<std::int32_t> lists[3] = {};             ///< of the tile, of a cube of 4³, of one of 2³
  std::vector<std::array<double, 8>> squares[2] = {};  ///< of each of a list, to the middles of eight parts
};

}  // namespace fathom::mesh::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace fathom::mesh::cpu::HWY_NAMESPACE {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

HWY_INLINE Triangles broadcast(const Candidate& c) {
  const auto all = [](double x) { return hn::Set(kDoubles, x); };
  return {set(c.a),     set(c.b),     set(c.c),     set(c.ab),         set(c.ac),     set(c.bc),     set(c.normal),
          set(c.in_ab), set(c.in_ac), set(c.in_bc), all(c.per_normal), all(c.per_ab), all(c.per_ac), all(c.per_bc)};
}

/// Squares of the gaps between a box and those of lanes.
HWY_INLINE Lane gaps(const Bounds& box, const Lane (&low)[3], const Lane (&high)[3]) {
  Lane sum = hn::Zero(kDoubles);
  for (std::size_t k = 0; k < 3; ++k) {
    const Lane gap = hn::Max(
        hn::Max(hn::Sub(low[k], hn::Set(kDoubles, box.high[k])), hn::Sub(hn::Set(kDoubles, box.low[k]), high[k])),
        hn::Zero(kDoubles));
    sum = hn::Add(sum, hn::Mul(gap, gap));
  }
  return sum;
}

unsigned bits_of(hn::Mask<Doubles> mask) {
  std::uint8_t bits[8] = {};
  hn::StoreMaskBits(kDoubles, mask, bits);
  return bits[0];
}

/// A bit for each node of a group that is within reach.
unsigned near_nodes(const Boxes& boxes, const Bounds& box, double reach) {
  unsigned near = 0;
  for (std::size_t i = 0; i < kFan; i += hn::Lanes(kDoubles)) {
    const auto row = [&](const double* of) { return hn::LoadU(kDoubles, of + i); };
    const Lane low[3] = {row(boxes.low[0]), row(boxes.low[1]), row(boxes.low[2])};
    const Lane high[3] = {row(boxes.high[0]), row(boxes.high[1]), row(boxes.high[2])};
    near |= bits_of(hn::Le(gaps(box, low, high), hn::Set(kDoubles, reach))) << i;
  }
  return near;
}

/// A bit for each triangle of a block whose box is within reach.
unsigned near_triangles(const Block& block, const Bounds& box, double reach) {
  unsigned near = 0;
  for (std::size_t i = 0; i < kFan; i += hn::Lanes(kDoubles)) {
    Lane low[3], high[3];
    for (std::size_t k = 0; k < 3; ++k) {
      const Lane a = hn::LoadU(kDoubles, block.corners[k] + i), b = hn::LoadU(kDoubles, block.corners[k + 3] + i),
                 c = hn::LoadU(kDoubles, block.corners[k + 6] + i);
      low[k] = hn::Min(hn::Min(a, b), c);
      high[k] = hn::Max(hn::Max(a, b), c);
    }
    near |= bits_of(hn::Le(gaps(box, low, high), hn::Set(kDoubles, reach))) << i;
  }
  return near;
}

/// Visits the blocks within reach of a box until `visitor` returns false. Nodes are level · 2⁴⁰ + index.
template <class Visitor>
void visit_blocks(const Tree& tree, const Bounds& box, double reach, std::vector<std::int64_t>& nodes,
                  const Visitor& visitor) {
  constexpr int kLevelShift = 40;
  nodes.assign(1, static_cast<std::int64_t>(tree.levels.size() - 1) << kLevelShift);
  while (!nodes.empty()) {
    const std::int64_t node = nodes.back(), level = node >> kLevelShift,
                       group = node & ((std::int64_t{1} << kLevelShift) - 1);
    nodes.pop_back();
    for (unsigned near =
             near_nodes(tree.levels[static_cast<std::size_t>(level)][static_cast<std::size_t>(group)], box, reach);
         near; near &= near - 1) {
      const std::int64_t child = group * kFan + __builtin_ctz(near);
      if (level > 0) nodes.push_back((level - 1) << kLevelShift | child);
      else if (!visitor(child)) return;
    }
  }
}

class Tile {
 public:
  Tile(TileScratch& scratch, const TilePlace& place, TileFound& found)
      : scratch_(scratch), place_(place), found_(found) {}

  bool run() {
    const Bounds box{{place_.at[0][0], place_.at[1][0], place_.at[2][0]},
                     {place_.at[0][7], place_.at[1][7], place_.at[2][7]}};
    const double reach = reach_of(scratch_.cutoff * scratch_.cutoff, scratch_.tree.longest_squared);
    scratch_.candidates.clear();
    visit_blocks(scratch_.tree, box, reach, scratch_.nodes, [&](std::int64_t block) {
      for (unsigned near = near_triangles(scratch_.tree.blocks[static_cast<std::size_t>(block)], box, reach); near;
           near &= near - 1)
        add(block * kFan + __builtin_ctz(near));
      return true;
    });
    if (scratch_.candidates.empty()) return false;
    std::sort(scratch_.candidates.begin(), scratch_.candidates.end(),
              [](const Candidate& p, const Candidate& q) { return p.id < q.id; });
    std::vector<std::int32_t>& all = scratch_.lists[0];
    all.resize(scratch_.candidates.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
    divide<0>(0, 0, 0);
    return true;
  }

 private:
  void add(std::int64_t place) {
    const std::int32_t id = scratch_.tree.ids[static_cast<std::size_t>(place)];
    if (!scratch_.candidates.empty() && scratch_.candidates.back().id == id) return;  // fills up the last block
    const Triangle t = scratch_.tree.triangle(place);
    const Vec3 ab = t.b - t.a, ac = t.c - t.a, bc = t.c - t.b, normal = mesh::cross(ab, ac);
    scratch_.candidates.push_back({id, place, t.a, t.b, t.c, ab, ac, bc, normal, mesh::cross(normal, ab),
                                   mesh::cross(ac, normal), mesh::cross(normal, bc), t.per_normal, t.per_ab, t.per_ac,
                                   t.per_bc});
  }

  /// The cube of (8 >> kDepth)³ points from x, y, z on, with the list of its depth.
  template <int kDepth>
  void divide(int x, int y, int z) {
    constexpr int kHalf = kTileSide >> (kDepth + 1);
    if constexpr (kHalf == 1) {
      measure_points(x, y, z);
    } else {
      const std::vector<std::int32_t>& list = scratch_.lists[kDepth];
      double least[8];
      double radius_squared = 0;
      measure_parts<kHalf>(list, scratch_.squares[kDepth], x, y, z, least, radius_squared);
      const double radius = std::sqrt(radius_squared);
      for (int part = 0; part < 8; ++part) {
        const int px = x + (part & 1) * kHalf, py = y + (part >> 1 & 1) * kHalf, pz = z + (part >> 2) * kHalf;
        const double limit = std::min(scratch_.cutoff + radius, std::sqrt(least[part]) + 2 * radius);
        const double reach = reach_of(limit * limit, scratch_.tree.longest_squared);
        std::vector<std::int32_t>& next = scratch_.lists[kDepth + 1];
        next.clear();
        for (std::size_t i = 0; i < list.size(); ++i)
          if (scratch_.squares[kDepth][i][static_cast<std::size_t>(part)] <= reach) next.push_back(list[i]);
        if (next.empty()) leave_out<kHalf>(px, py, pz);
        else divide<kDepth + 1>(px, py, pz);
      }
    }
  }

  /// From the middles of a cube's parts, which have the size kHalf, to the triangles of a list.
  template <int kHalf>
  void measure_parts(const std::vector<std::int32_t>& list, std::vector<std::array<double, 8>>& squares, int x, int y,
                     int z, double (&least)[8], double& radius_squared) {
    double middles[3][8];
    const int first[3] = {x, y, z};
    for (std::size_t k = 0; k < 3; ++k) {
      double radius = 0;
      for (int part = 0; part < 8; ++part) {
        const int at = first[k] + (part >> k & 1) * kHalf;
        const double low = place_.at[k][at], high = place_.at[k][at + kHalf - 1];
        const double middle = low + 0.5 * (high - low);
        middles[k][part] = middle;
        radius = std::max({radius, middle - low, high - middle});
      }
      radius_squared += radius * radius;
    }
    squares.resize(list.size());
    std::fill_n(least, 8, kInfinity);
    for (std::size_t n = 0; n < list.size(); ++n) {
      const Triangles triangle = broadcast(scratch_.candidates[static_cast<std::size_t>(list[n])]);
      for (std::size_t i = 0; i < 8; i += hn::Lanes(kDoubles)) {
        const Vec3s point{hn::LoadU(kDoubles, middles[0] + i), hn::LoadU(kDoubles, middles[1] + i),
                          hn::LoadU(kDoubles, middles[2] + i)};
        const Lane square = squared(triangle, point);
        hn::StoreU(square, kDoubles, squares[n].data() + i);
        hn::StoreU(hn::Min(square, hn::LoadU(kDoubles, least + i)), kDoubles, least + i);
      }
    }
  }

  /// The 2³ points from x, y, z on. Ids ascend in the list, so that the first of equals stays.
  void measure_points(int x, int y, int z) {
    double points[3][8], squares[8], places[8] = {};
    for (int i = 0; i < 8; ++i) {
      points[0][i] = place_.at[0][x + (i & 1)];
      points[1][i] = place_.at[1][y + (i >> 1 & 1)];
      points[2][i] = place_.at[2][z + (i >> 2)];
      squares[i] = kInfinity;
    }
    for (const std::int32_t number : scratch_.lists[2]) {
      const Triangles triangle = broadcast(scratch_.candidates[static_cast<std::size_t>(number)]);
      for (std::size_t i = 0; i < 8; i += hn::Lanes(kDoubles)) {
        const Vec3s point{hn::LoadU(kDoubles, points[0] + i), hn::LoadU(kDoubles, points[1] + i),
                          hn::LoadU(kDoubles, points[2] + i)};
        const Lane square = squared(triangle, point), best = hn::LoadU(kDoubles, squares + i);
        const auto nearer = hn::Lt(square, best);
        hn::StoreU(hn::IfThenElse(nearer, square, best), kDoubles, squares + i);
        hn::StoreU(hn::IfThenElse(nearer, hn::Set(kDoubles, number), hn::LoadU(kDoubles, places + i)), kDoubles,
                   places + i);
      }
    }
    for (int i = 0; i < 8; ++i) {
      const std::size_t at = index_of(x + (i & 1), y + (i >> 1 & 1), z + (i >> 2));
      found_.squared[at] = squares[i];
      found_.place[at] = scratch_.candidates[static_cast<std::size_t>(places[i])].place;
    }
  }

  template <int kSide>
  void leave_out(int x, int y, int z) {
    for (int k = z; k < z + kSide; ++k)
      for (int j = y; j < y + kSide; ++j) std::fill_n(found_.squared + index_of(x, j, k), kSide, kInfinity);
  }

  static std::size_t index_of(int x, int y, int z) {
    return static_cast<std::size_t>(x + kTileSide * (y + kTileSide * z));
  }

  TileScratch& scratch_;
  const TilePlace& place_;
  TileFound& found_;
};

bool search_tile(TileScratch& scratch, const TilePlace& place, TileFound& found) {
  return Tile(scratch, place, found).run();
}

bool any_near(const Tree& tree, const Bounds& box, double reach, std::vector<std::int64_t>& nodes) {
  bool any = false;
  visit_blocks(tree, box, reach, nodes, [&](std::int64_t) { return any = true, false; });
  return any;
}

}  // namespace fathom::mesh::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::mesh::cpu {

// No distance is above 1e152, and places without a node are at infinity.
TileSearch::TileSearch(const Tree& tree, double cutoff, InstructionSet set)
    : scratch_(new TileScratch{tree, std::min(cutoff, 1e152), set}) {}
TileSearch::~TileSearch() = default;

bool TileSearch::search(const TilePlace& place, TileFound& found) {
  return FATHOM_COMPILED_FOR(scratch_->set, search_tile)(*scratch_, place, found);
}

bool TileSearch::is_near(const Bounds& box) const {
  const double reach = reach_of(scratch_->cutoff * scratch_->cutoff, scratch_->tree.longest_squared);
  return FATHOM_COMPILED_FOR(scratch_->set, any_near)(scratch_->tree, box, reach, scratch_->nodes);
}

}  // namespace fathom::mesh::cpu
#endif
