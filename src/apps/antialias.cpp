// The average over a regular grid of rays in each pixel. Each place of the grid is a picture by itself, with a frame
// that is moved by a part of a pixel, so that every backend draws it as it draws any; the sums are made here. Cost: N²
// pictures; scratch: 5 bytes per pixel, whatever N.
#include "apps/antialias.h"

#include <string>
#include <vector>

#include "apps/shade.hd.h"
#include "fathom/core/array.h"
#include "fathom/core/error.h"

namespace fathom::apps {

namespace {

/// Its rays moved by parts of a pixel.
Frame moved(Frame frame, double right, double down) {
  double* from = frame.parallel ? frame.eye : frame.forward;
  for (int k = 0; k < 3; ++k) from[k] += right * frame.right[k] + down * frame.down[k];
  return frame;
}

/// Of the rays that met something.
class Sums {
 public:
  explicit Sums(const Shape& picture)
      : layer_(DType::uint8, picture), shade_(static_cast<std::size_t>(element_count(picture))), hits_(shade_.size()) {}

  static std::size_t bytes(const Shape& picture) { return static_cast<std::size_t>(element_count(picture)) * 5; }

  AnyView layer() { return layer_.view(); }

  void add_layer() {
    const auto* layer = layer_.as<std::uint8_t>().data();
    for (std::size_t i = 0; i < shade_.size(); ++i) {
      const bool hit = layer[i] != kBackground;
      shade_[i] = static_cast<std::uint16_t>(shade_[i] + (hit ? layer[i] : 0));
      hits_[i] = static_cast<std::uint16_t>(hits_[i] + hit);
    }
  }

  /// @param rays  of a pixel
  void write(unsigned rays, unsigned background, const RayMarchOutputs& outputs) const {
    const Shape& picture = layer_.shape();
    const auto mean = [&](unsigned sum) { return static_cast<std::uint8_t>((sum + rays / 2) / rays); };
    for (std::int64_t row = 0, i = 0; row < picture[0]; ++row)
      for (std::int64_t column = 0; column < picture[1]; ++column, ++i) {
        const auto at = static_cast<std::size_t>(i);
        store(outputs.shade, row, column, mean(shade_[at] + (rays - hits_[at]) * background));
        store(outputs.coverage, row, column, mean(255u * hits_[at]));
      }
  }

 private:
  static void store(const AnyView& view, std::int64_t row, std::int64_t column, std::uint8_t value) {
    if (view.present()) reinterpret_cast<std::uint8_t*>(view.data())[row * view.strides()[0] + column] = value;
  }

  Array layer_;
  std::vector<std::uint16_t> shade_, hits_;
};

/// One picture after the other.
class Passes {
 public:
  Passes(const Marcher& marcher, const RayMarchOptions& options, int count, std::size_t kept)
      : marcher_(marcher), options_(options), kept_(kept) {
    const Execution& execution = options.execution;
    fit_scratch(execution, 1, kept);
    if (execution.scratch_limit) options_.execution.scratch_limit = *execution.scratch_limit - kept;
    if (execution.progress)
      options_.execution.progress = [this, count, tell = execution.progress](double share) {
        tell((done_ + share) / count);
      };
  }

  void march(const Frame& frame, const RayMarchOutputs& outputs) {
    const RayMarchReport before = report;
    try {
      report = marcher_.march(frame, options_, outputs);
    } catch (const InvalidArgument& error) {  // the scratch limit, which is what was left
      throw InvalidArgument(std::string(error.what()) + ", beside " + std::to_string(kept_) + " for sums of rays");
    }
    report.scratch_bytes += kept_;
    report.rays += before.rays;
    report.hits += before.hits;
    report.samples += before.samples;
    ++done_;
  }

  RayMarchReport report;

 private:
  const Marcher& marcher_;
  RayMarchOptions options_;
  std::size_t kept_;
  int done_ = 0;
};

}  // namespace

RayMarchReport march_averaged(const Marcher& marcher, const Frame& frame, const RayMarchOptions& options,
                              const RayMarchOutputs& outputs) {
  const int n = options.antialias;
  const bool odd = n % 2 != 0;  // one of the rays is the pixel's middle, whose voxel, depth and samples are wanted
  RayMarchOutputs of_middle = outputs;
  of_middle.shade = of_middle.coverage = {};
  const bool extra = !odd && (outputs.voxel.present() || outputs.depth.present() || outputs.samples.present());
  const Shape picture{frame.height, frame.width};
  Passes passes(marcher, options, n * n + extra, Sums::bytes(picture));
  Sums sums(picture);
  for (int i = 0; i < n * n; ++i) {
    RayMarchOutputs layer = odd && i == n * n / 2 ? of_middle : RayMarchOutputs{};
    layer.shade = sums.layer();
    const auto aside = [&](int place) { return (place + 0.5) / n - 0.5; };
    passes.march(moved(frame, aside(i % n), aside(i / n)), layer);
    sums.add_layer();
  }
  if (extra) passes.march(frame, of_middle);
  sums.write(static_cast<unsigned>(n * n), options.background, outputs);
  return passes.report;
}

}  // namespace fathom::apps
