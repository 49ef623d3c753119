#include "io/formats.h"

#include <algorithm>
#include <array>

#include "fathom/core/error.h"
#include "io/listed.h"

namespace fathom::io {

namespace {

constexpr std::array<std::string_view, 1> kNpyEndings{".npy"};
constexpr std::array<std::string_view, 2> kTiffEndings{".tif", ".tiff"};
constexpr std::array<std::string_view, 2> kNiftiEndings{".nii", ".nii.gz"};
constexpr std::array<std::string_view, 1> kPngEndings{".png"};
constexpr std::array<std::string_view, 1> kNrrdEndings{".nrrd"};
constexpr std::array<std::string_view, 1> kMhaEndings{".mha"};
constexpr std::array<std::string_view, 1> kVtiEndings{".vti"};

constexpr std::array kTable = {
    FormatRow{.format = Format::npy,
              .name = "npy",
              .title = "NPY",
              .endings = kNpyEndings,
              .probe = npy::probe,
              .read = npy::read,
              .check = npy::check,
              .write = npy::write},
    FormatRow{.format = Format::tiff,
              .name = "tiff",
              .title = "TIFF",
              .endings = kTiffEndings,
              .compresses = true,
              .needs_seek = true,
              .holds = kSpacing | kUnit | kAxes | kNoData | kGeoreference,
              .probe = tiff::probe,
              .read = tiff::read,
              .check = tiff::check,
              .write = tiff::write},
    FormatRow{.format = Format::nifti,
              .name = "nifti",
              .title = "NIfTI",
              .endings = kNiftiEndings,
              .holds = kSpacing | kUnit | kAxes | kPlace,
              .probe = nifti::probe,
              .read = nifti::read,
              .check = nifti::check,
              .write = nifti::write},
    FormatRow{.format = Format::png,
              .name = "png",
              .title = "PNG",
              .endings = kPngEndings,
              .probe = png::probe,
              .read = png::read,
              .check = png::check,
              .write = png::write},
    FormatRow{.format = Format::nrrd,
              .name = "nrrd",
              .title = "NRRD",
              .endings = kNrrdEndings,
              .compresses = true,
              .holds = kSpacing | kUnit | kAxes | kPlace,
              .probe = nrrd::probe,
              .read = nrrd::read,
              .check = nrrd::check,
              .write = nrrd::write},
    FormatRow{.format = Format::mha,
              .name = "mha",
              .title = "MetaImage",
              .endings = kMhaEndings,
              .holds = kSpacing | kUnit | kAxes | kPlace,
              .probe = mha::probe,
              .read = mha::read,
              .check = mha::check,
              .write = mha::write},
    FormatRow{.format = Format::vti,
              .name = "vti",
              .title = "VTI",
              .endings = kVtiEndings,
              .holds = kSpacing | kPlace,
              .check = vti::check,
              .write = vti::write},
    FormatRow{.format = Format::jpeg, .name = "jpeg", .title = "JPEG", .probe = jpeg::probe, .read = jpeg::read},
    FormatRow{.format = Format::pnm, .name = "pnm", .title = "PNM", .probe = pnm::probe, .read = pnm::read},
};

}  // namespace

std::span<const FormatRow> format_table() { return kTable; }

const FormatRow& row_of(Format format) {
  for (const FormatRow& row : kTable)
    if (row.format == format) return row;
  throw InternalError("a format without a row in the table");
}

std::vector<Format> formats(bool written) {
  std::vector<Format> result;
  for (const FormatRow& row : kTable)
    if (written ? row.write != nullptr : row.read != nullptr) result.push_back(row.format);
  return result;
}

std::string titles(bool written) {
  std::vector<std::string> titles;
  for (Format format : formats(written)) titles.emplace_back(title_of(format));
  return listed(titles, "and");
}

std::string_view title_of(Format format) { return row_of(format).title; }

std::string_view name_of(Format format) { return format == Format::automatic ? "auto" : row_of(format).name; }

}  // namespace fathom::io
