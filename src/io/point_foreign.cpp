// Files that people give for points and that are not read: each by its name, with the way out.
#include <algorithm>
#include <array>

#include "io/point_formats.h"
#include "io/signature.h"
#include "io/text_number.h"

namespace fathom::io {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view kCloud = "save it as PLY or CSV, as CloudCompare and PDAL do";
constexpr std::string_view kMesh = "save its vertices as PLY or CSV, as MeshLab does";
constexpr std::string_view kMap = "save it as CSV with columns x and y, as ogr2ogr -lco GEOMETRY=AS_XY does";
constexpr std::string_view kTable = "save the table as CSV, as pandas' to_csv does";
constexpr std::string_view kVtk = "save its points as PLY or CSV, as ParaView does";
constexpr std::string_view kSheet = "save the sheet as CSV";
constexpr std::string_view kUnpack = "unpack it first";

struct Foreign {
  std::string_view bytes;
  std::string_view kind;
  std::string_view way;
};

/// By the first bytes.
constexpr std::array kBinary = {
    Foreign{"LASF"sv, "a LAS or LAZ point cloud", kCloud},
    Foreign{"ASTM-E57"sv, "an E57 point cloud", kCloud},
    Foreign{"\0\0\x27\x0a"sv, "a shapefile", kMap},
    Foreign{"SQLite format 3"sv, "an SQLite database, as GeoPackage is", kMap},
    Foreign{"PAR1"sv, "a Parquet file", kTable},
    Foreign{"ARROW1"sv, "an Arrow or Feather file", kTable},
    Foreign{"FEA1"sv, "a Feather file", kTable},
    Foreign{"\xd0\xcf\x11\xe0"sv, "an Excel workbook or another old Office file", kSheet},
    Foreign{"MATLAB 5.0"sv, "a MATLAB file", "save the array with writematrix as CSV"},
    Foreign{"CDF\x01"sv, "a NetCDF file", kTable},
    Foreign{"CDF\x02"sv, "a NetCDF file", kTable},
    Foreign{"glTF"sv, "a glTF mesh", kMesh},
    Foreign{"DRACO"sv, "a Draco point cloud or mesh", kCloud},
    Foreign{"Kaydara FBX"sv, "an FBX scene", kMesh},
    Foreign{"RDX"sv, "an R workspace", "save the table with write.csv"},
    Foreign{"BZh"sv, "a bzip2 file", kUnpack},
    Foreign{"\xfd\x37zXZ"sv, "an xz file", kUnpack},
    Foreign{"\x28\xb5\x2f\xfd"sv, "a zstd file", kUnpack},
    Foreign{"7z\xbc\xaf"sv, "a 7z archive", kUnpack},
    Foreign{"Rar!"sv, "a RAR archive", kUnpack},
};

/// By the start of a text, in small letters.
constexpr std::array kText = {
    Foreign{"# .pcd"sv, "a PCD point cloud", kCloud}, Foreign{"# vtk datafile"sv, "a VTK file", kVtk},
    Foreign{"simple  ="sv, "a FITS file", kTable},    Foreign{"iso-10303"sv, "a STEP model", kMesh},
    Foreign{"{"sv, "JSON, as GeoJSON is", kMap},      Foreign{"["sv, "JSON", kTable},
};

/// By the first word of a text, which comments may precede, and a word that must follow.
struct ForeignWord {
  std::string_view word;
  std::string_view follows;
  std::string_view kind;
  std::string_view way;
};
constexpr std::array kWords = {
    ForeignWord{"v"sv, ""sv, "an OBJ mesh", kMesh},
    ForeignWord{"vn"sv, ""sv, "an OBJ mesh", kMesh},
    ForeignWord{"vt"sv, ""sv, "an OBJ mesh", kMesh},
    ForeignWord{"o"sv, "\nv "sv, "an OBJ mesh", kMesh},
    ForeignWord{"g"sv, "\nv "sv, "an OBJ mesh", kMesh},
    ForeignWord{"mtllib"sv, ""sv, "an OBJ mesh", kMesh},
    ForeignWord{"solid"sv, "facet"sv, "an STL mesh", kMesh},
    ForeignWord{"OFF"sv, ""sv, "an OFF mesh", kMesh},
    ForeignWord{"COFF"sv, ""sv, "an OFF mesh", kMesh},
    ForeignWord{"NOFF"sv, ""sv, "an OFF mesh", kMesh},
    ForeignWord{"CNOFF"sv, ""sv, "an OFF mesh", kMesh},
    ForeignWord{"STOFF"sv, ""sv, "an OFF mesh", kMesh},
    ForeignWord{"VERSION"sv, "FIELDS"sv, "a PCD point cloud", kCloud},
    ForeignWord{"0"sv, "SECTION"sv, "a DXF drawing", kMap},
    ForeignWord{"<VTKFile"sv, ""sv, "a VTK file", kVtk},
    ForeignWord{"<?xml"sv, "<VTKFile"sv, "a VTK file", kVtk},
    ForeignWord{"DSAA"sv, ""sv, "a Surfer grid", "save its points as CSV"},
    ForeignWord{"ncols"sv, "nrows"sv, "an ESRI grid", "save its points as CSV, as gdal2xyz does"},
    ForeignWord{"ATOM"sv, ""sv, "a PDB file", "save its atoms as XYZ, as Open Babel does"},
    ForeignWord{"HETATM"sv, ""sv, "a PDB file", "save its atoms as XYZ, as Open Babel does"},
    ForeignWord{"HEADER"sv, "ATOM"sv, "a PDB file", "save its atoms as XYZ, as Open Babel does"},
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Of a ZIP archive, whose first file's name tells what it is.
std::string_view zip_kind(std::string_view start) {
  constexpr std::size_t kName = 30;
  const std::string_view name = start.size() > kName ? start.substr(kName, 80) : std::string_view();
  if (name.find(".npy") != std::string_view::npos) return "an NPZ archive; save its array with numpy.save";
  if (name.starts_with("[Content_Types]") || name.starts_with("_rels") || name.starts_with("xl/") ||
      name.starts_with("docProps"))
    return "an Excel workbook or another Office file; save the sheet as CSV";
  if (name.find("opendocument.spreadsheet") != std::string_view::npos)
    return "an OpenDocument spreadsheet; save the sheet as CSV";
  return "a ZIP archive; unpack it first";
}

/// The first word behind comments of an OBJ, PCD or OFF.
std::string_view first_word(std::string_view text) {
  while (!text.empty()) {
    if (is_blank(text[0])) text.remove_prefix(1);
    else if (text[0] == '#') text.remove_prefix(std::min(text.find_first_of("\r\n"), text.size()));
    else break;
  }
  std::size_t end = 0;
  while (end < text.size() && !is_blank(text[end])) ++end;
  return text.substr(0, end);
}

/// "BM25,x,y" and "P1 1.5 2.5": images begin so, too.
bool begins_with_label(std::string_view text) {
  return text.starts_with("BM") ? text.substr(0, 14).find('\0') == std::string_view::npos
                                : text.starts_with('P') && text.size() > 2 && (text[2] == ' ' || text[2] == '\t');
}

std::string with(std::string_view kind, std::string_view way) { return std::string(kind) + "; " + std::string(way); }

}  // namespace

std::string foreign_points(std::span<const std::byte> start) {
  const std::string_view bytes(reinterpret_cast<const char*>(start.data()), start.size());
  if (bytes.starts_with("PK\x03\x04")) return std::string(zip_kind(bytes));
  for (const Foreign& foreign : kBinary)
    if (bytes.starts_with(foreign.bytes)) return with(foreign.kind, foreign.way);
  std::string_view rest = bytes.substr(bytes.starts_with("\xef\xbb\xbf") ? 3 : 0);
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
  const std::string text = lower_case(rest.substr(0, 32));
  for (const Foreign& foreign : kText)
    if (text.starts_with(foreign.bytes)) return with(foreign.kind, foreign.way);
  const std::string_view word = first_word(rest);
  for (const ForeignWord& foreign : kWords)
    if (word == foreign.word && rest.find(foreign.follows) != std::string_view::npos)
      return with(foreign.kind, foreign.way);
  if (begins_with_label(bytes)) return {};
  if (const std::string_view kind = foreign_kind(start); !kind.empty())
    return with(kind, "points are read from NPY, CSV, PLY and XYZ files");
  if (format_of(start) != Format::automatic)
    return with("an image", "points are read from NPY, CSV, PLY and XYZ files");
  return {};
}

}  // namespace fathom::io
