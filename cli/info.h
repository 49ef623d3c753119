// fathom info: what a file holds.
#pragma once

#include <string>

#include "input.h"
#include "verb.h"

namespace fathom::cli {

struct InfoArguments {
  InputArguments input;
  std::string sites = "zero";
  bool intersections = false;  ///< of a mesh
  bool json = false;
};

Work declare_info(CLI::App* verb);

/// @throws fathom::Error, std::bad_alloc
int run_info(const InfoArguments& arguments);

}  // namespace fathom::cli
