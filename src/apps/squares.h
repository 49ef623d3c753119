// The type of an image's squared distances.
#pragma once

#include <cstdint>

#include "apps/lattice3.h"
#include "fathom/core/dtype.h"

namespace fathom::apps {

/// The type that holds all squared distances exactly, or rounded where spacings differ.
inline DType squares_of(const Lattice3& lattice) {
  if (!lattice.is_isotropic()) return DType::float64;
  return lattice.squared_diagonal() < 0x1p32 - 1 ? DType::uint32 : DType::uint64;
}

/// Calls visitor(TypeTag<T>{}) with one of squares_of().
template <class Visitor>
void visit_squares(DType dtype, Visitor&& visitor) {
  if (dtype == DType::uint32) visitor(TypeTag<std::uint32_t>{});
  else if (dtype == DType::uint64) visitor(TypeTag<std::uint64_t>{});
  else visitor(TypeTag<double>{});
}

}  // namespace fathom::apps
