#include "run.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

namespace fathom::test {

namespace {

constexpr unsigned char kPoison = 0xa5;
/// Distances with unequal spacing may differ from the oracle's by the order of a sum, and by roundings: to a unit, and
/// of root, unit and product to float.
constexpr double kFreedom64 = 1e-12;
constexpr double kFreedom32 = 2.5e-7;

double freedom(DType dtype) { return dtype == DType::float32 ? kFreedom32 : kFreedom64; }

bool close(double a, double b, double relative) {
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b));
}

double largest(DType dtype) {
  if (dtype == DType::uint32) return std::numeric_limits<std::uint32_t>::max();
  if (dtype == DType::uint64) return static_cast<double>(std::numeric_limits<std::uint64_t>::max());
  return std::numeric_limits<double>::infinity();
}

struct Checker {
  const Oracle& oracle;
  const Results& results;

  std::int64_t input_index(std::int64_t result) const {
    Index index = unravel(result, oracle.result_shape());
    for (std::size_t k = 0; k < index.size(); ++k) index[k] += oracle.origin()[k];
    return ravel(index, oracle.shape());
  }

  /// Empty, or what is wrong.
  std::string check(std::int64_t at) const {
    const std::int64_t element = input_index(at);
    const Answer answer = oracle.at(element);
    std::string wrong = check_distance(at, answer);
    if (wrong.empty()) wrong = check_squared(at, answer);
    if (wrong.empty()) wrong = check_nearest(at, element, answer);
    if (wrong.empty()) wrong = check_coordinates(at, answer);
    if (wrong.empty()) wrong = check_offset(at, element, answer);
    return wrong.empty() ? wrong
                         : "at element " + std::to_string(element) + " (result " + std::to_string(at) + "): " + wrong;
  }

 private:
  static std::string differ(const char* what, double got, double expected) {
    std::ostringstream text;
    text.precision(17);
    text << what << " is " << got << ", should be " << expected;
    return text.str();
  }

  std::string check_distance(std::int64_t at, const Answer& answer) const {
    if (!results.distance) return {};
    const DType dtype = results.distance->dtype();
    const double got = value_at(*results.distance, at);
    const double expected = dtype == DType::float32 ? static_cast<double>(oracle.distance_value<float>(answer))
                                                    : oracle.distance_value<double>(answer);
    if (oracle.isotropic()) return got == expected ? "" : differ("distance", got, expected);
    if (answer.at_cutoff && (std::isinf(got) || close(std::abs(got), answer.distance, freedom(dtype)))) return {};
    return close(got, expected, freedom(dtype)) ? "" : differ("distance", got, expected);
  }

  std::string check_squared(std::int64_t at, const Answer& answer) const {
    if (!results.squared) return {};
    const DType dtype = results.squared->dtype();
    const double got = value_at(*results.squared, at);
    const double expected = answer.found ? answer.squared : largest(dtype);
    if (dtype != DType::float64) {
      const auto steps = static_cast<std::uint64_t>(integer_at(*results.squared, at));
      if (answer.found ? steps == answer.steps : got == largest(dtype)) return {};
      return differ("squared distance", got, expected);
    }
    if (answer.at_cutoff && (std::isinf(got) || close(got, answer.squared, kFreedom64))) return {};
    const bool same = oracle.isotropic() ? got == expected : close(got, expected, kFreedom64);
    return same ? "" : differ("squared distance", got, expected);
  }

  std::string check_nearest(std::int64_t at, std::int64_t element, const Answer& answer) const {
    if (!results.nearest) return {};
    const std::int64_t got = integer_at(*results.nearest, at);
    if (got == answer.nearest) return {};
    if (!oracle.isotropic()) {
      if (answer.at_cutoff && got == -1) return {};
      const auto distance = oracle.distance_to(element, got);
      const bool expected_any = answer.found || answer.at_cutoff;
      if (expected_any && distance && close(*distance, answer.distance, kFreedom64)) return {};
      // A border as near as the nearest site, up to rounding.
      if (got == -1 && answer.nearest >= 0 && oracle.border_is_as_near(element, answer)) return {};
    }
    return differ("nearest", static_cast<double>(got), static_cast<double>(answer.nearest));
  }

  std::string check_offset(std::int64_t at, std::int64_t element, const Answer& answer) const {
    if (!results.offset || (!oracle.isotropic() && !results.nearest)) return {};  // as check_coordinates()
    const std::int64_t site = oracle.isotropic() ? answer.nearest : integer_at(*results.nearest, at);
    const std::int64_t count = element_count(oracle.result_shape());
    for (int k = 0; k < oracle.shape().rank(); ++k) {
      const double got = value_at(*results.offset, k * count + at);
      double expected = site < 0 ? std::numeric_limits<double>::quiet_NaN() : oracle.offset_to(element, site, k);
      if (results.offset->dtype() == DType::float32) expected = static_cast<float>(expected);
      if (!(got == expected) && !(std::isnan(got) && site < 0)) return differ("offset", got, expected);
    }
    return {};
  }

  std::string check_coordinates(std::int64_t at, const Answer& answer) const {
    if (!results.coordinates) return {};
    const Shape& shape = oracle.shape();
    const std::int64_t count = element_count(oracle.result_shape());
    std::int64_t site = answer.nearest;
    if (!oracle.isotropic() && results.nearest) site = integer_at(*results.nearest, at);
    else if (!oracle.isotropic()) return {};  // several are right: checked where indices are asked for as well
    const Index expected = site >= 0 ? unravel(site, shape) : Index{-1, -1, -1, -1, -1, -1, -1, -1, -1};
    for (int k = 0; k < shape.rank(); ++k) {
      const std::int64_t got = integer_at(*results.coordinates, k * count + at);
      if (got != expected[static_cast<std::size_t>(k)])
        return differ("coordinate", static_cast<double>(got),
                      static_cast<double>(expected[static_cast<std::size_t>(k)]));
    }
    return {};
  }
};

}  // namespace

grid::DistanceOutputs Results::views() {
  grid::DistanceOutputs outputs;
  grid::for_each_output(
      [](const grid::OutputKind&, AnyView& view, std::optional<Array>& array) {
        if (array) view = array->view();
      },
      outputs, *this);
  return outputs;
}

void poison(Array& array) {
  if (array.bytes() > 0) std::memset(array.data(), kPoison, array.bytes());
}

bool is_poisoned(const Array& array) {
  return std::all_of(array.data(), array.data() + array.bytes(), [](std::byte b) { return b == std::byte{kPoison}; });
}

Results make_results(const Shape& input, const grid::DistanceOptions& options, const Wanted& wanted) {
  const Shape shape = grid::result_shape(input, options);
  Shape with_components{input.rank() - options.batch_axes};
  for (std::int64_t n : shape) with_components.push_back(n);
  Results results;
  grid::for_each_output(
      [&](const grid::OutputKind& kind, std::optional<Array>& array, const std::optional<DType>& dtype) {
        if (dtype) poison(array.emplace(*dtype, kind.has_components ? with_components : shape));
      },
      results, wanted);
  return results;
}

Results run(const AnyConstView& input, const grid::DistanceOptions& options, const Wanted& wanted) {
  Results results = make_results(input.shape(), options, wanted);
  results.report = grid::distance_transform(input, options, results.views());
  return results;
}

testing::AssertionResult equal_item(const Results& batch, const Results& alone, std::int64_t item) {
  std::string differs;
  grid::for_each_output(
      [&](const grid::OutputKind& kind, const std::optional<Array>& all, const std::optional<Array>& one) {
        if (!all || one->bytes() == 0) return;
        // Components come before the items.
        const std::int64_t components = kind.has_components ? one->shape()[0] : 1;
        const std::int64_t items = all->shape()[kind.has_components ? 1 : 0];
        const std::size_t bytes = one->bytes() / static_cast<std::size_t>(components);
        for (std::int64_t k = 0; k < components; ++k)
          if (std::memcmp(all->data() + static_cast<std::size_t>(k * items + item) * bytes,
                          one->data() + static_cast<std::size_t>(k) * bytes, bytes) != 0)
            differs = kind.name;
      },
      batch, alone);
  return differs.empty() ? testing::AssertionSuccess() : testing::AssertionFailure() << differs << " differs";
}

testing::AssertionResult matches_at(const Oracle& oracle, const Results& results,
                                    const std::vector<std::int64_t>& elements) {
  const Checker checker{oracle, results};
  for (std::int64_t at : elements)
    if (std::string wrong = checker.check(at); !wrong.empty()) return testing::AssertionFailure() << wrong;
  return testing::AssertionSuccess();
}

testing::AssertionResult matches(const Oracle& oracle, const Results& results) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(element_count(oracle.result_shape())));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  return matches_at(oracle, results, all);
}

testing::AssertionResult matches(const Separable& expected, const Results& results) {
  for (std::size_t i = 0; i < expected.squared.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const bool found = expected.squared[i] != Separable::kNone;
    if (results.squared) {
      const double value = found ? static_cast<double>(expected.squared[i]) : largest(results.squared->dtype());
      if (value_at(*results.squared, at) != value)
        return testing::AssertionFailure() << "at element " << i << ": squared distance is "
                                           << value_at(*results.squared, at) << ", should be " << value;
    }
    if (results.distance && results.distance->dtype() == DType::float32) {
      const float value = found ? rounded_root<float>(expected.squared[i]) : std::numeric_limits<float>::infinity();
      if (results.distance->as<float>().data()[i] != value)
        return testing::AssertionFailure() << "at element " << i << ": distance is "
                                           << results.distance->as<float>().data()[i] << ", should be " << value;
    }
    if (results.nearest && integer_at(*results.nearest, at) != expected.nearest[i])
      return testing::AssertionFailure() << "at element " << i << ": nearest is " << integer_at(*results.nearest, at)
                                         << ", should be " << expected.nearest[i];
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult equal(const Array& a, const Array& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return testing::AssertionFailure() << "different arrays";
  if (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0) return testing::AssertionSuccess();
  std::size_t at = 0;
  while (a.data()[at] == b.data()[at]) ++at;
  const auto index = static_cast<std::int64_t>(at / size_of(a.dtype()));
  return testing::AssertionFailure() << "element " << index << " differs: " << value_at(a, index) << " and "
                                     << value_at(b, index);
}

testing::AssertionResult equal(const Results& a, const Results& b) {
  testing::AssertionResult all = testing::AssertionSuccess();
  grid::for_each_output(
      [&](const grid::OutputKind& kind, const std::optional<Array>& x, const std::optional<Array>& y) {
        if (!all || !x || !y) return;
        if (const testing::AssertionResult same = equal(*x, *y); !same)
          all = testing::AssertionFailure() << kind.name << ": " << same.message();
      },
      a, b);
  return all;
}

double value_at(const Array& array, std::int64_t index) {
  return visit_dtype(array.dtype(), [&](auto tag) {
    return static_cast<double>(array.as<typename decltype(tag)::type>().data()[index]);
  });
}

std::int64_t integer_at(const Array& array, std::int64_t index) {
  return visit_dtype(array.dtype(), [&](auto tag) {
    return static_cast<std::int64_t>(array.as<typename decltype(tag)::type>().data()[index]);
  });
}

}  // namespace fathom::test
