// Units of length and time, as files name them.
#pragma once

#include <string>
#include <string_view>

namespace fathom::io {

/// The name that Fathom uses: "micron", "um" and "\\u00B5m" are "µm"; what is no unit ("pixel", "") is empty; unknown
/// ones stay as they are.
std::string unit_named(std::string_view text);

enum class Quantity { unknown, length, time, angle };
Quantity quantity_of(std::string_view unit);

struct Meaning;

/// Brings the axes of space to one unit, that of the last one that states a size; others that state none get 1.
/// @return what could not be: a warning, or empty
std::string unify_units(Meaning& meaning);

}  // namespace fathom::io
