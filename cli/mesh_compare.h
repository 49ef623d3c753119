// fathom mesh --compare: how far are two surfaces from one another?
#pragma once

#include "mesh.h"

namespace fathom::cli {

/// @throws fathom::Error, std::bad_alloc
void compare_meshes(const MeshArguments& arguments);

}  // namespace fathom::cli
