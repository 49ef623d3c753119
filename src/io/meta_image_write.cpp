// MetaImage written: raw, in one file. The order of the lines is ITK's; the one of the elements is last.
#include <algorithm>
#include <bit>

#include "io/rows.h"
#include "io/text_volume.h"
#include "io/units.h"

namespace fathom::io::mha {

namespace {

std::string_view type_name(DType dtype) {
  switch (dtype) {
    case DType::boolean:
    case DType::uint8: return "MET_UCHAR";
    case DType::int8: return "MET_CHAR";
    case DType::uint16: return "MET_USHORT";
    case DType::int16: return "MET_SHORT";
    case DType::uint32: return "MET_UINT";
    case DType::int32: return "MET_INT";
    case DType::uint64: return "MET_ULONG_LONG";
    case DType::int64: return "MET_LONG_LONG";
    case DType::float32: return "MET_FLOAT";
    case DType::float64: return "MET_DOUBLE";
  }
  throw InternalError("unknown element type");
}

/// Whether the last axis counts channels.
bool has_channels(const Meaning& meaning) {
  return meaning.axes.size() > 1 &&
         (meaning.axes.back().kind == AxisKind::channel || meaning.axes.back().kind == AxisKind::samples);
}


/// Directions of the axes as the rows of a matrix, and an origin, in the order of the file.
std::string place_text(const Meaning& meaning, std::size_t rank) {
  const Place place = in_frame(*meaning.place, Place::Frame::lps);
  const std::size_t axes = place.directions.size();
  std::string matrix = "TransformMatrix =", offset = "Offset =";
  for (std::size_t k = 0; k < rank; ++k)
    for (std::size_t i = 0; i < rank; ++i) {
      const bool known = k < axes && i < axes;
      add_word(matrix, shortest(known ? place.directions[axes - 1 - k][i] : i == k));
    }
  for (std::size_t i = 0; i < rank; ++i) add_word(offset, shortest(i < axes ? place.origin[i] : 0));
  return matrix + "\n" + offset + "\n";
}

}  // namespace

bool holds_unit(std::string_view unit) { return unit == "µm" || unit == "mm" || unit == "cm"; }

void check(DType, const Shape& shape, const Meaning& meaning) {
  constexpr int kMostAxes = 8;
  check_extents("MetaImage", shape, kMostAxes);
  const std::size_t axes = meaning.axes.size() - (has_channels(meaning) ? 1 : 0);
  bool behind = false;  // an axis of space was seen
  for (std::size_t k = 0; k < axes; ++k) {
    const AxisKind kind = meaning.axes[k].kind;
    behind |= kind == AxisKind::space;
    if ((kind != AxisKind::space && kind != AxisKind::time) || (behind && kind != AxisKind::space))
      throw InvalidArgument("MetaImage holds time before the axes of space and channels behind them, not " +
                            meaning.axis_names() + "; write .nrrd or .npy");
  }
  if (meaning.place && !lies_in(*meaning.place, meaning.place->directions.size()))
    throw InvalidArgument("MetaImage cannot say where an image of " + std::to_string(meaning.place->directions.size()) +
                          " axes of space lies in a volume; write .nrrd or .npy");
}

WriteReport write(Target& target, const AnyConstView& data, const Meaning& meaning) {
  const bool channels = has_channels(meaning);
  const auto rank = static_cast<std::size_t>(data.rank()) - (channels ? 1 : 0);
  std::string sizes, spacing;
  for (std::size_t k = rank; k-- > 0;) {
    add_word(sizes, std::to_string(data.shape()[static_cast<int>(k)]));
    const Axis axis = meaning.axes.empty() ? Axis{} : meaning.axes[k];
    add_word(spacing, shortest(axis.spacing > 0 ? axis.spacing : 1));
  }
  std::string header =
      "ObjectType = Image\nNDims = " + std::to_string(rank) +
      "\nBinaryData = True\nBinaryDataByteOrderMSB = " + (std::endian::native == std::endian::big ? "True" : "False") +
      "\nCompressedData = False\n";
  const auto space = axes_of_space(meaning, data.rank());
  if (meaning.place && meaning.place->directions.size() == space.size()) header += place_text(meaning, rank);
  // The numbers stay those of the elements; ITK takes them for millimetres whatever the header says.
  if (holds_unit(meaning.unit())) header += "DistanceUnits = " + ascii_unit(meaning.unit()) + "\n";
  if (!meaning.spacing().empty()) header += "ElementSpacing =" + spacing + "\n";
  header += "DimSize =" + sizes + "\n";
  if (channels) header += "ElementNumberOfChannels = " + std::to_string(data.shape()[data.rank() - 1]) + "\n";
  header += "ElementType = " + std::string(type_name(data.dtype())) + "\nElementDataFile = LOCAL\n";
  target.sink.write(header.data(), header.size());
  for_each_run(data, [&](const std::byte* run, std::size_t bytes) { target.sink.write(run, bytes); });
  return {};
}

}  // namespace fathom::io::mha
