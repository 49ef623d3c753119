// Device memory of a graph: what one call takes, and what stays.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/cuda/capture.h"
#include "core/cuda/runtime.h"
#include "fathom/core/error.h"
#include "stream/cuda/pixels.h"

namespace fathom::stream::cuda {

/// One walk over the graph: with launches, or counting memory alone.
struct Walk {
  cudaStream_t stream = nullptr;
  bool counts = false;
  std::size_t now = 0, most = 0;    ///< bytes of the device
  std::size_t on_host = 0;          ///< bytes of the host, at most
  std::set<std::size_t> kept = {};  ///< what is counted already

  void count(std::size_t bytes) { most = std::max(most, now += bytes); }
};

/// What cannot be done again by whoever runs a captured graph.
inline void refuse_capture(cudaStream_t stream) {
  if (fathom::cuda::is_capturing(stream))
    throw InvalidArgument(
        "the stream is being captured, and the graph copies to the device: compute a part once before, and capture no "
        "copies by 'place' or 'lattice' and nothing that the CPU computes");
}

/// Device memory for some of a walk.
class Taken {
 public:
  Taken(Walk& walk, std::size_t bytes) : walk_(walk), bytes_(bytes) {
    walk_.count(bytes);
    if (!walk.counts) memory_.emplace(bytes, walk.stream);
  }
  ~Taken() { walk_.now -= bytes_; }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  /// Null where memory is only counted.
  std::byte* data() const { return memory_ ? memory_->data() : nullptr; }

 private:
  Walk& walk_;
  std::size_t bytes_;
  std::optional<fathom::cuda::DeviceMemory> memory_;
};

/// An array of the host, for the launches of one entry.
template <class T>
class Copied {
 public:
  Copied(Walk& walk, const std::vector<T>& from) : taken_(walk, from.size() * sizeof(T)) {
    if (walk.counts || from.empty()) return;
    refuse_capture(walk.stream);
    fathom::cuda::check(
        cudaMemcpyAsync(taken_.data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, walk.stream),
        "copying to the device");
  }
  const T* data() const { return reinterpret_cast<const T*>(taken_.data()); }

 private:
  Taken taken_;
};

/// What stays on the device once it is made.
class Kept {
 public:
  struct Slot {
    std::unique_ptr<fathom::cuda::DeviceMemory> memory;
    Patch patch;      ///< in it, if it has pixels
    DeviceCell cell;  ///< or a cell
  };

  explicit Kept(std::size_t slots) : slots_(slots) {}

  const Slot& operator[](std::size_t number) const { return slots_[number]; }
  Slot& operator[](std::size_t number) { return slots_[number]; }
  std::size_t bytes() const { return bytes_; }
  int made() const { return made_; }

  /// @returns whether there is new memory, to be filled
  bool add(std::size_t number, std::size_t bytes, Walk& walk) {
    if (slots_[number].memory) return false;
    if (walk.counts) {
      if (!walk.kept.insert(number).second) return false;
      walk.count(bytes);
      return true;
    }
    refuse_capture(walk.stream);
    slots_[number].memory = std::make_unique<fathom::cuda::DeviceMemory>(bytes, nullptr);
    fathom::cuda::check(cudaStreamSynchronize(nullptr), "asking for memory");
    bytes_ += bytes;
    ++made_;
    return true;
  }
  /// Nobody may use it any more.
  void clear() {
    for (Slot& slot : slots_) slot = {};
    bytes_ = 0;
  }

 private:
  std::vector<Slot> slots_;
  std::size_t bytes_ = 0;
  int made_ = 0;
};

}  // namespace fathom::stream::cuda
