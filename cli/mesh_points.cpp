#include "mesh_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "query_points.h"

namespace fathom::cli {

namespace {

/// What a set takes: integers become float64, which holds all of int32.
Array as_real(Array points) {
  if (points.dtype() != DType::int32) return points;
  Array real(DType::float64, points.shape());
  const std::int32_t* const from = points.as<std::int32_t>().data();
  std::copy_n(from, points.size(), real.as<double>().data());
  return real;
}

/// One of the three coordinates by itself.
Array coordinate(const Array& vectors, std::int64_t axis) {
  const std::int64_t count = vectors.shape()[0];
  const std::size_t size = size_of(vectors.dtype());
  Array column(vectors.dtype(), {count});
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(column.data() + static_cast<std::size_t>(i) * size,
                vectors.data() + static_cast<std::size_t>(3 * i + axis) * size, size);
  return column;
}

}  // namespace

io::Points read_mesh_points(const MeshArguments& arguments) {
  QueryArguments reading;
  reading.columns = arguments.columns;
  reading.delimiter = arguments.delimiter;
  reading.decimal = arguments.decimal;
  io::Points points = io::read_points(arguments.points, parse_point_options(reading));
  if (points.data.shape()[1] != 3)
    throw IoError(
        fmt::format("{} has points with {} coordinates; a mesh has 3", arguments.points, points.data.shape()[1]));
  points.data = as_real(std::move(points.data));
  return points;
}

PointAnswers answer_points(const mesh::TriangleSet& set, const MeshPlan& plan, const Array& points,
                           const Execution& execution, MeshOutcome& outcome) {
  const std::int64_t count = points.shape()[0];
  PointAnswers answers{Array(plan.dtype, {count}), Array(DType::int32, {count}), Array(plan.dtype, {count, 3})};
  mesh::Outputs outputs;
  outputs.distance = answers.distance.view();
  outputs.triangle = answers.triangle.view();
  outputs.closest = answers.closest.view();
  outcome.report = set.nearest(points.view(), outputs, execution);
  outcome.questions = count;
  outcome.range = value_range(std::as_const(answers.distance).view());
  return answers;
}

void write_answers(const MeshArguments& arguments, const MeshPlan& plan, const Array& points,
                   const PointAnswers& answers, PendingFiles& files) {
  const Array x = coordinate(answers.closest, 0), y = coordinate(answers.closest, 1),
              z = coordinate(answers.closest, 2);
  io::write_table(files.add(arguments.output),
                  {{"distance", answers.distance.view()},
                   {"triangle", answers.triangle.view()},
                   {"closest_x", x.view()},
                   {"closest_y", y.view()},
                   {"closest_z", z.view()}},
                  points.view(), plan.table_format);
}

}  // namespace fathom::cli
