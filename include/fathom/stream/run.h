// Hands a tile graph's raster to a sink that must not wait: bands are computed ahead of it, in a ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "fathom/core/raster.h"
#include "fathom/stream/evaluator.h"

namespace fathom::stream {

struct RunOptions {
  /// Bands that are ready ahead of the sink, at most; at least 2. The evaluator was made for so many.
  int ring = 2;
  bool serpentine = false;  ///< odd rows of the region from the last pixel to the first
  double rate = 0;          ///< most bytes a second that the sink gets; 0: as fast as it takes them
  /// Bytes a second that the sink is to get, once it began, which it does with a full ring: that is what lets it go on
  /// while a band takes long. Underruns are counted; 0: none.
  double min_rate = 0;
  std::int64_t rows_done = 0;  ///< rows of the region that the sink has already: a multiple of the plan's band
  /// Called after the sink took a band: its number, and its rows. On the sink's thread, one at a time.
  std::function<void(std::int64_t band, std::span<const std::byte> rows)> taken;
  /// Called there some times a second while the sink waits for its rate; may throw.
  std::function<void()> pausing;
};

struct RunReport {
  std::int64_t bytes = 0;
  double seconds = 0;
  double first_seconds = 0;    ///< until the sink got its first band
  double longest_band = 0;     ///< seconds to compute a band, at most
  std::int64_t underruns = 0;  ///< times that the sink had to wait, though rows were due by min_rate
  /// Seconds by which a band was ready before it was due, at least; below 0: too late; +inf of the first band alone.
  double least_margin = 0;
};

/// Computes the evaluator's region band after band and writes it.
/// @throws what the evaluator and the sink throw; the sink then has some bands, whole
RunReport run(Evaluator& evaluator, RasterSink& sink, const RunOptions& options = {});

/// CRC-32C (Castagnoli) of bytes, going on from that of those before.
std::uint32_t crc32c(std::uint32_t before, std::span<const std::byte> data);

}  // namespace fathom::stream
