// Where two arrays differ, and by how much.
#pragma once

#include <cstdint>

#include "fathom/core/view.h"

namespace fathom::cli {

/// Holds every integer of 64 bits and every double.
using Wide = long double;

struct Difference {
  std::int64_t count = 0;    ///< elements whose difference is larger than the tolerance
  Wide largest = 0;          ///< the largest of them; infinite where only one value is infinite or NaN
  std::int64_t at = -1;      ///< linear index of the first element that has it; −1 if count = 0
  Wide a = 0;                ///< its two values
  Wide b = 0;
};

/// NaN equals NaN, and an infinity equals itself. Shapes must be equal and the arrays dense.
Difference difference(const AnyConstView& a, const AnyConstView& b, double tolerance);

}  // namespace fathom::cli
