// Where the raster of `stream` goes, and how its rows get there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fathom/io/raster.h"
#include "fathom/stream/node.h"
#include "stream.h"

namespace fathom::cli {

struct StreamOutput {
  std::string path;       ///< empty: none
  bool nameless = false;  ///< a pipe or the like, of which nothing stays
  bool serpentine = false;
  std::int64_t stripe = 0;  ///< width of stripes, one after the other; 0: there are none
  DType dtype = DType::uint8;
  Rectangle region;
  io::RasterWriteOptions options;

  /// "tiff", "npy" or "raw".
  std::string_view format_name() const { return options.raw ? "raw" : io::name_of(options.format); }
  std::int64_t row_step() const { return options.format == io::Format::tiff ? options.tile : 1; }
  bool packed() const { return dtype == DType::boolean && options.format != io::Format::npy; }
  std::int64_t row_bytes() const {
    return packed() ? (region.width() + 7) / 8 : region.width() * static_cast<std::int64_t>(size_of(dtype));
  }
  /// Of the pixels, as they are stored without compression.
  double bytes() const { return static_cast<double>(row_bytes()) * static_cast<double>(region.height()); }
};

/// @throws InvalidArgument options that contradict one another
StreamOutput plan_output(const StreamArguments& arguments, const stream::Node& root);

/// The rest of a raw stream: rows come from the first one on that is given, and bytes before a place are dropped.
/// @param rows  of the region that are not given  @param begin  the first byte of the whole stream that is written
std::unique_ptr<RasterSink> rest_of_stream(io::AtomicFile& file, const StreamOutput& output, std::int64_t rows,
                                           std::int64_t begin);

}  // namespace fathom::cli
