#include "stream/cuda/on_cpu.h"

#include <unordered_map>

#include "core/parallel.h"
#include "stream/pixels.h"

namespace fathom::stream::cuda {

namespace {

using fathom::cuda::check;

/// Of a child: pixels of a part.
struct Downloaded {
  Rectangle part;
  Array pixels;
};
using AllDownloaded = std::unordered_map<const Node*, Downloaded>;

class FromDownloaded final : public Children {
 public:
  FromDownloaded(const AllDownloaded& children, std::size_t bytes) : Children(bytes), children_(children) {}
  std::optional<double> fetch_into(const Node& child, const Rectangle& part, const AnyView& out) override {
    const Downloaded& from = children_.at(&child);
    copy(part_of(AnyConstView(from.pixels.view()), part.y0 - from.part.y0, part.x0 - from.part.x0, size_of(part)), out);
    return std::nullopt;
  }

 private:
  const AllDownloaded& children_;
};

/// Of a copy between dense pixels of the host and a patch, whichever way.
void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, const Patch& patch,
               cudaMemcpyKind kind, cudaStream_t stream) {
  check(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch,
                          static_cast<std::size_t>(patch.part.width()) * fathom::size_of(patch.dtype),
                          static_cast<std::size_t>(patch.part.height()), kind, stream),
        "copying");
  check(cudaStreamSynchronize(stream), "copying");
}

Downloaded download(const Patch& from, cudaStream_t stream) {
  Downloaded to{from.part, Array(from.dtype, from.part.shape())};
  const std::size_t size = fathom::size_of(from.dtype);
  if (!from.part.empty())
    copy_rows(to.pixels.data(), static_cast<std::size_t>(from.part.width()) * size, from.data,
              static_cast<std::size_t>(from.pitch) * size, from, cudaMemcpyDeviceToHost, stream);
  return to;
}

constexpr Size kTile{64, 1024};

}  // namespace

void upload(const Array& pixels, const Patch& to, cudaStream_t stream) {
  refuse_capture(stream);
  const std::size_t size = fathom::size_of(to.dtype);
  copy_rows(to.data, static_cast<std::size_t>(to.pitch) * size, pixels.data(),
            static_cast<std::size_t>(to.part.width()) * size, to, cudaMemcpyHostToDevice, stream);
}

void compute_on_cpu(const Node& node, const Rectangle& part, const Patch& to, const std::vector<Patch>& children,
                    const Execution& execution, Walk& walk) {
  const Size most{std::min(part.height(), kTile.height), std::min(part.width(), kTile.width)};
  std::size_t held = bytes_of(size_of(part), node.dtype()), scratch = node.scratch_bytes(most);
  for (std::size_t k = 0; k < children.size(); ++k) {
    held += bytes_of(size_of(children[k].part), children[k].dtype);
    scratch += bytes_of(node.largest_need(k, most), children[k].dtype);
  }
  const int threads = execution.threads > 0 ? execution.threads : available_threads();
  walk.on_host = std::max(walk.on_host, held + static_cast<std::size_t>(threads) * scratch);
  if (walk.counts) return;
  refuse_capture(walk.stream);
  AllDownloaded there;
  for (std::size_t k = 0; k < children.size(); ++k)
    if (const Node* child = node.children()[k].node.get(); !there.contains(child))
      there.emplace(child, download(children[k], walk.stream));
  Array pixels(node.dtype(), part.shape());
  std::vector<std::unique_ptr<FromDownloaded>> workers(static_cast<std::size_t>(threads));
  const std::int64_t rows = (part.height() + kTile.height - 1) / kTile.height,
                     columns = (part.width() + kTile.width - 1) / kTile.width;
  parallel_jobs(execution, threads, rows * columns, [&](int worker, std::int64_t job) {
    auto& mine = workers[static_cast<std::size_t>(worker)];
    if (!mine) mine = std::make_unique<FromDownloaded>(there, scratch);
    const std::int64_t y = job / columns * kTile.height, x = job % columns * kTile.width;
    const Rectangle tile =
        intersection(Rectangle{0, 0, kTile.height, kTile.width}.moved(part.y0 + y, part.x0 + x), part);
    const AnyView out = part_of(pixels.view(), y, x, size_of(tile));
    const Children::Mark mark(*mine);
    if (const auto value = node.compute(tile, out, *mine)) fill(out, saturated(*value, node.dtype()));
  });
  upload(pixels, to, walk.stream);
}

}  // namespace fathom::stream::cuda
