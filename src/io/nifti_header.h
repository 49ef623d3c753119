// NIfTI headers of both versions and either byte order, as one struct in ours.
#pragma once

#include <nifti1.h>
#include <nifti2.h>

#include <array>
#include <cstdint>
#include <vector>

#include "fathom/io/image.h"
#include "io/byte_sink.h"
#include "io/byte_source.h"

namespace fathom::io {

/// The NIfTI header that a file came with, as version 2 in native order.
class Metadata {
 public:
  nifti_2_header nifti{};
};

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

/// Physical size along the file's axis 1 … 7. What states none (0, NaN) counts as 1, and the sign has no meaning.
double spacing_of(const nifti_2_header& fields, int file_axis);

}  // namespace nifti
}  // namespace fathom::io
