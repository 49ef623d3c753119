// Times tile graphs on a device: the paper's cases, 10,240² float32 (Pellet: repeated patterns, patterns on a lattice,
// distances of at most 15 pixels), a graph of ten nodes that repeats nothing, and results in memory of the host.
//
//   device_stream [--side N] [--replays N] [--only TEXT]
//
// Each result is compared with the CPU's before it is timed. A line of JSON a case: median milliseconds of the replays of
// a graph, in device memory, where masks lie, too. Of the host's memory by the host's clock.
#include <chrono>
#include <cstring>

#include "device_timing.cuh"
#include "fathom/core/array.h"
#include "fathom/core/device.h"
#include "fathom/stream/evaluator.h"
#include "fathom/stream/nodes.h"

namespace {

using namespace fathom;
using namespace fathom::stream;

Evaluator evaluator_of(const NodeRef& node, Backend backend) {
  EvaluatorOptions options;
  options.execution.backend = backend;
  return Evaluator(node, options);
}

struct Bench {
  std::int64_t side = 10240;
  int replays = 20;
  std::string only;

  bool wants(const std::string& name) const { return name.find(only) != std::string::npos; }

  /// Milliseconds in device memory.
  double time_on_device(const NodeRef& node, bool& same) const {
    const Rectangle whole = node->whole();
    const std::size_t bytes = static_cast<std::size_t>(whole.area()) * fathom::size_of(node->dtype());
    const Block<std::byte> memory(static_cast<std::int64_t>(bytes));
    const AnyDeviceView out(memory.data, node->dtype(), whole.shape());
    Evaluator device = evaluator_of(node, Backend::cuda), host = evaluator_of(node, Backend::cpu);
    device.compute(whole, out, {});  // cells and tables
    Array found(node->dtype(), whole.shape());
    MUST(cudaMemcpy(found.data(), memory.data, bytes, cudaMemcpyDeviceToHost));
    same = std::memcmp(found.data(), host.compute(whole).data(), bytes) == 0;
    return time_of([&](cudaStream_t stream) { device.compute(whole, out, {stream}); }, replays);
  }

  double time_of_copy(std::size_t bytes) const {
    const Block<std::byte> from(static_cast<std::int64_t>(bytes)), to(static_cast<std::int64_t>(bytes));
    return time_of(
        [&](cudaStream_t stream) {
          MUST(cudaMemcpyAsync(to.data, from.data, bytes, cudaMemcpyDeviceToDevice, stream));
        },
        replays);
  }

  void in_device_memory(const std::string& name, const NodeRef& node) const {
    if (!wants(name)) return;
    bool same = false;
    const double ms = time_on_device(node, same);
    const std::size_t bytes = static_cast<std::size_t>(node->whole().area()) * fathom::size_of(node->dtype());
    std::printf("{\"case\": \"%s\", \"side\": %lld, \"dtype\": \"%s\", \"ms\": %.4f", name.c_str(),
                static_cast<long long>(side), std::string(name_of(node->dtype())).c_str(), ms);
    std::printf(", \"copy_ms\": %.4f, \"gigabytes_per_second\": %.1f, \"device\": \"%s\", \"right\": %s}\n",
                time_of_copy(bytes), static_cast<double>(bytes) / ms * 1e-6, describe_device(0).name.c_str(),
                same ? "true" : "false");
    std::fflush(stdout);
  }

  void in_host_memory(const std::string& name, const NodeRef& node) const {
    if (!wants(name)) return;
    Evaluator device = evaluator_of(node, Backend::cuda), host = evaluator_of(node, Backend::cpu);
    const Array expected = host.compute(node->whole());
    void* pinned = nullptr;
    MUST(cudaMallocHost(&pinned, expected.bytes()));
    const AnyView out(static_cast<std::byte*>(pinned), node->dtype(), node->whole().shape());
    std::vector<double> times;
    for (int k = 0; k < replays; ++k) {
      const auto begin = std::chrono::steady_clock::now();
      device.compute(node->whole(), out);
      times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    }
    const double ms = median(std::move(times));
    std::printf(
        "{\"case\": \"%s\", \"side\": %lld, \"dtype\": \"%s\", \"ms\": %.4f, \"gigabytes_per_second\": %.1f, "
        "\"device\": \"%s\", \"right\": %s}\n",
        name.c_str(), static_cast<long long>(side), std::string(name_of(node->dtype())).c_str(), ms,
        static_cast<double>(expected.bytes()) / ms * 1e-6, describe_device(0).name.c_str(),
        std::memcmp(pinned, expected.data(), expected.bytes()) == 0 ? "true" : "false");
    MUST(cudaFreeHost(pinned));
    std::fflush(stdout);
  }

  /// Distances to the pixels of a mask, which is put into device memory first.
  void distances(const std::string& name, const NodeRef& mask, double reach, bool to_zero = false) const {
    if (!wants(name)) return;
    const Block<std::byte> memory(mask->whole().area());
    const AnyDeviceView pixels(memory.data, mask->dtype(), mask->whole().shape());
    evaluator_of(mask, Backend::cuda).compute(mask->whole(), pixels, {});
    MUST(cudaDeviceSynchronize());
    in_device_memory(name, distance(source(device_raster(pixels), "array", "mask"), {reach, to_zero}));
  }

  NodeRef on_lattice(const NodeRef& pattern, Blend blend) const {
    LatticeOptions options;
    options.u = {25, 100};
    options.v = {100, -25};
    options.height = options.width = side;
    options.blending.blend = blend;
    return lattice(pattern, options);
  }

  /// Some of the pixels, at random.
  NodeRef mask_of(double share) const {
    return threshold(noise(1, {side, side, DType::float32}), share == 0 ? 2 : 1 - share);
  }
  /// 0 within 20 pixels of few places.
  NodeRef around_blobs() const { return threshold(distance(mask_of(1e-4), {20}), 1e9); }

  /// Ten nodes, nothing of which repeats itself.
  NodeRef ten_nodes() const {
    const NodeRef first = noise(1, {side, side, DType::uint8}), second = noise(2, {side, side, DType::uint8}),
                  sites = threshold(first, 254), far = distance(sites, {15}),
                  coat = profile(far, {"255*exp(-d/5)", {}, {}, DType::uint8}),
                  sum = math("a/2 + b/2", {{coat}, {second}}, DType::uint8), turned = rotate(sum, 1),
                  flipped = flip(second, true, false);
    return mask(math("max(a, b)", {{turned}, {flipped}}, DType::uint8), {sites, Role::mask});
  }

  void run() const {
    const NodeRef pattern = noise(7, {100, 100, DType::float32}), bytes = noise(7, {100, 100, DType::uint8});
    in_device_memory("repeat 100", repeat(pattern, side, side));
    in_device_memory("repeat 100 uint8", repeat(bytes, side, side));
    for (const int size : {16, 64, 1000})
      in_device_memory("repeat " + std::to_string(size), repeat(noise(7, {size, size, DType::float32}), side, side));
    in_device_memory("lattice max", on_lattice(pattern, Blend::max));
    in_device_memory("lattice mean", on_lattice(pattern, Blend::mean));
    in_device_memory("distance of repeated dots", distance(repeat(threshold(bytes, 250), side, side), {15}));
    for (const double percent : {0.0, 0.3, 1.0, 10.0, 50.0, 100.0}) {
      char name[40];
      std::snprintf(name, sizeof(name), "distance 15 of %g %%", percent);
      distances(name, mask_of(percent / 100), 15);
    }
    distances("distance 15 of blobs", around_blobs(), 15, true);
    for (const double reach : {5.0, 30.0, 60.0, 181.0})
      distances("distance " + std::to_string(static_cast<int>(reach)) + " of 1 %", mask_of(0.01), reach);
    in_device_memory("ten nodes", ten_nodes());
    in_host_memory("to the host: lattice max", on_lattice(pattern, Blend::max));
    in_host_memory("to the host: ten nodes", ten_nodes());
  }
};

}  // namespace

int main(int count, char** words) {
  Bench bench;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string option = words[i];
    if (option == "--side") bench.side = std::stoll(words[i + 1]);
    else if (option == "--replays") bench.replays = std::stoi(words[i + 1]);
    else if (option == "--only") bench.only = words[i + 1];
  }
  bench.run();
}
