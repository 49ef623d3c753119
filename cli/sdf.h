// fathom sdf: an image of coverage in, a texture of signed distance for shaders out.
#pragma once

#include <string>

#include "operation.h"
#include "verb.h"

namespace fathom::cli {

/// The command line of `sdf`, as text; empty: not given.
struct SdfArguments {
  OperationArguments common;
  std::string range = "8";
  std::string size;
  std::string pad = "0";
  std::string dtype = "uint8";
  bool invert = false;
};

Work declare_sdf(CLI::App* verb);

/// @throws fathom::Error, std::bad_alloc; nothing is left behind then
int run_sdf(const SdfArguments& arguments);

}  // namespace fathom::cli
