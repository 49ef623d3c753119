#include "fathom/io/stream.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "io/numbers.h"

namespace fathom::io {

namespace {

namespace fs = std::filesystem;

std::optional<int> number(const std::string& text) {
  const auto value = parsed<int>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

/// Whether the directory is the one whose entries are this process's descriptors, by whatever name.
bool holds_descriptors(const fs::path& directory) {
  if (directory == "/dev/fd" || directory == "/proc/self/fd") return true;
  std::error_code error;
  const fs::path found = fs::canonical(directory, error);
  if (error) return false;
  const fs::path own = fs::canonical("/proc/self/fd", error);
  return !error && found == own;
}

struct State {
  explicit State(int descriptor) : known(fstat(descriptor, &stat) == 0) {}
  /// Of what a path leads to; "-" to `standard`.
  State(const fs::path& path, int standard) {
    const auto descriptor = path == "-" ? standard : descriptor_of(path);
    known = (descriptor ? fstat(*descriptor, &stat) : ::stat(path.c_str(), &stat)) == 0;
  }
  bool same_as(const State& other) const {
    return known && other.known && stat.st_dev == other.stat.st_dev && stat.st_ino == other.stat.st_ino;
  }

  struct stat stat {};
  bool known = false;
};

}  // namespace

std::optional<int> descriptor_of(const fs::path& path) {
  constexpr int kMostLinks = 40;  // as Linux
  fs::path at = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    if (at == "/dev/stdin") return STDIN_FILENO;
    if (at == "/dev/stdout") return STDOUT_FILENO;
    if (at == "/dev/stderr") return STDERR_FILENO;
    const auto descriptor = number(at.filename());
    if (descriptor && holds_descriptors(at.parent_path())) return descriptor;
    const fs::path next = fs::read_symlink(at, error);
    if (error) break;
    at = at.parent_path() / next;  // an absolute `next` replaces all
  }
  return std::nullopt;
}

bool is_nameless(const fs::path& path) {
  struct stat state {};
  return path == "-" || descriptor_of(path) ||
         (stat(path.c_str(), &state) == 0 && !S_ISREG(state.st_mode) && !S_ISDIR(state.st_mode));
}

bool writes_to(const fs::path& target, int descriptor) {
  const State state(target, STDOUT_FILENO);
  const bool is_open = target == "-" || descriptor_of(target) || S_ISFIFO(state.stat.st_mode);
  return is_open && state.same_as(State(descriptor));
}

bool same_stream(const fs::path& a, const fs::path& b) {
  const State state(a, STDIN_FILENO);
  return !S_ISREG(state.stat.st_mode) && !S_ISDIR(state.stat.st_mode) && state.same_as(State(b, STDIN_FILENO));
}

}  // namespace fathom::io
