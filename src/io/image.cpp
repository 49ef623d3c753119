// The front of the room: finds the format, by a file's first bytes when reading and by its name when writing, and hands
// over to the one file that knows it.
#include "fathom/io/image.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "fathom/core/error.h"
#include "fathom/io/stream.h"
#include "io/formats.h"
#include "io/signature.h"

namespace fathom::io {

namespace {

constexpr std::string_view kReadable = "PNG, TIFF, NPY and NIfTI files are read";

struct Ending {
  std::string_view text;
  Format format;
};
constexpr std::array kEndings = {Ending{".png", Format::png},   Ending{".tif", Format::tiff},
                                 Ending{".tiff", Format::tiff}, Ending{".npy", Format::npy},
                                 Ending{".nii", Format::nifti}, Ending{".nii.gz", Format::nifti}};

std::string lower_name(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

Format choose_format(const std::filesystem::path& path, const WriteOptions& options) {
  if (options.format != Format::automatic) return options.format;
  const Format format = format_from_path(path);
  if (format != Format::automatic) return format;
  if (is_nameless(path)) return Format::npy;
  throw InvalidArgument("the name '" + path.string() +
                        "' does not say which format to write; end it in .npy, .tif, .nii, .nii.gz or .png");
}

void check_shape(Format format, DType dtype, const Shape& shape) {
  switch (format) {
    case Format::png: return png::check(dtype, shape);
    case Format::tiff: return tiff::check(dtype, shape);
    case Format::nifti: return nifti::check(dtype, shape);
    case Format::npy: return;
    case Format::automatic: break;
  }
  throw InternalError("no format was chosen");
}

void check_spacing(const std::vector<double>& spacing, const Shape& shape) {
  if (!spacing.empty() && static_cast<int>(spacing.size()) != shape.rank())
    throw InvalidArgument("the array has " + std::to_string(shape.rank()) + " axes, but " +
                          std::to_string(spacing.size()) + " spacings were given");
}

/// The format to read `source` as. @throws IoError it is empty, or nothing that is read
Format detect(ByteSource& source, Format wanted) {
  const auto start = source.peek(kSignatureBytes);
  if (start.empty()) source.fail("is empty; " + std::string(kReadable));
  if (wanted != Format::automatic) return wanted;
  const Format format = format_of(start);
  if (format != Format::automatic) return format;
  const std::string_view kind = foreign_kind(start);
  source.fail((kind.empty() ? "is no image or array that is known" : "looks like " + std::string(kind)) + "; " +
              std::string(kReadable));
}

/// A pipe that holds a TIFF is taken into memory first, since TIFF is read from front to back and back again.
std::unique_ptr<ByteSource> buffered(ByteSource& source, const MemoryLimit& limit) {
  if (source.size()) return nullptr;
  return std::make_unique<MemorySource>(source.name(), read_rest(source, limit.bytes));
}

bool ends_in_gz(const std::filesystem::path& path) { return lower_name(path).ends_with(".gz"); }

}  // namespace

ImageInfo probe_image(ByteSource& source, const ReadOptions& options) {
  const MemoryLimit limit = memory_limit(options.memory_limit);
  switch (detect(source, options.format)) {
    case Format::png: return png::probe(source);
    case Format::npy: return npy::probe(source);
    case Format::nifti: return nifti::probe(source);
    case Format::tiff: {
      const auto copy = buffered(source, limit);
      return tiff::probe(copy ? *copy : source, limit);
    }
    case Format::automatic: break;
  }
  throw InternalError("no format was chosen");
}

Image read_image(ByteSource& source, const ReadOptions& options) {
  const MemoryLimit limit = memory_limit(options.memory_limit);
  switch (detect(source, options.format)) {
    case Format::png: return png::read(source, limit);
    case Format::npy: return npy::read(source, limit);
    case Format::nifti: return nifti::read(source, limit);
    case Format::tiff: {
      const auto copy = buffered(source, limit);
      return tiff::read(copy ? *copy : source, limit);
    }
    case Format::automatic: break;
  }
  throw InternalError("no format was chosen");
}

ImageInfo probe(const std::filesystem::path& path, const ReadOptions& options) {
  return probe_image(*open_source(path, Reading::keep), options);
}

Image read(const std::filesystem::path& path, const ReadOptions& options) {
  return read_image(*open_source(path, Reading::consume), options);
}

Format check_write(const std::filesystem::path& path, DType dtype, const Shape& shape, const WriteOptions& options) {
  const Format format = choose_format(path, options);
  check_shape(format, dtype, shape);
  return format;
}

WriteReport write(AtomicFile& file, const AnyConstView& data, const std::vector<double>& spacing,
                  const Metadata* metadata, const WriteOptions& options) {
  const Format format = check_write(file.target(), data.dtype(), data.shape(), options);
  check_spacing(spacing, data.shape());
  const std::string name = file.target() == "-" ? "standard output" : file.target().string();
  StreamSink plain(name, file.stream());
  WriteReport report;
  if (format == Format::png) {
    report = png::write(plain, data);
  } else if (format == Format::npy) {
    npy::write(plain, data);
  } else if (format == Format::tiff) {
    tiff::write(name, file.stream(), data);
  } else if (ends_in_gz(file.target())) {
    GzipSink gzip(plain);
    nifti::write(gzip, data, spacing, metadata);
    gzip.finish();
  } else {
    nifti::write(plain, data, spacing, metadata);
  }
  report.format = format;
  return report;
}

WriteReport write(const std::filesystem::path& path, const AnyConstView& data, const std::vector<double>& spacing,
                  const Metadata* metadata, const WriteOptions& options) {
  check_write(path, data.dtype(), data.shape(), options);
  check_spacing(spacing, data.shape());
  AtomicFile file(path);
  const WriteReport report = write(file, data, spacing, metadata, options);
  file.commit();
  return report;
}

Format format_from_path(const std::filesystem::path& path) {
  const std::string name = lower_name(path);
  for (const Ending& ending : kEndings)
    if (name.ends_with(ending.text)) return ending.format;
  return Format::automatic;
}

std::string_view name_of(Format format) {
  switch (format) {
    case Format::automatic: return "auto";
    case Format::png: return "png";
    case Format::tiff: return "tiff";
    case Format::npy: return "npy";
    case Format::nifti: return "nifti";
  }
  return "unknown";
}

}  // namespace fathom::io
