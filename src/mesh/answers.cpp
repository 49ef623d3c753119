#include "mesh/answers.h"

#include <cmath>
#include <string>
#include <vector>

#include "fathom/core/error.h"

namespace fathom::mesh {

namespace {

struct Wanted {
  const AnyView* view;
  const char* name;
  std::vector<DType> dtypes;
  bool vectors;
};

std::vector<Wanted> wanted_of(const Outputs& outputs) {
  const std::vector<DType> real{DType::float32, DType::float64}, whole{DType::int32, DType::int64}, byte{DType::uint8};
  return {{&outputs.distance, "distance", real, false},   {&outputs.triangle, "triangle", whole, false},
          {&outputs.closest, "closest", real, true},      {&outputs.barycentric, "barycentric", real, true},
          {&outputs.feature, "feature", byte, false},     {&outputs.gradient, "gradient", real, true},
          {&outputs.inside, "inside", byte, false}};
}

void check_output(const Wanted& wanted, const Shape& questions) {
  const std::string title = std::string("the output '") + wanted.name + "'";
  bool fits = false;
  std::string names;
  for (const DType dtype : wanted.dtypes) {
    fits |= wanted.view->dtype() == dtype;
    names += (names.empty() ? "" : " or ") + std::string(name_of(dtype));
  }
  if (!fits) throw InvalidArgument(title + " is " + std::string(name_of(wanted.view->dtype())) + "; it must be " + names);
  Shape shape = questions;
  if (wanted.vectors) shape.push_back(3);
  if (!(wanted.view->shape() == shape))
    throw InvalidArgument(title + " has the shape " + to_string(wanted.view->shape()) + "; it must have " + to_string(shape));
}

std::int64_t offset_of(const AnyView& view, std::initializer_list<std::int64_t> index) {
  std::int64_t offset = 0;
  int axis = 0;
  for (const std::int64_t i : index) offset += i * view.strides()[axis++];
  return offset;
}

void store(const AnyView& view, std::int64_t offset, double value) {
  if (view.dtype() == DType::float32) reinterpret_cast<float*>(view.data())[offset] = static_cast<float>(value);
  else reinterpret_cast<double*>(view.data())[offset] = value;
}
void store(const AnyView& view, std::int64_t offset, Vec3 value) {
  store(view, offset, value.x);
  store(view, offset + 1, value.y);
  store(view, offset + 2, value.z);
}

/// Corners as they are, the rest of edges from their ends, and of faces from the point.
Vec3 closest_of(const Triangle& triangle, const Nearest& nearest, Vec3 point) {
  switch (nearest.part) {
    case Part::a: return triangle.a;
    case Part::b: return triangle.b;
    case Part::c: return triangle.c;
    case Part::ab: return triangle.a + nearest.weights[1] * (triangle.b - triangle.a);
    case Part::ac: return triangle.a + nearest.weights[2] * (triangle.c - triangle.a);
    case Part::bc: return triangle.b + nearest.weights[2] * (triangle.c - triangle.b);
    default: return point + nearest.way;
  }
}

Feature feature_of(Part part) {
  return part == Part::face ? Feature::face : part <= Part::bc ? Feature::edge : Feature::vertex;
}

Vec3 unit(Vec3 way) {
  const double length = std::sqrt(dot(way, way));
  return length > 0 ? (1 / length) * way : Vec3();
}

}  // namespace

void check_outputs(const Outputs& outputs, const Shape& questions) {
  bool any = false;
  for (const Wanted& wanted : wanted_of(outputs)) {
    if (!wanted.view->present()) continue;
    any = true;
    check_output(wanted, questions);
  }
  if (!any) throw InvalidArgument("no output was given; give distance, triangle, closest, barycentric, feature, gradient or inside");
}

Vec3 closest_at(const PreparedMesh& set, std::int64_t place, Vec3 point) {
  const Triangle triangle = set.tree.triangle(place);
  return closest_of(triangle, nearest_of(triangle, point), point);
}

Answers::Answers(const PreparedMesh& set, const Outputs& outputs)
    : set_(set),
      outputs_(outputs),
      details_(outputs.closest.present() || outputs.barycentric.present() || outputs.feature.present() ||
               outputs.gradient.present()) {}

void Answers::put(std::initializer_list<std::int64_t> index, Vec3 point, std::int64_t place, double squared, bool inside) const {
  double distance = std::sqrt(squared);
  if (outputs_.distance.dtype() == DType::float32) distance = static_cast<float>(distance);  // what gets 0 has no sign
  if (outputs_.distance.present())
    store(outputs_.distance, offset_of(outputs_.distance, index), inside && distance > 0 ? -distance : distance);
  if (outputs_.triangle.present()) {
    const std::int64_t offset = offset_of(outputs_.triangle, index);
    if (outputs_.triangle.dtype() == DType::int32) reinterpret_cast<std::int32_t*>(outputs_.triangle.data())[offset] = set_.id_at(place);
    else reinterpret_cast<std::int64_t*>(outputs_.triangle.data())[offset] = set_.id_at(place);
  }
  if (outputs_.inside.present())
    reinterpret_cast<std::uint8_t*>(outputs_.inside.data())[offset_of(outputs_.inside, index)] = inside || squared == 0;
  if (details_) put_details(index, point, place, inside);
}

void Answers::put_details(std::initializer_list<std::int64_t> index, Vec3 point, std::int64_t place, bool inside) const {
  const Triangle triangle = set_.tree.triangle(place);
  const Nearest nearest = nearest_of(triangle, point);
  const Outputs& out = outputs_;
  if (out.closest.present()) store(out.closest, offset_of(out.closest, index), closest_of(triangle, nearest, point));
  if (out.barycentric.present()) {
    const std::array<int, 3> order = ascending(set_.surface.corners[static_cast<std::size_t>(set_.id_at(place))]);
    const std::int64_t offset = offset_of(out.barycentric, index);
    for (std::size_t k = 0; k < 3; ++k) store(out.barycentric, offset + order[k], nearest.weights[k]);
  }
  if (out.feature.present())
    reinterpret_cast<std::uint8_t*>(out.feature.data())[offset_of(out.feature, index)] =
        static_cast<std::uint8_t>(feature_of(nearest.part));
  if (out.gradient.present()) {
    const Vec3 away = nearest.squared > 0 ? unit((inside ? 1 : -1) * nearest.way) : set_.face_normal_at(place);
    store(out.gradient, offset_of(out.gradient, index), away);
  }
}

}  // namespace fathom::mesh
