// What `render` is going to do, checked before a volume is read.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "fathom/apps/ray_march.h"
#include "fathom/io/image.h"
#include "render.h"

namespace fathom::cli {

struct RenderPlan {
  apps::RayMarcherOptions marcher;
  apps::RayMarchOptions march;
  std::optional<io::RawLayout> raw;  ///< of a volume without a header
  Shape picture;
  int repeat = 1;
  std::optional<std::size_t> memory;
};

/// @throws InvalidArgument, IoError: everything that can be known to be wrong before the work
RenderPlan make_render_plan(const RenderArguments& arguments);

std::string_view name_of(apps::Stepping stepping);

}  // namespace fathom::cli
