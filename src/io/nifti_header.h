// NIfTI headers of both versions and either byte order, as one struct in ours.
#pragma once

#include <nifti1.h>
#include <nifti2.h>

#include <cstdint>

#include "io/byte_sink.h"
#include "io/byte_source.h"

namespace fathom::io {

namespace nifti {

struct Header {
  nifti_2_header fields{};
  bool swapped = false;         ///< the elements, too, have the other byte order
  std::uint64_t offset = 0;     ///< of the first element, from the start of the file
};

/// @throws IoError no NIfTI header, or one of a pair of files; `source` then stands right behind the header
Header read_header(ByteSource& source);

/// Version 1 where all extents fit, else version 2; with the four bytes that say that no extension follows.
void write_header(ByteSink& sink, nifti_2_header fields);

}  // namespace nifti
}  // namespace fathom::io
