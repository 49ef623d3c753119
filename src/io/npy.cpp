// NPY, NumPy's own format: a short header, then the elements as they lie in memory. Reading C order in native
// endianness is one read straight into the array; everything else is that read followed, or interleaved, by one pass.
#include <algorithm>
#include <vector>

#include "io/convert.h"
#include "io/formats.h"
#include "io/npy_header.h"
#include "io/rows.h"

namespace fathom::io::npy {

namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 18;  // stays in the second-level cache

void read_half(ByteSource& source, const Header& header, Array& out) {
  const auto count = static_cast<std::size_t>(out.size());
  auto* to = reinterpret_cast<float*>(out.data());
  std::vector<std::uint16_t> chunk(std::min(count, kChunkBytes / 2));
  for (std::size_t done = 0; done < count;) {
    const std::size_t step = std::min(count - done, chunk.size());
    source.read_exactly(chunk.data(), 2 * step, "the NPY array");
    for (std::size_t i = 0; i < step; ++i)
      to[done + i] = half_to_float(header.swapped ? swap_bytes(chunk[i]) : chunk[i]);
    done += step;
  }
}

/// Elements in the file's order into `out`.
void read_elements(ByteSource& source, const Header& header, Array& out) {
  if (header.half) return read_half(source, header, out);
  source.read_exactly(out.data(), out.bytes(), "the NPY array");
  if (header.swapped) swap_all(out.data(), static_cast<std::size_t>(out.size()), size_of(out.dtype()));
  if (header.dtype == DType::boolean) make_bools(out.data(), out.bytes());
}

/// A batch of the file's slowest axis: `batch` blocks of `count` elements each, axes reversed, into columns of `out`.
template <class T>
void scatter_batch(const T* from, T* out, const Shape& shape, std::int64_t first, std::int64_t batch) {
  const int last = shape.rank() - 1;
  const std::int64_t row_length = shape[last];
  const std::int64_t count = element_count(shape) / row_length;
  Strides steps = shape;  // of each axis within a block of the file, first axis fastest
  std::int64_t step = 1;
  for (int axis = 0; axis < last; ++axis) {
    steps[axis] = step;
    step *= shape[axis];
  }
  Shape index = shape;
  for (int axis = 0; axis <= last; ++axis) index[axis] = 0;
  std::int64_t at = 0;
  for (std::int64_t row = 0; row < count; ++row) {
    T* to = out + row * row_length + first;
    for (std::int64_t b = 0; b < batch; ++b) to[b] = from[b * count + at];
    for (int axis = last - 1; axis >= 0; --axis) {  // the next row of `out`
      at += steps[axis];
      if (++index[axis] < shape[axis]) break;
      at -= steps[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

/// Blocks of the file's slowest axis that are turned at once: enough for whole cache lines in `out`.
std::int64_t batch_of(const Shape& shape) { return std::min<std::int64_t>(shape.back(), 32); }

std::uint64_t fortran_scratch(const Header& header) {
  if (element_count(header.shape) == 0) return 0;
  return static_cast<std::uint64_t>(element_count(header.shape) / header.shape.back() * batch_of(header.shape)) *
         size_of(header.dtype);
}

void read_fortran(ByteSource& source, const Header& header, Array& out) {
  const Shape& shape = header.shape;
  const std::int64_t batch = batch_of(shape);
  Array block(header.dtype, {batch, element_count(shape) / shape.back()});
  for (std::int64_t first = 0; first < shape.back(); first += batch) {
    const std::int64_t now = std::min(batch, shape.back() - first);
    if (now < batch) block = Array(header.dtype, {now, block.shape()[1]});
    read_elements(source, header, block);
    visit_dtype(header.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      scatter_batch(reinterpret_cast<const T*>(block.data()), reinterpret_cast<T*>(out.data()), shape, first, now);
    });
  }
}

std::string header_text(const std::string& descr, const Shape& shape) {
  std::string text = "{'descr': " + descr + ", 'fortran_order': False, 'shape': (";
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(shape[axis]);
  }
  if (shape.rank() == 1) text += ',';  // else Python would take the parentheses for a group
  text += "), }";
  constexpr std::size_t kFixed = 10, kAlignment = 64;  // magic, version, length; the elements start aligned
  const std::size_t length = (kFixed + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - kFixed;
  text.resize(length - 1, ' ');
  return text + '\n';
}

}  // namespace

ImageInfo probe(ByteSource& source, const ReadContext&) {
  const Header header = read_header(source);
  count_bytes(source, header.dtype, header.shape);
  return {Format::npy, header.dtype, header.shape, {}, {}, header.half};
}

Image read(ByteSource& source, const ReadContext& context) {
  const Header header = read_header(source);
  const std::uint64_t bytes = count_bytes(source, header.dtype, header.shape);
  check_holds(source, source.position(), bytes / size_of(header.dtype) * header.file_element_size());
  const bool turn = header.fortran && header.shape.rank() > 1 && bytes > 0;
  Image image{allocate(source, header.dtype, header.shape, context.limit, turn ? fortran_scratch(header) : 0), {}, {}};
  if (turn) read_fortran(source, header, image.data);
  else read_elements(source, header, image.data);
  return image;
}

void check(DType, const Shape&, const Meaning&) {}

std::string descr_of(DType dtype) {
  constexpr char kOrder = std::endian::native == std::endian::little ? '<' : '>';
  std::string text = "'";
  text += size_of(dtype) == 1 ? '|' : kOrder;
  text += dtype == DType::boolean ? 'b' : name_of(dtype).front();  // 'u', 'i', 'f'
  return text + std::to_string(size_of(dtype)) + "'";
}

void write_header(ByteSink& sink, const std::string& descr, const Shape& shape) {
  const std::string text = header_text(descr, shape);
  std::string start = "\x93NUMPY\x01";
  start += '\0';
  start += static_cast<char>(text.size() & 0xff);
  start += static_cast<char>(text.size() >> 8);
  start += text;
  sink.write(start.data(), start.size());
}

WriteReport write(Target& target, const AnyConstView& data, const Meaning&) {
  write_header(target.sink, descr_of(data.dtype()), data.shape());
  for_each_run(data, [&](const std::byte* run, std::size_t bytes) { target.sink.write(run, bytes); });
  return {};
}

}  // namespace fathom::io::npy
