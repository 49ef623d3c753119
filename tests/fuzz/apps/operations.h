// Any operation on images with any options, for tests that ask whether two ways to run it agree.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../bytes.h"
#include "fathom/apps/costmap.h"
#include "fathom/apps/local_thickness.h"
#include "fathom/apps/medial_axis.h"
#include "fathom/apps/morphology.h"
#include "fathom/apps/nearest_value.h"
#include "fathom/apps/sdf.h"
#include "fathom/apps/stipple.h"
#include "fathom/core/array.h"
#include "run.h"

namespace fathom::test {

/// Fills outputs that it makes, poisoned, of an input that has the shape it was drawn for.
using RunOperation = std::function<void(const Array& input, const Execution&, std::vector<Array>& outputs)>;

struct Operation {
  std::string name;
  RunOperation run;
  bool may_touch = false;  ///< outputs, when it refuses
};

class Operations {
 public:
  /// @param shape  of the input
  Operations(Bytes& bytes, const Shape& shape) : bytes_(bytes), shape_(shape) {}

  static constexpr int kCount = 9;
  static constexpr std::size_t kNames = 10;  ///< one of them has two
  Operation draw(int which) {
    switch (which) {
      case 0: return morphology();
      case 1: return medial_axis();
      case 2: return axis_of_nearest();
      case 3: return thickness();
      case 4: return voronoi();
      case 5: return dots();
      case 6: return nearest_values();
      case 7: return costmap();
      default: return sdf();
    }
  }

 private:
  static Array& add(std::vector<Array>& outputs, DType dtype, const Shape& shape) {
    poison(outputs.emplace_back(dtype, shape));
    return outputs.back();
  }
  static void keep(std::vector<Array>& outputs, const std::vector<std::int64_t>& numbers) {
    Array& array = add(outputs, DType::int64, {static_cast<std::int64_t>(numbers.size())});
    std::copy(numbers.begin(), numbers.end(), array.as<std::int64_t>().data());
  }
  double small() { return bytes_.below(4) ? bytes_.next() / 32.0 : bytes_.number(); }
  template <class Options>
  Options image_options() {
    Options options;
    options.batch_axes = bytes_.below(shape_.rank() + 1);
    const int kind = bytes_.below(4), axes = shape_.rank() - options.batch_axes;
    for (int k = 0, n = kind == 0 ? axes : kind == 1 ? 1 : 0; k < n; ++k) options.spacing.push_back(bytes_.number());
    return options;
  }

  Operation morphology() {
    auto options = image_options<apps::MorphologyOptions>();
    options.operation = static_cast<apps::MorphologyOperation>(bytes_.below(9));
    options.border = static_cast<apps::MorphologyBorder>(bytes_.below(3));
    options.labels = bytes_.below(3) == 0;
    options.size = options.border == apps::MorphologyBorder::pad ? bytes_.next() / 32.0 : small();
    return {"morphology", [options](const Array& input, const Execution& execution, std::vector<Array>& outputs) {
              apps::MorphologyOptions own = options;
              own.execution = execution;
              Array& out = add(outputs, own.labels ? input.dtype() : DType::uint8, input.shape());
              apps::morphology(input.view(), own, out.view());
            }};
  }

  apps::MedialAxisOptions axis_options() {
    auto options = image_options<apps::MedialAxisOptions>();
    options.pruning = static_cast<apps::Pruning>(bytes_.below(3));
    options.ties = static_cast<apps::Ties>(bytes_.below(2));
    options.gamma = small();
    return options;
  }

  Operation medial_axis() {
    const apps::MedialAxisOptions options = axis_options();
    return {"medial_axis", [options](const Array& input, const Execution& execution, std::vector<Array>& outputs) {
              apps::MedialAxisOptions own = options;
              own.execution = execution;
              outputs.reserve(4);
              const AnyView axis = add(outputs, DType::uint8, input.shape()).view();
              const AnyView distance = add(outputs, DType::float32, input.shape()).view();
              const AnyView nearest = add(outputs, DType::int32, input.shape()).view();
              const AnyView witness = add(outputs, DType::int64, input.shape()).view();
              apps::medial_axis(input.view(), own, {axis, distance, nearest, witness});
            }};
  }

  /// Of indices that may be none of the image's.
  Operation axis_of_nearest() {
    const apps::MedialAxisOptions options = axis_options();
    const bool balls = bytes_.below(2) == 0;
    return {"axis_of_nearest",
            [options, balls](const Array& input, const Execution& execution, std::vector<Array>& outputs) {
              Array& out = add(outputs, DType::uint8, input.shape());
              if (balls) {
                const apps::AxisBallsOptions of_balls{options.spacing, options.batch_axes, execution};
                apps::axis_balls(input.view(), input.view(), of_balls, out.view());
                return;
              }
              apps::MedialAxisOptions own = options;
              own.execution = execution;
              apps::medial_axis_of_nearest(input.view(), own, {out.view(), {}, {}, {}});
            },
            true};
  }

  Operation thickness() {
    auto options = image_options<apps::LocalThicknessOptions>();
    const int inlets = bytes_.below(3);
    const DType dtype = bytes_.choose({DType::float32, DType::float64});
    return {"local_thickness",
            [options, inlets, dtype](const Array& input, const Execution& execution, std::vector<Array>& outputs) {
              apps::LocalThicknessOptions own = options;
              own.execution = execution;
              own.from_faces = inlets == 1;
              if (inlets == 2) own.inlets = input.view();
              apps::local_thickness(input.view(), own, add(outputs, dtype, input.shape()).view());
            }};
  }

  Operation voronoi() {
    apps::VoronoiOptions options;
    const int axes = bytes_.below(3) ? 0 : shape_.rank();
    for (int k = 0; k < axes; ++k) options.spacing.push_back(bytes_.number());
    options.sites.rule = static_cast<grid::Sites::Rule>(bytes_.below(9));
    options.sites.value = bytes_.number();
    options.moments = bytes_.below(2) == 0;
    options.boundaries = bytes_.below(2) == 0;
    const bool weighted = bytes_.below(2) == 0;
    return {"voronoi",
            [options, weighted](const Array& input, const Execution& execution, std::vector<Array>& outputs) {
              apps::VoronoiOptions own = options;
              own.execution = execution;
              Array& regions = add(outputs, DType::int32, input.shape());
              const AnyConstView weights = weighted ? input.view() : AnyConstView();
              const apps::Voronoi found = apps::voronoi(input.view(), weights, own, regions.view());
              for (const auto* numbers : {&found.sites, &found.areas, &found.masses, &found.firsts, &found.seconds})
                keep(outputs, *numbers);
              std::vector<std::int64_t> edges;
              for (const apps::Boundary& one : found.boundaries)
                edges.insert(edges.end(), {one.first, one.second, std::bit_cast<std::int64_t>(one.length)});
              keep(outputs, edges);
            }};
  }

  /// Lloyd's iteration, and stipples.
  Operation dots() {
    apps::StippleOptions options;
    options.dots = bytes_.below(40);
    options.seed = bytes_.next();
    options.iterations = bytes_.below(4);
    options.tolerance = small();
    options.gamma = small();
    options.invert = bytes_.below(2) == 0;
    options.supersample = bytes_.below(4);
    const bool is_picture = bytes_.below(2) == 0, on_elements = bytes_.below(2) == 0;
    std::vector<double> places;
    for (std::int64_t k = 0; k < options.dots * shape_.rank(); ++k) {
      const double place = on_elements ? bytes_.below(20) : bytes_.next() / 16.0;
      places.push_back(bytes_.below(100) == 99 ? bytes_.number() : place);
    }
    const auto run = [=](const Array& input, const Execution& execution, std::vector<Array>& outputs) {
      if (is_picture) {
        apps::StippleOptions own = options;
        own.execution = execution;
        apps::Stipples found = apps::stipple(input.view(), own);
        outputs.push_back(std::move(found.positions));
        outputs.push_back(std::move(found.radii));
        return;
      }
      apps::LloydOptions own;
      own.iterations = options.iterations;
      own.tolerance = options.tolerance;
      own.seed = options.seed;
      own.on_elements = on_elements;
      own.supersample = on_elements ? 1 : options.supersample;
      own.execution = execution;
      Array& sites = add(outputs, DType::float64, {options.dots, input.shape().rank()});
      std::copy(places.begin(), places.end(), sites.as<double>().data());
      apps::lloyd(input.view(), HostView<double>(sites.as<double>().data(), sites.shape()), own);
    };
    return {is_picture ? "stipple" : "lloyd", run, true};
  }

  Operation nearest_values() {
    auto options = image_options<grid::DistanceOptions>();
    options.sites.rule = static_cast<grid::Sites::Rule>(bytes_.below(9));
    options.sites.value = bytes_.number();
    options.metric = static_cast<grid::Metric>(bytes_.below(3));
    if (bytes_.below(2)) options.border = {static_cast<grid::Border>(bytes_.below(3))};
    if (bytes_.below(2)) options.max_distance = small();
    const bool directed = bytes_.below(2) == 0;
    return {"nearest_values",
            [options, directed](const Array& input, const Execution& execution, std::vector<Array>& outputs) {
              grid::DistanceOptions own = options;
              own.execution = execution;
              outputs.reserve(3);
              apps::NearestValueOutputs to;
              to.value = add(outputs, input.dtype(), input.shape()).view();
              to.distance = add(outputs, DType::float32, input.shape()).view();
              if (directed) to.direction = add(outputs, DType::float32, input.shape()).view();
              apps::nearest_values(input.view(), own, to);
            }};
  }

  Operation costmap() {
    apps::CostmapOptions options;
    options.batch_axes = bytes_.below(shape_.rank() + 1);
    options.occupied = {static_cast<grid::Sites::Rule>(bytes_.below(9)), bytes_.number()};
    const grid::Sites unknown{static_cast<grid::Sites::Rule>(bytes_.below(9)), bytes_.number()};
    if (bytes_.below(2)) options.unknown = unknown;
    options.resolution = bytes_.number();
    options.inscribed = small();
    options.inflation = small();
    options.scaling = small();
    return {"costmap", [options](const Array& input, const Execution& execution, std::vector<Array>& outputs) {
              apps::CostmapOptions own = options;
              own.execution = execution;
              outputs.reserve(2);
              const AnyView cost = add(outputs, DType::uint8, input.shape()).view();
              apps::costmap(input.view(), own, {cost, add(outputs, DType::int64, input.shape()).view()});
            }};
  }

  Operation sdf() {
    apps::SdfOptions options;
    options.batch_axes = std::max(shape_.rank() - 2, 0);
    options.range = small();
    options.pad = small();
    options.invert = bytes_.below(2) == 0;
    Shape size;
    for (int k = 0; k < options.batch_axes; ++k) size.push_back(shape_[k]);
    for (int k = 0; k < 2; ++k) size.push_back(bytes_.below(30));
    const DType dtype = bytes_.choose({DType::uint8, DType::uint16, DType::float32, DType::float64});
    return {"sdf",
            [options, size, dtype](const Array& input, const Execution& execution, std::vector<Array>& outputs) {
              apps::SdfOptions own = options;
              own.execution = execution;
              apps::sdf(input.view(), own, add(outputs, dtype, size).view());
            },
            true};
  }

  Bytes& bytes_;
  Shape shape_;
};

}  // namespace fathom::test
