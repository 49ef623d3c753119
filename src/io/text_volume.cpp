#include "io/text_volume.h"

#include <algorithm>
#include <cmath>

#include "io/convert.h"
#include "io/gunzip_source.h"
#include "io/units.h"

namespace fathom::io {

namespace {

constexpr std::uint64_t kMostHeaderBytes = std::uint64_t{1} << 20;
constexpr std::size_t kChunkBytes = std::size_t{1} << 18;  // stays in the second-level cache

std::optional<std::string> read_line(ByteSource& source) {
  std::string line;
  for (char c = 0; source.read(&c, 1) == 1;) {
    if (c == '\n') {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      return line;
    }
    line += c;
    if (line.size() > kMostHeaderBytes) source.fail("has an absurd line of more than 1 MiB");
  }
  return line.empty() ? std::nullopt : std::optional(line);
}

/// Where the elements are.
class Elements {
 public:
  Elements(const TextVolume& volume, ByteSource& source, const ReadContext& context)
      : volume_(volume), source_(&source) {
    if (!volume.data_file.empty()) open_data_file(source, context);
    for (std::int64_t line = 0; line < volume.skip_lines; ++line)
      if (!read_line(*source_))
        source_->fail("is truncated: it has fewer lines than its header says are to be skipped");
    const std::uint64_t bytes = count();
    if (volume.coding == Coding::deflated) {
      check_can_inflate_to(*source_, bytes);
      inflated_ = std::make_unique<GunzipSource>(*source_);
      source_ = inflated_.get();
    }
    const std::uint64_t first = source_->position();
    const std::uint64_t skip = skipped(bytes);
    const std::uint64_t least = volume.coding == Coding::text ? least_text() : bytes;
    check_holds(*source_, first + skip, least);
    start_ = first + skip;
  }

  /// Stands at the first element. Not a probe's work: inflating so far can take long.
  void start() { source_->skip(start_ - source_->position(), "the elements"); }

  /// The next samples, in native byte order.
  void read(std::byte* out, std::size_t samples) {
    const std::size_t size = size_of(volume_.pixel.stored);
    if (volume_.coding == Coding::text) return read_text(out, samples);
    source_->read_exactly(out, samples * size, "the array");
    if (volume_.swapped) swap_all(out, samples, size);
  }

  void finish() {
    if (inflated_) inflated_->finish();
  }

  /// Bytes of the file that are no elements; 0: none, or not known.
  std::uint64_t left() const {
    if (volume_.coding != Coding::raw || !source_->size() || volume_.skip_bytes < 0) return 0;
    return *source_->size() - start_ - count();
  }

 private:
  void open_data_file(const ByteSource& source, const ReadContext& context) {
    const std::string& name = volume_.data_file;
    if (!context.directory)
      source.fail("names another file for its elements (" + one_line(name) +
                  "), which what comes out of a pipe has not; give the file's path");
    const std::filesystem::path path = *context.directory / name;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
      source.fail("names a file for its elements that is not there: " + one_line(path.string()));
    data_ = open_source(path, Reading::consume);
    source_ = data_.get();
  }

  std::uint64_t count() const {
    std::uint64_t bytes = count_bytes(*source_, volume_.pixel.stored, volume_.info.shape);
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(volume_.pixel.samples), &bytes) || bytes > INT64_MAX)
      source_->fail("has an absurd header: " + to_string(volume_.info.shape) + " elements cannot be counted");
    return bytes;
  }

  /// A digit and a blank for each sample.
  std::uint64_t least_text() const { return count() / size_of(volume_.pixel.stored) * 2 - 1; }

  std::uint64_t skipped(std::uint64_t bytes) const {
    if (volume_.skip_bytes >= 0) return static_cast<std::uint64_t>(volume_.skip_bytes);
    if (!source_->size())
      source_->fail("says that its elements end the file, which is of no use in a pipe or in compressed data");
    const std::uint64_t size = *source_->size(), at = source_->position();
    if (size < at + bytes) check_holds(*source_, at, bytes);
    return size - at - bytes;
  }

  void read_text(std::byte* out, std::size_t samples) {
    visit_dtype(volume_.pixel.stored, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<T, bool>) {
        for (std::size_t k = 0; k < samples; ++k) {
          const std::string word = next_word();
          const auto value = parsed<std::conditional_t<sizeof(T) == 1, int, T>>(word);
          if (!value || !fits<T>(*value))
            source_->fail("holds '" + one_line(word) + "' where a number of the type " +
                          std::string(name_of(volume_.pixel.stored)) + " is to be");
          const T stored = static_cast<T>(*value);
          std::memcpy(out + k * sizeof(T), &stored, sizeof(T));
        }
      }
    });
  }
  template <class T, class Value>
  static bool fits(Value value) {
    if constexpr (sizeof(T) == 1)
      return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
    return true;
  }

  std::string next_word() {
    constexpr std::size_t kMost = 64;
    std::string word;
    for (char c; source_->read(&c, 1) == 1;) {
      const bool between = is_blank(c) || c == ',';
      if (between && !word.empty()) break;
      if (!between) word += c;
      if (word.size() > kMost) break;
    }
    if (word.empty()) source_->fail("is truncated: it has fewer numbers than its header says");
    return word;
  }

  const TextVolume& volume_;
  std::unique_ptr<ByteSource> data_;
  ByteSource* source_;
  std::unique_ptr<GunzipSource> inflated_;
  std::uint64_t start_ = 0;
};

void check_perpendicular(const std::vector<std::array<double, 3>>& directions, std::vector<std::string>& warnings) {
  constexpr double kSlant = 1e-3;
  for (std::size_t a = 0; a < directions.size(); ++a)
    for (std::size_t b = a + 1; b < directions.size(); ++b) {
      double product = 0;
      for (std::size_t i = 0; i < 3; ++i) product += directions[a][i] * directions[b][i];
      if (std::abs(product) <= kSlant) continue;
      warnings.push_back("has axes that are not perpendicular: distances are measured as if they were");
      return;
    }
}

Elements open_elements(TextVolume& volume, ByteSource& source, const ReadContext& context) {
  volume.taking = taking_of(source, volume.pixel, context.options);
  if (context.options.print_resolution)
    source.fail("states no resolution of a print; leave out the spacing, or give it in numbers");
  return Elements(volume, source, context);
}

ImageInfo described(const TextVolume& volume, const ReadContext& context) {
  ImageInfo info = volume.info;
  if (volume.time_guessed && !context.options.axes_known)
    info.warnings.push_back("has more than three axes of space: the slowest are taken for time, not measured along");
  info.dtype = volume.taking.dtype;
  tell_samples(volume.pixel, volume.taking, context.options, info);
  return info;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    const auto end = std::find_if(text.begin(), text.end(), is_blank);
    words.push_back(text.substr(0, static_cast<std::size_t>(end - text.begin())));
    text.remove_prefix(words.back().size());
  }
  return words;
}

std::optional<double> number_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return parsed(text);
}

std::optional<std::string> read_header_line(ByteSource& source) {
  if (source.position() > kMostHeaderBytes) source.fail("has an absurd header of more than 1 MiB");
  return read_line(source);
}

void set_axes(TextVolume& volume, const ByteSource& source, const std::vector<FileAxis>& axes, Place::Frame frame,
              const std::array<double, 3>& origin) {
  constexpr std::string_view kSpace = "xyz";
  constexpr std::size_t kMostAxes = 8;
  if (axes.empty() || axes.size() > kMostAxes)
    source.fail("has " + std::to_string(axes.size()) + " axes; 1 to 8 are read");
  ImageInfo& info = volume.info;
  std::vector<Axis> named;
  std::size_t space = 0;
  std::vector<std::array<double, 3>> directions;
  for (const FileAxis& axis : axes) {
    Axis known{axis.kind, 0, axis.spacing, axis.unit};
    if (axis.kind == AxisKind::space && space == kSpace.size()) {
      known.kind = AxisKind::time;
      volume.time_guessed = true;
    } else if (axis.kind == AxisKind::space) {
      known.name = kSpace[space++];
      if (axis.direction) directions.push_back(*axis.direction);
    }
    const auto used = [&](char name) {
      return std::any_of(named.begin(), named.end(), [&](const Axis& a) { return a.name == name; });
    };
    if (known.kind == AxisKind::time && !used('t')) known.name = 't';
    if (known.kind == AxisKind::channel && !used('c')) known.name = 'c';
    if (known.kind != AxisKind::space && known.name == 0) known.kind = AxisKind::other;
    named.push_back(known);
  }
  for (std::size_t k = axes.size(); k-- > 0;) {
    info.shape.push_back(axes[k].extent);
    info.meaning.axes.push_back(named[k]);
  }
  if (directions.empty() || directions.size() != space) return;
  std::reverse(directions.begin(), directions.end());
  check_perpendicular(directions, info.warnings);
  info.meaning.place = Place{frame, origin, directions};
}

ImageInfo finish_probe(TextVolume& volume, ByteSource& source, const ReadContext& context) {
  const Elements elements = open_elements(volume, source, context);
  ImageInfo info = described(volume, context);
  if (!volume.data_file.empty() && elements.left() > 0)
    info.warnings.push_back("promises fewer elements than its file of elements has: " +
                            std::to_string(elements.left()) + " bytes of it are left out");
  return info;
}

Image read_elements(TextVolume& volume, ByteSource& source, const ReadContext& context) {
  Elements elements = open_elements(volume, source, context);
  const ImageInfo info = described(volume, context);
  Image image{allocate(source, info.dtype, info.shape, context.limit), info.meaning, info.warnings};
  elements.start();
  const auto total = static_cast<std::size_t>(element_count(volume.info.shape));
  const auto samples = static_cast<std::size_t>(volume.pixel.samples);
  const std::size_t size = size_of(volume.pixel.stored);
  if (samples == 1) {
    elements.read(image.data.data(), total);
  } else {
    const auto count = static_cast<std::size_t>(volume.taking.count);
    std::vector<std::byte> chunk(std::min(total, kChunkBytes / (samples * size)) * samples * size);
    for (std::size_t first = 0; first < total;) {
      const std::size_t now = std::min(total - first, chunk.size() / (samples * size));
      elements.read(chunk.data(), now * samples);
      std::byte* to = image.data.data() + first * count * size_of(info.dtype);
      store_pixels(volume.pixel, volume.taking, {chunk.data(), size, samples * size, now}, {to, count, 1});
      first += now;
    }
  }
  elements.finish();
  return image;
}

std::string ascii_unit(std::string_view unit) {
  if (unit == "µm") return "um";
  if (unit == "µs") return "us";
  if (unit == "Å") return "angstrom";
  if (unit == "°") return "degree";
  std::string ascii;
  for (char c : unit)
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\') ascii += c;
  return ascii;
}

void add_word(std::string& line, std::string_view word) {
  line += ' ';
  line += word;
}

std::vector<std::size_t> axes_of_space(const Meaning& meaning, int rank) {
  std::vector<std::size_t> axes;
  for (std::size_t k = 0; k < static_cast<std::size_t>(rank); ++k)
    if (meaning.axes.empty() || meaning.axes[k].kind == AxisKind::space) axes.push_back(k);
  return axes;
}

bool lies_in(const Place& place, std::size_t axes) {
  for (std::size_t i = axes; i < 3; ++i) {
    if (place.origin[i] != 0) return false;
    for (const auto& direction : place.directions)
      if (direction[i] != 0) return false;
  }
  return true;
}

void check_extents(std::string_view title, const Shape& shape, int most) {
  if (shape.rank() < 1 || shape.rank() > most)
    throw InvalidArgument(std::string(title) + " holds arrays of 1 to " + std::to_string(most) + " axes, not of " +
                          std::to_string(shape.rank()) + "; write .npy");
  if (element_count(shape) == 0)
    throw InvalidArgument(std::string(title) + " cannot hold an empty array (" + to_string(shape) + "); write .npy");
}

}  // namespace fathom::io
