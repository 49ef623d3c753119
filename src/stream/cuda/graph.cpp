// A graph on a device: a part of the root is computed entry by entry, children before parents, a launch each, over the
// rectangle that is needed of the entry. What is needed again and again stays there: cells of rasters that repeat
// themselves, patterns, tables of functions. What only the CPU can do it does, on copies of the pixels that it takes.
//
// A walk over the entries without launches counts the memory that a part takes; what takes too much is divided.
#include "stream/cuda/graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/cuda/pool.h"
#include "core/cuda/readers.h"
#include "core/cuda/runtime.h"
#include "core/cuda/staging.h"
#include "core/parallel.h"
#include "fathom/core/error.h"
#include "stream/cell.h"
#include "stream/cuda/on_cpu.h"
#include "stream/cuda/steps.h"
#include "stream/cuda/work.h"
#include "stream/planner.h"
#include "stream/sweep.h"

namespace fathom::stream::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::DeviceMemory;
using fathom::cuda::Event;
using fathom::cuda::HostRows;
using fathom::cuda::OnDevice;
using fathom::cuda::OwnStream;
using fathom::cuda::Readers;
using fathom::cuda::Staging;

constexpr std::size_t kMostPattern = std::size_t{64} << 20;          ///< bytes of a pattern that is kept
constexpr std::int64_t kPieceBytes = std::int64_t{32} << 20;         ///< of a result on its way to the host
constexpr std::int64_t kMostRows = 1 << 21, kMostColumns = 1 << 23;  ///< of a part, as launches count

std::size_t bytes_of(const Rectangle& part, DType dtype) {
  return static_cast<std::size_t>(part.area()) * size_of(dtype);
}

/// Of a result that goes to the host.
struct Piece {
  Piece(const Rectangle& of, std::size_t bytes, cudaStream_t stream) : part(of), memory(bytes, stream) {}

  Rectangle part;
  DeviceMemory memory;
  Event computed, copied;
};
struct Streams {
  OwnStream computing, copying;
};
struct Waits {
  void operator()(void* stream) const { cudaStreamSynchronize(static_cast<cudaStream_t>(stream)); }
};

/// Where the sources lie that are in a device's memory, if there are any.
std::optional<int> device_of_pixels(const Plan& plan) {
  std::optional<int> found;
  for (const Plan::Entry& entry : plan.entries) {
    const AnyConstDeviceView pixels = resident_pixels(*entry.node);
    if (!pixels.present()) continue;
    const int device = fathom::cuda::device_of(pixels.data(), "pixels");
    if (found.value_or(device) != device)
      throw InvalidArgument("pixels of the graph lie on the CUDA devices " + std::to_string(*found) + " and " +
                            std::to_string(device) + "; copy them to one of them");
    found = device;
  }
  return found;
}

class Graph final : public DeviceGraph {
 public:
  Graph(Plan& plan, const EvaluatorOptions& options)
      : device_(current_device()),
        execution_(options.execution),
        entries_(plan.entries),
        kept_(3 * entries_.size()),
        steps_(entries_, kept_, entries_.size()) {
    std::size_t free = 0, all = 0;
    check(cudaMemGetInfo(&free, &all), "looking at the device");
    limit_ = execution_.scratch_limit.value_or((free + fathom::cuda::unused_bytes(device_)) / 2);
    divide_work(plan);
  }
  ~Graph() override {
    try {
      const OnDevice on_device(device_);
      readers_.hold_back(nullptr);
      kept_.clear();
    } catch (const Error&) {  // the device is gone, and the memory with it
    }
  }

  /// Whether the device computes all.
  bool is_whole() const { return on_cpu_.empty(); }

  /// Makes what computes the CPU's entries, and says in the plan what all takes.
  void complete(Plan& plan, const EvaluatorOptions& options) {
    EvaluatorOptions of_host{options.execution, options.memory};
    of_host.execution.backend = Backend::cpu;
    of_host.execution.progress = {};
    plan.scratch_bytes = plan.cell_bytes = plan.sweep_bytes = plan.pool_bytes = plan.disk_bytes = plan.source_bytes = 0;
    for (auto& [number, evaluator] : on_cpu_) {
      if (!stands_alone(number)) continue;
      evaluator.emplace(entries_[number].node, of_host);
      plan.scratch_bytes += evaluator->plan().bytes();
      plan.disk_bytes += evaluator->plan().disk_bytes;
    }
    plan.device = describe_device(device_).name;
    constexpr std::int64_t kLooks = 4;
    std::size_t on_host = 0;
    for (std::int64_t look = 0; look <= kLooks; ++look) {
      const std::int64_t y = plan.region.y0 + (plan.bands - 1) * look / kLooks * plan.band.height;
      const Rectangle band = intersection(plan.region, {y, plan.region.x0, y + plan.band.height, plan.region.x1});
      const Walk walk = walk_over(band);
      plan.device_bytes = std::max(plan.device_bytes, walk.most + 2 * bytes_of(band, dtype()));
      on_host = std::max(on_host, walk.on_host);
    }
    plan.scratch_bytes += on_host;
    plan.device_bytes = std::min(plan.device_bytes, limit_);
    region_bytes_ = bytes_of(plan.region, dtype());
  }

  /// Piece by piece: while one is copied the next one is computed.
  void compute(const Rectangle& part, const AnyView& out) override {
    const OnDevice on_device(device_);
    if (!streams_) streams_.emplace();
    const cudaStream_t computing = streams_->computing.get(), copying = streams_->copying.get();
    const int threads = execution_.threads > 0 ? execution_.threads : available_threads();
    if (!staging_) staging_.emplace(threads, region_bytes_);
    Monitor monitor(execution_, part.area());
    const std::int64_t size = static_cast<std::int64_t>(size_of(dtype())), pitch = out.strides()[0] * size,
                       rows = std::max<std::int64_t>(1, kPieceBytes / (part.width() * size));
    std::unique_ptr<Piece> last;
    const std::unique_ptr<void, Waits> until_copied(copying);  // also where something fails
    const auto finish = [&] {
      if (!last) return;
      const Rectangle& some = last->part;
      HostRows<std::byte> to;
      to.data = out.data() + (some.y0 - part.y0) * pitch + (some.x0 - part.x0) * size;
      to.count = some.height();
      to.bytes = static_cast<std::size_t>(some.width() * size);
      to.extent.push_back(some.height());
      to.stride.push_back(pitch);
      to.join();
      last->computed.hold_back(copying);
      staging_->download(last->memory.data(), to, copying);
      last->copied.record(copying);
      last->copied.hold_back(computing);  // which takes the memory back
      monitor.advance(some.area());
      last.reset();
    };
    keep_what(computing, [&] {
      for (std::int64_t y = part.y0; y < part.y1; y += rows)
        each_part(intersection(part, {y, part.x0, y + rows, part.x1}), static_cast<std::size_t>(2 * size),
                  [&](const Rectangle& some) {
                    const auto bytes = bytes_of(some, dtype());
                    auto next = std::make_unique<Piece>(some, bytes, computing);
                    run(some, {next->memory.data(), dtype(), some, some.width()}, computing);
                    next->computed.record(computing);
                    finish();
                    last = std::move(next);
                  });
      finish();
    });
    streams_->copying.wait();
  }

  void compute(const Rectangle& part, const AnyDeviceView& out, Stream given) override {
    if (fathom::cuda::device_of(out.data(), "out") != device_)
      throw InvalidArgument("the output is in the memory of another device than the evaluator was made for");
    const OnDevice on_device(device_);
    const cudaStream_t stream = fathom::cuda::native(given);
    const Readers::Reading reading(readers_, stream);
    const Patch to{out.data(), dtype(), part, out.strides()[0]};
    keep_what(stream, [&] { each_part(part, 0, [&](const Rectangle& some) { run(some, to.of(some), stream); }); });
  }

 private:
  /// What is made to be kept is there when the call returns, for whatever stream comes next; none of it after a
  /// failure.
  template <class Work>
  void keep_what(cudaStream_t stream, const Work& work) {
    const int made = kept_.made();
    try {
      work();
    } catch (...) {
      if (kept_.made() != made) {
        cudaStreamSynchronize(stream);
        readers_.hold_back(nullptr);
        kept_.clear();
      }
      throw;
    }
    if (kept_.made() != made) check(cudaStreamSynchronize(stream), "computing");
  }

  DType dtype() const { return entries_.back().node->dtype(); }
  bool is_exact(std::size_t k) const { return steps_.is_exact(k) && !on_cpu_.contains(k); }
  std::size_t number_of_cell(std::size_t k) const { return 2 * entries_.size() + k; }
  bool has_cell(std::size_t k) const { return entries_[k].cell && !stands_alone(k) && !is_exact(k); }
  /// Whether the CPU computes an entry without the device's help: a source, and what is swept.
  bool stands_alone(std::size_t k) const {
    return on_cpu_.contains(k) && (entries_[k].children.empty() || entries_[k].sweeps);
  }

  /// Says what the device computes of what is needed there.
  void divide_work(Plan& plan) {
    std::vector<bool> reached(entries_.size());
    reached.back() = true;
    for (std::size_t k = entries_.size(); k-- > 0;) {
      if (!reached[k]) continue;
      plan.entries[k].on_device = steps_.can_compute(k, limit_);
      if (!plan.entries[k].on_device) on_cpu_[k];
      if (stands_alone(k)) continue;
      const auto* look = steps_.as<operation::Look>(k);
      for (const std::size_t child : entries_[k].children) {
        reached[child] = true;
        if (steps_.as<operation::Copies>(k) || (look && look->repeats)) patterns_.insert(child);
      }
    }
  }

  /// Counts what a part takes.
  Walk walk_over(const Rectangle& part) {
    Walk walk{.counts = true};
    walk.count(kept_.bytes());
    provide(entries_.size() - 1, part, {nullptr, dtype(), part, part.width()}, walk);
    return walk;
  }

  /// Calls use(some) for as many parts of a part as it takes to keep to the limit.
  /// @param of_pixel  bytes that the caller takes for each
  template <class Use>
  void each_part(const Rectangle& part, std::size_t of_pixel, const Use& use) {
    if (part.height() <= kMostRows && part.width() <= kMostColumns) {
      const std::size_t bytes = walk_over(part).most + of_pixel * static_cast<std::size_t>(part.area());
      if (bytes <= limit_) return use(part);
      if (part.area() == 1)
        throw InvalidArgument("the graph takes " + std::to_string(bytes) +
                              " bytes of the device's memory or more; the limit is " + std::to_string(limit_));
    }
    const bool by_rows = part.height() > 1 && (part.width() <= kMostColumns || part.height() > kMostRows);
    Rectangle first = part, second = part;
    if (by_rows) first.y1 = second.y0 = part.y0 + part.height() / 2;
    else first.x1 = second.x0 = part.x0 + part.width() / 2;
    each_part(first, of_pixel, use);
    each_part(second, of_pixel, use);
  }

  void run(const Rectangle& part, const Patch& to, cudaStream_t stream) {
    Walk walk{.stream = stream};
    provide(entries_.size() - 1, part, to, walk);
  }

  /// A part of an entry, from its cell where there is one.
  void provide(std::size_t k, const Rectangle& part, const Patch& to, Walk& walk) {
    const auto& period = entries_[k].cell;
    const Rectangle inner = has_cell(k) ? intersection(part, period->region) : Rectangle{};
    if (inner.empty()) return evaluate(k, part, to, walk);
    make_cell(k, walk);
    if (!walk.counts)
      copy_cell(kept_[number_of_cell(k)].cell, inner.y0 - period->region.y0, inner.x0 - period->region.x0, to.of(inner),
                walk.stream);
    for (const Rectangle& edge :
         {Rectangle{part.y0, part.x0, inner.y0, part.x1}, Rectangle{inner.y1, part.x0, part.y1, part.x1},
          Rectangle{inner.y0, part.x0, inner.y1, inner.x0}, Rectangle{inner.y0, inner.x1, inner.y1, part.x1}})
      if (!edge.empty()) evaluate(k, edge, to.of(edge), walk);
  }

  void make_cell(std::size_t k, Walk& walk) {
    const Period& period = *entries_[k].cell;
    const std::size_t number = number_of_cell(k);
    const DType type = entries_[k].node->dtype();
    const auto size = static_cast<std::int64_t>(size_of(type));
    const std::int64_t width = period.width * size, pitch = (width + DeviceCell::kAgain + 3) / 4 * 4;
    if (!kept_.add(number, static_cast<std::size_t>(pitch * period.height), walk)) return;
    const Rectangle all = cell_of(period);
    std::byte* const data = walk.counts ? nullptr : kept_[number].memory->data();
    evaluate(k, all, {data, type, all, pitch / size}, walk);
    if (walk.counts) return;
    kept_[number].cell = {data, pitch, period.height, width, period.skew * size};
    stretch(kept_[number].cell, walk.stream);
  }

  /// A part of an entry, from its children.
  void evaluate(std::size_t root, const Rectangle& part, const Patch& to, Walk& walk) {
    std::vector<Rectangle> needed(root + 1);
    std::vector<std::size_t> last(root + 1);  // entries that need it last
    needed[root] = part;
    const auto is_kept = [&](std::size_t k) {
      return is_exact(k) || (patterns_.contains(k) && needed[k] == entries_[k].node->whole() &&
                             bytes_of(needed[k], entries_[k].node->dtype()) <= kMostPattern);
    };
    for (std::size_t k = root + 1; k-- > 0;) {
      if (needed[k].empty() || stands_alone(k) || (k < root && has_cell(k))) continue;
      if (is_exact(k)) needed[k] = entries_[k].node->whole();
      if ((k < root || is_exact(k)) && is_kept(k) && kept_[k].memory) continue;
      for (std::size_t child = 0; child < entries_[k].children.size(); ++child) {
        const std::size_t number = entries_[k].children[child];
        needed[number] = around(needed[number], steps_.need_of(k, child, needed[k]));
        last[number] = std::max(last[number], k);
      }
    }
    std::vector<std::unique_ptr<Taken>> taken(root + 1);
    std::vector<Patch> patches(root + 1);
    for (std::size_t k = 0; k <= root; ++k) {
      if (needed[k].empty()) continue;
      const DType type = entries_[k].node->dtype();
      Patch& patch = patches[k];
      if (const auto* there = steps_.as<operation::Resident>(k)) {
        const AnyConstDeviceView& pixels = there->pixels;
        patch = {const_cast<std::byte*>(pixels.data()), type, entries_[k].node->whole(), pixels.strides()[0]};
        if (k == root && !walk.counts) look({}, patch, {}, to, walk.stream);
      } else if (k == root && !is_exact(k)) {
        launch(k, part, to, patches, walk);
      } else if (is_kept(k)) {
        const bool is_new = kept_.add(k, bytes_of(needed[k], type), walk);
        if (is_new && !walk.counts) kept_[k].patch = {kept_[k].memory->data(), type, needed[k], needed[k].width()};
        patch = walk.counts ? Patch{nullptr, type, needed[k], needed[k].width()} : kept_[k].patch;
        if (is_new) fill(k, needed[k], patch, patches, walk);
      } else {
        taken[k] = std::make_unique<Taken>(walk, bytes_of(needed[k], type));
        patch = {taken[k]->data(), type, needed[k], needed[k].width()};
        fill(k, needed[k], patch, patches, walk);
      }
      for (std::size_t child = 0; child < k; ++child)
        if (last[child] == k) taken[child].reset();
    }
    if (is_exact(root) && !walk.counts) look({}, patches[root], {}, to, walk.stream);
  }

  void fill(std::size_t k, const Rectangle& part, const Patch& to, const std::vector<Patch>& patches, Walk& walk) {
    if (has_cell(k)) provide(k, part, to, walk);
    else launch(k, part, to, patches, walk);
  }

  /// An entry's own step, wherever it is done.
  void launch(std::size_t k, const Rectangle& part, const Patch& to, const std::vector<Patch>& patches, Walk& walk) {
    if (stands_alone(k)) {
      if (walk.counts) return;
      refuse_capture(walk.stream);
      return upload(on_cpu_.at(k)->compute(part), to, walk.stream);
    }
    if (!on_cpu_.contains(k) && steps_.launch(k, part, to, patches, walk)) return;
    std::vector<Patch> children;
    for (const std::size_t child : entries_[k].children) children.push_back(patches[child]);
    compute_on_cpu(*entries_[k].node, part, to, children, execution_, walk);
  }

  const int device_;
  const Execution execution_;
  const std::vector<Plan::Entry> entries_;
  Kept kept_;  ///< pixels of entries; behind them their tables, and their cells
  Steps steps_;
  std::map<std::size_t, std::optional<Evaluator>> on_cpu_;  ///< entries that the CPU computes
  std::set<std::size_t> patterns_;                          ///< entries of which there are copies
  std::size_t limit_ = 0, region_bytes_ = 0;
  Readers readers_;
  std::optional<Streams> streams_;  ///< for calls into memory of the host
  std::optional<Staging> staging_;
};

}  // namespace

std::unique_ptr<DeviceGraph> make_device_graph(Plan& plan, const EvaluatorOptions& options, bool wants_all) {
  const OnDevice on_device(device_of_pixels(plan).value_or(current_device()));
  auto graph = std::make_unique<Graph>(plan, options);
  if (wants_all && !graph->is_whole()) {
    for (Plan::Entry& entry : plan.entries) entry.on_device = false;
    return nullptr;
  }
  graph->complete(plan, options);
  return graph;
}

void read(const AnyConstDeviceView& pixels, const Rectangle& part, const AnyView& out) {
  const OnDevice on_device(fathom::cuda::device_of(pixels.data(), "pixels"));
  const auto size = static_cast<std::int64_t>(size_of(pixels.dtype()));
  const auto pitch = [&](const auto& view) { return static_cast<std::size_t>(view.strides()[0] * size); };
  check(cudaMemcpy2DAsync(out.data(), pitch(out), pixels.data() + (part.y0 * pixels.strides()[0] + part.x0) * size,
                          pitch(pixels), static_cast<std::size_t>(part.width() * size),
                          static_cast<std::size_t>(part.height()), cudaMemcpyDeviceToHost, nullptr),
        "copying from the device");
  check(cudaStreamSynchronize(nullptr), "copying from the device");
}

}  // namespace fathom::stream::cuda
