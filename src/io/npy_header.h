// The header of an NPY file.
#pragma once

#include <cstdint>

#include "io/byte_source.h"
#include "fathom/core/array.h"

namespace fathom::io::npy {

struct Header {
  DType dtype = DType::uint8;  ///< of the array in memory
  bool half = false;           ///< the file holds float16, read as float32
  bool swapped = false;        ///< the file has the other byte order
  bool fortran = false;        ///< the file's first axis is the fastest
  Shape shape;
  std::size_t file_element_size() const { return half ? 2 : size_of(dtype); }
};

/// Reads magic, version and header; the source then stands at the first element.
/// @throws IoError not NPY, truncated, or with elements that are no numbers
Header read_header(ByteSource& source);

}  // namespace fathom::io::npy
