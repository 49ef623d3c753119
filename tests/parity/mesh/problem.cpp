#include "mesh/problem.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <sstream>

#include "mesh/triangle.hd.h"
#include "run.h"

namespace fathom::test {

namespace {


using mesh::Vec3;

double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

Vec3 vector_of(const Place& p) { return {p[0], p[1], p[2]}; }
double length(Vec3 v) { return std::sqrt(dot(v, v)); }

struct Extent {
  Place low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
  double longest = 0;
};

Extent extent_of(const Mesh& mesh) {
  Extent extent;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i)
    for (std::size_t corner = 0; corner < 3; ++corner)
      for (std::size_t k = 0; k < 3; ++k) {
        extent.low[k] = std::min(extent.low[k], mesh.corner(i, corner)[k]);
        extent.high[k] = std::max(extent.high[k], mesh.corner(i, corner)[k]);
        extent.longest = std::max(extent.longest, extent.high[k] - extent.low[k]);
      }
  if (!(extent.longest > 0)) extent.longest = 1;
  return extent;
}

double longest_side(const Mesh& mesh, std::size_t triangle) {
  double longest = 0;
  for (std::size_t k = 0; k < 3; ++k)
    longest = std::max(longest, length(vector_of(mesh.corner(triangle, k)) - vector_of(mesh.corner(triangle, (k + 1) % 3))));
  return longest;
}

/// Anywhere about the mesh, far away, and on its vertices, edges and faces.
Place random_point(const Mesh& mesh, const Extent& extent, Random& random) {
  Place place;
  const auto triangle = static_cast<std::size_t>(below(random, static_cast<std::int64_t>(mesh.triangles.size())));
  const Place &a = mesh.corner(triangle, 0), &b = mesh.corner(triangle, 1), &c = mesh.corner(triangle, 2);
  const std::int64_t where = below(random, 8);
  const double reach = (where == 0 ? 100 : 0.3) * extent.longest;
  for (std::size_t k = 0; k < 3; ++k) switch (where) {
      case 1: place[k] = a[k]; break;
      case 2: place[k] = 0.5 * (b[k] + c[k]); break;
      case 3: place[k] = 0.25 * a[k] + 0.5 * b[k] + 0.25 * c[k]; break;
      case 4: place[k] = std::round(uniform(random, extent.low[k] - reach, extent.high[k] + reach)); break;
      default: place[k] = uniform(random, extent.low[k] - reach, extent.high[k] + reach);
    }
  return place;
}

mesh::Lattice random_lattice(const Mesh& mesh, const Extent& extent, Random& random) {
  mesh::Lattice lattice;
  const double h = extent.longest / static_cast<double>(2 + below(random, 20));
  for (std::size_t k = 0; k < 3; ++k) {
    lattice.shape[k] = pick<std::int64_t>(random, {1, 2, 7, 8, 9, 9, 10, 13, 16, 17});
    lattice.spacing[k] = chance(random, 0.7) ? h : h * uniform(random, 0.3, 2);
    // About the mesh, or a part of it, or beside it.
    const double size = static_cast<double>(lattice.shape[k]) * lattice.spacing[k];
    lattice.origin[k] = 0.5 * (extent.low[k] + extent.high[k]) - 0.5 * size;
    if (chance(random, 0.3)) lattice.origin[k] += uniform(random, -1, 1) * size;
    if (chance(random, 0.2)) lattice.origin[k] = mesh.corner(0, 0)[k];
    if (chance(random, 0.2)) lattice.spacing[k] = 1, lattice.origin[k] = std::round(lattice.origin[k]);
  }
  if (chance(random, 0.05)) lattice.shape[static_cast<std::size_t>(below(random, 3))] = 0;
  return lattice;
}

/// Numbers of vertices, of equal ones the lowest.
std::vector<std::int64_t> lowest_equals(const std::vector<Place>& vertices) {
  std::map<Place, std::int64_t> first;  // 0 and −0 compare as equal
  std::vector<std::int64_t> lowest;
  for (const Place& vertex : vertices) lowest.push_back(first.try_emplace(vertex, static_cast<std::int64_t>(lowest.size())).first->second);
  return lowest;
}

/// An output, poisoned, with a gap behind each row but along a single axis, where there is none.
class Output {
 public:
  Output(DType dtype, Shape shape, std::int64_t gap) : shape_(shape) {
    Shape whole = shape;
    if (shape.rank() > 1) whole[shape.rank() - 1] += gap;
    memory_ = Array(dtype, whole);
    poison(memory_);
  }
  AnyView view() { return {memory_.data(), memory_.dtype(), shape_, dense_strides(memory_.shape())}; }

  Array taken() {
    Array result(memory_.dtype(), shape_);
    const std::size_t size = size_of(memory_.dtype()), row = static_cast<std::size_t>(shape_.back()) * size,
                      whole = static_cast<std::size_t>(memory_.shape().back()) * size;
    Array gap(DType::uint8, {static_cast<std::int64_t>(whole - row)});
    for (std::size_t i = 0; row > 0 && i < result.bytes() / row; ++i) {
      std::memcpy(result.data() + i * row, memory_.data() + i * whole, row);
      if (whole > row) std::memcpy(gap.data(), memory_.data() + i * whole + row, whole - row);
      else poison(gap);
      EXPECT_TRUE(is_poisoned(gap));
    }
    return result;
  }

 private:
  Shape shape_;
  Array memory_;
};

template <class Call>
MeshAnswers answers_of(const MeshProblem& problem, const Shape& shape, const Call& call) {
  Shape vectors = shape;
  vectors.push_back(3);
  Output distance(problem.real, shape, problem.gap), triangle(problem.whole, shape, problem.gap),
      closest(problem.real, vectors, problem.gap), barycentric(problem.real, vectors, problem.gap),
      feature(DType::uint8, shape, problem.gap), gradient(problem.real, vectors, problem.gap),
      inside(DType::uint8, shape, problem.gap);
  mesh::Outputs outputs;
  outputs.distance = distance.view();
  outputs.triangle = triangle.view();
  outputs.closest = closest.view();
  outputs.barycentric = barycentric.view();
  outputs.feature = feature.view();
  outputs.gradient = gradient.view();
  outputs.inside = inside.view();
  call(outputs);
  return {distance.taken(), triangle.taken(), closest.taken(), barycentric.taken(), feature.taken(), gradient.taken(), inside.taken()};
}

Vec3 vector_at(const Array& array, std::int64_t i) {
  return {value_at(array, 3 * i), value_at(array, 3 * i + 1), value_at(array, 3 * i + 2)};
}

testing::AssertionResult differ(const Truth& truth, const MeshAnswers& answers, std::int64_t i, const char* what) {
  return testing::AssertionFailure() << what << " at point " << i << ": distance " << value_at(answers.distance, i) << " of triangle "
                                     << integer_at(answers.triangle, i) << ", should be " << truth.distance[static_cast<std::size_t>(i)]
                                     << " of " << truth.triangle[static_cast<std::size_t>(i)];
}

double rounded_to(DType dtype, double value) { return dtype == DType::float32 ? static_cast<float>(value) : value; }

}  // namespace

AnyConstView MeshProblem::points_view() const {
  return {points.data(), points.dtype(), {points.shape()[0], 3}, {3 + point_gap, 1}};
}

std::vector<Place> MeshProblem::places() const {
  std::vector<Place> result;
  for (std::int64_t i = 0; i < points.size(); i += 3 + point_gap)
    result.push_back({value_at(points, i), value_at(points, i + 1), value_at(points, i + 2)});
  return result;
}

std::vector<Place> MeshProblem::lattice_places() const {
  std::vector<Place> result;
  for (std::int64_t z = 0; z < lattice.shape[2]; ++z)
    for (std::int64_t y = 0; y < lattice.shape[1]; ++y)
      for (std::int64_t x = 0; x < lattice.shape[0]; ++x)
        result.push_back({lattice.at(0, x), lattice.at(1, y), lattice.at(2, z)});
  return result;
}

MeshProblem random_mesh_problem(std::uint64_t seed) {
  Random random(seed);
  MeshProblem p;
  p.seed = seed;
  p.kind = static_cast<Kind>(below(random, kKinds));
  p.mesh = make_mesh(p.kind, random);
  if (chance(random, 0.2)) p.mesh = split(p.mesh);
  const DType vertex = chance(random, 0.5) ? DType::float32 : DType::float64;
  p.scale = pick<double>(random, {1, 1, 1, 1, 1e-6, 1e6, 1e-3});
  const Place shift = chance(random, 0.2) ? Place{1e6, -1e6, 1e6} : Place{};
  p.mesh = moved(std::move(p.mesh), [&](const Place& v) {
    return Place{v[0] * p.scale + shift[0], v[1] * p.scale + shift[1], v[2] * p.scale + shift[2]};
  });
  p.arrays.emplace(p.mesh, vertex, chance(random, 0.5) ? DType::int32 : DType::int64, below(random, 3));
  p.mesh.vertices = p.arrays->vertices();
  p.sign = pick<mesh::Sign>(random, {mesh::Sign::none, mesh::Sign::pseudonormal, mesh::Sign::automatic});
  const Extent extent = extent_of(p.mesh);
  p.lattice = random_lattice(p.mesh, extent, random);
  p.cutoff = p.lattice.spacing[0] * pick<double>(random, {0.01, 0.5, 1, 1.7, 3, 3, 8, 40});
  p.point_gap = below(random, 3);
  const std::int64_t count = chance(random, 0.05) ? 0 : 1 + below(random, 150);
  p.points = Array(chance(random, 0.3) ? DType::float32 : DType::float64, {count, 3 + p.point_gap});
  poison(p.points);
  for (std::int64_t i = 0; i < count; ++i) {
    const Place place = random_point(p.mesh, extent, random);
    for (std::size_t k = 0; k < 3; ++k) store(p.points, i * (3 + p.point_gap) + static_cast<std::int64_t>(k), place[k]);
  }
  p.real = chance(random, 0.5) ? DType::float32 : DType::float64;
  p.whole = chance(random, 0.5) ? DType::int32 : DType::int64;
  p.gap = below(random, 3);
  return p;
}

std::string describe(const MeshProblem& p) {
  std::ostringstream text;
  text << "FATHOM_TEST_SEED=" << p.seed << ": " << name_of(p.kind) << " of " << p.mesh.triangles.size() << " triangles, scale "
       << p.scale << ", vertices " << name_of(p.arrays->vertex.dtype()) << ", sign " << static_cast<int>(p.sign) << ", lattice "
       << p.lattice.shape[0] << " × " << p.lattice.shape[1] << " × " << p.lattice.shape[2] << ", spacing " << p.lattice.spacing[0]
       << " " << p.lattice.spacing[1] << " " << p.lattice.spacing[2] << ", cutoff " << p.cutoff << ", outputs " << name_of(p.real);
  return text.str();
}

MeshAnswers nearest(const mesh::TriangleSet& set, const MeshProblem& problem, const Execution& execution) {
  return answers_of(problem, {problem.points.shape()[0]},
                    [&](const mesh::Outputs& outputs) { set.nearest(problem.points_view(), outputs, execution); });
}

MeshAnswers field(const mesh::TriangleSet& set, const MeshProblem& problem, const Execution& execution) {
  return answers_of(problem, problem.lattice.array_shape(),
                    [&](const mesh::Outputs& outputs) { set.field(problem.lattice, outputs, execution); });
}

testing::AssertionResult equal(const MeshAnswers& a, const MeshAnswers& b) {
  const auto all = [](const MeshAnswers& m) {
    return std::array{&m.distance, &m.triangle, &m.closest, &m.barycentric, &m.feature, &m.gradient, &m.inside};
  };
  constexpr std::array kNames = {"distance", "triangle", "closest", "barycentric", "feature", "gradient", "inside"};
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (const auto same = equal(*all(a)[i], *all(b)[i]); !same) return testing::AssertionFailure() << kNames[i] << ": " << same.message();
  return testing::AssertionSuccess();
}

testing::AssertionResult equal(const mesh::Band& a, const mesh::Band& b) {
  if (a.active != b.active || a.is_signed != b.is_signed) return testing::AssertionFailure() << "another count or sign";
  const auto all = [](const mesh::Band& m) {
    return std::array{&m.tiles, &m.masks,  &m.distances,  &m.triangles,   &m.closest,
                      &m.first, &m.inside, &m.row_inside, &m.after_inside};
  };
  constexpr std::array kNames = {"tiles", "masks",  "distances",  "triangles",   "closest",
                                 "first", "inside", "row_inside", "after_inside"};
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (const auto same = equal(*all(a)[i], *all(b)[i]); !same) return testing::AssertionFailure() << kNames[i] << ": " << same.message();
  return testing::AssertionSuccess();
}

Truth brute_force(const Mesh& mesh, const std::vector<Place>& points) {
  const std::vector<std::int64_t> lowest = lowest_equals(mesh.vertices);
  std::vector<mesh::Triangle> triangles;
  for (const Corners& corners : mesh.triangles) {
    std::array<std::int64_t, 3> order;
    for (std::size_t k = 0; k < 3; ++k) order[k] = lowest[static_cast<std::size_t>(corners[k])];
    std::sort(order.begin(), order.end());
    const auto vertex = [&](std::size_t k) { return vector_of(mesh.vertices[static_cast<std::size_t>(order[k])]); };
    triangles.push_back(mesh::make_triangle(vertex(0), vertex(1), vertex(2)));
  }
  Truth truth;
  for (const Place& point : points) {
    mesh::Nearest best;
    std::int64_t id = -1;
    for (std::size_t i = 0; i < triangles.size(); ++i)
      if (const mesh::Nearest nearest = nearest_of(triangles[i], vector_of(point)); id < 0 || nearest.squared < best.squared)
        best = nearest, id = static_cast<std::int64_t>(i);
    truth.distance.push_back(std::sqrt(best.squared));
    truth.triangle.push_back(id);
    truth.feature.push_back(best.part == mesh::Part::face ? mesh::Feature::face
                            : best.part <= mesh::Part::bc ? mesh::Feature::edge
                                                          : mesh::Feature::vertex);
  }
  return truth;
}

testing::AssertionResult matches(const MeshProblem& problem, const Truth& truth, const MeshAnswers& answers) {
  for (std::int64_t i = 0; i < answers.distance.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double got = value_at(answers.distance, i), expected = rounded_to(problem.real, truth.distance[at]);
    const bool inside = integer_at(answers.inside, i) == 1;
    if (std::abs(got) != expected) return differ(truth, answers, i, "another distance");
    if (std::signbit(got) && (problem.sign == mesh::Sign::none || got == 0)) return differ(truth, answers, i, "a sign");
    if (integer_at(answers.triangle, i) != truth.triangle[at]) return differ(truth, answers, i, "another triangle");
    if (got != 0 ? inside != (got < 0) : truth.distance[at] == 0 && !inside) return differ(truth, answers, i, "another inside");
    if (integer_at(answers.feature, i) != static_cast<int>(truth.feature[at])) return differ(truth, answers, i, "another feature");
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult agrees(const MeshProblem& problem, const Truth& truth, const std::vector<Place>& points,
                                const MeshAnswers& answers) {
  const double unit = problem.real == DType::float32 ? 0x1p-24 : 0x1p-53;
  for (std::int64_t i = 0; i < answers.distance.size(); ++i) {
    const auto fail = [&](const char* what) { return differ(truth, answers, i, what); };
    const double distance = truth.distance[static_cast<std::size_t>(i)];
    const auto id = static_cast<std::size_t>(truth.triangle[static_cast<std::size_t>(i)]);
    const Vec3 point = vector_of(points[static_cast<std::size_t>(i)]), closest = vector_at(answers.closest, i),
               weights = vector_at(answers.barycentric, i), gradient = vector_at(answers.gradient, i), way = closest - point;
    // What the flattest faces and the rounding of the outputs allow.
    const double slack = 0x1p-21 * (distance + longest_side(problem.mesh, id)) + 8 * unit * length(closest) +
                         4 * unit * (distance + length(vector_of(problem.mesh.corner(id, 0))));
    if (!(std::abs(length(way) - distance) <= slack)) return fail("a nearest point that is not so far away");
    Vec3 sum;
    for (std::size_t k = 0; k < 3; ++k) {
      const double weight = k == 0 ? weights.x : k == 1 ? weights.y : weights.z;
      if (!(weight >= -1e-6 && weight <= 1 + 1e-6)) return fail("a weight outside of 0 … 1");
      sum = sum + weight * vector_of(problem.mesh.corner(id, k));
    }
    if (!(std::abs(weights.x + weights.y + weights.z - 1) <= 8 * unit)) return fail("weights that do not add up");
    if (!(length(sum - closest) <= slack)) return fail("weights of another point");
    if (distance == 0) continue;
    if (!(std::abs(length(gradient) - 1) <= 4 * unit + 1e-15)) return fail("a gradient that is not of length 1");
    const double along = dot(gradient, way) * (integer_at(answers.inside, i) ? 1 : -1);
    if (!(std::abs(along - distance) <= 2 * slack)) return fail("a gradient that leads elsewhere");
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult matches(const MeshProblem& problem, const Truth& truth, const mesh::Band& band) {
  const auto shape = problem.lattice.shape;
  std::vector<bool> seen(truth.distance.size());
  std::int64_t active = 0, before = -1;
  const auto tiles = band.tile_shape();
  const double step = *std::max_element(problem.lattice.spacing.begin(), problem.lattice.spacing.end());
  const bool may_be_empty =
      band.is_signed && (problem.cutoff <= 1.001 * step || !set_of(problem.mesh).topology().closed());
  for (std::int64_t t = 0; t < band.count(); ++t) {
    const auto tile = [&](int k) { return integer_at(band.tiles, 3 * t + k); };
    const std::int64_t number = tile(0) + tiles[0] * (tile(1) + tiles[1] * tile(2));
    if (number <= before) return testing::AssertionFailure() << "tile " << t << " is not behind the one before";
    before = number;
    bool any = false;
    for (std::int64_t i = 0; i < mesh::kTilePoints; ++i) {
      const std::int64_t x = 8 * tile(0) + i % 8, y = 8 * tile(1) + i / 8 % 8, z = 8 * tile(2) + i / 64;
      const bool is_in = band.masks.as<std::uint64_t>().data()[8 * t + i / 64] >> i % 64 & 1;
      const double distance = value_at(band.distances, mesh::kTilePoints * t + i);
      const auto fail = [&](const char* what) {
        return testing::AssertionFailure() << what << " at " << x << ", " << y << ", " << z << ": distance " << distance;
      };
      const std::int64_t id = band.triangles.size() > 0 ? integer_at(band.triangles, mesh::kTilePoints * t + i) : -1;
      if (!is_in) {
        if (std::abs(distance) != rounded_to(band.distances.dtype(), problem.cutoff)) return fail("outside of the band");
        if (id != -1) return fail("a triangle outside of the band");
        if (band.closest.size() > 0 && !std::isnan(vector_at(band.closest, mesh::kTilePoints * t + i).x)) return fail("a nearest point outside of the band");
        continue;
      }
      if (x >= shape[0] || y >= shape[1] || z >= shape[2]) return fail("a point beyond the lattice");
      any = true;
      ++active;
      const auto at = static_cast<std::size_t>(x + shape[0] * (y + shape[1] * z));
      seen[at] = true;
      if (!(truth.distance[at] <= problem.cutoff)) return fail("too far away");
      if (std::abs(distance) != rounded_to(band.distances.dtype(), truth.distance[at])) return fail("another distance");
      if (!band.is_signed && std::signbit(distance)) return fail("a sign");
      if (band.triangles.size() > 0 && id != truth.triangle[at]) return fail("another triangle");
    }
    if (!any && !may_be_empty) return testing::AssertionFailure() << "tile " << t << " has no point of the band";
  }
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (!seen[i] && truth.distance[i] <= problem.cutoff)
      return testing::AssertionFailure() << "point " << i << " is missing, at " << truth.distance[i];
  if (active != band.active) return testing::AssertionFailure() << "active is " << band.active << ", counted " << active;
  return testing::AssertionSuccess();
}

}  // namespace fathom::test
