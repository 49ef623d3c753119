// What nodes do to the pixels of their children, as plain data: for devices, which cannot call a node's functions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "fathom/stream/nodes.h"
#include "stream/expression.hd.h"

namespace fathom::stream {

namespace operation {

/// A value, saturated to the type, of the children's values at the same place. Of no child: a constant.
struct Function {
  std::function<double(std::span<const double>)> value;
  std::optional<Arithmetic> arithmetic = {};  ///< that gives it before it is saturated, if any does
};

/// A value of the place: of x and y.
struct OfPlace {
  Arithmetic arithmetic;
};

struct Noise {
  std::uint64_t seed = 0;
};

/// A pixel of the child: (y + row_step · i, x + column_step · j), where (i, j) is the node's own place, or (j, i). Or
/// else, modulo the child's size; or that in which the middle of a pixel lies that is `ratio` times as large.
struct Look {
  bool transposed = false;
  std::int64_t y = 0, x = 0, row_step = 1, column_step = 1;
  bool repeats = false;
  double ratio = 0;
};

/// Copies of children, blended. Where there are children with the roles mask and weight, they belong to all copies.
struct Copies {
  Blending blending;
  /// Those that may reach into a part, in the order of their blending.
  std::function<std::vector<Placement>(const Rectangle& part)> in;
};

/// The child where its mask is not 0.
struct Masked {
  double background = 0;
};

/// Whether the child is at least, or above, a value.
struct Limit {
  double value = 0;
  bool above = false;
};

/// Whether the child is above the value at its place in a square that is repeated.
struct Dither {
  int side = 1;
  std::vector<double> limits;
};

/// Pixels that are on a device already.
struct Resident {
  AnyConstDeviceView pixels;
};

/// Distance to the nearest pixel of the child that is 0, or is not; +inf: without a bound.
struct Far {
  DistanceOptions options;
};

}  // namespace operation

struct Operation {
  std::variant<operation::Function, operation::OfPlace, operation::Noise, operation::Look, operation::Copies,
               operation::Masked, operation::Limit, operation::Dither, operation::Resident, operation::Far>
      what;

  template <class What>
  const What* as() const {
    return std::get_if<What>(&what);
  }
};

/// Of a source that lies in a device's memory; else a view that is not given.
inline AnyConstDeviceView resident_pixels(const Node& node) {
  const auto operation = node.operation();
  const auto* const there = operation ? operation->as<operation::Resident>() : nullptr;
  return there ? there->pixels : AnyConstDeviceView();
}

template <class What>
std::shared_ptr<const Operation> make_operation(What what) {
  return std::make_shared<const Operation>(Operation{std::move(what)});
}

}  // namespace fathom::stream
