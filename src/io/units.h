// Units of length and time, as files name them.
#pragma once

#include <string>
#include <string_view>

namespace fathom::io {

/// The name that Fathom uses: "micron", "um" and "\\u00B5m" are "µm"; what is no unit ("pixel", "") is empty; unknown
/// ones stay as they are.
std::string unit_named(std::string_view text);

/// Metres, or seconds, of a unit; 0: not known.
double size_of_unit(std::string_view unit);

struct Meaning;

/// Brings the axes of space to one unit, that of the last one that states a size, where others do not 1. @return what could not be: a warning, or empty
std::string unify_units(Meaning& meaning);

}  // namespace fathom::io
