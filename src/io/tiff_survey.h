// Everything that is known of a TIFF before an element is decoded.
#pragma once

#include <cstdint>
#include <vector>

#include "io/formats.h"
#include "io/tiff_meaning.h"

namespace fathom::io::tiff {

struct Survey {
  std::vector<Page> pages;
  Tags tags;
  Stack stack;
  Taking taking;
  ImageInfo info;
  std::uint64_t scratch = 0;
};

/// Visits all directories. @throws IoError broken, or pages that make no array
Survey survey_of(TiffFile& file, ByteSource& source, const ReadContext& context);

/// Makes the page's directory the current one.
void go_to(TiffFile& file, const Page& page);

}  // namespace fathom::io::tiff
