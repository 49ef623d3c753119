#include "apps/each_image.h"

#include <string>

#include "apps/check.h"
#include "core/parallel.h"
#include "fathom/core/error.h"

namespace fathom::apps {

std::int64_t image_count(const Shape& shape, int batch_axes) {
  check_batch(shape, batch_axes);
  std::int64_t count = 1;
  for (int k = 0; k < batch_axes; ++k) count *= shape[k];
  return count;
}

int images_at_once(const Execution& execution, std::int64_t count) {
  const int threads = thread_count(execution);
  const bool one = execution.backend == Backend::cuda || execution.scratch_limit || count < threads;
  return one ? 1 : threads;
}

void each_image(const Execution& execution, std::int64_t count,
                const std::function<void(std::int64_t, const Execution&)>& body) {
  const int at_once = images_at_once(execution, count);
  if (at_once == 1) {
    for (std::int64_t item = 0; item < count; ++item)
      body(item, part_of(execution, static_cast<double>(item), static_cast<double>(count)));
    return;
  }
  Execution own = execution;
  own.threads = 1;
  own.workspace = nullptr;
  own.progress = nullptr;
  Monitor monitor(execution, count);
  parallel_jobs(execution, at_once, count, [&](int, std::int64_t item) {
    body(item, own);
    monitor.advance(1);
  });
}

}  // namespace fathom::apps
