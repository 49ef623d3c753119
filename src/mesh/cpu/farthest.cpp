// The largest distance of a surface's points from another surface, by branch and bound. Of a part of a triangle it is
// at least that of its corners. It is at most the largest distance of its corners from any one triangle of the other
// surface: the distance from what is convex is convex, so that it is largest at a corner. Parts that may hold more than
// was found are cut in two, those that may hold most first, a batch at a time.
//
// Source: Tang, Lee & Kim, Interactive Hausdorff distance computation for general polygonal models, 2009.
// Departs in that a side whose ends are nearest to different triangles is cut where those are equally far, instead of
// in its middle. Parts then end where the nearest triangle changes: along folds of the other surface, and midway
// between its sheets, a few cuts do what would take halving until parts are as small as the tolerance.
// Cost: two searches for each vertex and triangle, some for each place where a part passes from triangle to triangle.
#include "mesh/cpu/farthest.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "mesh/cpu/part.h"

namespace fathom::mesh::cpu {

namespace {

constexpr double kWorthTaking = 0x1p-10;   ///< of the tolerance
constexpr double kLeastShare = 1.0 / 16;   ///< of a side on either side of a cut
constexpr std::int64_t kOfJob = 256;       ///< vertices or parts
constexpr std::int64_t kMostJobs = 256;    ///< at once
constexpr std::int64_t kLeastCuts = 4096;  ///< at once, if there are as many parts

struct Part {
  PartCorners corners;
  std::array<double, 3> squares;       ///< of the corners' distances
  std::array<std::int32_t, 3> places;  ///< of the triangles nearest to them
  std::int32_t best;                   ///< place of the triangle that bounds it
  std::int32_t triangle;               ///< of which it is a part, the caller's number
  std::int32_t cuts;                   ///< that made it
  double upper;                        ///< no point of it is farther
};

/// What one thread finds out about some parts.
struct Job {
  std::vector<Part> parts;
  std::vector<Vec3> points;
  std::vector<Found> found;
  std::vector<std::size_t> open;  ///< parts that their corners do not settle
  Farthest farthest;
  double settled = 0;  ///< the largest bound of parts that need no cut
};

/// A cut from a side to the corner across.
struct Cut {
  std::size_t side;  ///< from this corner to the next
  Vec3 point;
};

/// What a distance from a triangle by the formula may be off from one that is convex in the point: by the normal's
/// rounding, which flat triangles enlarge, and by the face that the flattest do not have.
double rounding_of(const Triangle& t, double distance) {
  const double longest =
      std::sqrt(std::max({squared_distance(t.a, t.b), squared_distance(t.a, t.c), squared_distance(t.b, t.c)}));
  if (!(longest > 0)) return 0;
  const double height = 2 * area_of(corners_of(t)) / longest;
  return t.per_normal > 0 ? 0x1p-49 * (distance + longest) * (longest / height) : 0.5 * height + 0x1p-49 * longest;
}

/// Where on a way of length 1 a difference that is below 0 at its start and above 0 at its end is about 0.
/// Source: regula falsi, Illinois variant: at once for what is linear, as distances from planes are.
template <class Difference>
double zero_of(double at_start, double at_end, double close, const Difference& difference) {
  constexpr int kMostSteps = 12;
  double start = 0, end = 1, at = 0.5;
  for (int step = 0, last = 0; step < kMostSteps; ++step) {
    at = start + (end - start) * (at_start / (at_start - at_end));
    const double value = difference(at);
    if (std::abs(value) <= close) break;
    const int side = value < 0 ? -1 : 1;
    if (side < 0) start = at, at_start = value;
    else end = at, at_end = value;
    if (side == last) (side < 0 ? at_end : at_start) *= 0.5;
    last = side;
  }
  return at;
}

void take(Farthest& farthest, const Found& found, Vec3 point, std::int32_t triangle) {
  if (found.squared > farthest.squared) farthest = {found.squared, point, triangle, found.place, 0};
}

class FarthestSearch {
 public:
  FarthestSearch(const PreparedMesh& from, const Tree& to, const FarthestOptions& options, const Run& run,
                 Monitor& monitor)
      : from_(from), to_(to), options_(options), run_(run), monitor_(monitor) {}

  Farthest search() {
    ask_vertices();
    for (std::int64_t begin = 0; begin < from_.tree.count; begin += kMostJobs * kOfJob) {
      const std::int64_t end = std::min(from_.tree.count, begin + kMostJobs * kOfJob);
      run_jobs(end - begin, [&](Job& job, std::int64_t i) { add_triangle(job, begin + i); });
      while (held() > options_.most_parts / 2 && may_cut()) cut_some();
    }
    while (held() > 0 && may_cut()) cut_some();
    farthest_.bound = std::max(settled_, largest());
    for (const Part& part : parts_) farthest_.bound = std::max(farthest_.bound, part.upper);
    return farthest_;
  }

 private:
  double largest() const { return std::sqrt(std::max(0.0, farthest_.squared)); }
  std::int64_t held() const { return static_cast<std::int64_t>(parts_.size()); }
  bool may_cut() const { return cuts_ < options_.most_cuts; }

  const Corners& corners_at(std::int64_t place) const {
    return from_.surface.corners[static_cast<std::size_t>(from_.tree.ids[static_cast<std::size_t>(place)])];
  }
  Vec3 vertex(std::int32_t number) const { return from_.surface.vertices[static_cast<std::size_t>(number)]; }

  /// The vertices that triangles use, in the order of the tree.
  std::vector<std::int32_t> vertices_in_order() const {
    std::vector<std::int32_t> order;
    std::vector<bool> seen(from_.surface.vertices.size());
    for (std::int64_t place = 0; place < from_.tree.count; ++place)
      for (const std::int32_t number : corners_at(place)) {
        if (!seen[static_cast<std::size_t>(number)]) order.push_back(number);
        seen[static_cast<std::size_t>(number)] = true;
      }
    return order;
  }

  /// Finds the nearest triangles of all vertices. Of equally far vertices, the first triangle's is taken.
  void ask_vertices() {
    const std::vector<std::int32_t> order = vertices_in_order();
    found_.resize(from_.surface.vertices.size());
    const auto count = static_cast<std::int64_t>(order.size());
    parallel_jobs(run_.threads, (count + kOfJob - 1) / kOfJob, [&](int, std::int64_t job) {
      std::vector<Vec3> points;
      std::vector<Found> found;
      const auto begin = order.begin() + job * kOfJob, end = order.begin() + std::min(count, (job + 1) * kOfJob);
      std::transform(begin, end, std::back_inserter(points), [&](std::int32_t number) { return vertex(number); });
      find_nearest(to_, points, found, run_.set, monitor_);
      for (std::size_t i = 0; i < found.size(); ++i)
        found_[static_cast<std::size_t>(begin[static_cast<std::ptrdiff_t>(i)])] = found[i];
      monitor_.advance(end - begin);
    });
    for (std::size_t triangle = 0; triangle < from_.surface.corners.size(); ++triangle)
      for (const std::int32_t number : from_.surface.corners[triangle])
        take(farthest_, found_[static_cast<std::size_t>(number)], vertex(number), static_cast<std::int32_t>(triangle));
  }

  void add_triangle(Job& job, std::int64_t place) const {
    Part part{};
    part.triangle = from_.tree.ids[static_cast<std::size_t>(place)];
    const Corners& corners = corners_at(place);
    for (std::size_t k = 0; k < 3; ++k) {
      const Found& found = found_[static_cast<std::size_t>(corners[k])];
      part.corners[k] = vertex(corners[k]);
      part.squares[k] = found.squared;
      part.places[k] = static_cast<std::int32_t>(found.place);
    }
    part.best = part.places[0];
    part.upper = std::numeric_limits<double>::infinity();
    job.parts.push_back(part);
  }

  /// Makes parts, by make(job, i) for each i below `count`, and keeps those that may hold more than is known when all
  /// are made.
  template <class Make>
  void run_jobs(std::int64_t count, const Make& make) {
    const std::int64_t jobs = (count + kOfJob - 1) / kOfJob;
    if (static_cast<std::int64_t>(jobs_.size()) < jobs) jobs_.resize(static_cast<std::size_t>(jobs));
    const double enough = largest() + options_.tolerance;
    parallel_jobs(run_.threads, jobs, [&](int, std::int64_t number) {
      Job& job = jobs_[static_cast<std::size_t>(number)];
      job.parts.clear();
      job.farthest = {};
      job.settled = 0;
      for (std::int64_t i = number * kOfJob; i < std::min(count, (number + 1) * kOfJob); ++i) make(job, i);
      settle(job, enough);
    });
    for (std::int64_t number = 0; number < jobs; ++number) {
      const Farthest& farthest = jobs_[static_cast<std::size_t>(number)].farthest;
      // A point that is no vertex lies beside the surface by its rounding, which is no distance.
      if (std::sqrt(std::max(0.0, farthest.squared)) > largest() + kWorthTaking * options_.tolerance)
        farthest_ = farthest;
    }
    for (std::int64_t number = 0; number < jobs; ++number) {
      const Job& job = jobs_[static_cast<std::size_t>(number)];
      settled_ = std::max(settled_, job.settled);
      for (const Part& part : job.parts) keep(part);
    }
  }

  void keep(const Part& part) {
    if (part.upper > largest() + options_.tolerance && held() < options_.most_parts) parts_.push_back(part);
    else settled_ = std::max(settled_, part.upper);
  }

  /// Bounds a job's parts by the triangles nearest to their corners, then by the one nearest to their middle; leaves
  /// those that may hold more than `enough`.
  void settle(Job& job, double enough) const {
    job.open.clear();
    job.points.clear();
    for (std::size_t i = 0; i < job.parts.size(); ++i) {
      Part& part = job.parts[i];
      bound_by(part, part.best);
      for (std::size_t k = 0; k < 3 && part.upper > enough; ++k) bound_by(part, part.places[k]);
      if (!(part.upper > enough)) continue;
      job.open.push_back(i);
      job.points.push_back(middle(part.corners));
    }
    find_nearest(to_, job.points, job.found, run_.set, monitor_);
    for (std::size_t i = 0; i < job.open.size(); ++i) {
      Part& part = job.parts[job.open[i]];
      take(job.farthest, job.found[i], job.points[i], part.triangle);
      bound_by(part, static_cast<std::int32_t>(job.found[i].place));
    }
    std::erase_if(job.parts, [&](const Part& part) {
      if (part.upper > enough) return false;
      job.settled = std::max(job.settled, part.upper);
      return true;
    });
  }

  void bound_by(Part& part, std::int32_t place) const {
    const Triangle triangle = to_.triangle(place);
    double squared = 0;
    for (const Vec3 corner : part.corners) squared = std::max(squared, nearest_of(triangle, corner).squared);
    const double distance = std::sqrt(squared), upper = distance + rounding_of(triangle, distance);
    if (!(upper < part.upper)) return;
    part.upper = upper;
    part.best = place;
  }

  /// Cuts the parts that may hold most; where many are held, those made last, which soon leaves fewer.
  void cut_some() {
    const bool many = held() > options_.most_parts / 2;
    const std::int64_t count =
        std::min({held(), many ? kLeastCuts : std::max(kLeastCuts, held() / 2), kMostJobs * kOfJob});
    const auto first = parts_.end() - count;
    if (!many)
      std::nth_element(parts_.begin(), first, parts_.end(),
                       [](const Part& p, const Part& q) { return p.upper < q.upper; });
    const std::vector<Part> wholes(first, parts_.end());
    parts_.erase(first, parts_.end());
    cuts_ += count;
    run_jobs(count, [&](Job& job, std::int64_t i) { cut(job, wholes[static_cast<std::size_t>(i)]); });
  }

  void cut(Job& job, const Part& whole) const {
    const Cut cut = cut_of(whole);
    Found found;
    find_nearest(to_, &cut.point, 1, &found, run_.set, whole.places[cut.side]);
    take(job.farthest, found, cut.point, whole.triangle);
    for (const std::size_t corner : {cut.side, (cut.side + 1) % 3}) {
      Part part = whole;
      ++part.cuts;
      part.corners[corner] = cut.point;
      part.squares[corner] = found.squared;
      part.places[corner] = static_cast<std::int32_t>(found.place);
      job.parts.push_back(part);
    }
  }

  /// The side at whose ends the distances from the two triangles nearest to them differ most, where these are equal;
  /// without one, the longest side in its middle. Every other cut is through the longest side, and none close to a
  /// corner, so that parts shrink.
  Cut cut_of(const Part& whole) const {
    const std::size_t longest = longest_side(whole.corners);
    Cut cut{longest, {}};
    double most = 0, ends[2] = {0, 0};
    for (std::size_t side = 0; side < 3; ++side) {
      const std::size_t next = (side + 1) % 3;
      if (whole.places[side] == whole.places[next] || (whole.cuts % 2 != 0 && side != longest)) continue;
      const double at_start = -difference(whole, next, side), at_end = difference(whole, side, next);
      if (!(std::min(-at_start, at_end) > most)) continue;
      most = std::min(-at_start, at_end);
      cut.side = side;
      ends[0] = at_start, ends[1] = at_end;
    }
    const Vec3 from = whole.corners[cut.side], way = whole.corners[(cut.side + 1) % 3] - from;
    double at = 0.5;
    const double close = 0.125 * options_.tolerance;
    if (most > close) {
      const Triangle first = to_.triangle(whole.places[cut.side]),
                     second = to_.triangle(whole.places[(cut.side + 1) % 3]);
      const double zero = zero_of(ends[0], ends[1], close, [&](double along) {
        const Vec3 point = from + along * way;
        return std::sqrt(nearest_of(first, point).squared) - std::sqrt(nearest_of(second, point).squared);
      });
      at = std::clamp(zero, kLeastShare, 1 - kLeastShare);
    }
    cut.point = from + at * way;
    return cut;
  }

  /// How much farther corner `at` is from the triangle nearest to corner `of` than from its own.
  double difference(const Part& part, std::size_t of, std::size_t at) const {
    return std::sqrt(nearest_of(to_.triangle(part.places[of]), part.corners[at]).squared) - std::sqrt(part.squares[at]);
  }

  const PreparedMesh& from_;
  const Tree& to_;
  const FarthestOptions& options_;
  const Run& run_;
  Monitor& monitor_;
  std::vector<Found> found_;  ///< of the vertices
  std::vector<Part> parts_;   ///< that may hold more than was found
  std::vector<Job> jobs_;
  Farthest farthest_;
  double settled_ = 0;  ///< the largest bound of parts that are not looked at again
  std::int64_t cuts_ = 0;
};

}  // namespace

std::size_t farthest_bytes(const PreparedMesh& from, std::int64_t parts) {
  const auto vertices = from.surface.vertices.size();
  // Those held are in memory that grows by doubling; some more are at work.
  return vertices * (sizeof(Found) + 2 * sizeof(std::int32_t)) + static_cast<std::size_t>(parts) * 3 * sizeof(Part) +
         static_cast<std::size_t>(kMostJobs * kOfJob) * (4 * sizeof(Part) + sizeof(Found) + sizeof(Vec3) + 8);
}

Farthest find_farthest(const PreparedMesh& from, const Tree& to, const FarthestOptions& options, const Run& run,
                       Monitor& monitor) {
  return FarthestSearch(from, to, options, run, monitor).search();
}

}  // namespace fathom::mesh::cpu
