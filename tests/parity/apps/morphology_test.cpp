// Morphology against its definition, element by element, and the laws that it keeps.
#include "fathom/apps/morphology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "apps/morphology_cases.h"
#include "cases.h"

namespace fathom::test {
namespace {

using namespace apps;
using Operation = MorphologyOperation;
using Index = std::vector<std::int64_t>;
using Values = std::vector<std::int64_t>;

/// One image of values, and morphology of it by definition.
struct Image {
  Shape shape;
  Values values;
  std::vector<double> spacing;
  double reach = 0;  ///< a little more than the radius, or less than half the thickness
  MorphologyBorder border = MorphologyBorder::ignore;

  std::int64_t size() const { return element_count(shape); }
  Index at(std::int64_t i) const {
    Index index(static_cast<std::size_t>(shape.rank()));
    for (int k = shape.rank() - 1; k >= 0; i /= shape[k--]) index[static_cast<std::size_t>(k)] = i % shape[k];
    return index;
  }
  long double squared(const Index& a, const Index& b) const {
    long double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const long double d = spacing[k] * static_cast<long double>(a[k] - b[k]);
      sum += d * d;
    }
    return sum;
  }
  bool near(const Index& a, const Index& b) const { return std::sqrt(squared(a, b)) <= reach; }
  bool any_near(const Index& p, const std::vector<bool>& mask, bool wanted) const {
    for (std::int64_t i = 0; i < size(); ++i)
      if (mask[static_cast<std::size_t>(i)] == wanted && near(p, at(i))) return true;
    return false;
  }
  bool outside_near(const Index& p) const {
    for (std::size_t k = 0; k < p.size(); ++k)
      if (spacing[k] * static_cast<double>(std::min(p[k] + 1, shape[static_cast<int>(k)] - p[k])) <= reach) return true;
    return false;
  }
  std::vector<bool> eroded(const std::vector<bool>& mask) const {
    std::vector<bool> result(mask.size());
    for (std::int64_t i = 0; i < size(); ++i)
      result[static_cast<std::size_t>(i)] =
          !any_near(at(i), mask, false) && (border == MorphologyBorder::ignore || !outside_near(at(i)));
    return result;
  }
  std::vector<bool> dilated(const std::vector<bool>& mask) const {
    std::vector<bool> result(mask.size());
    for (std::int64_t i = 0; i < size(); ++i) result[static_cast<std::size_t>(i)] = any_near(at(i), mask, true);
    return result;
  }
  /// On the endless grid: no ball around any place, within the radius of p, is free of the object.
  bool closed_at(const Index& p, const std::vector<bool>& mask) const {
    Index q = p, first = p, last = p;
    for (std::size_t k = 0; k < p.size(); ++k) {
      const auto steps = static_cast<std::int64_t>(reach / spacing[k]);
      first[k] = q[k] = p[k] - steps;
      last[k] = p[k] + steps;
    }
    for (std::size_t k = 0; k < p.size();) {
      if (near(p, q) && !any_near(q, mask, true)) return false;
      for (k = 0; k < p.size() && ++q[k] > last[k]; ++k) q[k] = first[k];
    }
    return true;
  }
  std::vector<bool> closed(const std::vector<bool>& mask) const {
    if (border != MorphologyBorder::pad) return eroded(dilated(mask));
    std::vector<bool> result(mask.size());
    for (std::int64_t i = 0; i < size(); ++i) result[static_cast<std::size_t>(i)] = closed_at(at(i), mask);
    return result;
  }
  std::vector<bool> base(Operation operation, const std::vector<bool>& mask) const {
    switch (operation) {
      case Operation::erosion: return eroded(mask);
      case Operation::gradient:
      case Operation::dilation: return dilated(mask);
      case Operation::closing:
      case Operation::black_top_hat:
      case Operation::fill_thin: return closed(mask);
      default: return dilated(eroded(mask));
    }
  }

  Values of_mask(Operation operation) const {
    std::vector<bool> mask;
    for (const std::int64_t value : values) mask.push_back(value != 0);
    const std::vector<bool> result = base(operation, mask), inner = eroded(mask);
    Values found;
    for (std::size_t i = 0; i < values.size(); ++i)
      found.push_back(operation == Operation::gradient        ? result[i] && !inner[i]
                      : operation == Operation::white_top_hat ? mask[i] && !result[i]
                      : operation == Operation::black_top_hat ? result[i] && !mask[i]
                                                              : result[i]);
    return found;
  }

  Values of_labels(Operation operation) const {
    std::set<std::int64_t> labels(values.begin(), values.end());
    labels.erase(0);
    Values result(values.size(), 0);
    std::vector<long double> best(values.size(), HUGE_VALL);
    std::vector<bool> inside(values.size(), false);
    for (const std::int64_t label : labels) {
      std::vector<bool> mask;
      for (const std::int64_t value : values) mask.push_back(value == label);
      const std::vector<bool> covered = base(operation, mask), inner = eroded(mask);
      for (std::size_t i = 0; i < values.size(); ++i) {
        inside[i] = inside[i] || inner[i];
        if (!covered[i]) continue;
        long double least = HUGE_VALL;
        for (std::int64_t j = 0; j < size(); ++j)
          if (mask[static_cast<std::size_t>(j)])
            least = std::min(least, squared(at(static_cast<std::int64_t>(i)), at(j)));
        if (least < best[i] * (1 - 1e-14L)) {  // of spacings in decimals, three steps of 0.1 are one of 0.3
          best[i] = least;
          result[i] = label;
        }
      }
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (operation == Operation::gradient && inside[i]) result[i] = 0;
      if (operation == Operation::white_top_hat) result[i] = result[i] == 0 ? values[i] : 0;
      if (operation == Operation::black_top_hat && values[i] != 0) result[i] = 0;
    }
    return result;
  }
};

std::string describe(const Image& image, const MorphologyOptions& options) {
  std::string text = "operation " + std::to_string(static_cast<int>(options.operation)) + ", size " +
                     std::to_string(options.size) + ", border " + std::to_string(static_cast<int>(options.border)) +
                     (options.labels ? ", labels" : "") + ", shape " + to_string(image.shape) + ", spacing";
  for (const double size : image.spacing) text += " " + std::to_string(size);
  text += ", values";
  for (const std::int64_t value : image.values) text += " " + std::to_string(value);
  return text;
}

void check_one(std::uint64_t seed) {
  const MorphologyCase c = morphology_case(seed);
  const MorphologyOptions& options = c.options;
  Image image;
  for (int axis = options.batch_axes; axis < c.input.view.rank(); ++axis)
    image.shape.push_back(c.input.view.shape()[axis]);
  image.spacing = options.spacing;
  if (options.spacing.empty()) image.spacing.assign(static_cast<std::size_t>(image.shape.rank()), 1);
  image.border = options.border;
  const bool thin = options.operation == Operation::remove_thin || options.operation == Operation::fill_thin;
  image.reach = thin ? std::max(0.0, options.size / 2 * (1 - 0x1p-45)) : options.size * (1 + 0x1p-45);
  Values values(static_cast<std::size_t>(element_count(c.input.view.shape())));
  c.input.each(
      [&](std::int64_t i, auto element) { values[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(element); });
  morphology(c.input.view, options, c.output.view);

  Values expected;
  const auto size = static_cast<std::ptrdiff_t>(image.size());
  for (auto first = values.begin(); first != values.end(); first += size) {
    image.values.assign(first, first + size);
    const Values found = options.labels ? image.of_labels(options.operation) : image.of_mask(options.operation);
    expected.insert(expected.end(), found.begin(), found.end());
  }
  Values result(expected.size());
  c.output.each(
      [&](std::int64_t i, auto& element) { result[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(element); });
  ASSERT_EQ(result, expected) << "seed " << seed << ": " << describe(image, options);
}

TEST(Morphology, is_what_its_definition_says) {
  if (const auto seed = seed_to_replay()) return check_one(*seed);
  for (int k = 0; k < scaled(6000) && !::testing::Test::HasFatalFailure(); ++k)
    check_one(static_cast<std::uint64_t>(k));
}

MorphologyOptions options_of(Operation operation, double size, MorphologyBorder border = MorphologyBorder::ignore) {
  MorphologyOptions options;
  options.operation = operation;
  options.size = size;
  options.border = border;
  return options;
}

bool is_within(const Array& a, const Array& b) {
  for (std::int64_t i = 0; i < a.size(); ++i)
    if (a.data()[i] != std::byte{0} && b.data()[i] == std::byte{0}) return false;
  return true;
}

bool equal(const Array& a, const Array& b) {
  return a.bytes() == b.bytes() && std::equal(a.data(), a.data() + a.bytes(), b.data());
}

TEST(Morphology, opens_and_closes_once_and_for_all) {
  Random random(5);
  for (const Shape& shape : {Shape{90, 70}, Shape{24, 31, 20}, Shape{900}})
    for (int k = 0; k < scaled(60); ++k) {
      const auto structure = static_cast<Structure>(below(random, kStructures));
      const Array mask = mask_array(make_sites(structure, shape, random), shape, DType::boolean, false);
      const double size = std::sqrt(static_cast<double>(below(random, 60)));
      for (const MorphologyBorder border : {MorphologyBorder::ignore, MorphologyBorder::pad})
        for (const auto& [open, close] : {std::pair{Operation::opening, Operation::closing},
                                          std::pair{Operation::remove_thin, Operation::fill_thin}}) {
          const auto opening = options_of(open, size, border), closing = options_of(close, size, border);
          const Array opened = morphology(mask.view(), opening), closed = morphology(mask.view(), closing);
          ASSERT_TRUE(is_within(opened, mask) && is_within(mask, closed)) << name_of(structure) << " " << size;
          ASSERT_TRUE(equal(morphology(opened.view(), opening), opened)) << name_of(structure) << " " << size;
          ASSERT_TRUE(equal(morphology(closed.view(), closing), closed)) << name_of(structure) << " " << size;
        }
    }
}

/// By the distances of the whole array: 1 where they are finite, or where they are not.
Array by_distances(const Array& mask, grid::Sites::Rule sites, grid::Border border, double radius, bool near) {
  grid::DistanceOptions options;
  options.sites.rule = sites;
  options.border = {border};
  options.max_distance = radius;
  const Array field = grid::distance_transform(mask.view(), options);
  Array result(DType::boolean, mask.shape());
  const float* distances = field.as<float>().data();
  bool* reached = result.as<bool>().data();
  for (std::int64_t i = 0; i < field.size(); ++i) reached[i] = std::isfinite(distances[i]) == near;
  return result;
}

TEST(Morphology, in_slabs_is_the_same) {
  using Rule = grid::Sites::Rule;
  Random random(8);
  for (const Shape& shape : {Shape{1500, 1100}, Shape{150, 120, 110}, Shape{1 << 21}})
    for (const double radius : {1.0, 4.5, 31.0}) {
      Array mask(DType::boolean, shape);
      bool* elements = mask.as<bool>().data();
      for (std::int64_t i = 0; i < mask.size(); ++i) elements[i] = chance(random, radius < 2 ? 0.5 : 0.02);
      for (const MorphologyBorder border : {MorphologyBorder::ignore, MorphologyBorder::background}) {
        const auto outside = border == MorphologyBorder::ignore ? grid::Border::open : grid::Border::sites;
        const Array dilated = by_distances(mask, Rule::nonzero, grid::Border::open, radius, true);
        const Array eroded = by_distances(mask, Rule::zero, outside, radius, false);
        const auto is = [&](Operation operation, const Array& expected) {
          EXPECT_TRUE(equal(morphology(std::as_const(mask).view(), options_of(operation, radius, border)), expected))
              << to_string(shape) << " " << radius << " " << static_cast<int>(operation);
        };
        is(Operation::dilation, dilated);
        is(Operation::erosion, eroded);
        is(Operation::closing, by_distances(dilated, Rule::zero, outside, radius, false));
        is(Operation::opening, by_distances(eroded, Rule::nonzero, grid::Border::open, radius, true));
        auto limited = options_of(Operation::dilation, radius, border);
        const std::size_t least = least_morphology_scratch_bytes(std::as_const(mask).view(), limited);
        limited.execution.scratch_limit = least;
        EXPECT_TRUE(equal(morphology(std::as_const(mask).view(), limited), dilated));
        limited.execution.scratch_limit = least - 1;
        EXPECT_THROW(morphology(std::as_const(mask).view(), limited), InvalidArgument);
      }
    }
}

TEST(Morphology, of_labels_far_apart) {
  const Shape shape{150, 130};
  Array labels(DType::int16, shape);
  auto* values = labels.as<std::int16_t>().data();
  std::fill_n(values, labels.size(), std::int16_t{0});
  Random random(9);
  std::vector<std::pair<std::int64_t, std::int16_t>> sites;
  for (std::int16_t k = 1; k <= 12; ++k) {
    const std::int64_t at = below(random, labels.size());
    values[at] = static_cast<std::int16_t>(13 - k);
    sites.emplace_back(at, values[at]);
  }
  auto options = options_of(Operation::dilation, INFINITY);
  options.labels = true;
  const Array grown = morphology(labels.view(), options);
  for (std::int64_t i = 0; i < grown.size(); ++i) {
    std::pair<std::int64_t, std::int16_t> best{1 << 30, std::int16_t{0}};
    for (const auto& [at, label] : sites) {
      const std::int64_t y = i / 130 - at / 130, x = i % 130 - at % 130;
      best = std::min(best, {y * y + x * x, label});
    }
    ASSERT_EQ(grown.as<std::int16_t>().data()[i], best.second) << i;
  }
}

TEST(Morphology, of_the_complement_is_the_complement) {
  Random random(6);
  for (int k = 0; k < scaled(100); ++k) {
    const Shape shape{40, 33};
    const std::vector<bool> sites = make_sites(static_cast<Structure>(below(random, kStructures)), shape, random);
    const Array mask = mask_array(sites, shape, DType::uint8, false), others = mask_array(sites, shape, DType::uint8);
    for (const auto& [one, other] :
         {std::pair{Operation::erosion, Operation::dilation}, std::pair{Operation::opening, Operation::closing}}) {
      const double radius = static_cast<double>(below(random, 800)) / 100;
      const Array a = morphology(mask.view(), options_of(one, radius));
      const Array b = morphology(others.view(), options_of(other, radius));
      for (std::int64_t i = 0; i < a.size(); ++i) ASSERT_NE(a.data()[i], b.data()[i]);
    }
  }
}

TEST(Morphology, gives_the_same_bytes_however_it_is_run) {
  Random random(7);
  const Shape shape{3, 1300, 1200};  // more than is worked on at once
  Array labels(DType::int32, shape);
  std::int32_t* values = labels.as<std::int32_t>().data();
  for (std::int64_t i = 0; i < labels.size(); ++i) {
    const auto y = i / shape[2] % shape[1] / 60, x = i % shape[2] / 70;
    values[i] = static_cast<std::int32_t>((y * 7 + x * 3 + i / (shape[1] * shape[2])) % 9);
  }
  for (const bool of_labels : {false, true})
    for (const Operation operation : {Operation::gradient, Operation::closing}) {
      auto options = options_of(operation, 6.3);
      options.labels = of_labels;
      options.batch_axes = 1;
      options.execution.threads = 1;
      const Array expected = morphology(std::as_const(labels).view(), options);
      options.execution.threads = 4;
      const std::size_t least = least_morphology_scratch_bytes(std::as_const(labels).view(), options);
      EXPECT_LE(least, morphology_scratch_bytes(std::as_const(labels).view(), options));
      EXPECT_TRUE(equal(morphology(std::as_const(labels).view(), options), expected));
      options.execution.scratch_limit = least;
      EXPECT_TRUE(equal(morphology(std::as_const(labels).view(), options), expected));
      options.execution.scratch_limit = least - 1;
      EXPECT_THROW(morphology(std::as_const(labels).view(), options), InvalidArgument);
      options.execution.scratch_limit.reset();

      double last = 0;
      options.execution.progress = [&](double share) {
        EXPECT_LE(last, share);
        last = share;
      };
      morphology(std::as_const(labels).view(), options);
      EXPECT_EQ(last, 1);
      std::stop_source stop;
      stop.request_stop();
      options.execution.stop = stop.get_token();
      EXPECT_THROW(morphology(std::as_const(labels).view(), options), Cancelled);
    }
}

std::string refusal(const AnyConstView& input, const MorphologyOptions& options, const AnyView& output) {
  try {
    morphology(input, options, output);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Morphology, refuses_what_has_no_answer) {
  Array mask(DType::float32, {4, 5}), out(DType::uint8, {4, 5}), other(DType::uint8, {5, 4}),
      wide(DType::int16, {4, 5});
  const AnyConstView view = std::as_const(mask).view();
  const auto closing = options_of(Operation::closing, 2);
  auto options = closing;
  EXPECT_EQ(refusal(view, options, other.view()), "'output' has the shape 5 × 4; it must have 4 × 5, as the input");
  EXPECT_EQ(refusal(view, options, wide.view()), "'output' is int16; it must be bool or uint8");
  EXPECT_EQ(refusal(view, options, {}), "no output was given");
  EXPECT_EQ(refusal(out.view(), options, out.view()), "'output' shares memory with the input; give an array of its own");
  options.size = -1;
  EXPECT_EQ(refusal(view, options, out.view()), "the radius is -1; it must be 0 or more");
  options = options_of(Operation::fill_thin, NAN);
  EXPECT_EQ(refusal(view, options, out.view()), "the thickness is nan; it must be 0 or more");
  options = options_of(Operation::closing, INFINITY, MorphologyBorder::pad);
  EXPECT_EQ(refusal(view, options, out.view()),
            "the border pad adds as many elements as the radius, which is infinite; give a finite one");
  options.size = 1e13;
  EXPECT_EQ(refusal(view, options, out.view()),
            "the border pad adds as many elements as the radius of 1e+13 has, which no memory holds; "
            "give a smaller one, or another border");
  options = closing;
  options.labels = true;
  EXPECT_EQ(refusal(view, options, out.view()), "labels are integers, not float32; convert them first");
  EXPECT_EQ(refusal(wide.view(), options, out.view()), "'output' is uint8; it must be int16");
  options = closing;
  if (device_count() == 0) {
    options.execution.backend = Backend::cuda;
    EXPECT_THROW(morphology(view, options, out.view()), DeviceError);
  }
  options = closing;
  options.spacing = {1, 0};
  EXPECT_NE(refusal(view, options, out.view()).find("spacing"), std::string::npos);
}

TEST(Morphology, of_nothing_is_nothing) {
  const Array empty(DType::uint8, {3, 0, 2});
  EXPECT_EQ(morphology(empty.view(), options_of(Operation::closing, 3)).shape(), empty.shape());
  EXPECT_EQ(morphology_scratch_bytes(empty.view(), options_of(Operation::closing, 3)), 0U);
}

}  // namespace
}  // namespace fathom::test
