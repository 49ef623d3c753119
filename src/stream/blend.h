// What becomes of pixels that several copies cover.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "fathom/stream/nodes.h"

namespace fathom::stream {

/// The words for them in documents.
inline constexpr std::array<std::string_view, 6> kBlends{"max", "min", "sum", "first", "last", "mean"};
inline bool keeps_sums(Blend blend) { return blend == Blend::sum || blend == Blend::mean; }

/// Pixels of a copy, and which of them count.
struct Copy {
  Rectangle where;  ///< in the parent
  Pixels data;
  std::optional<Pixels> mask, weight;
};

/// The same, with what is transparent if nothing is stated.
Blending stated(Blending blending, std::optional<double> usual);

/// @throws InvalidArgument a value that the type cannot hold
void check_blending(const Blending& blending, DType dtype);

void describe(const Blending& blending, Description& to);

/// Bytes that blending a part takes.
std::size_t blend_bytes(const Blending& blending, Size part);

/// Blends copies into a part of the parent, in the order in which they are added.
class Blender {
 public:
  /// @param memory  blend_bytes()
  Blender(const Blending& blending, const Rectangle& part, const AnyView& out, std::byte* memory);
  void add(const Copy& copy) const;
  /// After the last copy.
  void end() const;

 private:
  template <class T>
  void add_as(const Copy& copy) const;
  template <class T>
  void blend_row(const T* values, const std::uint8_t* counts, std::int64_t count, std::uint8_t* covered, T* out) const;
  template <class T>
  void end_as() const;

  const Blending& blending_;
  const Rectangle part_;
  const AnyView out_;
  std::uint8_t* covered_;  ///< of each pixel; or, for sums:
  double* sums_;           ///< exact for integers: there are fewer than 2³⁶ copies of 16 bits
  double* weights_;
};

}  // namespace fathom::stream
