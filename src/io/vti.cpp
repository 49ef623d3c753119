// VTI, the image data of VTK's XML files, for ParaView and VTK: written alone. The elements are appended raw, as
// scalars of the points. Source: The VTK User's Guide, "VTK File Formats"; `Direction` since VTK 9.
#include <algorithm>
#include <bit>
#include <cmath>

#include "io/rows.h"
#include "io/text_volume.h"

namespace fathom::io::vti {

namespace {

using Vector = std::array<double, 3>;

std::string type_name(DType dtype) {
  std::string name(dtype == DType::boolean ? "uint8" : name_of(dtype));  // "Float32", "UInt8", "Int16" there
  const std::size_t letters = name.starts_with('u') ? 2 : 1;
  for (std::size_t k = 0; k < letters; ++k) name[k] = static_cast<char>(name[k] - 'a' + 'A');
  return name;
}

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Directions of the file's three axes, x first; those that the array has not are perpendicular to the others.
std::array<Vector, 3> directions_of(const std::vector<Vector>& own) {
  std::array<Vector, 3> all{Vector{1, 0, 0}, Vector{0, 1, 0}, Vector{0, 0, 1}};
  for (std::size_t k = 0; k < own.size(); ++k) all[k] = own[own.size() - 1 - k];
  if (own.size() == 1) {
    // From the axis that the first one is least along.
    const auto least =
        std::min_element(all[0].begin(), all[0].end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
    Vector other{};
    other[static_cast<std::size_t>(least - all[0].begin())] = 1;
    all[1] = cross(other, all[0]);
    const double size = std::hypot(all[1][0], all[1][1], all[1][2]);
    for (double& x : all[1]) x /= size;
  }
  if (own.size() < 3) all[2] = cross(all[0], all[1]);
  return all;
}

/// Numbers with blanks between them.
std::string list(std::span<const double> values) {
  std::string text;
  for (double value : values) add_word(text, shortest(value));
  return text.substr(1);
}

std::string header_text(const AnyConstView& data, const Meaning& meaning) {
  Vector spacing{1, 1, 1}, origin{};
  std::string extent;
  for (int k = 0; k < 3; ++k) {
    const int axis = data.rank() - 1 - k;
    extent += (k > 0 ? " 0 " : "0 ") + std::to_string(axis >= 0 ? data.shape()[axis] - 1 : 0);
    if (axis >= 0 && !meaning.spacing().empty())
      spacing[static_cast<std::size_t>(k)] = meaning.spacing()[static_cast<std::size_t>(axis)];
  }
  std::string direction;
  if (meaning.place && static_cast<int>(meaning.place->directions.size()) == data.rank()) {
    origin = meaning.place->origin;
    const auto axes = directions_of(meaning.place->directions);
    std::array<double, 9> matrix{};  // columns are the axes
    for (std::size_t i = 0; i < 9; ++i) matrix[i] = axes[i % 3][i / 3];
    direction = " Direction=\"" + list(matrix) + "\"";
  }
  const char* order = std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian";
  return "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"" + std::string(order) +
         "\" header_type=\"UInt64\">\n  <ImageData WholeExtent=\"" + extent + "\" Origin=\"" + list(origin) +
         "\" Spacing=\"" + list(spacing) + "\"" + direction + ">\n    <Piece Extent=\"" + extent +
         "\">\n      <PointData Scalars=\"values\">\n        <DataArray type=\"" + type_name(data.dtype()) +
         "\" Name=\"values\" format=\"appended\" offset=\"0\"/>\n      </PointData>\n    </Piece>\n  </ImageData>\n"
         "  <AppendedData encoding=\"raw\">\n   _";
}

}  // namespace

void check(DType, const Shape& shape, const Meaning& meaning) {
  if (meaning.has_batch())
    throw InvalidArgument("VTI holds axes of space alone, not " + meaning.axis_names() +
                          "; take one channel, or write .nrrd or .npy");
  check_extents("VTI", shape, 3);
}

WriteReport write(Target& target, const AnyConstView& data, const Meaning& meaning) {
  const std::string header = header_text(data, meaning);
  const std::uint64_t bytes = static_cast<std::uint64_t>(element_count(data.shape())) * size_of(data.dtype());
  constexpr std::string_view kEnd = "\n  </AppendedData>\n</VTKFile>\n";
  target.sink.write(header.data(), header.size());
  target.sink.write(&bytes, sizeof bytes);
  for_each_run(data, [&](const std::byte* run, std::size_t size) { target.sink.write(run, size); });
  target.sink.write(kEnd.data(), kEnd.size());
  return {};
}

}  // namespace fathom::io::vti
