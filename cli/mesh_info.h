// fathom info of a mesh.
#pragma once

#include <string>

namespace fathom::cli {

/// @throws fathom::Error, std::bad_alloc
/// @param intersections  whether to look for triangles that meet
void print_mesh_info(const std::string& path, bool intersections, bool json);

}  // namespace fathom::cli
