// What a NIfTI header says of its array, and a header that says it.
#pragma once

#include <string>
#include <vector>

#include "io/native.h"
#include "io/nifti_header.h"

namespace fathom::io::nifti {

/// The header that a file came with, as version 2 in native order.
class NativeHeader final : public Native {
 public:
  explicit NativeHeader(const nifti_2_header& header) : fields(header) {}
  std::shared_ptr<const Native> cropped(const std::vector<std::int64_t>& begin) const override;

  nifti_2_header fields;
};

/// @param axes      of the file that are axes of the array, slowest first
/// @param warnings  gets a line for each thing that is contradictory or not stated
Meaning meaning_of(const nifti_2_header& fields, const std::vector<int>& axes, std::vector<std::string>& warnings);

/// The file's axis of each of the array's: x, y, z, time and channels are the first five; without names, in order.
/// @throws InvalidArgument the names have no such order
std::vector<int> file_axes(const Meaning& meaning, int rank);

/// NIfTI's number of a unit of length; 0: it has none.
int code_of_unit(const std::string& unit);

/// Puts spacing, unit and place into the header, whose extents are set.
void set_meaning(nifti_2_header& fields, const Meaning& meaning, int rank);

}  // namespace fathom::io::nifti
