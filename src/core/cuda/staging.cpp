#include "core/cuda/staging.h"

#include <algorithm>
#include <cstring>

#include "core/parallel.h"

namespace fathom::cuda {

namespace {

// Larger blocks spare calls, but pinned memory takes long to get.
constexpr std::size_t kBlocks = 1024, kLeastBlock = std::size_t{256} << 10, kLargestBlock = std::size_t{2} << 20;
// With fewer bytes, pinned memory takes longer to get than it spares.
constexpr std::size_t kWorthStaging = std::size_t{64} << 20;
// In bytes: the device copies shorter rows more slowly than threads do.
constexpr std::size_t kShortRow = 256;

/// Whether the runtime can copy the rows by itself, in one call.
template <class Byte>
bool is_straight(const HostRows<Byte>& rows) {
  if (rows.extent.rank() > 1) return false;
  constexpr std::int64_t kLargestPitch = INT32_MAX;
  return rows.extent.empty() || (rows.bytes >= kShortRow && rows.stride[0] >= static_cast<std::int64_t>(rows.bytes) &&
                                 rows.stride[0] <= kLargestPitch);
}

/// Dense on one side, on the other as the rows lie.
template <class Byte>
void copy_straight(std::byte* to, const std::byte* from, const HostRows<Byte>& rows, cudaMemcpyKind kind,
                   cudaStream_t stream) {
  if (rows.extent.empty()) return check(cudaMemcpyAsync(to, from, rows.bytes, kind, stream), "copying");
  const auto pitch = static_cast<std::size_t>(rows.stride[0]);
  const bool is_upload = kind == cudaMemcpyHostToDevice;
  check(cudaMemcpy2DAsync(to, is_upload ? rows.bytes : pitch, from, is_upload ? pitch : rows.bytes, rows.bytes,
                          static_cast<std::size_t>(rows.count), kind, stream),
        "copying");
}

/// Calls copy(memory in a row, bytes from `begin`, how many) for the rows' bytes [begin, end).
template <class Byte, class Copy>
void each_row(const HostRows<Byte>& rows, std::size_t begin, std::size_t end, const Copy& copy) {
  for (std::size_t at = begin; at < end;) {
    const std::size_t inside = at % rows.bytes, length = std::min(rows.bytes - inside, end - at);
    copy(rows.row(static_cast<std::int64_t>(at / rows.bytes)) + inside, at - begin, length);
    at += length;
  }
}

}  // namespace

Staging::Staging(int threads, std::size_t bytes)
    : device_(current_device()),
      threads_(std::min(threads, static_cast<int>(kMostThreads))),
      worth_staging_(bytes >= kWorthStaging),
      block_bytes_(std::clamp(bytes / kBlocks, kLeastBlock, kLargestBlock)) {}

template <class Move>
void Staging::each_block(std::size_t all, const Move& move) {
  if (!memory_) memory_.emplace(static_cast<std::size_t>(threads_) * block_bytes_);
  const auto blocks = static_cast<std::int64_t>((all + block_bytes_ - 1) / block_bytes_);
  parallel_jobs(threads_, blocks, [&](int worker, std::int64_t job) {
    const OnDevice on_device(device_);
    const std::size_t begin = static_cast<std::size_t>(job) * block_bytes_;
    const auto mine = static_cast<std::size_t>(worker);
    move(begin, std::min(begin + block_bytes_, all), memory_->data() + mine * block_bytes_, done_[mine]);
  });
}

void Staging::upload(const HostRows<const std::byte>& from, std::byte* to, cudaStream_t stream) {
  if (is_straight(from) && (!worth_staging_ || is_pinned(from.data)))
    return copy_straight(to, from.row(0), from, cudaMemcpyHostToDevice, stream);
  each_block(from.all_bytes(), [&](std::size_t begin, std::size_t end, std::byte* block, const Event& done) {
    done.wait();
    each_row(from, begin, end, [&](const std::byte* row, std::size_t place, std::size_t length) {
      std::memcpy(block + place, row, length);
    });
    check(cudaMemcpyAsync(to + begin, block, end - begin, cudaMemcpyHostToDevice, stream), "copying to the device");
    done.record(stream);
  });
}

void Staging::download(const std::byte* from, const HostRows<std::byte>& to, cudaStream_t stream) {
  if (is_straight(to) && (!worth_staging_ || is_pinned(to.data)))
    return copy_straight(to.row(0), from, to, cudaMemcpyDeviceToHost, stream);
  each_block(to.all_bytes(), [&](std::size_t begin, std::size_t end, std::byte* block, const Event& done) {
    done.wait();
    check(cudaMemcpyAsync(block, from + begin, end - begin, cudaMemcpyDeviceToHost, stream), "copying from the device");
    done.record(stream);
    done.wait();
    each_row(to, begin, end,
             [&](std::byte* row, std::size_t place, std::size_t length) { std::memcpy(row, block + place, length); });
  });
}

}  // namespace fathom::cuda
