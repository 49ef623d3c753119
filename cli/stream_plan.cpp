#include "stream_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "fathom/stream/estimate.h"
#include "input.h"
#include "memory.h"
#include "options.h"
#include "quantities.h"
#include "report.h"
#include "stream_graph.h"

namespace fathom::cli {

namespace {

using Entry = stream::Plan::Entry;

/// The document's, or of a node that the command put there itself one as written documents have it.
std::string id_of(const stream::Plan& plan, const stream::NodeIds& ids, std::size_t number) {
  const stream::Node& node = *plan.entries[number].node;
  const auto found = ids.find(&node);
  return found != ids.end() ? printable(found->second) : fmt::format("{}-{}", node.type(), number + 1);
}

std::string entry_text(const Entry& entry, bool by_the_cpu) {
  const stream::Node& node = *entry.node;
  std::string text =
      fmt::format("{}, {}, {}", node.type(), to_string(node.whole().shape()), fathom::name_of(node.dtype()));
  if (const std::string words = words_of(node).parameters; !words.empty()) text += "; " + printable(words);
  if (entry.halo > 0) text += fmt::format("; halo {}", entry.halo);
  if (entry.cell && entry.cell->skew == 0)
    text += fmt::format("; computed once for {} × {} and repeated", entry.cell->height, entry.cell->width);
  else if (entry.cell)
    text += fmt::format("; computed once for {} × {} and repeated, each {} rows {} further right", entry.cell->height,
                        entry.cell->width, entry.cell->height, entry.cell->skew);
  if (entry.sweeps) text += "; swept from the first row to the last, behind a pass from the last to the first";
  if (entry.pooled) text += fmt::format("; kept in tiles of {} × {}", entry.tile.height, entry.tile.width);
  if (by_the_cpu) text += "; by the CPU";
  return text;
}

/// Each node once, below the first of its parents.
void add_tree(const stream::Plan& plan, const stream::NodeIds& ids, std::size_t number, const std::string& role,
              std::size_t depth, std::vector<bool>& listed, std::string& text) {
  const Entry& entry = plan.entries[number];
  const std::string name = fmt::format("{}{}{}", std::string(2 * depth, ' '), role, id_of(plan, ids, number));
  if (listed[number]) {
    text += fmt::format("{}: see above\n", name);
    return;
  }
  listed[number] = true;
  text += fmt::format("{}: {}\n", name, entry_text(entry, !plan.device.empty() && !entry.on_device));
  for (std::size_t k = 0; k < entry.children.size(); ++k) {
    const stream::Child& child = entry.node->children()[k];
    std::string to = child.role == stream::Role::mask || child.role == stream::Role::weight
                         ? fmt::format("{} ", stream::name_of(child.role))
                         : "";
    add_tree(plan, ids, entry.children[k], to, depth + 1, listed, text);
  }
}

std::string region_text(const Rectangle& region) {
  return fmt::format("{}:{},{}:{}", region.y0, region.y1, region.x0, region.x1);
}

/// The parts of the memory that are not nothing.
std::vector<std::pair<const char*, std::size_t>> memory_parts(const stream::Plan& plan) {
  return {{"scratch", plan.scratch_bytes},         {"cells", plan.cell_bytes}, {"sweeps", plan.sweep_bytes},
          {"files and tables", plan.source_bytes}, {"bands", plan.band_bytes}, {"tiles", plan.pool_bytes}};
}

struct Rates {
  double seconds, first_seconds, rate;
};

/// How fast the stream would be, where neither files nor its reader hold it up.
Rates guess_of(const StreamArguments& arguments, const stream::Plan& plan, const StreamOutput& output, int ring) {
  const stream::Estimate estimate = stream::estimate(plan);
  const double ahead = arguments.min_rate.empty() ? 0 : estimate.band_seconds * (ring - 1);
  return {estimate.seconds, estimate.first_seconds + ahead, output.bytes() / std::max(1e-9, estimate.seconds)};
}

std::string about(double seconds) { return seconds < 9.5 ? fmt::format("{:.1g} s", seconds) : duration_text(seconds); }

}  // namespace

std::string raster_text(const stream::Plan& plan) {
  const stream::Node& root = *plan.entries.back().node;
  std::string text = fmt::format("{}, {}", to_string(root.whole().shape()), fathom::name_of(root.dtype()));
  if (!root.pixel().unit.empty())
    text += fmt::format(", {:g} {} a pixel", root.pixel().size, printable(root.pixel().unit));
  return text + fmt::format(", {} {}", plan.entries.size(), plan.entries.size() == 1 ? "node" : "nodes");
}

std::string stream_plan_text(const StreamArguments& arguments, const stream::Plan& plan, const stream::NodeIds& ids,
                             const StreamOutput& output, int ring) {
  std::string text = fmt::format("graph    {}: {}\n", input_name(arguments.words.back()), raster_text(plan)), tree;
  std::vector<bool> listed(plan.entries.size());
  add_tree(plan, ids, plan.entries.size() - 1, "", 1, listed, tree);
  text += tree;
  const stream::Size tile = plan.entries.back().tile;
  text += fmt::format("region   {}\n", region_text(plan.region));
  text += fmt::format("work     {} {} of {} rows, in tiles of {} × {}, {} {}{}\n", plan.bands,
                      plan.bands == 1 ? "band" : "bands", plan.band.height, tile.height, tile.width, plan.threads,
                      plan.threads == 1 ? "thread" : "threads",
                      arguments.min_rate.empty() ? "" : fmt::format(", {} bands ahead", ring));
  text += fmt::format("memory   {}:", memory_text(plan.bytes()));
  const char* separator = " ";
  for (const auto& [name, bytes] : memory_parts(plan)) {
    if (bytes > 0) text += fmt::format("{}{} {}", separator, name, memory_text(bytes));
    if (bytes > 0) separator = ", ";
  }
  text += "\n";
  if (!plan.device.empty()) text += fmt::format("device   {}: {}\n", plan.device, memory_text(plan.device_bytes));
  if (plan.disk_bytes > 0)
    text += fmt::format("disk     {} of temporary files; the mask is computed twice, once before the first byte\n",
                        bytes_text(static_cast<double>(plan.disk_bytes)));
  if (!output.path.empty())
    text += fmt::format("write    {}: {}, {}\n", shown(output.path), output.format_name(), bytes_text(output.bytes()));
  const std::string& rate = arguments.rate.empty() ? arguments.min_rate : arguments.rate;
  if (!rate.empty() && !output.path.empty())
    text += fmt::format("time     {} at {}\n", about(output.bytes() / parse_rate("--rate", rate)),
                        rate_text(parse_rate("--rate", rate)));
  const Rates guess = guess_of(arguments, plan, output, ring);
  return text + fmt::format(
                    "guess    {}, {} in all, the first byte after {}; no pixel was computed: it may be off by some "
                    "times\n",
                    rate_text(guess.rate), about(guess.seconds), about(guess.first_seconds));
}

Json stream_plan_json(const StreamArguments& arguments, const stream::Plan& plan, const stream::NodeIds& ids,
                      const StreamOutput& output, int ring) {
  Json nodes = Json::array();
  for (std::size_t k = 0; k < plan.entries.size(); ++k) {
    const Entry& entry = plan.entries[k];
    Json children = Json::array();
    for (const std::size_t child : entry.children) children.push_back(id_of(plan, ids, child));
    nodes.push_back(
        {{"id", id_of(plan, ids, k)},
         {"type", entry.node->type()},
         {"shape", to_json(entry.node->whole().shape())},
         {"dtype", fathom::name_of(entry.node->dtype())},
         {"parameters", words_of(*entry.node).parameters},
         {"children", children},
         {"halo", entry.halo},
         {"cell", entry.cell
                      ? Json({{"height", entry.cell->height}, {"width", entry.cell->width}, {"skew", entry.cell->skew}})
                      : Json(nullptr)},
         {"sweeps", entry.sweeps},
         {"on_device", entry.on_device},
         {"tile", entry.pooled ? Json({entry.tile.height, entry.tile.width}) : Json(nullptr)}});
  }
  Json memory = {{"total", plan.bytes()}};
  for (const auto& [name, bytes] : memory_parts(plan)) memory[name] = bytes;
  const stream::Node& root = *plan.entries.back().node;
  const Rates rates = guess_of(arguments, plan, output, ring);
  const Json guess = {
      {"seconds", rates.seconds}, {"first_seconds", rates.first_seconds}, {"bytes_per_second", rates.rate}};
  return {{"operation", "plan"},
          {"verb", "stream"},
          {"graph", arguments.words.back()},
          {"guess", guess},
          {"ring", ring},
          {"shape", to_json(root.whole().shape())},
          {"dtype", fathom::name_of(root.dtype())},
          {"pixel", root.pixel().size},
          {"unit", text_or_null(root.pixel().unit)},
          {"nodes", nodes},
          {"region", {plan.region.y0, plan.region.y1, plan.region.x0, plan.region.x1}},
          {"bands", plan.bands},
          {"band_rows", plan.band.height},
          {"threads", plan.threads},
          {"memory_bytes", memory},
          {"disk_bytes", plan.disk_bytes},
          {"output", output.path.empty() ? Json(nullptr)
                                         : Json({{"path", output.path},
                                                 {"format", output.format_name()},
                                                 {"bytes", output.row_bytes() * output.region.height()}})}};
}

bool sweeps(const stream::Plan& plan) {
  return std::any_of(plan.entries.begin(), plan.entries.end(), [](const Entry& entry) { return entry.sweeps; });
}

}  // namespace fathom::cli
