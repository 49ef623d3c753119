// fathom voronoi: sites in, their regions and what these hold out.
#pragma once

#include <string>

#include "operation.h"
#include "verb.h"

namespace fathom::cli {

/// The command line of `voronoi`, as text; empty: not given.
struct VoronoiArguments {
  OperationArguments common;
  std::string sites = "nonzero";
  std::string weights;
  std::string table;
  std::string edges;
};

Work declare_voronoi(CLI::App* verb);

/// @throws fathom::Error, std::bad_alloc; nothing is left behind then
int run_voronoi(const VoronoiArguments& arguments);

}  // namespace fathom::cli
