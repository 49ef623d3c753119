#include "transform.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <variant>
#include <vector>

#include "fathom/core/error.h"
#include "fathom/grid/distance.h"
#include "gather.h"
#include "operation.h"

namespace fathom::python {

namespace nb = nanobind;

namespace {

using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;
/// A number of Python; integers of up to 64 bits whole.
using Number = std::variant<std::int64_t, std::uint64_t, double>;

/// What a call computes, apart from the arrays: filled once by the package, checked by the library when it is used.
grid::DistanceOptions make_options(int sites, Number value, int metric, std::vector<double> spacing,
                                   const std::vector<int>& border, double max_distance, bool is_signed, int surface,
                                   const Ranges& region, int backend, int threads) {
  grid::DistanceOptions options;
  options.sites.rule = static_cast<grid::Sites::Rule>(sites);
  options.sites.value = std::visit([](auto number) { return grid::Sites::Value(number); }, value);
  options.metric = static_cast<grid::Metric>(metric);
  options.spacing = std::move(spacing);
  for (const int b : border) options.border.push_back(static_cast<grid::Border>(b));
  options.max_distance = max_distance;
  options.signed_distance = is_signed;
  options.surface = static_cast<grid::Surface>(surface);
  for (const auto& [begin, end] : region) options.region.push_back({begin, end});
  options.execution.backend = static_cast<Backend>(backend);
  options.execution.threads = threads;
  return options;
}

constexpr std::size_t kOutputs = sizeof(grid::PerOutput<char>);

/// @param rank   how many trailing axes an image has, 0 to the input's rank
/// @param given  all outputs in their order, null where one is not wanted; components lie along an axis before those of
///               space
template <class A>
void transform(const A& x, int rank, const grid::DistanceOptions& options, nb::object progress,
               std::initializer_list<const A*> given) {
  std::array<RawArray, 1 + kOutputs> arrays;  // the input's first
  std::array<RawArray*, 1 + kOutputs> all;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const A* const array = k == 0 ? &x : given.begin()[k - 1];
    if (array) arrays[k] = array->raw();
    all[k] = &arrays[k];
  }
  const Layout layout = merge_leading(all, {arrays[0].rank - rank, rank});
  const auto input = view_of<const std::byte, A::kSpace>(arrays[0], layout);
  grid::BasicDistanceOutputs<A::kSpace> outputs;
  std::size_t next = 1;
  grid::for_each_output(
      [&](const grid::OutputKind&, auto& view) { view = view_of<std::byte, A::kSpace>(arrays[next++], layout); },
      outputs);
  grid::DistanceOptions own = options;
  own.batch_axes = layout.leading;
  run(x, own.execution, std::move(progress),
      [&](auto... stream) { grid::distance_transform(input, own, outputs, stream...); });
}

nb::list output_names() {
  nb::list names;
  grid::PerOutput<char> each;
  grid::for_each_output([&](const grid::OutputKind& kind, char) { names.append(nb::str(kind.name.data())); }, each);
  return names;
}

template <class A, std::size_t>
using Optional = const A*;

/// With an argument for each output, last, in their order; those that are left out are not wanted.
template <class A, std::size_t... kEach>
void define_transform(nb::module_& m, std::index_sequence<kEach...>) {
  m.def(
      "transform",
      [](const A& x, int rank, const grid::DistanceOptions& options, nb::object progress,
         Optional<A, kEach>... outputs) { transform<A>(x, rank, options, std::move(progress), {outputs...}); },
      nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), (static_cast<void>(kEach), nb::arg().none() = nb::none())...);
}

template <class Index>
void gather_images(const HostArray& values, const HostArray& nearest, const HostArray& out, std::size_t element_size,
                   std::size_t image_size) {
  const auto* indices = reinterpret_cast<const Index*>(nearest.data());
  const std::size_t elements = nearest.bytes() / sizeof(Index);
  if (values.bytes() != elements * element_size || out.bytes() != values.bytes())
    throw InvalidArgument("the arrays differ in size");
  constexpr std::size_t kPiece = 1 << 18;  // between two looks whether to go on
  Execution watch;
  run_watched(nb::none(), watch, [&] {
    for (std::size_t image = 0; image < elements; image += image_size)
      for (std::size_t first = 0; first < image_size; first += kPiece) {
        python::gather({values.data() + image * element_size, out.data() + image * element_size, element_size}, first,
                       std::span(indices + image + first, std::min(kPiece, image_size - first)));
        watch.progress(0);
        if (watch.stop.stop_requested()) throw Cancelled();
      }
  });
}

/// @param values, out  dense bytes
/// @param nearest      dense, int32 or int64
/// @param image_size   elements of one image; all arrays hold the same whole number of images
void gather_arrays(const HostArray& values, std::size_t element_size, const HostArray& nearest, std::size_t image_size,
                   const HostArray& out) {
  if (nearest.raw().dtype == DType::int32) gather_images<std::int32_t>(values, nearest, out, element_size, image_size);
  else gather_images<std::int64_t>(values, nearest, out, element_size, image_size);
}

}  // namespace

void add_transform(nb::module_& m) {
  nb::class_<grid::DistanceOptions>(m, "Options").def(nb::new_(&make_options));
  m.attr("OUTPUTS") = nb::tuple(output_names());
  for_each_kind([&]<class A>(Kind<A>) { define_transform<A>(m, std::make_index_sequence<kOutputs>()); });
  m.def("gather", &gather_arrays);
}

}  // namespace fathom::python
