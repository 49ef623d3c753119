// Narrow bands in an octree on the CPU: see octree.hd.h. A job is a vertex, an edge or a face; threads share the tree
// as those of a device do, by the same atomic operations.
#include "published/octree.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "core/parallel.h"
#include "published/cpu/band.h"

namespace fathom::published::cpu {

namespace {

struct HostMemory {
  template <class T>
  static T load(T* at) {
    return std::atomic_ref(*at).load(std::memory_order_acquire);
  }
  template <class T>
  static T swap_if(T* at, T expected, T wanted) {
    std::atomic_ref(*at).compare_exchange_strong(expected, wanted);
    return expected;
  }
  static unsigned long long add(unsigned long long* at, unsigned long long more) {
    return std::atomic_ref(*at).fetch_add(more);
  }
  static void publish(unsigned* at, unsigned reference) {
    std::atomic_ref(*at).store(reference, std::memory_order_release);
  }
};

/// One edge: starting points, the chunk's offsets, and both pasted together.
template <class Sink>
std::int64_t fill_cylinder(const BandProblem& problem, std::int64_t number, const Sink& sink) {
  const EdgeWalk walk = walk_along(problem, number);
  if (walk.first > walk.last) return 0;
  double gap = 0;
  for (std::int64_t k = walk.first; k < walk.last; ++k) gap = std::max(gap, walk.gap_squared(k));
  const double half = walk.half_length(std::sqrt(gap));
  const Box box = walk.box_of_chunk(half);
  std::vector<Place> chunk;
  for (std::int64_t n = 0; n < box.count(); ++n)
    if (walk.is_in_chunk(box.place(n), half)) chunk.push_back(box.place(n));
  std::int64_t visited = 0;
  for (std::int64_t k = walk.first; k <= walk.last; ++k) {
    const Place start = walk.start(k);
    for (const Place& offset : chunk) visited += paste(problem, number, start, offset, sink);
  }
  return visited;
}

template <class Sink>
std::int64_t fill_prism(const BandProblem& problem, std::int64_t number, const Sink& sink) {
  const Box box = box_of_face(problem, number);
  for (std::int64_t n = 0; n < box.count(); ++n) try_face(problem, number, box.place(n), sink);
  return box.count();
}

/// The passes that are wanted, with what gets their points.
template <class Sink>
class Passes {
 public:
  Passes(const BandProblem& problem, const BandOptions& options, int threads, const Sink& sink)
      : problem_(problem), options_(options), threads_(threads), sink_(sink) {}

  /// @returns points that were looked at
  /// @param name  of all passes together; null: each has its own
  std::int64_t run(Phases& phases, const char* name) const {
    const Primitives& mesh = problem_.mesh;
    std::atomic<std::int64_t> visited{0};
    const auto pass = [&](bool is_wanted, const char* own, std::int64_t count, const auto& body) {
      if (!is_wanted) return;
      timed(phases, name != nullptr ? name : own, [&] {
        parallel_jobs(options_.execution, threads_, count,
                      [&](int, std::int64_t number) { visited += body(problem_, number, sink_); });
      });
    };
    pass(options_.points, "points", mesh.vertex_count, walk_ball<Sink>);
    pass(options_.edges, "edges", mesh.edge_count, fill_cylinder<Sink>);
    pass(options_.faces, "faces", mesh.face_count, fill_prism<Sink>);
    return visited;
  }

 private:
  const BandProblem& problem_;
  const BandOptions& options_;
  const int threads_;
  const Sink& sink_;
};

}  // namespace

BandFound octree(const BandProblem& problem, const BandOptions& options, int threads) {
  const std::int64_t(&shape)[3] = problem.grid.shape;
  for (unsigned long long capacity = first_capacity(problem, options);;
       capacity = next_capacity(capacity, options)) {
    BandFound found;
    found.scratch_bytes = capacity * sizeof(unsigned long long);
    const auto units = std::make_unique<unsigned long long[]>(capacity);  // zeroed
    unsigned long long used = kNodeUnits;
    const Octree tree{units.get(), &used, capacity, {{}, {shape[0], shape[1], shape[2]}}};
    const auto to_tree = [&](const Place& place, double squared) { keep_least<HostMemory>(tree, place, squared); };
    const Passes passes(problem, options, threads, to_tree);
    found.visited = passes.run(found.phases, nullptr);
    if (used > capacity) continue;
    if (options.measure_tree) {
      passes.run(found.phases, "again");
      const auto nowhere = [](const Place& place, double squared) {
        [[maybe_unused]] const volatile std::int64_t at = place.at[0] + place.at[1] + place.at[2];
        [[maybe_unused]] const volatile double kept = squared;
      };
      Passes(problem, options, threads, nowhere).run(found.phases, "without tree");
    }
    read_tree(tree, threads, found);
    return found;
  }
}

}  // namespace fathom::published::cpu
