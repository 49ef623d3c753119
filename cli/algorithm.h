// --algorithm of `distance`: the algorithms as they were published, beside the library's own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fathom/published/distance.h"
#include "json.h"

namespace fathom::cli {

/// The part before the colon, and what stands behind it, split at commas.
struct NamedAlgorithm {
  std::string_view name;
  std::vector<std::string_view> parameters;
};
NamedAlgorithm split_algorithm(std::string_view text);

/// KEY=VALUE.
struct Parameter {
  std::string_view key, value;
};
/// @param known  names with spaces between; empty: there are none
/// @throws InvalidArgument the algorithm has no such parameter
Parameter parse_parameter(std::string_view algorithm, std::string_view known, std::string_view parameter);

Json phases_json(const std::vector<published::Phase>& phases);

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
