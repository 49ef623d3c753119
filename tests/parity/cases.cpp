#include "cases.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <sstream>

#include "oracle.h"

namespace fathom::test {

using grid::Border;
using grid::Metric;
using Rule = grid::Sites::Rule;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
}  // namespace

std::int64_t below(Random& random, std::int64_t count) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
}

bool chance(Random& random, double probability) { return static_cast<double>(random() >> 11) * 0x1p-53 < probability; }

int scaled(int count) {
  const char* text = std::getenv("FATHOM_TEST_SCALE");
  return text ? std::max(1, static_cast<int>(count * std::atof(text))) : count;
}

std::vector<std::int64_t> some_of(int count, int least) {
  int step = count * 5 / 8 + 1;  // no period of cases is close to it
  while (std::gcd(step, count) != 1) ++step;
  std::vector<std::int64_t> chosen;
  const int tried = std::clamp(scaled(count), std::min(least, count), count);
  for (int i = 0; i < tried; ++i) chosen.push_back(std::int64_t{i} * step % count);
  return chosen;
}

OneOf::OneOf(int period) : period_(scaled(period) < period ? period : 1) {}

std::int64_t largest_problem() {
  const char* text = std::getenv("FATHOM_TEST_LARGEST");
  return text ? std::atoll(text) : std::numeric_limits<std::int64_t>::max();
}

std::optional<std::uint64_t> seed_to_replay() {
  const char* text = std::getenv("FATHOM_TEST_SEED");
  if (!text) return {};
  return std::strtoull(text, nullptr, 10);
}

const char* name_of(Structure structure) {
  constexpr const char* kNames[kStructures] = {"none",  "all",      "one",  "sparse",       "dense", "blobs",
                                               "plane", "diagonal", "ring", "checkerboard", "mirror"};
  return kNames[static_cast<int>(structure)];
}

std::vector<bool> scatter(const Shape& shape, double probability, Random& random) {
  std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < sites.size(); ++i) sites[i] = chance(random, probability);
  return sites;
}

namespace {

/// Sets what `is_site` says of each index.
template <class Predicate>
std::vector<bool> where(const Shape& shape, Predicate is_site) {
  std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < sites.size(); ++i) sites[i] = is_site(unravel(static_cast<std::int64_t>(i), shape));
  return sites;
}

double squared_gap(const Index& a, const Index& b, int rank) {
  double sum = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(rank); ++k) {
    const auto gap = static_cast<double>(a[k] - b[k]);
    sum += gap * gap;
  }
  return sum;
}

Index random_index(const Shape& shape, Random& random) { return unravel(below(random, element_count(shape)), shape); }

double longest(const Shape& shape) { return static_cast<double>(*std::max_element(shape.begin(), shape.end())); }

std::vector<bool> balls(const Shape& shape, Random& random) {
  std::vector<Index> centres;
  for (std::int64_t i = 0, count = 1 + below(random, 6); i < count; ++i) centres.push_back(random_index(shape, random));
  const double radius = 0.5 + longest(shape) * 0.3 * static_cast<double>(random() % 1000) / 1000;
  return where(shape, [&](const Index& at) {
    return std::any_of(centres.begin(), centres.end(),
                       [&](const Index& c) { return squared_gap(at, c, shape.rank()) <= radius * radius; });
  });
}

std::vector<bool> ring(const Shape& shape, Random& random) {
  const Index centre = random_index(shape, random);
  const double radius = 1 + longest(shape) * 0.45;
  return where(shape, [&](const Index& at) {
    return std::abs(std::sqrt(squared_gap(at, centre, shape.rank())) - radius) < 0.7;
  });
}

std::vector<bool> plane(const Shape& shape, Random& random) {
  const auto axis = static_cast<std::size_t>(below(random, shape.rank()));
  const std::int64_t position = below(random, shape[static_cast<int>(axis)]);
  return where(shape, [&](const Index& at) { return at[axis] == position; });
}

std::vector<bool> diagonal(const Shape& shape) {
  const int last = shape.rank() - 1;
  return where(shape, [&](const Index& at) {
    const std::int64_t x = at[static_cast<std::size_t>(last)];
    return at[0] == x || (last > 1 && at[1] == x);
  });
}

std::vector<bool> checkerboard(const Shape& shape, Random& random) {
  const std::int64_t side = 1 + below(random, 4);
  return where(shape, [&](const Index& at) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(shape.rank()); ++k) sum += at[k] / side;
    return sum % 2 == 0;
  });
}

/// A few sites and their mirror images: as many ties as there can be.
std::vector<bool> mirrored(const Shape& shape, Random& random) {
  std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
  for (int i = 0; i < 3; ++i) {
    const Index site = random_index(shape, random);
    for (int corner = 0; corner < 1 << shape.rank(); ++corner) {
      Index image = site;
      for (int k = 0; k < shape.rank(); ++k)
        if (corner >> k & 1) image[static_cast<std::size_t>(k)] = shape[k] - 1 - site[static_cast<std::size_t>(k)];
      sites[static_cast<std::size_t>(ravel(image, shape))] = true;
    }
  }
  return sites;
}

}  // namespace

std::vector<bool> make_sites(Structure structure, const Shape& shape, Random& random) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  std::vector<bool> sites(count, structure == Structure::all);
  if (count == 0) return sites;
  switch (structure) {
    case Structure::none:
    case Structure::all: return sites;
    case Structure::one: sites[static_cast<std::size_t>(below(random, element_count(shape)))] = true; return sites;
    case Structure::sparse: return scatter(shape, pick<double>(random, {1e-6, 1e-4, 1e-3, 1e-2}), random);
    case Structure::dense: return scatter(shape, pick<double>(random, {0.03, 0.1, 0.3, 0.5, 0.9, 0.99}), random);
    case Structure::blobs: return balls(shape, random);
    case Structure::plane: return plane(shape, random);
    case Structure::diagonal: return diagonal(shape);
    case Structure::ring: return ring(shape, random);
    case Structure::checkerboard: return checkerboard(shape, random);
    case Structure::mirror: return mirrored(shape, random);
  }
  return sites;
}

std::vector<int> make_labels(const Shape& shape, Random& random) {
  std::vector<int> labels(static_cast<std::size_t>(element_count(shape)));
  if (labels.empty()) return labels;
  const bool noise = chance(random, 0.2);
  std::vector<std::pair<Index, int>> cells;
  for (std::int64_t i = 0, count = 1 + below(random, 9); i < count; ++i)
    cells.emplace_back(random_index(shape, random), static_cast<int>(below(random, 4)));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Index at = unravel(static_cast<std::int64_t>(i), shape);
    const auto nearest = std::min_element(cells.begin(), cells.end(), [&](const auto& a, const auto& b) {
      return squared_gap(at, a.first, shape.rank()) < squared_gap(at, b.first, shape.rank());
    });
    labels[i] = noise && chance(random, 0.2) ? static_cast<int>(below(random, 3)) : nearest->second;
  }
  return labels;
}

void store(Array& array, std::int64_t index, double value) {
  visit_dtype(array.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T& element = array.as<T>().data()[index];
    if constexpr (std::is_floating_point_v<T>) {
      element = static_cast<T>(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      element = value != 0;
    } else {
      const auto wide = static_cast<long double>(value);
      const auto low = static_cast<long double>(std::numeric_limits<T>::min());
      const auto high = static_cast<long double>(std::numeric_limits<T>::max());
      element = std::isnan(value) ? T{1} : static_cast<T>(std::clamp(wide, low, high));
    }
  });
}

Array mask_array(const std::vector<bool>& sites, const Shape& shape, DType dtype, bool site_is_zero) {
  Array array(dtype, shape);
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const elements = array.as<T>().data();
    for (std::size_t i = 0; i < sites.size(); ++i) elements[i] = static_cast<T>(sites[i] != site_is_zero);
  });
  return array;
}

Shape random_shape(Random& random, std::int64_t most_elements) {
  static const std::vector<std::int64_t> kExtents = {1,  2,  3,  5,  7,  8,  9,  15,  16,  17, 23,
                                                     31, 32, 33, 63, 64, 65, 67, 127, 128, 129};
  static const std::vector<std::int64_t> kSmall = {1, 1, 2, 2, 3, 4, 5};
  const int rank = pick<int>(random, {1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 6, 7, 8});
  Shape shape;
  for (int k = 0; k < rank; ++k) shape.push_back(1);
  std::int64_t count = 1;
  for (int tries = 0; tries < 3 * rank; ++tries) {
    const auto axis = static_cast<int>(below(random, rank));
    const std::int64_t extent = pick(random, rank > 3 ? kSmall : kExtents);
    if (count / shape[axis] * extent > most_elements) continue;
    count = count / shape[axis] * extent;
    shape[axis] = extent;
  }
  if (rank == 1 && chance(random, 0.3)) shape[0] = below(random, most_elements + 1);
  if (chance(random, 0.02)) shape[static_cast<int>(below(random, rank))] = 0;
  return shape;
}

namespace {

const std::vector<DType> kAllTypes = {DType::boolean, DType::uint8,   DType::int8,   DType::uint16,
                                      DType::int16,   DType::uint32,  DType::int32,  DType::uint64,
                                      DType::int64,   DType::float32, DType::float64};

bool is_float(DType dtype) { return dtype == DType::float32 || dtype == DType::float64; }

}  // namespace

Array label_input(DType dtype, const Shape& shape, Random& random) {
  Array input(dtype, shape);
  const std::vector<int> labels = make_labels(shape, random);
  const bool with_nan = is_float(dtype) && chance(random, 0.3);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    double label = labels[i] == 3 ? -7.5 : labels[i];  // integers: -7, or 0 where there is no sign
    if (is_float(dtype) && labels[i] == 0 && chance(random, 0.5)) label = -0.0;
    if (with_nan && chance(random, 0.1)) label = kNaN;
    store(input, static_cast<std::int64_t>(i), label);
  }
  return input;
}

namespace {

/// An element that is a site by the rule, or is not, as far as the type allows.
double element_for(bool site, const grid::Sites& sites, bool floating, Random& random) {
  const double v = sites.value.real();
  switch (sites.rule) {
    case Rule::zero:
    case Rule::nonzero:
      if (site == (sites.rule == Rule::zero)) return floating && chance(random, 0.3) ? -0.0 : 0.0;
      return floating ? pick<double>(random, {1, -3, 1e-40, kNaN, kInfinity})
                      : pick<double>(random, {1, 2, 255, -1e30, 1e30});
    case Rule::greater_equal:
      return site ? pick<double>(random, {v, v + 1, 1e30}) : pick<double>(random, {v - 1, -1e30, kNaN});
    case Rule::less_equal:
      return site ? pick<double>(random, {v, v - 1, -1e30}) : pick<double>(random, {v + 1, 1e30, kNaN});
    case Rule::greater: return site ? pick<double>(random, {v + 1, 1e30}) : pick<double>(random, {v, v - 1, kNaN});
    case Rule::less: return site ? pick<double>(random, {v - 1, -1e30}) : pick<double>(random, {v, v + 1, kNaN});
    case Rule::equal:
    case Rule::not_equal:
      return site == (sites.rule == Rule::equal) ? v : pick<double>(random, {v + 1, v - 1, 0, kNaN});
    case Rule::labels: break;
  }
  return 0;
}

Array mask_input(DType dtype, const Shape& shape, Structure structure, const grid::Sites& sites, Random& random) {
  Array input(dtype, shape);
  const std::vector<bool> where_sites = make_sites(structure, shape, random);
  for (std::size_t i = 0; i < where_sites.size(); ++i)
    store(input, static_cast<std::int64_t>(i), element_for(where_sites[i], sites, is_float(dtype), random));
  return input;
}

grid::Sites random_rule(DType dtype, Random& random) {
  grid::Sites sites;
  sites.rule = pick<Rule>(random, {Rule::zero, Rule::zero, Rule::nonzero, Rule::nonzero, Rule::greater_equal,
                                   Rule::less_equal, Rule::greater, Rule::less, Rule::equal, Rule::not_equal,
                                   Rule::labels, Rule::labels});
  const bool compares = sites.rule != Rule::zero && sites.rule != Rule::nonzero && sites.rule != Rule::labels;
  if (compares) sites.value = dtype == DType::boolean ? 1 : pick<double>(random, {1, 2, 5, 100, 0, 0.5, 0.1, -1});
  const bool wide = dtype == DType::int64 || dtype == DType::uint64;
  if (compares && wide && chance(random, 0.3)) sites.value = (std::int64_t{1} << 53) + below(random, 2);
  const bool equality = sites.rule == Rule::equal || sites.rule == Rule::not_equal;
  if (equality && is_float(dtype) && chance(random, 0.3)) sites.value = kNaN;
  return sites;
}

void random_geometry(grid::DistanceOptions& options, const Shape& shape, Random& random) {
  const auto rank = static_cast<std::size_t>(shape.rank());
  options.metric = pick<Metric>(
      random, {Metric::euclidean, Metric::euclidean, Metric::euclidean, Metric::taxicab, Metric::chessboard});
  if (chance(random, 0.2)) options.spacing = {pick<double>(random, {1, 0.5, 0.1, 3, 1e-7, 1e8, 0.7071067811865476})};
  if (chance(random, 0.2)) {
    options.spacing.clear();
    for (std::size_t k = 0; k < rank; ++k) options.spacing.push_back(pick<double>(random, {1, 1, 2, 0.5, 0.1, 3.7}));
  }
  if (chance(random, 0.15)) options.border = {pick<Border>(random, {Border::open, Border::sites, Border::periodic})};
  if (chance(random, 0.25)) {
    options.border.clear();
    for (std::size_t k = 0; k < rank; ++k)
      options.border.push_back(pick<Border>(random, {Border::open, Border::sites, Border::periodic}));
  }
}

bool same_spacing(const grid::DistanceOptions& options) {
  return std::all_of(options.spacing.begin(), options.spacing.end(), [&](double s) { return s == options.spacing[0]; });
}

double unit_of(const grid::DistanceOptions& options) { return options.spacing.empty() ? 1 : options.spacing[0]; }

void random_limits(grid::DistanceOptions& options, const Shape& shape, Random& random) {
  if (chance(random, 0.2))
    options.max_distance = unit_of(options) * pick<double>(random, {0, 0.5, 1, 1.5, 2, 3, 5, 9.99, 20, 1e9});
  if (!chance(random, 0.2)) return;
  for (std::int64_t n : shape) {
    const std::int64_t begin = below(random, n + 1);
    const std::int64_t most = n - begin;
    options.region.push_back({begin, chance(random, 0.5) ? n : begin + below(random, most + 1)});
  }
}

Wanted random_outputs(const grid::DistanceOptions& options, Random& random) {
  Wanted wanted;
  if (chance(random, 0.75)) wanted.distance = pick<DType>(random, {DType::float32, DType::float64});
  const bool squared_has_meaning = options.metric == Metric::euclidean && !options.signed_distance;
  if (squared_has_meaning && chance(random, 0.4)) {
    const bool unit = same_spacing(options) && unit_of(options) == 1;
    wanted.squared = unit ? pick<DType>(random, {DType::uint32, DType::uint64, DType::float64}) : DType::float64;
  }
  if (chance(random, 0.45)) wanted.nearest = pick<DType>(random, {DType::int32, DType::int64});
  if (chance(random, 0.2)) wanted.coordinates = pick<DType>(random, {DType::int32, DType::int64});
  if (chance(random, 0.2)) wanted.offset = pick<DType>(random, {DType::float32, DType::float64});
  bool any = false;
  grid::for_each_output([&](const grid::OutputKind&, const std::optional<DType>& dtype) { any |= dtype.has_value(); },
                        wanted);
  if (!any) wanted.distance = DType::float32;
  return wanted;
}

}  // namespace

namespace {

Shape tall_shape(Random& random) {
  const int rank = pick<int>(random, {2, 2, 2, 3, 3, 4, 5, 8});
  const int longest = static_cast<int>(below(random, rank - 1));
  Shape shape;
  for (std::int64_t k = 0, most = 8; k < rank; ++k) {
    const std::int64_t extent = chance(random, 0.4) ? 1 : 1 + below(random, most);
    shape.push_back(k == longest ? 33 + below(random, 140) : extent);
    if (k != longest) most /= extent;
  }
  return shape;
}

Case case_of(std::uint64_t seed, Random& random, const Shape& shape) {
  Case c;
  c.seed = seed;
  const DType dtype = pick(random, kAllTypes);
  c.structure = static_cast<Structure>(below(random, kStructures));
  c.options.sites = random_rule(dtype, random);
  random_geometry(c.options, shape, random);
  c.options.signed_distance = chance(random, 0.2);
  if (!same_spacing(c.options) || chance(random, 0.3)) c.options.surface = grid::Surface::centers;
  random_limits(c.options, shape, random);
  c.wanted = random_outputs(c.options, random);
  c.input = c.options.sites.rule == Rule::labels ? label_input(dtype, shape, random)
                                                 : mask_input(dtype, shape, c.structure, c.options.sites, random);
  c.options.execution.threads = 1 + static_cast<int>(below(random, 3));
  return c;
}

}  // namespace

Case random_case(std::uint64_t seed, std::int64_t most_elements) {
  Random random(seed);
  const Shape shape = random_shape(random, most_elements);
  return case_of(seed, random, shape);
}

Case tall_case(std::uint64_t seed) {
  Random random(seed);
  const Shape shape = tall_shape(random);
  return case_of(seed, random, shape);
}

std::string describe(const grid::DistanceOptions& options) {
  constexpr const char* kRules[] = {"zero", "nonzero", ">=", "<=", "==", "labels", ">", "<", "!="};
  constexpr const char* kMetrics[] = {"euclidean", "taxicab", "chessboard"};
  constexpr const char* kBorders[] = {"open", "sites", "periodic"};
  std::ostringstream text;
  text.precision(17);
  text << "sites " << kRules[static_cast<int>(options.sites.rule)] << ' ' << options.sites.value.real() << ", "
       << kMetrics[static_cast<int>(options.metric)];
  for (double s : options.spacing) text << ", spacing " << s;
  for (Border b : options.border) text << ", border " << kBorders[static_cast<int>(b)];
  if (options.signed_distance)
    text << ", signed to " << (options.surface == grid::Surface::faces ? "faces" : "centers");
  if (options.max_distance < kInfinity) text << ", max " << options.max_distance;
  for (const grid::Range& r : options.region) text << ", region " << r.begin << ':' << r.end;
  text << ", " << name_of(options.execution.instruction_set) << ", threads " << options.execution.threads;
  return text.str();
}

std::string describe(const Case& c) {
  std::ostringstream text;
  text << "FATHOM_TEST_SEED=" << c.seed << ": " << name_of(c.input.dtype()) << ' ' << to_string(c.input.shape()) << ", "
       << name_of(c.structure) << ", " << describe(c.options);
  grid::for_each_output(
      [&](const grid::OutputKind& kind, const std::optional<DType>& dtype) {
        if (dtype) text << ", " << kind.name << ' ' << name_of(*dtype);
      },
      c.wanted);
  return text.str();
}

std::vector<InstructionSet> instruction_sets() {
#ifdef FATHOM_ONE_INSTRUCTION_SET
  return {resolve(InstructionSet::automatic)};  // the others are the same code
#else
  std::vector<InstructionSet> sets;
  for (auto set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512})
    if (is_supported(set)) sets.push_back(set);
  return sets;
#endif
}

}  // namespace fathom::test
