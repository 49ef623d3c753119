// fathom medial-axis: an object in, its integer medial axis out.
#pragma once

#include <string>

#include "operation.h"
#include "verb.h"

namespace fathom::cli {

/// The command line of `medial-axis`, as text; empty: not given.
struct MedialAxisArguments : OperationArguments {
  std::string pruning = "constant";
  std::string gamma;
  std::string ties = "both";
  std::string distance;
  std::string nearest;
  std::string witness;
  std::string balls;
};

Work declare_medial_axis(CLI::App* verb);

/// @throws fathom::Error, std::bad_alloc; nothing is left behind then
int run_medial_axis(const MedialAxisArguments& arguments);

}  // namespace fathom::cli
