// Scripts that complete the command's verbs, options, values and files in a shell.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace fathom::cli {

/// @param command  with its verbs and their options declared
/// @param shell    bash, zsh or fish
/// @throws InvalidArgument another shell
std::string completion_of(const CLI::App& command, const std::string& shell);

}  // namespace fathom::cli
