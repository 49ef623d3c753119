// Points along a Hilbert curve, lattices in rows of cubes, each traversed back and forth: every search starts from the
// answer of a neighbour.
#include "mesh/cpu/field.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/curve_order.h"
#include "fathom/core/error.h"
#include "mesh/cpu/search.h"
#include "mesh/cpu/sides.h"
#include "mesh/cpu/tile.h"

namespace fathom::mesh::cpu {

namespace {

constexpr std::int64_t kSide = kTileSide;
constexpr std::int64_t kBatch = 512;

Cloud cloud_of(const AnyConstView& points) {
  Cloud cloud{points.dtype(), 3, points.shape()[0], 1, {}, {}};
  for (int k = 0; k < 3; ++k) {
    cloud.data[k] = points.data() + k * static_cast<std::int64_t>(size_of(points.dtype()));
    cloud.step[k] = points.strides()[0];
  }
  return cloud;
}

Box box_of(const Cloud& cloud) {
  Box box;
  for (std::size_t k = 0; k < 3; ++k) {
    box.low[k] = box.high[k] = cloud.at(static_cast<int>(k), 0);
    for (std::int64_t i = 1; i < cloud.count; ++i) {
      box.low[k] = std::min(box.low[k], cloud.at(static_cast<int>(k), i));
      box.high[k] = std::max(box.high[k], cloud.at(static_cast<int>(k), i));
    }
  }
  return box;
}

/// What one thread needs for some points.
struct Batch {
  std::vector<Vec3> points;
  std::vector<std::int64_t> indices;  ///< of the questions
  std::vector<Found> found;

  void clear() {
    points.clear();
    indices.clear();
  }
};

/// The points of a cube of the lattice, along x back and forth.
void add_cube(Batch& batch, const Lattice& lattice, const std::array<std::int64_t, 3>& first) {
  std::array<std::int64_t, 3> size;
  for (std::size_t k = 0; k < 3; ++k) size[k] = std::min(kSide, lattice.shape[k] - first[k]);
  for (std::int64_t z = 0; z < size[2]; ++z)
    for (std::int64_t row = 0; row < size[1]; ++row) {
      const std::int64_t y = z % 2 == 0 ? row : size[1] - 1 - row;
      for (std::int64_t step = 0; step < size[0]; ++step) {
        const std::int64_t x = (z * size[1] + row) % 2 == 0 ? step : size[0] - 1 - step;
        batch.points.push_back({lattice.at(0, first[0] + x), lattice.at(1, first[1] + y), lattice.at(2, first[2] + z)});
        batch.indices.push_back(x + kSide * (y + kSide * z));
      }
    }
}

/// Tells points that are inside by the winding numbers of lines, for which the nearest triangle matters only where it
/// is at the point: the surface is inside.
class Marker {
 public:
  Marker(const PreparedMesh& prepared, const Lattice& lattice, InstructionSet set)
      : tree_(prepared.view()), lattice_(lattice), bundle_(tree_, lattice), search_(prepared.tree, 0, set) {}

  /// The lines from (0, j, k) on.
  void mark(std::int64_t j, std::int64_t k, const Place& inside) {
    bundle_.set(j, k);
    for (std::int64_t x = 0; x < lattice_.shape[0]; x += kSide) {
      const bool is_near = search_.search(tile_place(lattice_, {x, j, k}), found_);
      for (int i = 0; i < kTilePoints; ++i) {
        const std::int64_t at[3] = {x + i % kSide, i / kSide % kSide, i / (kSide * kSide)};
        if (at[0] >= lattice_.shape[0] || j + at[1] >= lattice_.shape[1] || k + at[2] >= lattice_.shape[2]) continue;
        inside.put_whole(inside.at({k + at[2], j + at[1], at[0]}),
                         bundle_.is_inside(at[0], at[1], at[2]) || (is_near && found_.squared[i] == 0));
      }
    }
  }

 private:
  const TreeView tree_;
  const Lattice& lattice_;
  Bundle bundle_;
  TileSearch search_;
  TileFound found_;
};

/// Without a sign where no answer asks for one.
TreeView view_for(const PreparedMesh& prepared, const Places& to) {
  TreeView tree = prepared.view();
  if (!to.sided()) tree.sign = Sign::none;
  return tree;
}

}  // namespace

Run run_of(const Execution& execution) {
  if (execution.threads < 0)
    throw InvalidArgument("the number of threads is " + std::to_string(execution.threads) +
                          "; give 1 or more, or 0 for all processors");
  return {execution.threads > 0 ? execution.threads : available_threads(), resolve(execution.instruction_set),
          execution};
}

void check_scratch(const Execution& execution, std::size_t needed) {
  if (execution.scratch_limit && *execution.scratch_limit < needed)
    throw InvalidArgument("the limit of " + std::to_string(*execution.scratch_limit) +
                          " bytes of scratch is too small; " + std::to_string(needed) + " are needed");
}

void answer_points(const PreparedMesh& prepared, const AnyConstView& points, bool ordered, const Places& to,
                   const Run& run) {
  const Cloud cloud = cloud_of(points);
  if (cloud.count == 0) return;
  Monitor monitor(run.execution, ordered ? 2 * cloud.count : cloud.count);
  std::vector<std::uint64_t> order;
  if (ordered) order = curve_order(cloud, box_of(cloud), run.threads, monitor);
  const TreeView tree = view_for(prepared, to);
  const std::int64_t jobs = (cloud.count + kBatch - 1) / kBatch;
  std::vector<Batch> batches(static_cast<std::size_t>(std::min<std::int64_t>(run.threads, jobs)));
  parallel_jobs(run.threads, jobs, [&](int worker, std::int64_t job) {
    Batch& batch = batches[static_cast<std::size_t>(worker)];
    batch.clear();
    for (std::int64_t i = job * kBatch; i < std::min(cloud.count, (job + 1) * kBatch); ++i) {
      const std::int64_t index = ordered ? index_in(order[static_cast<std::size_t>(i)]) : i;
      batch.points.push_back({cloud.at(0, index), cloud.at(1, index), cloud.at(2, index)});
      batch.indices.push_back(index);
    }
    find_nearest(prepared.tree, batch.points, batch.found, run.set, monitor);
    for (std::size_t i = 0; i < batch.points.size(); ++i) {
      const Found& found = batch.found[i];
      put(tree.mesh, to,
          {{batch.indices[i]},
           batch.points[i],
           found.place,
           found.squared,
           is_inside(tree, batch.points[i], found.place)});
    }
    monitor.advance(static_cast<std::int64_t>(batch.points.size()));
  });
}

void answer_lattice(const PreparedMesh& prepared, const Lattice& lattice, const Places& to, const Run& run) {
  const TreeView tree = view_for(prepared, to);
  const std::int64_t across = (lattice.shape[1] + kSide - 1) / kSide,
                     rows = across * ((lattice.shape[2] + kSide - 1) / kSide);
  const std::int64_t cubes = (lattice.shape[0] + kSide - 1) / kSide;
  const bool by_lines = tree.sign == Sign::winding;
  Monitor monitor(run.execution, rows * cubes);
  const auto workers = static_cast<std::size_t>(std::min<std::int64_t>(run.threads, rows));
  if (by_lines && to.only_inside()) {
    std::vector<std::unique_ptr<Marker>> markers(workers);
    return parallel_jobs(run.threads, rows, [&](int worker, std::int64_t job) {
      std::unique_ptr<Marker>& marker = markers[static_cast<std::size_t>(worker)];
      if (!marker) marker = std::make_unique<Marker>(prepared, lattice, run.set);
      marker->mark(job % across * kSide, job / across * kSide, to.inside);
      monitor.advance(cubes);
    });
  }
  std::vector<Batch> batches(workers);
  std::vector<Bundle> bundles(workers, Bundle(tree, lattice));
  parallel_jobs(run.threads, rows, [&](int worker, std::int64_t job) {
    Batch& batch = batches[static_cast<std::size_t>(worker)];
    Bundle& bundle = bundles[static_cast<std::size_t>(worker)];
    const std::int64_t j = job % across * kSide, k = job / across * kSide;
    if (by_lines) bundle.set(j, k);
    for (std::int64_t cube = 0; cube < cubes; ++cube) {
      batch.clear();
      add_cube(batch, lattice, {cube * kSide, j, k});
      find_nearest(prepared.tree, batch.points, batch.found, run.set, monitor);
      for (std::size_t i = 0; i < batch.points.size(); ++i) {
        const Found& found = batch.found[i];
        const std::int64_t x = cube * kSide + batch.indices[i] % kSide, y = batch.indices[i] / kSide % kSide,
                           z = batch.indices[i] / (kSide * kSide);
        const bool inside = by_lines ? bundle.is_inside(x, y, z) : is_inside(tree, batch.points[i], found.place);
        put(tree.mesh, to, {{k + z, j + y, x}, batch.points[i], found.place, found.squared, inside});
      }
      monitor.advance(1);
    }
  });
}

}  // namespace fathom::mesh::cpu
