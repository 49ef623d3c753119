// Scratch memory that a caller keeps between calls.
#pragma once

#include <cstddef>
#include <memory>

namespace fathom {

/// One growing block of scratch. Not for two calls at the same time.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  /// At least `bytes` bytes, aligned to 64, contents unspecified; what an earlier call returned is gone.
  /// @throws std::bad_alloc the machine has not enough memory; the workspace is then empty
  std::byte* reserve(std::size_t bytes);
  std::size_t bytes() const;
  void release();

 private:
  struct Block;
  std::unique_ptr<Block> block_;
};

}  // namespace fathom
