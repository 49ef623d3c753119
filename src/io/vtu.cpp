// VTU, the unstructured grids of VTK's XML files, for ParaView and VTK: written alone. Each point of the band is a
// vertex with its distance; the arrays are appended raw, one after the other, and each takes one walk through the
// tiles. Source: The VTK User's Guide, "VTK File Formats".
#include <bit>
#include <cmath>

#include "io/buffer.h"
#include "io/sparse_formats.h"

namespace fathom::io::vtu {

namespace {

constexpr std::uint8_t kVertex = 1;  // VTK_VERTEX: a cell of one point

/// visitor(element of the distances, place on the lattice) for each point of the band.
template <class Visitor>
void visit_points(const SparseField& field, const Visitor& visitor) {
  const auto* const tiles = elements<std::int32_t>(field.tiles);
  const auto* const masks = elements<std::uint64_t>(field.masks);
  for (std::int64_t word = 0; word < element_count(field.masks.shape()); ++word)
    for (std::uint64_t rest = masks[word]; rest != 0; rest &= rest - 1) {
      const int bit = std::countr_zero(rest);
      const std::int32_t* const tile = tiles + 3 * (word / kTileSide);
      visitor(word * kTileSide * kTileSide + bit,
              std::array<std::int64_t, 3>{tile[0] * kTileSide + bit % kTileSide, tile[1] * kTileSide + bit / kTileSide,
                                          tile[2] * kTileSide + word % kTileSide});
    }
}

/// Whether float32 tells the lattice's points apart by a thousandth of a step.
bool suits_float(const SparseField& field) {
  for (std::size_t k = 0; k < 3; ++k) {
    const double last = field.origin[k] + static_cast<double>(field.shape[k]) * field.spacing[k];
    if (std::max(std::abs(field.origin[k]), std::abs(last)) > field.spacing[k] * 0x1p14) return false;
  }
  return true;
}

template <class T>
void add(Buffer& buffer, T value) {
  buffer.add(&value, sizeof value);
}

template <class T>
void add_points(Buffer& buffer, const SparseField& field) {
  visit_points(field, [&](std::int64_t, const std::array<std::int64_t, 3>& place) {
    for (std::size_t k = 0; k < 3; ++k)
      add(buffer, static_cast<T>(field.origin[k] + static_cast<double>(place[k]) * field.spacing[k]));
  });
}

/// first, first + 1, …
void add_numbers(Buffer& buffer, std::int64_t first, std::int64_t count) {
  for (std::int64_t k = first; k < first + count; ++k) add(buffer, k);
}

/// The XML of the arrays, and where each begins.
class Header {
 public:
  explicit Header(std::int64_t count) : count_(count) {
    text_ = std::string("<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"") +
            (std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian") +
            "\" header_type=\"UInt64\">\n  <UnstructuredGrid>\n    <Piece NumberOfPoints=\"" + std::to_string(count) +
            "\" NumberOfCells=\"" + std::to_string(count) + "\">\n";
  }
  void open(const std::string& element) { text_ += "      <" + element + ">\n"; }
  void close(const std::string& element) { text_ += "      </" + element + ">\n"; }
  void array(const std::string& type, const std::string& name, std::uint64_t bytes_of_point, int components = 1) {
    text_ += "        <DataArray type=\"" + type + "\" Name=\"" + name + "\" NumberOfComponents=\"" +
             std::to_string(components) + "\" format=\"appended\" offset=\"" + std::to_string(offset_) + "\"/>\n";
    offset_ += sizeof(std::uint64_t) + bytes_of_point * static_cast<std::uint64_t>(count_);
  }
  std::string finish() {
    return text_ + "    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n   _";
  }

 private:
  std::int64_t count_;
  std::uint64_t offset_ = 0;
  std::string text_;
};

}  // namespace

void write(ByteSink& sink, const SparseField& field) {
  std::int64_t count = 0;
  const auto* const masks = elements<std::uint64_t>(field.masks);
  for (std::int64_t word = 0; word < element_count(field.masks.shape()); ++word) count += std::popcount(masks[word]);
  const bool is_double = field.distances.dtype() == DType::float64, is_short = suits_float(field);
  const std::size_t size_of_distance = size_of(field.distances.dtype()), size_of_point = is_short ? 12 : 24;

  Header header(count);
  header.open("PointData Scalars=\"distance\"");
  header.array(is_double ? "Float64" : "Float32", "distance", size_of_distance);
  header.close("PointData");
  header.open("Points");
  header.array(is_short ? "Float32" : "Float64", "Points", size_of_point, 3);
  header.close("Points");
  header.open("Cells");
  header.array("Int64", "connectivity", sizeof(std::int64_t));
  header.array("Int64", "offsets", sizeof(std::int64_t));
  header.array("UInt8", "types", sizeof kVertex);
  header.close("Cells");

  Buffer buffer(sink);
  const auto begin = [&](std::size_t bytes_of_point) {
    add(buffer, static_cast<std::uint64_t>(count) * bytes_of_point);
  };
  buffer.add(header.finish());
  begin(size_of_distance);
  visit_points(field,
               [&](std::int64_t at, const auto&) { buffer.add(element(field.distances, at), size_of_distance); });
  begin(size_of_point);
  is_short ? add_points<float>(buffer, field) : add_points<double>(buffer, field);
  begin(sizeof(std::int64_t));
  add_numbers(buffer, 0, count);
  begin(sizeof(std::int64_t));
  add_numbers(buffer, 1, count);
  begin(sizeof kVertex);
  for (std::int64_t k = 0; k < count; ++k) add(buffer, kVertex);
  buffer.add("\n  </AppendedData>\n</VTKFile>\n");
  buffer.flush();
}

}  // namespace fathom::io::vtu
