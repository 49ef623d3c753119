// fathom stream: a tile graph in, its raster out: into a file, or through a pipe into a machine.
#pragma once

#include <string>
#include <vector>

#include "verb.h"

namespace fathom::cli {

/// The command line of `stream`, as text; empty: not given.
struct StreamArguments {
  std::vector<std::string> words;  ///< the document, or an action and its file
  std::string output;
  std::string format;
  std::string region;
  std::string order = "rows";
  std::string rate, min_rate;
  std::string journal, resume_at, ack;
  std::string preview, scale;
  std::string backend = "auto";
  std::string threads = "0";
  std::string memory;
  bool compress = false;
  bool plan = false;
  bool json = false;
};

Work declare_stream(CLI::App* verb);

/// @throws fathom::Error, std::bad_alloc; nothing is left behind then, but with a journal what goes on
int run_stream(const StreamArguments& arguments);

}  // namespace fathom::cli
