// Which expressions are arithmetic that a device can do.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "stream/arithmetic.hd.h"

namespace fathom::stream {

/// Nothing where there is more to an expression, or where its parser would round otherwise: it joins constants.
/// @param variables  how many there are, by the names a, b, c, …
/// @param value  of the expression, as the parser computes it: compared with at some hundred points
std::optional<Arithmetic> arithmetic_of(std::string_view expression, int variables,
                                        const std::function<double(std::span<const double>)>& value);

}  // namespace fathom::stream
