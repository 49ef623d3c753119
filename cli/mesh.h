// fathom mesh: a triangle mesh in, its distance field out, the distances of some points, or of another mesh.
#pragma once

#include <string>

#include "verb.h"

namespace fathom::cli {

/// The command line of `mesh`, as text; empty: not given.
struct MeshArguments {
  std::string input;
  std::string output;
  std::string format;
  std::string points;
  std::string compare, tolerance;  ///< with another mesh
  std::string columns, delimiter, decimal;  ///< of the points
  std::string resolution, spacing, origin, shape, margin;
  std::string band, cutoff, offset;
  bool dense = false;
  std::string algorithm;
  std::string sign = "auto";
  std::string rule;
  std::string closest, triangles, inside;
  std::string preview, title, units;
  std::string dtype = "float32";
  std::string backend = "auto";
  std::string threads = "0";
  std::string memory;
  bool compress = false;
  bool plan = false;
  bool json = false;
};

Work declare_mesh(CLI::App* verb);

/// @throws fathom::Error, std::bad_alloc; nothing is left behind then
int run_mesh(const MeshArguments& arguments);

}  // namespace fathom::cli
