#include "transform.h"

namespace fathom::python {

namespace {

template <MemorySpace Space>
struct Views {
  BasicAnyView<const std::byte, Space> input;
  grid::BasicDistanceOutputs<Space> outputs;
  int batch_axes = 0;
};

template <MemorySpace Space>
Views<Space> views_of(Arrays& arrays, int space_rank) {
  RawArray* const all[] = {&arrays.input, &arrays.distance, &arrays.squared, &arrays.nearest, &arrays.coordinates};
  const Layout layout = merge_leading(all, {arrays.input.rank - space_rank, space_rank});
  return {view_of<const std::byte, Space>(arrays.input, layout),
          {view_of<std::byte, Space>(arrays.distance, layout), view_of<std::byte, Space>(arrays.squared, layout),
           view_of<std::byte, Space>(arrays.nearest, layout), view_of<std::byte, Space>(arrays.coordinates, layout)},
          layout.leading};
}

}  // namespace

void transform(Arrays& arrays, int space_rank, grid::DistanceOptions options) {
  const auto views = views_of<MemorySpace::host>(arrays, space_rank);
  options.batch_axes = views.batch_axes;
  grid::distance_transform(views.input, options, views.outputs);
}

void transform_on_device(Arrays& arrays, int space_rank, const grid::DistanceOptions& options, Stream stream) {
  const auto views = views_of<MemorySpace::device>(arrays, space_rank);
  grid::DistanceOptions own = options;
  own.batch_axes = views.batch_axes;
  grid::distance_transform(views.input, own, views.outputs, stream);
}

}  // namespace fathom::python
