// Hilbert order: a key for each point, then a radix sort of (key, index) words by the 30 bits of the key, in 3 passes
// of 10 bits, each thread counting and placing a part. Stable, so that points with one key stay in the caller's order.
// Cost: O(n), 16 bytes per point.
#include "core/curve_order.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/curve_keys.h"

namespace fathom {

namespace {

constexpr std::int64_t kChunk = 1 << 14;
constexpr int kDigitBits = 10;
constexpr int kDigits = 1 << kDigitBits;
constexpr std::int64_t kWorthThreads = 1 << 16;  ///< fewer entries are sorted by one thread

using Entries = std::vector<std::uint64_t>;

std::int64_t chunks_of(std::int64_t count) { return (count + kChunk - 1) / kChunk; }

int digit(std::uint64_t entry, int pass) {
  return static_cast<int>(entry >> (kKeyShift + pass * kDigitBits)) & (kDigits - 1);
}

using Counts = std::array<std::int64_t, kDigits>;

/// From counts of each digit in each part to the place of its first entry.
void add_up(std::vector<Counts>& counts) {
  std::int64_t place = 0;
  for (std::size_t d = 0; d < kDigits; ++d)
    for (Counts& part : counts) place += std::exchange(part[d], place);
}

void radix_pass(const Entries& from, Entries& to, int pass, int threads, Monitor& monitor) {
  const auto count = static_cast<std::int64_t>(from.size());
  const std::int64_t part = (count + threads - 1) / threads;
  std::vector<Counts> places(static_cast<std::size_t>(threads), Counts{});
  const auto each = [&](const auto& body) {
    parallel_jobs(threads, threads, [&](int, std::int64_t job) {
      Counts& mine = places[static_cast<std::size_t>(job)];
      for (std::int64_t i = job * part; i < std::min(count, (job + 1) * part); ++i) {
        if (i % kChunk == 0) monitor.look();
        body(mine[static_cast<std::size_t>(digit(from[static_cast<std::size_t>(i)], pass))],
             from[static_cast<std::size_t>(i)]);
      }
    });
  };
  each([](std::int64_t& place, std::uint64_t) { ++place; });
  add_up(places);
  each([&](std::int64_t& place, std::uint64_t entry) { to[static_cast<std::size_t>(place++)] = entry; });
}

void radix_sort(Entries& entries, int threads, Monitor& monitor) {
  Entries other(entries.size());
  for (int pass = 0; pass < 3; ++pass) {
    radix_pass(entries, other, pass, threads, monitor);
    entries.swap(other);
  }
}

Box box_of(const Cloud& cloud, const std::uint64_t* entries, std::int64_t count) {
  Box box;
  for (int k = 0; k < cloud.axes; ++k) {
    double low = cloud.at(k, index_in(entries[0])), high = low;
    for (std::int64_t i = 1; i < count; ++i) {
      const double x = cloud.at(k, index_in(entries[i]));
      low = std::min(low, x);
      high = std::max(high, x);
    }
    box.low[static_cast<std::size_t>(k)] = low;
    box.high[static_cast<std::size_t>(k)] = high;
  }
  return box;
}

bool is_point(const Box& box) { return box.low == box.high; }

/// Orders runs of equal keys, which the curve could not tell apart, by curves of their own. Each finds a box at least
/// 2¹⁰ times smaller, so that the depth is bounded by the range of the numbers.
void refine(const Cloud& cloud, std::uint64_t* entries, std::int64_t count, std::int64_t longest, Monitor& monitor) {
  monitor.look();
  for (std::int64_t begin = 0; begin < count;) {
    std::int64_t end = begin + 1;
    while (end < count && entries[end] >> kKeyShift == entries[begin] >> kKeyShift) ++end;
    if (end - begin > longest) {
      const Box box = box_of(cloud, entries + begin, end - begin);
      for (std::int64_t first = begin; first < end; first += kChunk) {
        set_curve_keys(cloud, box, entries + first, std::min(kChunk, end - first));
        monitor.look();
      }
      std::int64_t compared = 0;
      std::sort(entries + begin, entries + end, Watched{monitor, compared});
      const bool divided = entries[begin] >> kKeyShift != entries[end - 1] >> kKeyShift;
      if (!is_point(box) && divided) refine(cloud, entries + begin, end - begin, longest, monitor);
    }
    begin = end;
  }
}

/// First entry at or after `begin` whose key is not that of the entry before.
std::int64_t next_key(const Entries& entries, std::int64_t begin) {
  const auto count = static_cast<std::int64_t>(entries.size());
  if (begin == 0 || begin >= count) return std::min(begin, count);
  const std::uint64_t before = entries[static_cast<std::size_t>(begin - 1)] >> kKeyShift;
  while (begin < count && entries[static_cast<std::size_t>(begin)] >> kKeyShift == before) ++begin;
  return begin;
}

void refine_all(const Cloud& cloud, Entries& entries, int threads, Monitor& monitor) {
  constexpr std::int64_t kLongest = 32;  // a leaf: its inner order does not matter
  const auto count = static_cast<std::int64_t>(entries.size());
  // Where runs begin is looked up before any is given new keys.
  std::vector<std::int64_t> begins;
  for (std::int64_t chunk = 0; chunk <= chunks_of(count); ++chunk) begins.push_back(next_key(entries, chunk * kChunk));
  parallel_jobs(threads, chunks_of(count), [&](int, std::int64_t job) {
    const std::int64_t begin = begins[static_cast<std::size_t>(job)], end = begins[static_cast<std::size_t>(job + 1)];
    if (begin < end) refine(cloud, entries.data() + begin, end - begin, kLongest, monitor);
  });
}

}  // namespace

std::vector<std::uint64_t> curve_order(const Cloud& cloud, const Box& box, int threads, Monitor& monitor) {
  Entries entries(static_cast<std::size_t>(cloud.count));
  if (cloud.count == 0) return entries;
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = i;
  if (cloud.count < kWorthThreads) threads = 1;
  parallel_jobs(threads, chunks_of(cloud.count), [&](int, std::int64_t job) {
    const std::int64_t begin = job * kChunk, size = std::min(kChunk, cloud.count - begin);
    set_curve_keys(cloud, box, entries.data() + begin, size);
    monitor.advance(size);
  });
  if (cloud.count < kDigits) std::sort(entries.begin(), entries.end());
  else radix_sort(entries, threads, monitor);
  refine_all(cloud, entries, threads, monitor);
  return entries;
}

}  // namespace fathom
