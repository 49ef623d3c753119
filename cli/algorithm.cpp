#include "algorithm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "fathom/core/error.h"
#include "options.h"

namespace fathom::cli {

namespace {

using published::Access;
using published::Algorithm;

struct Row {
  Algorithm algorithm;
  std::string_view name, parameters, what;
};

constexpr Row kRows[] = {
    {Algorithm::pba, "pba", "m1 m2 m3", "exact; Parallel Banding, Cao, Tang, Mohamed & Tan 2010; m1=16,m2=16,m3=4"},
    {Algorithm::proximate, "proximate", "access",
     "exact, images; proximate points, Man, Uda, Ito & Nakano 2012; access=vtv-vtv, vv-hh, hh-vv, vh-vh or hv-hv"},
    {Algorithm::jfa, "jfa", "more", "approximate; Jump Flooding, Rong & Tan 2006; more=0, 1 or 2 rounds"},
    {Algorithm::skw, "skw", "", "approximate; sweeps of vectors, Schneider, Kraus & Westermann 2009"},
    {Algorithm::brute, "brute", "", "exact; every element against every site"},
};

constexpr std::array<std::string_view, 5> kAccess = {"vv-hh", "hh-vv", "vh-vh", "hv-hv", "vtv-vtv"};

const Row& row_of(std::string_view name) {
  const auto* const row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.name == name; });
  if (row == std::end(kRows))
    throw InvalidArgument(
        fmt::format("--algorithm: there is no '{}'; use pba, proximate, jfa, skw or brute, or list for what they are", name));
  return *row;
}

Access parse_access(std::string_view text) {
  const auto* const at = std::find(kAccess.begin(), kAccess.end(), text);
  if (at == kAccess.end())
    throw InvalidArgument(fmt::format("--algorithm: access is vv-hh, hh-vv, vh-vh, hv-hv or vtv-vtv, not '{}'", text));
  return static_cast<Access>(at - kAccess.begin());
}

void set(const Row& row, std::string_view parameter, published::DistanceOptions& options) {
  const auto [key, value] = parse_parameter(row.name, row.parameters, parameter);
  const auto whole = [key = key, value = value](int most) {
    return static_cast<int>(parse_count(fmt::format("--algorithm: {}", key), value, key == "more" ? 0 : 1, most));
  };
  if (key == "access") options.access = parse_access(value);
  else if (key == "more") options.more_rounds = whole(2);
  else if (key == "m1") options.m1 = whole(32);
  else if (key == "m2") options.m2 = whole(32767);
  else options.m3 = whole(32);
}

}  // namespace

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

Parameter parse_parameter(std::string_view algorithm, std::string_view known, std::string_view parameter) {
  const std::size_t sign = std::min(parameter.find('='), parameter.size());
  const std::string_view key = parameter.substr(0, sign),
                         value = parameter.substr(std::min(sign + 1, parameter.size()));
  if (key.empty() || fmt::format(" {} ", known).find(fmt::format(" {} ", key)) == std::string::npos)
    throw InvalidArgument(
        known.empty() ? fmt::format("--algorithm {}: there are no parameters; leave out ':{}'", algorithm, parameter)
                      : fmt::format("--algorithm {}: there is no parameter '{}'; use {}", algorithm, key, known));
  return {key, value};
}

Json phases_json(const std::vector<published::Phase>& phases) {
  Json json = Json::array();
  for (const published::Phase& phase : phases) json.push_back({{"name", phase.name}, {"seconds", phase.seconds}});
  return json;
}

published::DistanceOptions parse_algorithm(std::string_view text) {
  const NamedAlgorithm named = split_algorithm(text);
  const Row& row = row_of(named.name);
  published::DistanceOptions options;
  options.algorithm = row.algorithm;
  options.measure_error = !published::is_exact(row.algorithm);
  for (const std::string_view parameter : named.parameters) set(row, parameter, options);
  return options;
}

std::string_view name_of(Algorithm algorithm) {
  for (const Row& row : kRows)
    if (row.algorithm == algorithm) return row.name;
  throw InternalError("an algorithm without a name");
}

std::string algorithm_list() {
  std::string text;
  for (const Row& row : kRows) text += fmt::format("{:<11}{}\n", row.name, row.what);
  return text;
}

Json algorithm_json(const published::DistanceOptions& options, const published::DistanceReport& report) {
  Json json = {{"name", name_of(options.algorithm)}, {"exact", report.exact}, {"phases", phases_json(report.phases)}};
  if (report.error)
    json["error"] = {{"wrong", report.error->wrong}, {"share", report.error->share}, {"largest", report.error->largest}};
  return json;
}

std::string algorithm_text(const published::DistanceOptions& options, const published::DistanceReport& report) {
  double seconds = 0;
  for (const published::Phase& phase : report.phases) seconds += phase.seconds;
  std::string text = fmt::format("{} on {}: {:.4g} ms, {}", name_of(options.algorithm),
                                 report.device.empty() ? std::string(fathom::name_of(report.backend)) : report.device,
                                 1e3 * seconds, report.exact ? "exact" : "approximate");
  if (report.error)
    text += fmt::format(": {} elements ({:.3g} %) have a site that is not the nearest, up to {:.3g} too far",
                        report.error->wrong, 100 * report.error->share, report.error->largest);
  return text + "\n";
}

}  // namespace fathom::cli
