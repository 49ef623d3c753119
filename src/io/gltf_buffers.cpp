#include "io/gltf_buffers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "io/convert.h"
#include "io/point_records.h"

namespace fathom::io::gltf {

namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::vector<std::byte> from_base64(const ByteSource& source, std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::vector<std::byte> bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const std::size_t value = kBase64.find(c);
    if (value == std::string_view::npos) source.fail("has a buffer that is no base64");
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<std::byte>(bits >> held));
  }
  return bytes;
}

/// %20 and the like as what they stand for.
std::string decoded(std::string_view uri) {
  std::string text;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    int code = 0;
    const char* digits = uri.data() + i + 1;
    if (uri[i] == '%' && i + 2 < uri.size() && std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2) {
      text += static_cast<char>(code);
      i += 2;
    } else {
      text += uri[i];
    }
  }
  return text;
}

}  // namespace

std::int64_t count_of(const ByteSource& source, const Json& number) {
  if (!number.is_number_unsigned() || number.get<std::uint64_t>() > INT64_MAX)
    source.fail("is a broken glTF file: '" + one_line(number.dump(-1, ' ', true, Json::error_handler_t::replace)) +
                "' stands where a count should");
  return number.get<std::int64_t>();
}

std::int64_t count_in(const ByteSource& source, const Json& object, const char* key,
                      std::optional<std::int64_t> otherwise) {
  if (otherwise && !object.contains(key)) return *otherwise;
  return count_of(source, object.at(key));
}

const Json& Buffers::item(const char* list, std::int64_t number) const {
  const auto found = document_.find(list);
  if (found == document_.end() || !found->is_array() || static_cast<std::uint64_t>(number) >= found->size() ||
      !(*found)[static_cast<std::size_t>(number)].is_object())
    source_.fail("is a broken glTF file: it refers to number " + std::to_string(number) + " of its " + list +
                 ", which is not there");
  return (*found)[static_cast<std::size_t>(number)];
}

std::vector<std::byte> Buffers::load(const std::string& uri, std::uint64_t size, std::int64_t number) const {
  if (uri.starts_with("data:")) {
    const std::size_t comma = uri.find(";base64,");
    if (comma == std::string::npos) source_.fail("has a buffer that is no base64");
    return from_base64(source_, std::string_view(uri).substr(comma + 8));
  }
  const std::filesystem::path path = decoded(uri);
  if (uri.find("://") != std::string::npos || path.is_absolute() || path.empty())
    source_.fail("has a buffer at '" + one_line(uri) + "'; buffers are read from files beside it");
  if (!folder_)
    source_.fail("keeps buffer " + std::to_string(number) + " in '" + one_line(uri) +
                 "', and standard input has nothing beside it; name the file, or save it as GLB");
  const auto file = open_source(*folder_ / path, Reading::consume);
  if (file->size().value_or(0) < size)
    file->fail("is truncated: " + source_.name() + " promises " + std::to_string(size) + " bytes");
  if (size > limit_.bytes) file->fail("is larger than the memory limit of " + format_bytes(limit_.bytes));
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  file->read_exactly(bytes.data(), bytes.size(), "the buffer");
  return bytes;
}

Bytes Buffers::buffer(std::int64_t number) {
  const Json& object = item("buffers", number);
  const auto size = static_cast<std::uint64_t>(count_in(source_, object, "byteLength"));
  const auto uri = object.find("uri");
  if (uri == object.end() && (number > 0 || !embedded_))
    source_.fail("has no bytes for buffer " + std::to_string(number) + "; save it without compression");
  if (uri != object.end()) {
    const auto at = static_cast<std::size_t>(number);
    if (loaded_.size() <= at) loaded_.resize(at + 1);
    if (!loaded_[at]) loaded_[at] = load(uri->get<std::string>(), size, number);
  }
  const Bytes bytes = uri == object.end() ? *embedded_ : Bytes(*loaded_[static_cast<std::size_t>(number)]);
  if (bytes.size() < size)
    source_.fail("is truncated: buffer " + std::to_string(number) + " promises " + std::to_string(size) +
                 " bytes and has " + std::to_string(bytes.size()));
  return bytes.first(static_cast<std::size_t>(size));
}

Bytes Buffers::view(std::int64_t number, std::uint64_t offset) {
  const Json& object = item("bufferViews", number);
  const Bytes bytes = buffer(count_in(source_, object, "buffer"));
  const auto begin = static_cast<std::uint64_t>(count_in(source_, object, "byteOffset", 0));
  const auto size = static_cast<std::uint64_t>(count_in(source_, object, "byteLength"));
  if (begin > bytes.size() || size > bytes.size() - begin || offset > size)
    source_.fail("is a broken glTF file: view " + std::to_string(number) + " of a buffer ends behind it");
  return bytes.subspan(static_cast<std::size_t>(begin + offset), static_cast<std::size_t>(size - offset));
}

struct Buffers::Layout {
  DType dtype;
  std::size_t width;
  bool normalized;

  std::size_t bytes() const { return size_of(dtype) * width; }
};

namespace {

DType component_type(const ByteSource& source, std::int64_t code) {
  constexpr std::array<std::pair<int, DType>, 6> kTypes = {{{5120, DType::int8},
                                                            {5121, DType::uint8},
                                                            {5122, DType::int16},
                                                            {5123, DType::uint16},
                                                            {5125, DType::uint32},
                                                            {5126, DType::float32}}};
  for (const auto& [known, dtype] : kTypes)
    if (known == code) return dtype;
  source.fail("is a broken glTF file: numbers of type " + std::to_string(code));
}

/// Integers from 0 to 1, or from -1 to 1.
double normalize(double value, DType dtype) {
  const bool is_signed = dtype == DType::int8 || dtype == DType::int16;
  const double most = std::ldexp(1.0, static_cast<int>(8 * size_of(dtype)) - (is_signed ? 1 : 0)) - 1;
  return std::max(value / most, -1.0);
}

}  // namespace

std::vector<double> Buffers::numbers(Bytes bytes, const Layout& layout, std::size_t count, std::size_t stride) const {
  const std::size_t step = stride == 0 ? layout.bytes() : stride, size = size_of(layout.dtype);
  if (count > 0 && (bytes.size() < layout.bytes() || (bytes.size() - layout.bytes()) / step < count - 1))
    source_.fail("is a broken glTF file: it promises " + std::to_string(count) +
                 " elements of an accessor, more than its bytes hold");
  if (count > limit_.bytes / (layout.width * sizeof(double)))
    source_.fail("holds a mesh that takes more than " + format_bytes(limit_.bytes));
  const bool swapped = std::endian::native != std::endian::little;
  std::vector<double> values;
  values.reserve(count * layout.width);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < layout.width; ++k) {
      const double value = value_of(bytes.data() + i * step, {layout.dtype, k * size, swapped, false});
      values.push_back(layout.normalized ? normalize(value, layout.dtype) : value);
    }
  return values;
}

void Buffers::replace_sparse(const Json& sparse, const Layout& layout, std::vector<double>& values) {
  const auto count = static_cast<std::size_t>(count_in(source_, sparse, "count"));
  const auto part = [&](const char* key, const Layout& of) {
    const Json& object = sparse.at(key);
    const auto offset = static_cast<std::uint64_t>(count_in(source_, object, "byteOffset", 0));
    return numbers(view(count_in(source_, object, "bufferView"), offset), of, count, 0);
  };
  const DType index_type = component_type(source_, count_in(source_, sparse.at("indices"), "componentType"));
  const std::vector<double> indices = part("indices", {index_type, 1, false}), replaced = part("values", layout);
  const std::size_t elements = values.size() / layout.width;
  for (std::size_t i = 0; i < count; ++i) {
    if (!(indices[i] >= 0 && indices[i] < static_cast<double>(elements)))
      source_.fail("is a broken glTF file: a sparse accessor replaces an element that it does not have");
    std::copy_n(replaced.begin() + static_cast<std::ptrdiff_t>(i * layout.width), layout.width,
                values.begin() + static_cast<std::ptrdiff_t>(indices[i]) * static_cast<std::ptrdiff_t>(layout.width));
  }
}

std::vector<double> Buffers::read(std::int64_t number, std::size_t width) {
  const Json& accessor = item("accessors", number);
  if (accessor.value("type", std::string()) != (width == 1 ? "SCALAR" : "VEC3"))
    source_.fail("is a broken glTF file: accessor " + std::to_string(number) + " is no " +
                 (width == 1 ? "SCALAR" : "VEC3"));
  const Layout layout{component_type(source_, count_in(source_, accessor, "componentType")), width,
                      accessor.value("normalized", false)};
  const auto count = static_cast<std::size_t>(count_in(source_, accessor, "count"));
  std::vector<double> values;
  if (accessor.contains("bufferView")) {
    const std::int64_t viewed = count_in(source_, accessor, "bufferView");
    const auto offset = static_cast<std::uint64_t>(count_in(source_, accessor, "byteOffset", 0));
    const auto stride = static_cast<std::size_t>(count_in(source_, item("bufferViews", viewed), "byteStride", 0));
    values = numbers(view(viewed, offset), layout, count, stride);
  } else if (accessor.contains("sparse") && count <= source_.size().value_or(0)) {
    values.assign(count * width, 0);
  } else {
    source_.fail("has no bytes for accessor " + std::to_string(number) + "; save it without compression");
  }
  if (accessor.contains("sparse")) replace_sparse(accessor["sparse"], layout, values);
  return values;
}

}  // namespace fathom::io::gltf
