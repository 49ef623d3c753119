#include "stream_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "fathom/core/error.h"
#include "fathom/io/stream.h"
#include "options.h"
#include "report.h"

namespace fathom::cli {

namespace {

/// One for all rasters of a width, so that the bytes are the same in any memory; a row of tiles is what must be held.
std::int64_t tile_of(std::int64_t width) {
  constexpr std::int64_t kWide = 1 << 17, kWidest = 1 << 19;
  return width <= kWide ? 256 : width <= kWidest ? 128 : 64;
}

class RestOfStream final : public RasterSink {
 public:
  RestOfStream(io::AtomicFile& file, const StreamOutput& output, std::int64_t rows, std::int64_t begin)
      : output_(output), skip_(begin / output.row_bytes() - rows), part_(begin % output.row_bytes()) {
    const std::int64_t width = output.region.width();
    if (part_ > 0)
      row_ = output.packed() ? io::create_raster(file, DType::boolean, 1, width - 8 * part_, output.options)
                             : io::create_raster(file, DType::uint8, 1, output.row_bytes() - part_, output.options);
    const std::int64_t left = output.region.height() - rows - skip_ - (row_ ? 1 : 0);
    if (left > 0) rest_ = io::create_raster(file, output.dtype, left, width, output.options);
  }
  std::int64_t row_step() const override { return 1; }
  void write(const AnyConstView& rows) override {
    const std::int64_t count = rows.shape()[0], width = output_.region.width();
    std::int64_t first = std::min(skip_, count);
    skip_ -= first;
    const auto at = [&](std::int64_t row) {
      return rows.data() + row * width * static_cast<std::int64_t>(size_of(rows.dtype()));
    };
    if (row_ && first < count) {
      if (output_.packed()) row_->write({at(first) + 8 * part_, DType::boolean, {1, width - 8 * part_}});
      else row_->write({at(first) + part_, DType::uint8, {1, output_.row_bytes() - part_}});
      row_->finish();
      row_.reset();
      ++first;
    }
    if (first < count) rest_->write({at(first), rows.dtype(), {count - first, width}});
  }
  void sync() override {
    if (rest_) rest_->sync();
  }
  void finish() override {
    if (rest_) rest_->finish();
  }

 private:
  const StreamOutput& output_;
  std::int64_t skip_, part_;  ///< rows, and bytes of the one behind them
  std::unique_ptr<RasterSink> row_, rest_;
};

void choose_format(const StreamArguments& arguments, StreamOutput& output) {
  const std::string& asked = arguments.format;
  if (!asked.empty() && asked != "tiff" && asked != "npy" && asked != "raw")
    throw InvalidArgument(fmt::format("--format takes tiff, npy or raw, not '{}'", asked));
  const io::Format by_name = io::format_from_path(output.path);
  const std::filesystem::path ending = std::filesystem::path(output.path).extension();
  if (asked == "raw" || (asked.empty() && ending == ".raw")) output.options.raw = true;
  else if (asked == "tiff" || (asked.empty() && by_name == io::Format::tiff)) output.options.format = io::Format::tiff;
  else if (asked == "npy" || output.nameless || by_name == io::Format::npy) output.options.format = io::Format::npy;
  else
    throw InvalidArgument(
        fmt::format("{}: rows are streamed into .tif, .npy or .raw; --format tiff, npy or raw says "
                    "so whatever the ending",
                    output.path));
}

void choose_order(const StreamArguments& arguments, StreamOutput& output) {
  const std::string& order = arguments.order;
  constexpr std::string_view kStripes = "stripes:";
  output.serpentine = order == "serpentine";
  if (order.starts_with(kStripes)) {
    const std::int64_t width = output.region.width();
    output.stripe = parse_count("--order stripes", order.substr(kStripes.size()), 1, width);
    if (width % output.stripe != 0)
      throw InvalidArgument(
          fmt::format("--order {}: the stripes must divide the width, {}; --region takes a part", order, width));
  } else if (order != "rows" && !output.serpentine) {
    throw InvalidArgument(fmt::format("--order takes rows, serpentine or stripes:WIDTH, not '{}'", order));
  }
  if (order != "rows" && !output.path.empty() && !output.options.raw)
    throw InvalidArgument(fmt::format("--order {} is for machines, and takes --format raw", order));
}

}  // namespace

StreamOutput plan_output(const StreamArguments& arguments, const stream::Node& root) {
  StreamOutput output;
  output.path = arguments.output;
  output.dtype = root.dtype();
  output.region = root.whole();
  if (!arguments.region.empty()) {
    const auto ranges = parse_region(arguments.region, root.whole().shape());
    output.region = {ranges[0].begin, ranges[1].begin, ranges[0].end, ranges[1].end};
    if (output.region.empty()) throw InvalidArgument(fmt::format("--region {} holds no pixels", arguments.region));
  }
  if (!output.path.empty()) {
    output.nameless = io::is_nameless(output.path);
    choose_format(arguments, output);
    output.options.compress = arguments.compress;
    output.options.packed = output.options.raw && output.packed();
    output.options.meaning = io::meaning_of({root.pixel().size, root.pixel().unit, ""});
    output.options.tile = tile_of(output.region.width());
    if (output.bytes() > 0x1p62)
      throw InvalidArgument(fmt::format("{} are more bytes than any output holds; --region takes a part",
                                        to_string(output.region.shape()) + " pixels"));
    if (output.options.compress && output.format_name() != "tiff")
      throw InvalidArgument(fmt::format("--compress deflates TIFF, and {} is none", shown(output.path)));
    if (output.options.compress && output.nameless)
      throw InvalidArgument(
          "--compress needs a file: where tiles lie is written in front of them, and a pipe cannot go back");
    if (!output.options.raw)
      io::check_write(output.path, output.dtype, output.region.shape(), output.options.meaning,
                      {output.options.format, output.options.compress});
  }
  choose_order(arguments, output);
  return output;
}

std::unique_ptr<RasterSink> rest_of_stream(io::AtomicFile& file, const StreamOutput& output, std::int64_t rows,
                                           std::int64_t begin) {
  return std::make_unique<RestOfStream>(file, output, rows, begin);
}

}  // namespace fathom::cli
