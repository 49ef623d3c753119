// Checks that stand before every allocation: what a header promises is counted, compared with the file and the limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fathom/core/array.h"
#include "io/byte_source.h"

namespace fathom::io {

/// Most bytes that reading one file may take.
struct MemoryLimit {
  std::uint64_t bytes = 0;
  bool from_caller = false;  ///< else it is what the machine has free
};

/// @param wanted  the caller's limit, or what the machine (and this process's control group) has available
MemoryLimit memory_limit(std::optional<std::size_t> wanted);

/// "12 bytes", "1.5 GiB".
std::string format_bytes(std::uint64_t bytes);

/// Bytes of an array's elements. @throws IoError more than can be counted, or more axes than an array can have
std::uint64_t count_bytes(const ByteSource& source, DType dtype, const Shape& shape);

/// Makes the array that a header promises.
/// @param scratch  further bytes that reading it takes
/// @throws IoError elements and scratch exceed the limit, or the machine has not as much
Array allocate(const ByteSource& source, DType dtype, const Shape& shape, const MemoryLimit& limit,
               std::uint64_t scratch = 0);

/// @throws IoError the source is known to hold fewer than `bytes` bytes from `offset`
void check_holds(const ByteSource& source, std::uint64_t offset, std::uint64_t bytes);

/// @throws IoError no deflate stream as short as the source can hold that many bytes
void check_can_inflate_to(const ByteSource& source, std::uint64_t bytes);

/// Text that came out of a file or a library, fit for one line of an error message.
std::string one_line(std::string_view text);

}  // namespace fathom::io
