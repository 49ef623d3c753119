// The verbs of the command, one row each: what --help says of it, and what declares its options.
#pragma once

#include <functional>
#include <span>

namespace CLI {
class App;
}

namespace fathom::cli {

/// What a verb does once its options are read. Returns the exit code.
/// @throws fathom::Error, std::bad_alloc; nothing is left behind then
using Work = std::function<int()>;

struct Verb {
  const char* name;
  const char* summary;              ///< one line
  Work (*declare)(CLI::App* verb);  ///< declares its options, but --quiet and --strict; the work keeps their values
  bool is_about_verbs = false;      ///< needs no --quiet and --strict, and is not what a mistaken verb meant
};

/// In the order that help and errors show them.
std::span<const Verb> verbs();

}  // namespace fathom::cli
