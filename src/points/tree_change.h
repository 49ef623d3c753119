// What edits did to a tree.
#pragma once

#include <cstdint>
#include <vector>

namespace fathom::points {

struct TreeChange {
  bool rebuilt = false;               ///< it has other places than before
  std::vector<std::uint32_t> leaves;  ///< that changed, ascending
};

}  // namespace fathom::points
