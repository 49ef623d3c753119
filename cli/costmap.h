// fathom costmap: a map of obstacles in, what it costs a robot to be in each cell out.
#pragma once

#include <string>

#include "operation.h"
#include "verb.h"

namespace fathom::cli {

/// The command line of `costmap`, as text; empty: not given.
struct CostmapArguments {
  OperationArguments common;
  std::string nearest;
  std::string occupied;
  std::string unknown;
  std::string resolution = "0.05";
  std::string inscribed = "0.3";
  std::string inflation = "1";
  std::string scaling = "3";
};

Work declare_costmap(CLI::App* verb);

/// @throws fathom::Error, std::bad_alloc; nothing is left behind then
int run_costmap(const CostmapArguments& arguments);

}  // namespace fathom::cli
