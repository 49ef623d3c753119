#include "verb.h"

#include "compare.h"
#include "costmap.h"
#include "distance.h"
#include "info.h"
#include "lloyd.h"
#include "manual.h"
#include "medial_axis.h"
#include "mesh.h"
#include "morphology.h"
#include "nearest_value.h"
#include "query.h"
#include "render.h"
#include "reproduce/reproduce.h"
#include "sdf.h"
#include "stipple.h"
#include "stream.h"
#include "thickness.h"
#include "voronoi.h"

namespace fathom::cli {

namespace {

constexpr Verb kVerbs[] = {
    {"distance", "Distance from each element to its nearest site", declare_distance},
    {"query", "Distance from each of some points to the nearest site, and its id", declare_query},
    {"mesh", "Distance field of a triangle mesh: dense or a narrow band, signed", declare_mesh},
    {"render", "Picture of what is solid in a volume, by ray marching", declare_render},
    {"voronoi", "Regions of sites: areas, weighted centroids, and which touch", declare_voronoi},
    {"lloyd", "Sites moved to the weighted centroids of their regions", declare_lloyd},
    {"stipple", "Picture of dots that follow the tone of a photo", declare_stipple},
    {"costmap", "What it costs a robot to be in each cell of a map, by the distance to obstacles", declare_costmap},
    {"sdf", "Texture of signed distance from an image, for shaders", declare_sdf},
    {"stream", "Raster of a tile graph, computed a band at a time: larger than memory and disk", declare_stream},
    {"morphology", "A mask or labels opened, closed, grown or shrunk by balls", declare_morphology},
    {"expand", "Labels grown into the background, and which way the nearest is", declare_expand},
    {"fill", "Elements without data, with the value of the nearest that has some", declare_fill},
    {"medial-axis", "Integer medial axis of an object, pruned, with radii", declare_medial_axis},
    {"thickness", "Local thickness of an object, its distribution, and porosimetry", declare_thickness},
    {"reproduce", "Tables and figures of the papers that Fathom stands on, measured on this machine", declare_reproduce},
    {"info", "Shape, type, spacing, values and sites of a file", declare_info},
    {"compare", "Whether two files hold the same values, and where they differ most", declare_compare},
    {"help", "What the command or a verb takes", declare_help, true},
    {"man", "The manual page, for man -l", declare_man, true},
    {"completion", "A script that lets a shell complete the command", declare_completion, true},
};

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

}  // namespace fathom::cli
