// A graph on a device: a part of the root is computed entry by entry, children before parents, a launch each, over the
// rectangle that is needed of the entry. What is needed again and again stays there: cells of rasters that repeat
// themselves, patterns, tables of functions. What only the CPU can do is computed by it, and copied.
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
#include "core/root.hd.h"
#include "fathom/core/error.h"
#include "stream/cell.h"
#include "stream/cuda/near.h"
#include "stream/cuda/pixels.h"
#include "stream/distance.h"
#include "stream/operation.h"

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
constexpr std::int64_t kMostRoots = 1 << 20;                         ///< squares that float's roots tell apart
constexpr std::int64_t kMostRows = 1 << 21, kMostColumns = 1 << 23;  ///< of a part, as launches count

std::size_t bytes_of(const Rectangle& part, DType dtype) {
  return static_cast<std::size_t>(part.area()) * size_of(dtype);
}

Rectangle around(const Rectangle& a, const Rectangle& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.y0, b.y0), std::min(a.x0, b.x0), std::max(a.y1, b.y1), std::max(a.x1, b.x1)};
}

int bits_of(DType dtype) { return dtype == DType::boolean ? 1 : static_cast<int>(8 * size_of(dtype)); }

/// What stays on the device once it is made: an entry's pixels, its cell, or its table.
struct Kept {
  std::unique_ptr<DeviceMemory> memory;
  Patch patch;
  DeviceCell cell;
};

class Graph final : public DeviceGraph {
 public:
  Graph(Plan& plan, const EvaluatorOptions& options)
      : device_(current_device()), execution_(options.execution), entries_(plan.entries) {
    for (const Plan::Entry& entry : entries_) operations_.push_back(entry.node->operation());
    kept_.resize(3 * entries_.size());
    std::size_t free = 0, all = 0;
    check(cudaMemGetInfo(&free, &all), "looking at the device");
    limit_ = execution_.scratch_limit.value_or((free + fathom::cuda::unused_bytes(device_)) / 2);
    find_roots();
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

  bool is_whole() const { return hosts_.empty(); }

  /// Makes what computes the CPU's entries, and says in the plan what all takes.
  void complete(Plan& plan, const EvaluatorOptions& options) {
    EvaluatorOptions of_host{options.execution, options.memory};
    of_host.execution.backend = Backend::cpu;
    of_host.execution.progress = {};
    plan.scratch_bytes = plan.cell_bytes = plan.sweep_bytes = plan.pool_bytes = plan.disk_bytes = plan.source_bytes = 0;
    for (auto& [number, evaluator] : hosts_) {
      evaluator.emplace(entries_[number].node, of_host);
      plan.scratch_bytes += evaluator->plan().bytes();
      plan.disk_bytes += evaluator->plan().disk_bytes;
    }
    plan.device = describe_device(device_).name;
    constexpr std::int64_t kLooks = 4;
    for (std::int64_t look = 0; look <= kLooks; ++look) {
      const std::int64_t y = plan.region.y0 + (plan.bands - 1) * look / kLooks * plan.band.height;
      const Rectangle band = intersection(plan.region, {y, plan.region.x0, y + plan.band.height, plan.region.x1});
      plan.device_bytes = std::max(plan.device_bytes, bytes_for(band) + bytes_of(band, dtype()));
    }
    plan.device_bytes = std::min(plan.device_bytes, limit_);
    region_bytes_ = bytes_of(plan.region, dtype());
  }

  void compute(const Rectangle& part, const AnyView& out) override {
    const OnDevice on_device(device_);
    if (!stream_) stream_.emplace();
    const int threads = execution_.threads > 0 ? execution_.threads : available_threads();
    if (!staging_) staging_.emplace(threads, region_bytes_);
    Monitor monitor(execution_, part.area());
    const std::int64_t size = static_cast<std::int64_t>(size_of(dtype())), pitch = out.strides()[0] * size;
    const Begun begun(*this, stream_->get());
    each_part(part, static_cast<std::size_t>(size), [&](const Rectangle& some) {
      const DeviceMemory memory(bytes_of(some, dtype()), stream_->get());
      run(some, {memory.data(), dtype(), some, some.width()}, stream_->get());
      HostRows<std::byte> rows;
      rows.data = out.data() + (some.y0 - part.y0) * pitch + (some.x0 - part.x0) * size;
      rows.count = some.height();
      rows.bytes = static_cast<std::size_t>(some.width() * size);
      rows.extent.push_back(some.height());
      rows.stride.push_back(pitch);
      rows.join();
      staging_->download(memory.data(), rows, stream_->get());
      monitor.advance(some.area());
    });
    stream_->wait();
  }

  void compute(const Rectangle& part, const AnyDeviceView& out, Stream given) override {
    if (fathom::cuda::device_of(out.data(), "out") != device_)
      throw InvalidArgument("the output is in the memory of another device than the evaluator was made for");
    const OnDevice on_device(device_);
    const cudaStream_t stream = fathom::cuda::native(given);
    const Readers::Reading reading(readers_, stream);
    const Begun begun(*this, stream);
    const Patch to{out.data(), dtype(), part, out.strides()[0]};
    each_part(part, 0, [&](const Rectangle& some) { run(some, to.of(some), stream); });
  }

 private:
  /// A call in a stream: after those before it that made what is kept.
  class Begun {
   public:
    Begun(Graph& graph, cudaStream_t stream) : graph_(graph), stream_(stream), made_(graph.made_) {
      if (graph.made_ > 0 && stream != graph.made_in_) graph.event_.hold_back(stream);
    }
    ~Begun() {
      if (graph_.made_ == made_) return;
      graph_.made_in_ = stream_;
      try {
        graph_.event_.record(stream_);
      } catch (const Error&) {  // the device is gone
      }
    }
    Begun(const Begun&) = delete;
    Begun& operator=(const Begun&) = delete;

   private:
    Graph& graph_;
    cudaStream_t stream_;
    int made_;
  };

  /// One walk over the graph: with launches, or counting memory alone.
  struct Walk {
    cudaStream_t stream;
    bool counts;
    std::size_t now = 0, most = 0;
    std::set<std::size_t> kept = {};  ///< what is counted already

    void count(std::size_t bytes) { most = std::max(most, now += bytes); }
  };
  /// Memory for some of a walk.
  class Taken {
   public:
    Taken(Walk& walk, std::size_t bytes) : walk_(walk), bytes_(bytes) {
      walk_.count(bytes);
      if (!walk.counts) memory_.emplace(bytes, walk.stream);
    }
    ~Taken() { walk_.now -= bytes_; }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    std::byte* data() const { return memory_ ? memory_->data() : nullptr; }

   private:
    Walk& walk_;
    std::size_t bytes_;
    std::optional<DeviceMemory> memory_;
  };
  /// An array for the launches of one entry.
  template <class T>
  class Copied {
   public:
    Copied(Walk& walk, const std::vector<T>& from) : taken_(walk, from.size() * sizeof(T)) {
      if (!walk.counts && !from.empty())
        check(cudaMemcpyAsync(taken_.data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, walk.stream),
              "copying to the device");
    }
    const T* data() const { return reinterpret_cast<const T*>(taken_.data()); }

   private:
    Taken taken_;
  };

  DType dtype() const { return entries_.back().node->dtype(); }
  bool is_exact(std::size_t k) const {
    const auto* far = operations_[k] ? operations_[k]->as<operation::Far>() : nullptr;
    return far && far->options.max == INFINITY && !hosts_.contains(k);
  }

  std::size_t number_of_table(std::size_t k) const { return entries_.size() + k; }
  std::size_t number_of_cell(std::size_t k) const { return 2 * entries_.size() + k; }
  bool has_cell(std::size_t k) const { return entries_[k].cell && !hosts_.contains(k) && !is_exact(k); }

  /// Of each entry whose pixels are known to be +inf or roots of integers: how many integers.
  void find_roots() {
    roots_.resize(entries_.size());
    for (std::size_t k = 0; k < entries_.size(); ++k) {
      const Plan::Entry& entry = entries_[k];
      const auto of_child = [&](std::size_t child) { return roots_[entry.children[child]]; };
      if (!operations_[k]) continue;
      if (const auto* far = operations_[k]->as<operation::Far>(); far && !far->options.signed_distance) {
        const double steps = far->options.max / entry.node->pixel().size,
                     diagonal = std::hypot(static_cast<double>(entry.node->height()),
                                           static_cast<double>(entry.node->width())),
                     most = std::ceil(std::min(steps, diagonal)) + 1;
        if (most * most < kMostRoots) roots_[k] = static_cast<std::int64_t>(most * most);
      } else if (const auto* look = operations_[k]->as<operation::Look>(); look && look->ratio == 0) {
        roots_[k] = of_child(0);
      } else if (const auto* masked = operations_[k]->as<operation::Masked>(); masked && masked->background == 0) {
        roots_[k] = of_child(0);
      } else if (const auto* copies = operations_[k]->as<operation::Copies>();
                 copies && copies->blending.background == 0 && copies->blending.blend != Blend::sum &&
                 copies->blending.blend != Blend::mean) {
        for (std::size_t child = 0; child < entry.children.size(); ++child)
          if (entry.node->children()[child].role != Role::mask)
            roots_[k] = child > 0 && roots_[k] == 0 ? 0
                        : of_child(child) == 0      ? 0
                                                    : std::max(roots_[k], of_child(child));
      }
    }
  }

  bool can_compute(std::size_t k) const {
    if (!operations_[k]) return false;
    const Plan::Entry& entry = entries_[k];
    if (operations_[k]->as<operation::Function>()) {
      if (entry.children.size() == 1 && roots_[entry.children[0]] > 0) return true;
      int bits = 0;
      for (const std::size_t child : entry.children)
        bits += entries_[child].node->dtype() == DType::float32 ? Table::kMostBits + 1
                                                                : bits_of(entries_[child].node->dtype());
      return bits <= Table::kMostBits;
    }
    if (const auto* far = operations_[k]->as<operation::Far>(); far && far->options.max == INFINITY) {
      const Node& mask = *entry.node->children()[0].node;
      if (static_cast<double>(mask.height()) * static_cast<double>(mask.width()) * 8 > static_cast<double>(limit_))
        return false;
      const std::size_t bytes = bytes_of(mask.whole(), DType::float32) + bytes_of(mask.whole(), mask.dtype());
      return bytes + grid_scratch(k, mask.whole(), mask.whole(), far->options) <= limit_ / 2;
    }
    return true;
  }

  /// Says what the device computes of what is needed there.
  void divide_work(Plan& plan) {
    std::vector<bool> reached(entries_.size());
    reached.back() = true;
    for (std::size_t k = entries_.size(); k-- > 0;) {
      plan.entries[k].on_device = reached[k] && can_compute(k);
      if (!reached[k]) continue;
      if (!plan.entries[k].on_device) {
        hosts_[k];
        continue;
      }
      const auto* look = operations_[k]->as<operation::Look>();
      for (const std::size_t child : entries_[k].children) {
        reached[child] = true;
        if (operations_[k]->as<operation::Copies>() || (look && look->repeats)) patterns_.insert(child);
      }
    }
  }

  std::size_t bytes_for(const Rectangle& part) {
    Walk walk{nullptr, true};
    provide(entries_.size() - 1, part, {nullptr, dtype(), part, part.width()}, walk);
    return walk.most + kept_bytes_;
  }

  /// Calls use(some) for as many parts of a part as it takes to keep to the limit.
  /// @param of_pixel  bytes that the caller takes for each
  template <class Use>
  void each_part(const Rectangle& part, std::size_t of_pixel, const Use& use) {
    if (part.height() <= kMostRows && part.width() <= kMostColumns) {
      const std::size_t bytes = bytes_for(part) + of_pixel * static_cast<std::size_t>(part.area());
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
    Walk walk{stream, false};
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

  /// Memory that stays. @returns whether it is to be filled
  bool keep(std::size_t number, std::size_t bytes, Walk& walk) {
    if (kept_[number].memory) return false;
    if (walk.counts) {
      if (!walk.kept.insert(number).second) return false;
      walk.count(bytes);
      return true;
    }
    kept_[number].memory = std::make_unique<DeviceMemory>(bytes, nullptr);
    check(cudaStreamSynchronize(nullptr), "asking for memory");
    kept_bytes_ += bytes;
    ++made_;
    return true;
  }

  void make_cell(std::size_t k, Walk& walk) {
    const Period& period = *entries_[k].cell;
    const std::size_t number = number_of_cell(k);
    const DType type = entries_[k].node->dtype();
    const auto size = static_cast<std::int64_t>(size_of(type));
    const std::int64_t width = period.width * size, pitch = (width + DeviceCell::kAgain + 3) / 4 * 4;
    if (!keep(number, static_cast<std::size_t>(pitch * period.height), walk)) return;
    const Rectangle all = cell_of(period);
    Kept& kept = kept_[number];
    std::byte* const data = walk.counts ? nullptr : kept.memory->data();
    evaluate(k, all, {data, type, all, pitch / size}, walk);
    if (walk.counts) return;
    kept.cell = {data, pitch, period.height, width, period.skew * size};
    stretch(kept.cell, walk.stream);
  }

  /// What an entry's part needs of a child: of copies no more than they show.
  Rectangle need_of(std::size_t k, std::size_t child, const Rectangle& part) const {
    const Node& node = *entries_[k].node;
    const auto* copies = operations_[k]->as<operation::Copies>();
    if (!copies) return node.need(child, part);
    const bool of_all = node.children()[child].role == Role::mask || node.children()[child].role == Role::weight;
    Rectangle need;
    for (const Placement& copy : copies->in(part))
      if (of_all || static_cast<std::size_t>(copy.child) == child) {
        const Rectangle seen = intersection(node.children()[child].node->whole().moved(copy.y, copy.x), part);
        need = around(need, seen.moved(-copy.y, -copy.x));
      }
    return need;
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
      if (needed[k].empty() || hosts_.contains(k) || (k < root && has_cell(k))) continue;
      if (is_exact(k)) needed[k] = entries_[k].node->whole();
      if ((k < root || is_exact(k)) && is_kept(k) && kept_[k].memory) continue;
      for (std::size_t child = 0; child < entries_[k].children.size(); ++child) {
        const std::size_t number = entries_[k].children[child];
        needed[number] = around(needed[number], need_of(k, child, needed[k]));
        last[number] = std::max(last[number], k);
      }
    }
    std::vector<std::unique_ptr<Taken>> taken(root + 1);
    std::vector<Patch> patches(root + 1);
    for (std::size_t k = 0; k <= root; ++k) {
      if (needed[k].empty()) continue;
      const DType type = entries_[k].node->dtype();
      Patch& patch = patches[k];
      if (k == root && !is_exact(k)) {
        launch(k, part, to, patches, walk);
      } else if (is_kept(k)) {
        const bool is_new = keep(k, bytes_of(needed[k], type), walk);
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

  /// An entry's own step.
  void launch(std::size_t k, const Rectangle& part, const Patch& to, const std::vector<Patch>& patches, Walk& walk) {
    if (const auto host = hosts_.find(k); host != hosts_.end()) return upload(*host->second, part, to, walk);
    const Plan::Entry& entry = entries_[k];
    const auto of_child = [&](std::size_t child) {
      const Child& there = entry.node->children()[child];
      return patches[entry.children[child]].moved(there.y, there.x);
    };
    std::visit([&](const auto& how) { start(k, how, part, of_child, to, walk); }, operations_[k]->what);
  }

  template <class OfChild>
  void start(std::size_t k, const operation::Function& how, const Rectangle&, const OfChild& of_child, const Patch& to,
             Walk& walk) {
    const Plan::Entry& entry = entries_[k];
    const bool of_roots = entry.children.size() == 1 && entries_[entry.children[0]].node->dtype() == DType::float32;
    if (of_roots) {
      const RootTable table = table_of_roots(k, how, walk);
      if (!walk.counts) look_up_roots(of_child(0), table, to, walk.stream);
      return;
    }
    Table table;
    for (std::size_t child = 0; child < entry.children.size(); ++child) {
      table.children[child] = of_child(child);
      table.bits[child] = bits_of(entries_[entry.children[child]].node->dtype());
    }
    table.count = static_cast<int>(entry.children.size());
    table.values = value_table(k, how, table, walk);
    if (!walk.counts) look_up(table, to, walk.stream);
  }
  template <class OfChild>
  void start(std::size_t, const operation::Noise& how, const Rectangle&, const OfChild&, const Patch& to, Walk& walk) {
    if (!walk.counts) make_noise(how.seed, to, walk.stream);
  }
  template <class OfChild>
  void start(std::size_t k, const operation::Look& how, const Rectangle&, const OfChild& of_child, const Patch& to,
             Walk& walk) {
    const Node& child = *entries_[k].node->children()[0].node;
    if (!walk.counts) look(how, of_child(0), {child.height(), child.width()}, to, walk.stream);
  }
  template <class OfChild>
  void start(std::size_t, const operation::Masked& how, const Rectangle&, const OfChild& of_child, const Patch& to,
             Walk& walk) {
    if (!walk.counts) set_masked(of_child(0), of_child(1), how.background, to, walk.stream);
  }
  template <class OfChild>
  void start(std::size_t, const operation::Limit& how, const Rectangle&, const OfChild& of_child, const Patch& to,
             Walk& walk) {
    if (!walk.counts) limit(of_child(0), how, to, walk.stream);
  }
  template <class OfChild>
  void start(std::size_t k, const operation::Dither& how, const Rectangle&, const OfChild& of_child, const Patch& to,
             Walk& walk) {
    const double* const limits = table<double>(k, how.limits.size(), walk, [&] { return how.limits; });
    if (!walk.counts) dither(of_child(0), limits, how.side, to, walk.stream);
  }

  template <class OfChild>
  void start(std::size_t k, const operation::Copies& how, const Rectangle& part, const OfChild& of_child,
             const Patch& to, Walk& walk) {
    const Node& node = *entries_[k].node;
    const std::vector<Placement> copies = how.in(part);
    std::vector<Patch> children;
    CopyLists lists;
    for (std::size_t child = 0; child < node.children().size(); ++child) {
      children.push_back(of_child(child));
      if (node.children()[child].role == Role::mask) lists.mask = of_child(child);
      if (node.children()[child].role == Role::weight) lists.weight = of_child(child);
    }
    constexpr std::int64_t kSide = CopyLists::kSide;
    lists.across = (part.width() + kSide - 1) / kSide;
    const std::int64_t squares = lists.across * ((part.height() + kSide - 1) / kSide);
    std::vector<std::int32_t> starts(static_cast<std::size_t>(squares) + 1), numbers;
    const auto each = [&](const auto& use) {
      for (std::size_t n = 0; n < copies.size(); ++n) {
        const Placement& copy = copies[n];
        const Node& child = *node.children()[static_cast<std::size_t>(copy.child)].node;
        const Rectangle seen = intersection(child.whole().moved(copy.y, copy.x), part).moved(-part.y0, -part.x0);
        if (seen.empty()) continue;
        for (std::int64_t y = seen.y0 / kSide; y * kSide < seen.y1; ++y)
          for (std::int64_t x = seen.x0 / kSide; x * kSide < seen.x1; ++x)
            use(static_cast<std::size_t>(y * lists.across + x), static_cast<std::int32_t>(n));
      }
    };
    each([&](std::size_t square, std::int32_t) { ++starts[square + 1]; });
    for (std::size_t square = 1; square < starts.size(); ++square) starts[square] += starts[square - 1];
    numbers.resize(static_cast<std::size_t>(starts.back()));
    std::vector<std::int32_t> next = starts;
    each([&](std::size_t square, std::int32_t n) { numbers[static_cast<std::size_t>(next[square]++)] = n; });
    const Copied<Placement> there(walk, copies);
    const Copied<Patch> patches(walk, children);
    const Copied<std::int32_t> of_starts(walk, starts), of_numbers(walk, numbers);
    lists.copies = there.data();
    lists.children = patches.data();
    lists.starts = of_starts.data();
    lists.numbers = of_numbers.data();
    if (!walk.counts) blend(lists, how.blending, to, walk.stream);
  }

  template <class OfChild>
  void start(std::size_t k, const operation::Far& how, const Rectangle& part, const OfChild& of_child, const Patch& to,
             Walk& walk) {
    const Node& node = *entries_[k].node;
    const double unit = node.pixel().size, steps = how.options.max / unit;
    const int reach =
        steps < NearDistance::kMostReach ? static_cast<int>(std::ceil(steps)) : NearDistance::kMostReach + 1;
    if (!how.options.signed_distance && fits_block(reach)) {
      const double most = how.options.max * (unit == std::floor(unit) ? 1 : 1 + 0x1p-50);  // as grid has it
      auto limit = static_cast<std::uint32_t>(reach * reach);
      while (exact_sqrt(limit) * unit > most) --limit;
      const Taken bits(walk, near_scratch_bytes(size_of(part), reach));
      if (!walk.counts) find_near(of_child(0), {reach, limit, unit, how.options.to_zero}, bits.data(), to, walk.stream);
      return;
    }
    const Rectangle from = node.need(0, part);
    if (walk.counts) {
      const std::size_t bytes = grid_scratch(k, from, part, how.options);
      walk.count(bytes);
      walk.now -= bytes;
      return;
    }
    const Patch mask = of_child(0).of(from);
    grid::DeviceDistanceOutputs outputs;
    outputs.distance = AnyDeviceView(to.data, DType::float32, part.shape(), {to.pitch, 1});
    grid::distance_transform(AnyConstDeviceView(mask.data, mask.dtype, from.shape(), {mask.pitch, 1}),
                             grid_options(how.options, unit, part.moved(-from.y0, -from.x0)), outputs, {walk.stream});
  }

  std::size_t grid_scratch(std::size_t k, const Rectangle& from, const Rectangle& part,
                           const DistanceOptions& wanted) const {
    const Node& node = *entries_[k].node;
    grid::DeviceDistanceOutputs outputs;
    outputs.distance = AnyDeviceView(nullptr, DType::float32, part.shape());
    return grid::scratch_bytes(AnyConstDeviceView(nullptr, node.children()[0].node->dtype(), from.shape()),
                               grid_options(wanted, node.pixel().size, part.moved(-from.y0, -from.x0)), outputs);
  }

  /// Values on the device, made once.
  template <class T, class Make>
  const T* table(std::size_t k, std::size_t count, Walk& walk, const Make& make) {
    const std::size_t number = number_of_table(k), bytes = count * sizeof(T);
    const bool is_new = keep(number, bytes, walk);
    if (walk.counts) return nullptr;
    std::byte* const data = kept_[number].memory->data();
    if (is_new) check(cudaMemcpy(data, make().data(), bytes, cudaMemcpyHostToDevice), "copying a table");
    return reinterpret_cast<const T*>(data);
  }

  const float* value_table(std::size_t k, const operation::Function& how, const Table& from, Walk& walk) {
    int bits = 0;
    for (int child = 0; child < from.count; ++child) bits += from.bits[child];
    return table<float>(k, std::size_t{1} << bits, walk, [&] {
      std::vector<float> values(std::size_t{1} << bits);
      std::vector<double> of(static_cast<std::size_t>(from.count));
      for (std::size_t index = 0; index < values.size(); ++index) {
        std::size_t left = index;
        for (std::size_t child = 0; child < of.size(); left >>= from.bits[child++])
          of[child] = static_cast<double>(left & ((std::size_t{1} << from.bits[child]) - 1));
        values[index] = static_cast<float>(how.value(of));
      }
      return values;
    });
  }

  RootTable table_of_roots(std::size_t k, const operation::Function& how, Walk& walk) {
    const std::size_t child = entries_[k].children[0];
    const double unit = entries_[child].node->pixel().size;
    const std::int64_t count = roots_[child];
    const float* const values = table<float>(k, static_cast<std::size_t>(count) + 1, walk, [&] {
      std::vector<float> made;
      for (std::int64_t square = 0; square <= count; ++square) {  // the last one's is that of +inf
        const float d =
            square < count ? distance_from_squared<float>(static_cast<std::uint64_t>(square), unit) : INFINITY;
        const double wide = d;
        made.push_back(static_cast<float>(how.value(std::span(&wide, 1))));
      }
      return made;
    });
    return {values, count, unit};
  }

  /// What the CPU computes.
  void upload(Evaluator& host, const Rectangle& part, const Patch& to, Walk& walk) {
    if (walk.counts) return;
    const Array pixels = host.compute(part);
    check(cudaMemcpy2DAsync(to.data, static_cast<std::size_t>(to.pitch) * size_of(to.dtype), pixels.data(),
                            pixels.bytes() / static_cast<std::size_t>(part.height()),
                            pixels.bytes() / static_cast<std::size_t>(part.height()),
                            static_cast<std::size_t>(part.height()), cudaMemcpyHostToDevice, walk.stream),
          "copying to the device");
    check(cudaStreamSynchronize(walk.stream), "copying to the device");
  }

  const int device_;
  const Execution execution_;
  const std::vector<Plan::Entry> entries_;
  std::vector<std::shared_ptr<const Operation>> operations_;  ///< of entries
  std::vector<std::int64_t> roots_;
  std::map<std::size_t, std::optional<Evaluator>> hosts_;  ///< entries that the CPU computes
  std::set<std::size_t> patterns_;                         ///< entries of which there are copies
  std::size_t limit_ = 0, kept_bytes_ = 0, region_bytes_ = 0;
  std::vector<Kept> kept_;          ///< of entries; behind them their tables, and their cells
  int made_ = 0;                    ///< of them
  cudaStream_t made_in_ = nullptr;  ///< the last one
  Event event_;
  Readers readers_;
  std::optional<OwnStream> stream_;  ///< for calls into memory of the host
  std::optional<Staging> staging_;
};

}  // namespace

std::unique_ptr<DeviceGraph> make_device_graph(Plan& plan, const EvaluatorOptions& options, bool wants_all) {
  auto graph = std::make_unique<Graph>(plan, options);
  if (wants_all && !graph->is_whole()) {
    for (Plan::Entry& entry : plan.entries) entry.on_device = false;
    return nullptr;
  }
  graph->complete(plan, options);
  return graph;
}

}  // namespace fathom::stream::cuda
