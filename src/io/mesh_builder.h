// Collects what a reader of meshes finds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fathom/io/mesh.h"
#include "io/byte_source.h"
#include "io/polygon.h"
#include "io/sizes.h"

namespace fathom::io {

/// Where something stands, for errors: {"line", 12}.
struct Where {
  std::string_view kind;
  std::int64_t number = 0;
};

class MeshBuilder {
 public:
  /// @param source  that errors name @param limit  of the bytes that the mesh may take
  MeshBuilder(const ByteSource& source, const MemoryLimit& limit) : source_(source), limit_(limit) {}

  const ByteSource& source() const { return source_; }
  const MemoryLimit& limit() const { return limit_; }
  std::int64_t vertex_count() const { return static_cast<std::int64_t>(coordinates_.size() / 3); }

  void add_vertex(const Point& vertex) {
    for (const double x : vertex) push(coordinates_, x);
  }
  /// The vertices become float64.
  void widen() { wide_ = true; }
  /// The next face of the file; one of fewer than 3 corners gives no triangle. @throws IoError a number of no vertex
  void add_face(std::span<const std::int64_t> corners, const Where& where);
  /// Triangles of a strip, each a face. @param turned  the first is the wrong way round, instead of the second
  void add_strip(std::span<const std::int64_t> corners, const Where& where, bool turned = false);
  /// @param text  goes on after the file's name and a colon
  void warn(const std::string& text) { mesh_.warnings.push_back(source_.name() + ": " + text); }
  void set_unit(std::string unit) { mesh_.unit = std::move(unit); }

  /// @throws IoError there are no triangles, or no memory for them
  Mesh finish(MeshFormat format);

 private:
  void add_triangle(const Corners& triangle);
  Point vertex(std::int64_t number) const;

  /// Grows within the limit.
  template <class T>
  void push(std::vector<T>& values, T value) {
    if (values.size() == values.capacity()) grow_by(values.capacity() * sizeof(T));
    values.push_back(value);
  }
  void grow_by(std::uint64_t bytes);

  const ByteSource& source_;
  MemoryLimit limit_;
  std::uint64_t used_ = 0;
  Mesh mesh_;
  std::vector<double> coordinates_;
  std::vector<std::int64_t> corners_;
  bool wide_ = false;
  std::int64_t faces_ = 0;  // of the file so far
  std::int64_t dropped_ = 0;
  std::vector<Point> polygon_;      // of the current face
  std::vector<Corners> triangles_;  // of the current face
};

}  // namespace fathom::io
