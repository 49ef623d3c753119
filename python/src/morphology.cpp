#include "fathom/apps/morphology.h"

#include "apps.h"
#include "watch.h"

#ifdef FATHOM_PYTHON_CUDA
#include "cuda/device_array.h"
#endif

namespace nb = nanobind;

namespace fathom::python {

namespace {

/// What is done with the images, and the view of the result: bool stays bool among labels.
template <MemorySpace Space>
struct Call {
  apps::MorphologyOptions options;
  BasicAnyView<std::byte, Space> out;

  Call(const Images<2, Space>& images, const Common& common, int operation, double size, int border, bool labels)
      : out(images[1]) {
    common.set(options, images);
    options.operation = static_cast<apps::MorphologyOperation>(operation);
    options.size = size;
    options.border = static_cast<apps::MorphologyBorder>(border);
    options.labels = labels;
    if (labels) out = {out.data(), images[0].dtype(), out.shape(), out.strides()};
  }
};

void morphology(nb::handle x, int rank, const Common& common, int operation, double size, int border, bool labels,
                nb::handle out, nb::object progress) {
  const HostArray arrays[] = {{x, HostArray::Access::read}, {out, HostArray::Access::write}};
  const Images images(arrays, rank);
  Call call(images, common, operation, size, border, labels);
  run_watched(std::move(progress), call.options.execution,
              [&] { apps::morphology(images[0], call.options, call.out); });
}

#ifdef FATHOM_PYTHON_CUDA
void morphology_on_device(const DeviceArray& x, int rank, const Common& common, int operation, double size, int border,
                          bool labels, const DeviceArray& out, std::uintptr_t stream) {
  const DeviceImages<2> images({x.raw(), out.raw()}, rank);
  const Call call(images, common, operation, size, border, labels);
  const nb::gil_scoped_release unlocked;
  apps::morphology(images[0], call.options, call.out, stream_at(stream));
}
#endif

template <class Enum>
nb::dict numbers(std::initializer_list<std::pair<const char*, Enum>> entries) {
  nb::dict result;
  for (const auto& [name, value] : entries) result[name] = static_cast<int>(value);
  return result;
}

}  // namespace

void add_morphology(nb::module_& m) {
  using Operation = apps::MorphologyOperation;
  using Border = apps::MorphologyBorder;
  m.attr("MORPHOLOGY") = numbers<Operation>({{"erosion", Operation::erosion},
                                             {"dilation", Operation::dilation},
                                             {"opening", Operation::opening},
                                             {"closing", Operation::closing},
                                             {"gradient", Operation::gradient},
                                             {"white_top_hat", Operation::white_top_hat},
                                             {"black_top_hat", Operation::black_top_hat},
                                             {"remove_thin", Operation::remove_thin},
                                             {"fill_thin", Operation::fill_thin}});
  m.attr("MORPHOLOGY_BORDERS") = numbers<Border>(
      {{"ignore", Border::ignore}, {"pad", Border::pad}, {"background", Border::background}});
  m.def("morphology", &morphology, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg().none());
#ifdef FATHOM_PYTHON_CUDA
  m.def("morphology_on_device", &morphology_on_device);
#endif
}

}  // namespace fathom::python
