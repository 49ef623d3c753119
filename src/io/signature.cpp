#include "io/signature.h"

#include <array>
#include <cctype>

namespace fathom::io {

namespace {

struct Signature {
  std::size_t offset;
  std::string_view bytes;
};

std::string_view text_of(std::span<const std::byte> start) {
  return {reinterpret_cast<const char*>(start.data()), start.size()};
}

bool matches(std::span<const std::byte> start, const Signature& signature) {
  return start.size() >= signature.offset && text_of(start).substr(signature.offset).starts_with(signature.bytes);
}

/// "P" and one of `kinds`, then what ends a word: two letters alone are too few to tell a file by.
bool is_netpbm(std::span<const std::byte> start, std::string_view kinds) {
  const std::string_view text = text_of(start);
  return text.size() > 2 && text[0] == 'P' && kinds.find(text[1]) != std::string_view::npos &&
         (text[2] == '#' || std::isspace(static_cast<unsigned char>(text[2])));
}

using namespace std::string_view_literals;

struct Known {
  Signature signature;
  Format format;
};
constexpr std::array kKnown = {
    Known{{0, "\x89PNG\r\n\x1a\n"sv}, Format::png},
    Known{{0, "\x93NUMPY"sv}, Format::npy},
    Known{{0, "II*\0"sv}, Format::tiff},
    Known{{0, "MM\0*"sv}, Format::tiff},
    Known{{0, "II+\0"sv}, Format::tiff},
    Known{{0, "MM\0+"sv}, Format::tiff},
    Known{{344, "n+1\0"sv}, Format::nifti},
    Known{{344, "ni1\0"sv}, Format::nifti},
    Known{{4, "n+2\0\r\n\x1a\n"sv}, Format::nifti},
    Known{{4, "ni2\0\r\n\x1a\n"sv}, Format::nifti},
    Known{{0, "\xff\xd8\xff"sv}, Format::jpeg},
    Known{{0, "NRRD000"sv}, Format::nrrd},
    Known{{0, "ObjectType"sv}, Format::mha},
    Known{{0, "NDims"sv}, Format::mha},
};

struct Foreign {
  Signature signature;
  std::string_view kind;
};
constexpr std::array kForeign = {
    Foreign{{0, "GIF8"sv}, "a GIF image (save it as PNG or TIFF)"},
    Foreign{{0, "BM"sv}, "a BMP image (save it as PNG)"},
    Foreign{{8, "WEBP"sv}, "a WebP image (save it as PNG)"},
    Foreign{{4, "ftypavif"sv}, "an AVIF image (save it as PNG)"},
    Foreign{{4, "ftyphei"sv}, "a HEIF image (save it as PNG)"},
    Foreign{{4, "ftyp"sv}, "a video (save its frames as TIFF)"},
    Foreign{{4, "jP  "sv}, "a JPEG 2000 image (save it as TIFF)"},
    Foreign{{0, "\xff\x4f\xff\x51"sv}, "a JPEG 2000 image (save it as TIFF)"},
    Foreign{{0, "\xff\x0a"sv}, "a JPEG XL image (save it as PNG or TIFF)"},
    Foreign{{4, "JXL \r\n"sv}, "a JPEG XL image (save it as PNG or TIFF)"},
    Foreign{{0, "\x76\x2f\x31\x01"sv}, "an OpenEXR image (save it as TIFF of floats)"},
    Foreign{{0, "#?RADIANCE"sv}, "a Radiance HDR image (save it as TIFF of floats)"},
    Foreign{{0, "8BPS"sv}, "a Photoshop document (save it as PNG or TIFF)"},
    Foreign{{0, "DDS "sv}, "a DDS texture (save it as PNG)"},
    Foreign{{0, "SIMPLE  ="sv}, "a FITS file (save its array with numpy.save)"},
    Foreign{{128, "DICM"sv}, "a DICOM file (convert the series to NIfTI with dcm2niix or SimpleITK)"},
    Foreign{{0, "\x89HDF"sv}, "an HDF5, NetCDF or Imaris file (save the dataset with numpy.save)"},
    Foreign{{0, "CDF\x01"sv}, "a NetCDF or MINC file (save the variable with numpy.save)"},
    Foreign{{0, "CDF\x02"sv}, "a NetCDF or MINC file (save the variable with numpy.save)"},
    Foreign{{0, "CDF\x05"sv}, "a NetCDF file (save the variable with numpy.save)"},
    Foreign{{0, "MATLAB 5.0"sv}, "a MATLAB file (save the variable with numpy.save)"},
    Foreign{{0, "\xda\xce\xbe\x0a"sv}, "a Nikon ND2 file (save it as OME-TIFF, with Fiji or bioio)"},
    Foreign{{0, "ZISRAWFILE"sv}, "a Zeiss CZI file (save it as OME-TIFF, with Fiji or bioio)"},
    Foreign{{0, "\x70\0\0\0"sv}, "a Leica LIF file (save it as OME-TIFF, with Fiji or bioio)"},
    Foreign{{0, "\xd0\xcf\x11\xe0"sv},
            "an old office document or an Olympus OIB file (save it as OME-TIFF, with Fiji)"},
    Foreign{{208, "MAP "sv}, "an MRC map (save its array with numpy.save)"},
    Foreign{{0, "PK\x03\x04"sv}, "a ZIP archive, as .npz, .xlsx and zipped Zarr are (save its array with numpy.save)"},
    Foreign{{0, "{\"zarr_format\""sv}, "the metadata of a Zarr array (save the array with numpy.save)"},
    Foreign{{0, "# vtk DataFile"sv}, "a legacy VTK file (save it as NRRD or MetaImage)"},
    Foreign{{0, "<VTKFile"sv}, "a VTK file (save it as NRRD or MetaImage)"},
    Foreign{{0, "%PDF"sv}, "a PDF document"},
    Foreign{{0, "\x80\x04"sv}, "a Python pickle, which is never opened (save the array with numpy.save)"},
    Foreign{{0, "\x80\x05"sv}, "a Python pickle, which is never opened (save the array with numpy.save)"},
    Foreign{{0, "\x1f\x8b"sv}, "gzip within gzip (undo one of them)"},
    Foreign{{0, "BZh"sv}, "a bzip2 file (unpack it)"},
    Foreign{{0, "\x28\xb5\x2f\xfd"sv}, "a zstd file (unpack it)"},
    Foreign{{0, "\xfd\x37zXZ"sv}, "an xz file (unpack it)"},
    Foreign{{0, "<svg"sv}, "an SVG drawing (save it as PNG)"},
    Foreign{{0, "<!DOCTYPE"sv}, "an HTML document"},
    Foreign{{0, "<html"sv}, "an HTML document"},
    Foreign{{0, "\x5c\x01\0\0"sv}, "an Analyze 7.5 header or a broken NIfTI file (save it as .nii)"},
    Foreign{{0, "\0\0\x01\x5c"sv}, "an Analyze 7.5 header or a broken NIfTI file (save it as .nii)"},
};

}  // namespace

Format format_of(std::span<const std::byte> start) {
  for (const Known& known : kKnown)
    if (matches(start, known.signature)) return known.format;
  return is_netpbm(start, "123456") ? Format::pnm : Format::automatic;
}

std::string_view foreign_kind(std::span<const std::byte> start) {
  for (const Foreign& foreign : kForeign)
    if (matches(start, foreign.signature)) return foreign.kind;
  if (is_netpbm(start, "7")) return "a PAM image (save it as PGM or PPM)";
  if (is_netpbm(start, "fF")) return "a PFM image (save it as TIFF of floats)";
  if (!matches(start, {0, "<?xml"sv})) return {};
  if (text_of(start).find("<VTKFile") != std::string_view::npos) return "a VTK file (save it as NRRD or MetaImage)";
  if (text_of(start).find("<svg") != std::string_view::npos) return "an SVG drawing (save it as PNG)";
  return "an XML document";
}

}  // namespace fathom::io
