#include "fathom/core/workspace.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace fathom {

namespace {
constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::byte* allocate(std::size_t bytes) {
  const std::size_t alignment = bytes >= 2 * kHugePage ? kHugePage : 64;
  void* p = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  if (!p) throw std::bad_alloc();
  // Scratch is walked with strides of whole rows: huge pages spare most of its page faults and TLB misses.
  if (alignment == kHugePage) madvise(p, bytes, MADV_HUGEPAGE);
  return static_cast<std::byte*>(p);
}
}  // namespace

struct Workspace::Block {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  ~Block() { std::free(data); }
};

Workspace::Workspace() : block_(std::make_unique<Block>()) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

std::byte* Workspace::reserve(std::size_t bytes) {
  if (!block_) block_ = std::make_unique<Block>();  // moved from
  if (bytes > block_->bytes || !block_->data) {
    release();
    block_->data = allocate(bytes);
    block_->bytes = bytes;
  }
  return block_->data;
}

std::size_t Workspace::bytes() const { return block_ ? block_->bytes : 0; }

void Workspace::release() {
  if (!block_) return;
  std::free(block_->data);
  block_->data = nullptr;
  block_->bytes = 0;
}

}  // namespace fathom
