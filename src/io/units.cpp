#include "io/units.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "fathom/io/meaning.h"
#include "io/numbers.h"

namespace fathom::io {

namespace {

struct Unit {
  std::string_view name;
  double size;  ///< in metres or seconds; 0: of neither
};
constexpr std::array kUnits = {Unit{"m", 1},     Unit{"km", 1e3},  Unit{"cm", 1e-2}, Unit{"mm", 1e-3},
                               Unit{"µm", 1e-6}, Unit{"nm", 1e-9}, Unit{"pm", 1e-12}, Unit{"Å", 1e-10},
                               Unit{"in", 0.0254}, Unit{"ft", 0.3048}, Unit{"s", 1},  Unit{"ms", 1e-3},
                               Unit{"µs", 1e-6}, Unit{"min", 60},  Unit{"h", 3600}, Unit{"°", 0}};

struct Spelling {
  std::string_view spelled, name;
};
constexpr std::array kSpellings = {
    Spelling{"micron", "µm"},     Spelling{"microns", "µm"},      Spelling{"um", "µm"},        Spelling{"μm", "µm"},
    Spelling{"\\u00b5m", "µm"},   Spelling{"micrometer", "µm"},   Spelling{"micrometre", "µm"}, Spelling{"micrometers", "µm"},
    Spelling{"millimeter", "mm"}, Spelling{"millimeters", "mm"},  Spelling{"centimeter", "cm"}, Spelling{"meter", "m"},
    Spelling{"meters", "m"},      Spelling{"metre", "m"},         Spelling{"metres", "m"},     Spelling{"nanometer", "nm"},
    Spelling{"nanometers", "nm"}, Spelling{"nanometre", "nm"},    Spelling{"inch", "in"},      Spelling{"inches", "in"},
    Spelling{"foot", "ft"},       Spelling{"angstrom", "Å"},      Spelling{"sec", "s"},        Spelling{"second", "s"},
    Spelling{"seconds", "s"},     Spelling{"msec", "ms"},         Spelling{"degree", "°"},     Spelling{"degrees", "°"},
    Spelling{"pixel", ""},        Spelling{"pixels", ""},         Spelling{"voxel", ""},       Spelling{"none", ""},
    Spelling{"null", ""},         Spelling{"unknown", ""},        Spelling{"reference frame", ""}};

/// The value without the noise of a conversion's rounding: 1500 nm are 1.5 µm.
double decimal(long double value) {
  return leading_number(number_text(static_cast<double>(value), 14)).value_or(static_cast<double>(value));
}

}  // namespace

std::string unit_named(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  for (const Unit& unit : kUnits)
    if (unit.name == text) return std::string(text);
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const Spelling& spelling : kSpellings)
    if (spelling.spelled == lower) return std::string(spelling.name);
  return std::string(text);
}

double size_of_unit(std::string_view unit) {
  for (const Unit& known : kUnits)
    if (known.name == unit) return known.size;
  return 0;
}

std::string unify_units(Meaning& meaning) {
  const auto last = std::find_if(meaning.axes.rbegin(), meaning.axes.rend(),
                                 [](const Axis& axis) { return axis.kind == AxisKind::space && axis.spacing > 0; });
  if (last == meaning.axes.rend()) return {};
  const std::string unit = last->unit;
  for (Axis& axis : meaning.axes) {
    if (axis.kind != AxisKind::space || axis.unit == unit || axis.spacing == 0) continue;
    const double from = size_of_unit(axis.unit), to = size_of_unit(unit);
    if (from == 0 || to == 0)
      return "states its spacing in units that cannot be compared (" + (axis.unit.empty() ? "none" : axis.unit) +
             " and " + (unit.empty() ? "none" : unit) + "): they are taken as one";
    axis.spacing = decimal(static_cast<long double>(axis.spacing) * from / to);
    axis.unit = unit;
  }
  bool missing = false;
  for (Axis& axis : meaning.axes) {
    if (axis.kind != AxisKind::space || axis.spacing > 0) continue;
    missing = true;
    axis.spacing = 1;
    axis.unit = unit;
  }
  if (missing) return "states no size along an axis: 1" + (unit.empty() ? "" : " " + unit) + " is taken";
  return {};
}

}  // namespace fathom::io
