#include "oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fathom::test {

using grid::Border;
using grid::Metric;
using Rule = grid::Sites::Rule;

namespace {

__extension__ using Wide = unsigned __int128;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Relative freedom of anisotropic distances: the order of a sum of eight terms.
constexpr double kAnisotropicFreedom = 1e-12;

std::vector<long double> read_values(const AnyConstView& input) {
  std::vector<long double> values(static_cast<std::size_t>(element_count(input.shape())));
  visit_dtype(input.dtype(), [&](auto tag) {
    const auto view = input.as<typename decltype(tag)::type>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Index index = unravel(static_cast<std::int64_t>(i), view.shape());
      std::int64_t offset = 0;
      for (int k = 0; k < view.shape().rank(); ++k) offset += index[static_cast<std::size_t>(k)] * view.strides()[k];
      values[i] = static_cast<long double>(view.data()[offset]);
    }
  });
  return values;
}

/// Sites for the comparisons and the two plain rules; for labels whatever is not background.
bool belongs(long double element, DType dtype, const grid::Sites& sites, bool signed_distance) {
  long double value = std::visit([](auto number) { return static_cast<long double>(number); }, sites.value.number);
  if (dtype == DType::float32) value = static_cast<float>(sites.value.real());
  if (dtype == DType::float64) value = sites.value.real();
  switch (sites.rule) {
    case Rule::zero: return signed_distance ? element != 0 : element == 0;
    case Rule::nonzero:
    case Rule::labels: return element != 0;
    case Rule::greater_equal: return element >= value;
    case Rule::less_equal: return element <= value;
    case Rule::equal: return std::isnan(value) ? std::isnan(element) : element == value;
    case Rule::greater: return element > value;
    case Rule::less: return element < value;
    case Rule::not_equal: return std::isnan(value) ? !std::isnan(element) : element != value;
  }
  return false;
}

template <class T>
T for_axis(const std::vector<T>& given, int axis, T otherwise) {
  if (given.empty()) return otherwise;
  return given.size() == 1 ? given[0] : given[static_cast<std::size_t>(axis)];
}

}  // namespace

Index unravel(std::int64_t linear, const Shape& shape) {
  Index index{};
  for (int k = shape.rank() - 1; k >= 0; --k) {
    index[static_cast<std::size_t>(k)] = linear % shape[k];
    linear /= shape[k];
  }
  return index;
}

std::int64_t ravel(const Index& index, const Shape& shape) {
  std::int64_t linear = 0;
  for (int k = 0; k < shape.rank(); ++k) linear = linear * shape[k] + index[static_cast<std::size_t>(k)];
  return linear;
}

template <class Float>
Float rounded_root(std::uint64_t d2) {
  // √ of a number that double holds is rounded correctly, also when rounded again to float (53 ≥ 2·24 + 2 bits).
  if (d2 <= std::uint64_t{1} << 53) return static_cast<Float>(std::sqrt(static_cast<double>(d2)));
  const long double start = std::sqrt(static_cast<long double>(d2));
  const auto whole = static_cast<std::uint64_t>(start);
  if (static_cast<Wide>(whole) * whole == d2) return static_cast<Float>(whole);
  // Otherwise the root is no midpoint of two floats: walk to the float whose midpoints with its neighbours enclose it.
  const auto root_is_above_middle = [d2](Float a, Float b) {
    int exponent = 0;  // middle = fraction · 2^exponent, at most 54 bits
    const long double fraction = std::frexp((static_cast<long double>(a) + static_cast<long double>(b)) / 2, &exponent);
    const auto mantissa = static_cast<Wide>(std::ldexp(fraction, 54));
    return (static_cast<Wide>(d2) << (108 - 2 * exponent)) > mantissa * mantissa;
  };
  for (Float root = static_cast<Float>(start);;) {
    const Float above = std::nextafter(root, std::numeric_limits<Float>::infinity());
    const Float below = std::nextafter(root, Float{0});
    if (root_is_above_middle(root, above)) root = above;
    else if (!root_is_above_middle(below, root)) root = below;
    else return root;
  }
}
template float rounded_root<float>(std::uint64_t);
template double rounded_root<double>(std::uint64_t);

Oracle::Oracle(const AnyConstView& input, const grid::DistanceOptions& options)
    : options_(options), shape_(input.shape()), values_(read_values(input)) {
  for (int k = 0; k < shape_.rank(); ++k) {
    const auto axis = static_cast<std::size_t>(k);
    spacing_[axis] = for_axis(options.spacing, k, 1.0);
    border_[axis] = for_axis(options.border, k, Border::open);
    isotropic_ &= spacing_[axis] == spacing_[0];
    const grid::Range range = options.region.empty() ? grid::Range{0, shape_[k]} : options.region[axis];
    origin_[axis] = range.begin;
    result_shape_.push_back(range.end - range.begin);
  }
  for (long double v : values_) {
    places_.push_back(unravel(static_cast<std::int64_t>(places_.size()), shape_));
    in_class_.push_back(belongs(v, input.dtype(), options.sites, options.signed_distance));
  }
}

bool Oracle::is_candidate(std::int64_t element, std::int64_t site) const {
  const auto e = static_cast<std::size_t>(element);
  const auto s = static_cast<std::size_t>(site);
  if (options_.sites.rule == Rule::labels) {
    if (in_class_[e]) return e != s && !(values_[e] == values_[s]);  // NaN differs from everything
    return options_.signed_distance ? in_class_[s] : e == s;
  }
  return options_.signed_distance ? in_class_[e] != in_class_[s] : in_class_[s];
}

bool Oracle::border_counts(std::int64_t element) const {
  const bool in_class = in_class_[static_cast<std::size_t>(element)];
  if (!options_.signed_distance) return options_.sites.rule != Rule::labels || in_class;
  const bool outside_is_background = options_.sites.rule == Rule::zero || options_.sites.rule == Rule::labels;
  return outside_is_background ? in_class : !in_class;
}

Oracle::Separation Oracle::between(const Index& a, const Index& b) const {
  Separation sum;
  for (int k = shape_.rank() - 1; k >= 0; --k) {  // last axis first
    const auto axis = static_cast<std::size_t>(k);
    std::int64_t gap = std::abs(a[axis] - b[axis]);
    if (border_[axis] == Border::periodic) gap = std::min(gap, shape_[k] - gap);
    const auto step = static_cast<std::uint64_t>(gap);
    const double length = spacing_[axis] * static_cast<double>(gap);
    switch (options_.metric) {
      case Metric::euclidean:
        sum.steps += step * step;
        sum.measure += spacing_[axis] * spacing_[axis] * static_cast<double>(step * step);
        break;
      case Metric::taxicab:
        sum.steps += step;
        sum.measure += length;
        break;
      case Metric::chessboard:
        sum.steps = std::max(sum.steps, step);
        sum.measure = std::max(sum.measure, length);
        break;
    }
  }
  return sum;
}

Oracle::Separation Oracle::to_border(const Index& element, int axis) const {
  const auto k = static_cast<std::size_t>(axis);
  // The nearest cell outside differs from the element along this axis alone.
  const std::int64_t gap = std::min(element[k] + 1, shape_[axis] - element[k]);
  const auto step = static_cast<std::uint64_t>(gap);
  if (options_.metric != Metric::euclidean) return {step, spacing_[k] * static_cast<double>(gap)};
  return {step * step, spacing_[k] * spacing_[k] * static_cast<double>(step * step)};
}

bool Oracle::closer(const Separation& a, const Separation& b) const {
  return isotropic_ ? a.steps < b.steps : a.measure < b.measure;
}

double Oracle::distance_of(const Separation& s) const {
  if (!isotropic_) return options_.metric == Metric::euclidean ? std::sqrt(s.measure) : s.measure;
  const double in_steps =
      options_.metric == Metric::euclidean ? rounded_root<double>(s.steps) : static_cast<double>(s.steps);
  return in_steps * spacing_[0];
}

double Oracle::squared_of(const Separation& s) const {
  return isotropic_ ? static_cast<double>(s.steps) * (spacing_[0] * spacing_[0]) : s.measure;
}

Answer Oracle::at(std::int64_t element) const {
  const Index& here = places_[static_cast<std::size_t>(element)];
  Answer answer;
  answer.inside = options_.signed_distance && in_class_[static_cast<std::size_t>(element)];
  Separation best;
  for (std::int64_t site = 0; site < static_cast<std::int64_t>(values_.size()); ++site) {
    if (!is_candidate(element, site)) continue;
    const Separation s = between(here, places_[static_cast<std::size_t>(site)]);
    if (answer.found && !closer(s, best)) continue;
    answer.found = true;
    answer.nearest = site;
    best = s;
  }
  for (int k = 0; k < shape_.rank(); ++k) {
    if (border_[static_cast<std::size_t>(k)] != Border::sites || !border_counts(element)) continue;
    const Separation s = to_border(here, k);
    if (answer.found && !closer(s, best)) continue;  // a site inside the array wins a tie
    answer.found = true;
    answer.nearest = -1;
    best = s;
  }
  answer.distance = answer.squared = kInfinity;
  if (!answer.found) return answer;
  const double distance = distance_of(best);
  answer.at_cutoff = !isotropic_ && std::abs(distance - options_.max_distance) <= kAnisotropicFreedom * distance;
  // Three steps of 0.1 are to be within 0.3.
  const auto is_whole = [](double spacing) { return spacing == std::floor(spacing); };
  const bool rounds = !std::all_of(spacing_.begin(), spacing_.begin() + shape_.rank(), is_whole);
  if (!(distance <= options_.max_distance * (rounds ? 1 + 0x1p-50 : 1))) {
    answer.found = false;
    answer.nearest = -1;
    if (!answer.at_cutoff) return answer;
  }
  answer.steps = best.steps;
  answer.distance = distance;
  answer.squared = squared_of(best);
  return answer;
}

template <class Float>
Float Oracle::distance_value(const Answer& answer) const {
  const Float sign = answer.inside ? Float{-1} : Float{1};
  if (!answer.found) return sign * std::numeric_limits<Float>::infinity();
  double value = answer.distance;
  if (options_.signed_distance && options_.surface == grid::Surface::faces) value -= 0.5 * spacing_[0];
  else if (isotropic_ && spacing_[0] == 1 && options_.metric == Metric::euclidean)
    return sign * rounded_root<Float>(answer.steps);  // rounded once, also where the root in double is not enough
  return sign * static_cast<Float>(value);
}
template float Oracle::distance_value<float>(const Answer&) const;
template double Oracle::distance_value<double>(const Answer&) const;

std::optional<double> Oracle::distance_to(std::int64_t element, std::int64_t site) const {
  if (site < 0 || site >= static_cast<std::int64_t>(values_.size()) || !is_candidate(element, site)) return {};
  return distance_of(between(places_[static_cast<std::size_t>(element)], places_[static_cast<std::size_t>(site)]));
}

double Oracle::offset_to(std::int64_t element, std::int64_t site, int axis) const {
  const auto k = static_cast<std::size_t>(axis);
  const std::int64_t inside =
      places_[static_cast<std::size_t>(site)][k] - places_[static_cast<std::size_t>(element)][k];
  std::int64_t steps = inside;
  if (border_[k] == Border::periodic)
    for (const std::int64_t other : {inside - shape_[axis], inside + shape_[axis]})
      if (std::abs(other) < std::abs(steps)) steps = other;
  return static_cast<double>(steps) * spacing_[k];
}

bool Oracle::border_is_as_near(std::int64_t element, const Answer& answer) const {
  if (!border_counts(element)) return false;
  for (int k = 0; k < shape_.rank(); ++k) {
    if (border_[static_cast<std::size_t>(k)] != Border::sites) continue;
    const double distance = distance_of(to_border(places_[static_cast<std::size_t>(element)], k));
    if (distance <= answer.distance * (1 + kAnisotropicFreedom)) return true;
  }
  return false;
}

namespace {

/// What is known of the nearest site after some axes. Equal distances go to the lowest index, the border comes last.
struct Nearest {
  std::uint64_t squared = Separable::kNone;
  std::int64_t site = -1;

  bool better_than(const Nearest& other) const {
    if (squared != other.squared) return squared < other.squared;
    return static_cast<std::uint64_t>(site) < static_cast<std::uint64_t>(other.site);  // -1 is the largest
  }
};

/// Nearest along one line of `n` elements, of those about which something is known.
Nearest best_on_line(const std::vector<std::pair<std::int64_t, Nearest>>& known, std::int64_t n, std::int64_t x,
                     Border border) {
  Nearest best;
  for (auto [i, candidate] : known) {
    std::int64_t gap = std::abs(x - i);
    if (border == Border::periodic) gap = std::min(gap, n - gap);
    candidate.squared += static_cast<std::uint64_t>(gap * gap);
    if (candidate.better_than(best)) best = candidate;
  }
  if (border == Border::sites) {
    const auto gap = static_cast<std::uint64_t>(std::min(x + 1, n - x));
    if (gap * gap < best.squared) best = {gap * gap, -1};
  }
  return best;
}

}  // namespace

Separable separable(const std::vector<bool>& sites, const Shape& shape, const std::vector<Border>& border) {
  std::vector<Nearest> field(sites.size());
  for (std::size_t i = 0; i < sites.size(); ++i)
    if (sites[i]) field[i] = {0, static_cast<std::int64_t>(i)};
  const Strides strides = dense_strides(shape);
  for (int k = 0; k < shape.rank(); ++k) {
    std::vector<std::pair<std::int64_t, Nearest>> known;
    for (std::int64_t start = 0; start < static_cast<std::int64_t>(sites.size()); ++start) {
      if (start / strides[k] % shape[k] != 0) continue;  // not the first element of a line along k
      const auto at = [&](std::int64_t i) -> Nearest& {
        return field[static_cast<std::size_t>(start + i * strides[k])];
      };
      known.clear();
      for (std::int64_t i = 0; i < shape[k]; ++i)
        if (at(i).squared != Separable::kNone) known.emplace_back(i, at(i));
      for (std::int64_t i = 0; i < shape[k]; ++i)
        at(i) = best_on_line(known, shape[k], i, for_axis(border, k, Border::open));
    }
  }
  Separable result;
  for (const Nearest& n : field) {
    result.squared.push_back(n.squared);
    result.nearest.push_back(n.site);
  }
  return result;
}

}  // namespace fathom::test
