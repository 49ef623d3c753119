// Triangles are halved along their longest sides until all parts have about the same area; the distance at a part's
// middle stands for the part. A distance changes by no more than the way, so that neither the mean nor the root mean
// square is off by more than the root mean square of the ways from a part's points to its middle, √((a² + b² + c²) /
// 36) of sides a, b, c. Sums are taken in runs of samples that do not depend on the number of threads.
// Source: halving of Rivara 1984. Cost: a search for each sample.
#include "mesh/cpu/mean_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mesh/cpu/part.h"
#include "mesh/cpu/search.h"

namespace fathom::mesh::cpu {

namespace {

constexpr std::int64_t kOfRun = 4096;

/// Part `number` of a triangle of which there are `parts`, a power of two: its bits say which half to take.
PartCorners part_at(PartCorners corners, std::int64_t parts, std::int64_t number) {
  for (std::int64_t half = parts / 2; half > 0; half /= 2) {
    const std::size_t side = longest_side(corners), next = (side + 1) % 3;
    const Vec3 cut = corners[side] + 0.5 * (corners[next] - corners[side]);
    corners[(number & half) != 0 ? side : next] = cut;
  }
  return corners;
}

}  // namespace

/// Weighted by area.
struct Samples::Sums {
  double area = 0, distance = 0, square = 0, error = 0;
};

Samples::Samples(const PreparedMesh& from, std::int64_t count) : from_(from) {
  starts_.reserve(static_cast<std::size_t>(from.tree.count) + 1);
  starts_.push_back(0);
  for (std::int64_t place = 0; place < from.tree.count; ++place) {
    const double share =
        area_of(corners_of(from.tree.triangle(place))) / from.topology.area * static_cast<double>(count);
    std::int64_t parts = 1;
    while (static_cast<double>(parts) < share) parts *= 2;
    starts_.push_back(starts_.back() + parts);
  }
}

std::size_t Samples::bytes(const PreparedMesh& from) {
  return (static_cast<std::size_t>(from.tree.count) + 1) * sizeof(std::int64_t);
}

Samples::Sums Samples::sums_of(std::int64_t begin, std::int64_t end, const Tree& to, const Run& run,
                               Monitor& monitor) const {
  std::vector<Vec3> points;
  std::vector<double> areas;
  Sums sums;
  std::int64_t place = std::upper_bound(starts_.begin(), starts_.end(), begin) - starts_.begin() - 1;
  for (std::int64_t i = begin; i < end; ++i) {
    while (starts_[static_cast<std::size_t>(place) + 1] <= i) ++place;
    const std::int64_t start = starts_[static_cast<std::size_t>(place)],
                       parts = starts_[static_cast<std::size_t>(place) + 1] - start;
    const PartCorners corners = corners_of(from_.tree.triangle(place)), part = part_at(corners, parts, i - start);
    areas.push_back(area_of(corners) / static_cast<double>(parts));
    points.push_back(middle(part));
    sums.area += areas.back();
    for (std::size_t k = 0; k < 3; ++k) sums.error += areas.back() * squared_distance(part[k], part[(k + 1) % 3]) / 36;
  }
  std::vector<Found> found;
  find_nearest(to, points, found, run.set, monitor);
  for (std::size_t i = 0; i < points.size(); ++i) {
    sums.distance += areas[i] * std::sqrt(found[i].squared);
    sums.square += areas[i] * found[i].squared;
  }
  return sums;
}

MeanDistance Samples::distance(const Tree& to, const Run& run, Monitor& monitor) const {
  std::vector<Sums> runs(static_cast<std::size_t>((size() + kOfRun - 1) / kOfRun));
  parallel_jobs(run.threads, static_cast<std::int64_t>(runs.size()), [&](int, std::int64_t job) {
    const std::int64_t begin = job * kOfRun, end = std::min(size(), begin + kOfRun);
    runs[static_cast<std::size_t>(job)] = sums_of(begin, end, to, run, monitor);
    monitor.advance(end - begin);
  });
  Sums all;
  for (const Sums& sums : runs) {
    all.area += sums.area;
    all.distance += sums.distance;
    all.square += sums.square;
    all.error += sums.error;
  }
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (!(all.area > 0)) return {kNone, kNone, kNone};
  return {all.distance / all.area, std::sqrt(all.square / all.area), std::sqrt(all.error / all.area)};
}

}  // namespace fathom::mesh::cpu
