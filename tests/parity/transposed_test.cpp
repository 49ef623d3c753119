// Volumes on a device whose rows of distances begin inside sectors of memory: the engine that solves them transposed, by
// itself, since the call takes it for large ones alone; and one that the call takes it for.
#include "device_case.h"
#include "grid/batch.h"
#include "grid/cuda/engine.h"
#include "grid/problem.h"

namespace fathom::test {
namespace {

/// The engine on a case whose arrays are on the device. Scratch is poisoned.
class Transposed {
 public:
  explicit Transposed(const Case& c)
      : device_(c),
        items_(grid::split_batch({device_.input.data(), c.input.dtype(), c.input.shape()}, c.options, outputs())),
        problem_(grid::make_problem(items_.input, c.options, items_.outputs)),
        engine_(grid::cuda::make_transposed_volume_engine(problem_)) {}

  bool serves() const { return engine_ != nullptr; }

  const Results& run() {
    const std::int64_t count = items_.batch.count();
    const Block words(engine_->words_bytes(count)), scratch(engine_->scratch_bytes(problem_, count));
    const auto input = grid::cuda::Input::of(problem_, items_.batch);
    engine_->pack({.input = input, .items = count}, count, words.data(), nullptr);
    engine_->solve(problem_, items_.batch, 0, count, words.data(), scratch.data(), nullptr);
    must(cudaDeviceSynchronize());
    return device_.results();
  }

 private:
  /// Engines do not ask whose memory it is that views are of.
  grid::DistanceOutputs outputs() const {
    const Array& distance = *device_.host.distance;
    grid::DistanceOutputs outputs;
    outputs.distance = AnyView(device_.blocks[0].data(), distance.dtype(), distance.shape());
    return outputs;
  }

  OnDevice device_;
  const grid::Items items_;
  const grid::Problem problem_;
  const std::unique_ptr<grid::cuda::Engine> engine_;
};

void check(Case& c) {
  SCOPED_TRACE(describe(c));
  Transposed transposed(c);
  ASSERT_TRUE(transposed.serves());
  ASSERT_TRUE(equal(on_cpu(c), transposed.run()));
}

/// Of each 32 neighbours along y: sites everywhere, at the beginning of rows alone, in few planes alone, or none.
std::vector<bool> sites_by_words_along_y(const Shape& shape, double share, Random& random) {
  const int last = shape.rank() - 1;
  const std::int64_t nz = shape[last - 2], ny = shape[last - 1], nx = shape[last];
  auto sites = scatter(shape, share, random);
  std::vector<int> kinds(static_cast<std::size_t>(ny / 32 + 1));
  for (int& kind : kinds) kind = static_cast<int>(below(random, 4));
  for (std::size_t k = 0; k < sites.size(); ++k) {
    const auto x = static_cast<std::int64_t>(k) % nx, row = static_cast<std::int64_t>(k) / nx;
    const int kind = kinds[static_cast<std::size_t>(row % ny / 32)];
    if ((kind == 1 && x > nx / 8) || (kind == 2 && row / ny % nz > nz / 4) || kind == 3) sites[k] = false;
  }
  return sites;
}

/// What may be asked for besides: borders of sites, or a maximum.
void set_limits(grid::DistanceOptions& options, Random& random) {
  if (chance(random, 0.2)) options.border = {grid::Border::sites};
  if (chance(random, 0.2)) options.max_distance = 4.5;
}

/// Lines of all lengths at which blocks change; of the last 32 rows one, half, one more than half, or all but one; and a
/// batch.
TEST_F(Device, TransposedVolumes) {
  Random random(775000);
  for (const Shape& shape :
       {Shape{3, 33, 33}, Shape{9, 31, 12}, Shape{40, 64, 33}, Shape{5, 116, 127}, Shape{6, 49, 129}, Shape{2, 95, 255},
        Shape{3, 128, 257}, Shape{2, 64, 383}, Shape{3, 112, 385}, Shape{2, 63, 511}, Shape{4, 225, 515},
        Shape{2, 96, 543}, Shape{3, 32, 545}, Shape{2, 60, 641}, Shape{3, 63, 799}, Shape{2, 60, 500},
        Shape{4, 3, 33, 35}})
    for (double share : {1.0, 0.3, 0.02, 1e-3}) {
      if (element_count(shape) > largest_problem()) continue;
      Case c{.structure = Structure::sparse};
      const bool zero = chance(random, 0.5);
      c.input = mask_array(sites_by_words_along_y(shape, share, random), shape,
                           pick<DType>(random, {DType::uint8, DType::boolean, DType::int8, DType::float32}), zero);
      c.options.sites.rule = zero ? grid::Sites::Rule::zero : grid::Sites::Rule::nonzero;
      c.options.batch_axes = shape.rank() - 3;
      set_limits(c.options, random);
      c.wanted = {.distance = DType::float32};
      check(c);
      if (HasFatalFailure()) return;
    }
}

/// The same with sites far away along each axis: squares of more than 16 bits lie where results go, also of the last
/// rows, which are fewer than 32 or 16, beside planes that must stay as they are.
TEST_F(Device, FarSitesOfTransposedVolumes) {
  for (const Shape& shape : {Shape{300, 34, 34}, Shape{260, 49, 36}, Shape{40, 300, 303}, Shape{300, 60, 300},
                             Shape{1024, 33, 37}, Shape{9, 1024, 500}, Shape{3, 60, 700}, Shape{2, 300, 34, 34}})
    for (int kind = 0; kind < 6 && element_count(shape) <= largest_problem(); ++kind) {
      const int last = shape.rank() - 1;
      const std::int64_t nz = shape[last - 2], ny = shape[last - 1], nx = shape[last];
      std::vector<bool> sites(static_cast<std::size_t>(element_count(shape)));
      for (std::size_t k = 0; k < sites.size(); ++k) {
        const auto x = static_cast<std::int64_t>(k) % nx, y = static_cast<std::int64_t>(k) / nx % ny;
        const std::int64_t z = static_cast<std::int64_t>(k) / nx / ny % nz;
        const bool at[] = {z == 0,           x == nx - 1,           y == 0, z == nz - 1 && y == 7,
                           x == 2 && z == 1, (x + y + z) % 290 == 3};
        sites[k] = at[kind];
      }
      Case c{.structure = Structure::sparse};
      c.input = mask_array(sites, shape);
      c.options.batch_axes = shape.rank() - 3;
      c.wanted = {.distance = DType::float32};
      check(c);
      if (HasFatalFailure()) return;
    }
}

Case case_of(const Shape& shape) {
  Random random(776000);
  Case c{.structure = Structure::sparse};
  c.input = mask_array(scatter(shape, 0.01, random), shape);
  c.wanted = {.distance = DType::float32};
  return c;
}

/// What the engine leaves to others: whole sectors, long lines, and rows that fill few of their words.
TEST_F(Device, TransposedNever) {
  for (const Shape& shape : {Shape{4, 40, 40}, Shape{4, 40, 801}, Shape{4, 33, 63}, Shape{4, 1025, 33}, Shape{40, 33}})
    EXPECT_FALSE(Transposed(case_of(shape)).serves()) << describe(case_of(shape));
}

/// Words along y, of 416 rows instead of 448, tell that the call takes the engine.
TEST_F(Device, TransposedByTheCall) {
  const Shape shape{409, 415, 417};
  if (element_count(shape) > largest_problem()) GTEST_SKIP() << "too large for an emulated device";
  Case c = case_of(shape);
  OnDevice device(c);
  const grid::DistanceReport report = device.run();
  must(cudaDeviceSynchronize());
  EXPECT_LT(report.scratch_bytes, static_cast<std::size_t>(409 * 417) * 448 * 9 / 4);
  ASSERT_EQ(report.scratch_bytes, grid::scratch_bytes(device.input_view, device.options, device.outputs));
  ASSERT_TRUE(equal(on_cpu(c), device.results()));
}

}  // namespace
}  // namespace fathom::test
