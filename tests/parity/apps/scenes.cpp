#include "apps/scenes.h"

namespace fathom::test {

using namespace apps;

Picture::Picture(const Shape& shape)
    : shade(DType::uint8, shape),
      voxel(DType::int64, shape),
      depth(DType::float32, shape),
      samples(DType::int32, shape) {
  for (Array* array : {&shade, &voxel, &depth, &samples}) poison(*array);
}

Picture render(const RayMarcher& marcher, const RayMarchOptions& options, const Shape& shape) {
  Picture picture(shape);
  picture.report = marcher.render(options, picture.views());
  return picture;
}

testing::AssertionResult same(const Picture& a, const Picture& b) {
  for (auto member : {&Picture::shade, &Picture::voxel, &Picture::depth})
    if (const auto result = equal(a.*member, b.*member); !result) return result;
  return testing::AssertionSuccess();
}

RayMarcherOptions marcher_on(Backend backend) {
  RayMarcherOptions options;
  options.execution.backend = backend;
  return options;
}

namespace {

std::array<double, 3> random_vector(Random& random) {
  std::array<double, 3> vector;
  for (double& x : vector) x = static_cast<double>(below(random, 2001) - 1000);
  if (chance(random, 0.2)) vector = {0, 0, 1};
  return vector;
}

}  // namespace

Scene random_scene(std::uint64_t seed) {
  Random random(seed);
  Scene scene;
  const auto extent = [&] { return 1 + below(random, chance(random, 0.2) ? 3 : 40); };
  const Shape shape{extent(), extent(), extent() + (chance(random, 0.2) ? 60 : 0)};
  const auto structure = static_cast<Structure>(below(random, kStructures));
  scene.volume = mask_array(make_sites(structure, shape, random), shape, DType::uint8, false);
  if (chance(random, 0.5)) scene.marcher.spacing = {0.5 + 0.1 * static_cast<double>(below(random, 30)), 1, 0.7};
  Camera& camera = scene.march.camera;
  do {
    camera.toward_eye = random_vector(random);
    camera.up = random_vector(random);
  } while (camera.toward_eye == camera.up || camera.toward_eye == std::array<double, 3>{} ||
           camera.up == std::array<double, 3>{});
  if (chance(random, 0.5)) camera.projection = Projection::orthographic;
  camera.field_of_view = 0.1 + 0.1 * static_cast<double>(below(random, 20));
  camera.zoom = chance(random, 0.5) ? 1 : 3.5;
  scene.picture = {1 + below(random, 60), 1 + below(random, 60)};
  return scene;
}

}  // namespace fathom::test
