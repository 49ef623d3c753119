#include "options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>
#include <variant>

#include "fathom/io/stream.h"

namespace fathom::cli {

namespace {

/// The names an option knows, in the order that help and errors show them.
template <class T, std::size_t N>
using Names = std::array<std::pair<std::string_view, T>, N>;

using Rule = grid::Sites::Rule;
constexpr Names<Rule, 3> kRules{{{"zero", Rule::zero}, {"nonzero", Rule::nonzero}, {"labels", Rule::labels}}};
/// The longer signs first: what begins with one also begins with the shorter.
constexpr Names<Rule, 6> kComparisons{{{">=", Rule::greater_equal},
                                       {"<=", Rule::less_equal},
                                       {"==", Rule::equal},
                                       {"!=", Rule::not_equal},
                                       {">", Rule::greater},
                                       {"<", Rule::less}}};
constexpr Names<grid::Metric, 3> kMetrics{{{"euclidean", grid::Metric::euclidean},
                                           {"taxicab", grid::Metric::taxicab},
                                           {"chessboard", grid::Metric::chessboard}}};
constexpr Names<grid::Border, 3> kBorders{
    {{"open", grid::Border::open}, {"sites", grid::Border::sites}, {"periodic", grid::Border::periodic}}};
constexpr Names<grid::Surface, 2> kSurfaces{{{"faces", grid::Surface::faces}, {"centers", grid::Surface::centers}}};
constexpr Names<Backend, 3> kBackends{{{"auto", Backend::automatic}, {"cpu", Backend::cpu}, {"cuda", Backend::cuda}}};
constexpr Names<mesh::Sign, 5> kSigns{{{"auto", mesh::Sign::automatic},
                                       {"none", mesh::Sign::none},
                                       {"pseudonormal", mesh::Sign::pseudonormal},
                                       {"winding", mesh::Sign::winding},
                                       {"fast-winding", mesh::Sign::fast_winding}}};
constexpr Names<mesh::WindingRule, 3> kWindingRules{{{"nonzero", mesh::WindingRule::nonzero},
                                                     {"even-odd", mesh::WindingRule::even_odd},
                                                     {"positive", mesh::WindingRule::positive}}};
constexpr Names<apps::MorphologyOperation, 9> kMorphology{
    {{"erosion", apps::MorphologyOperation::erosion},
     {"dilation", apps::MorphologyOperation::dilation},
     {"opening", apps::MorphologyOperation::opening},
     {"closing", apps::MorphologyOperation::closing},
     {"gradient", apps::MorphologyOperation::gradient},
     {"white-top-hat", apps::MorphologyOperation::white_top_hat},
     {"black-top-hat", apps::MorphologyOperation::black_top_hat},
     {"remove-thin", apps::MorphologyOperation::remove_thin},
     {"fill-thin", apps::MorphologyOperation::fill_thin}}};
constexpr Names<apps::MorphologyBorder, 3> kMorphologyBorders{{{"ignore", apps::MorphologyBorder::ignore},
                                                              {"pad", apps::MorphologyBorder::pad},
                                                              {"background", apps::MorphologyBorder::background}}};
constexpr Names<io::TableFormat, 3> kTableFormats{
    {{"npy", io::TableFormat::npy}, {"csv", io::TableFormat::csv}, {"ply", io::TableFormat::ply}}};

constexpr Names<apps::Pruning, 3> kPrunings{{{"constant", apps::Pruning::constant},
                                             {"linear", apps::Pruning::linear},
                                             {"square-root", apps::Pruning::square_root}}};
constexpr Names<apps::Ties, 2> kTies{{{"both", apps::Ties::both}, {"thin", apps::Ties::thin}}};

template <class T, std::size_t N>
T value_of(std::string_view option, const Names<T, N>& names, std::string_view text) {
  std::string known;
  for (std::size_t k = 0; k < N; ++k) {
    if (names[k].first == text) return names[k].second;
    known += k == 0 ? "" : k + 1 == N ? " or " : ", ";
    known += names[k].first;
  }
  throw InvalidArgument(fmt::format("{} takes {}, not '{}'", option, known, text));
}

template <class T, std::size_t N>
std::string_view name_in(const Names<T, N>& names, T value) {
  for (const auto& [name, known] : names)
    if (known == value) return name;
  throw InternalError("an option has a value without a name");
}

/// Without the blanks at both ends.
std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

/// The digits of a decimal number whose value is an integer: "-12" of "-12.0" and "-1.2e1"; empty: it is none.
std::string whole_number(std::string_view text) {
  const std::string sign(text.substr(0, text.starts_with('-') ? 1 : 0));
  const std::size_t letter = std::min(text.find_first_of("eE"), text.size());
  std::string_view power = text.substr(std::min(letter + 1, text.size()));
  if (power.starts_with('+')) power.remove_prefix(1);
  const auto exponent = letter == text.size() ? 0 : number<int>(power);
  constexpr int kMostExponent = 64;  // of what may be an integer of 64 bits
  if (!exponent || std::abs(*exponent) > kMostExponent) return {};
  std::string digits(text.substr(sign.size(), letter - sign.size()));
  const std::size_t point = std::min(digits.find('.'), digits.size());
  if (point < digits.size()) digits.erase(point, 1);
  const auto length = static_cast<std::int64_t>(point) + *exponent;
  if (length < 1 || digits.find_first_not_of("0123456789") != digits.npos) return {};
  if (digits.find_last_not_of('0') + 1 > static_cast<std::size_t>(length)) return {};  // npos + 1 is 0
  digits.resize(static_cast<std::size_t>(length), '0');
  return sign + digits;
}

/// An integer of 64 bits as it is, however it is written, else a double.
std::optional<grid::Sites::Value> compared_value(std::string_view text) {
  const std::string whole = whole_number(text);
  if (const auto integer = number<std::int64_t>(whole)) return *integer;
  if (const auto natural = number<std::uint64_t>(whole)) return *natural;
  const auto real = number<double>(text);
  if (!real) return std::nullopt;
  // A little below all of int64 double rounds to int64's least; the next one compares rightly with all integers.
  return !whole.empty() && *real == -0x1p63 ? std::nextafter(*real, -HUGE_VAL) : *real;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

/// Factor of a unit such as "GiB"; nothing if there is no such unit.
std::optional<double> unit_factor(std::string_view unit) {
  if (unit.empty() || unit == "B") return 1.0;
  const std::size_t power = std::string_view("kMGT").find(unit.front() == 'K' ? 'k' : unit.front());
  if (power == std::string_view::npos) return std::nullopt;
  const std::string_view rest = unit.substr(1);
  if (rest != "" && rest != "B" && rest != "iB") return std::nullopt;
  return std::pow(rest == "B" ? 1000.0 : 1024.0, static_cast<double>(power + 1));
}

/// The bytes of "512MB"; nothing if there are none, or too many.
std::optional<std::size_t> byte_count(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto value = number<double>(text.substr(0, digits));
  const auto factor = unit_factor(text.substr(digits));
  if (!value || !factor || !(*value > 0) || *value * *factor >= 0x1p62) return std::nullopt;
  return static_cast<std::size_t>(*value * *factor);
}

/// One end of `range`, which is the part of --region for an axis; `otherwise` where it is left out.
std::int64_t bound(std::string_view text, std::int64_t otherwise, std::string_view range, int axis,
                   std::int64_t extent) {
  if (text.empty()) return otherwise;
  const auto value = number<std::int64_t>(text);
  if (!value || *value < 0 || *value > extent)
    throw InvalidArgument(fmt::format("--region: '{}' does not lie in axis {}, which takes begin:end from 0 to {}",
                                      range, axis, extent));
  return *value;
}

}  // namespace

std::string canonical_path(const std::string& path) {
  if (io::writes_to(path, STDOUT_FILENO)) return "-";
  std::error_code error;
  const auto result = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  return error ? path : result.string();
}

std::size_t parse_memory(std::string_view text) {
  const auto bytes = byte_count(text);
  if (!bytes)
    throw InvalidArgument(fmt::format("--memory takes a size such as 4GiB, 512MB or 1048576, not '{}'", text));
  return *bytes;
}

double parse_rate(std::string_view option, std::string_view text) {
  const auto bytes = byte_count(text.substr(0, text.size() - (text.ends_with("/s") ? 2 : 0)));
  if (!bytes) throw InvalidArgument(fmt::format("{} takes bytes a second such as 10MB/s, not '{}'", option, text));
  return static_cast<double>(*bytes);
}

grid::Sites parse_sites(std::string_view text) {
  const std::string_view rule = trimmed(text);
  for (const auto& [name, known] : kRules)
    if (rule == name) return {known, 0};
  for (const auto& [sign, known] : kComparisons) {
    if (!rule.starts_with(sign)) continue;
    const auto value = compared_value(trimmed(rule.substr(sign.size())));
    if (value && (!value->is_nan() || sign == "==" || sign == "!=")) return {known, *value};
    break;
  }
  throw InvalidArgument(
      fmt::format("--sites takes zero, nonzero, labels, or '>=V', '>V', '<=V', '<V', '==V' or '!=V' with a number V "
                  "(or '==nan' or '!=nan'), not '{}'",
                  text));
}

grid::Sites parse_no_data(std::string_view text) {
  const auto value = compared_value(trimmed(text));
  if (!value) throw InvalidArgument(fmt::format("a no-data value is a number, nan or none, not '{}'", text));
  return {Rule::equal, *value};
}

std::vector<double> parse_spacing(std::string_view text) {
  std::vector<double> spacing;
  for (std::string_view part : split(text, ',')) {
    const auto value = number<double>(part);
    if (!value || !std::isfinite(*value) || !(*value > 0))
      throw InvalidArgument(
          fmt::format("--spacing takes finite numbers above 0, one or one per axis, such as 1,1,2.5; not '{}'", text));
    spacing.push_back(*value);
  }
  return spacing;
}

double parse_at_least_zero(std::string_view option, std::string_view text) {
  const auto value = number<double>(text);
  if (!value || !(*value >= 0))
    throw InvalidArgument(fmt::format("{} takes a number that is at least 0, not '{}'", option, text));
  return *value;
}

std::vector<double> parse_numbers(std::string_view option, std::string_view text) {
  std::vector<double> numbers;
  for (std::string_view part : split(text, ',')) {
    const auto value = number<double>(part);
    if (!value || !std::isfinite(*value))
      throw InvalidArgument(fmt::format("{} takes numbers separated by commas, not '{}'", option, text));
    numbers.push_back(*value);
  }
  return numbers;
}

std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t least, std::int64_t most) {
  const auto value = number<std::int64_t>(text);
  if (!value || *value < least || *value > most)
    throw InvalidArgument(fmt::format("{} takes a whole number from {} to {}, not '{}'", option, least, most, text));
  return *value;
}

std::uint64_t parse_seed(std::string_view text) {
  const auto seed = number<std::uint64_t>(text);
  if (!seed) throw InvalidArgument(fmt::format("--seed takes a whole number from 0 to 2^64 - 1, not '{}'", text));
  return *seed;
}

Shape parse_size(std::string_view text) {
  constexpr std::int64_t kMost = 32768;
  const std::size_t cross = text.find('x');
  if (cross == std::string_view::npos)
    throw InvalidArgument(fmt::format("--size takes WIDTHxHEIGHT, such as 640x480, not '{}'", text));
  const std::int64_t width = parse_count("--size", text.substr(0, cross), 1, kMost);
  return {parse_count("--size", text.substr(cross + 1), 1, kMost), width};
}

grid::Sites::Value parse_threshold(std::string_view text) {
  const auto value = compared_value(text);
  if (!value || !std::isfinite(value->real()))
    throw InvalidArgument(fmt::format("--threshold takes a number, not '{}'", text));
  return *value;
}

double parse_max_distance(std::string_view text) { return parse_at_least_zero("--max-distance", text); }

double parse_tolerance(std::string_view text) { return parse_at_least_zero("--tolerance", text); }

int parse_threads(std::string_view text) {
  const auto value = number<int>(text);
  if (!value || *value < 0)
    throw InvalidArgument(fmt::format("--threads takes 1 or more, or 0 for all processors, not '{}'", text));
  return *value;
}

std::vector<grid::Border> parse_borders(std::string_view text) {
  std::vector<grid::Border> borders;
  for (std::string_view part : split(text, ',')) borders.push_back(value_of("--border", kBorders, part));
  return borders;
}

std::vector<grid::Range> parse_region(std::string_view text, const Shape& shape) {
  const auto parts = split(text, ',');
  if (parts.size() != static_cast<std::size_t>(shape.rank()))
    throw InvalidArgument(fmt::format("--region takes one begin:end per axis, {} for the shape {}; '{}' has {}",
                                      shape.rank(), to_string(shape), text, parts.size()));
  std::vector<grid::Range> region;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::string_view part = parts[static_cast<std::size_t>(axis)];
    const auto ends = split(part, ':');
    if (ends.size() != 2)
      throw InvalidArgument(fmt::format("--region takes begin:end for each axis, such as 0:100,20:; not '{}'", part));
    const grid::Range range{bound(ends[0], 0, part, axis, shape[axis]),
                            bound(ends[1], shape[axis], part, axis, shape[axis])};
    if (range.begin > range.end)
      throw InvalidArgument(fmt::format("--region: '{}' ends before it begins", part));
    region.push_back(range);
  }
  return region;
}

apps::MorphologyOperation parse_morphology(std::string_view text) { return value_of("OP", kMorphology, text); }
apps::MorphologyBorder parse_morphology_border(std::string_view text) {
  return value_of("--border", kMorphologyBorders, text);
}
grid::Metric parse_metric(std::string_view text) { return value_of("--metric", kMetrics, text); }
grid::Surface parse_surface(std::string_view text) { return value_of("--surface", kSurfaces, text); }
apps::Pruning parse_pruning(std::string_view text) { return value_of("--pruning", kPrunings, text); }
apps::Ties parse_ties(std::string_view text) { return value_of("--ties", kTies, text); }
mesh::Sign parse_sign(std::string_view text) { return value_of("--sign", kSigns, text); }
mesh::WindingRule parse_winding_rule(std::string_view text) { return value_of("--rule", kWindingRules, text); }
io::TableFormat parse_table_format(std::string_view text) {
  return text.empty() ? io::TableFormat::automatic : value_of("--format", kTableFormats, text);
}
DType parse_distance_dtype(std::string_view text) {
  if (text == "float32") return DType::float32;
  if (text == "float64") return DType::float64;
  throw InvalidArgument(fmt::format("--dtype of distances is float32 or float64, not '{}'", text));
}
Backend parse_backend(std::string_view text) { return value_of("--backend", kBackends, text); }

io::Format parse_format(std::string_view text) {
  std::string known;
  const std::vector<io::Format> formats = io::formats(true);
  for (io::Format format : formats) {
    if (io::name_of(format) == text) return format;
    known += format == formats.front() ? "" : format == formats.back() ? " or " : ", ";
    known += io::name_of(format);
  }
  throw InvalidArgument(fmt::format("--format takes {}, not '{}'", known, text));
}

std::string_view name_of(grid::Metric metric) { return name_in(kMetrics, metric); }
std::string_view name_of(grid::Border border) { return name_in(kBorders, border); }
std::string_view name_of(mesh::Sign sign) { return name_in(kSigns, sign); }
std::string_view name_of(mesh::WindingRule rule) { return name_in(kWindingRules, rule); }

void check_outputs(const std::vector<std::pair<std::string, std::string>>& outputs, bool json) {
  for (const auto& [option, path] : outputs)
    if (json && io::writes_to(path, STDOUT_FILENO))
      throw InvalidArgument(
          fmt::format("--json and {} {} both want standard output; write the result to a file", option, path));
  for (std::size_t a = 0; a < outputs.size(); ++a)
    for (std::size_t b = a + 1; b < outputs.size(); ++b)
      if (!outputs[a].second.empty() && !outputs[b].second.empty() &&
          canonical_path(outputs[a].second) == canonical_path(outputs[b].second))
        throw InvalidArgument(fmt::format("{} and {} name the same file '{}'; give each its own", outputs[a].first,
                                          outputs[b].first, outputs[b].second));
}

std::string to_text(const grid::Sites& sites) {
  for (const auto& [name, rule] : kRules)
    if (rule == sites.rule) return std::string(name);
  const auto value = std::visit([](auto number) { return fmt::format("{}", number); }, sites.value.number);
  return fmt::format("{}{}", name_in(kComparisons, sites.rule), value);
}

}  // namespace fathom::cli
