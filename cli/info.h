// fathom info: what a file holds.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace fathom::cli {

struct InfoArguments {
  std::string input;
  std::string sites = "zero";
  bool json = false;
};

CLI::App* declare_info(CLI::App& app, InfoArguments& arguments);

/// @throws fathom::Error, std::bad_alloc
int run_info(const InfoArguments& arguments);

}  // namespace fathom::cli
