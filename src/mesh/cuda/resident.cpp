#include "mesh/cuda/resident.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/cuda/readers.h"
#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "core/cuda/staging.h"
#include "fathom/core/error.h"
#include "mesh/cuda/answer.h"
#include "mesh/cuda/band.h"
#include "mesh/cuda/band_in_slabs.h"
#include "mesh/cuda/pieces.h"

namespace fathom::mesh::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::DeviceMemory;
using fathom::cuda::HostRows;
using fathom::cuda::OnDevice;
using fathom::cuda::OwnStream;
using fathom::cuda::Readers;
using fathom::cuda::Scratch;
using fathom::cuda::Staging;

/// Copies arrays into one block of device memory; without memory, counts its bytes.
class Upload {
 public:
  Upload(std::byte* base, cudaStream_t stream) : scratch_(base), is_real_(base), stream_(stream) {}

  template <class T>
  const T* copy(const T* from, std::size_t count) {
    if (!from) return nullptr;
    T* const to = scratch_.take<T>(static_cast<std::int64_t>(count));
    if (is_real_ && count > 0)
      check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyHostToDevice, stream_),
            "copying a mesh to the device");
    return to;
  }
  std::size_t bytes() const { return scratch_.bytes(); }

 private:
  Scratch scratch_;
  bool is_real_;
  cudaStream_t stream_;
};

/// What devices have of a mesh besides, by the places of triangles.
struct ByPlace {
  std::vector<Features> features;
  std::vector<Vec3> normals;

  explicit ByPlace(const PreparedMesh& prepared);
};

ByPlace::ByPlace(const PreparedMesh& prepared) {
  if (prepared.features.empty()) return;
  const auto& ids = prepared.tree.ids;
  const auto count = static_cast<std::size_t>(prepared.tree.count);
  std::vector<std::uint32_t> place_of(count);
  for (std::size_t place = 0; place < count; ++place)
    place_of[static_cast<std::size_t>(ids[place])] = static_cast<std::uint32_t>(place);
  for (std::size_t place = 0; place < count; ++place) {
    const Triangle triangle = prepared.tree.triangle(static_cast<std::int64_t>(place));
    normals.push_back(cross(triangle.b - triangle.a, triangle.c - triangle.a));
    features.push_back(prepared.features[static_cast<std::size_t>(ids[place])]);
    for (std::uint32_t& name : features.back()) name = 8 * place_of[name / 8] + name % 8;
  }
}

/// @return as prepared.view(), there
TreeView copied(const PreparedMesh& prepared, const ByPlace& by_place, Upload& upload) {
  TreeView view = prepared.view();
  const std::size_t blocks = prepared.tree.blocks.size(), triangles = prepared.surface.corners.size();
  view.mesh.blocks = upload.copy(view.mesh.blocks, blocks);
  view.mesh.ids = upload.copy(view.mesh.ids, blocks * kFan);
  view.mesh.vertices = upload.copy(view.mesh.vertices, prepared.surface.vertices.size());
  view.mesh.corners = upload.copy(view.mesh.corners, 3 * triangles);
  view.mesh.edge_normals = upload.copy(view.mesh.edge_normals, 3 * triangles);
  view.mesh.vertex_normals = upload.copy(view.mesh.vertex_normals, prepared.pseudonormals.vertices.size());
  if (!by_place.features.empty()) {
    view.mesh.features = upload.copy(by_place.features.front().data(), 6 * by_place.features.size());
    view.mesh.normals = upload.copy(by_place.normals.data(), by_place.normals.size());
  }
  for (int level = 0; level < view.level_count; ++level)
    view.levels[level] = upload.copy(view.levels[level], prepared.tree.levels[static_cast<std::size_t>(level)].size());
  view.clusters.blocks = view.mesh.blocks;
  view.clusters.turns = upload.copy(view.clusters.turns, blocks * kFan);
  for (int level = 0; level < view.clusters.level_count; ++level)
    view.clusters.levels[level] =
        upload.copy(view.clusters.levels[level], static_cast<std::size_t>(view.clusters.sizes[level]));
  return view;
}

/// Calls visitor(place, numbers of each answer) for the outputs that are wanted.
template <class OfPlaces, class Visitor>
void visit(OfPlaces& places, const Visitor& visitor) {
  for (auto* place : {&places.distance, &places.triangle, &places.feature, &places.inside})
    if (place->data) visitor(*place, 1);
  for (auto* place : {&places.closest, &places.barycentric, &places.gradient})
    if (place->data) visitor(*place, 3);
}

std::size_t bytes_of_answer(const Places& places) {
  std::size_t sum = 0;
  visit(places, [&](const Place& place, std::size_t numbers) { sum += numbers * size_of(place.dtype); });
  return sum;
}

/// The same outputs, the first answer being that with `first` along the slowest axis.
Places places_from(Places places, std::int64_t first) {
  visit(places, [&](Place& place, int) {
    place.data += first * place.step[0] * static_cast<std::int64_t>(size_of(place.dtype));
  });
  return places;
}

/// Dense outputs on the device for a piece of a call between arrays of the host.
class PieceOutputs {
 public:
  /// @param shape  of all questions
  PieceOutputs(const Places& host, const Shape& shape) : host_(host), shape_(shape) {}

  /// For questions [0, count) along the slowest axis.
  Places places(std::int64_t count, Scratch& scratch) const {
    std::int64_t of_first = 1;
    for (int axis = 1; axis < shape_.rank(); ++axis) of_first *= shape_[axis];
    Places device = host_;
    visit(device, [&](Place& place, std::int64_t numbers) {
      place.data =
          scratch.take<std::byte>(count * of_first * numbers * static_cast<std::int64_t>(size_of(place.dtype)));
      std::int64_t step = numbers;
      for (int axis = shape_.rank() - 1; axis >= 0; --axis) {
        place.step[axis] = step;
        step *= shape_[axis];
      }
    });
    return device;
  }

  /// Questions [first, first + count) along the slowest axis.
  void download(const Places& device, std::int64_t first, std::int64_t count, Staging& staging,
                cudaStream_t stream) const {
    std::vector<const Place*> from;
    visit(device, [&](const Place& place, int) { from.push_back(&place); });
    std::size_t i = 0;
    visit(host_, [&](const Place& place, std::size_t numbers) {
      const std::size_t size = size_of(place.dtype);
      HostRows<std::byte> rows;
      rows.data = place.data + first * place.step[0] * static_cast<std::int64_t>(size);
      rows.count = count;
      rows.bytes = numbers * size;
      for (int axis = 0; axis < shape_.rank(); ++axis) {
        rows.extent.push_back(axis == 0 ? count : shape_[axis]);
        rows.stride.push_back(place.step[axis] * static_cast<std::int64_t>(size));
        if (axis > 0) rows.count *= shape_[axis];
      }
      rows.join();
      staging.download(from[i++]->data, rows, stream);
    });
  }

 private:
  const Places& host_;
  const Shape& shape_;
};

constexpr std::size_t kRoom = std::size_t{1} << 30;  ///< that a call between arrays of the host takes unless told
constexpr std::size_t kSlack = 8 * 256;              ///< what cutting arrays from scratch may waste
constexpr std::int64_t kWatchedPoints = 1 << 20, kWatchedTiles = 1 << 14;  ///< at a time

/// Planes of a lattice at a time: whole tiles, where they may be.
std::int64_t planes_at_a_time(const Grid& grid, std::size_t fixed, std::size_t of_plane, const Execution& execution,
                              bool is_watched) {
  std::int64_t planes = parts_at_a_time(grid.shape[2], fixed, of_plane, kRoom, execution);
  if (is_watched) {
    const std::int64_t across = (grid.shape[0] + kTileSide - 1) / kTileSide,
                       down = (grid.shape[1] + kTileSide - 1) / kTileSide;
    planes = std::min(planes, kTileSide * std::max<std::int64_t>(1, kWatchedTiles / (across * down)));
  }
  return planes > kTileSide && planes < grid.shape[2] ? planes / kTileSide * kTileSide : planes;
}

class DeviceSet : public ResidentMesh {
 public:
  DeviceSet(const PreparedMesh& prepared, std::optional<std::size_t> most_bytes, int device) : device_(device) {
    const OwnStream stream;
    const ByPlace by_place(prepared);
    Upload counting(nullptr, stream.get());
    copied(prepared, by_place, counting);
    bytes_ = counting.bytes();
    if (most_bytes && *most_bytes < bytes_) throw device_memory_too_small(*most_bytes, bytes_);
    memory_ = std::make_unique<DeviceMemory>(bytes_, nullptr);
    check(cudaStreamSynchronize(nullptr), "asking for memory");
    Upload upload(memory_->data(), stream.get());
    tree_ = copied(prepared, by_place, upload);
    stream.wait();
  }
  ~DeviceSet() override {
    try {
      const OnDevice on_device(device_);
      readers_.hold_back(nullptr);
      memory_.reset();
    } catch (const Error&) {  // the device is gone, and the memory with it
    }
  }

  std::string device_name() const override { return describe_device(device_).name; }
  std::size_t bytes() const override { return bytes_; }

  std::size_t nearest(const AnyConstDeviceView& points, const Places& to, Stream given) const override {
    const std::int64_t count = points.shape()[0];
    if (count == 0) return 0;
    check_is_here(points.data(), "points");
    check_are_here(to);
    const OnDevice on_device(device_);
    const cudaStream_t stream = fathom::cuda::native(given);
    const Readers::Reading reading(readers_, stream);
    answer_points(tree_, {points.data(), points.dtype(), points.strides()[0], count}, to, stream);
    return 0;
  }

  std::size_t nearest(const AnyConstView& points, const Places& to, const Execution& execution) const override {
    const std::int64_t count = points.shape()[0];
    if (count == 0) return 0;
    const OnDevice on_device(device_);
    const OwnStream stream;
    const std::size_t row = 3 * size_of(points.dtype()), of_point = row + bytes_of_answer(to);
    const std::int64_t most = is_watched(execution) ? std::min(count, kWatchedPoints) : count;
    const std::int64_t piece = parts_at_a_time(most, kSlack, of_point, kRoom, execution);
    const DeviceMemory memory(static_cast<std::size_t>(piece) * of_point + kSlack, stream.get());
    Scratch scratch(memory.data());
    std::byte* const there = scratch.take<std::byte>(piece * static_cast<std::int64_t>(row));
    const Shape shape{count};
    const PieceOutputs outputs(to, shape);
    const Places device = outputs.places(piece, scratch);
    Staging staging(available_threads(), static_cast<std::size_t>(count) * of_point);
    for (std::int64_t first = 0; first < count; first += piece) {
      stop_if_asked(execution);
      const std::int64_t part = std::min(piece, count - first);
      HostRows<const std::byte> rows;
      rows.data = points.data();
      rows.extent = {count};
      rows.stride = {points.strides()[0] * static_cast<std::int64_t>(size_of(points.dtype()))};
      rows.data += first * rows.stride[0];
      rows.extent = {part};
      rows.count = part;
      rows.bytes = row;
      rows.join();
      staging.upload(rows, there, stream.get());
      answer_points(tree_, {there, points.dtype(), 3, part}, device, stream.get());
      outputs.download(device, first, part, staging, stream.get());
      stream.wait();
      tell(execution, first + part, count);
    }
    return static_cast<std::size_t>(piece) * of_point + kSlack;
  }

  std::size_t field(const Lattice& lattice, const Places& to, const Execution& execution, Stream given) const override {
    if (is_empty(lattice)) return 0;
    check_are_here(to);
    const OnDevice on_device(device_);
    const cudaStream_t stream = fathom::cuda::native(given);
    const Grid grid = grid_of(lattice);
    const std::size_t of_plane = plane_bytes(tree_, grid);
    const std::int64_t piece = planes_at_a_time(grid, 0, of_plane, execution, false);
    const DeviceMemory memory(static_cast<std::size_t>(piece) * of_plane, stream);
    const Readers::Reading reading(readers_, stream);
    for (std::int64_t first = 0; first < grid.shape[2]; first += piece)
      answer_lattice(tree_, grid, {first, std::min(piece, grid.shape[2] - first)}, places_from(to, first),
                     memory.data(), stream);
    return static_cast<std::size_t>(piece) * of_plane;
  }

  std::size_t field(const Lattice& lattice, const Places& to, const Execution& execution) const override {
    if (is_empty(lattice)) return 0;
    const OnDevice on_device(device_);
    const OwnStream stream;
    const Grid grid = grid_of(lattice);
    const std::size_t for_signs = plane_bytes(tree_, grid);
    const std::size_t of_plane =
        for_signs + static_cast<std::size_t>(grid.shape[0] * grid.shape[1]) * bytes_of_answer(to);
    const std::int64_t piece = planes_at_a_time(grid, kSlack, of_plane, execution, is_watched(execution));
    const DeviceMemory memory(static_cast<std::size_t>(piece) * of_plane + kSlack, stream.get());
    Scratch scratch(memory.data());
    std::byte* const signs = scratch.take<std::byte>(piece * static_cast<std::int64_t>(for_signs));
    const Shape shape = lattice.array_shape();
    const PieceOutputs outputs(to, shape);
    const Places device = outputs.places(piece, scratch);
    Staging staging(available_threads(), static_cast<std::size_t>(grid.shape[2]) * of_plane);
    for (std::int64_t first = 0; first < grid.shape[2]; first += piece) {
      stop_if_asked(execution);
      const std::int64_t planes = std::min(piece, grid.shape[2] - first);
      answer_lattice(tree_, grid, {first, planes}, device, signs, stream.get());
      outputs.download(device, first, planes, staging, stream.get());
      stream.wait();
      tell(execution, first + planes, grid.shape[2]);
    }
    return static_cast<std::size_t>(piece) * of_plane + kSlack;
  }

  DeviceBand band(const Lattice& lattice, const BandOptions& options, Stream given) const override {
    const OnDevice on_device(device_);
    const cudaStream_t stream = fathom::cuda::native(given);
    const Readers::Reading reading(readers_, stream);
    DeviceBand band = make_band(tree_, lattice, {0, lattice.shape[2]}, options, false, stream);
    band.device = device_name();
    return band;
  }

  Band band(const Lattice& lattice, const BandOptions& options) const override {
    const OnDevice on_device(device_);
    const Readers::Reading reading(readers_, nullptr);
    return band_in_slabs(tree_, lattice, options);
  }

 private:
  static bool is_empty(const Lattice& lattice) {
    return std::any_of(lattice.shape.begin(), lattice.shape.end(), [](std::int64_t n) { return n == 0; });
  }

  void check_is_here(const void* address, const char* name) const {
    if (fathom::cuda::device_of(address, name) != device_)
      throw InvalidArgument(std::string("'") + name + "' is on another device than the mesh");
  }
  void check_are_here(const Places& to) const {
    visit(to, [&](const Place& place, int) { check_is_here(place.data, "an output"); });
  }

  int device_;
  std::size_t bytes_ = 0;
  std::unique_ptr<DeviceMemory> memory_;
  TreeView tree_;
  mutable Readers readers_;
};

}  // namespace

std::unique_ptr<const ResidentMesh> make_resident(const PreparedMesh& prepared, std::optional<std::size_t> most_bytes) {
  return std::make_unique<DeviceSet>(prepared, most_bytes, current_device());
}

Array download(const AnyConstDeviceView& view, Stream stream) {
  Array array(view.dtype(), view.shape());
  if (array.size() == 0) return array;
  const std::size_t row = array.bytes() / static_cast<std::size_t>(view.shape()[0]);
  const std::int64_t pitch = view.rank() == 1 ? static_cast<std::int64_t>(row)
                                              : view.strides()[0] * static_cast<std::int64_t>(size_of(view.dtype()));
  if (pitch < static_cast<std::int64_t>(row))
    throw InvalidArgument("rows of an array on a device overlap, or go backwards");
  const OnDevice on_device(device_of(view.data(), "mesh"));
  check(cudaMemcpy2DAsync(array.data(), row, view.data(), static_cast<std::size_t>(pitch), row,
                          static_cast<std::size_t>(view.shape()[0]), cudaMemcpyDeviceToHost,
                          fathom::cuda::native(stream)),
        "copying from the device");
  check(cudaStreamSynchronize(fathom::cuda::native(stream)), "copying from the device");
  return array;
}

int device_of(const void* address, const char* name) { return fathom::cuda::device_of(address, name); }

}  // namespace fathom::mesh::cuda
