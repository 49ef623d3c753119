#include "stream/pool.h"

#include <algorithm>
#include <utility>

#include "stream/pixels.h"

namespace fathom::stream {

void Pool::forget(Tiles::iterator tile) {
  used_ -= tile->second.bytes;
  order_.erase(tile->second.place);
  tiles_.erase(tile);
}

bool Pool::make_room(std::size_t bytes) {
  for (auto key = order_.begin(); key != order_.end() && used_ + bytes > limit_;) {
    const auto tile = tiles_.find(*key++);
    if (tile->second.is_ready && tile->second.users == 0) forget(tile);
  }
  return used_ + bytes <= limit_;
}

bool Pool::with(const Key& key, Size size, DType dtype, const Compute& compute, const Use& use) {
  std::unique_lock lock(mutex_);
  auto found = tiles_.find(key);
  while (found != tiles_.end() && !found->second.is_ready) {
    changed_.wait(lock);
    found = tiles_.find(key);  // gone, if its computation failed
  }
  if (found == tiles_.end()) {
    const std::size_t bytes = bytes_of(size, dtype);
    if (!make_room(bytes)) return false;
    found = tiles_.try_emplace(key).first;
    Tile& tile = found->second;
    tile.bytes = bytes;
    tile.place = order_.insert(order_.end(), key);
    used_ += bytes;
    lock.unlock();
    try {
      tile.pixels = Array(dtype, {size.height, size.width});
      tile.constant = compute(tile.pixels.view());
    } catch (...) {
      lock.lock();
      forget(found);
      changed_.notify_all();
      throw;
    }
    lock.lock();
    if (tile.constant) {
      constexpr std::size_t kKept = 256;  // of the tables
      tile.pixels = {};
      used_ -= std::exchange(tile.bytes, std::min(kKept, bytes)) - std::min(kKept, bytes);
    }
    tile.is_ready = true;
    changed_.notify_all();
  } else {
    order_.splice(order_.end(), order_, found->second.place);
  }
  Tile& tile = found->second;
  ++tile.users;
  lock.unlock();
  use({tile.constant, tile.constant ? AnyConstView() : tile.pixels.view()});
  lock.lock();
  --tile.users;
  return true;
}

}  // namespace fathom::stream
