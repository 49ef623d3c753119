// NIfTI-1 and NIfTI-2 in one file, plain or gzipped. Elements lie in the file with the first axis fastest, so that
// they are row-major once the axes are named in reverse.
#include <algorithm>
#include <cmath>
#include <vector>

#include "fathom/core/error.h"
#include "io/convert.h"
#include "io/formats.h"
#include "io/gunzip_source.h"
#include "io/nifti_meaning.h"
#include "io/rows.h"
#include "io/samples.h"

namespace fathom::io::nifti {

namespace {

constexpr int kMostAxes = 7;

/// How the file's elements become ours.
struct Elements {
  Pixel pixel;
  bool scaled = false;  ///< value = slope · stored + inter
  DType dtype = DType::uint8;  ///< of scaled values
  std::uint64_t size() const { return size_of(pixel.stored) * static_cast<std::uint64_t>(pixel.samples); }
};

struct StoredType {
  int code;
  Pixel pixel;
};
constexpr StoredType kStoredTypes[] = {
    {NIFTI_TYPE_UINT8, {DType::uint8}},     {NIFTI_TYPE_INT8, {DType::int8}},
    {NIFTI_TYPE_UINT16, {DType::uint16}},   {NIFTI_TYPE_INT16, {DType::int16}},
    {NIFTI_TYPE_UINT32, {DType::uint32}},   {NIFTI_TYPE_INT32, {DType::int32}},
    {NIFTI_TYPE_UINT64, {DType::uint64}},   {NIFTI_TYPE_INT64, {DType::int64}},
    {NIFTI_TYPE_FLOAT32, {DType::float32}}, {NIFTI_TYPE_FLOAT64, {DType::float64}},
    {NIFTI_TYPE_RGB24, {DType::uint8, 3, true, false}}, {NIFTI_TYPE_RGBA32, {DType::uint8, 4, true, true}}};

Elements elements_of(const ByteSource& source, const nifti_2_header& fields) {
  const auto type = std::find_if(std::begin(kStoredTypes), std::end(kStoredTypes),
                                 [&](const StoredType& t) { return t.code == fields.datatype; });
  if (type == std::end(kStoredTypes))
    source.fail("holds elements of the NIfTI type " + std::to_string(fields.datatype) +
                "; integers and floats of up to 64 bits and RGB are read");
  Elements elements{type->pixel, false, type->pixel.stored};
  const bool has_slope = std::isfinite(fields.scl_slope) && fields.scl_slope != 0;  // 0: "no scaling"
  if (!has_slope || elements.pixel.colour) return elements;
  if (!std::isfinite(fields.scl_inter)) source.fail("has an absurd NIfTI header: scl_inter is not finite");
  elements.scaled = fields.scl_slope != 1 || fields.scl_inter != 0;
  if (!elements.scaled) return elements;
  // float32 holds what scaling makes of up to 16 bits; what is wider keeps more.
  const bool narrow = size_of(elements.pixel.stored) <= 2 || elements.pixel.stored == DType::float32;
  elements.dtype = narrow ? DType::float32 : DType::float64;
  return elements;
}

/// Axes of the file that count, slowest first: trailing ones of extent 1 say nothing, nor does one point in time that
/// channels come behind.
std::vector<int> axes_of(const ByteSource& source, const nifti_2_header& fields) {
  const std::int64_t rank = fields.dim[0];
  if (rank < 1 || rank > kMostAxes)
    source.fail("has an absurd NIfTI header: " + std::to_string(rank) + " axes; 1 to 7 are possible");
  for (int axis = 1; axis <= rank; ++axis)
    if (fields.dim[axis] < 1)
      source.fail("has an absurd NIfTI header: axis " + std::to_string(axis) + " has the extent " +
                  std::to_string(fields.dim[axis]));
  int last = static_cast<int>(rank);
  while (last > 1 && fields.dim[last] == 1) --last;
  constexpr int kTime = 4;
  std::vector<int> axes;
  for (int axis = last; axis >= 1; --axis)
    if (axis != kTime || fields.dim[axis] > 1) axes.push_back(axis);
  return axes;
}

/// Plain or gzipped bytes of one file, its header read.
class Opened {
 public:
  Opened(ByteSource& file, const ReadContext& context) : file_(file) {
    if (is_gzip(file)) inflated_ = std::make_unique<GunzipSource>(file);
    header_ = nifti::read_header(source());
    elements_ = elements_of(file, header_.fields);
    const std::vector<int> axes = axes_of(file, header_.fields);
    for (int axis : axes) info_.shape.push_back(header_.fields.dim[axis]);
    check_promise();
    describe(axes, context.options);
  }

  ByteSource& source() { return inflated_ ? *inflated_ : file_; }
  const Header& header() const { return header_; }
  const Elements& elements() const { return elements_; }
  const Taking& taking() const { return taking_; }
  const ImageInfo& info() const { return info_; }

  void finish() {
    if (inflated_) inflated_->finish();
  }

 private:
  void check_promise() {
    const std::uint64_t count = count_bytes(file_, DType::uint8, info_.shape);
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(count, elements_.size(), &bytes) || bytes > INT64_MAX)
      file_.fail("has an absurd NIfTI header: " + to_string(info_.shape) + " elements cannot be counted");
    if (!inflated_) return check_holds(file_, header_.offset, bytes);
    check_can_inflate_to(file_, header_.offset);
    check_can_inflate_to(file_, bytes);
  }

  void describe(const std::vector<int>& axes, const ReadOptions& options) {
    taking_ = taking_of(file_, elements_.pixel, options);
    info_.format = Format::nifti;
    info_.dtype = elements_.scaled ? elements_.dtype : taking_.dtype;
    info_.meaning = meaning_of(header_.fields, axes, info_.warnings);
    info_.meaning.native = std::make_shared<NativeHeader>(header_.fields);
    tell_samples(elements_.pixel, taking_, options, info_);
  }

  ByteSource& file_;
  std::unique_ptr<GunzipSource> inflated_;
  Header header_;
  Elements elements_;
  Taking taking_;
  ImageInfo info_;
};

constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 18;  // stays in the second-level cache

/// Reads the stored elements in chunks: visit(bytes, first, count).
template <class Visit>
void read_chunks(Opened& file, std::uint64_t total, Visit visit) {
  const Elements& elements = file.elements();
  const std::uint64_t most = kChunkBytes / elements.size();
  std::vector<std::byte> chunk(static_cast<std::size_t>(std::min(most, total) * elements.size()));
  for (std::uint64_t first = 0; first < total;) {
    const std::uint64_t count = std::min(most, total - first);
    const auto bytes = static_cast<std::size_t>(count * elements.size());
    file.source().read_exactly(chunk.data(), bytes, "the NIfTI array");
    const std::size_t size = size_of(elements.pixel.stored);
    if (file.header().swapped) swap_all(chunk.data(), bytes / size, size);
    visit(chunk.data(), first, count);
    first += count;
  }
}

template <class Out>
void read_scaled(Opened& file, Array& out) {
  const double slope = file.header().fields.scl_slope;
  const double inter = file.header().fields.scl_inter;
  auto* to = reinterpret_cast<Out*>(out.data());
  const auto total = static_cast<std::uint64_t>(out.size());
  read_chunks(file, total, [&](const std::byte* chunk, std::uint64_t first, std::uint64_t count) {
    visit_dtype(file.elements().pixel.stored, [&](auto tag) {
      using Stored = typename decltype(tag)::type;
      for (std::uint64_t i = 0; i < count; ++i)
        to[first + i] = static_cast<Out>(slope * static_cast<double>(load<Stored>(chunk + i * sizeof(Stored))) + inter);
    });
  });
}

void read_colours(Opened& file, Array& out) {
  const Pixel& pixel = file.elements().pixel;
  const auto per_pixel = static_cast<std::uint64_t>(file.taking().count);
  const std::size_t size = size_of(pixel.stored);
  read_chunks(file, static_cast<std::uint64_t>(out.size()) / per_pixel,
              [&](const std::byte* chunk, std::uint64_t first, std::uint64_t count) {
                const PixelRow row{chunk, size, file.elements().size(), count};
                std::byte* to = out.data() + first * per_pixel * size_of(out.dtype());
                store_pixels(pixel, file.taking(), row, {to, per_pixel, 1});
              });
}

void read_plain(Opened& file, Array& out) {
  file.source().read_exactly(out.data(), out.bytes(), "the NIfTI array");
  if (file.header().swapped) swap_all(out.data(), static_cast<std::size_t>(out.size()), size_of(out.dtype()));
}

std::int16_t code_of(DType dtype) {
  if (dtype == DType::boolean) return NIFTI_TYPE_UINT8;
  for (const StoredType& type : kStoredTypes)
    if (type.pixel.stored == dtype) return static_cast<std::int16_t>(type.code);
  throw InternalError("unknown element type");
}

nifti_2_header start_header(const Meaning& meaning) {
  nifti_2_header fields{};
  if (const auto* own = dynamic_cast<const NativeHeader*>(meaning.native.get())) fields = own->fields;
  else fields.pixdim[0] = 1;
  fields.scl_slope = 1;
  fields.scl_inter = 0;
  fields.cal_min = fields.cal_max = 0;  // what to show of the old values; so with intent and description
  fields.intent_code = 0;
  fields.intent_p1 = fields.intent_p2 = fields.intent_p3 = 0;
  std::fill(std::begin(fields.intent_name), std::end(fields.intent_name), '\0');
  std::fill(std::begin(fields.descrip), std::end(fields.descrip), '\0');
  std::fill(std::begin(fields.aux_file), std::end(fields.aux_file), '\0');
  return fields;
}

nifti_2_header make_header(const AnyConstView& data, const Meaning& meaning) {
  nifti_2_header fields = start_header(meaning);
  fields.datatype = code_of(data.dtype());
  fields.bitpix = static_cast<std::int16_t>(8 * size_of(data.dtype()));
  const int rank = data.rank();
  const std::vector<int> axes = file_axes(meaning, rank);
  fields.dim[0] = axes.front();
  for (int axis = 1; axis <= kMostAxes; ++axis) fields.dim[axis] = 1;
  for (int k = 0; k < rank; ++k) fields.dim[axes[static_cast<std::size_t>(k)]] = data.shape()[k];
  set_meaning(fields, meaning, rank);
  return fields;
}

}  // namespace

ImageInfo probe(ByteSource& file, const ReadContext& context) { return Opened(file, context).info(); }

Image read(ByteSource& file, const ReadContext& context) {
  Opened opened(file, context);
  const Elements& elements = opened.elements();
  const ImageInfo& info = opened.info();
  Image image{allocate(file, info.dtype, info.shape, context.limit), info.meaning, info.warnings};
  opened.source().skip(opened.header().offset - opened.source().position(), "the NIfTI array");
  if (elements.pixel.colour) read_colours(opened, image.data);
  else if (!elements.scaled) read_plain(opened, image.data);
  else if (elements.dtype == DType::float32) read_scaled<float>(opened, image.data);
  else read_scaled<double>(opened, image.data);
  opened.finish();
  return image;
}

void check(DType, const Shape& shape, const Meaning& meaning) {
  if (shape.rank() < 1 || shape.rank() > kMostAxes)
    throw InvalidArgument("NIfTI holds arrays of 1 to 7 axes, not of " + std::to_string(shape.rank()) + "; write .npy");
  if (element_count(shape) == 0)
    throw InvalidArgument("NIfTI cannot hold an empty array (" + to_string(shape) + "); write .npy");
  file_axes(meaning, shape.rank());
}

WriteReport write(Target& target, const AnyConstView& data, const Meaning& meaning) {
  write_header(target.sink, make_header(data, meaning));
  for_each_run(data, [&](const std::byte* run, std::size_t bytes) { target.sink.write(run, bytes); });
  return {};
}

}  // namespace fathom::io::nifti
