#include "stream.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "arrays.h"
#include "device_array.h"
#include "fathom/core/error.h"
#include "fathom/io/atomic_file.h"
#include "fathom/io/points.h"
#include "fathom/io/raster.h"
#include "fathom/stream/document.h"
#include "fathom/stream/estimate.h"
#include "fathom/stream/evaluator.h"
#include "fathom/stream/run.h"
#include "forks.h"
#include "host_array.h"
#include "watch.h"

namespace fathom::python {

namespace nb = nanobind;

namespace {

using stream::Child;
using stream::NodeRef;
using stream::Size;
using Region = std::array<std::int64_t, 4>;  // y0, x0, y1, x1

/// A raster, for Python.
struct Graph {
  NodeRef root;
};

std::size_t bytes_of(Size size, DType dtype) { return static_cast<std::size_t>(size.area()) * size_of(dtype); }

/// Rows of a part into a view of its shape.
void copy_rows(const std::byte* from, std::int64_t row_bytes, const AnyView& to) {
  const auto size = static_cast<std::int64_t>(size_of(to.dtype()));
  for (std::int64_t y = 0; y < to.shape()[0]; ++y)
    std::memcpy(to.data() + y * to.strides()[0] * size, from + y * row_bytes,
                static_cast<std::size_t>(to.shape()[1] * size));
}

/// A NumPy array as a source: its memory is read, and must not change.
class ArraySource final : public RasterSource {
 public:
  explicit ArraySource(nb::handle array) : array_(std::make_unique<HostArray>(array, HostArray::Access::read)) {
    const RawArray raw = array_->raw();
    if (raw.rank != 2) throw InvalidArgument("the array has " + std::to_string(raw.rank) + " axes; a raster has two");
    view_ = view_of<const std::byte, MemorySpace::host>(raw);
  }
  ~ArraySource() override {
    const nb::gil_scoped_acquire lock;
    array_.reset();
  }
  DType dtype() const override { return view_.dtype(); }
  std::int64_t height() const override { return view_.shape()[0]; }
  std::int64_t width() const override { return view_.shape()[1]; }
  void read(const Rectangle& part, const AnyView& out) const override {
    copy_rows(view_.data() + part.y0 * row_bytes() + part.x0 * static_cast<std::int64_t>(size_of(dtype())), row_bytes(),
              out);
  }
  /// None: pixels that are in memory are not to be kept once more.
  Shape piece() const override { return {0, 0}; }
  std::size_t kept_bytes() const override { return 0; }
  std::size_t bytes_of_read() const override { return 0; }
  std::string fingerprint() const override {
    std::uint32_t sum = 0;
    for (std::int64_t y = 0; y < height(); ++y)
      sum = stream::crc32c(sum, {view_.data() + y * row_bytes(), static_cast<std::size_t>(width()) * size_of(dtype())});
    return to_string(view_.shape()) + ' ' + std::string(name_of(dtype())) + ' ' + std::to_string(sum);
  }

 private:
  std::int64_t row_bytes() const { return view_.strides()[0] * static_cast<std::int64_t>(size_of(dtype())); }

  std::unique_ptr<HostArray> array_;
  AnyConstView view_;
};

/// An array in a device's memory as a source, where it lies.
/// @param given  its owner, which stays as long; address, number of a DType, height, width, pixels from row to row
std::shared_ptr<const RasterSource> device_source(const nb::tuple& given) {
  const auto whole = [&](int k) { return nb::cast<std::int64_t>(given[k]); };
  auto raster = stream::device_raster({reinterpret_cast<const std::byte*>(nb::cast<std::uintptr_t>(given[1])),
                                       static_cast<DType>(whole(2)),
                                       {whole(3), whole(4)},
                                       {whole(5), 1}});
  const RasterSource* const source = raster.get();
  return {source, [raster = std::move(raster), owner = nb::object(given[0]).release()](const RasterSource*) mutable {
            const nb::gil_scoped_acquire lock;
            owner.dec_ref();
          }};
}

/// A node that a function of Python computes: of its children's parts, with a halo around that is 0 beyond their edges.
class Function final : public stream::Node {
 public:
  /// @param adapter  called as adapter(function, (array, …), halo, dtype) gives the part
  Function(std::string name, nb::object function, nb::object adapter, const std::vector<Child>& children,
           const stream::FunctionFields& fields)
      : Node(extent_of(name, children, fields), children),
        name_(std::move(name)),
        halo_(fields.halo),
        held_(std::make_unique<Held>(Held{std::move(function), std::move(adapter)})) {}
  ~Function() override {
    const nb::gil_scoped_acquire lock;
    held_.reset();
  }
  std::string_view type() const override { return "function"; }
  void describe(stream::Description& to) const override {
    to.text("name", name_);
    to.whole("halo", halo_);
    to.text("dtype", name_of(dtype()));
  }
  Rectangle need(std::size_t child, const Rectangle& part) const override {
    const Child& of = children()[child];
    return intersection(part.grown(halo_).moved(-of.y, -of.x), of.node->whole());
  }
  Size largest_need(std::size_t child, Size part) const override {
    const stream::Node& of = *children()[child].node;
    return {std::min(of.height(), part.height + 2 * halo_), std::min(of.width(), part.width + 2 * halo_)};
  }
  std::size_t scratch_bytes(Size part) const override {
    std::size_t bytes = 0;
    for (const Child& child : children()) bytes += bytes_of(grown(part), child.node->dtype());
    return bytes;  // of the arrays that the function gets; those that it makes nobody knows
  }
  bool needs_again(std::size_t) const override { return halo_ > 0; }
  std::int64_t halo() const override { return halo_; }

  std::optional<double> compute(const Rectangle& part, const AnyView& out, stream::Children& from) const override {
    std::vector<Array> arrays;
    for (std::size_t k = 0; k < children().size(); ++k) arrays.push_back(surroundings(k, part, from));
    const nb::gil_scoped_acquire lock;
    nb::list given;
    for (Array& array : arrays) given.append(as_numpy(std::move(array)));
    const std::string_view dtype_name = name_of(dtype());
    const nb::object result =
        held_->adapter(held_->function, nb::tuple(given), halo_, nb::str(dtype_name.data(), dtype_name.size()),
                       part.height(), part.width());
    const HostArray held(result, HostArray::Access::read);
    const AnyConstView view = view_of<const std::byte, MemorySpace::host>(held.raw());
    if (view.dtype() != dtype() || !(view.shape() == part.shape()))
      throw InternalError("a part of a function has another shape or type");
    copy_rows(view.data(), view.strides()[0] * static_cast<std::int64_t>(size_of(dtype())), out);
    return std::nullopt;
  }

 private:
  struct Held {
    nb::object function, adapter;
  };

  static stream::Extent extent_of(const std::string& name, const std::vector<Child>& children,
                                  const stream::FunctionFields& fields) {
    if (children.empty()) throw InvalidArgument("the function '" + name + "' has no raster to work on");
    const stream::Node& first = *children[0].node;
    return {first.height(), first.width(), fields.dtype.value_or(first.dtype()), first.pixel()};
  }
  Size grown(Size part) const { return {part.height + 2 * halo_, part.width + 2 * halo_}; }

  /// A part of a child with its halo.
  Array surroundings(std::size_t number, const Rectangle& part, stream::Children& from) const {
    const Child& child = children()[number];
    const Size size = grown(stream::size_of(part));
    Array array(child.node->dtype(), {size.height, size.width});
    const Rectangle inside = need(number, part);
    if (inside.area() < size.area()) std::memset(array.data(), 0, array.bytes());
    if (inside.empty()) return array;
    const std::int64_t y = inside.y0 + child.y - part.y0 + halo_, x = inside.x0 + child.x - part.x0 + halo_;
    const auto element = static_cast<std::int64_t>(size_of(array.dtype()));
    const AnyView to(array.data() + (y * size.width + x) * element, array.dtype(), inside.shape(), {size.width, 1});
    if (const auto value = from.fetch_into(*child.node, inside, to))
      visit_dtype(array.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (std::int64_t row = 0; row < inside.height(); ++row)
          std::fill_n(reinterpret_cast<T*>(to.data()) + row * size.width, inside.width(), static_cast<T>(*value));
      });
    return array;
  }

  std::string name_;
  std::int64_t halo_;
  std::unique_ptr<Held> held_;
};

/// @param nodes       graphs that are made, by the names under which the document has them as children
/// @param arrays      by name, rows contiguous; those on a device as device_source() takes them
/// @param functions   by name
/// @param adapter     of functions
/// @param path_of     a function of a path in the document: where it lies, which is what the graph calls the file
/// @return the graph, and warnings of the files
nb::tuple read(const std::string& document, const nb::dict& nodes, const nb::dict& arrays, const nb::dict& functions,
               const nb::object& adapter, const nb::object& path_of) {
  stream::Resources resources;
  std::vector<std::string> warnings;
  for (const auto& [name, node] : nodes) resources.nodes[nb::cast<std::string>(name)] = nb::cast<Graph&>(node).root;
  for (const auto& [name, array] : arrays)
    if (nb::isinstance<nb::tuple>(array))
      resources.arrays[nb::cast<std::string>(name)] = device_source(nb::cast<nb::tuple>(array));
    else resources.arrays[nb::cast<std::string>(name)] = std::make_shared<ArraySource>(array);
  for (const auto& item : functions) {
    const auto name = nb::cast<std::string>(item.first);
    resources.functions[name] = [name, function = nb::borrow(item.second), &adapter](
                                    const std::vector<Child>& children, const stream::FunctionFields& fields) {
      return std::make_shared<Function>(name, function, adapter, children, fields);
    };
  }
  resources.open = [&](std::string& path, stream::PixelSize& pixel) {
    const std::string stated = std::exchange(path, nb::cast<std::string>(path_of(path)));
    io::RasterFile file = io::open_raster(path);
    io::SquarePixel square = io::square_pixel(file.meaning);
    if (!square.reason.empty())
      warnings.push_back(stated + ": " + square.reason + "; each counts as 1 × 1 unless its node states \"pixel\"");
    pixel = {square.size, std::move(square.unit)};
    for (const std::string& warning : file.warnings) warnings.push_back(stated + " " + warning);
    return std::move(file.source);
  };
  resources.read_placements = [&](const std::string& path) {
    return io::read_whole_triples(nb::cast<std::string>(path_of(path)));
  };
  Graph graph{stream::read_document(document, resources)};
  return nb::make_tuple(std::move(graph), warnings);
}

nb::dict dict_of(const stream::Plan::Entry& entry) {
  nb::dict of;
  const std::string_view type = entry.node->type();
  of["type"] = nb::str(type.data(), type.size());
  of["shape"] = nb::make_tuple(entry.node->height(), entry.node->width());
  of["dtype"] = std::string(name_of(entry.node->dtype()));
  of["children"] = entry.children;
  of["tile"] = entry.tile.area() > 0 ? nb::object(nb::make_tuple(entry.tile.height, entry.tile.width)) : nb::none();
  of["halo"] = entry.halo;
  of["kept"] = entry.pooled;
  of["cell"] =
      entry.cell ? nb::object(nb::make_tuple(entry.cell->height, entry.cell->width, entry.cell->skew)) : nb::none();
  of["sweeps"] = entry.sweeps;
  of["on_device"] = entry.on_device;
  return of;
}

nb::dict dict_of(const stream::Plan& plan) {
  nb::dict of;
  const stream::Estimate estimate = stream::estimate(plan);
  of["seconds"] = estimate.seconds;
  of["first_seconds"] = estimate.first_seconds;
  nb::list entries;
  for (const stream::Plan::Entry& entry : plan.entries) entries.append(dict_of(entry));
  of["entries"] = entries;
  of["region"] = nb::make_tuple(plan.region.y0, plan.region.x0, plan.region.y1, plan.region.x1);
  of["band"] = nb::make_tuple(plan.band.height, plan.band.width);
  of["bands"] = plan.bands;
  of["threads"] = plan.threads;
  of["bytes"] = plan.bytes();
  of["disk_bytes"] = plan.disk_bytes;
  of["device"] = plan.device;
  of["device_bytes"] = plan.device_bytes;
  const std::pair<const char*, std::size_t> parts[] = {
      {"scratch_bytes", plan.scratch_bytes}, {"cell_bytes", plan.cell_bytes}, {"sweep_bytes", plan.sweep_bytes},
      {"source_bytes", plan.source_bytes},   {"band_bytes", plan.band_bytes}, {"pool_bytes", plan.pool_bytes}};
  for (const auto& [name, bytes] : parts) of[name] = bytes;
  return of;
}

/// @param backend  number of a Backend
stream::EvaluatorOptions options_of(std::optional<std::size_t> memory, int threads, int backend) {
  stream::EvaluatorOptions options;
  options.memory = options.execution.scratch_limit = memory;
  options.execution.backend = static_cast<Backend>(backend);
  options.execution.threads = threads;
  return options;
}

/// An evaluator that any threads may ask, one after the other, and that Ctrl-C stops; made when it is first asked, and
/// anew after what failed. A forked process starts with nobody at work.
class Computer {
 public:
  /// @param memory  bytes, or none
  Computer(const Graph& graph, std::optional<std::size_t> memory, int threads, int backend)
      : root_(graph.root), options_(options_of(memory, threads, backend)) {
    options_.execution.progress = [this](double share) { report_(share); };
  }

  nb::dict plan() {
    std::optional<stream::Plan> plan;
    take_turn(nb::none(), [&] { plan = evaluator_->plan(); });
    return dict_of(*plan);
  }

  /// @param out  of the part's shape and the raster's type
  void compute(const Region& part, const HostArray& out, nb::object progress) {
    const AnyView view = view_of<std::byte, MemorySpace::host>(out.raw());
    take_turn(std::move(progress), [&] { evaluator_->compute({part[0], part[1], part[2], part[3]}, view); });
  }

  /// In the order of the array's stream.
  void compute(const Region& part, const DeviceArray& out, nb::object progress) {
    const Rectangle there{part[0], part[1], part[2], part[3]};
    const RawArray& array = out.raw();
    const AnyDeviceView view(array.data, root_->dtype(), there.shape(), {array.strides[0], 1});
    take_turn(std::move(progress), [&] { evaluator_->compute(there, view, out.stream()); });
  }

 private:
  template <class Body>
  void take_turn(nb::object progress, const Body& body) {
    settle_after_fork();
    if (owner_ == std::this_thread::get_id())
      throw std::runtime_error(
          "the raster is being computed by this very thread; what is called meanwhile cannot ask it");
    Execution watched;
    run_watched(std::move(progress), watched, [&] {
      const std::lock_guard lock(*mutex_);
      owner_ = std::this_thread::get_id();
      report_ = watched.progress;
      try {
        if (!evaluator_) {
          stop_ = {};
          options_.execution.stop = stop_.get_token();
          evaluator_.emplace(root_, options_);
        }
        const std::stop_callback stopping(watched.stop, [this] { stop_.request_stop(); });
        body();
      } catch (...) {
        evaluator_.reset();
        owner_ = std::thread::id();
        throw;
      }
      owner_ = std::thread::id();
    });
  }

  void settle_after_fork() {
    if (forks_ == forks()) return;
    static_cast<void>(mutex_.release());  // which a thread of the other process may hold for good
    mutex_ = std::make_unique<std::mutex>();
    owner_ = std::thread::id();
    evaluator_.reset();
    forks_ = forks();
  }

  const NodeRef root_;
  stream::EvaluatorOptions options_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  std::atomic<std::thread::id> owner_{};
  int forks_ = forks();
  std::function<void(double)> report_;
  std::stop_source stop_;
  std::optional<stream::Evaluator> evaluator_;
};

/// Writes a raster to .npy or TIFF, one band after the other.
void write(const Graph& graph, const std::string& path, std::optional<std::size_t> memory, int threads, bool compress,
           nb::object progress) {
  stream::EvaluatorOptions options = options_of(memory, threads, static_cast<int>(Backend::automatic));
  run_watched(std::move(progress), options.execution, [&] {
    const stream::Node& node = *graph.root;
    io::RasterWriteOptions how;
    how.compress = compress;
    how.meaning = io::meaning_of({node.pixel().size, node.pixel().unit, ""});
    io::AtomicFile file(path);
    const auto sink = io::create_raster(file, node.dtype(), node.height(), node.width(), how);
    std::atomic<std::int64_t> rows{0};
    options.execution.progress = [&, report = options.execution.progress](double) {
      report(static_cast<double>(rows) / static_cast<double>(node.height()));
    };
    options.bands = 2;
    options.row_step = sink->row_step();
    stream::Evaluator evaluator(graph.root, options);
    stream::RunOptions run;
    run.ring = options.bands;
    run.taken = [&](std::int64_t, std::span<const std::byte>) { rows += evaluator.plan().band.height; };
    stream::run(evaluator, *sink, run);
    file.commit();
  });
}

}  // namespace

void add_stream(nb::module_& m) {
  nb::class_<Graph>(m, "Graph")
      .def_prop_ro("shape", [](const Graph& g) { return nb::make_tuple(g.root->height(), g.root->width()); })
      .def_prop_ro("dtype", [](const Graph& g) { return std::string(name_of(g.root->dtype())); })
      .def_prop_ro("pixel", [](const Graph& g) { return nb::make_tuple(g.root->pixel().size, g.root->pixel().unit); })
      .def_prop_ro("type", [](const Graph& g) { return std::string(g.root->type()); })
      .def("document", [](const Graph& g) { return stream::write_document(*g.root); })
      .def("hash", [](const Graph& g) { return stream::content_hash(*g.root); })
      .def("write", &write, nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg().none());
  nb::class_<Computer>(m, "Computer")
      .def(nb::init<const Graph&, std::optional<std::size_t>, int, int>(), nb::arg(), nb::arg().none(), nb::arg(),
           nb::arg())
      .def("plan", &Computer::plan)
      .def("compute", nb::overload_cast<const Region&, const HostArray&, nb::object>(&Computer::compute), nb::arg(),
           nb::arg(), nb::arg().none())
      .def("compute", nb::overload_cast<const Region&, const DeviceArray&, nb::object>(&Computer::compute), nb::arg(),
           nb::arg(), nb::arg().none());
  m.def("read_graph", &read);
}

}  // namespace fathom::python
