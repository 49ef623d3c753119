#include "fathom/stream/evaluator.h"

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/parallel.h"
#include "core/require_device.h"
#include "fathom/core/error.h"
#include "stream/cell.h"
#include "stream/device_graph.h"
#include "stream/operation.h"
#include "stream/pixels.h"
#include "stream/planner.h"
#include "stream/pool.h"
#include "stream/sweep.h"

#ifdef FATHOM_HAS_CUDA
#include "stream/cuda/graph.h"
#endif

namespace fathom::stream {

namespace {

/// Null: the CPU computes it.
std::unique_ptr<DeviceGraph> choose_device(Plan& plan, const EvaluatorOptions& options) {
  if (options.execution.backend == Backend::cuda) require_device();
#ifdef FATHOM_HAS_CUDA
  constexpr std::int64_t kWorthTheWay = std::int64_t{1} << 24;
  const bool is_chosen = options.execution.backend == Backend::automatic;
  const auto is_worth_it = [&] {
    return plan.region.area() >= kWorthTheWay ||
           std::any_of(plan.entries.begin(), plan.entries.end(),
                       [](const Plan::Entry& entry) { return resident_pixels(*entry.node).present(); });
  };
  if (options.execution.backend != Backend::cpu && (!is_chosen || (is_worth_it() && device_count() > 0)))
    return cuda::make_device_graph(plan, options, is_chosen);
#else
  static_cast<void>(plan);
#endif
  return nullptr;
}

}  // namespace

class Evaluator::State {
 public:
  State(NodeRef root, const EvaluatorOptions& options)
      : execution_(options.execution),
        plan_(make_plan(root, options)),
        device_(choose_device(plan_, options)),
        pool_(plan_.pool_bytes, plan_.threads) {
    for (std::size_t k = 0; k < plan_.entries.size(); ++k) numbers_[plan_.entries[k].node.get()] = k;
    cells_.resize(plan_.entries.size());
    sweeps_.resize(plan_.entries.size());
    workers_.resize(static_cast<std::size_t>(plan_.threads));
  }

  const Plan& plan() const { return plan_; }

  void compute(const Rectangle& part, const AnyDeviceView& out, Stream stream) {
    if (!device_)
      throw InvalidArgument(
          "the CPU computes this graph, not into a device's memory; make the evaluator with the backend cuda");
    device_->compute(part, out, stream);
  }

  void compute(const Rectangle& part, const AnyView& out) {
    if (device_) return device_->compute(part, out);
    make_cells(part);
    const bool has_sweeps =
        std::any_of(plan_.entries.begin(), plan_.entries.end(), [](const Plan::Entry& entry) { return entry.sweeps; });
    const std::int64_t rows = has_sweeps ? plan_.band.height : part.height();  // of a sweep, that are held at once
    for (std::int64_t y = part.y0; y < part.y1; y += rows) {
      const Rectangle band = intersection(part, {y, part.x0, y + rows, part.x1});
      compute_band(band, part_of(out, y - part.y0, 0, size_of(band)));
    }
  }

 private:
  void compute_band(const Rectangle& part, const AnyView& out) {
    const std::size_t root = plan_.entries.size() - 1;
    advance_sweeps(root, part);
    next_needed_ = needs_of(plan_, root, intersection(part.moved(part.height(), 0), plan_.region));
    visit_tiles(part, plan_.entries[root].tile, out, [&](int worker, const Rectangle& tile, const AnyView& to) {
      pool_.advance();
      if (const auto value = deliver(root, tile, to, worker_of(worker))) fill(to, *value);
    });
  }

  /// What a thread computes with.
  class Worker final : public Children {
   public:
    explicit Worker(State& state)
        : Children(state.plan_.scratch_bytes / static_cast<std::size_t>(state.plan_.threads)), state_(state) {}
    std::optional<double> fetch_into(const Node& child, const Rectangle& part, const AnyView& out) override {
      return state_.deliver(state_.numbers_.at(&child), part, out, *this);
    }

   private:
    State& state_;
  };

  Worker& worker_of(int number) {
    auto& worker = workers_[static_cast<std::size_t>(number)];
    if (!worker) worker = std::make_unique<Worker>(*this);
    return *worker;
  }

  /// Calls function(worker, tile, its part of out) for the tiles of a part, on all threads.
  template <class Function>
  void visit_tiles(const Rectangle& part, Size size, const AnyView& out, const Function& function) {
    const std::int64_t rows = (part.height() + size.height - 1) / size.height,
                       columns = (part.width() + size.width - 1) / size.width;
    Monitor monitor(execution_, rows * columns);
    parallel_jobs(execution_, plan_.threads, rows * columns, [&](int worker, std::int64_t job) {
      const std::int64_t y = job / columns * size.height, x = job % columns * size.width;
      const Rectangle tile =
          intersection({part.y0 + y, part.x0 + x, part.y0 + y + size.height, part.x0 + x + size.width}, part);
      function(worker, tile, part_of(out, y, x, size_of(tile)));
      monitor.advance(1);
    });
  }

  /// A part of an entry, from wherever it comes.
  std::optional<double> deliver(std::size_t number, const Rectangle& part, const AnyView& out, Worker& worker) {
    const Plan::Entry& entry = plan_.entries[number];
    if (cells_[number]) return from_cell(number, part, out, worker);
    if (entry.sweeps) {
      sweeps_[number]->read(part, out);
      return std::nullopt;
    }
    return entry.pooled ? from_pool(number, part, out, worker) : compute_part(entry, part, out, worker);
  }

  static std::optional<double> compute_part(const Plan::Entry& entry, const Rectangle& part, const AnyView& out,
                                            Worker& worker) {
    const Children::Mark mark(worker);
    const auto value = entry.node->compute(part, out, worker);
    return value ? std::optional(saturated(*value, entry.node->dtype())) : value;  // as pixels would have it
  }

  /// What lies in the region is copied; what is left around it is computed.
  std::optional<double> from_cell(std::size_t number, const Rectangle& part, const AnyView& out, Worker& worker) {
    const Plan::Entry& entry = plan_.entries[number];
    const Rectangle inner = intersection(part, cells_[number]->region());
    if (inner.empty()) return compute_part(entry, part, out, worker);
    const auto sub = [&](const Rectangle& of) { return part_of(out, of.y0 - part.y0, of.x0 - part.x0, size_of(of)); };
    cells_[number]->read(inner, sub(inner));
    for (const Rectangle& edge :
         {Rectangle{part.y0, part.x0, inner.y0, part.x1}, Rectangle{inner.y1, part.x0, part.y1, part.x1},
          Rectangle{inner.y0, part.x0, inner.y1, inner.x0}, Rectangle{inner.y0, inner.x1, inner.y1, part.x1}}) {
      if (edge.empty()) continue;
      if (const auto value = compute_part(entry, edge, sub(edge), worker)) fill(sub(edge), *value);
    }
    return std::nullopt;
  }

  std::optional<double> from_pool(std::size_t number, const Rectangle& part, const AnyView& out, Worker& worker) {
    const Plan::Entry& entry = plan_.entries[number];
    const Size side = entry.tile;
    std::optional<double> constant;
    bool is_constant = true;  // as long as all tiles are of one value nothing is written
    const auto write_from_now_on = [&] {
      if (constant) fill(out, *constant);  // of the tiles before; those behind are still to come
      constant.reset();
      is_constant = false;
    };
    for (std::int64_t ty = part.y0 / side.height; ty * side.height < part.y1; ++ty)
      for (std::int64_t tx = part.x0 / side.width; tx * side.width < part.x1; ++tx) {
        const Rectangle tile = intersection(
                            Rectangle{0, 0, side.height, side.width}.moved(ty * side.height, tx * side.width),
                            entry.node->whole()),
                        wanted = intersection(tile, part);
        const AnyView to = part_of(out, wanted.y0 - part.y0, wanted.x0 - part.x0, size_of(wanted));
        const auto use = [&](const Pixels& pixels) {
          if (is_constant && pixels.constant && (!constant || is_same(*constant, *pixels.constant))) {
            constant = pixels.constant;
            return;
          }
          write_from_now_on();
          if (pixels.constant) fill(to, *pixels.constant);
          else copy(part_of(pixels.view, wanted.y0 - tile.y0, wanted.x0 - tile.x0, size_of(wanted)), to);
        };
        const auto make = [&](const AnyView& pixels) { return compute_part(entry, tile, pixels, worker); };
        const bool again = !next_needed_.empty() && !intersection(next_needed_[number], tile).empty();
        if (pool_.with({number, ty, tx}, size_of(tile), entry.node->dtype(), again, make, use)) continue;
        write_from_now_on();
        if (const auto value = compute_part(entry, wanted, to, worker)) fill(to, *value);
      }
    return constant;
  }

  /// Cells are worth it once more was asked for than they hold, however small the parts.
  void make_cells(const Rectangle& part) {
    std::int64_t pixels = 0;
    for (const Plan::Entry& entry : plan_.entries)
      if (entry.cell) pixels += entry.cell->height * entry.cell->width;
    if (pixels == 0 || made_cells_) return;
    asked_pixels_ += part.area();
    if (asked_pixels_ < pixels) return;
    for (std::size_t k = 0; k < plan_.entries.size(); ++k) {
      const Plan::Entry& entry = plan_.entries[k];
      if (!entry.cell) continue;
      const Period& period = *entry.cell;
      advance_sweeps(k, cell_of(period));
      Array array(entry.node->dtype(), {period.height, stretched_width(period)});
      const Rectangle cell = cell_of(period);
      visit_tiles(cell, cell_tile(period), part_of(array.view(), 0, 0, size_of(cell)),
                  [&](int worker, const Rectangle& tile, const AnyView& to) {
                    if (const auto value = compute_part(entry, tile, to, worker_of(worker))) fill(to, *value);
                  });
      cells_[k] = std::make_unique<Cell>(period, std::move(array));
    }
    made_cells_ = true;
  }

  /// Makes rows available that a part of an entry is computed from.
  void advance_sweeps(std::size_t number, const Rectangle& part) {
    const std::vector<Rectangle> needed = needs_of(plan_, number, part, false);
    const auto is_needed = [&](std::size_t k) { return plan_.entries[k].sweeps && !needed[k].empty(); };
    for (std::size_t k = 0; k < plan_.entries.size(); ++k) {
      const Plan::Entry& entry = plan_.entries[k];
      if (!is_needed(k)) continue;
      if (!sweeps_[k]) {
        Sweep::Prepare prepare;
        if (entry.spools)
          prepare = [this, child = entry.children[0], width = entry.node->width()](std::int64_t y0, std::int64_t y1) {
            advance_sweeps(child, {y0, 0, y1, width});
          };
        const Node& mask = *entry.node->children()[0].node;
        sweeps_[k] = std::make_unique<Sweep>(
            dynamic_cast<const SweepNode&>(*entry.node),
            [&mask, this](int worker, const Rectangle& of, const std::function<void(const Pixels&)>& use) {
              const Children::Mark mark(worker_of(worker));
              use(worker_of(worker).fetch(mask, of));
            },
            [this](std::int64_t jobs, const std::function<void(int, std::int64_t)>& body) {
              Monitor monitor(execution_, jobs);
              parallel_jobs(execution_, plan_.threads, jobs, [&](int worker, std::int64_t job) {
                body(worker, job);
                monitor.look();
              });
            },
            std::move(prepare), plan_.threads, resolve(execution_.instruction_set));
      }
      sweeps_[k]->spool();  // moves those below to their ends, and before any of them is where this part needs it
    }
    for (std::size_t k = 0; k < plan_.entries.size(); ++k)
      if (is_needed(k) && plan_.entries[k].holds_all) sweeps_[k]->advance(0, plan_.entries[k].node->height());
      else if (is_needed(k)) sweeps_[k]->advance(needed[k].y0, needed[k].y1);
  }

  const Execution execution_;
  Plan plan_;
  const std::unique_ptr<DeviceGraph> device_;
  std::unordered_map<const Node*, std::size_t> numbers_;
  Pool pool_;
  std::vector<std::unique_ptr<Cell>> cells_;    ///< of entries; null: there is none, or not yet
  std::vector<std::unique_ptr<Sweep>> sweeps_;  ///< likewise
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Rectangle> next_needed_;  ///< of entries, for the band after the current one
  std::int64_t asked_pixels_ = 0;       ///< until there are cells
  bool made_cells_ = false;
};

Evaluator::Evaluator(NodeRef root, const EvaluatorOptions& options)
    : state_(std::make_unique<State>(std::move(root), options)) {}
Evaluator::~Evaluator() = default;
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;

const Plan& Evaluator::plan() const { return state_->plan(); }

namespace {

template <class View>
void check_part(const Plan& plan, const Rectangle& part, const View& out) {
  const DType dtype = plan.entries.back().node->dtype();
  if (part.empty() || !plan.region.contains(part))
    throw InvalidArgument("the part is empty, or reaches beyond the region that the evaluator was made for");
  if (!out.present() || out.dtype() != dtype || !(out.shape() == part.shape()))
    throw InvalidArgument("the output must be " + std::string(name_of(dtype)) + " of the part's shape, " +
                          to_string(part.shape()));
}

}  // namespace

void Evaluator::compute(const Rectangle& part, const AnyView& out) {
  check_part(plan(), part, out);
  state_->compute(part, out);
}

void Evaluator::compute(const Rectangle& part, const AnyDeviceView& out, Stream stream) {
  check_part(plan(), part, out);
  state_->compute(part, out, stream);
}

Array Evaluator::compute(const Rectangle& part) {
  Array out(plan().entries.back().node->dtype(), part.shape());
  compute(part, out.view());
  return out;
}

}  // namespace fathom::stream
