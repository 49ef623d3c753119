// The general engine's passes in 16 bits, for groups of lines where every site is near. Whether it is shows only on the
// way: an element that turns out to be farther than 16 bits can say makes the group fail, and the passes of general.cpp
// do it again. Serves what has integer values, the Euclidean metric and no indices. Cost: see near_pass.h.
#pragma once

#include <cstdint>
#include <vector>

#include "grid/cpu/arena.h"
#include "grid/cpu/classes.h"
#include "grid/cpu/emit.h"
#include "grid/cpu/lines.h"
#include "grid/cpu/near_pass.h"
#include "grid/cpu/row_words.h"
#include "grid/problem.h"

namespace fathom::grid::cpu {

/// Words of all rows, as many to a row as it has strips, and what is known of runs.
struct ClassWords {
  const std::uint32_t* pinned = nullptr;   ///< elements with distance 0 whatever their class; null: none has
  const bool* background = nullptr;        ///< [rows][runs]: all of the run is; then nothing else of it is read
  PerAxis<std::uint32_t*> changes{};       ///< along each axis but the last, where classes change; unused for masks
  std::int64_t first_strip = 0, runs = 0;  ///< of the runs of `background`
};

class NearEngine {
 public:
  /// Scratch of one thread.
  struct Worker {
    std::uint16_t* rows;     ///< [kNearPad + longest + kNearPad][kRun]
    std::uint8_t* steps;     ///< [longest + 8][kRun]
    std::uint32_t* changes;  ///< [longest][kStripsOfRun] and two to spare
    bool* background;        ///< [longest]: all of the row is
    std::uint16_t* block;    ///< [kNearTargets][kRun]

    void take(Arena& scratch, std::int64_t longest, bool boundaries);
  };

  static bool serves(const Problem& problem);

  NearEngine(const Problem& problem, const Classes& classes, const Emitter<std::int32_t>& emitter,
             InstructionSet instruction_set);

  /// @param workers  one for each thread
  /// @param buffer   scratch for three axes or more: [rows][buffer_pitch], the pitch at least the elements of a group
  void use(const RowWord* words, const ClassWords& classes, std::vector<Worker> workers, std::uint16_t* buffer,
           std::int64_t buffer_pitch);

  /// One job of the pass along an axis. False if the group has failed.
  /// @param emit  the last pass writes the outputs
  bool run_lines(const Lines& lines, const StripRange& strips, const PerAxis<Range>& targets, bool emit, int worker);

 private:
  NearColumn column_of(const Lines& lines, const Range& rows, const Worker& worker) const;
  void find_background(const Lines& lines, const Range& rows, bool* background) const;
  void load(const Lines& lines, const StripRange& strips, const Range& rows, const Worker& worker) const;
  bool find_run_ends(const Lines& lines, const Range& rows, const Worker& worker) const;
  void emit(const Lines& lines, std::int64_t y, int rows, const std::uint16_t* block) const;
  /// Of the words of a row's strips, the first of the lines.
  std::int64_t word(const Lines& lines, std::int64_t y) const {
    return (lines.row + y * lines.row_step) * row_strips_ + lines.strip;
  }
  std::uint16_t* buffered(const Lines& lines, const StripRange& strips, std::int64_t y) const;

  const Problem& p_;
  const Classes& classes_;
  const Emitter<std::int32_t>& emitter_;
  InstructionSet set_;
  std::uint16_t cap_ = 0;
  bool complete_ = false;  ///< what is above the cap is beyond the maximum distance
  NearRow row_;
  PerAxis<std::vector<std::uint16_t>> cost_;
  PerAxis<int> reach_{};
  std::int64_t row_strips_;  ///< strips of a row
  const RowWord* words_ = nullptr;
  ClassWords class_words_;
  std::uint16_t* buffer_ = nullptr;
  std::int64_t buffer_pitch_ = 0;
  std::vector<Worker> workers_;
};

}  // namespace fathom::grid::cpu
