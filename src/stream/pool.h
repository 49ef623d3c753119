// Tiles that are kept while memory lasts: each is computed once, by whoever needs it first; others wait for it.
#pragma once

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
  explicit Pool(std::size_t bytes) : limit_(bytes) {}

  using Key = std::tuple<std::size_t, std::int64_t, std::int64_t>;  ///< entry, row and column of the tile
  /// Pixels of a tile, [height, width], or the value of all.
  using Compute = std::function<std::optional<double>(const AnyView& out)>;
  using Use = std::function<void(const Pixels&)>;

  /// Hands a tile to `use`, computed if it is not there.
  /// @returns false: there is no room, and nothing was done
  bool with(const Key& key, Size size, DType dtype, const Compute& compute, const Use& use);

 private:
  struct Tile {
    Array pixels;  ///< none where they are constant
    std::optional<double> constant;
    bool is_ready = false;
    int users = 0;
    AnyView view;                    ///< of the pixels
    std::list<Key>::iterator place;  ///< in the order of the last use
  };
  using Tiles = std::map<Key, Tile>;

  /// Memory for a tile: none if there is no room.
  std::optional<Array> take(std::size_t bytes);
  void put_aside(Array memory);
  void forget(Tiles::iterator tile);

  const std::size_t limit_;
  std::size_t used_ = 0, spare_bytes_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  Tiles tiles_;
  std::list<Key> order_;  ///< the last used at the end
  std::multimap<std::size_t, Array> spare_;  ///< memory of forgotten tiles, by its size, to be taken again
};

}  // namespace fathom::stream
