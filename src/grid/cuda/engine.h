// What the engines have in common: each makes words of bits of its input first; from the words of whole items, results
// follow in parts that have nothing to do with one another. So input and results may be larger than the device's
// memory, where only the words of an item need room.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "grid/batch.h"
#include "grid/cuda/input/layout.cuh"

namespace fathom::grid::cuda {

/// Elements to make words of: items, or a part of one along axis 0.
struct Packing {
  Input input;
  std::int64_t first_item = 0, items = 1;  ///< of the input
  std::int64_t to_item = 0, to = 0;        ///< where the words belong: item, and place along axis 0
};

class Engine {
 public:
  virtual ~Engine() = default;

  /// Where results may be cut: along an axis, at multiples of `unit`.
  struct Cut {
    int axis;
    std::int64_t unit;
  };
  virtual Cut cut() const = 0;
  /// Parts of an item that are packed by themselves begin at multiples of this along axis 0.
  virtual std::int64_t packed_unit() const { return cut().unit; }
  /// Whether solve() reads the input, too; then the cut is along the last axis.
  virtual bool reads_input() const { return false; }
  /// Which columns of the input it reads then: those of the part of the region.
  virtual Range columns_read(const Range& part) const { return part; }
  /// Items of a batch that are worked on together: as many as keep the scratch small beside the results.
  virtual std::int64_t group_of(std::int64_t items) const = 0;

  virtual std::size_t words_bytes(std::int64_t items) const = 0;
  /// @param items  1 where the region is not all of the axis of the cut
  virtual std::size_t scratch_bytes(const Problem& part, std::int64_t items) const = 0;

  /// @param words  words_bytes(items) bytes, aligned to 256
  virtual void pack(const Packing& packing, std::int64_t items, std::byte* words, cudaStream_t stream) const = 0;
  /// Fills the outputs of the items from `first_item` of the batch on, over the problem's region.
  /// @param scratch  scratch_bytes() bytes, aligned to 256
  virtual void solve(const Problem& part, const Batch& batch, std::int64_t first_item, std::int64_t items,
                     std::byte* words, std::byte* scratch, cudaStream_t stream) const = 0;
};

inline bool has_labels(const Problem& p) { return p.sites.rule == Sites::Rule::labels; }

// The engines, each for a problem that it serves, else null. All but the last are for Euclidean distances without
// periodic borders, and from a mask signed only as floats without nearest sites.
/// For images of at most 128 × 128 elements, and lines as images of one row, with equal spacings.
namespace small {
std::unique_ptr<Engine> make_engine(const Problem& problem);
}
/// For images, of axes of at most 46,000 elements; with spacings that are no small multiples of a unit only from masks
/// without nearest sites, and where none is more than 256 times the other.
namespace plane {
std::unique_ptr<Engine> make_engine(const Problem& problem);
}
/// For volumes with any spacings: three axes of at most 2048 elements, of labels 1024; with unequal spacings, and with
/// nearest sites, 1024 along the first two.
std::unique_ptr<Engine> make_volume_engine(const Problem& problem);
/// For volumes on the device whose rows of float distances from a mask, and of indices of nearest sites, begin inside
/// sectors of memory. Results are not cut. It is faster than the one before.
std::unique_ptr<Engine> make_transposed_volume_engine(const Problem& problem);
/// Every option, any extents.
namespace general {
std::unique_ptr<Engine> make_engine(const Problem& problem);
}

/// An engine, and what reports call it (docs/design.md, "Engines").
struct Choice {
  std::unique_ptr<Engine> engine;
  const char* name;
};

/// The fastest that serves. It refers to the problem.
/// @param on_device  arrays are there: results are not cut
Choice choose_engine(const Problem& problem, bool on_device);

}  // namespace fathom::grid::cuda
