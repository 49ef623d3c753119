#include "no_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "options.h"

namespace fathom::cli {

namespace {

using Rule = grid::Sites::Rule;
using Bytes = std::span<std::uint8_t>;

Bytes bytes_of(Array& mask) { return {reinterpret_cast<std::uint8_t*>(mask.data()), mask.bytes()}; }
std::span<const std::uint8_t> bytes_of(const Array& mask) {
  return {reinterpret_cast<const std::uint8_t*>(mask.data()), mask.bytes()};
}

/// The whole text as a number of the type, or nothing.
template <class T>
std::optional<T> number_of(const std::string& text) {
  if constexpr (!std::is_same_v<T, bool>) {
    return number<T>(text);
  }
  return std::nullopt;
}

/// Whether elements of a type can have a value.
bool holds(DType dtype, const grid::Sites::Value& value) {
  return visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_floating_point_v<T>)
      return !std::isfinite(value.real()) || std::abs(value.real()) <= static_cast<double>(Limits::max());
    else
      return std::visit(
          [](auto number) {
            if constexpr (std::is_floating_point_v<decltype(number)>) return false;  // not whole, or beyond 64 bits
            else return std::cmp_greater_equal(number, +Limits::min()) && std::cmp_less_equal(number, +Limits::max());
          },
          value.number);
  });
}

/// The part of a mask of the input that results cover.
Array of_region(const Array& mask, const grid::DistanceOptions& options) {
  AnyConstView view = mask.view();
  std::int64_t offset = 0;
  for (std::size_t k = 0; k < options.region.size(); ++k)
    offset += options.region[k].begin * view.strides()[options.batch_axes + static_cast<int>(k)];
  return dense_copy({view.data() + offset, view.dtype(), grid::result_shape(view.shape(), options), view.strides()});
}

/// Takes the elements of `other` where the mask says so. A view of coordinates is as many arrays as there are axes.
void take(const AnyView& into, const Array& other, std::span<const std::uint8_t> where) {
  const std::size_t size = size_of(into.dtype()), count = other.bytes() / size;
  for (std::size_t i = 0; i < count; ++i)
    if (where[i % where.size()]) std::memcpy(into.data() + i * size, other.data() + i * size, size);
}

grid::DistanceReport transform_signed(const AnyConstView& input, const Array& gaps, grid::DistanceOptions options,
                                      const grid::DistanceOutputs& outputs) {
  const bool sites_are_outside = options.sites.rule == Rule::zero;
  Array inside = grid::mark_sites(input, options.sites);
  const auto is_gap = bytes_of(gaps);
  for (std::size_t i = 0; i < is_gap.size(); ++i)
    bytes_of(inside)[i] = (bytes_of(inside)[i] != 0) != sites_are_outside && !is_gap[i];
  options.sites = {sites_are_outside ? Rule::zero : Rule::nonzero, 0};
  const grid::DistanceReport report =
      grid::distance_transform(std::as_const(inside).view(), options, outputs);

  const Array chosen = of_region(inside, options);
  for (std::size_t i = 0; i < is_gap.size(); ++i) bytes_of(inside)[i] |= is_gap[i];
  grid::PerOutput<Array> others;
  grid::DistanceOutputs second;
  grid::for_each_output(
      [](const grid::OutputKind&, const AnyView& view, Array& other, AnyView& into) {
        if (!view.present()) return;
        other = Array(view.dtype(), view.shape());
        into = other.view();
      },
      outputs, others, second);
  grid::distance_transform(std::as_const(inside).view(), options, second);
  grid::for_each_output(
      [&](const grid::OutputKind&, const AnyView& view, const Array& other) {
        if (view.present() && other.size() > 0) take(view, other, bytes_of(chosen));
      },
      outputs, others);
  return report;
}

}  // namespace

grid::DistanceReport transform_with_gaps(const AnyConstView& input, const Array& gaps,
                                         const grid::DistanceOptions& options, const grid::DistanceOutputs& outputs) {
  if (options.sites.rule == Rule::labels)
    throw InvalidArgument("--sites labels where elements hold no data: give --no-data none, and they are a label");
  if (options.signed_distance) return transform_signed(input, gaps, options, outputs);
  Array sites = grid::mark_sites(input, options.sites);
  for (std::size_t i = 0; i < sites.bytes(); ++i) bytes_of(sites)[i] &= static_cast<std::uint8_t>(!bytes_of(gaps)[i]);
  grid::DistanceOptions of_mask = options;
  of_mask.sites = {Rule::nonzero, 0};
  return grid::distance_transform(std::as_const(sites).view(), of_mask, outputs);
}

std::int64_t count_sites_beside(const AnyConstView& input, const grid::Sites& gaps, const grid::Sites& sites) {
  const Array are_gaps = grid::mark_sites(input, gaps), are_sites = grid::mark_sites(input, sites);
  std::int64_t count = 0;
  for (std::size_t i = 0; i < are_sites.bytes(); ++i) count += bytes_of(are_sites)[i] && !bytes_of(are_gaps)[i];
  return count;
}

void check_no_data(const Input& input, const std::string& value) {
  if (!value.empty() && !holds(input.info.dtype, parse_no_data(value).value))
    throw InvalidArgument(fmt::format("--no-data {}: {} holds {}, which has no such value", value,
                                      input_name(input.path), fathom::name_of(input.info.dtype)));
}

void check_holds(DType dtype, const std::string& value) {
  visit_dtype(dtype, [&](auto tag) {
    if (number_of<typename decltype(tag)::type>(value)) return;
    throw InvalidArgument(fmt::format("--use-input-nodata: {} does not hold the no-data value {}; choose another "
                                      "--dtype", fathom::name_of(dtype), value));
  });
}

ValueRange fill_gaps(const Array& gaps, const grid::DistanceOptions& options, const std::string& value, Array& field) {
  const Array part = of_region(gaps, options);
  const auto are_gaps = bytes_of(part);
  return visit_dtype(field.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto fill = [&](T number) {
      for (std::size_t i = 0; i < are_gaps.size(); ++i)
        if (are_gaps[i]) reinterpret_cast<T*>(field.data())[i] = number;
    };
    using Limits = std::numeric_limits<T>;
    fill(Limits::has_infinity ? Limits::infinity() : Limits::max());  // as if they had no site, which no range counts
    ValueRange range = field_range(std::as_const(field).view());
    range.infinite -= std::count_if(are_gaps.begin(), are_gaps.end(), [](auto gap) { return gap != 0; });
    fill(number_of<T>(value).value_or(T{}));
    return range;
  });
}

}  // namespace fathom::cli
