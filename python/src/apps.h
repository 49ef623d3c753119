// What the bindings of the operations of fathom::apps share. An operation is a template over the kind of array
// (operation.h). It makes Images of the arrays of its call, and runs:
//
//   template <class A>
//   void example(const A& x, int rank, const Common& common, const A& out, nanobind::object progress) {
//     const Images<A, 2> images({x.raw(), out.raw()}, rank);
//     apps::ExampleOptions options;
//     common.set(options, images);
//     run(x, options.execution, std::move(progress),
//         [&](auto... stream) { apps::example(images[0], options, images[1], stream...); });
//   }
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "arrays.h"
#include "fathom/core/execution.h"
#include "operation.h"

namespace fathom::python {

/// Views of arrays with as many images each, whose shapes may differ, and of which some may be None.
/// @tparam A  the kind of array
template <class A, std::size_t N>
class Images {
 public:
  /// @param raw   the first is given
  /// @param rank  trailing axes, those of space
  /// @throws InvalidArgument more axes than the library has
  Images(std::array<RawArray, N> raw, int rank) {
    std::array<RawArray*, N> all;
    for (std::size_t k = 0; k < N; ++k) {
      if (raw[k].given && k > 0 && raw[k].dtype == DType::boolean) raw[k].dtype = DType::uint8;
      all[k] = &raw[k];
    }
    const Layout layout = merge_leading(all, {raw[0].rank - rank, rank});
    batch_axes_ = layout.leading;
    for (std::size_t k = 0; k < N; ++k)
      views_[k] = view_of<std::byte, A::kSpace>(raw[k], {layout.leading, raw[k].rank - layout.leading});
  }

  /// What is None is absent. Results that are bool in Python are bytes here, of 0 and 1.
  const BasicAnyView<std::byte, A::kSpace>& operator[](std::size_t k) const { return views_[k]; }
  int batch_axes() const { return batch_axes_; }

 private:
  std::array<BasicAnyView<std::byte, A::kSpace>, N> views_;
  int batch_axes_ = 0;
};

/// The options that all operations take.
struct Common {
  std::vector<double> spacing;
  Execution execution;

  template <class Options, class A, std::size_t N>
  void set(Options& options, const Images<A, N>& images) const {
    options.spacing = spacing;
    options.batch_axes = images.batch_axes();
    options.execution = execution;
  }
};

void add_direction(nanobind::module_& m);
void add_morphology(nanobind::module_& m);
void add_local_thickness(nanobind::module_& m);
void add_medial_axis(nanobind::module_& m);

/// The published algorithms.
void add_published(nanobind::module_& m);
void add_published_band(nanobind::module_& m);
void add_published_tiles(nanobind::module_& m);
void add_map_reduce(nanobind::module_& m);

/// Adds Common and the operations.
void add_apps(nanobind::module_& m);

}  // namespace fathom::python
