#include "io/sizes.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <new>

#include "fathom/core/error.h"

namespace fathom::io {

namespace {

/// MemAvailable of /proc/meminfo, else the physical memory.
std::uint64_t machine_memory() {
  std::ifstream meminfo("/proc/meminfo");
  std::string key;
  std::uint64_t kibibytes = 0;
  for (std::string unit; meminfo >> key >> kibibytes; std::getline(meminfo, unit))
    if (key == "MemAvailable:") return kibibytes * 1024;
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : INT64_MAX;
}

/// The limit of the control group (version 2) that a container runs in.
std::uint64_t container_memory() {
  std::ifstream file("/sys/fs/cgroup/memory.max");
  std::uint64_t bytes = 0;
  return file >> bytes ? bytes : UINT64_MAX;  // "max" and no such file: no limit
}

/// Bytes of the character that a text begins with, in UTF-8; 0: it is none that can be shown in a line. Source: The
/// Unicode Standard, table 3-7.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t k) -> unsigned {
    return k < text.size() ? static_cast<unsigned char>(text[k]) : 0;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t length = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4) return 0;
  unsigned code = first & (0x7fu >> length);
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(k) & 0x3f);
  }
  constexpr unsigned kLeast[] = {0xa0, 0x800, 0x10000};  // below are what has a shorter form, and controls
  const bool direction = (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < kLeast[length - 2] || code > 0x10ffff || surrogate || direction ? 0 : length;
}

}  // namespace

MemoryLimit memory_limit(std::optional<std::size_t> wanted) {
  if (wanted) return {*wanted, true};
  return {std::min(machine_memory(), container_memory()), false};
}

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  const char* const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", value, units[unit]);
  return text;
}

std::uint64_t count_bytes(const ByteSource& source, DType dtype, const Shape& shape) {
  try {
    std::uint64_t bytes = 0;
    if (!__builtin_mul_overflow(static_cast<std::uint64_t>(element_count(shape)), size_of(dtype), &bytes) &&
        bytes <= INT64_MAX)
      return bytes;
  } catch (const InvalidArgument&) {  // more elements than can be counted: the file's fault, not the caller's
  }
  source.fail("has an absurd header: " + to_string(shape) + " elements cannot be counted");
}

Array allocate(const ByteSource& source, DType dtype, const Shape& shape, const MemoryLimit& limit,
               std::uint64_t scratch) {
  std::uint64_t bytes = count_bytes(source, dtype, shape);
  if (__builtin_add_overflow(bytes, scratch, &bytes)) bytes = UINT64_MAX;
  const std::string need = "promises " + to_string(shape) + " elements of " + std::string(name_of(dtype)) +
                           ", and reading them takes " + format_bytes(bytes);
  if (bytes > limit.bytes)
    source.fail(need + (limit.from_caller ? "; the memory limit is " + format_bytes(limit.bytes) + ", raise it"
                                          : "; this machine has " + format_bytes(limit.bytes) + " free"));
  try {
    return Array(dtype, shape);
  } catch (const std::bad_alloc&) {
    source.fail(need + "; this machine does not give as much");
  }
}

void check_holds(const ByteSource& source, std::uint64_t offset, std::uint64_t bytes) {
  const auto size = source.size();
  if (!size) return;
  const std::uint64_t held = *size - std::min(offset, *size);
  if (held < bytes)
    source.fail("is truncated: its header promises " + std::to_string(bytes) + " bytes of elements, it holds " +
                std::to_string(held));
}

void check_can_inflate_to(const ByteSource& source, std::uint64_t bytes) {
  constexpr std::uint64_t kMostPerByte = 1032;  // deflate's best: 258 bytes from two bits
  const auto size = source.size();
  if (size && bytes / kMostPerByte > *size)
    source.fail("is truncated or has an absurd header: " + format_bytes(bytes) + " cannot come out of a file of " +
                format_bytes(*size));
}

std::string one_line(std::string_view text) {
  constexpr std::size_t kMost = 160;
  std::string line;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (line.size() + std::max<std::size_t>(length, 1) > kMost) break;
    if (length > 0) line += text.substr(0, length);
    else line += '?';
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return line;
}

}  // namespace fathom::io
