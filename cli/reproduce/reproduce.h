// fathom reproduce: the tables and figures of the papers that Fathom stands on, measured on this machine.
#pragma once

#include <string>
#include <vector>

#include "verb.h"

namespace fathom::cli {

/// The command line of `reproduce`, as text; empty: not given.
struct ReproduceArguments {
  std::vector<std::string> papers;  ///< empty: all
  std::string output;               ///< a directory
  std::string backend = "auto";
  bool quick = false;
  bool anew = false;
  bool json = false;
};

Work declare_reproduce(CLI::App* verb);

/// @throws fathom::Error, std::bad_alloc; finished steps are kept then
int run_reproduce(const ReproduceArguments& arguments);

}  // namespace fathom::cli
