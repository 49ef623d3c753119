// Rasters that are read and written a part at a time: what files offer and what streamed work takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "fathom/core/view.h"

namespace fathom {

/// Pixels y0 ≤ y < y1, x0 ≤ x < x1.
struct Rectangle {
  std::int64_t y0 = 0, x0 = 0, y1 = 0, x1 = 0;

  std::int64_t height() const { return y1 - y0; }
  std::int64_t width() const { return x1 - x0; }
  bool empty() const { return y1 <= y0 || x1 <= x0; }
  std::int64_t area() const { return empty() ? 0 : height() * width(); }
  bool contains(const Rectangle& other) const {
    return other.empty() || (y0 <= other.y0 && x0 <= other.x0 && other.y1 <= y1 && other.x1 <= x1);
  }
  Shape shape() const { return {height(), width()}; }

  friend bool operator==(const Rectangle&, const Rectangle&) = default;
  /// What both have; empty, but not turned inside out, where that is nothing.
  friend Rectangle intersection(const Rectangle& a, const Rectangle& b) {
    Rectangle both{std::max(a.y0, b.y0), std::max(a.x0, b.x0), std::min(a.y1, b.y1), std::min(a.x1, b.x1)};
    both.y1 = std::max(both.y1, both.y0);
    both.x1 = std::max(both.x1, both.x0);
    return both;
  }
  Rectangle moved(std::int64_t dy, std::int64_t dx) const { return {y0 + dy, x0 + dx, y1 + dy, x1 + dx}; }
  Rectangle grown(std::int64_t by) const { return {y0 - by, x0 - by, y1 + by, x1 + by}; }
};

/// A raster whose pixels are read where they are needed. All may be called by many threads at once.
class RasterSource {
 public:
  virtual ~RasterSource() = default;
  virtual DType dtype() const = 0;
  virtual std::int64_t height() const = 0;
  virtual std::int64_t width() const = 0;
  /// @param part  inside the raster
  /// @param out  of the part's shape and of dtype()
  /// @throws IoError missing, truncated, or changed since it was opened
  virtual void read(const Rectangle& part, const AnyView& out) const = 0;
  /// Height and width of the pieces in which pixels are stored: reading pieces whole costs least.
  virtual Shape piece() const = 0;
  /// Bytes that it keeps in memory while it is open, and that each thread takes while it reads, at most.
  virtual std::size_t kept_bytes() const = 0;
  virtual std::size_t bytes_of_read() const = 0;
  /// What tells whether the pixels may have changed since some other time: for files size and time of the last change.
  virtual std::string fingerprint() const = 0;
  /// Its pixels, where they lie in a device's memory as they are; else a view that is not given.
  virtual AnyConstDeviceView on_device() const { return {}; }
};

/// A raster that is written in whole rows, from the first to the last.
class RasterSink {
 public:
  virtual ~RasterSink() = default;
  /// Rows that each write but the last must bring: a multiple of it.
  virtual std::int64_t row_step() const = 0;
  /// The next rows. @param rows  [any number, width] @throws IoError the target is full or broken
  virtual void write(const AnyConstView& rows) = 0;
  /// What was written stays after a crash, where the target is a disk. @throws IoError as write()
  virtual void sync() {}
  /// After the last row. @throws IoError as write()
  virtual void finish() = 0;
};

}  // namespace fathom
