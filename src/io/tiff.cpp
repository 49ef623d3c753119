// TIFF and BigTIFF through libtiff: one page is an image, several of the same size are a volume, or what a description
// says. Reduced images and masks are no pages. Resolution tags alone are not taken for spacing: most writers put a
// printer's dots there.
#include <algorithm>
#include <vector>

#include "fathom/core/error.h"
#include "io/convert.h"
#include "io/formats.h"
#include "io/tiff_file.h"
#include "io/tiff_survey.h"
#include "io/units.h"

namespace fathom::io::tiff {

namespace {

void check_same(const ByteSource& source, const Page& first, const Page& page, std::size_t number) {
  if (page.width == first.width && page.height == first.height && page.dtype == first.dtype &&
      page.samples == first.samples)
    return;
  const auto describe = [](const Page& p) {
    return to_string({std::int64_t{p.height}, std::int64_t{p.width}}) + " " + std::string(name_of(p.dtype)) +
           (p.samples > 1 ? " of " + std::to_string(p.samples) + " samples" : "");
  };
  source.fail("has pages that make no volume: page 1 is " + describe(first) + ", page " + std::to_string(number) +
              " is " + describe(page) + "; split it into one file per size");
}

/// libtiff takes a file that ends within the link to the next page for one that ends with this page.
void check_link(const TiffFile& file, ByteSource& source, const Page& page) {
  const bool big = TIFFIsBigTIFF(file.get()) != 0;
  const std::size_t width = big ? 8 : 2;  // of the number of entries
  std::uint64_t raw = 0;
  source.seek(page.offset);
  source.read_exactly(&raw, width, "a TIFF directory");
  const bool swapped = TIFFIsByteSwapped(file.get()) != 0;
  std::uint64_t entries = load<std::uint16_t>(&raw);
  if (swapped) entries = swap_bytes(static_cast<std::uint16_t>(entries));
  if (big) entries = swapped ? swap_bytes(raw) : raw;
  source.skip(entries * (big ? 20 : 12), "the end of a TIFF directory");
  source.skip(big ? 8 : 4, "the end of a TIFF directory");
}

/// Visits all directories and keeps those that are pages.
void visit_pages(TiffFile& file, ByteSource& source, Survey& survey) {
  for (std::size_t number = 1;; ++number) {
    const Page page = read_page(file, source);
    if (number == 1) survey.tags = read_tags(file, source);
    check_link(file, source, page);
    if (!page.skipped || number == 1) survey.pages.push_back(page);  // a file that begins with one has nothing better
    if (TIFFLastDirectory(file.get())) return;
    file.clear_message();
    if (!TIFFReadDirectory(file.get())) file.fail("is truncated or broken behind page " + std::to_string(number));
  }
}

/// The axes of the array but for the samples of colours: the stack's, channels that lie in each page, y and x.
void join_axes(const Page& first, Survey& survey) {
  std::vector<Axis> axes = survey.stack.axes;
  Shape shape = survey.stack.extents;
  const bool colours = first.photometric == Photometric::colour || first.alpha;
  if (survey.taking.count > 1 && !colours) {
    axes.push_back(axis_named('c'));
    shape.push_back(survey.taking.count);
  }
  axes.insert(axes.end(), survey.info.meaning.axes.begin(), survey.info.meaning.axes.end());
  shape.push_back(first.height);
  shape.push_back(first.width);
  survey.info.meaning.axes = axes;
  survey.info.shape = shape;
}

/// ImageJ writes what is larger than 4 GiB as one directory and the planes behind one another, not compressed.
std::uint64_t check_one_block(TiffFile& file, const ByteSource& source, const Page& page, const Stack& stack) {
  const std::uint64_t offset = TIFFGetStrileOffset(file.get(), 0);
  const auto compression = file.field<std::uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  if (compression != COMPRESSION_NONE || page.tiled || page.samples > 1 || page.bits < 8 || page.half)
    source.fail("says that more planes lie behind its first, in a form that is not read; save it as BigTIFF");
  check_holds(source, offset, static_cast<std::uint64_t>(element_count(stack.extents)) * page.height * page.width *
                                  size_of(page.dtype));
  return offset;
}

}  // namespace

Survey survey_of(TiffFile& file, ByteSource& source, const ReadContext& context) {
  Survey survey;
  visit_pages(file, source, survey);
  ImageInfo& info = survey.info;
  const Page& lead = survey.pages.front();
  survey.stack = stack_of(source, survey.tags, lead, survey.pages.size(), context.options, info);
  const Page& first = survey.stack.in_one_block ? lead : survey.pages[survey.stack.pages.front()];
  for (std::size_t page : survey.stack.pages) check_same(source, first, survey.pages[page], page + 1);
  survey.taking = taking_of(source, first.pixel(), context.options);
  for (std::size_t page : survey.stack.pages)
    survey.scratch = std::max(survey.scratch, survey.pages[page].scratch_bytes(survey.taking));
  join_axes(first, survey);
  info.format = Format::tiff;
  info.dtype = survey.taking.dtype;
  info.half = first.half;
  if (first.photometric == Photometric::palette) info.meaning.palette = survey.tags.palette;
  if (const std::string warning = unify_units(info.meaning); !warning.empty()) info.warnings.push_back(warning);
  tell_samples(first.pixel(), survey.taking, context.options, info);
  count_bytes(source, info.dtype, info.shape);
  return survey;
}

void go_to(TiffFile& file, const Page& page) {
  file.clear_message();
  if (TIFFCurrentDirOffset(file.get()) != page.offset && !TIFFSetSubDirectory(file.get(), page.offset))
    file.fail("has a page that cannot be read again");
}

ImageInfo probe(ByteSource& source, const ReadContext& context) {
  TiffFile file(source, context.limit.bytes);
  const Survey survey = survey_of(file, source, context);
  if (survey.stack.in_one_block) {
    go_to(file, survey.pages.front());
    check_one_block(file, source, survey.pages.front(), survey.stack);
  }
  return survey.info;
}

Image read(ByteSource& source, const ReadContext& context) {
  TiffFile file(source, context.limit.bytes);
  const Survey survey = survey_of(file, source, context);
  const ImageInfo& info = survey.info;
  if (survey.stack.in_one_block) {
    go_to(file, survey.pages.front());
    source.seek(check_one_block(file, source, survey.pages.front(), survey.stack));
    Image image{allocate(source, info.dtype, info.shape, context.limit), info.meaning, info.warnings};
    source.read_exactly(image.data.data(), image.data.bytes(), "the planes");
    if (TIFFIsByteSwapped(file.get()))
      swap_all(image.data.data(), static_cast<std::size_t>(image.data.size()), size_of(info.dtype));
    return image;
  }
  Image image{allocate(source, info.dtype, info.shape, context.limit, survey.scratch), info.meaning, info.warnings};
  const std::size_t page_bytes = image.data.bytes() / survey.stack.pages.size();
  std::byte* to = image.data.data();
  for (std::size_t page : survey.stack.pages) {
    go_to(file, survey.pages[page]);
    // The tags are read anew: some (JPEG's colour mode) must be set on the directory that is decoded.
    decode_page(file, read_page(file, source), survey.taking, to);
    to += page_bytes;
  }
  return image;
}

}  // namespace fathom::io::tiff
