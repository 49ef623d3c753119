// --algorithm of `distance`: the algorithms as they were published, beside the library's own.
#pragma once

#include <string>
#include <string_view>

#include "fathom/published/distance.h"
#include "json.h"

namespace fathom::cli {

/// NAME, or NAME:KEY=VALUE,…; an approximate one measures its error.
/// @throws InvalidArgument there is none of that name, or it has no such parameter
published::DistanceOptions parse_algorithm(std::string_view text);

std::string_view name_of(published::Algorithm algorithm);

/// What `--algorithm list` prints: one line for each.
std::string algorithm_list();

/// Phases, and how far the result is from the exact one.
Json algorithm_json(const published::DistanceOptions& options, const published::DistanceReport& report);

/// One line: "jfa, cpu: approximate: 12 of 1000 elements (1.2 %) …".
std::string algorithm_text(const published::DistanceOptions& options, const published::DistanceReport& report);

}  // namespace fathom::cli
