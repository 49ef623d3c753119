#include "io/point_columns.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "io/sizes.h"
#include "io/text_number.h"
#include "io/units.h"

namespace fathom::io {

namespace {


enum class Family { plain, projected, geographic };
constexpr std::array kFamilies = {Family::plain, Family::projected, Family::geographic};
constexpr int kHeight = 3;  // a third coordinate, or only what stands there

struct Known {
  std::string_view name;
  Family family;
  int axis;
};
constexpr std::array kKnown = {
    Known{"x", Family::plain, 0},
    Known{"y", Family::plain, 1},
    Known{"z", Family::plain, 2},
    Known{"points0", Family::plain, 0},  // ParaView's
    Known{"points1", Family::plain, 1},
    Known{"points2", Family::plain, 2},
    Known{"easting", Family::projected, 0},
    Known{"northing", Family::projected, 1},
    Known{"eastings", Family::projected, 0},
    Known{"northings", Family::projected, 1},
    Known{"east", Family::projected, 0},
    Known{"north", Family::projected, 1},
    Known{"e", Family::projected, 0},
    Known{"n", Family::projected, 1},
    Known{"rechtswert", Family::projected, 0},
    Known{"hochwert", Family::projected, 1},
    Known{"lon", Family::geographic, 0},
    Known{"lat", Family::geographic, 1},
    Known{"lng", Family::geographic, 0},
    Known{"longitude", Family::geographic, 0},
    Known{"long", Family::geographic, 0},
    Known{"latitude", Family::geographic, 1},
    Known{"longitud", Family::geographic, 0},
    Known{"latitud", Family::geographic, 1},
    Known{"elevation", Family::projected, kHeight},
    Known{"altitude", Family::projected, kHeight},
    Known{"height", Family::projected, kHeight},
    Known{"depth", Family::projected, kHeight},
    Known{"elev", Family::projected, kHeight},
    Known{"alt", Family::projected, kHeight},
    Known{"ele", Family::projected, kHeight},
    Known{"h", Family::projected, kHeight},
};

/// Words beside an axis's name: x_coord, POINT_X, utm easting, decimalLatitude.
constexpr std::array<std::string_view, 20> kBeside = {
    "coordinates", "coordinate", "coords", "coord",    "position", "positions", "pos", "points",  "point", "location",
    "loc",         "center",     "centre", "centroid", "vertex",   "utm",       "gps", "decimal", "wgs84", "median"};

/// Columns with such names hold numbers that are no coordinates.
constexpr std::array<std::string_view, 31> kNoCoordinates = {
    "id",   "fid",    "gid",   "oid",  "uid",       "pid",   "objectid", "index", "idx", "no",   "nr",
    "num",  "number", "count", "name", "label",     "class", "type",     "value", "val", "time", "t",
    "year", "weight", "mass",  "area", "intensity", "red",   "green",    "blue",  "key"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kUnits = {
    {{"deg", "°"}, {"rad", "rad"}, {"feet", "ft"}, {"px", "px"}, {"pixel", "px"}, {"pixels", "px"}, {"voxel", "px"}}};

/// The unit of a coordinate that small letters name; empty: none.
std::string known_unit(std::string_view text) {
  const auto* found = std::find_if(kUnits.begin(), kUnits.end(), [&](const auto& unit) { return unit.first == text; });
  if (found != kUnits.end()) return std::string(found->second);
  std::string name = unit_named(text);
  const Quantity quantity = quantity_of(name);
  return quantity == Quantity::length || quantity == Quantity::angle ? name : std::string();
}

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (is_word_byte(c)) words.back() += c;
    else if (!words.back().empty()) words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word;
  return text;
}

/// "POINT_X", "xcoord": the same without a word beside the name.
std::string without_beside(std::string name) {
  for (const std::string_view word : kBeside) {
    if (name.size() <= word.size()) continue;
    if (name.starts_with(word)) return name.substr(word.size());
    if (name.ends_with(word)) return name.substr(0, name.size() - word.size());
  }
  return name;
}

/// What a name says.
struct Sense {
  std::string stem;  ///< small letters, without unit and marks
  std::string unit;
  std::optional<Known> known;
  bool beside = false;         ///< other words stand beside it
  bool no_coordinate = false;  ///< it ends in a word such as "id"
};

Sense sense_of(std::string_view name) {
  Sense sense;
  const std::string small = lower_case(name);
  const std::size_t mark = small.find_first_of("([{/");
  if (mark != std::string::npos && mark > 0) {
    const std::size_t close = small.find_first_of(")]}", mark);
    sense.unit = known_unit(small.substr(mark + 1, close == std::string::npos ? close : close - mark - 1));
  }
  std::vector<std::string> words = words_of(std::string_view(small).substr(0, mark > 0 ? mark : std::string::npos));
  if (words.size() > 1 && sense.unit.empty() && !known_unit(words.back()).empty()) {
    sense.unit = known_unit(words.back());
    words.pop_back();
  }
  sense.stem = joined(words);
  const auto ends_in = [&](std::string_view word) {
    return sense.stem == word || (!words.empty() && words.back() == word);
  };
  sense.no_coordinate = std::any_of(kNoCoordinates.begin(), kNoCoordinates.end(), ends_in);
  const auto look_up = [&](std::string_view stem) {
    const auto* found = std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& k) { return k.name == stem; });
    if (found != kKnown.end()) sense.known = *found;
  };
  look_up(sense.stem);
  if (sense.known) return sense;
  sense.beside = true;
  look_up(without_beside(without_beside(sense.stem)));
  return sense;
}

std::string in_quotes(std::string_view name) {
  std::string text = "'";
  return text.append(one_line(name)).append("'");
}

std::string list_of(const std::vector<Column>& columns) {
  constexpr std::size_t kMost = 12;
  std::string text;
  for (std::size_t k = 0; k < std::min(columns.size(), kMost); ++k)
    text += (k > 0 ? ", " : "") + std::to_string(k + 1) + " " + in_quotes(columns[k].name);
  return columns.size() > kMost ? text + " … of " + std::to_string(columns.size()) : text;
}

[[noreturn]] void fail_uncertain(const ByteSource& source, const std::vector<Column>& columns, const std::string& why) {
  if (have_names(columns))
    source.fail("has the columns " + list_of(columns) + ", and " + why +
                "; say it with --columns, such as --columns 1,2");
  const auto numeric =
      std::count_if(columns.begin(), columns.end(), [](const Column& column) { return column.numeric; });
  std::string text =
      "has " + std::to_string(columns.size()) + (columns.size() == 1 ? " column" : " columns") + " without names";
  if (numeric < static_cast<std::ptrdiff_t>(columns.size()))
    text += ", " + std::to_string(numeric) + " of them numbers";
  if (numeric < 2) source.fail(text + "; points have 2 or 3: leave out titles before them");
  source.fail(text + "; points have 2 or 3, or --columns says which, such as --columns 1,2");
}

bool is_height(const Sense& sense) { return sense.known && sense.known->axis >= 2; }

/// The columns of a family's axes; nothing where x or y is missing.
/// @param twice  set where two columns are equally fit
std::optional<std::vector<std::size_t>> family_in(const std::vector<Sense>& senses, Family family, bool& twice) {
  std::vector<std::size_t> places;
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<std::size_t> plain, beside;
    for (std::size_t k = 0; k < senses.size(); ++k) {
      if (!senses[k].known) continue;
      const Known& known = *senses[k].known;
      const bool height = axis == 2 && family == Family::projected && is_height(senses[k]);
      if (height || (known.family == family && known.axis == axis)) (senses[k].beside ? beside : plain).push_back(k);
    }
    const auto& best = plain.empty() ? beside : plain;
    if (best.empty() && axis < 2) return std::nullopt;
    if (best.size() > 1) twice = true;
    if (!best.empty()) places.push_back(best[0]);
  }
  return places;
}

std::vector<Sense> senses_of(const std::vector<Column>& columns) {
  std::vector<Sense> senses;
  for (const Column& column : columns) senses.push_back(sense_of(column.name));
  return senses;
}

struct Families {
  std::vector<Family> whole;
  std::vector<std::size_t> places;  ///< of the last one
  bool twice = false;
};

Families families_in(const std::vector<Sense>& senses) {
  Families found;
  for (const Family family : kFamilies)
    if (auto places = family_in(senses, family, found.twice)) {
      found.whole.push_back(family);
      found.places = std::move(*places);
    }
  return found;
}

/// The column that is called so, or nearly so.
std::optional<std::size_t> named(const std::vector<Column>& columns, std::string_view name) {
  const auto find = [&](auto is_it) -> std::optional<std::size_t> {
    const auto found = std::find_if(columns.begin(), columns.end(), is_it);
    if (found == columns.end() || std::find_if(found + 1, columns.end(), is_it) != columns.end()) return std::nullopt;
    return static_cast<std::size_t>(found - columns.begin());
  };
  if (const auto same = find([&](const Column& column) { return column.name == name; })) return same;
  if (const auto near = find([&](const Column& column) { return lower_case(column.name) == lower_case(name); }))
    return near;
  const std::string stem = sense_of(name).stem;
  return find([&](const Column& column) { return sense_of(column.name).stem == stem; });
}

std::vector<std::size_t> asked_places(const ByteSource& source, const std::vector<Column>& columns,
                                      const PointOptions& options) {
  std::vector<std::size_t> places;
  for (const std::string& wanted : options.columns) {
    if (const auto number = parsed<std::size_t>(wanted)) {
      if (*number < 1 || *number > columns.size())
        source.fail("has no column " + wanted + "; it has " + std::to_string(columns.size()) + ", the first is 1");
      places.push_back(*number - 1);
    } else if (const auto place = named(columns, wanted)) {
      places.push_back(*place);
    } else if (have_names(columns)) {
      source.fail("has no column " + in_quotes(wanted) + ", or more than one; it has " + list_of(columns));
    } else {
      source.fail("has no names of columns, such as " + in_quotes(wanted) + "; give --columns numbers, the first is 1");
    }
    if (std::count(places.begin(), places.end(), places.back()) > 1)
      source.fail("has " + in_quotes(wanted) + " twice among the columns that were asked for");
    if (!columns[places.back()].numeric) source.fail("has no numbers in the column " + in_quotes(wanted));
  }
  return places;
}

std::vector<std::size_t> named_places(const ByteSource& source, const std::vector<Column>& columns,
                                      const std::vector<Sense>& senses, std::vector<std::string>& warnings) {
  const Families found = families_in(senses);
  if (found.twice) fail_uncertain(source, columns, "more than one of them may be the same coordinate");
  if (found.whole.size() > 1) fail_uncertain(source, columns, "more than one pair of them may be x and y");
  if (found.whole.size() == 1) {
    if (found.whole[0] == Family::plain && found.places.size() == 2 &&
        std::any_of(senses.begin(), senses.end(), is_height))
      fail_uncertain(source, columns, "whether the height is a coordinate is not certain");
    for (std::size_t k = 0; k < columns.size(); ++k)
      if (found.whole[0] == Family::geographic && is_height(senses[k]))
        warnings.push_back(source.name() + ": " + in_quotes(columns[k].name) +
                           " is left out, since heights are not in degrees");
    return found.places;
  }
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < columns.size(); ++k)
    if (columns[k].numeric && !columns[k].name.empty()) places.push_back(k);
  const bool against = std::any_of(places.begin(), places.end(), [&](std::size_t place) {
    return senses[place].known || senses[place].no_coordinate;
  });
  if (against || places.size() < 2 || places.size() > 3)
    fail_uncertain(source, columns, "which of them are coordinates is not certain");
  std::string text;
  for (const std::size_t place : places) text += (text.empty() ? "" : ", ") + in_quotes(columns[place].name);
  warnings.push_back(source.name() + ": the columns " + text + " are taken as " +
                     (places.size() == 2 ? "x, y" : "x, y, z"));
  return places;
}

void add_unit(const ByteSource& source, const std::vector<Column>& columns, const std::vector<Sense>& senses,
              Coordinates& found) {
  std::set<std::string> units;
  std::string names;
  bool height = false;  // in nobody knows what
  for (const std::size_t place : found.places) {
    const Sense& sense = senses[place];
    const bool geographic = sense.known && sense.known->family == Family::geographic;
    if (!sense.unit.empty()) units.insert(sense.unit);
    else if (geographic) units.insert("°");
    else height |= is_height(sense);
    names += (names.empty() ? "" : ", ") + in_quotes(columns[place].name);
  }
  if (units.size() > 1)
    source.fail("has coordinates in " + *units.begin() + " and " + *units.rbegin() + " (" + names +
                "); bring them to one unit");
  if (height && units.count("°") > 0)
    source.fail("has coordinates in degrees and a height (" + names +
                "); project the points first, or leave the height out");
  if (!units.empty()) found.unit = *units.begin();
  if (found.unit == "°" || found.unit == "rad")
    found.warnings.push_back(source.name() + ": " + names + " are taken as " +
                             (found.places.size() == 2 ? "x, y" : "x, y, z") +
                             ": distances in degrees are not on the ground; project the points first");
}

}  // namespace

bool name_coordinates(const std::vector<Column>& columns, const PointOptions& options) {
  const auto is_name = [](const std::string& wanted) { return !parsed<std::size_t>(wanted); };
  if (std::any_of(options.columns.begin(), options.columns.end(), is_name))
    return std::all_of(options.columns.begin(), options.columns.end(), [&](const std::string& wanted) {
      return !is_name(wanted) || named(columns, wanted).has_value();
    });
  return !families_in(senses_of(columns)).whole.empty();
}

bool have_names(const std::vector<Column>& columns) {
  return std::any_of(columns.begin(), columns.end(), [](const Column& column) { return !column.name.empty(); });
}

std::string label_of(const std::vector<Column>& columns, std::size_t place) {
  return columns[place].name.empty() ? std::to_string(place + 1) : one_line(columns[place].name);
}

Points described(const std::vector<Column>& columns, Coordinates found) {
  Points points;
  for (const std::size_t place : found.places) points.columns.push_back(label_of(columns, place));
  points.chosen = columns.size() != found.places.size() || !std::is_sorted(found.places.begin(), found.places.end());
  points.unit = std::move(found.unit);
  points.warnings = std::move(found.warnings);
  return points;
}

Coordinates find_coordinates(const ByteSource& source, const std::vector<Column>& columns, const PointOptions& options,
                             bool first) {
  Coordinates found;
  const std::vector<Sense> senses = senses_of(columns);
  if (!options.columns.empty()) {
    found.places = asked_places(source, columns, options);
  } else if (have_names(columns)) {
    found.places = named_places(source, columns, senses, found.warnings);
  } else {
    for (std::size_t k = 0; k < columns.size() && !(first && found.places.size() == 3); ++k)
      if (columns[k].numeric) found.places.push_back(k);
    if (found.places.size() < 2 || found.places.size() > 3) fail_uncertain(source, columns, "");
  }
  add_unit(source, columns, senses, found);
  return found;
}

}  // namespace fathom::io
