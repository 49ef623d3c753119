// Offsets to nearest sites, by every engine: of batches, in parts, over periodic borders.
#include <vector>

#include "cuda_case.h"

namespace fathom::test {
namespace {

TEST_F(Cuda, Offsets) {
  Random random(2100000);
  for (const Shape& shape : {Shape{33}, Shape{20, 31}, Shape{200, 130}, Shape{21, 33, 40}, Shape{3, 4, 5, 6}})
    for (int i = 0; i < scaled(20) + 4; ++i) {
      Case c{.structure = Structure::sparse};
      c.input = mask_array(scatter(shape, pick<double>(random, {0.3, 0.02, 1e-3, 0.0}), random), shape);
      if (i % 4 == 1) c.options.border = {grid::Border::periodic};
      if (i % 4 == 2) c.options.batch_axes = shape.rank() > 1;
      if (i % 4 == 3) c.options.sites.rule = grid::Sites::Rule::labels;
      if (chance(random, 0.3)) c.options.spacing = {0.7};
      if (chance(random, 0.2)) c.options.max_distance = 6;
      if (chance(random, 0.2)) c.wanted.distance = DType::float32;
      if (chance(random, 0.2)) c.wanted.coordinates = DType::int64;
      c.wanted.offset = pick<DType>(random, {DType::float32, DType::float64});
      check_against_cpu(c);
      if (HasFatalFailure()) return;
    }
}

TEST_F(Cuda, OffsetsInParts) {
  Random random(2200000);
  for (const Shape& shape : {Shape{300, 200}, Shape{40, 33, 70}}) {
    Case c{.structure = Structure::sparse};
    c.input = mask_array(scatter(shape, 0.01, random), shape);
    c.wanted = {.nearest = DType::int32, .offset = DType::float32};
    check_budgets(c);
    c.options = {.border = {grid::Border::periodic}, .batch_axes = shape.rank() > 2};
    c.wanted = {.coordinates = DType::int64, .offset = DType::float64};
    check_budgets(c);
  }
}

}  // namespace
}  // namespace fathom::test
