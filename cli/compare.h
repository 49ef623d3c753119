// fathom compare: whether two files hold the same values.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace fathom::cli {

struct CompareArguments {
  std::string a;
  std::string b;
  std::string tolerance = "0";
  bool json = false;
};

CLI::App* declare_compare(CLI::App& app, CompareArguments& arguments);

/// kDone: equal; kDifferent: not. @throws fathom::Error, std::bad_alloc
int run_compare(const CompareArguments& arguments);

}  // namespace fathom::cli
