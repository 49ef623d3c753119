// What is no error but should be known: one line on standard error each. --quiet leaves them out, --strict makes them
// errors.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace fathom::cli {

/// Gives a verb the options --quiet and --strict.
void declare_warnings(CLI::App* verb);

/// Whether --quiet was given: nothing is said but errors, and what was asked for (info, --json).
bool is_quiet();

/// Prints "fathom: warning: TEXT", where TEXT says what was found and how to have it otherwise, without a full stop.
/// @throws IoError --strict was given; so call it before anything is written
void warn(const std::string& text);

}  // namespace fathom::cli
