#include "points/cpu/extent.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "core/parallel.h"
#include "points/check.h"

namespace fathom::points::cpu {

namespace {

constexpr std::int64_t kChunk = 1 << 16;

struct Interval {
  double low = 0;
  double high = 0;
  bool sound = true;
};

template <class T>
Interval interval_of(const Cloud& cloud, int axis, std::int64_t begin, std::int64_t end) {
  T low = cloud.get<T>(axis, begin), high = low;
  bool sound = true;
  for (std::int64_t i = begin; i < end; ++i) {
    const T x = cloud.get<T>(axis, i);
    low = std::min(low, x);
    high = std::max(high, x);
    if constexpr (std::is_floating_point_v<T>) sound &= is_sound(static_cast<double>(x));
  }
  return {static_cast<double>(low), static_cast<double>(high), sound};
}

[[noreturn]] void refuse(const Cloud& cloud, int axis, const char* noun) {
  std::int64_t i = 0;
  while (is_sound(cloud.at(axis, i))) ++i;
  refuse_coordinate(noun, i * cloud.every, cloud.at(axis, i));
}

}  // namespace

Box extent_of(const Cloud& cloud, const char* noun, int threads, Monitor* monitor) {
  Box box;
  if (cloud.count == 0) return box;
  for (int axis = 0; axis < cloud.axes; ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    box.low[k] = box.high[k] = cloud.at(axis, 0);
    bool sound = true;
    std::mutex merging;
    parallel_jobs(threads, (cloud.count + kChunk - 1) / kChunk, [&](int, std::int64_t job) {
      const std::int64_t begin = job * kChunk, end = std::min(begin + kChunk, cloud.count);
      const Interval part = visit_coordinates(
          cloud.dtype, [&](auto tag) { return interval_of<typename decltype(tag)::type>(cloud, axis, begin, end); });
      const std::lock_guard lock(merging);
      box.low[k] = std::min(box.low[k], part.low);
      box.high[k] = std::max(box.high[k], part.high);
      sound &= part.sound;
      if (monitor) monitor->look();
    });
    if (!sound) refuse(cloud, axis, noun);
  }
  return box;
}

}  // namespace fathom::points::cpu
