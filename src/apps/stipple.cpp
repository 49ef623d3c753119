// The front of stippling: tone to ink, positions drawn by ink, Lloyd's iteration, radii from the ink of each region.
#include "fathom/apps/stipple.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "apps/check.h"
#include "apps/device_call.h"
#include "apps/each_image.h"
#include "apps/lloyd.h"
#include "apps/sampler.h"
#include "apps/weights.h"
#include "core/hilbert.hd.h"
#include "core/text.h"
#include "fathom/core/error.h"
#ifdef FATHOM_HAS_CUDA
#include "apps/cuda/download.h"
#endif

namespace fathom::apps {

namespace {

constexpr int kMostSupersample = 16, kMostChosen = 4;

void check(const AnyConstView& image, const StippleOptions& options) {
  if (image.rank() != 2)
    throw InvalidArgument("the image has " + std::to_string(image.rank()) +
                          " axes; stippling takes 2, height and width");
  if (element_count(image.shape()) == 0) throw InvalidArgument("the image has no pixels");
  if (options.dots < 1 || options.dots > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument("the number of dots is " + std::to_string(options.dots) + "; give 1 to 2147483647");
  if (!(options.gamma > 0) || std::isinf(options.gamma))
    throw InvalidArgument("gamma is " + text(options.gamma) + "; give a finite number above 0");
  if (options.supersample < 0 || options.supersample > kMostSupersample)
    throw InvalidArgument("supersample is " + std::to_string(options.supersample) +
                          "; give 1 to 16, or 0 to have it chosen");
}

/// Ink of a tone from 0 to 1, as a weight.
std::uint16_t ink_of(double tone, const StippleOptions& options) {
  return static_cast<std::uint16_t>(
      std::floor(kMostWeight * std::pow(options.invert ? tone : 1 - tone, options.gamma) + 0.5));
}

template <class T>
void take_ink(const HostView<const T>& image, const StippleOptions& options, Weights& ink) {
  std::vector<std::uint16_t> table;  // of integers
  if constexpr (!std::is_floating_point_v<T>) {
    constexpr int kMost = std::numeric_limits<T>::max();
    for (int tone = 0; tone <= kMost; ++tone) table.push_back(ink_of(static_cast<double>(tone) / kMost, options));
  }
  each_row<T>(image, [&](const T* row, std::int64_t number) {
    std::uint16_t* const to = ink.values.data() + number * ink.width();
    for (std::int64_t x = 0; x < ink.width(); ++x) {
      if constexpr (std::is_floating_point_v<T>) {
        if (!(row[x] >= 0 && row[x] <= 1))
          throw InvalidArgument("a tone is " + text(static_cast<double>(row[x])) +
                                "; floats are tones from 0 (black) to 1 (white)");
        to[x] = ink_of(static_cast<double>(row[x]), options);
      } else {
        to[x] = table[static_cast<std::size_t>(row[x])];
      }
    }
  });
}

Weights ink_of(const AnyConstView& image, const StippleOptions& options) {
  Weights ink{image.shape(), {}};
  ink.values.resize(static_cast<std::size_t>(element_count(image.shape())));
  switch (image.dtype()) {
    case DType::boolean: take_ink(image.as<bool>(), options, ink); break;
    case DType::uint8: take_ink(image.as<std::uint8_t>(), options, ink); break;
    case DType::uint16: take_ink(image.as<std::uint16_t>(), options, ink); break;
    case DType::float32: take_ink(image.as<float>(), options, ink); break;
    case DType::float64: take_ink(image.as<double>(), options, ink); break;
    default:
      throw InvalidArgument("the image is " + std::string(name_of(image.dtype())) +
                            "; tones are bool, uint8, uint16 or floats from 0 to 1");
  }
  tally(ink);
  return ink;
}

/// Elements that a region has in black, on a grid as fine as the image. Dots of a centroidal diagram lie as densely as
/// the square root of the weight says.
double elements_in_black(const Weights& ink, std::int64_t dots) {
  double roots = 0;
  for (const std::uint16_t weight : ink.values) roots += std::sqrt(static_cast<double>(weight) / kMostWeight);
  return std::max(roots, 1.0) / static_cast<double>(dots);
}

/// Grids to move dots on, one after the other, each twice as fine as the one before: a coarse one costs a quarter, and
/// soon has dots where they hardly move. The last is so fine that regions in black have some 64 elements, unless the
/// options say which; the first such that they have 16.
std::vector<int> finenesses(double elements, const StippleOptions& options) {
  const int chosen = std::clamp(static_cast<int>(std::ceil(std::sqrt(64 / elements))), 1, kMostChosen);
  const int last = options.supersample > 0 ? options.supersample : chosen;
  std::vector<int> result;
  for (int fine = 1; fine < last; fine *= 2)
    if (elements * fine * fine >= 16) result.push_back(fine);
  result.push_back(last);
  return result;
}

/// Positions drawn by ink, along a Hilbert curve: what is asked of neighbours then lies close together in memory, and a
/// pen goes short ways.
std::vector<double> first_positions(const Weights& ink, const StippleOptions& options) {
  const Sampler sampler(ink, options.seed);
  const double cells = 1 << hilbert_bits(2), side = static_cast<double>(std::max(ink.shape[0], ink.shape[1]));
  const auto cell_of = [&](double at) { return static_cast<std::uint32_t>((at + 0.5) / side * (cells - 1)); };
  std::vector<double> drawn(static_cast<std::size_t>(2 * options.dots)), positions;
  std::vector<std::pair<std::uint32_t, std::size_t>> order;
  for (std::size_t dot = 0; dot < drawn.size(); dot += 2) {
    sampler.draw(0, static_cast<std::int64_t>(dot / 2), drawn.data() + dot);
    std::uint32_t cell[] = {cell_of(drawn[dot]), cell_of(drawn[dot + 1])};
    order.emplace_back(hilbert_key(cell), dot);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [key, dot] : order) positions.insert(positions.end(), {drawn[dot], drawn[dot + 1]});
  return positions;
}

LloydOptions lloyd_options(const StippleOptions& options, int supersample) {
  LloydOptions lloyd;
  lloyd.iterations = options.iterations;
  lloyd.tolerance = options.tolerance;
  lloyd.supersample = supersample;
  lloyd.seed = options.seed;
  lloyd.execution = options.execution;
  return lloyd;
}

}  // namespace

Stipples stipple(const AnyConstView& image, const StippleOptions& options) {
  check(image, options);
  Stipples result;
  result.report.threads = thread_count(options.execution);
  result.report.instruction_set = resolve(options.execution.instruction_set);
  const Weights ink = ink_of(image, options);
  if (ink.total == 0)
    throw InvalidArgument(std::string("no pixel has as much as 1/65535 of ink: the image is ") +
                          (options.invert ? "black" : "white") + " all over, or nearly, or gamma is too large");
  const std::vector<int> grids = finenesses(elements_in_black(ink, options.dots), options);
  result.supersample = grids.back();
  const double finer = result.supersample * result.supersample, room = finer * static_cast<double>(ink.positive);
  if (static_cast<double>(options.dots) > room)
    throw InvalidArgument(std::to_string(options.dots) + " dots are more than the " + text(room) +
                          " pixels with ink; give fewer, or a larger supersample");
  LloydOptions lloyd = lloyd_options(options, result.supersample);
  result.report.scratch_bytes = lloyd_scratch_bytes(image.shape(), options.dots, lloyd);
  check_scratch(options.execution, result.report.scratch_bytes);

  std::vector<double> positions = first_positions(ink, options);
  std::vector<std::int64_t> masses;
  for (std::size_t k = 0; k < grids.size(); ++k) {
    lloyd.supersample = grids[k];
    if (options.execution.progress)
      lloyd.execution.progress = [&, k](double share) {
        options.execution.progress((static_cast<double>(k) + share) / static_cast<double>(grids.size()));
      };
    result.report.at_rest = false;
    masses = iterate(ink, lloyd, positions, result.report, k + 1 == grids.size());
  }
  result.positions = Array(DType::float64, {options.dots, 2});
  result.radii = Array(DType::float64, {options.dots});
  std::copy(positions.begin(), positions.end(), result.positions.as<double>().data());
  for (std::size_t dot = 0; dot < masses.size(); ++dot)
    result.radii.as<double>().data()[dot] =
        std::sqrt(static_cast<double>(masses[dot]) / (kMostWeight * finer * std::numbers::pi));
  return result;
}

std::vector<Stipples> stipple_batch(const AnyConstView& images, int batch_axes, const StippleOptions& options) {
  return of_each_image<Stipples>(options, image_count(images.shape(), batch_axes), [&](auto item, const auto& own) {
    return stipple(image_of(images, batch_axes, item), own);
  });
}

#ifdef FATHOM_HAS_CUDA
Stipples stipple(const AnyConstDeviceView& image, const StippleOptions& options, Stream stream) {
  const StippleOptions own = on_its_device(options);
  Stipples result;
  cuda::with_download(image, "image", stream, [&](const AnyConstView& copy) { result = stipple(copy, own); });
  return result;
}

std::vector<Stipples> stipple_batch(const AnyConstDeviceView& images, int batch_axes, const StippleOptions& options,
                                    Stream stream) {
  const StippleOptions own = on_its_device(options);
  std::vector<Stipples> results;
  cuda::with_download(images, "images", stream,
                      [&](const AnyConstView& copies) { results = stipple_batch(copies, batch_axes, own); });
  return results;
}
#else
Stipples stipple(const AnyConstDeviceView&, const StippleOptions&, Stream) { refuse_device_views(); }
std::vector<Stipples> stipple_batch(const AnyConstDeviceView&, int, const StippleOptions&, Stream) {
  refuse_device_views();
}
#endif

std::size_t stipple_scratch_bytes(const Shape& image, const StippleOptions& options) {
  thread_count(options.execution);
  const int supersample = options.supersample > 0 ? options.supersample : kMostChosen;
  return lloyd_scratch_bytes(image, options.dots, lloyd_options(options, supersample));
}

}  // namespace fathom::apps
