// What the bindings of the operations of fathom::apps share. An operation gets the arrays of its call as HostArray,
// makes Images of them, and runs with run_watched() of watch.h:
//
//   const HostArray arrays[] = {{x, read}, {out, write}};
//   const Images images(arrays, rank);
//   apps::ExampleOptions options;
//   common.set(options, images);
//   run_watched(std::move(progress), options.execution, [&] { apps::example(images[0], options, images[1]); });
//
// Its twin for arrays on devices, where there is one, is called example_on_device and gets them as DeviceArray:
//
//   const DeviceImages<2> images({x.raw(), raw(out)}, rank);
//   …
//   const nanobind::gil_scoped_release unlocked;
//   apps::example(images[0], options, images[1], stream_at(stream));
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "arrays.h"
#include "fathom/core/execution.h"
#include "host_array.h"

namespace fathom::python {

/// Views of arrays with as many images each, whose shapes may differ, and of which some may be None.
template <std::size_t N, MemorySpace Space = MemorySpace::host>
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
      views_[k] = view_of<std::byte, Space>(raw[k], {layout.leading, raw[k].rank - layout.leading});
  }
  Images(const HostArray (&arrays)[N], int rank) : Images(raw_of(arrays), rank) {}

  /// What is None is absent. Results that are bool in Python are bytes here, of 0 and 1.
  const BasicAnyView<std::byte, Space>& operator[](std::size_t k) const { return views_[k]; }
  int batch_axes() const { return batch_axes_; }

 private:
  static std::array<RawArray, N> raw_of(const HostArray (&arrays)[N]) {
    std::array<RawArray, N> raw;
    for (std::size_t k = 0; k < N; ++k) raw[k] = arrays[k].raw();
    return raw;
  }

  std::array<BasicAnyView<std::byte, Space>, N> views_;
  int batch_axes_ = 0;
};
template <std::size_t N>
using DeviceImages = Images<N, MemorySpace::device>;

/// The options that all operations take.
struct Common {
  std::vector<double> spacing;
  Execution execution;

  template <class Options, std::size_t N, MemorySpace Space>
  void set(Options& options, const Images<N, Space>& images) const {
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
