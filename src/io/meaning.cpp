#include "fathom/io/meaning.h"

#include <algorithm>

#include "fathom/io/image.h"
#include "io/formats.h"
#include "io/listed.h"
#include "io/native.h"
#include "io/numbers.h"
#include "io/nifti_meaning.h"

namespace fathom::io {

namespace {

/// "1.5, 0.2, 0.2 µm".
std::string spacing_text(const Meaning& meaning) {
  std::string text;
  for (const Axis& axis : meaning.axes)
    if (axis.kind == AxisKind::space)
      text.append(text.empty() ? "" : ", ").append(number_text(axis.spacing > 0 ? axis.spacing : 1, 9));
  return meaning.unit().empty() ? text : text.append(" ").append(meaning.unit());
}

/// Of formats that know some units.
bool holds_unit(Format format, const std::string& unit) {
  if (format == Format::nifti) return nifti::code_of_unit(unit) != 0;
  return format != Format::mha || mha::holds_unit(unit);
}

}  // namespace

Axis axis_named(char name) {
  switch (name) {
    case 'c': return {AxisKind::channel, name};
    case 't': return {AxisKind::time, name};
    case 's': return {AxisKind::samples, name};
    case 'w':
    case 'z':
    case 'y':
    case 'x': return {AxisKind::space, name};
    default: return {AxisKind::other, name};
  }
}

Place in_frame(Place place, Place::Frame frame) {
  const auto stated = [](Place::Frame f) { return f != Place::Frame::unstated; };
  if (stated(place.frame) && stated(frame) && place.frame != frame) {
    const auto turn = [](std::array<double, 3>& v) {
      v[0] = 0 - v[0];  // no −0
      v[1] = 0 - v[1];
    };
    turn(place.origin);
    for (auto& direction : place.directions) turn(direction);
    place.frame = frame;
  }
  return place;
}

Meaning::Meaning(const std::vector<double>& spacing) {
  for (double s : spacing) axes.push_back({.spacing = s});
}

std::vector<double> Meaning::spacing() const {
  if (std::none_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.spacing > 0; })) return {};
  std::vector<double> spacing;
  for (const Axis& axis : axes) spacing.push_back(axis.spacing > 0 ? axis.spacing : 1);
  return spacing;
}

std::string Meaning::unit() const {
  for (const Axis& axis : axes)
    if (axis.kind == AxisKind::space && !axis.unit.empty()) return axis.unit;
  return {};
}

bool Meaning::has_batch() const {
  return std::any_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.kind != AxisKind::space; });
}

std::string Meaning::axis_names() const {
  std::string names;
  for (const Axis& axis : axes) names += axis.name ? axis.name : '?';
  return names.find_first_not_of('?') == std::string::npos ? "" : names;
}

std::string losses(Format format, const Meaning& meaning) {
  const unsigned holds = row_of(format).holds;
  std::vector<std::string> lost;
  if (!(holds & kSpacing) && !meaning.spacing().empty()) lost.push_back("spacing (" + spacing_text(meaning) + ")");
  else if (!meaning.unit().empty() && (!(holds & kUnit) || !holds_unit(format, meaning.unit())))
    lost.push_back("unit (" + meaning.unit() + ")");
  if (!(holds & kAxes) && meaning.has_batch()) lost.push_back("names of axes (" + meaning.axis_names() + ")");
  if (!(holds & kPlace) && meaning.place) lost.push_back("origin and orientation");
  if (!(holds & kNoData) && !meaning.no_data.empty()) lost.push_back("no-data value (" + meaning.no_data + ")");
  if (!(holds & kGeoreference) && !meaning.georeference.empty())
    lost.push_back("georeference (" + meaning.georeference + ")");
  return listed(lost, "and");
}

Meaning cropped(const Meaning& meaning, const std::vector<std::int64_t>& begin) {
  Meaning part = meaning;
  std::size_t along = 0;  // axes of space seen
  for (std::size_t k = 0; k < meaning.axes.size(); ++k) {
    const Axis& axis = meaning.axes[k];
    if (!axis.labels.empty())
      part.axes[k].labels.erase(part.axes[k].labels.begin(), part.axes[k].labels.begin() + begin[k]);
    if (axis.kind != AxisKind::space || !part.place || along >= part.place->directions.size()) continue;
    const double way = static_cast<double>(begin[k]) * (axis.spacing > 0 ? axis.spacing : 1);
    for (std::size_t i = 0; i < 3; ++i) part.place->origin[i] += way * meaning.place->directions[along][i];
    ++along;
  }
  if (meaning.native) part.native = meaning.native->cropped(begin);
  return part;
}

}  // namespace fathom::io
