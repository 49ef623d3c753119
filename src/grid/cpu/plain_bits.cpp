#include "grid/cpu/plain_bits.h"

#include "core/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grid/cpu/plain_bits.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cstring>

#include "grid/cpu/plain_sweep-inl.h"
#include "grid/cpu/site_mask.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {
namespace {

using V8 = hn::Vec<D8>;
constexpr int kLanes8 = static_cast<int>(hn::MaxLanes(D8()));
static_assert(kLanes8 <= kPackSlack);

/// Bytes of kBlock rows, of which `count` exist.
struct ByteRows {
  const std::uint8_t* data;
  std::int64_t stride;
  int count;
};

/// Eight rows from `first` on: row r's bit is 7−r of that column's byte.
template <bool kZeroIsSite>
HWY_INLINE V8 pack_eight(const ByteRows& rows, int first, std::int64_t x) {
  const D8 d;
  V8 bits = hn::Zero(d);
  const int count = std::min(8, rows.count - first);
  for (int r = 0; r < count; ++r) {
    const V8 bytes = hn::LoadU(d, rows.data + (first + r) * rows.stride + x);
    const V8 bit = hn::Set(d, static_cast<std::uint8_t>(0x80 >> r));
    const auto zero = hn::Eq(bytes, hn::Zero(d));
    bits = hn::Or(bits, kZeroIsSite ? hn::IfThenElseZero(zero, bit) : hn::IfThenZeroElse(zero, bit));
  }
  return bits;
}

/// kLanes8 columns from x on.
template <bool kZeroIsSite>
HWY_INLINE void pack_vector(const ByteRows& rows, std::int64_t x, std::uint16_t* words) {
  const D8 d8;
  const D16 d16;
  const hn::Rebind<std::uint8_t, D16> half;
  alignas(64) std::uint8_t high[kLanes8], low[kLanes8];
  hn::Store(pack_eight<kZeroIsSite>(rows, 0, x), d8, high);
  hn::Store(pack_eight<kZeroIsSite>(rows, 8, x), d8, low);
  for (int i = 0; i < kLanes8; i += kLanes16) {
    const V16 upper = hn::ShiftLeft<8>(hn::PromoteTo(d16, hn::Load(half, high + i)));
    hn::StoreU(hn::Or(upper, hn::PromoteTo(d16, hn::Load(half, low + i))), d16, words + x + i);
  }
}

/// The last columns of a row, fewer than a vector, and no sites behind them.
template <bool kZeroIsSite>
void pack_tail(const ByteRows& rows, std::int64_t x, std::int64_t count, std::uint16_t* words) {
  alignas(64) std::uint8_t copy[kBlock * kPackSlack];
  std::memset(copy, kZeroIsSite, sizeof copy);
  for (int r = 0; r < rows.count; ++r)
    std::memcpy(copy + r * kPackSlack, rows.data + r * rows.stride + x, static_cast<std::size_t>(count));
  const ByteRows padded{copy, kPackSlack, rows.count};
  for (std::int64_t i = 0; i < count; i += kLanes8) pack_vector<kZeroIsSite>(padded, i, words + x);
}

template <bool kZeroIsSite>
void pack_row(const ByteRows& rows, std::int64_t columns, std::uint16_t* words) {
  std::int64_t x = 0;
  for (; x + kLanes8 <= columns; x += kLanes8) pack_vector<kZeroIsSite>(rows, x, words);
  if (x < columns) pack_tail<kZeroIsSite>(rows, x, columns - x, words);
}

/// Rows of any type and rule, through masks of a few columns at a time.
void pack_masked_row(const Frame& frame, const std::byte* data, int count, std::int64_t columns, std::uint16_t* words) {
  constexpr std::int64_t kChunk = 1024, kStride = kChunk + 64;
  alignas(64) std::uint8_t mask[kBlock * kStride];
  const auto element = static_cast<std::int64_t>(size_of(frame.dtype));
  for (std::int64_t x = 0; x < columns; x += kChunk) {
    const std::int64_t width = std::min(kChunk, columns - x);
    for (int r = 0; r < count; ++r)
      site_mask(data + r * frame.slow_stride + x * element, frame.dtype, width, frame.sites, mask + r * kStride);
    pack_row<false>({mask, kStride, count}, width, words + x);
  }
}

bool is_byte(DType dtype) { return size_of(dtype) == 1; }

}  // namespace

void pack_block(const Frame& frame, const Bits& bits, std::int64_t block) {
  const int count = static_cast<int>(std::min<std::int64_t>(kBlock, frame.box.slow - block * kBlock));
  const std::byte* data = frame.input + block * kBlock * frame.slow_stride;
  std::uint16_t* words = bits.words + block * bits.pitch;

  // Rows of the plane that follow one another in memory are one long row.
  const auto element = static_cast<std::int64_t>(size_of(frame.dtype));
  const bool dense = frame.box.middle == 1 || frame.middle_stride == frame.box.fast * element;
  const std::int64_t rows = dense ? 1 : frame.box.middle;
  const std::int64_t columns = dense ? frame.box.plane() : frame.box.fast;

  const Sites::Rule rule = frame.sites.rule;
  const bool direct = is_byte(frame.dtype) && (rule == Sites::Rule::zero || rule == Sites::Rule::nonzero);
  for (std::int64_t y = 0; y < rows; ++y, data += frame.middle_stride, words += columns) {
    const ByteRows bytes{reinterpret_cast<const std::uint8_t*>(data), frame.slow_stride, count};
    if (!direct) pack_masked_row(frame, data, count, columns, words);
    else if (rule == Sites::Rule::zero) pack_row<true>(bytes, columns, words);
    else pack_row<false>(bytes, columns, words);
  }
  // Tails were written over the beginning of the next row, which came later; the last one needs its end cleared.
  std::uint16_t* end = bits.words + block * bits.pitch + frame.box.plane();
  std::fill(end, bits.words + (block + 1) * bits.pitch, std::uint16_t{0});
}

void scan_down(const Frame& frame, const Bits& bits, std::int64_t begin, std::int64_t end) {
  const D16 d;
  for (std::int64_t x = begin; x < end; x += kLanes16) hn::Store(hn::Set(d, kNoSite16), d, bits.above + x);
  for (std::int64_t block = 0; block + 1 < frame.blocks(); ++block) {
    const std::uint16_t* words = bits.words + block * bits.pitch;
    std::uint16_t* above = bits.above + block * bits.pitch;
    for (std::int64_t x = begin; x < end; x += kLanes16)
      hn::Store(carry_down(hn::Load(d, above + x), hn::Load(d, words + x)), d, above + bits.pitch + x);
  }
}

void scan_up(const Frame& frame, const Bits& bits, const Job* jobs, std::int64_t job_count, std::int64_t begin,
             std::int64_t end) {
  const D16 d;
  std::int64_t block = frame.blocks();
  for (std::int64_t job = job_count - 1; job >= 0; --job) {
    std::uint16_t* below = bits.below + job * bits.pitch;
    const std::uint16_t* next = below + bits.pitch;
    if (job == job_count - 1) std::fill(below + begin, below + end, kNoSite16);
    else std::copy(next + begin, next + end, below + begin);
    while (block > jobs[job].end) {
      const std::uint16_t* words = bits.words + --block * bits.pitch;
      for (std::int64_t x = begin; x < end; x += kLanes16)
        hn::Store(carry_up(hn::Load(d, below + x), hn::Load(d, words + x)), d, below + x);
    }
  }
}

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::grid::cpu::plain {

void pack_block(const Frame& frame, InstructionSet set, const Bits& bits, std::int64_t block) {
  FATHOM_COMPILED_FOR(set, pack_block)(frame, bits, block);
}
void scan_down(const Frame& frame, InstructionSet set, const Bits& bits, std::int64_t begin, std::int64_t end) {
  FATHOM_COMPILED_FOR(set, scan_down)(frame, bits, begin, end);
}
void scan_up(const Frame& frame, InstructionSet set, const Bits& bits, const Job* jobs, std::int64_t job_count,
             std::int64_t begin, std::int64_t end) {
  FATHOM_COMPILED_FOR(set, scan_up)(frame, bits, jobs, job_count, begin, end);
}

}  // namespace fathom::grid::cpu::plain
#endif
