// Checks the caller's options and turns them into a Problem. Every refusal says what was wrong and what would work.
#include "grid/problem.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "core/text.h"
#include "grid/limits.h"

namespace fathom::grid {

namespace {

std::string count(std::size_t n, const char* noun) { return std::to_string(n) + " " + noun + (n == 1 ? "" : "s"); }

/// One value for all axes, or one per axis, or none.
template <class T>
PerAxis<T> per_axis(const std::vector<T>& values, int rank, T otherwise, const char* noun) {
  const auto axes = static_cast<std::size_t>(rank);
  if (!values.empty() && values.size() != 1 && values.size() != axes)
    throw InvalidArgument(count(values.size(), noun) + " given for an array with " + std::to_string(axes) +
                          (axes == 1 ? " axis" : " axes") + "; give one for all axes or one per axis");
  PerAxis<T> result{};
  for (std::size_t k = 0; k < axes; ++k)
    result[k] = values.empty() ? otherwise : values.size() == 1 ? values[0] : values[k];
  return result;
}

void check_spacing(const PerAxis<double>& spacing, int rank) {
  for (std::size_t k = 0; k < static_cast<std::size_t>(rank); ++k)
    if (!(spacing[k] >= kLeastSpacing && spacing[k] <= kLargestSpacing))
      throw InvalidArgument("the spacing of axis " + std::to_string(k) + " is " + text(spacing[k]) +
                            "; spacings are finite and greater than 0 (1e-100 to 1e100)");
}

PerAxis<Range> checked_region(const Shape& shape, const std::vector<Range>& region) {
  PerAxis<Range> result{};
  const auto axes = static_cast<std::size_t>(shape.rank());
  if (!region.empty() && region.size() != axes)
    throw InvalidArgument("the region has " + count(region.size(), "range") + " for an array with " +
                          std::to_string(axes) + (axes == 1 ? " axis" : " axes") + "; give one range per axis");
  for (std::size_t k = 0; k < axes; ++k) {
    const std::int64_t extent = shape[static_cast<int>(k)];
    result[k] = region.empty() ? Range{0, extent} : region[k];
    if (result[k].begin < 0 || result[k].end > extent || result[k].begin > result[k].end)
      throw InvalidArgument("the region's range " + std::to_string(result[k].begin) + ":" +
                            std::to_string(result[k].end) + " does not lie in axis " + std::to_string(k) +
                            ", which goes from 0 to " + std::to_string(extent));
  }
  return result;
}

void check_rank(int rank) {
  if (rank < 1 || rank > kMaxSpaceRank)
    throw InvalidArgument("a distance transform needs an array with 1 to 8 axes, not " + std::to_string(rank));
}

void check_output(const AnyView& view, const OutputKind& kind, const Problem& p) {
  if (!view.present()) return;
  const auto refuse = [&](const std::string& why) {
    throw InvalidArgument("the output '" + std::string(kind.name) + "' " + why);
  };
  if (std::find(kind.dtypes.begin(), kind.dtypes.end(), view.dtype()) == kind.dtypes.end()) {
    std::string names;
    for (DType d : kind.dtypes) names += (names.empty() ? "" : " or ") + std::string(name_of(d));
    refuse("is " + std::string(name_of(view.dtype())) + "; it must be " + names);
  }
  Shape shape;
  if (kind.has_components) shape.push_back(p.rank);
  for (int k = 0; k < p.rank; ++k) shape.push_back(p.region_extent(k));
  if (!(view.shape() == shape))
    refuse("has the shape " + to_string(view.shape()) + "; it must have " + to_string(shape));
}

void check_outputs(const Problem& p) {
  for_each_output([&](const OutputKind& kind, const AnyView& view) { check_output(view, kind, p); }, p.outputs);
  if (!wants_only(p, {})) return;
  std::string names;
  for_each_output(
      [&](const OutputKind& kind, const AnyView&) { names += (names.empty() ? "" : ", ") + std::string(kind.name); },
      p.outputs);
  throw InvalidArgument("no output was given; give at least one of " + names);
}

/// First and one past the last byte that a view can touch.
std::pair<std::uintptr_t, std::uintptr_t> byte_range(const AnyConstView& view) {
  const auto base = reinterpret_cast<std::uintptr_t>(view.data());
  if (!view.present() || element_count(view.shape()) == 0) return {base, base};
  std::int64_t low = 0, high = 0;
  for (int k = 0; k < view.rank(); ++k) {
    const std::int64_t reach = (view.shape()[k] - 1) * view.strides()[k];
    (reach < 0 ? low : high) += reach;
  }
  const auto size = static_cast<std::int64_t>(size_of(view.dtype()));
  return {base + static_cast<std::uintptr_t>(low * size), base + static_cast<std::uintptr_t>((high + 1) * size)};
}

void check_combination(const Problem& p) {
  if (p.outputs.squared.present() && p.metric != Metric::euclidean)
    throw InvalidArgument("squared distances belong to the Euclidean metric; ask for 'distance'");
  if (p.outputs.squared.present() && p.signed_distance)
    throw InvalidArgument("squared distances have no sign; ask for 'distance'");
  if (p.outputs.squared.present() && p.outputs.squared.dtype() != DType::float64 && !(p.isotropic && p.spacing[0] == 1))
    throw InvalidArgument("squared distances with a spacing are no integers; ask for float64");
  if (p.signed_distance && p.surface == Surface::faces && !p.isotropic)
    throw InvalidArgument(
        "a signed field is zero on the element faces only if all spacings are equal; ask for surface 'centers'");
  if (p.sites.value.is_nan() && p.sites.rule != Sites::Rule::equal && p.sites.rule != Sites::Rule::not_equal)
    throw InvalidArgument("sites are compared with NaN, which nothing is more or less than; give a number");
}

void check_capacity(const Problem& p) {
  const DistanceOutputs& out = p.outputs;
  if (out.squared.present() && out.squared.dtype() == DType::uint32 && largest_squared(p) >= UINT32_MAX)
    throw InvalidArgument("squared distances of this shape may pass what uint32 holds; ask for uint64");
  const std::int64_t elements = element_count(p.input.shape());
  if (out.nearest.present() && out.nearest.dtype() == DType::int32 && elements > INT32_MAX)
    throw InvalidArgument("linear indices of an array with " + std::to_string(elements) +
                          " elements pass what int32 holds; ask for int64");
  for (int k = 0; k < p.rank; ++k)
    if (p.extent(k) > kLargestExtent)
      throw InvalidArgument("axis " + std::to_string(p.caller_axis[static_cast<std::size_t>(k)]) + " has " +
                            std::to_string(p.extent(k)) + " elements; up to " + std::to_string(kLargestExtent) +
                            " along an axis are served");
}

template <class AnyViewType>
AnyViewType without_axis(const AnyViewType& view, int axis) {
  if (!view.present()) return view;
  Shape shape;
  Strides strides;
  for (int k = 0; k < view.rank(); ++k) {
    if (k == axis) continue;
    shape.push_back(view.shape()[k]);
    strides.push_back(view.strides()[k]);
  }
  return {view.data(), view.dtype(), shape, strides};
}

void remove_axis(Problem& p, int axis) {
  p.input = without_axis(p.input, axis);
  for_each_output(
      [&](const OutputKind& kind, AnyView& view) { view = without_axis(view, axis + (kind.has_components ? 1 : 0)); },
      p.outputs);
  for (int k = axis; k + 1 < p.rank; ++k) {
    const auto i = static_cast<std::size_t>(k);
    p.spacing[i] = p.spacing[i + 1];
    p.border[i] = p.border[i + 1];
    p.region[i] = p.region[i + 1];
    p.caller_axis[i] = p.caller_axis[i + 1];
    p.index_step[i] = p.index_step[i + 1];
    p.multiple[i] = p.multiple[i + 1];
  }
  --p.rank;
}

/// Whether an axis adds nothing to any distance: it has one element, and no sites lie beyond its ends.
bool adds_nothing(const Problem& p, int axis) {
  return p.extent(axis) == 1 && p.region_extent(axis) == 1 &&
         p.border[static_cast<std::size_t>(axis)] != Border::sites;
}

/// Whether the elements along the axis before the last lie one behind the other.
bool is_contiguous_before_last(const AnyConstView& view) {
  return !view.present() || view.strides()[view.rank() - 2] == 1;
}

/// One length for all that is left, if the spacings allow it. Where the last axis has stayed and adds nothing, its
/// spacing does not matter, and its one element is not its own neighbour, though NaN as a label differs from itself.
void settle_spacing(Problem& p) {
  const auto last = static_cast<std::size_t>(p.rank - 1);
  if (adds_nothing(p, p.rank - 1)) {
    p.border[last] = Border::open;
    if (last > 0) p.spacing[last] = p.spacing[last - 1];
  }
  p.unit = p.spacing[0];
  for (int k = 0; k < p.rank; ++k) p.isotropic &= p.spacing[static_cast<std::size_t>(k)] == p.unit;
}

/// Whether spacing / unit is a small whole number on every axis, up to the rounding of decimal fractions.
bool set_multiples(Problem& p, double unit) {
  constexpr double kMost = kMostMultiple, kRounding = 0x1p-50;
  for (int k = 0; k < p.rank; ++k) {
    const auto i = static_cast<std::size_t>(k);
    const double ratio = p.spacing[i] / unit, whole = std::round(ratio);
    if (!(whole <= kMost && std::abs(ratio - whole) <= whole * kRounding)) return false;
    p.multiple[i] = static_cast<std::int64_t>(whole);
  }
  return true;
}

/// Whether 64 bits hold all sums, with some to spare: the passes look at a line and as much again.
bool multiples_fit(const Problem& p) {
  double sum = 0;
  for (int k = 0; k < p.rank; ++k) {
    const double steps = 2.0 * static_cast<double>(p.extent(k)) + 64;
    sum += std::pow(steps * static_cast<double>(p.multiple[static_cast<std::size_t>(k)]), 2);
  }
  return sum < 0x1p62;
}

/// Looks for a length of which all spacings are small multiples: the least spacing, or a small fraction of it.
void find_unit(Problem& p) {
  p.multiple.fill(1);
  if (p.isotropic) return;
  const double least = *std::min_element(p.spacing.begin(), p.spacing.begin() + p.rank);
  constexpr double kFarFromEnds = 1e30;  // float holds the unit and what it multiplies to full precision
  constexpr int kMostParts = 32;
  if (least > 1 / kFarFromEnds && least < kFarFromEnds)
    for (int parts = 1; parts <= kMostParts; ++parts)
      if (set_multiples(p, least / parts) && multiples_fit(p)) {
        p.unit = least / parts;
        return;
      }
  p.integral = false;
  p.unit = 1;
}

/// The last distance that is kept. A spacing in decimals is rounded, and so are its multiples and the limit itself:
/// without room for that, three steps of 0.1, 0.30000000000000004, would lie beyond 0.3.
double distance_limit(const DistanceOptions& options) {
  const auto is_whole = [](double spacing) { return spacing == std::floor(spacing); };
  const bool whole = std::all_of(options.spacing.begin(), options.spacing.end(), is_whole);
  return whole ? options.max_distance : options.max_distance * (1 + 0x1p-50);
}

}  // namespace

void drop_unit_axes(Problem& p) {
  for (int k = p.rank - 2; k >= 0; --k)
    if (adds_nothing(p, k)) remove_axis(p, k);
  if (p.rank == 1 || !adds_nothing(p, p.rank - 1)) return;
  bool contiguous = is_contiguous_before_last(p.input);
  for_each_output([&](const OutputKind&, const AnyView& view) { contiguous &= is_contiguous_before_last(view); },
                  p.outputs);
  if (contiguous) remove_axis(p, p.rank - 1);
}

Problem make_problem(const AnyConstView& input, const DistanceOptions& options, const DistanceOutputs& outputs) {
  check_rank(input.rank());
  Problem p;
  p.input = input;
  p.outputs = outputs;
  p.sites = options.sites;
  p.metric = options.metric;
  p.rank = input.rank();
  p.spacing = per_axis(options.spacing, p.rank, 1.0, "spacing");
  p.border = per_axis(options.border, p.rank, Border::open, "border");
  p.region = checked_region(input.shape(), options.region);
  p.signed_distance = options.signed_distance;
  p.surface = options.surface;
  p.max_distance = distance_limit(options);
  check_spacing(p.spacing, p.rank);
  if (!(p.max_distance >= 0))
    throw InvalidArgument("the maximum distance is " + text(options.max_distance) + "; it must be 0 or more");
  p.caller_rank = p.rank;
  const Strides steps = dense_strides(input.shape());
  for (int k = 0; k < p.rank; ++k) {
    p.caller_axis[static_cast<std::size_t>(k)] = k;
    p.index_step[static_cast<std::size_t>(k)] = steps[k];
  }

  check_outputs(p);
  drop_unit_axes(p);
  settle_spacing(p);
  check_combination(p);
  check_capacity(p);
  find_unit(p);
  return p;
}

void check_memory(const AnyConstView& input, const DistanceOutputs& outputs) {
  std::array<std::pair<std::string_view, AnyConstView>, 1 + sizeof(PerOutput<char>)> views = {{{"input", input}}};
  std::size_t next = 1;
  for_each_output([&](const OutputKind& kind, const AnyView& view) { views[next++] = {kind.name, view}; }, outputs);
  for (const auto& [name, view] : views)
    if (view.present() && view.data() == nullptr && element_count(view.shape()) > 0)
      throw InvalidArgument("'" + std::string(name) + "' has no memory behind it");
  for (std::size_t a = 0; a < views.size(); ++a)
    for (std::size_t b = a + 1; b < views.size(); ++b) {
      const auto [a0, a1] = byte_range(views[a].second);
      const auto [b0, b1] = byte_range(views[b].second);
      if (a0 < b1 && b0 < a1 && a0 != a1 && b0 != b1)
        throw InvalidArgument("'" + std::string(views[a].first) + "' and '" + std::string(views[b].first) +
                              "' overlap in memory; give each its own");
    }
}

}  // namespace fathom::grid
