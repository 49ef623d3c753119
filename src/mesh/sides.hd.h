// On which side of the surface a point is, by each sign. Shared by host and device: same answers everywhere.
#pragma once

#include "mesh/winding.hd.h"

namespace fathom::mesh {

/// Calls visitor(SignTag<sign>{}) with the sign of a set.
template <Sign kSign>
struct SignTag {};
template <class Visitor>
decltype(auto) visit_sign(Sign sign, const Visitor& visitor) {
  switch (sign) {
    case Sign::pseudonormal: return visitor(SignTag<Sign::pseudonormal>{});
    case Sign::winding: return visitor(SignTag<Sign::winding>{});
    case Sign::fast_winding: return visitor(SignTag<Sign::fast_winding>{});
    default: return visitor(SignTag<Sign::none>{});
  }
}

/// Whether a point is inside, by a sign; `winding` by itself, where no line of points is at hand.
/// @param place  of the point's nearest triangle: only pseudonormals need it
template <Sign kSign>
FATHOM_HD bool is_inside(SignTag<kSign>, const TreeView& tree, Vec3 point, std::int64_t place) {
  if constexpr (kSign == Sign::pseudonormal) return is_behind(tree.mesh, place, point);
  else if constexpr (kSign == Sign::winding) return is_inside(winding_at(tree, point), tree.rule);
  else if constexpr (kSign == Sign::fast_winding) return is_half_inside(tree.clusters, point);
  else return false;
}
inline bool is_inside(const TreeView& tree, Vec3 point, std::int64_t place) {
  return visit_sign(tree.sign, [&](auto sign) { return is_inside(sign, tree, point, place); });
}

}  // namespace fathom::mesh
