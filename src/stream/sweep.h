// Exact distance without a bound, in rows from the first to the last: memory for some rows, and carries on disk.
//
// The distance of a pixel to the nearest site of its column is known from the last site above and the first one below.
// The mask is read once from the bottom to the top: for each block of rows a carry is put aside, the first site of each
// column below it. Then it is read a second time from the top, a block at a time, as bits; carries from above and below
// give every row its distances along the columns, and each row is completed by itself: where sites are near by looking
// around, else by the lower envelope of parabolas.
//
// Where the whole mask repeats itself, the first sites below a block are found within one period instead: the mask is
// read once, nothing is put aside, and the first rows are there at once. Where the mask depends on rows of another
// sweep, it is computed once from the top, and then read as bits from a file.
//
// Source: Meijster et al. 2000, Felzenszwalb & Huttenlocher 2012 (two passes, envelopes). Departs in the carries.
// Cost: O(pixels); the mask is computed twice. Disk: 4 bytes a column and block; a bit a pixel above another sweep.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "fathom/core/execution.h"
#include "fathom/stream/node.h"

namespace fathom::stream {

/// A node that is computed in rows.
class SweepNode : public Node {
 public:
  using Node::Node;
  virtual bool to_zero() const = 0;
};

/// In which pieces, and what that takes.
struct SweepShape {
  explicit SweepShape(const Node& node);

  static constexpr std::int64_t kStrip = 32;  ///< rows whose distances along the columns are known at once
  std::int64_t height, width;
  std::int64_t block;            ///< rows whose mask is held, as bits
  std::int64_t words;            ///< of 64 columns
  std::optional<Period> period;  ///< of the mask, if all of it repeats itself, and often enough

  static constexpr std::int64_t kPartRows = 64, kPartColumns = 4096;  ///< that are computed at once
  static constexpr std::size_t kPartBytes = kPartRows * kPartColumns / 8;

  std::int64_t blocks() const { return (height + block - 1) / block; }
  std::int64_t strips() const { return block / kStrip; }
  Size part() const;  ///< of the mask that is computed at once
  std::size_t disk_bytes() const {
    return period ? 0 : static_cast<std::size_t>(blocks() * width) * sizeof(std::int32_t);
  }
  std::int64_t chunks() const { return (width + kPartColumns - 1) / kPartColumns; }
  std::size_t spool_bytes() const {
    return static_cast<std::size_t>((height + kPartRows - 1) / kPartRows * chunks()) * kPartBytes;
  }
  /// @param rows  that are asked for at once
  std::size_t bytes(std::int64_t rows, int threads) const;
};

class Sweep {
 public:
  /// Computes part of the mask and hands it to `use`. @param worker  number of the thread
  using Mask = std::function<void(int worker, const Rectangle& part, const std::function<void(const Pixels&)>& use)>;
  /// Runs jobs on all threads.
  using Jobs = std::function<void(std::int64_t jobs, const std::function<void(int worker, std::int64_t job)>&)>;

  /// Makes rows of other sweeps available from which rows of the mask are computed.
  using Prepare = std::function<void(std::int64_t y0, std::int64_t y1)>;

  /// @param prepare  none: the mask depends on no other sweep
  Sweep(const SweepNode& node, Mask mask, Jobs jobs, Prepare prepare, int threads, InstructionSet set);
  ~Sweep();

  /// Puts the mask aside, if it depends on other sweeps; once.
  void spool();
  /// Makes rows available, and forgets those before them. Going back begins anew from the top.
  void advance(std::int64_t y0, std::int64_t y1);
  /// Of rows that are available.
  void read(const Rectangle& part, const AnyView& out) const;
  static std::size_t row_bytes(std::int64_t width);

 private:
  class Records;
  class Row;

  /// Calls function(y, whether each pixel is a site) for the rows of a part of the mask, from the last to the first.
  template <class RowFunction>
  void visit_sites(int worker, const Rectangle& part, const RowFunction& function) const;
  void move_on(std::int64_t y0, std::int64_t y1);
  /// Of the columns from 0 on: their first sites at y0 or below, from those at y1 or below.
  void find_first(std::int64_t y0, std::int64_t y1, std::int64_t columns);
  void sweep_up();
  void look_ahead(std::int64_t y);
  void enter_block(std::int64_t number);
  void enter_strip(std::int64_t number);
  void complete_row(int worker, std::int64_t y, float* out);
  std::int64_t block_end(std::int64_t number) const;

  const SweepNode& node_;
  const SweepShape shape_;
  Mask mask_;
  Jobs jobs_;
  Prepare prepare_;
  const InstructionSet set_;
  std::vector<float> roots_;                ///< of small squares, unless pixels are of size 1
  std::unique_ptr<Records> carries_;        ///< of each block: the first site of each column below it
  std::unique_ptr<Records> spooled_;        ///< bits of the mask, by its parts
  std::vector<std::unique_ptr<Row>> rows_;  ///< scratch, one a thread
  std::int64_t block_ = -1, strip_ = -1;    ///< the current ones; the strip counts within its block
  std::vector<std::uint64_t> bits_;         ///< of the block: [row, word]
  /// First site of each column behind each strip, from the block's first row; kBeyond: none in the block.
  std::vector<std::uint16_t> next_;
  /// Last sites of the columns above, and first ones below, the block and the strip.
  std::vector<std::int32_t> before_block_, behind_block_, before_strip_, behind_strip_;
  /// Of the strip: rows to the nearest site of the column within it; kFar: there is none.
  std::vector<std::uint8_t> near_;
  std::vector<float> ready_;  ///< rows that are available
  std::int64_t ready_begin_ = 0, ready_end_ = 0;
};

}  // namespace fathom::stream
