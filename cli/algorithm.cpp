#include "algorithm.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "fathom/core/error.h"
#include "options.h"
#include "report.h"

namespace fathom::cli {

namespace {

using published::Access;
using published::Algorithm;

/// In the order of Algorithm.
constexpr AlgorithmRow kRows[] = {
    {"pba", "m1 m2 m3", "exact; Parallel Banding, Cao, Tang, Mohamed & Tan 2010; m1=16,m2=16,m3=4"},
    {"proximate", "access",
     "exact, images; proximate points, Man, Uda, Ito & Nakano 2012; access=vtv-vtv, vv-hh, hh-vv, vh-vh or hv-hv"},
    {"jfa", "more", "approximate; Jump Flooding, Rong & Tan 2006; more=0, 1 or 2 rounds"},
    {"skw", "", "approximate; sweeps of vectors, Schneider, Kraus & Westermann 2009"},
    {"brute", "", "exact; every element against every site"},
};

constexpr std::array<std::string_view, 5> kAccess = {"vv-hh", "hh-vv", "vh-vh", "hv-hv", "vtv-vtv"};

/// "pba, jfa or brute".
std::string names_of(std::span<const AlgorithmRow> rows) {
  std::string text(rows.front().name);
  for (const AlgorithmRow& row : rows.subspan(1))
    text += fmt::format("{}{}", &row == &rows.back() ? " or " : ", ", row.name);
  return text;
}

Access parse_access(std::string_view text) {
  const auto* const at = std::find(kAccess.begin(), kAccess.end(), text);
  if (at == kAccess.end())
    throw InvalidArgument(fmt::format("--algorithm: access is vv-hh, hh-vv, vh-vh, hv-hv or vtv-vtv, not '{}'", text));
  return static_cast<Access>(at - kAccess.begin());
}

void set(const Parameter& parameter, published::DistanceOptions& options) {
  const std::string_view key = parameter.key;
  if (key == "access") options.access = parse_access(parameter.value);
  else if (key == "more") options.more_rounds = parameter.whole(0, 2);
  else if (key == "m1") options.m1 = parameter.whole(1, 32);
  else if (key == "m2") options.m2 = parameter.whole(1, 32767);
  else options.m3 = parameter.whole(1, 32);
}

}  // namespace

void add_algorithm_option(CLI::App* verb, std::string& algorithm, const std::string& what,
                          std::span<const AlgorithmRow> rows) {
  verb->add_option("--algorithm", algorithm,
                   fmt::format("By an algorithm as it was published, to compare: {}; list says what {}", what,
                               rows.size() > 1 ? "they are" : "it is"))
      ->trigger_on_parse()
      ->each([rows](const std::string& name) {
        if (name != "list") return;
        std::string text;
        for (const AlgorithmRow& row : rows) text += fmt::format("{:<11}{}\n", row.name, row.what);
        print_text(text);
        throw CLI::Success();
      });
}

std::size_t find_algorithm(std::span<const AlgorithmRow> rows, std::string_view name) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const AlgorithmRow& r) { return r.name == name; });
  if (row == rows.end())
    throw InvalidArgument(fmt::format("--algorithm: there is no '{}'; use {}, or list for what {}", name,
                                      names_of(rows), rows.size() > 1 ? "they are" : "it is"));
  return static_cast<std::size_t>(row - rows.begin());
}

void check_has_none(std::string_view algorithm, std::initializer_list<std::pair<std::string_view, bool>> options) {
  for (const auto& [option, is_given] : options)
    if (is_given)
      throw InvalidArgument(fmt::format("--algorithm {} has no {}; leave one of them out", algorithm, option));
}

NamedAlgorithm split_algorithm(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  NamedAlgorithm algorithm{text.substr(0, colon), {}};
  for (std::string_view rest = text.substr(std::min(colon + 1, text.size())); colon < text.size();) {
    const std::size_t comma = rest.find(',');
    algorithm.parameters.push_back(rest.substr(0, comma));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return algorithm;
}

int Parameter::whole(int least, int most) const {
  return static_cast<int>(parse_count(fmt::format("--algorithm: {}", key), value, least, most));
}

Parameter parse_parameter(const AlgorithmRow& row, std::string_view parameter) {
  const std::size_t sign = std::min(parameter.find('='), parameter.size());
  const std::string_view key = parameter.substr(0, sign),
                         value = parameter.substr(std::min(sign + 1, parameter.size()));
  if (key.empty() || fmt::format(" {} ", row.parameters).find(fmt::format(" {} ", key)) == std::string::npos)
    throw InvalidArgument(
        row.parameters.empty()
            ? fmt::format("--algorithm {}: there are no parameters; leave out ':{}'", row.name, parameter)
            : fmt::format("--algorithm {}: there is no parameter '{}'; use {}", row.name, key, row.parameters));
  return {key, value};
}

Json phases_json(const std::vector<published::Phase>& phases) {
  Json json = Json::array();
  for (const published::Phase& phase : phases) json.push_back({{"name", phase.name}, {"seconds", phase.seconds}});
  return json;
}

std::string phases_text(std::string_view algorithm, Backend backend, const std::string& device,
                        const std::vector<published::Phase>& phases) {
  double seconds = 0;
  for (const published::Phase& phase : phases) seconds += phase.seconds;
  const std::string where = device.empty() ? std::string(fathom::name_of(backend)) : device;
  return fmt::format("{} on {}: {:.4g} ms, ", algorithm, where, 1e3 * seconds);
}

std::span<const AlgorithmRow> distance_algorithms() { return kRows; }

published::DistanceOptions parse_algorithm(std::string_view text) {
  const NamedAlgorithm named = split_algorithm(text);
  const std::size_t number = find_algorithm(kRows, named.name);
  published::DistanceOptions options;
  options.algorithm = static_cast<Algorithm>(number);
  options.measure_error = !published::is_exact(options.algorithm);
  for (const std::string_view parameter : named.parameters) set(parse_parameter(kRows[number], parameter), options);
  return options;
}

std::string_view name_of(Algorithm algorithm) { return kRows[static_cast<std::size_t>(algorithm)].name; }

Json algorithm_json(const published::DistanceOptions& options, const published::DistanceReport& report) {
  Json json = {{"name", name_of(options.algorithm)}, {"exact", report.exact}, {"phases", phases_json(report.phases)}};
  if (report.error)
    json["error"] = {
        {"wrong", report.error->wrong}, {"share", report.error->share}, {"largest", report.error->largest}};
  return json;
}

std::string algorithm_text(const published::DistanceOptions& options, const published::DistanceReport& report) {
  std::string text = phases_text(name_of(options.algorithm), report.backend, report.device, report.phases) +
                     (report.exact ? "exact" : "approximate");
  if (report.error)
    text += fmt::format(": {} elements ({:.3g} %) have a site that is not the nearest, up to {:.3g} too far",
                        report.error->wrong, 100 * report.error->share, report.error->largest);
  return text + "\n";
}

}  // namespace fathom::cli
