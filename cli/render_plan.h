// What `render` is going to do, checked against the volume's header before an element is read.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "fathom/apps/ray_march.h"
#include "fathom/io/image.h"
#include "render.h"
#include "report.h"

namespace fathom::cli {

struct RenderPlan {
  apps::RayMarcherOptions marcher;  ///< spacing filled in from the header; memory limited to what --memory leaves
  apps::RayMarchOptions march;
  std::optional<io::RawLayout> raw;  ///< of a volume without a header
  Input input;                       ///< of one with a header
  DType dtype = DType::uint8;        ///< of the volume
  Shape volume;
  Shape picture;
  bool transparent = false;  ///< the picture gets an opacity, and its background is 0
  bool counts = false;       ///< samples are wanted
  int repeat = 1;
};

/// @throws InvalidArgument, IoError: everything that can be known to be wrong before the work
RenderPlan make_render_plan(const RenderArguments& arguments);

/// What --plan says.
nlohmann::ordered_json plan_json(const RenderArguments& arguments, const RenderPlan& plan);
std::string plan_text(const RenderArguments& arguments, const RenderPlan& plan);

std::string_view name_of(apps::Stepping stepping);

}  // namespace fathom::cli
