// Tile graphs as documents: one versioned JSON text, the same from every face.
//
//   {"fathom": "stream", "version": 1, "root": "coat", "nodes": {
//      "dots": {"type": "file", "path": "dots.tif"},
//      "all":  {"type": "repeat", "height": 2000000, "width": 2000000, "children": ["dots"]},
//      "far":  {"type": "distance", "max": 15, "children": ["all"]},
//      "coat": {"type": "profile", "expression": "255*exp(-d/5)", "children": ["far"]}}}
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "fathom/stream/node.h"
#include "fathom/stream/nodes.h"

namespace fathom::stream {

/// Nodes of types that a program brings itself.
/// @param name      of the function
/// @param children  that the document gives it
using MakeNode = std::function<NodeRef(const std::vector<Child>& children)>;

/// What documents refer to, and the caller finds.
struct Resources {
  /// Opens what a node of type "file" names; and what it says of its pixels, where the document does not.
  std::function<std::shared_ptr<const RasterSource>(const std::string& path, PixelSize& pixel)> open;
  /// Rows of whole numbers in a file: placements, y, x and child.
  std::function<std::vector<Placement>(const std::string& path)> read_placements;
  std::map<std::string, std::shared_ptr<const RasterSource>> arrays;  ///< of type "array", by their names
  std::map<std::string, MakeNode> functions;                          ///< of type "function", by their names
};

/// Makes the graph of a document.
/// @throws InvalidArgument what is wrong, with the node and the field
/// @throws IoError what `open` throws
NodeRef read_document(std::string_view json, const Resources& resources);

/// The document of a graph; each node once, however many parents it has.
std::string write_document(const Node& root);

/// A hash of all that makes the pixels: nodes, their parameters, fingerprints of files. 32 hexadecimal digits.
std::string content_hash(const Node& root);

}  // namespace fathom::stream
