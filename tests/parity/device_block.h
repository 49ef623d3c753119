// Memory on the device, for tests.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <stdexcept>
#include <utility>

#include "fathom/core/array.h"

namespace fathom::test {

inline constexpr int kPoison = 0xa5;

inline void must(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// Device memory, poisoned.
class Block {
 public:
  explicit Block(std::size_t bytes) : bytes_(bytes) {
    must(cudaMalloc(&data_, bytes ? bytes : 1));
    must(cudaMemset(data_, kPoison, bytes ? bytes : 1));
    must(cudaStreamSynchronize(nullptr));  // streams that do not wait for this one may write next
  }
  explicit Block(const Array& array) : Block(array.bytes()) { upload(array); }
  ~Block() { cudaFree(data_); }
  Block(Block&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  Block(const Block&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  /// It is there when this returns, for streams that do not wait for the default one, too.
  void upload(const Array& array) {
    must(cudaMemcpy(data_, array.data(), array.bytes(), cudaMemcpyHostToDevice));
    must(cudaDeviceSynchronize());
  }
  void download(Array& array) const { must(cudaMemcpy(array.data(), data_, array.bytes(), cudaMemcpyDeviceToHost)); }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace fathom::test
