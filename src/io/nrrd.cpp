// NRRD, as teem, ITK and 3D Slicer have it: in one file, or a header (.nhdr) that names a file of elements.
#include "io/nrrd_header.h"

namespace fathom::io::nrrd {

ImageInfo probe(ByteSource& source, const ReadContext& context) {
  TextVolume volume = read_header(source);
  return finish_probe(volume, source, context);
}

Image read(ByteSource& source, const ReadContext& context) {
  TextVolume volume = read_header(source);
  return read_elements(volume, source, context);
}

}  // namespace fathom::io::nrrd
