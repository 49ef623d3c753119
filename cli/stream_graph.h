// The document of a tile graph, with the files that it names.
#pragma once

#include <string>

#include "fathom/stream/document.h"

namespace fathom::cli {

/// Reads a graph; the paths in it are relative to the document's folder. What its files say and is not taken is warned
/// of.
/// @param path  "-": standard input, and paths are relative to the working directory
/// @param ids  gets what the document calls its nodes
/// @throws IoError the document or a file of it cannot be read @throws InvalidArgument what is wrong with it
stream::NodeRef read_graph(const std::string& path, stream::NodeIds& ids);

/// What a node is, in words.
struct NodeWords {
  std::string parameters;   ///< "max 15, to nonzero"; not its extent
  std::string file;         ///< that it reads; empty: none
  std::string fingerprint;  ///< of that
};
NodeWords words_of(const stream::Node& node);

}  // namespace fathom::cli
