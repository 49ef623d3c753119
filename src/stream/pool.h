// Tiles that are kept while memory lasts: each is computed once, by whoever needs it first; others wait for it.
//
// Results are computed band after band, each from the left to the right. So of the tiles that the next band needs, too,
// those just left behind are needed last, and make room first (Belady 1966); those that it does not need, before them.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "fathom/core/array.h"
#include "fathom/stream/node.h"

namespace fathom::stream {

class Pool {
 public:
  Pool(std::size_t bytes, int threads) : limit_(bytes), recent_(threads + 1) {}

  using Key = std::tuple<std::size_t, std::int64_t, std::int64_t>;  ///< entry, row and column of the tile
  /// Pixels of a tile, [height, width], or the value of all.
  using Compute = std::function<std::optional<double>(const AnyView& out)>;
  using Use = std::function<void(const Pixels&)>;

  /// Hands a tile to `use`, computed if it is not there.
  /// @param again  whether the next band needs it, too
  /// @returns false: there is no room, and nothing was done
  bool with(const Key& key, Size size, DType dtype, bool again, const Compute& compute, const Use& use);
  /// To be called for each part of a band that is begun.
  void advance() { ++now_; }

 private:
  struct Tile {
    Array pixels;  ///< none where they are constant
    std::optional<double> constant;
    bool is_ready = false;
    int users = 0;
    AnyView view;  ///< of the pixels
    bool again = false;
    std::int64_t last = 0;           ///< part that used it
    std::list<Key>::iterator place;  ///< in the order of the last use
  };
  using Tiles = std::map<Key, Tile>;

  /// Memory for a tile: none if there is no room.
  std::optional<Array> take(std::size_t bytes);
  void put_aside(Array memory);
  void forget(Tiles::iterator tile);
  /// A tile that nobody uses; the end if there is none.
  Tiles::iterator least_needed();
  std::list<Key>& order_of(const Tile& tile) { return order_[tile.again ? 1 : 0]; }

  const std::size_t limit_;
  const std::int64_t recent_;  ///< parts whose tiles those beside them need
  std::atomic<std::int64_t> now_ = 0;
  std::size_t used_ = 0, spare_bytes_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  Tiles tiles_;
  std::array<std::list<Key>, 2> order_;      ///< of the tiles that are needed again, and not: the last used at the end
  std::multimap<std::size_t, Array> spare_;  ///< memory of forgotten tiles, by its size, to be taken again
};

}  // namespace fathom::stream
