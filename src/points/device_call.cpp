#include "points/device_call.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <limits>
#include <thread>
#include <utility>

#include "fathom/core/error.h"
#include "points/check.h"
#include "points/cpu/extent.h"
#include "points/device_build.h"

namespace fathom::points {

namespace {

std::vector<Request> parts_of(const std::vector<Request>& requests, std::int64_t first, std::int64_t count) {
  std::vector<Request> parts;
  for (const Request& request : requests) parts.push_back(part_of(request, first, count));
  return parts;
}

/// Batches of one size, since fewer queries may take more scratch each: the last looks again at some of those before.
struct Batches {
  std::int64_t queries;  ///< of each
  std::size_t bytes;     ///< that each takes
  std::size_t room;      ///< for it

  template <class Answer>
  void for_each(const std::vector<Request>& requests, const Answer& answer) const {
    const std::int64_t all = requests[0].queries.count;
    for (std::int64_t done = 0; done < all; done += queries)
      answer(parts_of(requests, std::min(done, all - queries), queries), std::min(done + queries, all));
  }
};

/// @param bytes_of  what a request takes where there is so much room
template <class BytesOf>
Batches batches_of(const ResidentSet& set, const Request& request, const CallLimits& limits, const BytesOf& bytes_of) {
  std::size_t room = limits.scratch.value_or(std::numeric_limits<std::size_t>::max());
  if (limits.memory) room = std::min(room, *limits.memory - std::min(set.bytes(), *limits.memory));
  Batches batches{request.queries.count, bytes_of(request, room), room};
  while (batches.bytes > room && batches.queries > 1) {
    batches.queries = (batches.queries + 1) / 2;
    batches.bytes = bytes_of(part_of(request, 0, batches.queries), room);
  }
  check_scratch(limits.scratch, batches.bytes);
  check_device_memory(limits.memory, set.bytes() + batches.bytes);
  return batches;
}

/// What one device takes of a call.
class HostCall {
 public:
  /// @throws InvalidArgument as call_bytes()
  HostCall(const ResidentSet& set, std::vector<Request> requests, const CallLimits& limits)
      : set_(set),
        requests_(std::move(requests)),
        batches_(batches_of(set, requests_[0], limits, [&](auto&&... given) { return set.host_bytes(given...); })) {}

  std::size_t bytes() const { return batches_.bytes; }
  std::int64_t queries() const { return requests_[0].queries.count; }

  void run(const Execution& execution) const {
    batches_.for_each(requests_, [&](const auto& parts, std::int64_t done) {
      if (execution.stop.stop_requested()) throw Cancelled();
      set_.answer_host(parts, batches_.room);
      if (execution.progress) execution.progress(static_cast<double>(done) / static_cast<double>(queries()));
    });
  }

 private:
  const ResidentSet& set_;
  std::vector<Request> requests_;
  Batches batches_;
};

/// Each with a thread of its own.
void run_side_by_side(const std::vector<HostCall>& calls, Shares& shares, const Execution& execution) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::exception_ptr> errors(calls.size());
  const auto work = [&](std::size_t i) {
    try {
      const auto start = Clock::now();
      calls[i].run(execution);
      shares.measured(i, calls[i].queries(), std::chrono::duration<double>(Clock::now() - start).count());
    } catch (...) {
      errors[i] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < calls.size(); ++i) workers.emplace_back(work, i);
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

Batches batches_on_device(const ResidentSet& set, const Request& request, const CallLimits& limits) {
  return batches_of(set, request, limits, [&](auto&&... given) { return set.scratch_bytes(given...); });
}

}  // namespace

std::size_t call_bytes(const ResidentSet& set, const Request& request, const CallLimits& limits) {
  return batches_on_device(set, request, limits).bytes;
}

std::size_t call(const ResidentSet& set, const std::vector<Request>& requests, const CallLimits& limits,
                 Stream stream) {
  if (requests.empty()) return 0;
  const Batches batches = batches_on_device(set, requests[0], limits);
  batches.for_each(requests, [&](const auto& parts, std::int64_t) { set.answer(parts, batches.room, stream); });
  return batches.bytes;
}

std::size_t call_host(const ResidentSets& sets, const std::vector<Request>& requests, const CallLimits& limits,
                      Shares& shares, const Execution& execution) {
  if (requests.empty()) return 0;
  std::vector<HostCall> calls;
  const std::vector<std::int64_t> borders = shares.cut(requests[0].queries.count);
  for (std::size_t i = 0; i < sets.size(); ++i)
    calls.emplace_back(*sets[i], parts_of(requests, borders[i], borders[i + 1] - borders[i]), limits);
  if (calls.size() == 1) {
    calls[0].run(execution);
  } else {
    Execution unseen = execution;
    unseen.progress = nullptr;
    run_side_by_side(calls, shares, unseen);
  }
  return std::max_element(calls.begin(), calls.end(),
                          [](const HostCall& a, const HostCall& b) { return a.bytes() < b.bytes(); })
      ->bytes();
}

QueryReport answer_on_devices(const ResidentSets& sets, const std::vector<Request>& requests, const CallLimits& limits,
                              Shares& shares, const Execution& execution) {
  for (const Request& request : requests) cpu::extent_of(request.queries, "query", threads_of(execution));
  QueryReport report{.backend = Backend::cuda, .device = names_of(sets)};
  report.scratch_bytes = call_host(sets, requests, limits, shares, execution);
  if (execution.progress) execution.progress(1);
  return report;
}

}  // namespace fathom::points
