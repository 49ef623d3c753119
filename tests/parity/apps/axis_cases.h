// Random images for the medial axis and for local thickness: small, with every way to ask.
#pragma once

#include <cstdint>

#include "cases.h"
#include "fathom/apps/local_thickness.h"
#include "fathom/apps/medial_axis.h"
#include "fathom/core/array.h"
#include "run.h"

namespace fathom::test {

struct AxisProblem {
  Array mask;
  apps::MedialAxisOptions options;
};

inline AxisProblem axis_problem(std::uint64_t seed) {
  using apps::Pruning;
  Random random(seed);
  Shape shape;
  const auto axes = 1 + below(random, 3);
  const std::int64_t most[] = {90, 24, 9};
  for (std::int64_t k = 0; k < axes; ++k) shape.push_back(1 + below(random, most[axes - 1]));
  const auto structure = static_cast<Structure>(below(random, kStructures));
  const DType dtype = pick<DType>(random, {DType::uint8, DType::boolean, DType::float32, DType::int64});
  AxisProblem p{.mask = mask_array(make_sites(structure, shape, random), shape, dtype)};
  if (chance(random, .3)) p.mask = mask_array(scatter(shape, .03, random), shape, dtype);
  if (chance(random, .3))
    for (std::int64_t k = 0; k < axes; ++k) p.options.spacing.push_back(pick<double>(random, {1, .5, .7, 2, 1.3}));
  if (chance(random, .2)) p.options.spacing = {.5};
  p.options.pruning = pick<Pruning>(random, {Pruning::constant, Pruning::linear, Pruning::square_root});
  p.options.gamma = pick<double>(random, {0, 1, .3, 1.7, 3});
  p.options.ties = chance(random, .5) ? apps::Ties::both : apps::Ties::thin;
  p.options.execution.threads = static_cast<int>(1 + below(random, 3));
  p.options.execution.instruction_set = pick(random, instruction_sets());
  return p;
}

struct ThicknessProblem {
  Array mask, inlets;
  apps::LocalThicknessOptions options;
};

/// Up to 3 axes of a few elements, some wide enough for several words of bits.
inline ThicknessProblem thickness_problem(std::uint64_t seed) {
  Random random(seed);
  Shape shape;
  const auto axes = 1 + below(random, 3);
  const std::int64_t most[] = {90, 20, 8};
  for (std::int64_t k = 0; k < axes; ++k) shape.push_back(1 + below(random, most[axes - 1]));
  if (chance(random, .2))
    shape[static_cast<int>(below(random, std::min<std::int64_t>(axes, 2)))] = 1 + below(random, 70);
  const auto structure = static_cast<Structure>(below(random, kStructures));
  const DType dtype = pick<DType>(random, {DType::uint8, DType::boolean, DType::float32, DType::int64});
  ThicknessProblem p{.mask = mask_array(make_sites(structure, shape, random), shape, dtype)};
  if (chance(random, .3)) p.mask = mask_array(scatter(shape, .02, random), shape, dtype);
  if (chance(random, .4))
    for (std::int64_t k = 0; k < axes; ++k) p.options.spacing.push_back(pick<double>(random, {1, .5, .7, 2, 1.3}));
  if (chance(random, .2)) p.options.spacing = {.7};
  p.options.execution.threads = static_cast<int>(1 + below(random, 3));
  p.options.execution.instruction_set = pick(random, instruction_sets());
  p.options.from_faces = chance(random, .15);
  if (!p.options.from_faces && chance(random, .3)) {
    p.inlets = mask_array(scatter(shape, .1, random), shape, DType::uint8, false);
    p.options.inlets = p.inlets.view();
  }
  return p;
}

}  // namespace fathom::test
