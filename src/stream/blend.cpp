#include "stream/blend.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "stream/pixels.h"

namespace fathom::stream {

namespace {

constexpr std::int64_t kChunk = 256;  ///< pixels of a row that are blended at once

}  // namespace

Blending stated(Blending blending, std::optional<double> usual) {
  if (!blending.transparent.is_stated) blending.transparent = usual;
  return blending;
}

void check_blending(const Blending& blending, DType dtype) {
  const auto check = [dtype](double value, const char* what) {
    if (saturated(value, dtype) != value && dtype != DType::float32)
      throw InvalidArgument(std::string(what) + " is no value of " + std::string(name_of(dtype)));
  };
  check(blending.background, "the background");
  if (blending.transparent) check(*blending.transparent, "what is transparent");
}

void describe(const Blending& blending, Description& to) {
  to.text("blend", kBlends[static_cast<std::size_t>(blending.blend)]);
  if (blending.transparent) to.number("transparent", *blending.transparent);
  else to.nothing("transparent");
  to.number("background", blending.background);
}

std::size_t blend_bytes(const Blending& blending, Size part) {
  const auto pixels = static_cast<std::size_t>(part.area());
  return keeps_sums(blending.blend) ? 2 * sizeof(double) * pixels : pixels;
}

Blender::Blender(const Blending& blending, const Rectangle& part, const AnyView& out, std::byte* memory)
    : blending_(blending),
      part_(part),
      out_(out),
      covered_(reinterpret_cast<std::uint8_t*>(memory)),
      sums_(reinterpret_cast<double*>(memory)),
      weights_(sums_ + part.area()) {
  std::memset(memory, 0, blend_bytes(blending, size_of(part)));
  fill(out, blending.background);
}

template <class T>
void Blender::add_as(const Copy& copy) const {
  const Rows<T> out(out_);
  const T transparent = static_cast<T>(blending_.transparent.value_or(0));  // 0.1 as the type has it
  std::array<T, kChunk> values;
  std::array<bool, kChunk> in_mask;
  std::array<std::uint8_t, kChunk> counts;
  std::array<double, kChunk> weights;
  counts.fill(1);
  weights.fill(1);
  for (std::int64_t y = copy.where.y0; y < copy.where.y1; ++y)
    for (std::int64_t x = copy.where.x0; x < copy.where.x1; x += kChunk) {
      const std::int64_t count = std::min(kChunk, copy.where.x1 - x), in_y = y - copy.where.y0,
                         in_x = x - copy.where.x0, at = (y - part_.y0) * part_.width() + x - part_.x0;
      load_row(copy.data, in_y, in_x, count, values.data());
      if (blending_.transparent)
        for (std::int64_t k = 0; k < count; ++k) counts[k] = values[k] != transparent;
      if (copy.mask) {
        load_row(*copy.mask, in_y, in_x, count, in_mask.data());
        for (std::int64_t k = 0; k < count; ++k) counts[k] = (!blending_.transparent || counts[k]) && in_mask[k];
      }
      if (!keeps_sums(blending_.blend)) {
        blend_row(values.data(), counts.data(), count, covered_ + at, out[y - part_.y0] + x - part_.x0);
        continue;
      }
      if (copy.weight) load_row(*copy.weight, in_y, in_x, count, weights.data());
      double* const __restrict sums = sums_ + at;
      double* const __restrict total = weights_ + at;
      for (std::int64_t k = 0; k < count; ++k) {
        sums[k] += counts[k] ? weights[k] * static_cast<double>(values[k]) : 0;
        total[k] += counts[k] ? weights[k] : 0;
      }
    }
}

/// Loops without branches, for the compiler to turn into vector instructions.
template <class T>
void Blender::blend_row(const T* __restrict values, const std::uint8_t* __restrict counts, std::int64_t count,
                        std::uint8_t* __restrict covered, T* __restrict out) const {
  const auto blend = [&](const auto& wins) {
    for (std::int64_t k = 0; k < count; ++k) {
      out[k] = select(counts[k] & (wins(values[k], out[k]) | (covered[k] ^ 1)), values[k], out[k]);
      covered[k] |= counts[k];
    }
  };
  switch (blending_.blend) {
    case Blend::max: return blend([](T value, T to) { return value > to; });
    case Blend::min: return blend([](T value, T to) { return value < to; });
    case Blend::first: return blend([](T, T) { return false; });
    default: return blend([](T, T) { return true; });
  }
}

/// Integers half up.
template <class T>
T rounded_mean(double mean) {
  if constexpr (std::is_same_v<T, float>) return static_cast<float>(mean);
  else if constexpr (std::is_same_v<T, bool>) return saturated<bool>(std::floor(mean + 0.5));
  else {
    constexpr double kMost = std::numeric_limits<T>::max();
    const double up = mean + 0.5;
    return static_cast<T>(static_cast<std::int32_t>(up > 0 ? std::min(up, kMost) : 0));
  }
}

/// Of sums; all others are there already.
template <class T>
void Blender::end_as() const {
  const Rows<T> out(out_);
  const T background = static_cast<T>(blending_.background);
  const auto end_rows = [&](const auto& value_of) {
    for (std::int64_t y = 0; y < part_.height(); ++y) {
      const double* const sums = sums_ + y * part_.width();
      const double* const weights = weights_ + y * part_.width();
      T* const __restrict row = out[y];
      for (std::int64_t x = 0; x < part_.width(); ++x)
        row[x] = weights[x] == 0 ? background : value_of(sums[x], weights[x]);
    }
  };
  if (blending_.blend == Blend::sum) end_rows([](double sum, double) { return saturated<T>(sum); });
  else end_rows([](double sum, double weight) { return rounded_mean<T>(sum / weight); });
}

void Blender::add(const Copy& copy) const {
  visit_element(out_.dtype(), [&](auto tag) { add_as<typename decltype(tag)::type>(copy); });
}
void Blender::end() const {
  if (!keeps_sums(blending_.blend)) return;
  visit_element(out_.dtype(), [&](auto tag) { end_as<typename decltype(tag)::type>(); });
}

}  // namespace fathom::stream
