// The fast engine from the outside: whom it serves, its scratch, the order of its passes.
#include "grid/cpu/plain.h"

#include <algorithm>
#include <limits>

#include "grid/cpu/arena.h"
#include "grid/cpu/plain_passes.h"
#include "grid/cpu/plain_tuning.h"

namespace fathom::grid::cpu {
namespace plain {
namespace {

/// Numbers of a call that follow from the problem and the threads.
struct Plan {
  Frame frame;
  Job region;  ///< blocks that hold rows of the region
  std::int64_t jobs = 1;
  std::int64_t pitch = 0;  ///< of bits and carries
  std::int64_t steps = 0;  ///< largest |d| in the tables of steps

  Job job(std::int64_t index) const {
    const std::int64_t blocks = region.end - region.begin;
    return {region.begin + blocks * index / jobs, region.begin + blocks * (index + 1) / jobs};
  }
};

Plan make_plan(const Problem& problem, int threads) {
  Plan plan;
  plan.frame = make_frame(problem);
  const Frame& frame = plan.frame;
  plan.region = {frame.slow.begin / kBlock, (frame.slow.end + kBlock - 1) / kBlock};
  if (threads > 1)
    plan.jobs = std::min<std::int64_t>(plan.region.end - plan.region.begin, std::int64_t{threads} * kJobsPerThread);
  plan.pitch = row_pitch(round_up(frame.box.plane(), 64) + kPackSlack);
  plan.steps = std::max(frame.box.middle, frame.box.fast) + kStepsSlack;
  return plan;
}

struct Memory {
  Shared shared;
  Ranks* ranks;
  Job* jobs;
  std::byte* workers;
  std::size_t worker_bytes;
};

template <class T>
void carve(Arena& arena, const Plan& plan, Steps<T>& steps) {
  steps.at = arena.take<T>(2 * plan.steps + 1);
  if (sizeof(T) == 2) steps.twice = arena.take<std::uint32_t>(2 * plan.steps + 1);
}

void carve(Arena& arena, const Plan& plan, AxisSteps& steps) {
  if (!plan.frame.real) carve(arena, plan, steps.of32);
  if (plan.frame.keys || plan.frame.real) carve(arena, plan, steps.of64);
  else carve(arena, plan, steps.of16);
}

Memory carve(Arena& arena, const Plan& plan, InstructionSet set, int threads) {
  const std::int64_t blocks = plan.frame.blocks();
  const bool image = plan.frame.box.middle == 1;
  Memory memory;
  Bits& bits = memory.shared.bits;
  bits.pitch = plan.pitch;
  bits.words = arena.take<std::uint16_t>(blocks * plan.pitch);
  bits.above = arena.take<std::uint16_t>(blocks * plan.pitch);
  bits.below = arena.take<std::uint16_t>(plan.jobs * plan.pitch);
  carve(arena, plan, memory.shared.fast);
  if (!image) carve(arena, plan, memory.shared.middle);
  memory.ranks = arena.take<Ranks>(plan.frame.real);
  memory.jobs = arena.take<Job>(plan.jobs);
  const auto worker_bytes = image ? worker_bytes_2d : worker_bytes_3d;
  memory.worker_bytes = worker_bytes(plan.frame, set);
  memory.workers = arena.take<std::byte>(static_cast<std::int64_t>(memory.worker_bytes) * threads);
  return memory;
}

/// Columns that one job scans for carries: images have work for every thread, too.
std::int64_t scan_columns(std::int64_t pitch, int threads) {
  return std::min<std::int64_t>(kScanColumns, round_up((pitch + threads - 1) / threads, 64));
}

/// What one axis adds to keys beside the square.
struct Sides {
  int multiple = 1;
  std::int64_t offset = 0;  ///< for each step towards a site before the element
  std::int64_t behind = 0;  ///< for sites behind it
};

template <class T>
void fill(const Plan& plan, const Layout& layout, const Sides& sides, Steps<T>& steps) {
  const bool keys = plan.frame.keys;
  steps.square = layout.square, steps.multiple = sides.multiple, steps.offset = sides.offset, steps.keys = keys;
  T* const at = const_cast<T*>(steps.at) + plan.steps;
  const auto step = [&](std::int64_t d) {
    const std::int64_t units = std::abs(d) * sides.multiple;
    // Narrow keys saturate where they end, with room for sums; squared distances where their type does.
    constexpr std::int64_t kMost = sizeof(T) == 2 ? 0xFFFF : std::int64_t{kNoSite32} - 1;
    if (sizeof(T) == 4 && keys && units > layout.reach) return static_cast<T>(kNoSite32 / 2 - 1);
    if (sizeof(T) < 8 && !keys) return static_cast<T>(std::min(units * units, kMost));
    const std::int64_t side = (d < 0 ? sides.behind : 0) - d * sides.offset;
    return static_cast<T>(static_cast<T>(units * units) * static_cast<T>(layout.of_square(1)) + static_cast<T>(side));
  };
  for (std::int64_t d = -plan.steps; d <= plan.steps; ++d) at[d] = step(d);
  steps.at = at;
  if (sizeof(T) != 2) return;
  auto* const twice = const_cast<std::uint32_t*>(steps.twice) + plan.steps;
  for (std::int64_t d = -plan.steps; d <= plan.steps; ++d) twice[d] = static_cast<std::uint32_t>(at[d]) * 0x10001u;
  steps.twice = twice;
}

void fill(const Plan& plan, bool fast, AxisSteps& steps) {
  const Frame& frame = plan.frame;
  if (frame.real) {
    steps.of64.real = frame.fast_axis, steps.of64.multiple = frame.fast_multiple;
    double* const at = const_cast<double*>(steps.of64.at) + plan.steps;
    for (std::int64_t d = -plan.steps; d <= plan.steps; ++d)
      at[d] = frame.fast_axis.weight * (static_cast<double>(d) * static_cast<double>(d));
    steps.of64.at = at;
    return;
  }
  const auto sides = [&](const Layout& layout) {
    if (!frame.keys) return Sides{fast ? frame.fast_multiple : frame.middle_multiple};
    if (fast) return Sides{frame.fast_multiple, 0, 1};
    return Sides{frame.middle_multiple, std::int64_t{1} << layout.middle, 0};
  };
  const Layout& of32 = frame.keys ? frame.narrow : frame.wide;
  fill(plan, of32, sides(of32), steps.of32);
  if (frame.keys) fill(plan, frame.wide, sides(frame.wide), steps.of64);
  else fill(plan, frame.narrow, sides(frame.narrow), steps.of16);
}

/// Real values serve images of distances.
bool real_serves(const Problem& problem) {
  return reals_fit(problem) && wants_only(problem, {&DistanceOutputs::distance}) &&
         problem.outputs.distance.dtype() == DType::float32 &&
         problem.max_distance == std::numeric_limits<double>::infinity();
}

}  // namespace
}  // namespace plain

bool plain_serves(const Problem& problem) {
  const bool sites = wants_site(problem);
  const bool simple = problem.metric == Metric::euclidean && (problem.integral || plain::real_serves(problem)) &&
                      !problem.signed_distance && problem.sites.rule != Sites::Rule::labels && problem.rank <= 3;
  if (!simple) return false;
  // Rows are solved kBlock at a time, in scratch for as many: a few cost as much.
  constexpr std::int64_t kFewestRows = 3;
  std::int64_t rows = 1;
  for (int k = 0; k + 1 < problem.rank; ++k) rows *= problem.extent(k);
  if (rows < kFewestRows) return false;
  // Distances along the slow axis stay below kNoSite16, squared distances below kNoSite32; "no site" plus the squares
  // of offsets along the other axes stays below 2³².
  constexpr std::int64_t kLongest = 0x7FFF;
  for (int k = 0; k < problem.rank; ++k) {
    const auto axis = static_cast<std::size_t>(k);
    const bool clamped = problem.border[axis] == Border::sites && problem.isotropic && !sites;
    if (problem.border[axis] != Border::open && !clamped) return false;
    if (problem.extent(k) - 1 > 0xFFFF) return false;
    // Of equally near sites, keys prefer the one of the lower row.
    if (sites && k > 0 && problem.index_step[axis - 1] < problem.index_step[axis]) return false;
  }
  const double most = problem.integral ? plain::kNoSite32 : 0x1p50;
  if (problem.extent(0) > kLongest || !(plain::squared_diagonal(problem) < most)) return false;
  return !sites || plain::keys_fit(problem);
}

std::size_t plain_scratch_bytes(const Problem& problem, InstructionSet instruction_set, int threads) {
  Arena arena(nullptr);
  carve(arena, plain::make_plan(problem, threads), instruction_set, threads);
  return arena.used();
}

void plain_transform(const Problem& problem, InstructionSet instruction_set, int threads, std::byte* scratch,
                     const Execution& execution) {
  using namespace plain;
  Plan plan = make_plan(problem, threads);
  const Frame& frame = plan.frame;
  Arena arena(scratch);
  Memory memory = carve(arena, plan, instruction_set, threads);
  if (frame.real) {
    fill(frame.slow_axis, frame.fast_axis, *memory.ranks);
    plan.frame.ranks = memory.ranks;
  }
  const Bits& bits = memory.shared.bits;
  // Only searches and walks look steps up; for a small image the table would cost as much as the image.
  const int widest = frame.keys ? kWindowReach<OfSites> : kWindowReach<OfDistances>;
  const bool image = frame.box.middle == 1;
  if (!image || frame.real || frame.reach > widest) fill(plan, true, memory.shared.fast);
  if (!image) fill(plan, false, memory.shared.middle);
  for (std::int64_t j = 0; j < plan.jobs; ++j) memory.jobs[j] = plan.job(j);

  Monitor monitor(execution, frame.blocks() + plan.region.end - plan.region.begin);
  parallel_jobs(threads, frame.blocks(), [&](int, std::int64_t block) {
    pack_block(frame, instruction_set, bits, block);
    monitor.advance(1);
  });
  const std::int64_t columns = scan_columns(bits.pitch, threads);
  parallel_jobs(execution, threads, (bits.pitch + columns - 1) / columns, [&](int, std::int64_t chunk) {
    const std::int64_t begin = chunk * columns, end = std::min(bits.pitch, begin + columns);
    scan_down(frame, instruction_set, bits, begin, end);
    scan_up(frame, instruction_set, bits, memory.jobs, plan.jobs, begin, end);
  });
  const auto solve = frame.box.middle == 1 ? solve_2d : solve_3d;
  parallel_jobs(threads, plan.jobs, [&](int worker, std::int64_t job) {
    std::byte* own = memory.workers + static_cast<std::size_t>(worker) * memory.worker_bytes;
    solve(frame, instruction_set, memory.shared, memory.jobs[job], job, own, monitor);
  });
}

}  // namespace fathom::grid::cpu
