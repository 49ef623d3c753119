// Puts meshes on a device. No CUDA header is needed to call it.
#pragma once

#include <memory>
#include <optional>

#include "mesh/prepared.h"
#include "mesh/resident_mesh.h"

namespace fathom::mesh::cuda {

/// A copy on the current device of what answers need; nothing refers to `prepared` afterwards. Waits.
/// @param most_bytes  that the copy may take there
/// @throws InvalidArgument it takes more
std::unique_ptr<const ResidentMesh> make_resident(const PreparedMesh& prepared, std::optional<std::size_t> most_bytes);

/// A copy in the host's memory. Waits.
/// @param stream  in whose order the array is there
Array download(const AnyConstDeviceView& view, Stream stream);

/// The device whose memory `address` is.
/// @throws InvalidArgument the memory belongs to no device
int device_of(const void* address, const char* name);

}  // namespace fathom::mesh::cuda
