// fathom info of a mesh.
#pragma once

#include <string>

namespace fathom::cli {

/// @throws fathom::Error, std::bad_alloc
void print_mesh_info(const std::string& path, bool json);

}  // namespace fathom::cli
