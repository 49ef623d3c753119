#include "points/problem.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <sstream>

#include "run.h"

namespace fathom::test {

namespace {

__extension__ using Wide = unsigned __int128;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

double normal(Random& random) { return std::normal_distribution<double>()(random); }

using Place = std::array<double, 3>;

/// Makes one point after another; scale is 1 for reals and some steps for integers.
class Placer {
 public:
  Placer(Spread spread, double scale, Random& random) : spread_(spread), scale_(scale), random_(random) {
    for (Place& center : centers_) center = cube();
    for (double& x : direction_) x = normal(random);
  }

  Place next() {
    switch (spread_) {
      case Spread::uniform: return cube();
      case Spread::clustered: return near(centers_[static_cast<std::size_t>(below(random_, 4))], 1e-4);
      case Spread::lattice: return lattice();
      case Spread::collinear: return line();
      case Spread::duplicates: return centers_[static_cast<std::size_t>(below(random_, 8))];
      case Spread::equal: return centers_[0];
      case Spread::far_from_origin: return far();
      case Spread::sphere: return sphere();
      case Spread::extremes: return extremes();
    }
    return {};
  }

 private:
  Place cube() { return {uniform(random_, 0, scale_), uniform(random_, 0, scale_), uniform(random_, 0, scale_)}; }
  Place near(const Place& center, double size) {
    Place place = center;
    for (double& x : place) x += normal(random_) * size * scale_;
    return place;
  }
  Place lattice() {
    Place place;
    for (double& x : place) x = static_cast<double>(below(random_, 12)) * scale_ / 10;
    return place;
  }
  Place line() {
    const double t = uniform(random_, -1, 1);
    return {direction_[0] * t * scale_, direction_[1] * t * scale_, direction_[2] * t * scale_};
  }
  Place far() {
    Place place;
    for (double& x : place) x = 1e6 + static_cast<double>(below(random_, 30)) * 1e-3;
    return place;
  }
  Place sphere() {
    Place place = {normal(random_), normal(random_), normal(random_)};
    const double length = std::sqrt(place[0] * place[0] + place[1] * place[1] + place[2] * place[2]) + 1e-30;
    for (double& x : place) x = x / length * scale_;
    return place;
  }
  Place extremes() {
    Place place;
    for (double& x : place) x = pick<double>(random_, {INT32_MIN, INT32_MIN + 1, -1, 0, 1, INT32_MAX - 1, INT32_MAX});
    return place;
  }

  Spread spread_;
  double scale_;
  Random& random_;
  std::array<Place, 8> centers_{};
  Place direction_{};
};

void store_coordinate(Array& points, std::int64_t at, double x) {
  switch (points.dtype()) {
    case DType::int32:
      points.as<std::int32_t>().data()[at] =
          static_cast<std::int32_t>(std::clamp<double>(std::round(x), INT32_MIN, INT32_MAX));
      break;
    case DType::float32: points.as<float>().data()[at] = static_cast<float>(x); break;
    default: points.as<double>().data()[at] = x;
  }
}

/// Squared distance – by another metric than the Euclidean, the distance – as what decides: an integer, or float64 as
/// brute force has it.
struct Measure {
  bool integral = false;
  bool squared = true;
  Wide whole = 0;
  double real = 0;

  friend bool operator<(const Measure& a, const Measure& b) { return a.integral ? a.whole < b.whole : a.real < b.real; }
};

/// The Float nearest to the root of an integer, beyond 2⁵³ decided in integers: r and its neighbours times 2²⁷ are
/// whole.
template <class Float>
Float integer_root(Wide d2) {
  if (d2 <= Wide{1} << 53) return static_cast<Float>(std::sqrt(static_cast<double>(d2)));
  auto guess = static_cast<Float>(std::sqrt(static_cast<double>(d2)));
  const auto below_middle = [&](Float low, Float high) {  // whether the root is below the middle of two neighbours
    const auto middle = static_cast<Wide>(std::ldexp(static_cast<double>(low), 27)) / 2 +
                        static_cast<Wide>(std::ldexp(static_cast<double>(high), 27)) / 2;
    return d2 << 54 < middle * middle;
  };
  while (below_middle(std::nextafter(guess, Float{0}), guess)) guess = std::nextafter(guess, Float{0});
  for (Float next = std::nextafter(guess, Float(kInfinity)); !below_middle(guess, next);
       next = std::nextafter(guess, Float(kInfinity)))
    guess = next;
  return guess;
}

template <class Float>
Float root(const Measure& m) {
  if (!m.squared) return m.integral ? static_cast<Float>(m.whole) : static_cast<Float>(m.real);
  return m.integral ? integer_root<Float>(m.whole) : static_cast<Float>(std::sqrt(m.real));
}

double wrapped(double x, double period) {
  if (period <= 0) return x;
  x = std::fmod(x, period);
  if (x < 0) x += period;
  return x >= period ? 0 : x;
}

class BruteForce {
 public:
  explicit BruteForce(const PointProblem& problem)
      : p_(problem), axes_(static_cast<int>(problem.sites.shape().back())) {
    integral_ = p_.sites.dtype() == DType::int32 && p_.queries.dtype() == DType::int32;
    for (int k = 0; k < axes_; ++k) integral_ = integral_ && period(k) == std::floor(period(k));
  }

  double period(int k) const {
    const std::vector<double>& all = p_.set.period;
    return all.empty() ? 0 : all[all.size() == 1 ? 0 : static_cast<std::size_t>(k)];
  }

  Measure between(std::int64_t query, std::int64_t site) const {
    Measure m = nobody();
    for (int k = 0; k < axes_; ++k) {
      double way = std::abs(wrapped(coordinate(p_.queries, query, k), period(k)) - coordinate(p_.sites, site, k));
      if (period(k) > 0) way = std::min(way, period(k) - way);
      const auto whole = static_cast<Wide>(way);
      switch (p_.query.metric) {
        case points::Metric::euclidean: m.real += way * way, m.whole += whole * whole; break;
        case points::Metric::taxicab: m.real += way, m.whole += whole; break;
        case points::Metric::chessboard: m.real = std::max(m.real, way), m.whole = std::max(m.whole, whole); break;
      }
    }
    return m;
  }

  Measure nobody() const { return {integral_, p_.query.metric == points::Metric::euclidean}; }

  bool qualifies(std::int64_t query, std::int64_t site, const Measure& m) const {
    if (root<double>(m) > p_.query.radius) return false;
    return p_.directions.size() == 0 || in_cone(query, site);
  }

  /// By angles, in extended precision: sites too near the boundary to tell are not made.
  bool in_cone(std::int64_t query, std::int64_t site) const {
    long double along = 0, length2 = 0, axis2 = 0;
    for (int k = 0; k < axes_; ++k) {
      const long double step =
          static_cast<long double>(coordinate(p_.sites, site, k)) - coordinate(p_.queries, query, k);
      const long double axis = coordinate(p_.directions, query, k);
      along += step * axis;
      length2 += step * step;
      axis2 += axis * axis;
    }
    along /= std::sqrt(axis2);
    const auto angle = static_cast<long double>(p_.half_angles.as<double>().data()[query]);
    if (along >= std::cos(angle) * std::sqrt(length2) - 1e-15L * std::sqrt(length2)) return true;
    const long double radius = p_.query.cone.cylinder_radius;
    if (radius == 0) return false;
    return (along >= 0 ? length2 - along * along : length2) <= radius * radius * (1 + 1e-15L);
  }

  std::vector<std::pair<Measure, std::int64_t>> nearest(std::int64_t query) const {
    std::vector<std::pair<Measure, std::int64_t>> all;
    for (std::int64_t s = 0; s < p_.sites.shape()[0]; s += p_.set.every) {
      const Measure m = between(query, s);
      if (qualifies(query, s, m)) all.emplace_back(m, s);
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    if (all.size() > static_cast<std::size_t>(p_.query.k)) all.resize(static_cast<std::size_t>(p_.query.k));
    return all;
  }

 private:
  const PointProblem& p_;
  int axes_;
  bool integral_ = false;
};

/// The same points in another layout, which lives in `keep`.
points::Coordinates laid_out(const Array& points, int layout, std::vector<Array>& keep) {
  const std::int64_t n = points.shape()[0];
  const int axes = static_cast<int>(points.shape()[1]);
  const std::size_t size = size_of(points.dtype());
  if (layout == 0) return points.view();
  if (layout == 1) {
    keep.emplace_back(points.dtype(), Shape{n, axes + 2});
    for (std::int64_t i = 0; i < n; ++i)
      std::memcpy(keep.back().data() + static_cast<std::size_t>(i * (axes + 2)) * size,
                  points.data() + static_cast<std::size_t>(i * axes) * size, size * static_cast<std::size_t>(axes));
    return AnyConstView(keep.back().data(), points.dtype(), Shape{n, axes}, Strides{axes + 2, 1});
  }
  std::vector<AnyConstView> columns;
  for (int k = 0; k < axes; ++k) {
    keep.emplace_back(points.dtype(), Shape{n});
    for (std::int64_t i = 0; i < n; ++i)
      std::memcpy(keep.back().data() + static_cast<std::size_t>(i) * size,
                  points.data() + static_cast<std::size_t>(i * axes + k) * size, size);
    columns.push_back(std::as_const(keep.back()).view());
  }
  return points::Coordinates(columns);
}

Array random_directions(std::int64_t count, int axes, Random& random) {
  Array directions(chance(random, 0.5) ? DType::float32 : DType::float64, {count, axes});
  for (std::int64_t i = 0; i < directions.size(); ++i) store_coordinate(directions, i, normal(random) * 3 + 0.01);
  return directions;
}

}  // namespace

PointAnswers make_answers(const PointProblem& problem, DType distance) {
  const Shape shape{problem.queries.shape()[0], problem.query.k};
  PointAnswers answers{Array(distance, shape), Array(), Array(DType::int64, shape)};
  if (problem.query.metric == points::Metric::euclidean) answers.squared = Array(DType::float64, shape);
  for (Array* array : {&answers.distance, &answers.squared, &answers.site}) poison(*array);
  return answers;
}

points::QueryOutputs outputs_into(PointAnswers& answers) {
  points::QueryOutputs outputs{answers.distance.view(), {}, answers.site.view(), {}};
  if (answers.squared.size() > 0) outputs.squared = answers.squared.view();
  return outputs;
}

const char* name_of(Spread spread) {
  constexpr std::array kNames = {"uniform", "clustered",       "lattice", "collinear", "duplicates",
                                 "equal",   "far_from_origin", "sphere",  "extremes"};
  return kNames[static_cast<std::size_t>(spread)];
}

Array make_points(Spread spread, DType dtype, std::int64_t count, int axes, Random& random) {
  const double scale = dtype == DType::int32 ? pick<double>(random, {5, 100, 3000, 1e8}) : 1;
  Placer placer(spread, scale, random);
  Array points(dtype, {count, axes});
  for (std::int64_t i = 0; i < count; ++i) {
    const Place place = placer.next();
    for (int k = 0; k < axes; ++k) store_coordinate(points, i * axes + k, place[static_cast<std::size_t>(k)]);
  }
  return points;
}

Array shell_in_cube(std::int64_t count, DType dtype, Random& random) {
  constexpr double kRadius = 400, kGap = 20;
  Array points(dtype, {count, 3});
  for (std::int64_t i = 0; i < count; ++i) {
    Place place;
    double length;
    do {
      for (double& x : place) x = uniform(random, -1000, 1000);
      length = std::hypot(place[0], place[1], place[2]);
    } while (length < kRadius + kGap);
    for (int k = 0; k < 3; ++k)
      store_coordinate(points, 3 * i + k, place[static_cast<std::size_t>(k)] * (i % 2 ? kRadius / length : 1));
  }
  return points;
}

double coordinate(const Array& points, std::int64_t i, int k) {
  return value_at(points, i * points.shape().back() + k);
}

PointProblem random_point_problem(std::uint64_t seed, std::int64_t most_sites) {
  Random random(seed);
  PointProblem p;
  p.seed = seed;
  p.spread = static_cast<Spread>(below(random, kSpreads));
  const int axes = chance(random, 0.3) ? 2 : 3;
  const DType dtype = pick<DType>(random, {DType::int32, DType::float32, DType::float64});
  const std::int64_t sites = chance(random, 0.05) ? below(random, 3) : 1 + below(random, most_sites);
  p.sites = make_points(p.spread, dtype, sites, axes, random);
  // Half of the queries lie as the sites do, or among them; the others anywhere.
  const Spread where = chance(random, 0.5) ? p.spread : static_cast<Spread>(below(random, kSpreads));
  const DType query_dtype =
      chance(random, 0.8) ? dtype : pick<DType>(random, {DType::int32, DType::float32, DType::float64});
  p.queries = make_points(where, query_dtype, below(random, 120), axes, random);
  for (std::int64_t i = 0; i < p.queries.shape()[0] && sites > 0; ++i)
    if (chance(random, 0.2)) {
      const std::int64_t site = below(random, sites);
      for (int k = 0; k < axes; ++k) store_coordinate(p.queries, i * axes + k, coordinate(p.sites, site, k));
    }
  p.set.storage =
      pick<points::Storage>(random, {points::Storage::plain, points::Storage::boxed, points::Storage::sorted});
  if (chance(random, 0.2)) p.set.every = 1 + below(random, 5);
  p.query.k = chance(random, 0.5) ? 1 : 1 + static_cast<int>(below(random, 64));
  if (chance(random, 0.3)) p.query.radius = pick<double>(random, {0, 1e-4, 0.1, 1, 3, 5, 70.5, 1e8});
  p.query.execution.threads = 1 + static_cast<int>(below(random, 3));
  if (chance(random, 0.2)) {  // a periodic box around sites that were moved into it
    double most = 0;
    for (std::int64_t i = 0; i < p.sites.size(); ++i) {
      store_coordinate(p.sites, i, std::abs(value_at(p.sites, i)));
      most = std::max(most, value_at(p.sites, i));
    }
    p.set.period.assign(static_cast<std::size_t>(chance(random, 0.5) ? 1 : axes), 0.0);
    for (double& period : p.set.period)
      period = dtype == DType::int32 ? most + 1 + static_cast<double>(below(random, 9)) : most * 1.25 + 0.1;
  } else if (chance(random, 0.25)) {
    p.directions = random_directions(p.queries.shape()[0], axes, random);
    p.half_angles = Array(DType::float64, {p.queries.shape()[0]});
    for (std::int64_t i = 0; i < p.half_angles.size(); ++i)
      p.half_angles.as<double>().data()[i] = uniform(random, 0, std::numbers::pi);
    if (chance(random, 0.5)) p.query.cone.cylinder_radius = pick<double>(random, {0.013, 0.27, 11.1});
  }
  if (p.directions.size() == 0 && chance(random, 0.5))
    p.query.metric = pick<points::Metric>(random, {points::Metric::taxicab, points::Metric::chessboard});
  return p;
}

std::string describe(const PointProblem& p) {
  std::ostringstream text;
  text << "seed " << p.seed << ": " << name_of(p.spread) << ", sites " << to_string(p.sites.shape()) << " "
       << name_of(p.sites.dtype()) << ", queries " << to_string(p.queries.shape()) << " " << name_of(p.queries.dtype())
       << ", storage " << static_cast<int>(p.set.storage) << ", every " << p.set.every << ", k " << p.query.k
       << ", metric " << static_cast<int>(p.query.metric) << ", radius " << p.query.radius << ", periods "
       << p.set.period.size() << ", cones " << p.directions.size() << ", cylinder " << p.query.cone.cylinder_radius;
  return text.str();
}

PointAnswers brute_force(const PointProblem& problem, DType distance) {
  PointAnswers answers = make_answers(problem, distance);
  const BruteForce oracle(problem);
  const int k = problem.query.k;
  for (std::int64_t q = 0; q < problem.queries.shape()[0]; ++q) {
    const auto best = oracle.nearest(q);
    for (int j = 0; j < k; ++j) {
      const std::int64_t at = q * k + j;
      const bool found = static_cast<std::size_t>(j) < best.size();
      const Measure m = found ? best[static_cast<std::size_t>(j)].first : oracle.nobody();
      if (distance == DType::float32)
        answers.distance.as<float>().data()[at] = found ? root<float>(m) : static_cast<float>(kInfinity);
      else answers.distance.as<double>().data()[at] = found ? root<double>(m) : kInfinity;
      if (m.squared)
        answers.squared.as<double>().data()[at] = !found       ? kInfinity
                                                  : m.integral ? static_cast<double>(m.whole)
                                                               : m.real;
      answers.site.as<std::int64_t>().data()[at] = found ? best[static_cast<std::size_t>(j)].second : -1;
    }
  }
  return answers;
}

PointAnswers nearest(const PointProblem& problem, DType distance, int layout) {
  PointAnswers answers = make_answers(problem, distance);
  std::vector<Array> keep;
  const points::SiteSet set(laid_out(problem.sites, layout, keep), problem.set);
  points::QueryOptions options = problem.query;
  if (problem.directions.size() > 0) {
    options.cone.directions = problem.directions.view();
    options.cone.half_angles = problem.half_angles.view();
  }
  set.nearest(laid_out(problem.queries, layout, keep), options, outputs_into(answers));
  return answers;
}

testing::AssertionResult equal(const PointAnswers& a, const PointAnswers& b) {
  const auto k = a.site.shape().back();
  if (a.squared.size() != b.squared.size()) return testing::AssertionFailure() << "squares of one alone";
  for (std::int64_t i = 0; i < a.site.size(); ++i) {
    const double squares[] = {a.squared.size() > 0 ? value_at(a.squared, i) : 0,
                              b.squared.size() > 0 ? value_at(b.squared, i) : 0};
    if (value_at(a.distance, i) != value_at(b.distance, i) || squares[0] != squares[1] ||
        integer_at(a.site, i) != integer_at(b.site, i))
      return testing::AssertionFailure() << "query " << i / k << ", neighbour " << i % k << ": distance "
                                         << value_at(a.distance, i) << " and " << value_at(b.distance, i)
                                         << ", squared " << squares[0] << " and " << squares[1] << ", site "
                                         << integer_at(a.site, i) << " and " << integer_at(b.site, i);
  }
  return testing::AssertionSuccess();
}

}  // namespace fathom::test
