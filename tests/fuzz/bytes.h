// What a fuzzer hands over, taken a byte at a time; zeros follow.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>

namespace fathom::test {

class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::uint8_t next() {
    if (bytes_.empty()) return 0;
    const std::uint8_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }
  int below(int count) { return next() % count; }
  template <class T>
  T choose(std::initializer_list<T> choices) {
    return choices.begin()[next() % choices.size()];
  }
  double number() {
    return below(4) != 0 ? choose({1.0, 1.0, 0.5, 2.0, 0.1, 3.7, 0.0, -1.0}) : any_number();
  }
  double any_number() {
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits = bits << 8 | next();
    return std::bit_cast<double>(bits);
  }
  void copy_to(std::span<std::byte> target) {
    std::memset(target.data(), 0, target.size());
    std::memcpy(target.data(), bytes_.data(), std::min(target.size(), bytes_.size()));
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace fathom::test
