// The words of documents for values of pixels that JSON has no numbers for.
#pragma once

#include <array>
#include <limits>
#include <string_view>
#include <utility>

namespace fathom::stream {

inline constexpr std::array<std::pair<std::string_view, double>, 3> kNotFinite{
    {{"inf", std::numeric_limits<double>::infinity()},
     {"-inf", -std::numeric_limits<double>::infinity()},
     {"nan", std::numeric_limits<double>::quiet_NaN()}}};

}  // namespace fathom::stream
