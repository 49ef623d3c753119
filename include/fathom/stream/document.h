// Tile graphs as documents: one versioned JSON text, the same from every face.
//
//   {"fathom": "stream", "version": 1, "root": "coat", "nodes": {
//      "dots": {"type": "file", "path": "dots.tif"},
//      "all":  {"type": "repeat", "height": 2000000, "width": 2000000, "children": ["dots"]},
//      "far":  {"type": "distance", "max": 15, "children": ["all"]},
//      "coat": {"type": "profile", "expression": "255*exp(-d/5)", "children": ["far"]}}}
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fathom/stream/node.h"
#include "fathom/stream/nodes.h"

namespace fathom::stream {

/// What the document says of a node of type "function" beside its name and children.
struct FunctionFields {
  std::int64_t halo = 0;       ///< pixels around a part that the function takes
  std::optional<DType> dtype;  ///< none: that of the first child
};

/// Nodes of types that a program brings itself.
/// @param children  that the document gives it
using MakeNode = std::function<NodeRef(const std::vector<Child>& children, const FunctionFields& fields)>;

/// What documents refer to, and the caller finds.
struct Resources {
  /// Opens what a node of type "file" names; and what it says of its pixels, where the document does not.
  /// @param path  as the document has it; may be changed to what the graph, and documents of it, shall have
  std::function<std::shared_ptr<const RasterSource>(std::string& path, PixelSize& pixel)> open;
  /// Whole numbers in a file: y, x and child of each placement.
  std::function<std::vector<std::int64_t>(const std::string& path)> read_placements;
  std::map<std::string, std::shared_ptr<const RasterSource>> arrays;  ///< of type "array", by their names
  std::map<std::string, MakeNode> functions;                          ///< of type "function", by their names
  std::map<std::string, NodeRef> nodes;  ///< made already, by the ids under which the document has them as children
};

/// What a document calls its nodes.
using NodeIds = std::unordered_map<const Node*, std::string>;

/// Makes the graph of a document.
/// @param ids  gets those of the nodes that are made; null: nobody asks
/// @throws InvalidArgument what is wrong, with the node and the field
/// @throws IoError what `open` throws
NodeRef read_document(std::string_view json, const Resources& resources, NodeIds* ids = nullptr);

/// The document of a graph; each node once, however many parents it has.
std::string write_document(const Node& root);

/// A hash of all that makes the pixels: nodes, their parameters, fingerprints of files. 32 hexadecimal digits.
std::string content_hash(const Node& root);

}  // namespace fathom::stream
