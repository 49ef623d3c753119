// What the general engine keeps between and within its passes, and how much of it: laid out in one arena, so that the
// same walk over the members measures and takes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "grid/cpu/arena.h"
#include "grid/cpu/classes.h"
#include "grid/cpu/column_pass.h"
#include "grid/cpu/indices.h"
#include "grid/cpu/lines.h"
#include "grid/cpu/near_engine.h"
#include "grid/cpu/row_words.h"
#include "grid/problem.h"

namespace fathom::grid::cpu::general {

inline std::size_t at_axis(int k) { return static_cast<std::size_t>(k); }

/// Half a period of sources is repeated on either side of a periodic axis.
inline std::int64_t halo_of(const Problem& p, int axis) {
  return p.border[at_axis(axis)] == Border::periodic ? p.extent(axis) / 2 : 0;
}

inline std::int64_t sources_of(const Problem& p, int axis) { return p.extent(axis) + 2 * halo_of(p, axis); }

/// That a column's costs are kept for, to either side.
inline std::int64_t most_steps(const Problem& p, int axis) { return sources_of(p, axis) + kPad; }

/// Sizes that follow from the problem alone.
struct Extents {
  std::int64_t rows = 1;         ///< lines along the last axis
  std::int64_t strips = 0;       ///< of a row
  std::int64_t first_strip = 0;  ///< strips that touch the region: [first_strip, end_strip)
  std::int64_t end_strip = 0;
  std::int64_t longest = 0;       ///< most sources of a pass
  std::int64_t most_targets = 0;  ///< of a pass
  std::int64_t rows_per_job = 1;  ///< of the first pass
  bool index = false, buffered = false, starts = false, pins = false, near = false;

  explicit Extents(const Problem& p) {
    const int last = p.rank - 1;
    strips = strips_of(p.extent(last));
    first_strip = p.range(last).begin / kStrip;
    end_strip = strips_of(p.range(last).end);
    for (int k = 0; k < last; ++k) {
      rows *= p.extent(k);
      longest = std::max(longest, sources_of(p, k));
      most_targets = std::max(most_targets, p.region_extent(k));
    }
    index = wants_site(p);
    // Rows are short or many: a job is some rows, so that each is worth a thread's while.
    rows_per_job = std::max<std::int64_t>(1, 65536 / p.extent(last));
    buffered = p.rank > 2;
    const bool labels = p.sites.rule == Sites::Rule::labels;
    starts = labels || p.signed_distance;
    pins = labels && !p.signed_distance;
    near = NearEngine::serves(p);
  }
  std::int64_t region_strips() const { return end_strip - first_strip; }
  std::int64_t runs() const { return StripRange{first_strip, end_strip}.runs(); }
  /// Strips that go through all passes together.
  std::int64_t group_strips() const {
    return buffered ? std::min<std::int64_t>(kStripsOfRun, region_strips()) : region_strips();
  }
  std::int64_t row_jobs() const { return (rows + rows_per_job - 1) / rows_per_job; }
  /// Threads that find work at the same time: long lines with few beside them need much scratch each.
  std::size_t workers(const Problem& p, int threads) const {
    std::int64_t jobs = row_jobs();
    for (int k = 0; k < p.rank - 1; ++k) jobs = std::max(jobs, count_lines(p, k, {0, group_strips()}, p.region));
    return static_cast<std::size_t>(std::min<std::int64_t>(threads, jobs));
  }
};

/// What one thread needs for a pass.
template <class V>
struct LineScratch {
  V* source;
  V* bounds;
  std::int32_t* candidates;
  std::int32_t* far;
  V* site;  ///< nearest sites of the sources, as indices relative to the axes slower than the pass's
  V* start;
  V* start_site;
  V* result;               ///< [targets + 7][kRun]
  V* found;                ///< likewise: the nearest sites
  std::int32_t* steps;     ///< [extent][32]: to the ends of runs
  std::int32_t* run_end;   ///< [extent][32]: coordinates of these
  std::uint32_t* changes;  ///< [extent][kStripsOfRun]
  std::uint32_t* pinned;   ///< likewise
  std::uint32_t* bits;     ///< one row

  void take(Arena& s, const Extents& e) {
    const std::int64_t padded = e.most_targets + kTargets;
    source = s.take<V>((e.longest + 2 * kPad) * kStrip);
    bounds = s.take<V>(bounds_size(e.longest));
    candidates = s.take<std::int32_t>(candidates_size(e.longest));
    far = s.take<std::int32_t>(e.longest / kTargets + 1);
    result = s.take<V>(padded * kRun);
    site = s.take<V>(e.index ? (e.longest + 2 * kPad) * kStrip : 0);
    found = s.take<V>(e.index ? padded * kRun : 0);
    start = s.take<V>(e.starts ? padded * kStrip : 0);
    start_site = s.take<V>(e.starts && e.index ? padded * kStrip : 0);
    steps = s.take<std::int32_t>(e.starts ? e.longest * kStrip : 0);
    run_end = s.take<std::int32_t>(e.starts && e.index ? e.longest * kStrip : 0);
    changes = s.take<std::uint32_t>(e.starts ? e.longest * kStripsOfRun : 0);
    pinned = s.take<std::uint32_t>(e.pins ? e.longest * kStripsOfRun : 0);
    bits = s.take<std::uint32_t>(e.strips);
  }
};

/// All scratch of a call.
template <class V>
struct Memory {
  RowWord* words;
  std::uint32_t* pinned;            ///< [rows][strips]: elements with distance 0 whatever their class; null: none has
  bool* background;                 ///< [rows][runs of the region]: all of the run is pinned; likewise
  PerAxis<std::uint32_t*> changes;  ///< likewise: where the class changes along the slower axes
  V* values;                        ///< [rows][group strips · 32], between passes
  IndexOf<V>* index;                ///< likewise
  PerAxis<V*> cost;                 ///< of −most_steps() … most_steps() steps
  std::vector<LineScratch<V>> lines;
  std::vector<NearEngine::Worker> near;

  std::size_t take(std::byte* base, const Problem& p, const Extents& e, int threads) {
    Arena s(base);
    words = s.take<RowWord>(e.rows * e.strips);
    pinned = e.pins ? s.take<std::uint32_t>(e.rows * e.strips) : nullptr;
    background = e.pins ? s.take<bool>(e.rows * e.runs()) : nullptr;
    for (int k = 0; k < p.rank - 1; ++k) changes[at_axis(k)] = s.take<std::uint32_t>(e.starts ? e.rows * e.strips : 0);
    const std::int64_t buffered = e.buffered ? e.rows * e.group_strips() * kStrip : 0;
    values = s.take<V>(buffered);
    index = s.take<IndexOf<V>>(e.index ? buffered : 0);
    for (int k = 0; k < p.rank - 1; ++k) cost[at_axis(k)] = s.take<V>(2 * most_steps(p, k) + 1);
    lines.resize(e.workers(p, threads));
    for (auto& line : lines) line.take(s, e);
    near.resize(e.near ? lines.size() : 0);
    for (auto& worker : near) worker.take(s, e.longest, e.starts);
    return s.used();
  }
};

}  // namespace fathom::grid::cpu::general
