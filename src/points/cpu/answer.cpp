#include "points/cpu/answer.h"

#include <algorithm>
#include <string>
#include <vector>

#include "fathom/core/error.h"
#include "core/curve_order.h"
#include "points/cpu/search.h"
#include "points/cpu/stretch.h"

namespace fathom::points::cpu {

namespace {

constexpr std::int64_t kScanBatch = 256;
constexpr std::int64_t kScanPiece = 1 << 16;  ///< sites between two looks whether to go on

bool has_boxes(const Tree& tree) { return !tree.levels.empty(); }

void search_all(const Tree& tree, const Request& request, bool wide, const Cut& cut, InstructionSet instruction_set,
                Monitor& monitor) {
  for_each_stretch(request.queries, cut.ordered, cut.threads, monitor, [&](const Stretch& stretch) {
    search({&tree, &request, wide, stretch}, instruction_set);
  });
}

template <class Value>
void write_lists(const Tree& tree, const Request& request, std::int64_t begin, std::int64_t end,
                 std::vector<Candidate<Value>>& lists) {
  for (std::int64_t q = begin; q < end; ++q) {
    Candidate<Value>* list = &lists[static_cast<std::size_t>((q - begin) * request.k)];
    for (int j = 0; j < request.k && list[j].id != kNobody; ++j)
      list[j].id = id_of(tree, request.naming, list[j].position);
    answer(request, q, list, list[0].squared, list[0].id != kNobody);
  }
}

/// Where the sites of part `part` of `parts` begin.
std::int64_t part_begin(const Tree& tree, std::int64_t part, std::int64_t parts) {
  return tree.count / parts * part + std::min(part, tree.count % parts);
}

/// A batch of queries against all sites, which are shared out among `parts` threads.
template <class Value>
void scan_batch(ScanJob job, std::int64_t parts, int threads, InstructionSet instruction_set, Monitor& monitor) {
  const Request& request = *job.request;
  const std::size_t entries = static_cast<std::size_t>((job.end - job.begin) * request.k);
  std::vector<std::vector<Candidate<Value>>> lists(static_cast<std::size_t>(parts));
  for (auto& list : lists) {
    list.resize(entries);
    clear(list.data(), static_cast<int>(entries), squared_limit<Value>(request));
  }
  parallel_jobs(threads, parts, [&](int, std::int64_t part) {
    ScanJob mine = job;
    mine.lists = lists[static_cast<std::size_t>(part)].data();
    const std::int64_t end = part_begin(*job.tree, part + 1, parts);
    for (mine.first = part_begin(*job.tree, part, parts); mine.first < end; mine.first = mine.last) {
      mine.last = std::min(mine.first + kScanPiece, end);
      scan(mine, instruction_set);
      monitor.look();
    }
  });
  for (std::size_t part = 1; part < lists.size(); ++part)
    for (std::size_t i = 0; i < entries; ++i) {
      Candidate<Value>* list = &lists[0][i / static_cast<std::size_t>(request.k) * static_cast<std::size_t>(request.k)];
      const Candidate<Value>& candidate = lists[part][i];
      if (comes_before(candidate.squared, candidate.id, list[request.k - 1])) insert(list, request.k, candidate);
    }
  write_lists(*job.tree, request, job.begin, job.end, lists[0]);
}

template <class Value>
void scan_all(const Tree& tree, const Request& request, bool wide, const Cut& cut, InstructionSet instruction_set,
              Monitor& monitor) {
  const std::int64_t batches = (request.queries.count + cut.batch - 1) / cut.batch;
  const bool share_sites = batches < cut.threads;
  parallel_jobs(share_sites ? 1 : cut.threads, batches, [&](int, std::int64_t batch) {
    ScanJob job{&tree, &request, wide};
    job.begin = batch * cut.batch;
    job.end = std::min(job.begin + cut.batch, request.queries.count);
    scan_batch<Value>(job, share_sites ? cut.threads : 1, share_sites ? cut.threads : 1, instruction_set, monitor);
    monitor.advance(job.end - job.begin);
  });
}

[[noreturn]] void refuse_limit(std::size_t limit, std::size_t least) {
  throw InvalidArgument("the scratch limit of " + std::to_string(limit) +
                        " bytes is too small; the smallest that works here is " + std::to_string(least) + " bytes");
}

}  // namespace

Cut cut_work(const Tree& tree, const Request& request, const Execution& execution, int threads) {
  Cut cut{.threads = threads};
  const std::size_t limit = execution.scratch_limit.value_or(SIZE_MAX);
  const std::int64_t count = request.queries.count;
  if (count == 0) return cut;
  if (has_boxes(tree)) {
    cut.ordered = ordered_at_once(count, limit);
    cut.scratch_bytes = curve_order_bytes(cut.ordered);
    return cut;
  }
  const std::size_t one = candidate_bytes(true) * static_cast<std::size_t>(request.k);
  cut.batch = std::min(count, kScanBatch);
  const auto bytes = [&] { return one * static_cast<std::size_t>(cut.batch) * static_cast<std::size_t>(cut.threads); };
  while (bytes() > limit && cut.batch > 1) cut.batch /= 2;
  while (bytes() > limit && cut.threads > 1) --cut.threads;
  if (bytes() > limit) refuse_limit(limit, one);
  cut.scratch_bytes = bytes();
  return cut;
}

void answer_queries(const Tree& tree, const Request& request, bool wide, const Cut& cut, InstructionSet instruction_set,
                    Monitor& monitor) {
  if (request.queries.count == 0) return;
  if (has_boxes(tree)) return search_all(tree, request, wide, cut, instruction_set, monitor);
  wide ? scan_all<Wide>(tree, request, wide, cut, instruction_set, monitor)
       : scan_all<double>(tree, request, wide, cut, instruction_set, monitor);
}

}  // namespace fathom::points::cpu
