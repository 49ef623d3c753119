// fathom distance: an image or volume in, its distance field out.
#pragma once

#include <string>
#include <vector>

#include "input.h"
#include "verb.h"

namespace fathom::cli {

/// The command line of `distance`, as text; empty: not given.
struct DistanceArguments {
  InputArguments input;
  std::vector<std::string> inputs;  ///< of which `input.path` is one, or a stack
  std::string output;
  std::string format;
  std::string sites = "zero";
  std::string metric = "euclidean";
  std::string spacing;
  std::string border = "open";
  std::string surface;
  std::string dtype;
  std::string nearest;
  std::string coordinates;
  std::string max_distance = "inf";
  std::string region;
  std::string preview;
  std::string title;
  std::string units;
  std::string backend = "auto";
  std::string threads = "0";
  std::string memory;
  std::string no_data;
  std::string jobs = "1";
  std::string algorithm;
  bool use_input_nodata = false;
  bool compress = false;
  bool signed_distance = false;
  bool squared = false;
  bool json = false;
  bool plan = false;
  bool one_of_many = false;
};

Work declare_distance(CLI::App* verb);

/// @throws fathom::Error, std::bad_alloc; nothing is left behind then
int run_distance(const DistanceArguments& arguments);

}  // namespace fathom::cli
