// What each option takes: for --help, completion and manual pages.
#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace fathom::cli {

struct OptionType {
  std::string name;    ///< such as FILE; empty: a flag, or what stands without an option and has a name of its own
  std::string values;  ///< all that it takes, separated by blanks; empty: too many to list
};

OptionType type_of(const CLI::App& verb, const CLI::Option& option);

/// Lets --help show the types of a verb's options.
void show_types(CLI::App& verb);

}  // namespace fathom::cli
