// Copies between arrays of the host, whatever their strides, and dense memory of a device.
//
// Pinned memory goes the way by itself, and so does what is small. All else goes through pinned blocks: each thread has
// one, and fills or empties it while those of the other threads are under way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/cuda/runtime.h"
#include "core/join_axes.h"
#include "fathom/core/shape.h"

namespace fathom::cuda {

/// Rows of bytes, some of all that lie behind up to kMaxRank axes.
template <class Byte>
struct HostRows {
  Byte* data = nullptr;
  Axes extent, stride;  ///< stride in bytes
  std::int64_t first = 0, count = 1;
  std::size_t bytes = 0;  ///< of a row

  std::size_t all_bytes() const { return static_cast<std::size_t>(count) * bytes; }

  Byte* row(std::int64_t i) const {
    std::int64_t at = 0;
    i += first;
    for (int k = extent.rank() - 1; k >= 0; --k) {
      at += i % extent[k] * stride[k];
      i /= extent[k];
    }
    return data + at;
  }

  /// Axes that lie one behind the other become one, and rows without a gap between them one row.
  void join() {
    join_axes(extent, stride);
    if (extent.rank() != 1 || stride[0] != static_cast<std::int64_t>(bytes)) return;
    data = row(0);
    bytes = all_bytes();
    extent = stride = {};
    first = 0;
    count = 1;
  }
};

class Staging {
 public:
  /// @param bytes  that will be moved in all: how large blocks are worth while
  Staging(int threads, std::size_t bytes);

  /// Returns when the rows were read, or, of pinned memory, at once.
  void upload(const HostRows<const std::byte>& from, std::byte* to, cudaStream_t stream);
  /// Returns when the rows are written; in pinned memory they are in the stream's order.
  void download(const std::byte* from, const HostRows<std::byte>& to, cudaStream_t stream);

 private:
  static constexpr std::size_t kMostThreads = 16;  ///< more are not faster than the way to the device

  /// Calls move(rows' bytes [begin, end), pinned block, its event) for all bytes, a block per thread at a time.
  template <class Move>
  void each_block(std::size_t all, const Move& move);

  const int device_, threads_;
  const bool worth_staging_;
  const std::size_t block_bytes_;
  std::optional<PinnedMemory> memory_;  ///< once blocks are needed
  std::array<Event, kMostThreads> done_;
};

}  // namespace fathom::cuda
