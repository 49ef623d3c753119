#include "io/signature.h"

#include <array>

namespace fathom::io {

namespace {

struct Signature {
  std::size_t offset;
  std::string_view bytes;
};

bool matches(std::span<const std::byte> start, const Signature& signature) {
  if (start.size() < signature.offset + signature.bytes.size()) return false;
  const auto* text = reinterpret_cast<const char*>(start.data()) + signature.offset;
  return std::string_view(text, signature.bytes.size()) == signature.bytes;
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
    Known{{0, "\x1f\x8b"sv}, Format::nifti},
};

struct Foreign {
  Signature signature;
  std::string_view kind;
};
constexpr std::array kForeign = {
    Foreign{{0, "\xff\xd8\xff"sv}, "a JPEG image"},
    Foreign{{0, "GIF8"sv}, "a GIF image"},
    Foreign{{0, "BM"sv}, "a BMP image"},
    Foreign{{8, "WEBP"sv}, "a WebP image"},
    Foreign{{4, "jP  "sv}, "a JPEG 2000 image"},
    Foreign{{0, "\x76\x2f\x31\x01"sv}, "an OpenEXR image"},
    Foreign{{0, "PK\x03\x04"sv}, "a ZIP archive (.npz is one; save its array with numpy.save)"},
    Foreign{{0, "\x89HDF"sv}, "an HDF5 file"},
    Foreign{{0, "NRRD000"sv}, "an NRRD file"},
    Foreign{{0, "ObjectType"sv}, "a MetaImage header"},
    Foreign{{128, "DICM"sv}, "a DICOM file"},
    Foreign{{0, "%PDF"sv}, "a PDF document"},
    Foreign{{0, "\x80\x04"sv}, "a Python pickle, which is never opened"},
    Foreign{{0, "BZh"sv}, "a bzip2 file"},
    Foreign{{0, "\x28\xb5\x2f\xfd"sv}, "a zstd file"},
    Foreign{{0, "\xfd\x37zXZ"sv}, "an xz file"},
    Foreign{{0, "P1"sv}, "a PNM image"},
    Foreign{{0, "P2"sv}, "a PNM image"},
    Foreign{{0, "P4"sv}, "a PNM image"},
    Foreign{{0, "P5"sv}, "a PNM image"},
    Foreign{{0, "P6"sv}, "a PNM image"},
    Foreign{{0, "<?xml"sv}, "an XML document"},
    Foreign{{0, "<!DOCTYPE"sv}, "an HTML document"},
    Foreign{{0, "<html"sv}, "an HTML document"},
    Foreign{{0, "\x5c\x01\0\0"sv}, "an Analyze 7.5 header or a broken NIfTI file"},
    Foreign{{0, "\0\0\x01\x5c"sv}, "an Analyze 7.5 header or a broken NIfTI file"},
};

}  // namespace

Format format_of(std::span<const std::byte> start) {
  for (const Known& known : kKnown)
    if (matches(start, known.signature)) return known.format;
  return Format::automatic;
}

std::string_view foreign_kind(std::span<const std::byte> start) {
  for (const Foreign& foreign : kForeign)
    if (matches(start, foreign.signature)) return foreign.kind;
  return {};
}

}  // namespace fathom::io
