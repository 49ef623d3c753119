// fathom mesh --points: how far are some points from the surface, which triangle is nearest, and where?
#pragma once

#include "fathom/io/points.h"
#include "mesh_report.h"
#include "pending_files.h"

namespace fathom::cli {

/// @throws IoError they have two coordinates
io::Points read_mesh_points(const MeshArguments& arguments);

struct PointAnswers {
  Array distance;
  Array triangle;
  Array closest;
};

/// @param outcome  gets what is said of them
PointAnswers answer_points(const mesh::TriangleSet& set, const MeshPlan& plan, const Array& points,
                           const Execution& execution, MeshOutcome& outcome);

/// Columns distance, triangle, closest_x, closest_y, closest_z.
void write_answers(const MeshArguments& arguments, const MeshPlan& plan, const Array& points,
                   const PointAnswers& answers, PendingFiles& files);

}  // namespace fathom::cli
