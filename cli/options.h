// The option values of the command line, from text. Every parser throws InvalidArgument with the option's name, what
// was given and what would work.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fathom/apps/medial_axis.h"
#include "fathom/apps/morphology.h"
#include "fathom/grid/distance.h"
#include "fathom/io/image.h"
#include "fathom/io/points.h"
#include "fathom/mesh/triangle_set.h"

namespace fathom::cli {

/// The whole text as a number of type T, or nothing.
template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "4GiB", "512MB", "1.5G", "1048576": k, M, G, T are powers of 1000 with "B", of 1024 with "iB" or alone.
std::size_t parse_memory(std::string_view text);

/// "10MB/s": bytes a second.
double parse_rate(std::string_view option, std::string_view text);

/// "zero", "nonzero", "labels", or one of ">=V", ">V", "<=V", "<V", "==V", "!=V"; blanks may stand around sign and V.
grid::Sites parse_sites(std::string_view text);

/// The rule of elements that hold no data, from their value: "255", "nan".
grid::Sites parse_no_data(std::string_view text);

/// "1,1,2.5": finite and positive.
std::vector<double> parse_spacing(std::string_view text);

/// A distance ≥ 0, or "inf".
double parse_max_distance(std::string_view text);
/// A finite number; integers of 64 bits whole.
grid::Sites::Value parse_threshold(std::string_view text);

/// A number ≥ 0, or "inf".
double parse_at_least_zero(std::string_view option, std::string_view text);

/// "0,0,1,20": finite numbers.
std::vector<double> parse_numbers(std::string_view option, std::string_view text);

/// A whole number in [least, most].
std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t least, std::int64_t most);

/// A whole number of 64 bits.
std::uint64_t parse_seed(std::string_view text);

/// "640x480": width, then height. @return height, width
Shape parse_size(std::string_view text);

/// A difference ≥ 0.
double parse_tolerance(std::string_view text);

/// "open" or "open,periodic".
std::vector<grid::Border> parse_borders(std::string_view text);

/// "0:100,20:" for a shape: one half-open range per axis, open ends allowed.
std::vector<grid::Range> parse_region(std::string_view text, const Shape& shape);

/// A count of threads; 0: as many as there are processors.
int parse_threads(std::string_view text);

/// A path as the file system sees it, whether the file exists or not; "-" for all names of standard output.
std::string canonical_path(const std::string& path);

/// @param outputs  option and path; empty: not given
/// @throws InvalidArgument two of them name one file, or one is standard output, by whatever name, and so is --json's
void check_outputs(const std::vector<std::pair<std::string, std::string>>& outputs, bool json);

apps::MorphologyOperation parse_morphology(std::string_view text);
apps::MorphologyBorder parse_morphology_border(std::string_view text);
grid::Metric parse_metric(std::string_view text);
grid::Surface parse_surface(std::string_view text);
Backend parse_backend(std::string_view text);
io::Format parse_format(std::string_view text);
/// Empty: automatic.
io::TableFormat parse_table_format(std::string_view text);
apps::Pruning parse_pruning(std::string_view text);
apps::Ties parse_ties(std::string_view text);
mesh::Sign parse_sign(std::string_view text);
mesh::WindingRule parse_winding_rule(std::string_view text);
/// float32 or float64.
DType parse_distance_dtype(std::string_view text);

std::string_view name_of(grid::Metric metric);
std::string_view name_of(grid::Border border);
std::string_view name_of(mesh::Sign sign);
std::string_view name_of(mesh::WindingRule rule);

/// "zero", ">=128": as the command line gives it.
std::string to_text(const grid::Sites& sites);

}  // namespace fathom::cli
