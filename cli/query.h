// fathom query: sites and queries in, distances and ids out.
#pragma once

#include <string>

#include "verb.h"

namespace fathom::cli {

/// The command line of `query`, as text; empty: not given.
struct QueryArguments {
  std::string sites;
  std::string queries;
  std::string output;
  std::string format;
  std::string columns;
  std::string delimiter;
  std::string decimal;
  std::string dtype = "float32";
  std::string k = "1";
  std::string metric = "euclidean";
  std::string radius = "inf";
  std::string approximate = "0";
  std::string perforate = "1";
  std::string cone;
  std::string cylinder = "0";
  std::string period;
  std::string storage = "auto";
  std::string backend = "auto";
  std::string devices;
  std::string algorithm;
  std::string threads = "0";
  std::string memory;
  bool plan = false;
  bool json = false;
};

Work declare_query(CLI::App* verb);

/// @throws fathom::Error, std::bad_alloc; nothing is left behind then
int run_query(const QueryArguments& arguments);

}  // namespace fathom::cli
