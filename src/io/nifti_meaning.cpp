// Spacing, unit, origin and orientation between NIfTI headers and Meaning.
// Source: nifti1.h, "3D image (volume) orientation and location in space": the sform, where its code is above 0, is a
// matrix; else the qform, a rotation with pixdim as sizes; else pixdim alone.
#include "io/nifti_meaning.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fathom/core/error.h"
#include "io/numbers.h"

namespace fathom::io::nifti {

namespace {

using Vector = std::array<double, 3>;

constexpr std::string_view kNames = "?xyztcuv";  // of the file's axes 1 … 7

/// Columns of the steps along the file's first three axes, and the position of its first element.
struct Affine {
  std::array<Vector, 3> step{};
  Vector origin{};
};

double length(const Vector& v) { return std::hypot(v[0], v[1], v[2]); }

/// What states no size (0, NaN) is 0; the sign has no meaning.
double pixdim_of(const nifti_2_header& fields, int file_axis) {
  const double size = std::abs(fields.pixdim[file_axis]);
  return std::isfinite(size) && size > 0 ? size : 0;
}

Affine sform_of(const nifti_2_header& fields) {
  const double* rows[] = {fields.srow_x, fields.srow_y, fields.srow_z};
  Affine affine;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) affine.step[k][i] = rows[i][k];
    affine.origin[i] = rows[i][3];
  }
  return affine;
}

Affine qform_of(const nifti_2_header& fields) {
  const double b = fields.quatern_b, c = fields.quatern_c, d = fields.quatern_d;
  const double a = std::sqrt(std::max(0.0, 1 - (b * b + c * c + d * d)));
  const double flip = fields.pixdim[0] < 0 ? -1 : 1;
  Affine affine{{Vector{a * a + b * b - c * c - d * d, 2 * (b * c + a * d), 2 * (b * d - a * c)},
                 Vector{2 * (b * c - a * d), a * a + c * c - b * b - d * d, 2 * (c * d + a * b)},
                 Vector{2 * (b * d + a * c), 2 * (c * d - a * b), a * a + d * d - b * b - c * c}},
                {fields.qoffset_x, fields.qoffset_y, fields.qoffset_z}};
  for (std::size_t k = 0; k < 3; ++k) {
    const double size = pixdim_of(fields, static_cast<int>(k) + 1);
    for (double& x : affine.step[k]) x *= (size > 0 ? size : 1) * (k == 2 ? flip : 1);
  }
  return affine;
}

bool is_usable(const Affine& affine) {
  return std::all_of(affine.step.begin(), affine.step.end(),
                     [](const Vector& v) { return std::isfinite(length(v)) && length(v) > 0; });
}

/// Sizes along the file's axes 1 … 7, from the sform where that says something else than pixdim.
std::array<double, 8> sizes_of(const nifti_2_header& fields, std::vector<std::string>& warnings) {
  constexpr double kSame = 1e-3;  // relative: matrices are rounded more often than sizes
  std::array<double, 8> sizes{};
  for (int axis = 1; axis <= 7; ++axis) sizes[static_cast<std::size_t>(axis)] = pixdim_of(fields, axis);
  const Affine affine = sform_of(fields);
  std::string from, to;
  if (fields.sform_code > 0 && is_usable(affine)) {
    for (std::size_t axis = 1; axis <= 3; ++axis) {
      if (fields.dim[axis] <= 1) continue;
      const double size = length(affine.step[axis - 1]);
      const double stated = sizes[axis];
      if (std::abs(stated - size) <= kSame * size) continue;
      from += (from.empty() ? "" : ", ") + number_text(stated, 6);
      to += (to.empty() ? "" : ", ") + number_text(size, 6);
      sizes[axis] = size;
    }
  }
  if (!from.empty())
    warnings.push_back("has a pixdim (" + from + ") that contradicts its sform (" + to + "): the sform is taken");
  return sizes;
}

void check_perpendicular(const Affine& affine, std::vector<std::string>& warnings) {
  constexpr double kSlant = 1e-3;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = a + 1; b < 3; ++b) {
      double product = 0;
      for (std::size_t i = 0; i < 3; ++i) product += affine.step[a][i] * affine.step[b][i];
      if (std::abs(product) <= kSlant * length(affine.step[a]) * length(affine.step[b])) continue;
      warnings.push_back("has an sform whose axes are not perpendicular: distances are measured as if they were");
      return;
    }
}

std::string unit_of_space(int code) {
  switch (XYZT_TO_SPACE(code)) {
    case NIFTI_UNITS_METER: return "m";
    case NIFTI_UNITS_MM: return "mm";
    case NIFTI_UNITS_MICRON: return "µm";
    default: return "";
  }
}

std::string unit_of_time(int code) {
  switch (XYZT_TO_TIME(code)) {
    case NIFTI_UNITS_SEC: return "s";
    case NIFTI_UNITS_MSEC: return "ms";
    case NIFTI_UNITS_USEC: return "µs";
    case NIFTI_UNITS_HZ: return "Hz";
    default: return "";
  }
}

}  // namespace

int code_of_unit(const std::string& unit) {
  for (int code : {NIFTI_UNITS_METER, NIFTI_UNITS_MM, NIFTI_UNITS_MICRON})
    if (unit_of_space(code) == unit) return code;
  return NIFTI_UNITS_UNKNOWN;
}

namespace {

/// Takes the matrix that places the array along.
void move_origin(double (&row)[4], const std::array<std::int64_t, 3>& first) {
  for (std::size_t k = 0; k < 3; ++k) row[3] += row[k] * static_cast<double>(first[k]);
}

/// The quaternion of a rotation or, with pixdim[0] = −1, of one whose third axis is turned.
void set_qform(nifti_2_header& fields, std::array<Vector, 3> d) {
  const double determinant = d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) -
                             d[1][0] * (d[0][1] * d[2][2] - d[0][2] * d[2][1]) +
                             d[2][0] * (d[0][1] * d[1][2] - d[0][2] * d[1][1]);
  fields.pixdim[0] = determinant < 0 ? -1 : 1;
  if (determinant < 0)
    for (double& x : d[2]) x = -x;
  // Of the four ways to find a quaternion, the one whose first component is largest divides by no small number.
  const double trace = d[0][0] + d[1][1] + d[2][2];
  const double squares[] = {1 + trace, 1 + 2 * d[0][0] - trace, 1 + 2 * d[1][1] - trace, 1 + 2 * d[2][2] - trace};
  const auto largest = static_cast<std::size_t>(std::max_element(squares, squares + 4) - squares);
  const double s = 2 * std::sqrt(squares[largest]);
  const double x = d[1][2] - d[2][1], y = d[2][0] - d[0][2], z = d[0][1] - d[1][0];
  const double xy = d[1][0] + d[0][1], xz = d[2][0] + d[0][2], yz = d[2][1] + d[1][2];
  const std::array<double, 4> ways[] = {
      {s / 4, x / s, y / s, z / s}, {x / s, s / 4, xy / s, xz / s}, {y / s, xy / s, s / 4, yz / s},
      {z / s, xz / s, yz / s, s / 4}};
  const auto& q = ways[largest];
  const double sign = q[0] < 0 ? -1 : 1;
  fields.quatern_b = sign * q[1];
  fields.quatern_c = sign * q[2];
  fields.quatern_d = sign * q[3];
}

/// Where no header of the file's own says it.
void set_place(nifti_2_header& fields, const Meaning& meaning) {
  const Place place = in_frame(*meaning.place, Place::Frame::ras);
  const std::size_t axes = place.directions.size();
  std::array<Vector, 3> directions{Vector{1, 0, 0}, Vector{0, 1, 0}, Vector{0, 0, 1}};
  for (std::size_t k = 0; k < std::min<std::size_t>(axes, 3); ++k) directions[k] = place.directions[axes - 1 - k];
  double* rows[] = {fields.srow_x, fields.srow_y, fields.srow_z};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) rows[i][k] = directions[k][i] * fields.pixdim[k + 1];
    rows[i][3] = place.origin[i];
  }
  fields.qoffset_x = place.origin[0];
  fields.qoffset_y = place.origin[1];
  fields.qoffset_z = place.origin[2];
  set_qform(fields, directions);
  fields.qform_code = fields.sform_code = NIFTI_XFORM_SCANNER_ANAT;
}

}  // namespace

std::shared_ptr<const Native> NativeHeader::cropped(const std::vector<std::int64_t>& begin) const {
  auto part = std::make_shared<NativeHeader>(*this);
  std::array<std::int64_t, 3> first{};
  for (std::size_t k = 0; k < std::min<std::size_t>(3, begin.size()); ++k) first[k] = begin[begin.size() - 1 - k];
  nifti_2_header& f = part->fields;
  const Affine q = qform_of(f);
  for (std::size_t k = 0; k < 3; ++k) {
    f.qoffset_x += q.step[k][0] * static_cast<double>(first[k]);
    f.qoffset_y += q.step[k][1] * static_cast<double>(first[k]);
    f.qoffset_z += q.step[k][2] * static_cast<double>(first[k]);
  }
  move_origin(f.srow_x, first);
  move_origin(f.srow_y, first);
  move_origin(f.srow_z, first);
  return part;
}

Meaning meaning_of(const nifti_2_header& fields, const std::vector<int>& axes, std::vector<std::string>& warnings) {
  Meaning meaning;
  const auto sizes = sizes_of(fields, warnings);
  bool unstated = false;
  for (int axis : axes) {
    Axis known = axis_named(kNames[static_cast<std::size_t>(axis)]);
    known.spacing = sizes[static_cast<std::size_t>(axis)];
    if (known.kind == AxisKind::space) {
      known.unit = unit_of_space(fields.xyzt_units);
      if (known.spacing == 0) unstated = true;
      if (known.spacing == 0) known.spacing = 1;
    }
    if (known.kind == AxisKind::time) known.unit = unit_of_time(fields.xyzt_units);
    meaning.axes.push_back(known);
  }
  if (unstated) warnings.push_back("states no size (pixdim) of its voxels along an axis: 1 is taken");

  const Affine affine = fields.sform_code > 0 ? sform_of(fields) : qform_of(fields);
  if ((fields.sform_code <= 0 && fields.qform_code <= 0) || !is_usable(affine)) return meaning;
  check_perpendicular(affine, warnings);
  Place place{Place::Frame::ras, affine.origin, {}};
  for (int axis : axes) {
    if (axis > 3) continue;
    Vector direction = affine.step[static_cast<std::size_t>(axis - 1)];
    const double size = length(direction);
    for (double& x : direction) x /= size;
    place.directions.push_back(direction);
  }
  meaning.place = place;
  return meaning;
}

std::vector<int> file_axes(const Meaning& meaning, int rank) {
  std::vector<int> axes;
  for (int k = 0; k < rank; ++k) {
    const char name = meaning.axes.empty() ? '\0' : meaning.axes[static_cast<std::size_t>(k)].name;
    const std::size_t known = name ? kNames.find(name) : std::string_view::npos;
    axes.push_back(known == std::string_view::npos ? rank - k : static_cast<int>(known));
    if (k > 0 && axes[static_cast<std::size_t>(k - 1)] <= axes.back())
      throw InvalidArgument("NIfTI holds axes in the order ctzyx, not " + meaning.axis_names() +
                            "; write .npy or .tif");
  }
  return axes;
}

void set_meaning(nifti_2_header& fields, const Meaning& meaning, int rank) {
  const bool is_own = dynamic_cast<const NativeHeader*>(meaning.native.get()) != nullptr;
  std::vector<std::string> ignored;
  const auto old = sizes_of(fields, ignored);
  const std::vector<double> spacing = meaning.spacing();
  const std::vector<int> axes = file_axes(meaning, rank);
  double* rows[] = {fields.srow_x, fields.srow_y, fields.srow_z};
  for (std::size_t axis = 1; axis <= 7; ++axis) fields.pixdim[axis] = old[axis] > 0 ? old[axis] : 1;
  for (std::size_t k = 0; k < spacing.size(); ++k) {
    const int axis = axes[k];
    const double before = fields.pixdim[axis];
    // The matrix keeps its directions when the elements get another size.
    for (double* row : rows)
      if (axis <= 3 && spacing[k] != before) row[axis - 1] *= spacing[k] / before;
    fields.pixdim[axis] = spacing[k];
  }
  if (is_own && meaning.unit().empty()) return;
  fields.xyzt_units = SPACE_TIME_TO_XYZT(code_of_unit(meaning.unit()), XYZT_TO_TIME(fields.xyzt_units));
  if (!is_own && meaning.place && meaning.place->frame != Place::Frame::unstated) set_place(fields, meaning);
}

}  // namespace fathom::io::nifti
