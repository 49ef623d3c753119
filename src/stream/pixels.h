// Pixels of the four types that rasters have.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "fathom/core/error.h"
#include "fathom/stream/node.h"
#include "stream/saturate.hd.h"

namespace fathom::stream {

inline bool is_element(DType dtype) {
  return dtype == DType::boolean || dtype == DType::uint8 || dtype == DType::uint16 || dtype == DType::float32;
}

/// To the last bit: 0 and -0 are two.
inline bool is_same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

inline bool is_beyond(std::int64_t value, std::int64_t most) { return value < -most || value > most; }

inline constexpr std::size_t kAlignment = 64;
inline std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
inline std::size_t bytes_of(Size size, DType dtype) {
  return aligned(static_cast<std::size_t>(size.area()) * fathom::size_of(dtype));
}

/// Calls visitor(TypeTag<T>{}) for one of the four.
template <class Visitor>
decltype(auto) visit_element(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::boolean: return visitor(TypeTag<bool>{});
    case DType::uint8: return visitor(TypeTag<std::uint8_t>{});
    case DType::uint16: return visitor(TypeTag<std::uint16_t>{});
    case DType::float32: return visitor(TypeTag<float>{});
    default: throw InternalError("rasters have no such type");
  }
}

inline double saturated(double value, DType dtype) {
  return visit_element(dtype,
                       [&](auto tag) { return static_cast<double>(saturated<typename decltype(tag)::type>(value)); });
}

/// a or b. Without a branch, of which compilers make vector instructions.
template <class T>
T select(bool first, T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                  std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>>;
  const auto mask = static_cast<Bits>(-static_cast<int>(first));
  return std::bit_cast<T>(static_cast<Bits>((std::bit_cast<Bits>(a) & mask) | (std::bit_cast<Bits>(b) & ~mask)));
}

/// A view whose rows may lie anywhere.
template <class T>
struct Rows {
  T* first;
  std::int64_t step, height, width;

  explicit Rows(
      const BasicAnyView<std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>, MemorySpace::host>& view)
      : first(view.template as<std::remove_const_t<T>>().data()),
        step(view.strides()[0]),
        height(view.shape()[0]),
        width(view.shape()[1]) {}
  T* operator[](std::int64_t y) const { return first + y * step; }
};

/// Part of a view, from (y, x) on.
template <class View>
View part_of(const View& view, std::int64_t y, std::int64_t x, Size size) {
  return View(view.data() + (y * view.strides()[0] + x) * static_cast<std::int64_t>(fathom::size_of(view.dtype())),
              view.dtype(), {size.height, size.width}, view.strides());
}

/// Pixels of a row, converted.
template <class To>
void load_row(const Pixels& pixels, std::int64_t y, std::int64_t x, std::int64_t count, To* out) {
  if (pixels.constant) {
    std::fill_n(out, count, static_cast<To>(*pixels.constant));
    return;
  }
  visit_element(pixels.view.dtype(), [&](auto tag) {
    std::copy_n(Rows<const typename decltype(tag)::type>(pixels.view)[y] + x, count, out);
  });
}

/// Gives all pixels one value.
inline void fill(const AnyView& out, double value) {
  visit_element(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Rows<T> rows(out);
    for (std::int64_t y = 0; y < rows.height; ++y) std::fill_n(rows[y], rows.width, static_cast<T>(value));
  });
}

inline void copy(const AnyConstView& from, const AnyView& to) {
  const auto size = static_cast<std::int64_t>(fathom::size_of(to.dtype()));
  for (std::int64_t y = 0; y < to.shape()[0]; ++y)
    std::memcpy(to.data() + y * to.strides()[0] * size, from.data() + y * from.strides()[0] * size,
                static_cast<std::size_t>(to.shape()[1] * size));
}

/// A child's pixels, in memory of the caller that holds them even where they are constant.
inline void fetch_all(Children& children, const Node& child, const Rectangle& part, const AnyView& out) {
  if (const auto value = children.fetch_into(child, part, out)) fill(out, *value);
}

}  // namespace fathom::stream
