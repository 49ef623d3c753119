// Extents and strides of arrays: small, fixed-capacity, row-major, 64-bit.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "fathom/core/error.h"

namespace fathom {

inline constexpr int kMaxRank = 9;  // 8 axes of space, and one for the components of coordinates

/// Up to kMaxRank int64 values, one per axis, slowest axis first.
class Axes {
 public:
  Axes() = default;
  Axes(std::initializer_list<std::int64_t> values)
      : Axes(std::span<const std::int64_t>(values.begin(), values.size())) {}
  explicit Axes(std::span<const std::int64_t> values) {
    for (std::int64_t v : values) push_back(v);
  }

  int rank() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  std::int64_t operator[](int axis) const { return values_[static_cast<std::size_t>(axis)]; }
  std::int64_t& operator[](int axis) { return values_[static_cast<std::size_t>(axis)]; }
  std::int64_t back() const { return values_[static_cast<std::size_t>(rank_ - 1)]; }
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + rank_; }

  void push_back(std::int64_t value) {
    if (rank_ == kMaxRank) throw InvalidArgument("an array has too many axes: at most 8 are supported");
    values_[static_cast<std::size_t>(rank_++)] = value;
  }

  friend bool operator==(const Axes& a, const Axes& b) {
    if (a.rank_ != b.rank_) return false;
    for (int k = 0; k < a.rank_; ++k)
      if (a[k] != b[k]) return false;
    return true;
  }

 private:
  std::array<std::int64_t, kMaxRank> values_{};
  int rank_ = 0;
};

using Shape = Axes;    ///< extents in elements, each ≥ 0
using Strides = Axes;  ///< steps in elements

/// Number of elements; 1 for rank 0.
/// @throws InvalidArgument a negative extent | more elements than 2⁶² can count
std::int64_t element_count(const Shape& shape);

/// Row-major strides of a dense array.
Strides dense_strides(const Shape& shape);

/// "1080 × 2160"; "scalar" for rank 0.
std::string to_string(const Shape& shape);

}  // namespace fathom
