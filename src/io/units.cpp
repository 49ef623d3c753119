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
  Quantity quantity = Quantity::unknown;
  double size = 0;  ///< in metres or seconds; 0: of no known one
};
constexpr Quantity kLength = Quantity::length, kTime = Quantity::time;
constexpr std::array kUnits = {
    Unit{"m", kLength, 1},         Unit{"km", kLength, 1e3},    Unit{"cm", kLength, 1e-2}, Unit{"mm", kLength, 1e-3},
    Unit{"µm", kLength, 1e-6},     Unit{"nm", kLength, 1e-9},   Unit{"pm", kLength, 1e-12}, Unit{"Å", kLength, 1e-10},
    Unit{"in", kLength, 0.0254},   Unit{"ft", kLength, 0.3048}, Unit{"s", kTime, 1},       Unit{"ms", kTime, 1e-3},
    Unit{"µs", kTime, 1e-6},       Unit{"min", kTime, 60},      Unit{"h", kTime, 3600},    Unit{"°", Quantity::angle}};

Unit known_unit(std::string_view name) {
  for (const Unit& unit : kUnits)
    if (unit.name == name) return unit;
  return {name};
}

struct Spelling {
  std::string_view spelled, name;
};
constexpr std::array kSpellings = {
    Spelling{"micron", "µm"},      Spelling{"microns", "µm"},      Spelling{"um", "µm"},
    Spelling{"μm", "µm"},          Spelling{"\\u00b5m", "µm"},     Spelling{"micrometer", "µm"},
    Spelling{"micrometre", "µm"},  Spelling{"micrometers", "µm"},  Spelling{"millimeter", "mm"},
    Spelling{"millimeters", "mm"}, Spelling{"centimeter", "cm"},   Spelling{"meter", "m"},
    Spelling{"meters", "m"},       Spelling{"metre", "m"},         Spelling{"metres", "m"},
    Spelling{"nanometer", "nm"},   Spelling{"nanometers", "nm"},   Spelling{"nanometre", "nm"},
    Spelling{"inch", "in"},        Spelling{"inches", "in"},       Spelling{"foot", "ft"},
    Spelling{"angstrom", "Å"},     Spelling{"sec", "s"},           Spelling{"second", "s"},
    Spelling{"seconds", "s"},      Spelling{"msec", "ms"},         Spelling{"degree", "°"},
    Spelling{"degrees", "°"},      Spelling{"pixel", ""},          Spelling{"pixels", ""},
    Spelling{"voxel", ""},         Spelling{"none", ""},           Spelling{"null", ""},
    Spelling{"unknown", ""},       Spelling{"reference frame", ""}};

/// The value without the noise of a conversion's rounding: 1500 nm are 1.5 µm.
double decimal(long double value) {
  return leading_number(number_text(static_cast<double>(value), 14)).value_or(static_cast<double>(value));
}

}  // namespace

std::string unit_named(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  if (quantity_of(text) != Quantity::unknown) return std::string(text);
  const std::string lower = lower_case(text);
  for (const Spelling& spelling : kSpellings)
    if (spelling.spelled == lower) return std::string(spelling.name);
  return std::string(text);
}

Quantity quantity_of(std::string_view unit) { return known_unit(unit).quantity; }

std::string unify_units(Meaning& meaning) {
  const auto last = std::find_if(meaning.axes.rbegin(), meaning.axes.rend(),
                                 [](const Axis& axis) { return axis.kind == AxisKind::space && axis.spacing > 0; });
  if (last == meaning.axes.rend()) return {};
  const std::string unit = last->unit;
  for (Axis& axis : meaning.axes) {
    if (axis.kind != AxisKind::space || axis.unit == unit || axis.spacing == 0) continue;
    const Unit from = known_unit(axis.unit), to = known_unit(unit);
    if (from.quantity != to.quantity || from.size == 0)
      return "states its spacing in units that cannot be compared (" + (axis.unit.empty() ? "none" : axis.unit) +
             " and " + (unit.empty() ? "none" : unit) + "): they are taken as one";
    axis.spacing = decimal(static_cast<long double>(axis.spacing) * from.size / to.size);
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
