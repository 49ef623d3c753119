// Pictures of random scenes, for the tests of ray marching.
#pragma once

#include <array>
#include <cstdint>

#include "cases.h"
#include "fathom/apps/ray_march.h"
#include "run.h"

namespace fathom::test {

struct Picture {
  Array shade, voxel, depth, samples;
  apps::RayMarchReport report;

  explicit Picture(const Shape& shape);
  apps::RayMarchOutputs views() { return {shade.view(), voxel.view(), depth.view(), samples.view()}; }
};

Picture render(const apps::RayMarcher& marcher, const apps::RayMarchOptions& options, const Shape& shape);

/// What is drawn is the same; samples may differ.
testing::AssertionResult same(const Picture& a, const Picture& b);

/// Options of a marcher that lives there.
apps::RayMarcherOptions marcher_on(Backend backend);

struct Scene {
  Array volume;
  apps::RayMarcherOptions marcher = marcher_on(Backend::cpu);
  apps::RayMarchOptions march;
  Shape picture;
};

/// Few voxels, many, blobs, sheets one voxel thick, diagonals: whatever there is to slip through.
Scene random_scene(std::uint64_t seed);

}  // namespace fathom::test
