// fathom distance: an image or volume in, its distance field out.
#pragma once

#include <string>
#include <vector>

#include "fathom/grid/distance.h"
#include "input.h"
#include "verb.h"

namespace fathom::cli {

/// The command line of `distance`, as text; empty: not given.
struct DistanceArguments {
  InputArguments input;
  std::vector<std::string> inputs;  ///< of which `input.path` is one, or a stack
  std::string output;
  grid::PerOutput<std::string> site_files;  ///< of outputs that say where the nearest site is
  std::string format;
  std::string sites = "zero";
  std::string metric = "euclidean";
  std::string spacing;
  std::string border = "open";
  std::string surface;
  std::string dtype;
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

/// Calls visit(option, path) for each option that names a file to write, in the order of help.
template <class Arguments, class Visit>
void for_each_path(Arguments& arguments, const Visit& visit) {
  visit("-o", arguments.output);
  grid::for_each_output(
      [&](const grid::OutputKind& kind, auto& path) {
        if (kind.is_of_site) visit("--" + std::string(kind.name), path);
      },
      arguments.site_files);
  visit("--preview", arguments.preview);
}

Work declare_distance(CLI::App* verb);

/// @throws fathom::Error, std::bad_alloc; nothing is left behind then
int run_distance(const DistanceArguments& arguments);

}  // namespace fathom::cli
