// The fast engine from the outside: whom it serves, its scratch, the order of its passes.
#include "grid/cpu/plain.h"

#include <algorithm>

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
  std::int64_t pitch = 0;    ///< of bits and carries
  std::int64_t squares = 0;  ///< largest |d| in the tables of squares

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
  plan.squares = std::max(frame.box.middle, frame.box.fast) + kSquaresSlack;
  return plan;
}

struct Memory {
  Shared shared;
  std::uint32_t *wide, *twice;  ///< [2·plan.squares + 1], of shared.squares
  std::uint16_t* narrow;        ///< the same
  Job* jobs;
  std::byte* workers;
  std::size_t worker_bytes;
};

Memory carve(Arena& arena, const Plan& plan, InstructionSet set, int threads) {
  const std::int64_t blocks = plan.frame.blocks();
  Memory memory;
  Bits& bits = memory.shared.bits;
  bits.pitch = plan.pitch;
  bits.words = arena.take<std::uint16_t>(blocks * plan.pitch);
  bits.above = arena.take<std::uint16_t>(blocks * plan.pitch);
  bits.below = arena.take<std::uint16_t>(plan.jobs * plan.pitch);
  memory.wide = arena.take<std::uint32_t>(2 * plan.squares + 1);
  memory.twice = arena.take<std::uint32_t>(2 * plan.squares + 1);
  memory.narrow = arena.take<std::uint16_t>(2 * plan.squares + 1);
  memory.jobs = arena.take<Job>(plan.jobs);
  const auto worker_bytes = plan.frame.box.middle == 1 ? worker_bytes_2d : worker_bytes_3d;
  memory.worker_bytes = worker_bytes(plan.frame, set);
  memory.workers = arena.take<std::byte>(static_cast<std::int64_t>(memory.worker_bytes) * threads);
  return memory;
}

/// Columns that one job scans for carries: images have work for every thread, too.
std::int64_t scan_columns(std::int64_t pitch, int threads) {
  return std::min<std::int64_t>(kScanColumns, round_up((pitch + threads - 1) / threads, 64));
}

void fill_squares(const Plan& plan, Memory& memory) {
  std::uint32_t *wide = memory.wide + plan.squares, *twice = memory.twice + plan.squares;
  std::uint16_t* narrow = memory.narrow + plan.squares;
  for (std::int64_t d = 0; d <= plan.squares; ++d) {
    const std::int64_t square = d * d;
    wide[d] = wide[-d] = static_cast<std::uint32_t>(std::min<std::int64_t>(square, kNoSite32 - 1));
    narrow[d] = narrow[-d] = static_cast<std::uint16_t>(std::min<std::int64_t>(square, 0xFFFF));
    twice[d] = twice[-d] = narrow[d] * 0x10001u;
  }
  memory.shared.squares = {wide, narrow, twice};
}

}  // namespace
}  // namespace plain

bool plain_serves(const Problem& problem) {
  const bool simple = problem.metric == Metric::euclidean && problem.isotropic && !problem.signed_distance &&
                      problem.sites.rule != Sites::Rule::labels && !problem.outputs.nearest.present() &&
                      !problem.outputs.coordinates.present() && problem.rank <= 3;
  if (!simple) return false;
  // Rows are solved kBlock at a time, in scratch for as many: a few cost as much.
  constexpr std::int64_t kFewestRows = 3;
  std::int64_t rows = 1;
  for (int k = 0; k + 1 < problem.rank; ++k) rows *= problem.extent(k);
  if (rows < kFewestRows) return false;
  // Distances along the slow axis stay below kNoSite16, squared distances below kNoSite32; "no site" plus the squares
  // of offsets along the other axes stays below 2³².
  constexpr std::int64_t kLongest = 0x7FFF;
  std::int64_t diagonal = 0;
  for (int k = 0; k < problem.rank; ++k) {
    if (problem.border[static_cast<std::size_t>(k)] != Border::open) return false;
    const std::int64_t last = problem.extent(k) - 1;
    if (last > 0xFFFF) return false;
    diagonal += last * last;
  }
  if (problem.extent(0) > kLongest) return false;
  return diagonal < plain::kNoSite32;
}

std::size_t plain_scratch_bytes(const Problem& problem, InstructionSet instruction_set, int threads) {
  Arena arena(nullptr);
  carve(arena, plain::make_plan(problem, threads), instruction_set, threads);
  return arena.used();
}

void plain_transform(const Problem& problem, InstructionSet instruction_set, int threads, std::byte* scratch,
                     const Execution& execution) {
  using namespace plain;
  const Plan plan = make_plan(problem, threads);
  const Frame& frame = plan.frame;
  Arena arena(scratch);
  Memory memory = carve(arena, plan, instruction_set, threads);
  const Bits& bits = memory.shared.bits;
  // Only searches and walks look squares up; for a small image the table would cost as much as the image.
  const bool windows_suffice = frame.box.middle == 1 && frame.reach <= kWindowReach;
  if (!windows_suffice) fill_squares(plan, memory);
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
