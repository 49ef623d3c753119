// fathom render: a volume in, a picture of what is solid in it out.
#pragma once

#include <string>

#include "input.h"
#include "verb.h"

namespace fathom::cli {

/// The command line of `render`, as text; empty: not given.
struct RenderArguments {
  InputArguments input;
  std::string output;
  std::string samples;
  std::string threshold;
  std::string shape;
  std::string dtype;
  std::string spacing;
  std::string step = "field";
  std::string cone;
  std::string size = "512x512";
  std::string azimuth = "30";
  std::string elevation = "20";
  std::string up = "z";
  std::string projection = "perspective";
  std::string field_of_view = "30";
  std::string zoom = "1";
  std::string antialias = "3";
  std::string background = "white";
  std::string repeat = "1";
  std::string backend = "auto";
  std::string threads = "0";
  std::string memory;
  bool big_endian = false;
  bool plan = false;
  bool json = false;
};

Work declare_render(CLI::App* verb);

/// @throws fathom::Error, std::bad_alloc; nothing is left behind then
int run_render(const RenderArguments& arguments);

}  // namespace fathom::cli
