// fathom stipple: a photo in, a picture of dots out.
#pragma once

#include <string>

#include "operation.h"
#include "verb.h"

namespace fathom::cli {

/// The command line of `stipple`, as text; empty: not given.
struct StippleArguments {
  OperationArguments common;
  std::string dots = "10000";
  std::string seed = "0";
  std::string iterations = "100";
  std::string gamma = "1";
  std::string supersample;
  std::string dot_size = "1";
  std::string zoom = "2";
  std::string ink;
  std::string paper;
  bool invert = false;
};

Work declare_stipple(CLI::App* verb);

/// @throws fathom::Error, std::bad_alloc; nothing is left behind then
int run_stipple(const StippleArguments& arguments);

}  // namespace fathom::cli
