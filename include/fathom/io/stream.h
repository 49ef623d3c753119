// Paths that are no files of their own: descriptors that are open already, and pipes.
#pragma once

#include <filesystem>
#include <optional>

namespace fathom::io {

/// The open descriptor of this process that a path names: /dev/stdin, /dev/stdout, /dev/stderr, /dev/fd/N,
/// /proc/self/fd/N, or a link to one. "-" is none of them: whether it is input or output depends on its place.
std::optional<int> descriptor_of(const std::filesystem::path& path);

/// Whether a name says nothing about a format because it is no file's: "-", an open descriptor, a device or a FIFO.
bool is_nameless(const std::filesystem::path& path);

/// Whether what is written to `target` ("-": standard output) goes to where `descriptor` goes: the target names that
/// descriptor or one that is open on the same file, or it is the pipe or FIFO behind it.
bool writes_to(const std::filesystem::path& target, int descriptor);

/// Whether two inputs ("-": standard input) are one pipe, socket or device, whose bytes only one of them can get.
bool same_stream(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace fathom::io
