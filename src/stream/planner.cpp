#include "stream/planner.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "fathom/core/error.h"
#include "stream/cell.h"
#include "stream/pixels.h"
#include "stream/sweep.h"

namespace fathom::stream {

namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
constexpr std::size_t kMostCellBytes = 64 * kMegabyte;
constexpr std::size_t kUsualBytes = 1024 * kMegabyte;  ///< aimed at where no limit is given
constexpr std::int64_t kPoolSide = 256;

/// Children before parents. Without recursion: graphs may be deep.
void list_nodes(const NodeRef& root, Plan& plan) {
  std::unordered_map<const Node*, std::size_t> numbers;
  std::vector<std::pair<NodeRef, std::size_t>> path{{root, 0}};  // and how many of its children are listed
  while (!path.empty()) {
    auto& [node, next] = path.back();
    if (next < node->children().size()) {
      const NodeRef child = node->children()[next++].node;
      if (!numbers.contains(child.get())) path.emplace_back(child, 0);
      continue;
    }
    if (!numbers.contains(node.get())) {
      Plan::Entry entry;
      entry.node = node;
      for (const Child& child : node->children()) entry.children.push_back(numbers.at(child.node.get()));
      numbers[node.get()] = plan.entries.size();
      plan.entries.push_back(std::move(entry));
    }
    path.pop_back();
  }
}

/// The whole tiles that a part lies in, which are computed as such.
Rectangle of_tiles(const Plan::Entry& entry, const Rectangle& part) {
  const Size tile = entry.tile;
  const auto up = [](std::int64_t end, std::int64_t step) { return (end + step - 1) / step * step; };
  return intersection({part.y0 / tile.height * tile.height, part.x0 / tile.width * tile.width, up(part.y1, tile.height),
                       up(part.x1, tile.width)},
                      entry.node->whole());
}

/// What repeats itself often enough is computed once; but not in what is computed once itself.
void choose_cells(Plan& plan) {
  const std::vector<Rectangle> needed = needs_of(plan, plan.entries.size() - 1, plan.region);
  std::vector<bool> reached(plan.entries.size());
  reached.back() = true;
  for (std::size_t k = plan.entries.size(); k-- > 0;) {
    if (!reached[k]) continue;
    Plan::Entry& entry = plan.entries[k];
    const auto period = entry.node->period();
    constexpr double kWorthIt = 4;  // cells in the region
    if (period && !entry.node->children().empty()) {
      const Rectangle region = intersection(period->region, needed[k]);
      const Size cell{period->height, stretched_width(*period)};
      const double cells = static_cast<double>(region.height()) / static_cast<double>(cell.height) *
                           static_cast<double>(region.width()) / static_cast<double>(period->width);
      if (region.height() >= period->height && region.width() >= period->width && cells >= kWorthIt &&
          bytes_of(cell, entry.node->dtype()) <= kMostCellBytes) {
        entry.cell = period;
        continue;
      }
    }
    for (const std::size_t child : entry.children) reached[child] = true;
  }
  for (std::size_t k = 0; k < plan.entries.size(); ++k)
    if (plan.entries[k].cell)
      plan.cell_bytes += bytes_of({plan.entries[k].cell->height, stretched_width(*plan.entries[k].cell)},
                                  plan.entries[k].node->dtype());
}

/// What several parents need, or one again and again, and what files store in pieces.
void choose_pooled(Plan& plan) {
  std::vector<int> parents(plan.entries.size());
  std::vector<bool> again(plan.entries.size());
  for (const Plan::Entry& entry : plan.entries)
    for (std::size_t k = 0; k < entry.children.size(); ++k) {
      ++parents[entry.children[k]];
      if (entry.node->needs_again(k)) again[entry.children[k]] = true;
    }
  std::vector<bool> above_sweep(plan.entries.size());  // whose tiles are low, since a sweep holds whole rows of them
  for (std::size_t k = 0; k + 1 < plan.entries.size(); ++k) {
    Plan::Entry& entry = plan.entries[k];
    const Node& node = *entry.node;
    const Size piece = node.piece();
    for (const std::size_t child : entry.children)
      if (plan.entries[child].sweeps || above_sweep[child]) above_sweep[k] = true;
    entry.pooled =
        !entry.cell && !entry.sweeps && node.type() != "constant" && (parents[k] > 1 || again[k] || piece.area() > 0);
    const auto side = [](std::int64_t stored, std::int64_t least, std::int64_t whole) {
      const std::int64_t unit = stored > 0 ? stored : least;
      return std::min(whole, (least + unit - 1) / unit * unit);
    };
    const Size least = above_sweep[k] ? Size{kPoolSide / 8, 8 * kPoolSide} : Size{kPoolSide, kPoolSide};
    if (entry.pooled)
      entry.tile = {side(piece.height, least.height, node.height()), side(piece.width, least.width, node.width())};
  }
}

class Sizes {
 public:
  explicit Sizes(const Plan& plan) : plan_(plan) {}

  std::size_t peak(std::size_t number, Size part) {
    const auto key = std::pair{number, std::pair{part.height, part.width}};
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    const Node& node = *plan_.entries[number].node;
    std::size_t held = 0, deeper = 0;
    for (std::size_t k = 0; k < node.children().size(); ++k) {
      const Size need = node.largest_need(k, part);
      const std::size_t bytes = bytes_of(need, node.children()[k].node->dtype());
      held = node.holds_all() ? held + bytes : std::max(held, bytes);
      deeper = std::max(deeper, cost(plan_.entries[number].children[k], need));
    }
    constexpr std::size_t kMost = std::size_t{1} << 50;  // which no memory holds, and sums of threads do not overflow
    return known_[key] = std::min(kMost, node.scratch_bytes(part) + held + deeper);
  }

 private:
  /// To have a part of an entry, wherever it comes from.
  std::size_t cost(std::size_t number, Size part) {
    const Plan::Entry& entry = plan_.entries[number];
    if (entry.sweeps) return 0;
    return entry.pooled ? std::max(peak(number, part), peak(number, entry.tile)) : peak(number, part);
  }

  const Plan& plan_;
  std::map<std::pair<std::size_t, std::pair<std::int64_t, std::int64_t>>, std::size_t> known_;
};

/// Bytes of the tiles of all pooled entries that a band is computed from.
std::size_t pooled_bytes_of_band(const Plan& plan) {
  const std::int64_t y = plan.region.y0 + (plan.region.height() - plan.band.height) / 2;
  const std::vector<Rectangle> needed =
      needs_of(plan, plan.entries.size() - 1, {y, plan.region.x0, y + plan.band.height, plan.region.x1});
  double bytes = 0;
  for (std::size_t k = 0; k < plan.entries.size(); ++k) {
    const Plan::Entry& entry = plan.entries[k];
    if (!entry.pooled || needed[k].empty()) continue;
    const auto tiles = [](std::int64_t length, std::int64_t tile, std::int64_t whole) {
      return static_cast<double>(std::min((length + tile - 1) / tile + 1, (whole + tile - 1) / tile));
    };
    bytes += tiles(needed[k].height(), entry.tile.height, entry.node->height()) *
             tiles(needed[k].width(), entry.tile.width, entry.node->width()) *
             static_cast<double>(bytes_of(entry.tile, entry.node->dtype()));
  }
  constexpr double kMost = 0x1p60;
  return static_cast<std::size_t>(std::min(bytes, kMost));
}

/// Rows that are held of each entry that sweeps: for bands here and there, for the masks of others, and for cells.
std::vector<std::int64_t> rows_of_sweeps(Plan& plan) {
  std::vector<std::int64_t> rows(plan.entries.size());
  const auto count = [&](std::size_t entry, const Rectangle& part) {
    std::vector<Rectangle> needed = needs_of(plan, entry, part, false);
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (plan.entries[k].sweeps) rows[k] = std::max(rows[k], needed[k].height());
    return needed;
  };
  constexpr std::int64_t kLooks = 16;
  for (std::int64_t look = 0; look <= kLooks; ++look) {
    const std::int64_t y = plan.region.y0 + (plan.bands - 1) * look / kLooks * plan.band.height;
    count(plan.entries.size() - 1,
          intersection(plan.region, {y, plan.region.x0, y + plan.band.height, plan.region.x1}));
  }
  for (const Plan::Entry& entry : plan.entries) {
    if (!entry.spools) continue;
    const SweepShape shape(*entry.node);
    std::vector<Rectangle> before(rows.size());
    for (std::int64_t look = 0; look <= kLooks; ++look) {
      const std::int64_t y = (shape.blocks() - 1) * look / kLooks * shape.block;
      const std::vector<Rectangle> needed =
          count(entry.children[0], {y, 0, std::min(shape.height, y + shape.block), shape.width});
      for (std::size_t k = 0; k < rows.size(); ++k)
        if (plan.entries[k].sweeps && needed[k].y0 < before[k].y0) plan.entries[k].holds_all = true;
      before = needed;
    }
  }
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (plan.entries[k].holds_all) rows[k] = plan.entries[k].node->height();
  for (std::size_t k = 0; k < plan.entries.size(); ++k)
    if (plan.entries[k].cell) count(k, cell_of(*plan.entries[k].cell));
  return rows;
}

/// Fills in what the band's height, the tile and the threads entail.
void measure(Plan& plan, const EvaluatorOptions& options) {
  plan.bands = (plan.region.height() + plan.band.height - 1) / plan.band.height;
  const std::size_t last = plan.entries.size() - 1;
  Sizes sizes(plan);
  std::size_t peak = sizes.peak(last, plan.entries[last].tile);
  std::vector<std::size_t> nested(plan.entries.size());  // bytes of kept tiles that are computed one for the other
  plan.sweep_bytes = plan.disk_bytes = 0;
  const std::vector<std::int64_t> rows = rows_of_sweeps(plan);
  for (std::size_t k = 0; k < plan.entries.size(); ++k) {
    Plan::Entry& entry = plan.entries[k];
    if (entry.cell) peak = std::max(peak, sizes.peak(k, cell_tile(*entry.cell)));
    for (const std::size_t child : entry.children) nested[k] = std::max(nested[k], nested[child]);
    if (entry.pooled) nested[k] += bytes_of(entry.tile, entry.node->dtype());
    if (entry.sweeps) {
      const SweepShape shape(*entry.node);
      plan.sweep_bytes += shape.bytes(rows[k], plan.threads);
      plan.disk_bytes += shape.disk_bytes() + (entry.spools ? shape.spool_bytes() : 0);
      peak = std::max(peak, sizes.peak(k, shape.part()));
    }
  }
  plan.scratch_bytes = static_cast<std::size_t>(plan.threads) * peak;
  plan.band_bytes = static_cast<std::size_t>(options.bands) * bytes_of(plan.band, plan.entries[last].node->dtype());
  plan.pool_bytes = nested[last] * static_cast<std::size_t>(plan.threads);
}

}  // namespace

std::vector<Rectangle> needs_of(const Plan& plan, std::size_t number, const Rectangle& part, bool below_sweeps) {
  std::vector<Rectangle> needed(plan.entries.size());
  needed[number] = part;
  for (std::size_t k = number + 1; k-- > 0;) {
    const Plan::Entry& entry = plan.entries[k];
    if (needed[k].empty() || (entry.sweeps && !below_sweeps)) continue;
    if (entry.pooled && k != number) needed[k] = of_tiles(entry, needed[k]);
    for (std::size_t child = 0; child < entry.children.size(); ++child)
      needed[entry.children[child]] = around(needed[entry.children[child]], entry.node->need(child, needed[k]));
  }
  return needed;
}

Plan make_plan(const NodeRef& root, const EvaluatorOptions& options) {
  if (!root) throw InvalidArgument("the graph has no root");
  Plan plan;
  list_nodes(root, plan);
  plan.region = options.region.empty() ? root->whole() : options.region;
  if (!root->whole().contains(plan.region))
    throw InvalidArgument("the region reaches beyond the raster of " + to_string(root->whole().shape()) + " pixels");
  std::vector<bool> above_sweep(plan.entries.size());
  for (std::size_t k = 0; k < plan.entries.size(); ++k) {
    Plan::Entry& entry = plan.entries[k];
    for (const std::size_t child : entry.children)
      if (plan.entries[child].sweeps || above_sweep[child]) above_sweep[k] = true;
    entry.sweeps = dynamic_cast<const SweepNode*>(entry.node.get()) != nullptr;
    entry.spools = entry.sweeps && above_sweep[k];
    plan.source_bytes += entry.node->kept_bytes();
    entry.halo = entry.node->halo();
  }
  choose_cells(plan);
  choose_pooled(plan);

  const int most_threads = options.execution.threads > 0 ? options.execution.threads : available_threads();
  constexpr std::int64_t kFewestRows = 8;
  const std::size_t limit = options.memory.value_or(kUsualBytes);
  std::size_t least = 0;
  for (int threads = most_threads; threads > 0; threads /= 2)
    for (std::int64_t rows = 256; rows >= kFewestRows; rows /= 2) {
      const std::int64_t step = options.row_step, height = (rows + step - 1) / step * step;
      plan.threads = threads;
      plan.band = {std::min(height, plan.region.height()), plan.region.width()};
      plan.entries.back().tile = {std::min(rows, plan.band.height), std::min<std::int64_t>(4 * rows, plan.band.width)};
      measure(plan, options);
      least = plan.bytes();
      if (least > limit && (options.memory || rows > kFewestRows)) continue;
      const std::size_t room = limit - std::min(least, limit);
      plan.pool_bytes = std::max(plan.pool_bytes, std::min(pooled_bytes_of_band(plan), plan.pool_bytes + room));
      return plan;
    }
  throw InvalidArgument("the graph takes " + std::to_string((least + kMegabyte - 1) / kMegabyte) +
                        " MiB of memory or more; less was given");
}

}  // namespace fathom::stream
