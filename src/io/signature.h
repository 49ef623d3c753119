// What a file is, by its first bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "fathom/io/image.h"

namespace fathom::io {

/// Bytes that signature checks want to see; fewer at the end of short files.
inline constexpr std::size_t kSignatureBytes = 544;

/// The format that Fathom reads, or automatic.
Format format_of(std::span<const std::byte> start);

/// What a file is that Fathom does not read, with the way out: "a BMP image (save it as PNG)"; empty if unknown.
std::string_view foreign_kind(std::span<const std::byte> start);

}  // namespace fathom::io
