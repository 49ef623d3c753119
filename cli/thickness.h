// fathom thickness: an object in, its local thickness, and how much of it is how thick, out.
#pragma once

#include <string>

#include "operation.h"
#include "verb.h"

namespace fathom::cli {

/// The command line of `thickness`, as text; empty: not given.
struct ThicknessArguments : OperationArguments {
  std::string dtype = "float32";
  std::string inlets;
  std::string distribution;
};

Work declare_thickness(CLI::App* verb);

/// @throws fathom::Error, std::bad_alloc; nothing is left behind then
int run_thickness(const ThicknessArguments& arguments);

}  // namespace fathom::cli
