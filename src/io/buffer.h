// Many small pieces, such as the numbers of a table, as few large writes.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "fathom/core/view.h"
#include "io/byte_sink.h"

namespace fathom::io {

class Buffer {
 public:
  explicit Buffer(ByteSink& sink) : sink_(sink) {}
  void add(const void* data, std::size_t size) {
    if (bytes_.size() + size > kMost) flush();
    const auto* from = static_cast<const char*>(data);
    bytes_.insert(bytes_.end(), from, from + size);
  }
  void add(std::string_view text) { add(text.data(), text.size()); }
  void flush() {
    sink_.write(bytes_.data(), bytes_.size());
    bytes_.clear();
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 18;
  ByteSink& sink_;
  std::vector<char> bytes_;
};

inline const std::byte* element(const AnyConstView& view, std::int64_t at) {
  return view.data() + static_cast<std::size_t>(at) * size_of(view.dtype());
}

/// The shortest text that reads back as the same number.
inline void add_number(Buffer& buffer, const AnyConstView& view, std::int64_t at) {
  visit_dtype(view.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::array<char, 32> text;
    const T value = *reinterpret_cast<const T*>(element(view, at));
    if constexpr (std::is_same_v<T, bool>) buffer.add(value ? "1" : "0");
    else buffer.add({text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr});
  });
}

}  // namespace fathom::io
