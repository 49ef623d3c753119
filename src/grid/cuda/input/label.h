// As what labels of the input's type are compared.
#pragma once

#include <cstdint>
#include <type_traits>

namespace fathom::grid::cuda {

/// As what labels are told apart: floats as numbers, where NaN differs from everything; all else by its bits.
template <class T>
using Label = std::conditional_t<
    std::is_floating_point_v<T>, T,
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>>;

}  // namespace fathom::grid::cuda
