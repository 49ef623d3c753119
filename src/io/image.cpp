// The front of the room: finds the format, by a file's first bytes when reading and by its name when writing, and hands
// over to its row of the table.
#include "fathom/io/image.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "fathom/core/error.h"
#include "fathom/io/stream.h"
#include "io/formats.h"
#include "io/gunzip_source.h"
#include "io/listed.h"
#include "io/mesh_formats.h"
#include "io/numbers.h"
#include "io/signature.h"

namespace fathom::io {

namespace {

std::string lower_name(const std::filesystem::path& path) {
  return lower_case(path.filename().string());
}

/// ".npy, .tif, .tiff, .nii, .nii.gz or .png".
std::string written_endings() {
  std::vector<std::string> endings;
  for (const FormatRow& row : format_table()) endings.insert(endings.end(), row.endings.begin(), row.endings.end());
  return listed(endings, "or");
}

Format choose_format(const std::filesystem::path& path, const WriteOptions& options) {
  if (options.format != Format::automatic && row_of(options.format).write == nullptr)
    throw InvalidArgument(std::string(row_of(options.format).title) + " is read alone; " + titles(true) +
                          " files are written");
  if (options.format != Format::automatic) return options.format;
  const Format format = format_from_path(path);
  if (format != Format::automatic) return format;
  if (is_nameless(path)) return Format::npy;
  throw InvalidArgument("the name '" + path.string() + "' does not say which format to write; end it in " +
                        written_endings());
}

void check_axes(const Meaning& meaning, const Shape& shape) {
  if (!meaning.axes.empty() && static_cast<int>(meaning.axes.size()) != shape.rank())
    throw InvalidArgument("the array has " + std::to_string(shape.rank()) + " axes, but " +
                          std::to_string(meaning.axes.size()) + " spacings were given");
}

/// The format to read `source` as. @throws IoError it is empty, or nothing that is read
Format detect(ByteSource& source, Format wanted) {
  const auto start = source.peek(kSignatureBytes);
  const std::string readable = titles(false) + " files are read";
  if (start.empty()) source.fail("is empty; " + readable);
  if (wanted != Format::automatic && row_of(wanted).read == nullptr)
    source.fail("is to be read as " + std::string(row_of(wanted).title) + ", which is written alone; " + readable);
  if (wanted != Format::automatic) return wanted;
  const Format format = format_of(start);
  if (format != Format::automatic) return format;
  std::string_view kind = foreign_kind(start);
  if (kind.empty() && is_mesh(source)) kind = "a triangle mesh (fathom mesh makes its field)";
  source.fail((kind.empty() ? "is no image or array that is known" : "looks like " + std::string(kind)) + "; " +
              readable);
}

/// Whether a NIfTI file is what a gzip stream begins with. Takes nothing out of the source.
bool wraps_nifti(ByteSource& source) {
  MemorySource start(source.name(), source.peek(ByteSource::kLookAhead));
  GunzipSource inflated(start);
  return format_of(inflated.peek(kSignatureBytes)) == Format::nifti;
}

/// A source as the reader of its format wants it.
class Prepared {
 public:
  Prepared(ByteSource& source, const ReadContext& context) : source_(&source) {
    if (is_gzip(source)) {
      if (wraps_nifti(source)) {  // whose reader inflates by itself, and knows beforehand what cannot come out
        row_ = &row_of(Format::nifti);
        return;
      }
      inflated_ = std::make_unique<GunzipSource>(source);
      source_ = inflated_.get();
    }
    row_ = &row_of(detect(*source_, context.options.format));
    if (!row_->needs_seek || source_->size()) return;
    in_memory_ = std::make_unique<MemorySource>(source.name(), read_rest(*source_, context.limit.bytes));
    source_ = in_memory_.get();
  }

  const FormatRow& row() const { return *row_; }
  ByteSource& source() { return *source_; }
  void finish() {
    if (inflated_) inflated_->finish();
  }

 private:
  std::unique_ptr<GunzipSource> inflated_;
  std::unique_ptr<MemorySource> in_memory_;  // a pipe whose bytes are read back and forth
  ByteSource* source_;
  const FormatRow* row_ = nullptr;
};

/// Where a file lies that may name another one beside it.
std::optional<std::filesystem::path> directory_of(const std::filesystem::path& path) {
  if (is_nameless(path)) return std::nullopt;
  return path.parent_path();
}

bool ends_in_gz(const std::filesystem::path& path) { return lower_name(path).ends_with(".gz"); }

}  // namespace

ImageInfo probe_image(ByteSource& source, const ReadOptions& options,
                      const std::optional<std::filesystem::path>& directory) {
  const ReadContext context{options, memory_limit(options.memory_limit), directory};
  Prepared file(source, context);
  return file.row().probe(file.source(), context);
}

Image read_image(ByteSource& source, const ReadOptions& options,
                 const std::optional<std::filesystem::path>& directory) {
  const ReadContext context{options, memory_limit(options.memory_limit), directory};
  Prepared file(source, context);
  Image image = file.row().read(file.source(), context);
  file.finish();
  return image;
}

ImageInfo probe(const std::filesystem::path& path, const ReadOptions& options) {
  return probe_image(*open_source(path, Reading::keep), options, directory_of(path));
}

Image read(const std::filesystem::path& path, const ReadOptions& options) {
  return read_image(*open_source(path, Reading::consume), options, directory_of(path));
}

Format check_write(const std::filesystem::path& path, DType dtype, const Shape& shape, const Meaning& meaning,
                   const WriteOptions& options) {
  const Format format = choose_format(path, options);
  check_axes(meaning, shape);
  const FormatRow& row = row_of(format);
  row.check(dtype, shape, meaning);
  if (options.compress && !row.compresses)
    throw InvalidArgument("compression is a choice of TIFF and NRRD, not of " + std::string(row.title) +
                          "; leave it out, or write .tif or .nrrd");
  return format;
}

WriteReport write(AtomicFile& file, const AnyConstView& data, const Meaning& meaning, const WriteOptions& options) {
  const Format format = check_write(file.target(), data.dtype(), data.shape(), meaning, options);
  const std::string name = file.target() == "-" ? "standard output" : file.target().string();
  StreamSink plain(name, file.stream());
  std::optional<GzipSink> gzip;
  if (ends_in_gz(file.target())) gzip.emplace(plain);
  Target target{name, file.stream(), gzip ? static_cast<ByteSink&>(*gzip) : plain, options.compress};
  WriteReport report = row_of(format).write(target, data, meaning);
  if (gzip) gzip->finish();
  report.format = format;
  return report;
}

WriteReport write(const std::filesystem::path& path, const AnyConstView& data, const Meaning& meaning,
                  const WriteOptions& options) {
  check_write(path, data.dtype(), data.shape(), meaning, options);
  AtomicFile file(path);
  const WriteReport report = write(file, data, meaning, options);
  file.commit();
  return report;
}

Format format_from_path(const std::filesystem::path& path) {
  const std::string name = lower_name(path);
  for (const FormatRow& row : format_table())
    for (std::string_view ending : row.endings)
      if (name.ends_with(ending)) return row.format;
  return Format::automatic;
}

}  // namespace fathom::io
