// The header of an NPY file: magic, version, length, and a Python dictionary as text, of which this reads exactly what
// numpy.lib.format writes. Nothing in it is ever evaluated or unpickled.
// Source: NumPy Enhancement Proposal 1 and numpy.lib.format, versions 1.0, 2.0 and 3.0.
#include "io/npy_header.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <string>
#include <utility>

#include "fathom/core/error.h"
#include "io/numbers.h"
#include "io/sizes.h"

namespace fathom::io::npy {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// Walks over the text of the dictionary.
class Cursor {
 public:
  Cursor(const ByteSource& source, std::string_view text) : source_(source), text_(text) {}

  [[noreturn]] void fail(const std::string& text) const { source_.fail("has a broken NPY header: " + text); }

  bool take(char c) {
    skip_space();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("'") + c + "' is missing");
  }
  bool at(char c) {
    skip_space();
    return !text_.empty() && text_.front() == c;
  }
  /// Text between quotes; escapes do not occur in what is read here.
  std::string_view quoted() {
    const char quote = at('"') ? '"' : '\'';
    expect(quote);
    const std::size_t end = text_.find(quote);
    if (end == std::string_view::npos) fail("a quote is not closed");
    const std::string_view content = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return content;
  }
  bool boolean() {
    skip_space();
    const bool value = text_.starts_with("True");
    if (!value && !text_.starts_with("False")) fail("fortran_order is neither True nor False");
    text_.remove_prefix(value ? 4 : 5);
    return value;
  }
  std::int64_t integer() {
    skip_space();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail("an extent is too large");
    if (error != std::errc{} || value < 0) fail("an extent is no count");
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    take('L');  // Python 2 wrote long integers so
    return value;
  }
  bool at_end() {
    skip_space();
    return text_.empty();
  }

 private:
  void skip_space() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) text_.remove_prefix(1);
  }

  const ByteSource& source_;
  std::string_view text_;
};

struct NumPyType {
  std::string_view code;
  DType dtype;
};
constexpr std::array<NumPyType, 12> kTypes = {{{"b1", DType::boolean},
                                               {"u1", DType::uint8},
                                               {"i1", DType::int8},
                                               {"u2", DType::uint16},
                                               {"i2", DType::int16},
                                               {"u4", DType::uint32},
                                               {"i4", DType::int32},
                                               {"u8", DType::uint64},
                                               {"i8", DType::int64},
                                               {"f2", DType::float32},
                                               {"f4", DType::float32},
                                               {"f8", DType::float64}}};

/// A type's name without its byte order.
std::string_view code_of(std::string_view descr) {
  const bool has_order = !descr.empty() && std::string_view("<>|=").find(descr.front()) != std::string_view::npos;
  return descr.substr(has_order ? 1 : 0);
}

/// Whether it is a number; if so sets its type in `out`, a Header or a Member.
template <class Out>
bool parse_number_type(std::string_view descr, Out& out) {
  const std::string_view code = code_of(descr);
  for (const NumPyType& type : kTypes) {
    if (type.code != code) continue;
    out.dtype = type.dtype;
    out.half = code == "f2";
    constexpr bool kLittle = std::endian::native == std::endian::little;
    out.swapped = (out.half || size_of(out.dtype) > 1) && descr.front() == (kLittle ? '>' : '<');
    return true;
  }
  return false;
}

[[noreturn]] void fail_objects(const ByteSource& source) {
  source.fail("holds Python objects, which are never unpickled; save an array of numbers");
}

/// Bytes of a type that is no number: text, time, anything of a stated size; 0 if it is none of these.
std::size_t opaque_bytes(std::string_view code) {
  if (code.starts_with("M8") || code.starts_with("m8")) return 8;
  if (code.size() < 2) return 0;
  const auto count = parsed<std::size_t>(code.substr(1)).value_or(0);
  if (count > UINT16_MAX) return 0;
  if (code[0] == 'U') return 4 * count;
  return std::string_view("SaVcfui").find(code[0]) == std::string_view::npos ? 0 : count;
}

Shape parse_shape(Cursor& cursor, const ByteSource& source);

/// One of the tuples (name, type) or (name, type, shape).
void parse_member(Cursor& cursor, const ByteSource& source, Header& header) {
  constexpr std::size_t kMost = 4096;
  cursor.expect('(');
  Member member;
  member.name = cursor.quoted();
  cursor.expect(',');
  if (cursor.at('[')) source.fail("holds a structured array within a structured array; save its coordinates alone");
  const std::string descr(cursor.quoted());
  const std::string_view code = code_of(descr);
  if (code.starts_with('O')) fail_objects(source);
  member.numeric = parse_number_type(descr, member);
  const std::size_t bytes = !member.numeric ? opaque_bytes(code) : member.half ? 2 : size_of(member.dtype);
  if (bytes == 0) source.fail("holds a field of the NumPy type '" + one_line(descr) + "', which is not known");
  std::size_t count = 1;
  const bool several = cursor.take(',') && !cursor.at(')');
  if (several)
    for (const std::int64_t extent : parse_shape(cursor, source))
      count = std::min(count * static_cast<std::size_t>(std::min<std::int64_t>(extent, kMost + 1)), kMost + 1);
  cursor.take(',');
  cursor.expect(')');
  if (header.members.size() + count > kMost) source.fail("has more than " + std::to_string(kMost) + " fields");
  for (std::size_t k = 0; k < count; ++k) {
    header.members.push_back(member);
    Member& added = header.members.back();
    if (several) added.name.append("_").append(std::to_string(k + 1));
    added.offset = header.record_bytes;
    header.record_bytes += bytes;
  }
}

void parse_descr(Cursor& cursor, const ByteSource& source, Header& header, bool structured) {
  if (cursor.take('[')) {
    if (!structured) source.fail("holds a structured array; save the one field you want with numpy.save");
    while (!cursor.take(']')) {
      parse_member(cursor, source, header);
      if (!cursor.at(']')) cursor.expect(',');
    }
    if (header.members.empty()) cursor.fail("a structured array has no fields");
    return;
  }
  const std::string_view descr = cursor.quoted();
  if (code_of(descr).starts_with('O')) fail_objects(source);
  if (!parse_number_type(descr, header))
    source.fail("holds elements of the NumPy type '" + one_line(descr) +
                "'; bool, integers and floats of up to 64 bits are read");
}

Shape parse_shape(Cursor& cursor, const ByteSource& source) {
  Shape shape;
  cursor.expect('(');
  while (!cursor.take(')')) {
    if (shape.rank() == kMaxRank) source.fail("has more than " + std::to_string(kMaxRank) + " axes");
    shape.push_back(cursor.integer());
    if (!cursor.at(')')) cursor.expect(',');
  }
  return shape;
}

Header parse(const ByteSource& source, std::string_view text, bool structured) {
  Header header;
  Cursor cursor(source, text);
  bool descr = false, order = false, shape = false;
  cursor.expect('{');
  while (!cursor.take('}')) {
    const std::string_view key = cursor.quoted();
    cursor.expect(':');
    if (key == "descr" && !std::exchange(descr, true)) parse_descr(cursor, source, header, structured);
    else if (key == "fortran_order" && !std::exchange(order, true)) header.fortran = cursor.boolean();
    else if (key == "shape" && !std::exchange(shape, true)) header.shape = parse_shape(cursor, source);
    else cursor.fail("the key '" + one_line(key) + "' is unknown or comes twice");
    if (!cursor.at('}')) cursor.expect(',');
  }
  if (!descr || !order || !shape) cursor.fail("descr, fortran_order or shape is missing");
  if (!cursor.at_end()) cursor.fail("something follows the dictionary");
  return header;
}

}  // namespace

Header read_header(ByteSource& source, bool structured) {
  std::array<char, 8> start{};
  source.read_exactly(start.data(), start.size(), "the NPY header");
  if (std::string_view(start.data(), kMagic.size()) != kMagic)
    source.fail("is no NPY file: its first bytes are others");
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3)
    source.fail("is NPY version " + std::to_string(version) + "; versions 1 to 3 are read");

  std::array<unsigned char, 4> raw_length{};
  const std::size_t width = version == 1 ? 2 : 4;
  source.read_exactly(raw_length.data(), width, "the NPY header");
  std::size_t length = 0;
  for (std::size_t i = 0; i < width; ++i) length |= static_cast<std::size_t>(raw_length[i]) << (8 * i);
  constexpr std::size_t kMostText = std::size_t{1} << 20;  // a plain array needs less than a hundredth
  if (length > kMostText) source.fail("has an absurd NPY header of " + format_bytes(length));

  std::string text(length, '\0');
  source.read_exactly(text.data(), length, "the NPY header");
  return parse(source, text, structured);
}

}  // namespace fathom::io::npy
