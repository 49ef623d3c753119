// Source: the NIfTI-1 and NIfTI-2 standards (nifti1.h, nifti2.h), of which the definitions of the fields are used.
// Bytes are taken apart here and not by niftilib, which prints to stderr and trusts its input.
#include "io/nifti_header.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "io/convert.h"
#include "io/sizes.h"

namespace fathom::io::nifti {

namespace {

constexpr std::int32_t kSize1 = 348;
constexpr std::int32_t kSize2 = 540;
constexpr std::size_t kExtensionFlag = 4;
static_assert(sizeof(nifti_1_header) == kSize1 && sizeof(nifti_2_header) == kSize2);

template <class... Fields>
void swap_fields(Fields&... fields) {
  const auto swap = [](auto& field) {
    if constexpr (std::is_array_v<std::remove_reference_t<decltype(field)>>) {
      for (auto& element : field) element = swap_bytes(element);
    } else {
      field = swap_bytes(field);
    }
  };
  (swap(fields), ...);
}

/// A copy of a packed field: references to those may be misaligned.
nifti_2_header swapped(nifti_2_header h) {
  struct Field {
    std::size_t offset, size, count;
  };
  constexpr Field kFields[] = {{0, 4, 1}, {12, 2, 2}, {16, 8, 30}, {344, 4, 2}, {352, 8, 18}, {496, 4, 3}};
  auto* bytes = reinterpret_cast<std::byte*>(&h);
  for (const Field& f : kFields) swap_all(bytes + f.offset, f.count, f.size);
  return h;
}

nifti_1_header swapped(nifti_1_header h) {
  swap_fields(h.sizeof_hdr, h.dim, h.intent_p1, h.intent_p2, h.intent_p3, h.intent_code, h.datatype, h.bitpix,
              h.slice_start, h.pixdim, h.vox_offset, h.scl_slope, h.scl_inter, h.slice_end, h.cal_max, h.cal_min,
              h.slice_duration, h.toffset, h.qform_code, h.sform_code, h.quatern_b, h.quatern_c, h.quatern_d,
              h.qoffset_x, h.qoffset_y, h.qoffset_z, h.srow_x, h.srow_y, h.srow_z);
  return h;
}

/// Whole bytes of a float field; −1 for what is none.
std::int64_t to_offset(float value) { return value >= 0 && value < 0x1p53f ? static_cast<std::int64_t>(value) : -1; }

/// Version 1 as version 2.
nifti_2_header widened(const nifti_1_header& h) {
  nifti_2_header w{};
  w.sizeof_hdr = kSize2;
  std::memcpy(w.magic, h.magic, sizeof h.magic);
  w.datatype = h.datatype;
  w.bitpix = h.bitpix;
  for (int i = 0; i < 8; ++i) w.dim[i] = h.dim[i];
  for (int i = 0; i < 8; ++i) w.pixdim[i] = static_cast<double>(h.pixdim[i]);
  w.vox_offset = to_offset(h.vox_offset);
  w.scl_slope = static_cast<double>(h.scl_slope);
  w.scl_inter = static_cast<double>(h.scl_inter);
  w.slice_duration = static_cast<double>(h.slice_duration);
  w.toffset = static_cast<double>(h.toffset);
  w.slice_start = h.slice_start;
  w.slice_end = h.slice_end;
  w.qform_code = h.qform_code;
  w.sform_code = h.sform_code;
  w.quatern_b = static_cast<double>(h.quatern_b);
  w.quatern_c = static_cast<double>(h.quatern_c);
  w.quatern_d = static_cast<double>(h.quatern_d);
  w.qoffset_x = static_cast<double>(h.qoffset_x);
  w.qoffset_y = static_cast<double>(h.qoffset_y);
  w.qoffset_z = static_cast<double>(h.qoffset_z);
  for (int i = 0; i < 4; ++i) w.srow_x[i] = static_cast<double>(h.srow_x[i]);
  for (int i = 0; i < 4; ++i) w.srow_y[i] = static_cast<double>(h.srow_y[i]);
  for (int i = 0; i < 4; ++i) w.srow_z[i] = static_cast<double>(h.srow_z[i]);
  w.slice_code = h.slice_code;
  w.xyzt_units = static_cast<unsigned char>(h.xyzt_units);
  w.dim_info = h.dim_info;
  return w;
}

short to_short(std::int64_t value) { return value >= 0 && value <= INT16_MAX ? static_cast<short>(value) : short{0}; }

/// Version 2 as version 1; extents must fit.
nifti_1_header narrowed(const nifti_2_header& w) {
  nifti_1_header h{};
  h.sizeof_hdr = kSize1;
  h.regular = 'r';
  std::memcpy(h.magic, "n+1", sizeof h.magic);
  h.datatype = w.datatype;
  h.bitpix = w.bitpix;
  for (int i = 0; i < 8; ++i) h.dim[i] = static_cast<short>(w.dim[i]);
  for (int i = 0; i < 8; ++i) h.pixdim[i] = static_cast<float>(w.pixdim[i]);
  h.vox_offset = static_cast<float>(kSize1 + kExtensionFlag);
  h.scl_slope = static_cast<float>(w.scl_slope);
  h.scl_inter = static_cast<float>(w.scl_inter);
  h.slice_duration = static_cast<float>(w.slice_duration);
  h.toffset = static_cast<float>(w.toffset);
  h.slice_start = to_short(w.slice_start);
  h.slice_end = to_short(w.slice_end);
  h.qform_code = to_short(w.qform_code);
  h.sform_code = to_short(w.sform_code);
  h.quatern_b = static_cast<float>(w.quatern_b);
  h.quatern_c = static_cast<float>(w.quatern_c);
  h.quatern_d = static_cast<float>(w.quatern_d);
  h.qoffset_x = static_cast<float>(w.qoffset_x);
  h.qoffset_y = static_cast<float>(w.qoffset_y);
  h.qoffset_z = static_cast<float>(w.qoffset_z);
  for (int i = 0; i < 4; ++i) h.srow_x[i] = static_cast<float>(w.srow_x[i]);
  for (int i = 0; i < 4; ++i) h.srow_y[i] = static_cast<float>(w.srow_y[i]);
  for (int i = 0; i < 4; ++i) h.srow_z[i] = static_cast<float>(w.srow_z[i]);
  h.slice_code = static_cast<char>(w.slice_code);
  h.xyzt_units = static_cast<char>(w.xyzt_units);
  h.dim_info = w.dim_info;
  return h;
}

template <class Raw>
Raw read_raw_header(ByteSource& source, bool swap) {
  Raw raw{};
  source.read_exactly(&raw, sizeof raw, "the NIfTI header");
  return swap ? swapped(raw) : raw;
}

void check_magic(const ByteSource& source, const nifti_2_header& fields, bool version_2) {
  const std::string_view magic(fields.magic, 3);
  if (magic == (version_2 ? "ni2" : "ni1"))
    source.fail("is the header of a NIfTI pair (.hdr and .img); convert both to one .nii file");
  if (magic != (version_2 ? "n+2" : "n+1")) source.fail("is no NIfTI file: its magic is missing");
}

}  // namespace

Header read_header(ByteSource& source) {
  const auto start = source.peek(sizeof(std::int32_t));
  if (start.size() < sizeof(std::int32_t)) source.fail("is truncated: the NIfTI header is missing");
  const auto size = load<std::int32_t>(start.data());
  Header header;
  header.swapped = size == swap_bytes(kSize1) || size == swap_bytes(kSize2);
  const bool version_2 = (header.swapped ? swap_bytes(size) : size) == kSize2;
  if (!version_2 && (header.swapped ? swap_bytes(size) : size) != kSize1)
    source.fail("is no NIfTI file: it does not begin with the size of its header");
  header.fields = version_2 ? read_raw_header<nifti_2_header>(source, header.swapped)
                            : widened(read_raw_header<nifti_1_header>(source, header.swapped));
  check_magic(source, header.fields, version_2);

  const std::int64_t least = (version_2 ? kSize2 : kSize1) + static_cast<std::int64_t>(kExtensionFlag);
  const std::int64_t offset = header.fields.vox_offset == 0 ? least : header.fields.vox_offset;
  if (offset < least) source.fail("has an absurd NIfTI header: vox_offset points into it");
  header.offset = static_cast<std::uint64_t>(offset);
  return header;
}

void write_header(ByteSink& sink, nifti_2_header fields) {
  std::int64_t widest = 1;
  for (int axis = 1; axis < 8; ++axis) widest = std::max<std::int64_t>(widest, fields.dim[axis]);
  const char no_extension[kExtensionFlag] = {};
  if (widest <= std::numeric_limits<short>::max()) {
    const nifti_1_header narrow = narrowed(fields);
    sink.write(&narrow, sizeof narrow);
  } else {
    fields.sizeof_hdr = kSize2;
    std::memcpy(fields.magic, "n+2\0\r\n\x1a\n", sizeof fields.magic);
    fields.vox_offset = kSize2 + static_cast<std::int64_t>(kExtensionFlag);
    sink.write(&fields, sizeof fields);
  }
  sink.write(no_extension, sizeof no_extension);
}

}  // namespace fathom::io::nifti
