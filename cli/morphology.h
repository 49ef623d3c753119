// fathom morphology: a mask or labels in, opened, closed, grown or shrunk by balls.
#pragma once

#include <string>

#include "operation.h"
#include "verb.h"

namespace fathom::cli {

struct MorphologyArguments {
  OperationArguments common;
  std::string operation;
  std::string radius;
  std::string thickness;
  std::string border = "ignore";
  bool labels = false;
};

Work declare_morphology(CLI::App* verb);

/// @throws fathom::Error, std::bad_alloc; nothing is left behind then
int run_morphology(const MorphologyArguments& arguments);

}  // namespace fathom::cli
