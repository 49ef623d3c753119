#include "batch.h"

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "fathom/core/workspace.h"

namespace fathom::python {

namespace {

/// Starting a thread costs as much as transforming some ten thousand elements.
constexpr std::int64_t kElementsWorthAThread = std::int64_t{1} << 16;

int thread_count(const Execution& execution) { return execution.threads > 0 ? execution.threads : available_threads(); }

/// A stack without images is checked like any other: by its shapes.
void check_shapes(const Batch& batch, const grid::DistanceOptions& options) {
  grid::scratch_bytes(
      batch.input.first(), options,
      {batch.distance.first(), batch.squared.first(), batch.nearest.first(), batch.coordinates.first()});
}

/// Does images until there are none left, with scratch of its own.
/// @param next  the first image that nobody has begun, shared by all workers
void work(const Batch& batch, grid::DistanceOptions options, Watch& watch, std::atomic<std::int64_t>& next) {
  Workspace workspace;
  options.execution.workspace = &workspace;
  options.execution.stop = watch.stop();
  const auto total = static_cast<double>(batch.size());
  std::int64_t position = 0;
  options.execution.progress = [&](double share) { watch.report((static_cast<double>(position) + share) / total); };
  while ((position = next.fetch_add(1)) < batch.size())
    grid::distance_transform(batch.input[position], options, batch.outputs(position));
}

void share_out(const Batch& batch, grid::DistanceOptions options, Watch& watch, int threads) {
  options.execution.threads = 1;
  std::atomic<std::int64_t> next{0};
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(threads));
  const auto guarded = [&](std::size_t worker) {
    try {
      work(batch, options, watch, next);
    } catch (...) {
      errors[worker] = std::current_exception();
      next = batch.size();  // nobody begins another image
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t worker = 1; worker < errors.size(); ++worker) others.emplace_back(guarded, worker);
    guarded(0);  // the calling thread is the one that Python hears
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace

void transform(const Batch& batch, const grid::DistanceOptions& options, Watch& watch) {
  if (batch.size() == 0) return check_shapes(batch, options);
  const std::int64_t images = batch.size();
  if (images > 1 && options.execution.threads >= 0) {
    const int threads = thread_count(options.execution);
    const std::int64_t elements = element_count(batch.input.first().shape());
    if (threads > 1 && images >= threads && images * elements / threads >= kElementsWorthAThread)
      return share_out(batch, options, watch, threads);
  }
  std::atomic<std::int64_t> next{0};
  work(batch, options, watch, next);
}

}  // namespace fathom::python
