// --algorithm: the algorithms as they were published, beside the library's own. What all verbs say of it, and those of
// `distance`.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fathom/published/distance.h"
#include "json.h"

namespace CLI {
class App;
}

namespace fathom::cli {

/// An algorithm of a verb: its name, those of its parameters with spaces between, and what it is.
struct AlgorithmRow {
  std::string_view name, parameters, what;
};

/// Declares the option; `--algorithm list` prints a line for each row.
void add_algorithm_option(CLI::App* verb, std::string& algorithm, const std::string& what,
                          std::span<const AlgorithmRow> rows);

/// The number of the row of that name. @throws InvalidArgument there is none
std::size_t find_algorithm(std::span<const AlgorithmRow> rows, std::string_view name);

/// @param options  and whether each is given. @throws InvalidArgument one is
void check_has_none(std::string_view algorithm, std::initializer_list<std::pair<std::string_view, bool>> options);

/// The part before the colon, and what stands behind it, split at commas.
struct NamedAlgorithm {
  std::string_view name;
  std::vector<std::string_view> parameters;
};
NamedAlgorithm split_algorithm(std::string_view text);

/// KEY=VALUE.
struct Parameter {
  std::string_view key, value;

  /// @throws InvalidArgument the value is no whole number in [least, most]
  int whole(int least, int most) const;
};
/// @throws InvalidArgument the algorithm has no such parameter
Parameter parse_parameter(const AlgorithmRow& row, std::string_view parameter);

Json phases_json(const std::vector<published::Phase>& phases);
/// "jfa on cpu: 12.3 ms, ". @param device  empty: the backend says where
std::string phases_text(std::string_view algorithm, Backend backend, const std::string& device,
                        const std::vector<published::Phase>& phases);

std::span<const AlgorithmRow> distance_algorithms();

/// NAME, or NAME:KEY=VALUE,…; an approximate one measures its error.
/// @throws InvalidArgument there is none of that name, or it has no such parameter
published::DistanceOptions parse_algorithm(std::string_view text);

std::string_view name_of(published::Algorithm algorithm);

/// Phases, and how far the result is from the exact one.
Json algorithm_json(const published::DistanceOptions& options, const published::DistanceReport& report);

/// One line: "jfa, cpu: approximate: 12 of 1000 elements (1.2 %) …".
std::string algorithm_text(const published::DistanceOptions& options, const published::DistanceReport& report);

}  // namespace fathom::cli
