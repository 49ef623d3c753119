#include "io/samples.h"

#include <array>
#include <limits>

#include "io/convert.h"
#include "io/numbers.h"

namespace fathom::io {

namespace {

/// The sample that a name such as "green", "alpha" or "2" means, or −1.
int sample_named(const Pixel& pixel, const std::string& name) {
  constexpr std::array kColours = {"red", "green", "blue"};
  if (pixel.alpha && name == "alpha") return pixel.samples - 1;
  for (int k = 0; k < 3; ++k)
    if (pixel.colour && name == kColours[static_cast<std::size_t>(k)]) return k;
  const int number = parsed<int>(name).value_or(-1);
  return number < pixel.samples ? number : -1;
}

std::string known_samples(const Pixel& pixel) {
  std::string known = pixel.samples == 1 ? "0" : "0 to " + std::to_string(pixel.samples - 1);
  if (pixel.colour) known += ", red, green, blue";
  return known + (pixel.alpha ? ", alpha" : "");
}

Taking pick(const ByteSource& source, const Pixel& pixel, const std::string& name) {
  const int sample = sample_named(pixel, name);
  if (sample < 0)
    source.fail("has no channel '" + name + "'; its pixels have " + known_samples(pixel));
  return {Taking::Kind::copy, pixel.stored, sample, 1};
}

/// The integer that holds three colours, where there is one.
Taking packing_of(DType stored) {
  if (stored == DType::uint8 || stored == DType::int8) return {Taking::Kind::packed, DType::uint32, 0, 1};
  if (stored == DType::uint16 || stored == DType::int16) return {Taking::Kind::packed, DType::uint64, 0, 1};
  return {Taking::Kind::any, DType::boolean, 0, 1};
}

template <class T, class Element>
Element element_of(const std::byte* pixel, std::size_t step, Taking::Kind kind) {
  const T red = load<T>(pixel), green = load<T>(pixel + step), blue = load<T>(pixel + 2 * step);
  if (kind == Taking::Kind::any) return static_cast<Element>(red != T{} || green != T{} || blue != T{});
  if constexpr (sizeof(T) <= 2 && std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (kind == Taking::Kind::packed) {
      using Bits = std::make_unsigned_t<T>;
      constexpr int kBits = std::numeric_limits<Bits>::digits;
      const auto bits = [](T v) { return std::uint64_t{static_cast<Bits>(v)}; };
      return static_cast<Element>((bits(red) << kBits | bits(green)) << kBits | bits(blue));
    }
  }
  if constexpr (!std::is_same_v<T, bool> && (sizeof(T) <= 4 || std::is_floating_point_v<T>))
    return static_cast<Element>(luminance(red, green, blue));
  return {};
}

template <class T, class Element>
void reduce(const Taking& taking, const PixelRow& from, const ElementRow& to) {
  auto* out = reinterpret_cast<Element*>(to.first);
  for (std::size_t i = 0; i < from.count; ++i)
    out[i * to.pixel_step] = element_of<T, Element>(from.first + i * from.pixel_step, from.sample_step, taking.kind);
}

template <class T>
void copy_samples(const Taking& taking, const PixelRow& from, const ElementRow& to) {
  for (int k = 0; k < taking.count; ++k) {
    const std::byte* sample = from.first + static_cast<std::size_t>(taking.first + k) * from.sample_step;
    T* out = reinterpret_cast<T*>(to.first) + static_cast<std::size_t>(k) * to.sample_step;
    for (std::size_t i = 0; i < from.count; ++i) out[i * to.pixel_step] = load<T>(sample + i * from.pixel_step);
  }
}

}  // namespace

Taking taking_of(const ByteSource& source, const Pixel& pixel, const ReadOptions& options) {
  if (!options.channel.empty() && pixel.samples > 1) return pick(source, pixel, options.channel);
  if (pixel.samples > 1 && (options.colours == Colours::samples || (!pixel.colour && !pixel.alpha)))
    return {Taking::Kind::copy, pixel.stored, 0, pixel.samples};
  if (!pixel.colour) return {Taking::Kind::copy, pixel.stored, 0, 1};
  if (options.colours == Colours::packed) return packing_of(pixel.stored);
  if (size_of(pixel.stored) == 8 && pixel.stored != DType::float64)
    source.fail("holds colours of 64-bit integers; 8, 16 and 32-bit colours are read");
  return {Taking::Kind::luminance, pixel.stored, 0, 1};
}

void tell_samples(const Pixel& pixel, const Taking& taking, const ReadOptions& options, ImageInfo& info) {
  if (taking.count > 1 && (pixel.colour || pixel.alpha)) {
    info.shape.push_back(taking.count);
    info.meaning.axes.push_back(axis_named('s'));
    info.meaning.native.reset();  // headers of its format know no such axis
  }
  info.meaning.colours = pixel.colour ? 3 : 0;
  info.meaning.alpha = pixel.alpha;
  info.channel_taken = !options.channel.empty() && pixel.samples > 1;
  if (taking.count > 1) return;
  if (taking.kind == Taking::Kind::luminance && !options.tones)
    info.warnings.push_back("holds colours: their luminance is taken, and not one channel (red, green, blue)");
  if (pixel.alpha && options.channel.empty())
    info.warnings.push_back("holds opacity, which is left out; the channel alpha is it alone");
}

ImageInfo picture_info(const ByteSource& source, Format format, const Shape& shape, const Pixel& pixel,
                       const Taking& taking, const ReadOptions& options, const std::array<double, 2>& print_spacing) {
  ImageInfo info{.format = format, .dtype = taking.dtype, .shape = shape, .meaning = {}, .warnings = {}};
  info.meaning.axes = {axis_named('y'), axis_named('x')};
  if (options.print_resolution && print_spacing[0] == 0)
    source.fail("states no resolution; give the spacing in numbers");
  for (std::size_t k = 0; k < 2 && options.print_resolution; ++k) {
    info.meaning.axes[k].spacing = print_spacing[k];
    info.meaning.axes[k].unit = "mm";
  }
  tell_samples(pixel, taking, options, info);
  return info;
}

void store_pixels(const Pixel& pixel, const Taking& taking, const PixelRow& from, const ElementRow& to) {
  visit_dtype(pixel.stored, [&](auto tag) {
    using T = typename decltype(tag)::type;
    switch (taking.kind) {
      case Taking::Kind::copy: return copy_samples<T>(taking, from, to);
      case Taking::Kind::any: return reduce<T, bool>(taking, from, to);
      case Taking::Kind::luminance: return reduce<T, T>(taking, from, to);
      case Taking::Kind::packed:
        return sizeof(T) == 1 ? reduce<T, std::uint32_t>(taking, from, to)
                              : reduce<T, std::uint64_t>(taking, from, to);
    }
  });
}

}  // namespace fathom::io
