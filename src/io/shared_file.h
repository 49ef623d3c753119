// A file that several threads read at any place, and the rows in it. By pread and never mapped: a file that another
// program cuts short is then an error and no signal, and its pages are no memory of this process.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "fathom/core/raster.h"
#include "io/byte_source.h"

namespace fathom::io {

class SharedFile {
 public:
  /// @throws IoError missing, or no regular file
  explicit SharedFile(const std::filesystem::path& path);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }
  /// Size and time of the last change, when it was opened.
  std::string fingerprint() const;
  /// @throws IoError it has another size or time now
  void check_unchanged() const;
  /// @throws IoError the file ends before; `what` names what is read
  void read_exactly(std::uint64_t offset, void* out, std::size_t count, std::string_view what) const;
  /// Up to `count` bytes, fewer only at the end.
  std::size_t read(std::uint64_t offset, void* out, std::size_t count) const;
  /// @throws IoError always: "NAME TEXT"
  [[noreturn]] void fail(const std::string& text) const;

 private:
  std::string name_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::timespec changed_{};
};

/// A reader of such a file, for one thread.
class SharedSource final : public ByteSource {
 public:
  explicit SharedSource(const SharedFile& file) : ByteSource(file.name()), file_(file) {}
  std::optional<std::uint64_t> size() const override { return file_.size(); }

 private:
  std::size_t read_raw(void* out, std::size_t count) override {
    const std::size_t got = file_.read(at_, out, count);
    at_ += got;
    return got;
  }
  void seek_raw(std::uint64_t offset) override { at_ = offset; }

  const SharedFile& file_;
  std::uint64_t at_ = 0;
};

/// Rows of a raster that lie behind one another in a file.
struct StoredRows {
  std::uint64_t offset = 0;
  std::uint64_t row_bytes = 0;
  int pixel_bits = 8;  ///< 1, 2, 4 or a multiple of 8
};

/// Bytes that visit_rows() takes: eight pixels at least, which are whole bytes.
inline std::size_t rows_scratch(int pixel_bits) {
  return std::max(std::size_t{1} << 17, static_cast<std::size_t>(pixel_bits));
}

/// Calls visit(y, x, count, bytes) for pieces of the rows in `part`, each from pixel x on; its first bit is in
/// bytes[0]. Several rows are read at once where little between them is read in vain.
template <class Visit>
void visit_rows(const SharedFile& file, const StoredRows& rows, const Rectangle& part, Visit visit) {
  constexpr std::uint64_t kSmall = 4096;  // less than that costs no more than a call of the system
  const auto bits = static_cast<std::uint64_t>(rows.pixel_bits);
  const std::size_t room = rows_scratch(rows.pixel_bits);
  const auto most = static_cast<std::int64_t>(room / bits * 8);  // pixels, of whole bytes
  const auto scratch = std::make_unique_for_overwrite<std::byte[]>(room);
  for (std::int64_t x = part.x0, next = 0; x < part.x1; x = next) {
    next = std::min(part.x1, (x / most + 1) * most);
    const std::uint64_t first = static_cast<std::uint64_t>(x) * bits / 8;
    const std::uint64_t bytes = (static_cast<std::uint64_t>(next) * bits + 7) / 8 - first;
    const bool dense = bytes * 4 >= rows.row_bytes || rows.row_bytes <= kSmall;
    const auto lines = static_cast<std::int64_t>(dense ? (room - bytes) / rows.row_bytes + 1 : 1);
    for (std::int64_t y = part.y0; y < part.y1; y += lines) {
      const std::int64_t count = std::min(lines, part.y1 - y);
      file.read_exactly(rows.offset + static_cast<std::uint64_t>(y) * rows.row_bytes + first, scratch.get(),
                        static_cast<std::size_t>(count - 1) * rows.row_bytes + bytes, "the rows");
      for (std::int64_t r = 0; r < count; ++r)
        visit(y + r, x, static_cast<std::size_t>(next - x),
              scratch.get() + static_cast<std::uint64_t>(r) * rows.row_bytes);
    }
  }
}

/// Where the element (y, x) of a view of two axes is.
inline std::byte* element_at(const AnyView& view, std::int64_t y, std::int64_t x) {
  return view.data() + (y * view.strides()[0] + x) * static_cast<std::int64_t>(size_of(view.dtype()));
}

/// @throws InvalidArgument a part that does not lie in the raster, or a view of another shape or type
void check_part(const RasterSource& source, const Rectangle& part, const AnyView& out);

}  // namespace fathom::io
