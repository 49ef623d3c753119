// NRRD written: raw or gzip, in one file. An array that has a place gets `space directions`, others `spacings` alone.
#include <algorithm>
#include <bit>
#include <optional>

#include "io/rows.h"
#include "io/text_volume.h"

namespace fathom::io::nrrd {

namespace {

std::string_view type_name(DType dtype) {
  switch (dtype) {
    case DType::boolean:
    case DType::uint8: return "uint8";
    case DType::float32: return "float";
    case DType::float64: return "double";
    default: return name_of(dtype);
  }
}

const char* kind_of(const Axis& axis) {
  switch (axis.kind) {
    case AxisKind::space: return "domain";
    case AxisKind::time: return "time";
    case AxisKind::channel:
    case AxisKind::samples: return "vector";
    case AxisKind::other: break;
  }
  return "list";
}

/// What a file says of where the array lies. ITK takes time for a further axis of the space, and wants as many
/// directions as the space has axes.
struct Space {
  bool placed = false;
  bool framed = false;  ///< else as many axes as the array, without names
  bool timed = false;
  std::size_t dimension = 0;  ///< without time
};

/// The first components, and one of time where the space has one.
std::string vector_text(const std::array<double, 3>& v, const Space& space, double factor, double time) {
  std::string text;
  for (std::size_t i = 0; i < space.dimension; ++i) {
    text += i > 0 ? ',' : '(';
    text += shortest(v[i] * factor);
  }
  if (space.timed) {
    text += ',';
    text += shortest(time);
  }
  return text + ")";
}

Space space_of(const Meaning& meaning, int rank) {
  const std::size_t axes = axes_of_space(meaning, rank).size();
  Space space;
  space.placed = meaning.place && axes > 0 && meaning.place->directions.size() == axes;
  if (!space.placed) return space;
  space.framed = meaning.place->frame != Place::Frame::unstated && (axes == 3 || !lies_in(*meaning.place, axes));
  space.dimension = space.framed ? 3 : axes;
  space.timed = std::count_if(meaning.axes.begin(), meaning.axes.end(),
                              [](const Axis& axis) { return axis.kind == AxisKind::time; }) == 1;
  return space;
}

std::string in_quotes(const std::string& unit) {
  std::string text = "\"";
  text += ascii_unit(unit);
  return text + "\"";
}

double size_of_step(const Axis& axis) { return axis.spacing > 0 ? axis.spacing : 1; }

/// The lines about each axis; the file's first axis is our last.
std::string axes_text(const Shape& shape, const Meaning& meaning, const Space& space) {
  std::string sizes = "sizes:", kinds = "kinds:", spacings = "spacings:", units = "units:",
              directions = "space directions:";
  bool any_spacing = false, any_unit = false;
  std::size_t directed = space.placed ? meaning.place->directions.size() : 0;
  for (std::size_t k = static_cast<std::size_t>(shape.rank()); k-- > 0;) {
    const Axis axis = meaning.axes.empty() ? Axis{} : meaning.axes[k];
    const bool is_space = space.placed && axis.kind == AxisKind::space,
               is_time = space.timed && axis.kind == AxisKind::time;
    const bool apart = !is_space && !is_time;
    add_word(sizes, std::to_string(shape[static_cast<int>(k)]));
    add_word(kinds, kind_of(axis));
    if (is_space)
      add_word(directions, vector_text(meaning.place->directions[--directed], space, size_of_step(axis), 0));
    else add_word(directions, is_time ? vector_text({}, space, 1, size_of_step(axis)) : "none");
    add_word(spacings, apart && axis.spacing > 0 ? shortest(axis.spacing) : "nan");
    add_word(units, in_quotes(apart ? axis.unit : ""));
    any_spacing |= apart && axis.spacing > 0;
    any_unit |= apart && !axis.unit.empty();
  }
  return sizes + "\n" + kinds + "\n" + (any_spacing ? spacings + "\n" : "") + (any_unit ? units + "\n" : "") +
         (space.placed ? directions + "\n" : "");
}

/// The lines about the space, which stand before those of the axes.
std::string space_text(const Meaning& meaning, const Space& space) {
  if (!space.placed) return {};
  const char* frame = meaning.place->frame == Place::Frame::ras ? "right-anterior-superior" : "left-posterior-superior";
  std::string text = space.framed ? std::string("space: ") + frame + (space.timed ? "-time" : "")
                                  : "space dimension: " + std::to_string(space.dimension + (space.timed ? 1 : 0));
  text += "\nspace origin:";
  add_word(text, vector_text(meaning.place->origin, space, 1, 0));
  text += '\n';
  if (meaning.unit().empty()) return text;
  text += "space units:";
  for (std::size_t i = 0; i < space.dimension; ++i) add_word(text, in_quotes(meaning.unit()));
  for (const Axis& axis : meaning.axes)
    if (space.timed && axis.kind == AxisKind::time) add_word(text, in_quotes(axis.unit));
  return text + "\n";
}

}  // namespace

void check(DType, const Shape& shape, const Meaning& meaning) {
  constexpr int kMostAxes = 8;
  check_extents("NRRD", shape, kMostAxes);
  if (meaning.place && meaning.place->directions.size() > 3)
    throw InvalidArgument("NRRD holds directions of up to 3 axes; write .npy");
}

WriteReport write(Target& target, const AnyConstView& data, const Meaning& meaning) {
  std::string header =
      "NRRD0004\ntype: " + std::string(type_name(data.dtype())) + "\ndimension: " + std::to_string(data.rank()) + "\n";
  const Space space = space_of(meaning, data.rank());
  header += space_text(meaning, space) + axes_text(data.shape(), meaning, space);
  if (size_of(data.dtype()) > 1)
    header += std::endian::native == std::endian::little ? "endian: little\n" : "endian: big\n";
  header += target.compress ? "encoding: gzip\n\n" : "encoding: raw\n\n";
  target.sink.write(header.data(), header.size());
  std::optional<GzipSink> gzip;
  if (target.compress) gzip.emplace(target.sink);
  ByteSink& sink = gzip ? static_cast<ByteSink&>(*gzip) : target.sink;
  for_each_run(data, [&](const std::byte* run, std::size_t bytes) { sink.write(run, bytes); });
  if (gzip) gzip->finish();
  return {};
}

}  // namespace fathom::io::nrrd
