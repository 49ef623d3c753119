// fathom compare: whether two files hold the same values.
#pragma once

#include <string>

#include "verb.h"

namespace fathom::cli {

struct CompareArguments {
  std::string a;
  std::string b;
  std::string tolerance = "0";
  bool json = false;
};

Work declare_compare(CLI::App* verb);

/// kDone: equal; kDifferent: not. @throws fathom::Error, std::bad_alloc
int run_compare(const CompareArguments& arguments);

}  // namespace fathom::cli
