#include "stream/blend.h"

#include <cmath>
#include <cstring>
#include <string>

#include "stream/pixels.h"

namespace fathom::stream {

namespace {

/// Values of a copy, one at each pixel or the same everywhere.
template <class T>
class Values {
 public:
  explicit Values(const Pixels& pixels) : constant_(static_cast<T>(pixels.constant.value_or(0))) {
    if (pixels.constant) return;
    first_ = pixels.view.as<T>().data();
    step_ = pixels.view.strides()[0];
  }
  T at(std::int64_t y, std::int64_t x) const { return first_ ? first_[y * step_ + x] : constant_; }

 private:
  T constant_;
  const T* first_ = nullptr;
  std::int64_t step_ = 0;
};

/// The same of any type, as a double.
class AnyValues {
 public:
  explicit AnyValues(const Pixels& pixels) : pixels_(pixels) {}
  double at(std::int64_t y, std::int64_t x) const {
    if (pixels_.constant) return *pixels_.constant;
    return visit_element(pixels_.view.dtype(), [&](auto tag) {
      return static_cast<double>(Values<typename decltype(tag)::type>(pixels_).at(y, x));
    });
  }

 private:
  const Pixels& pixels_;
};

}  // namespace

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
}

template <class T>
void Blender::add_as(const Copy& copy) const {
  const Rows<T> out(out_);
  const Values<T> values(copy.data);
  const Blend blend = blending_.blend;
  const T transparent = static_cast<T>(blending_.transparent.value_or(0));  // 0.1 as the type has it
  for (std::int64_t y = copy.where.y0; y < copy.where.y1; ++y)
    for (std::int64_t x = copy.where.x0; x < copy.where.x1; ++x) {
      const std::int64_t in_y = y - copy.where.y0, in_x = x - copy.where.x0, at = place(y, x);
      const T value = values.at(in_y, in_x);
      if (blending_.transparent && value == transparent) continue;
      if (copy.mask && AnyValues(*copy.mask).at(in_y, in_x) == 0) continue;
      if (keeps_sums(blend)) {
        const double weight = copy.weight ? AnyValues(*copy.weight).at(in_y, in_x) : 1;
        sums_[at] += copy.weight ? weight * static_cast<double>(value) : static_cast<double>(value);
        weights_[at] += weight;
        continue;
      }
      T& to = out[y - part_.y0][x - part_.x0];
      const bool wins = !covered_[at] || blend == Blend::last || (blend == Blend::max && value > to) ||
                        (blend == Blend::min && value < to);
      if (wins) to = value;
      covered_[at] = 1;
    }
}

template <class T>
void Blender::end_as() const {
  const Rows<T> out(out_);
  const T background = static_cast<T>(blending_.background);
  for (std::int64_t y = 0; y < part_.height(); ++y)
    for (std::int64_t x = 0; x < part_.width(); ++x) {
      const std::int64_t at = y * part_.width() + x;
      if (!keeps_sums(blending_.blend)) {
        if (!covered_[at]) out[y][x] = background;
      } else if (weights_[at] == 0) {
        out[y][x] = background;
      } else if (blending_.blend == Blend::sum) {
        out[y][x] = saturated<T>(sums_[at]);
      } else {
        const double mean = sums_[at] / weights_[at];
        out[y][x] = saturated<T>(std::is_same_v<T, float> ? mean : std::floor(mean + 0.5));
      }
    }
}

void Blender::add(const Copy& copy) const {
  visit_element(out_.dtype(), [&](auto tag) { add_as<typename decltype(tag)::type>(copy); });
}
void Blender::end() const {
  visit_element(out_.dtype(), [&](auto tag) { end_as<typename decltype(tag)::type>(); });
}

}  // namespace fathom::stream
