#include "report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "algorithm.h"
#include "fathom/io/stream.h"
#include "json.h"
#include "memory.h"
#include "options.h"
#include "warnings.h"

namespace fathom::cli {

namespace {

Json output_json(const PlannedOutput& output, const io::WriteReport& written) {
  Json json = {{"path", output.path},
               {"content", output.kind.title},
               {"format", io::name_of(output.format)},
               {"dtype", fathom::name_of(output.dtype)},
               {"shape", to_json(output.file_shape())}};
  if (written.scaled) json["png"] = {{"offset", written.offset}, {"scale", written.scale}};
  return json;
}

Json outputs_json(const Plan& plan, const DistanceOutcome& outcome) {
  Json outputs = Json::array();
  for (std::size_t k = 0; k < plan.outputs.size(); ++k)
    if (!plan.outputs[k].path.empty()) outputs.push_back(output_json(plan.outputs[k], outcome.written[k]));
  if (!plan.preview.empty()) outputs.push_back({{"path", plan.preview}, {"content", "chart"}, {"format", "png"}});
  return outputs;
}

std::int64_t batch_count(const Input& input) {
  std::int64_t count = 1;
  for (int k = 0; k < input.batch_axes; ++k) count *= input.shape()[k];
  return count;
}

std::string range_text(const ValueRange& range) {
  if (!range.has_finite()) return "no finite value";
  return fmt::format("{:.6g} to {:.6g}", range.lowest, range.highest);
}

std::string line_of(const PlannedOutput& output, const io::WriteReport& written, const DistanceOutcome& outcome) {
  std::string line = fmt::format("{}: {}, {}, {}", shown(output.path), output.kind.title, fathom::name_of(output.dtype),
                                 to_string(output.file_shape()));
  if (!output.kind.is_of_site && outcome.range && element_count(output.shape) > 0)
    line += ", " + range_text(*outcome.range);
  if (written.scaled)
    line += fmt::format("; stored = round((value - {:.9g}) * {:.9g})", written.offset, written.scale);
  return line + "\n";
}

std::string unreached_text(const Plan& plan, const DistanceOutcome& outcome) {
  if (!outcome.range || outcome.range->infinite == 0) return {};
  const double limit = plan.options.max_distance;
  return fmt::format("{} of {} elements have no site{}\n", outcome.range->infinite,
                     element_count(plan.field()->shape), std::isinf(limit) ? "" : fmt::format(" within {:g}", limit));
}

}  // namespace

void print_plan_json(const Plan& plan) {
  const Needs needs = needs_of(plan);
  Json outputs = Json::array();
  for (const PlannedOutput& output : plan.outputs)
    if (!output.path.empty()) outputs.push_back(output_json(output, {}));
  print_line(
      {{"operation", "plan"},
       {"verb", "distance"},
       {"input", describe(plan.input.path, plan.input.info)},
       {"outputs", outputs},
       {"batch", plan.input.batch_axes > 0 ? batch_count(plan.input) : 1},
       {"spacing", plan.options.spacing.empty() ? Json(nullptr) : Json(plan.options.spacing)},
       {"sites", to_text(plan.options.sites)},
       {"bytes", {{"arrays", needs.arrays}, {"scratch", needs.scratch}, {"least_scratch", needs.least_scratch}}}});
}

std::string plan_text(const Plan& plan) {
  const Needs needs = needs_of(plan);
  std::string text = fmt::format("read     {}: {}, {}, {}\n", input_name(plan.input.path),
                                 io::name_of(plan.input.info.format), fathom::name_of(plan.input.info.dtype),
                                 to_string(plan.input.info.shape));
  if (plan.input.batch_axes > 0)
    text += fmt::format("batch    {} arrays along {}\n", batch_count(plan.input), plan.input.batch_names());
  text += fmt::format("sites    {} elements\n", to_text(plan.options.sites));
  if (!plan.options.spacing.empty()) text += fmt::format("spacing  {}\n", fmt::join(plan.options.spacing, ", "));
  for (const PlannedOutput& output : plan.outputs)
    if (!output.path.empty())
      text += fmt::format("write    {}: {}, {}, {}, {}\n", shown(output.path), output.kind.title,
                          io::name_of(output.format), fathom::name_of(output.dtype), to_string(output.file_shape()));
  if (!plan.preview.empty()) text += fmt::format("write    {}: chart\n", plan.preview);
  return text + fmt::format("memory   {} for arrays, {} of scratch (at least {})\n", memory_text(needs.arrays),
                            memory_text(needs.scratch), memory_text(needs.least_scratch));
}

void print_text(std::string_view text) {
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!whole || std::fflush(stdout) != 0)
    throw IoError(fmt::format("cannot write standard output: {}", std::strerror(errno)));
}

void print_aside(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

std::string shown(const std::string& path) { return path == "-" ? "standard output" : path; }

void print_report(std::string_view text, const std::vector<std::string>& outputs) {
  if (is_quiet()) return;
  const auto taken = [&](int descriptor) {
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](const std::string& path) { return io::writes_to(path, descriptor); });
  };
  if (!taken(STDOUT_FILENO)) print_text(text);
  else if (!taken(STDERR_FILENO)) print_aside(text);
}

std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const auto byte = static_cast<unsigned char>(text[k]);
    const bool high = byte == 0xc2 && k + 1 < text.size() && static_cast<unsigned char>(text[k + 1]) < 0xa0;  // C1
    if (byte < ' ' || byte == 0x7f || high) shown += fmt::format("\\x{:02x}", high ? text[++k] & 0xff : byte);
    else shown += text[k];
  }
  return shown;
}

void print_message(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  print_aside(fmt::format("{}fathom: {}\n", isatty(STDERR_FILENO) != 0 ? kEraseLine : "", printable(text)));
}

void print_json(const Plan& plan, const DistanceOutcome& outcome) {
  const bool finite = outcome.range && outcome.range->has_finite();
  Json sites = {{"rule", to_text(plan.options.sites)}, {"count", outcome.sites}};
  if (outcome.labels) sites["labels"] = *outcome.labels;
  Json json = {{"operation", "distance"},
               {"input", describe(plan.input.path, plan.input.info)},
               {"outputs", outputs_json(plan, outcome)},
               {"sites", sites},
               {"unreached", outcome.range ? Json(outcome.range->infinite) : Json(nullptr)},
               {"min", finite ? Json(outcome.range->lowest) : Json(nullptr)},
               {"max", finite ? Json(outcome.range->highest) : Json(nullptr)},
               {"seconds",
                {{"read", outcome.seconds.read},
                 {"compute", outcome.seconds.compute},
                 {"write", outcome.seconds.write},
                 {"total", outcome.seconds.total}}}};
  add_execution(outcome.report, json);
  json["engine"] = text_or_null(outcome.report.engine);
  if (outcome.algorithm) json["algorithm"] = algorithm_json(*plan.algorithm, *outcome.algorithm);
  print_line(json);
}

std::string to_text(const Plan& plan, const DistanceOutcome& outcome) {
  std::string text;
  if (plan.input.batch_axes > 0)
    text += fmt::format("{}: {} arrays along {}, each by itself\n", input_name(plan.input.path),
                        batch_count(plan.input), plan.input.batch_names());
  for (std::size_t k = 0; k < plan.outputs.size(); ++k)
    if (!plan.outputs[k].path.empty()) text += line_of(plan.outputs[k], outcome.written[k], outcome);
  if (!plan.preview.empty()) text += fmt::format("{}: chart\n", plan.preview);
  if (outcome.algorithm) text += algorithm_text(*plan.algorithm, *outcome.algorithm);
  return text + unreached_text(plan, outcome);
}

}  // namespace fathom::cli
