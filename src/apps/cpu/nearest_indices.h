// Indices of nearest sites that the caller gives.
#pragma once

#include <cstdint>
#include <string>

#include "apps/images.h"
#include "apps/lattice3.h"
#include "fathom/core/error.h"

namespace fathom::apps::cpu {

[[noreturn]] inline void refuse_index(std::int64_t index, std::int64_t element, const Lattice3& lattice) {
  throw InvalidArgument("'nearest' holds " + std::to_string(index) + " as element " + std::to_string(element) +
                        " of an image of " + std::to_string(lattice.size()) + "; give the index of one of them, or -1 "
                        "everywhere where there is no zero");
}

/// @throws InvalidArgument an index of the image is less than `least` or more than `most`; names the first
template <class Index>
void check_indices(const ImageRows<const std::byte>& nearest, const Lattice3& lattice, std::int64_t least,
                   std::int64_t most) {
  for (std::int64_t element = 0; element < lattice.size(); ++element) {
    const std::int64_t index = *nearest.element<Index>(element);
    if (index < least || index > most) refuse_index(index, element, lattice);
  }
}

}  // namespace fathom::apps::cpu
