// Computes parts of a tile graph's raster, on many threads, in memory that is known beforehand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fathom/core/array.h"
#include "fathom/core/device.h"
#include "fathom/core/execution.h"
#include "fathom/stream/node.h"

namespace fathom::stream {

struct EvaluatorOptions {
  /// Threads, progress, stop; and the backend: on a device – that of the graph's pixels, else the current one – all is
  /// computed there but what only the CPU can, which is copied there. Its scratch limit is that of the device's memory;
  /// none: half of what is free. `automatic` takes a device for rasters of which it can compute everything that are
  /// large or made of pixels that lie there.
  Execution execution;
  std::optional<std::size_t> memory;  ///< most bytes of the host for all of the work; none: what suits
  Rectangle region = {};              ///< that will be asked for; empty: all of the raster
  int bands = 0;                      ///< of results that the caller holds at once: counted in the memory
  std::int64_t row_step = 1;          ///< bands are to be multiples of so many rows
};

/// How a graph will be computed.
struct Plan {
  struct Entry {
    NodeRef node;
    std::vector<std::size_t> children;  ///< entries
    Size tile;                          ///< pixels that are computed at once
    std::int64_t halo = 0;              ///< pixels around a tile that its children are needed for, at most
    bool pooled = false;                ///< its tiles are kept for those that need them again
    std::optional<Period> cell;         ///< it repeats itself: this is computed once, and copied
    bool sweeps = false;                ///< computed in rows, from the first to the last
    bool spools = false;                ///< so is what its mask depends on: it goes into a file of bits
    bool holds_all = false;             ///< of what sweeps: all rows, since a mask needs them in another order
    bool on_device = false;             ///< computed there
  };
  std::vector<Entry> entries;  ///< children before parents; the root is the last
  Rectangle region;
  Size band;  ///< rows that are computed at once and handed on, over the region's width
  std::int64_t bands = 0;
  int threads = 1;
  std::size_t scratch_bytes = 0;  ///< of all threads
  std::size_t cell_bytes = 0;
  std::size_t sweep_bytes = 0;
  std::size_t source_bytes = 0;  ///< that files keep in memory, and tables of expressions
  std::size_t band_bytes = 0;    ///< of the bands that the caller holds
  std::size_t pool_bytes = 0;    ///< most bytes of kept tiles
  std::size_t disk_bytes = 0;    ///< of temporary files
  std::string device;            ///< its name; empty: the CPU computes all
  std::size_t device_bytes = 0;  ///< of a device, with two bands of the result
  std::size_t bytes() const {
    return scratch_bytes + cell_bytes + sweep_bytes + source_bytes + band_bytes + pool_bytes;
  }
};

/// A graph that is ready to be computed. Calls of one object come one after the other; each uses all threads.
class Evaluator {
 public:
  /// @throws InvalidArgument a region outside the raster; less memory than works: the message names the smallest that
  ///   does
  explicit Evaluator(NodeRef root, const EvaluatorOptions& options = {});
  ~Evaluator();
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;

  const Plan& plan() const;

  /// Computes a part of the region; whole rows from the first to the last cost least.
  /// @param out  of the part's shape and the raster's type
  /// @throws InvalidArgument another shape or type, or beyond the region
  /// @throws IoError what a source throws | Cancelled the stop token asked for it
  /// Same bytes for any order, thread count and memory.
  void compute(const Rectangle& part, const AnyView& out);
  Array compute(const Rectangle& part);
  /// The same into the memory of the device on which the evaluator was made. Returns once the work is in the stream's
  /// order; it waits only for what the CPU computes, and the first time for what is kept. A part of a raster that
  /// repeats itself is one launch then.
  /// @throws InvalidArgument as above | the backend is the CPU | memory of another device
  /// @throws DeviceError a launch failed, or the device has not enough memory
  void compute(const Rectangle& part, const AnyDeviceView& out, Stream stream);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom::stream
