#include "fathom/apps/morphology.h"

#include "apps.h"

namespace nb = nanobind;

namespace fathom::python {

namespace {

template <class A>
void morphology(const A& x, int rank, const Common& common, int operation, double size, int border, bool labels,
                const A& out, nb::object progress) {
  const Images<A, 2> images({x.raw(), out.raw()}, rank);
  apps::MorphologyOptions options;
  common.set(options, images);
  options.operation = static_cast<apps::MorphologyOperation>(operation);
  options.size = size;
  options.border = static_cast<apps::MorphologyBorder>(border);
  options.labels = labels;
  auto result = images[1];
  if (labels) result = {result.data(), images[0].dtype(), result.shape(), result.strides()};  // bool stays bool
  run(x, options.execution, std::move(progress),
      [&](auto... stream) { apps::morphology(images[0], options, result, stream...); });
}

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
  m.attr("MORPHOLOGY_BORDERS") =
      numbers<Border>({{"ignore", Border::ignore}, {"pad", Border::pad}, {"background", Border::background}});
  for_each_kind([&]<class A>(Kind<A>) {
    m.def("morphology", &morphology<A>, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
          nb::arg(), nb::arg().none());
  });
}

}  // namespace fathom::python
