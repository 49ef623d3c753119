// ImageJ's description of a stack: lines of "key=value".
// Source: ij.io.FileInfo, ij.io.TiffDecoder and ij.io.FileSaver of ImageJ 1.53: pages lie in the order channel, slice,
// frame, the channel fastest; the size of a pixel is one over the resolution, in the description's unit.
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "fathom/core/error.h"
#include "io/numbers.h"
#include "io/tiff_meaning.h"
#include "io/units.h"

namespace fathom::io::tiff {

namespace {

using Keys = std::map<std::string, std::string>;

Keys keys_of(const std::string& description) {
  Keys keys;
  for (std::size_t at = 0; at < description.size();) {
    std::size_t end = description.find('\n', at);
    if (end == std::string::npos) end = description.size();
    const std::string line = description.substr(at, end - at);
    if (const std::size_t sign = line.find('='); sign != std::string::npos)
      keys[line.substr(0, sign)] = line.substr(sign + 1);
    at = end + 1;
  }
  return keys;
}

double number(const Keys& keys, const char* key, double otherwise) {
  const auto found = keys.find(key);
  if (found == keys.end()) return otherwise;
  const double value = leading_number(found->second).value_or(otherwise);
  return std::isfinite(value) ? value : otherwise;
}

std::int64_t count(const Keys& keys, const char* key) {
  const double value = number(keys, key, 1);
  return value >= 1 && value < 0x1p31 ? static_cast<std::int64_t>(value) : 1;
}

std::string unit(const Keys& keys, const char* key) {
  const auto found = keys.find(key);
  return found == keys.end() ? "" : unit_named(found->second);
}

/// The shortest decimal number whose inverse is this resolution, which files hold as a float32.
double size_of_pixel(double resolution) {
  for (int digits = 1; digits < 17; ++digits) {
    const double size = leading_number(number_text(1 / resolution, digits)).value_or(0);
    if (static_cast<float>(1 / size) == static_cast<float>(resolution)) return size;
  }
  return 1 / resolution;
}

void take_sizes(const Keys& keys, const Tags& tags, Stack& stack, ImageInfo& info) {
  Axis &y = info.meaning.axes[0], &x = info.meaning.axes[1];
  x.unit = unit(keys, "unit");
  y.unit = keys.contains("yunit") ? unit(keys, "yunit") : x.unit;
  // Without a unit the tags say how to print, unless they are not about inches and centimetres.
  const bool has_sizes = !x.unit.empty() || tags.resolution_unit == RESUNIT_NONE;
  if (has_sizes && tags.x_resolution > 0 && tags.y_resolution > 0) {
    x.spacing = size_of_pixel(tags.x_resolution);
    y.spacing = size_of_pixel(tags.y_resolution);
  }
  const double slice = std::abs(number(keys, "spacing", 0));
  if (x.unit.empty() && x.spacing == 1 && y.spacing == 1 && slice == 0)
    x.spacing = y.spacing = 0;  // as written unasked
  for (Axis& axis : stack.axes) {
    if (axis.name == 'z' && (slice > 0 || x.spacing > 0)) {
      axis.spacing = slice > 0 ? slice : 1;
      axis.unit = keys.contains("zunit") ? unit(keys, "zunit") : x.unit;
    }
    if (axis.name == 't') {
      axis.spacing = std::abs(number(keys, "finterval", 0));
      axis.unit = axis.spacing > 0 ? (keys.contains("tunit") ? unit(keys, "tunit") : "s") : "";
    }
  }
  const double origin[] = {number(keys, "xorigin", 0), number(keys, "yorigin", 0), number(keys, "zorigin", 0)};
  if (origin[0] != 0 || origin[1] != 0 || origin[2] != 0)
    info.warnings.push_back("has an origin of its own (xorigin, yorigin, zorigin), which is left out");
}

/// Text in UTF-16, as UTF-8, to the end of its line.
std::string first_line(std::span<const std::uint8_t> text, bool little) {
  std::string line;
  const auto unit = [&](std::size_t at) -> std::uint32_t {
    return at + 2 > text.size() ? 0 : little ? text[at] | text[at + 1] << 8 : text[at] << 8 | text[at + 1];
  };
  for (std::size_t at = 0; unit(at) >= ' '; at += 2) {
    std::uint32_t code = unit(at);
    if (code >= 0xd800 && code < 0xdc00 && (unit(at + 2) & 0xfc00) == 0xdc00) {
      at += 2;
      code = 0x10000 + ((code - 0xd800) << 10) + (unit(at) - 0xdc00);
    }
    const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes behind the first
    line += static_cast<char>(more == 0 ? code : (0xff00u >> (more + 1) & 0xff) | code >> (6 * more));
    for (int k = more - 1; k >= 0; --k) line += static_cast<char>(0x80 | (code >> (6 * k) & 0x3f));
  }
  return one_line(line);
}

/// What all planes of a channel are called; none where one is not called so, or nothing.
std::vector<std::string> channel_names(const std::vector<std::string>& labels, std::size_t channels) {
  std::vector<std::string> names(labels.begin(), labels.begin() + std::min(channels, labels.size()));
  for (std::size_t k = 0; k < labels.size(); ++k)
    if (labels[k].empty() || labels[k] != names[k % channels]) return {};
  return labels.size() % channels == 0 ? names : std::vector<std::string>{};
}

}  // namespace

std::vector<std::string> imagej_labels(const std::vector<std::uint32_t>& sizes,
                                       const std::vector<std::uint8_t>& metadata) {
  const std::string_view text(reinterpret_cast<const char*>(metadata.data()), metadata.size());
  const bool little = text.starts_with("JIJI");
  if (!little && !text.starts_with("IJIJ")) return {};
  constexpr std::size_t kMagic = 4, kEntry = 8;  // a kind in four letters, and how many there are of it
  const std::string_view label = little ? "lbal" : "labl";
  std::vector<std::string> labels;
  const std::size_t header = sizes.empty() ? 0 : std::min<std::size_t>(sizes[0], text.size());
  std::size_t at = header, next = 1;
  for (std::size_t entry = kMagic; entry + kEntry <= header; entry += kEntry) {
    std::uint32_t count = 0;
    for (std::size_t k = 0; k < 4; ++k) count = count << 8 | metadata[entry + (little ? 7 - k : 4 + k)];
    for (; count > 0 && next < sizes.size() && sizes[next] <= text.size() - at; --count, ++next) {
      const auto bytes = std::span(metadata).subspan(at, sizes[next]);
      if (text.substr(entry, 4) == label) labels.push_back(first_line(bytes, little));
      at += bytes.size();
    }
  }
  return labels;
}

bool read_imagej(const ByteSource& source, const Tags& tags, std::size_t pages, const ReadOptions& options,
                 Stack& stack, ImageInfo& info) {
  if (!tags.description.starts_with("ImageJ=")) return false;
  const Keys keys = keys_of(tags.description);
  const std::int64_t images = count(keys, "images");
  struct Count {
    char name;
    std::int64_t extent;
  };
  std::int64_t channels = count(keys, "channels"), slices = count(keys, "slices"), frames = count(keys, "frames");
  std::int64_t planes = 0;
  if (__builtin_mul_overflow(channels * slices, frames, &planes) || planes != images) {  // ImageJ, too, does so then
    channels = frames = 1;
    slices = images;
  }
  // tifffile calls the planes of a volume channels unless it is told what they are, and composites show real ones.
  const bool composite = keys.contains("mode") && keys.at("mode") != "grayscale";
  if (channels > 1 && slices == 1 && frames == 1 && keys.contains("spacing") && !composite) {
    if (!options.axes_known)
      info.warnings.push_back("has a spacing of slices, but only channels: they are taken as slices; as axes cyx they "
                              "are apart");
    std::swap(channels, slices);
  }
  stack.in_one_block = pages == 1 && images > 1;
  if (static_cast<std::size_t>(images) != pages && !stack.in_one_block)
    source.fail("says that it holds " + std::to_string(images) + " images, but has " + std::to_string(pages) +
                " pages");
  for (const Count& one : {Count{'t', frames}, Count{'z', slices}, Count{'c', channels}}) {
    if (one.extent == 1) continue;
    stack.axes.push_back(axis_named(one.name));
    if (one.name == 'c') stack.axes.back().labels = channel_names(tags.labels, static_cast<std::size_t>(one.extent));
    stack.extents.push_back(one.extent);
  }
  take_sizes(keys, tags, stack, info);
  return true;
}

}  // namespace fathom::io::tiff
