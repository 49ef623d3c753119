// fathom expand and fathom fill: each element with the value of the nearest one that has some.
#pragma once

#include <string>

#include "operation.h"
#include "verb.h"

namespace fathom::cli {

struct NearestValueArguments {
  OperationArguments common;
  std::string max_distance = "inf";
  std::string ties = "first";  ///< of `expand`
  std::string metric = "euclidean";
  std::string border = "open";
  std::string distance;
  std::string direction;
};

Work declare_expand(CLI::App* verb);
Work declare_fill(CLI::App* verb);

/// @throws fathom::Error, std::bad_alloc; nothing is left behind then
int run_expand(const NearestValueArguments& arguments);
int run_fill(const NearestValueArguments& arguments);

}  // namespace fathom::cli
