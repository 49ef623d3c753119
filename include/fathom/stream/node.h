// Nodes of a tile graph: rasters that are computed where they are needed, from their children.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fathom/core/array.h"
#include "fathom/core/raster.h"
#include "fathom/core/view.h"

namespace fathom::stream {

/// What a child is to its parent: it says how the parent reduces it.
enum class Role : std::uint8_t { data, pattern, mask, weight };
std::string_view name_of(Role role);

struct Operation;
class Node;
using NodeRef = std::shared_ptr<const Node>;

/// A child and where it lies: its first pixel is at (y, x) of the parent.
struct Child {
  NodeRef node;
  Role role = Role::data;
  std::int64_t y = 0, x = 0;
};

struct Size {
  std::int64_t height = 0, width = 0;
  /// No more than what no memory holds: of sizes that are planned, but never computed.
  std::int64_t area() const {
    constexpr std::int64_t kMost = std::int64_t{1} << 48;
    return width > 0 && height > kMost / width ? kMost : height * width;
  }
  friend bool operator==(const Size&, const Size&) = default;
};
inline Size size_of(const Rectangle& part) { return {part.height(), part.width()}; }

/// Size of a pixel. An empty unit: not stated.
struct PixelSize {
  double size = 1;
  std::string unit;
  friend bool operator==(const PixelSize&, const PixelSize&) = default;
};

/// What a raster is: pixels of bool (a bit), uint8, uint16 or float32.
struct Extent {
  std::int64_t height = 0, width = 0;
  DType dtype = DType::uint8;
  PixelSize pixel = {};
};

/// Where a raster repeats itself: pixels of the region whose places differ by multiples of (0, width) and (height,
/// skew) are equal. The cell is height × width pixels.
struct Period {
  std::int64_t height = 0, width = 0, skew = 0;  ///< 0 ≤ skew < width
  Rectangle region;
};

/// Pixels of a child: all the same, or in memory that is valid until compute() returns or a Mark made before ends.
struct Pixels {
  std::optional<double> constant;
  AnyConstView view;  ///< of the part's shape; not given where they are constant
};

/// Where a node gets its children's pixels, and memory for its own use. Each thread has its own.
class Children {
 public:
  virtual ~Children() = default;
  /// @param part  inside the child, in its coordinates
  Pixels fetch(const Node& child, const Rectangle& part);
  /// The same into memory of the caller; unless it returns a value, which all pixels have: then nothing is written.
  virtual std::optional<double> fetch_into(const Node& child, const Rectangle& part, const AnyView& out) = 0;
  /// Memory that was planned with scratch_bytes(), aligned to 64 bytes.
  std::byte* scratch(std::size_t bytes);

  /// Gives back, when it ends, what was taken since it was made.
  class Mark {
   public:
    explicit Mark(Children& children) : children_(children), top_(children.top_) {}
    ~Mark() { children_.top_ = top_; }
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

   private:
    Children& children_;
    std::size_t top_;
  };

 protected:
  /// @param bytes  of scratch and pixels at once, as planned
  explicit Children(std::size_t bytes) : memory_(DType::uint8, {static_cast<std::int64_t>(bytes)}) {}

 private:
  Array memory_;
  std::size_t top_ = 0;
};

/// Writes what a node is in the words of the graph's document; also the source of its content hash.
class Description {
 public:
  virtual ~Description() = default;
  virtual void number(std::string_view field, double value) = 0;
  virtual void whole(std::string_view field, std::int64_t value) = 0;
  virtual void truth(std::string_view field, bool value) = 0;
  virtual void text(std::string_view field, std::string_view value) = 0;
  virtual void nothing(std::string_view field) = 0;
  virtual void numbers(std::string_view field, const std::vector<double>& values) = 0;
  virtual void wholes(std::string_view field, const std::vector<std::int64_t>& values) = 0;
  /// Of what lies in a file: for the hash alone.
  virtual void fingerprint(std::string_view text) = 0;
};

/// A raster that is computed. Nodes do not change once made, and all may be called by many threads at once.
///
/// To add one of your own: derive, give it children and an extent, and say what it needs and computes. Same bytes for a
/// pixel whatever the part it is computed in.
class Node {
 public:
  Node(Extent extent, std::vector<Child> children);
  virtual ~Node() = default;

  std::int64_t height() const { return extent_.height; }
  std::int64_t width() const { return extent_.width; }
  DType dtype() const { return extent_.dtype; }
  const PixelSize& pixel() const { return extent_.pixel; }
  Rectangle whole() const { return {0, 0, extent_.height, extent_.width}; }
  const std::vector<Child>& children() const { return children_; }

  /// The word for it in documents.
  virtual std::string_view type() const = 0;
  /// Its parameters but for the children.
  virtual void describe(Description& to) const = 0;

  /// The part of a child, in its coordinates and inside it, that a part of this node is computed from.
  virtual Rectangle need(std::size_t child, const Rectangle& part) const = 0;
  /// The largest that need() gives for parts of a size.
  virtual Size largest_need(std::size_t child, Size part) const = 0;
  /// Whether compute() holds the pixels of all children at once; else of one at a time.
  virtual bool holds_all() const { return true; }
  /// Bytes that compute() takes for itself, beside its children's pixels.
  virtual std::size_t scratch_bytes(Size part) const;
  /// Whether parts beside one another need the same pixels of a child, so that it pays to keep them.
  virtual bool needs_again(std::size_t child) const;
  /// Pixels around a part that a child is needed for beyond it.
  virtual std::int64_t halo() const;
  /// Of files: in which pieces they store pixels.
  virtual Size piece() const;
  /// Bytes that a file or a table keeps in memory.
  virtual std::size_t kept_bytes() const;
  /// A value that no finite pixel exceeds, of distances with a bound; else +inf.
  virtual double bound() const;
  /// Where it repeats itself, if it does.
  virtual std::optional<Period> period() const { return std::nullopt; }
  /// What it does, where a device can do it, too. Null: the CPU computes it, whatever the backend.
  virtual std::shared_ptr<const Operation> operation() const { return nullptr; }

  /// Computes a part.
  /// @param part  inside the raster, not empty
  /// @param out  of the part's shape and of dtype()
  /// @returns the value that all its pixels have, and then need not write them
  virtual std::optional<double> compute(const Rectangle& part, const AnyView& out, Children& children) const = 0;

 private:
  Extent extent_;
  std::vector<Child> children_;
  int depth_ = 1;
};

}  // namespace fathom::stream
