// fathom lloyd: sites moved to the weighted centroids of their regions.
#pragma once

#include <string>

#include "operation.h"
#include "verb.h"

namespace fathom::cli {

struct LloydArguments {
  OperationArguments common;
  std::string points;
  std::string iterations = "100";
  std::string tolerance = "0";
  std::string supersample = "1";
  std::string seed = "0";
  bool on_elements = false;
};

Work declare_lloyd(CLI::App* verb);

int run_lloyd(const LloydArguments& arguments);

}  // namespace fathom::cli
