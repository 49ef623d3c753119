#include "mesh_field.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "fathom/core/device.h"

namespace fathom::cli {

namespace {

using Kind = MeshOutput::Kind;

template <class T>
std::span<T> values(Array& array) {
  return {array.as<T>().data(), static_cast<std::size_t>(array.size())};
}

/// Writes what tiles hold of their points, `width` values each, to the places of the lattice.
template <class T>
void spread(const mesh::Band& band, const Array& of_tiles, std::int64_t width, T elsewhere, Array& out) {
  std::ranges::fill(values<T>(out), elsewhere);
  const T* const from = of_tiles.as<T>().data();
  T* const to = out.as<T>().data();
  const std::int32_t* const tiles = band.tiles.as<std::int32_t>().data();
  const auto& shape = band.lattice.shape;
  for (std::int64_t tile = 0; tile < band.count(); ++tile) {
    std::int64_t first[3], size[3];
    for (std::size_t k = 0; k < 3; ++k) {
      first[k] = std::int64_t{tiles[3 * tile + static_cast<std::int64_t>(k)]} * mesh::kTileSide;
      size[k] = std::min<std::int64_t>(mesh::kTileSide, shape[k] - first[k]);
    }
    for (std::int64_t z = 0; z < size[2]; ++z)
      for (std::int64_t y = 0; y < size[1]; ++y) {
        const std::int64_t line = tile * mesh::kTilePoints + (z * mesh::kTileSide + y) * mesh::kTileSide;
        const std::int64_t place = ((first[2] + z) * shape[1] + first[1] + y) * shape[0] + first[0];
        std::copy_n(from + line * width, size[0] * width, to + place * width);
      }
  }
}

/// Distances have their side everywhere.
template <class T>
void mark_inside(const Array& distances, Array& inside) {
  const T* const from = distances.as<T>().data();
  std::transform(from, from + distances.size(), inside.as<std::uint8_t>().data(),
                 [](T distance) { return static_cast<std::uint8_t>(distance <= 0); });
}

/// By the algorithm as it was published.
mesh::Band published_band(const mesh::Triangles& triangles, const MeshPlan& plan, const Execution& execution,
                          MeshOutcome& outcome) {
  published::BandOptions options = *plan.algorithm;
  options.cutoff = *plan.cutoff;
  options.execution.progress = execution.progress;
  published::BandResult result = published::band(triangles, plan.lattice, options);
  const published::BandReport& report = result.report;
  outcome.report = {report.backend, result.band.instruction_set, report.threads, report.scratch_bytes, report.device};
  outcome.algorithm = report;
  return std::move(result.band);
}

mesh::Band own_band(const mesh::TriangleSet& set, const MeshPlan& plan, const Execution& execution,
                    MeshOutcome& outcome) {
  mesh::BandOptions options;
  options.cutoff = *plan.cutoff;
  options.dtype = plan.dtype;
  options.triangles = plan.output(Kind::triangle) != nullptr;
  options.closest = plan.output(Kind::closest) != nullptr;
  options.execution = execution;
  mesh::Band band = set.band(plan.lattice, options);
  const bool on_device = set.on_device();
  outcome.report = {on_device ? Backend::cuda : Backend::cpu, band.instruction_set, band.threads, 0,
                    on_device ? describe_device(current_device()).name : std::string()};
  return band;
}

void fill_from_band(mesh::Band band, const MeshPlan& plan, MeshField& field, MeshOutcome& outcome) {
  std::vector<Array>& arrays = field.arrays;
  outcome.active = band.active;
  outcome.tiles = band.count();
  outcome.band_bytes = band.bytes();
  for (std::size_t k = 0; k < arrays.size(); ++k) switch (plan.outputs[k].kind) {
      case Kind::distance: band.to_dense(arrays[k].view()); break;
      case Kind::triangle: spread<std::int32_t>(band, band.triangles, 1, -1, arrays[k]); break;
      case Kind::closest:
        spread<float>(band, band.closest, 3, std::numeric_limits<float>::quiet_NaN(), arrays[k]);
        break;
      case Kind::inside:
        plan.dtype == DType::float32 ? mark_inside<float>(arrays[0], arrays[k])
                                     : mark_inside<double>(arrays[0], arrays[k]);
        break;
      case Kind::band: outcome.range = value_range(std::as_const(band.distances).view()); break;
      case Kind::surface:
        field.surface = mesh::level_set(plan.lattice, std::as_const(arrays[0]).view(), *plan.offset);
        break;
    }
  if (plan.output(Kind::band) != nullptr) field.band = std::move(band);
}

void fill_densely(const mesh::TriangleSet& set, const MeshPlan& plan, const Execution& execution,
                  std::vector<Array>& arrays, MeshOutcome& outcome) {
  mesh::Outputs outputs;
  for (std::size_t k = 0; k < arrays.size(); ++k) switch (plan.outputs[k].kind) {
      case Kind::distance: outputs.distance = arrays[k].view(); break;
      case Kind::triangle: outputs.triangle = arrays[k].view(); break;
      case Kind::closest: outputs.closest = arrays[k].view(); break;
      case Kind::inside: outputs.inside = arrays[k].view(); break;
      case Kind::band:
      case Kind::surface: throw InternalError("a dense field has no band");
    }
  outcome.report = set.field(plan.lattice, outputs, execution);
}

}  // namespace

MeshField compute_field(const mesh::TriangleSet& set, const mesh::Triangles& triangles, const MeshPlan& plan,
                        const Execution& execution, MeshOutcome& outcome) {
  MeshField field;
  for (const MeshOutput& output : plan.outputs)
    field.arrays.push_back(output.is_array() ? Array(output.dtype, output.shape) : Array());
  if (plan.algorithm) fill_from_band(published_band(triangles, plan, execution, outcome), plan, field, outcome);
  else if (plan.cutoff) fill_from_band(own_band(set, plan, execution, outcome), plan, field, outcome);
  else fill_densely(set, plan, execution, field.arrays, outcome);
  for (std::size_t k = 0; k < field.arrays.size(); ++k) {
    if (plan.outputs[k].kind == Kind::distance) outcome.range = value_range(std::as_const(field.arrays[k]).view());
    if (plan.outputs[k].kind == Kind::inside) {
      const auto marks = values<std::uint8_t>(field.arrays[k]);
      outcome.inside = std::count(marks.begin(), marks.end(), 1);
    }
  }
  return field;
}

}  // namespace fathom::cli
