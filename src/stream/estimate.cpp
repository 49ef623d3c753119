#include "fathom/stream/estimate.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "stream/pixels.h"
#include "stream/planner.h"

namespace fathom::stream {

namespace {

/// What a node's description says of its cost.
class Facts final : public Description {
 public:
  double expression = 0;  ///< characters
  double copies = 0;      ///< of `place`
  double step = 1;        ///< pixels that a copy of `lattice` has for itself
  bool is_signed = false;

  void number(std::string_view, double) override {}
  void whole(std::string_view, std::int64_t) override {}
  void truth(std::string_view field, bool value) override { is_signed |= value && field == "signed"; }
  void text(std::string_view field, std::string_view value) override {
    if (field == "expression") expression = static_cast<double>(value.size());
  }
  void nothing(std::string_view) override {}
  void numbers(std::string_view, const std::vector<double>&) override {}
  void wholes(std::string_view field, const std::vector<std::int64_t>& values) override {
    const auto at = [&](std::size_t k) { return static_cast<double>(values[k]); };
    if (field == "placements") copies = static_cast<double>(values.size()) / 3;
    else if (field == "u") u_ = {at(0), at(1)};
    else if (field == "v") step = std::max(1.0, std::abs(u_.first * at(1) - u_.second * at(0)));
  }
  void fingerprint(std::string_view) override {}

 private:
  std::pair<double, double> u_;
};

double area(Size size) { return static_cast<double>(size.height) * static_cast<double>(size.width); }
double area(const Rectangle& part) { return part.empty() ? 0 : area(size_of(part)); }

/// Copies that cover a pixel.
double coverage(const Node& node, const Facts& facts) {
  if (node.type() == "lattice") return area(size_of(node.children().back().node->whole())) / facts.step;
  double pixels = 0;
  for (const Child& child : node.children()) pixels += area(child.node->whole());
  return std::max(1.0, facts.copies * pixels / static_cast<double>(node.children().size()) / area(node.whole()));
}

constexpr double kCopy = 0.2;  // nanoseconds for a pixel of a tile or a cell that is there

/// Nanoseconds for a pixel, without its children's.
double cost(const Node& node, const Facts& facts) {
  const std::string_view type = node.type();
  const auto child = [&] { return node.children().front().node; };
  const double parsed = 2 + 0.25 * facts.expression;
  if (type == "formula") return 1 + 0.1 * facts.expression;  // of which much is computed once for rows and columns
  if (type == "math")
    return node.children().size() == 1 && size_of(child()->dtype()) < 4 ? 0.5 : 1.6 * facts.expression;
  if (type == "profile") return child()->type() == "distance" || std::isfinite(child()->bound()) ? 1.5 : 10 + parsed;
  if (type == "lattice" || type == "place") return 0.45 * coverage(node, facts);
  if (type == "distance" && facts.is_signed) return 7;
  if (type == "distance") return std::isfinite(node.bound()) ? 1 + static_cast<double>(node.halo()) / 800 : 3;
  constexpr std::pair<std::string_view, double> kCosts[] = {
      {"constant", 0.1}, {"noise", 1.4}, {"repeat", 0.3},    {"crop", 0.2},   {"flip", 1},    {"rotate", 2.6},
      {"resample", 1.5}, {"mask", 0.3},  {"threshold", 0.3}, {"halftone", 2}, {"array", 0.4}, {"file", 1}};
  for (const auto& [name, nanoseconds] : kCosts)
    if (name == type) return nanoseconds;
  return kCopy;
}

/// What is asked of an entry.
struct Asked {
  double pixels = 0, early = 0;  ///< in all, and before the first band
  double passes = 1;             ///< times that its tiles are made: kept ones do not last for a second pass
  Rectangle part;
  Size tile;  ///< asked for at once
};

/// What is computed of an entry, and where, to give what is asked of it; the rest is copied from that.
Asked made_of(const Plan::Entry& entry, Asked of) {
  const double asked = of.pixels;
  if (entry.cell) {
    const Rectangle& region = entry.cell->region;
    of.part =
        intersection(region, {region.y0, region.x0, region.y0 + entry.cell->height, region.x0 + entry.cell->width});
    of.tile = {std::min<std::int64_t>(of.part.height(), 256), std::min<std::int64_t>(of.part.width(), 1024)};
    of.pixels = of.early = area(of.part);
    return of;
  }
  if (entry.sweeps) {
    of.part = {0, 0, of.part.y1, entry.node->width()};
    of.tile = size_of(of.part);
    of.pixels = area(of.part);
  } else if (entry.pooled) {
    of.tile = entry.tile;
    of.pixels = std::min(asked, of.passes * area(of.part));
  }
  of.early *= of.pixels / asked;
  return of;
}

}  // namespace

Estimate estimate(const Plan& plan) {
  std::vector<Asked> asked(plan.entries.size());
  asked.back() = {area(plan.region), 0, 1, plan.region, plan.entries.back().tile};
  double nanoseconds = 0, early = 0;
  const auto take = [&](double cost, const Asked& of) {
    nanoseconds += cost * of.pixels;
    early += cost * of.early;
  };
  for (std::size_t k = plan.entries.size(); k-- > 0;) {
    if (asked[k].pixels == 0) continue;
    const Plan::Entry& entry = plan.entries[k];
    const Node& node = *entry.node;
    Facts facts;
    if (!node.children().empty() || node.type() == "formula") node.describe(facts);  // of files it would read them
    if (entry.cell || entry.pooled || entry.sweeps) take(kCopy, asked[k]);
    const Asked made = made_of(entry, asked[k]);
    take(cost(node, facts), made);
    const bool early_mask = entry.sweeps && plan.disk_bytes > 0, twice = early_mask && !entry.spools;
    const bool copies = node.type() == "lattice" || node.type() == "place";
    for (std::size_t child = 0; child < entry.children.size(); ++child) {
      Asked& to = asked[entry.children[child]];
      const Size need = entry.sweeps ? made.tile : node.largest_need(child, made.tile);
      const double share =
          copies ? coverage(node, facts) / static_cast<double>(entry.children.size()) : area(need) / area(made.tile);
      to.pixels += (twice ? 2 : 1) * share * made.pixels;
      to.early += share * (early_mask ? made.pixels + (twice ? made.early : 0) : made.early);
      to.passes = std::max(to.passes, (twice ? 2 : 1) * made.passes);
      to.part = around(to.part, entry.sweeps ? node.children()[child].node->whole() : node.need(child, made.part));
      if (area(need) > area(to.tile)) to.tile = need;
    }
  }
  const double scale = 1e-9 / plan.threads, bands = static_cast<double>(std::max<std::int64_t>(1, plan.bands));
  const double band = scale * (nanoseconds - early) / bands;
  return {scale * nanoseconds, scale * early + band, band};
}

}  // namespace fathom::stream
