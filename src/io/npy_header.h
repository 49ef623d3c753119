// The header of an NPY file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/byte_source.h"
#include "fathom/core/array.h"

namespace fathom::io::npy {

/// A number of a structured array's elements.
struct Member {
  std::string name;
  bool numeric = true;         ///< else the rest but the offset means nothing
  DType dtype = DType::uint8;
  bool half = false;
  bool swapped = false;
  std::size_t offset = 0;      ///< in bytes
};

struct Header {
  DType dtype = DType::uint8;  ///< of the array in memory
  bool half = false;           ///< the file holds float16, read as float32
  bool swapped = false;        ///< the file has the other byte order
  bool fortran = false;        ///< the file's first axis is the fastest
  Shape shape;
  std::vector<Member> members;  ///< of a structured array; several values of one name are called name_1, name_2, …
  std::size_t record_bytes = 0;
  std::size_t file_element_size() const { return half ? 2 : size_of(dtype); }
};

/// Reads magic, version and header; the source then stands at the first element.
/// @param structured  whether a structured array is welcome
/// @throws IoError not NPY, truncated, or with elements that are no numbers
Header read_header(ByteSource& source, bool structured = false);

}  // namespace fathom::io::npy
