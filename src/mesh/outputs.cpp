#include "mesh/outputs.h"

#include <initializer_list>
#include <string>

#include "fathom/core/error.h"

namespace fathom::mesh {

namespace {

template <MemorySpace Space>
Place place_of(const BasicAnyView<std::byte, Space>& view, const char* name, std::initializer_list<DType> dtypes,
               const Shape& shape, int questions) {
  if (!view.present()) return {};
  const std::string title = std::string("the output '") + name + "'";
  bool fits = false;
  std::string names;
  for (const DType dtype : dtypes) {
    fits |= view.dtype() == dtype;
    names += (names.empty() ? "" : " or ") + std::string(name_of(dtype));
  }
  if (!fits) throw InvalidArgument(title + " is " + std::string(name_of(view.dtype())) + "; it must be " + names);
  if (!(view.shape() == shape))
    throw InvalidArgument(title + " has the shape " + to_string(view.shape()) + "; it must have " + to_string(shape));
  Place place{view.data(), view.dtype(), {}};
  for (int axis = 0; axis < questions; ++axis) place.step[axis] = view.strides()[axis];
  return place;
}

}  // namespace

template <MemorySpace Space>
Places places_of(const BasicOutputs<Space>& outputs, const Shape& questions) {
  Shape vectors = questions;
  vectors.push_back(3);
  bool any = false;
  const auto real = [&](const auto& view, const char* name, const Shape& shape) {
    any |= view.present();
    return place_of(view, name, {DType::float32, DType::float64}, shape, questions.rank());
  };
  const auto whole = [&](const auto& view, const char* name, std::initializer_list<DType> dtypes) {
    any |= view.present();
    return place_of(view, name, dtypes, questions, questions.rank());
  };
  const Places places{real(outputs.distance, "distance", questions),
                      whole(outputs.triangle, "triangle", {DType::int32, DType::int64}),
                      real(outputs.closest, "closest", vectors),
                      real(outputs.barycentric, "barycentric", vectors),
                      whole(outputs.feature, "feature", {DType::uint8}),
                      real(outputs.gradient, "gradient", vectors),
                      whole(outputs.inside, "inside", {DType::uint8})};
  if (!any)
    throw InvalidArgument(
        "no output was given; give distance, triangle, closest, barycentric, feature, gradient or inside");
  return places;
}

template Places places_of(const Outputs& outputs, const Shape& questions);
template Places places_of(const DeviceOutputs& outputs, const Shape& questions);

}  // namespace fathom::mesh
