// "Did you mean": the name that was probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom::cli {

/// "did you mean NAME?" with the name that differs least, if that is little: letters that are missing, too many, others
/// or in each other's place; or a name that begins so. Empty if there is none.
std::string suggestion(std::string_view given, const std::vector<std::string>& names);

}  // namespace fathom::cli
