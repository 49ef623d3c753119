#include "stream/pool.h"

#include <exception>
#include <utility>

#include "stream/pixels.h"

namespace fathom::stream {

namespace {

constexpr std::size_t kTableBytes = 256;  ///< that a tile of one value takes in the tables

}  // namespace

void Pool::put_aside(Array memory) {
  spare_bytes_ += memory.bytes();
  spare_.emplace(memory.bytes(), std::move(memory));
}

void Pool::forget(Tiles::iterator tile) {
  if (tile->second.pixels.bytes() > 0) put_aside(std::move(tile->second.pixels));
  else used_ -= kTableBytes;
  order_of(tile->second).erase(tile->second.place);
  tiles_.erase(tile);
}

Pool::Tiles::iterator Pool::least_needed() {
  const auto is_recent = [&](const Tile& tile) { return tile.last + recent_ >= now_; };
  const auto is_free = [](const Tile& tile) { return tile.is_ready && tile.users == 0; };
  const auto& [once, again] = order_;
  for (const Key& key : once) {
    const auto tile = tiles_.find(key);
    if (is_recent(tile->second)) break;
    if (is_free(tile->second)) return tile;
  }
  for (auto key = again.rbegin(); key != again.rend(); ++key) {
    const auto tile = tiles_.find(*key);
    if (!is_recent(tile->second) && is_free(tile->second)) return tile;
  }
  for (const auto* order : {&once, &again})
    for (const Key& key : *order)
      if (const auto tile = tiles_.find(key); is_free(tile->second)) return tile;
  return tiles_.end();
}

std::optional<Array> Pool::take(std::size_t bytes) {
  const auto from_spare = [&]() -> std::optional<Array> {
    const auto found = spare_.find(bytes);
    if (found == spare_.end()) return std::nullopt;
    Array memory = std::move(found->second);
    spare_bytes_ -= bytes;
    spare_.erase(found);
    return memory;
  };
  if (used_ <= limit_)  // else there are too many tiles of one value
    if (auto memory = from_spare()) return memory;
  while (used_ - spare_bytes_ + bytes > limit_) {
    const auto tile = least_needed();
    if (tile == tiles_.end()) break;
    forget(tile);
    if (auto memory = from_spare()) return memory;
  }
  while (used_ + bytes > limit_ && !spare_.empty()) {
    used_ -= spare_.begin()->first;
    spare_bytes_ -= spare_.begin()->first;
    spare_.erase(spare_.begin());
  }
  if (used_ + bytes > limit_) return std::nullopt;
  used_ += bytes;
  return Array(DType::uint8, {static_cast<std::int64_t>(bytes)});
}

bool Pool::with(const Key& key, Size size, DType dtype, bool again, const Compute& compute, const Use& use) {
  std::unique_lock lock(mutex_);
  auto found = tiles_.find(key);
  while (found != tiles_.end() && !found->second.is_ready) {
    changed_.wait(lock);
    found = tiles_.find(key);  // gone, if its computation failed
  }
  if (found == tiles_.end()) {
    auto memory = take(bytes_of(size, dtype));
    if (!memory) return false;
    found = tiles_.try_emplace(key).first;
    Tile& tile = found->second;
    tile.pixels = std::move(*memory);
    tile.again = again;
    tile.last = now_;
    tile.place = order_of(tile).insert(order_of(tile).end(), key);
    tile.view = AnyView(tile.pixels.data(), dtype, {size.height, size.width});
    lock.unlock();
    std::exception_ptr error;
    try {
      tile.constant = compute(tile.view);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    changed_.notify_all();
    if (error) {
      forget(found);
      std::rethrow_exception(error);
    }
    if (tile.constant) {
      put_aside(std::exchange(tile.pixels, {}));
      used_ += kTableBytes;
    }
    tile.is_ready = true;
  } else {
    Tile& tile = found->second;
    std::list<Key>& from = order_of(tile);
    tile.again = again;
    tile.last = now_;
    order_of(tile).splice(order_of(tile).end(), from, tile.place);
  }
  Tile& tile = found->second;
  ++tile.users;
  lock.unlock();
  use({tile.constant, tile.constant ? AnyConstView() : AnyConstView(tile.view)});
  lock.lock();
  --tile.users;
  return true;
}

}  // namespace fathom::stream
