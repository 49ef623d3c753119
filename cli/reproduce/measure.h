// How studies measure: medians of a few runs, beside what copying the result takes on the same machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "fathom/core/array.h"
#include "fathom/core/device.h"
#include "fathom/published/phase.h"
#include "reproduce/study.h"

namespace fathom::cli {

/// Memory of the current device. All of it throws DeviceError where there is no device, or no memory.
class DeviceArray {
 public:
  DeviceArray(DType dtype, const Shape& shape);
  /// A copy of an array of the host. @param values  dense
  explicit DeviceArray(const AnyConstView& values);
  ~DeviceArray();
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  AnyDeviceView view() const { return {data_, dtype_, shape_}; }
  /// A copy for the host, once all work on the device is done.
  Array to_host() const;

 private:
  std::byte* data_ = nullptr;
  DType dtype_;
  Shape shape_;
};

/// The median of what `seconds` measures, of at most `runs` after a first one that counts if it is the only one; none
/// is begun once `patience` seconds have passed.
double median_of(const std::function<double()>& seconds, int runs, double patience);
/// Seconds of one call.
double median_seconds(const std::function<void()>& work, int runs = 7, double patience = 1);
/// The same of work that is put into a stream of the device.
double median_device_seconds(const std::function<void(Stream)>& work, int runs = 15, double patience = 1);
/// As cudaMemcpyAsync().
void copy_on_device(const AnyDeviceView& to, const AnyDeviceView& from, Stream stream);

/// Calls work with a part of the device's multiprocessors to run in; it waits for what it puts into streams, which it
/// makes itself. @returns how many it had, which the driver rounds up. @throws DeviceError the driver cannot divide them
int on_multiprocessors(int most, const std::function<void()>& work);

/// Seconds of copying so many bytes, read and written: on the device, or by all processors.
double copy_seconds(const Machine& machine, std::size_t bytes);

double sum_of(const std::vector<published::Phase>& phases);
/// Of the phase of that name; 0 without one.
double seconds_of(const std::vector<published::Phase>& phases, const std::string& name);

/// The report of the run with the median time, of at most `runs` calls that give a report with phases.
/// @param patience  seconds after which no more runs are begun
template <class Call>
auto median_report(const Call& call, int runs = 5, double patience = 1) {
  std::vector<decltype(call())> reports;
  double spent = 0;
  do {
    reports.push_back(call());
    spent += sum_of(reports.back().phases);
  } while (static_cast<int>(reports.size()) < runs && spent < patience);
  if (reports.size() > 2) reports.erase(reports.begin());  // which made memory and caches warm
  const auto middle = reports.begin() + static_cast<std::ptrdiff_t>(reports.size() / 2);
  std::nth_element(reports.begin(), middle, reports.end(),
                   [](const auto& a, const auto& b) { return sum_of(a.phases) < sum_of(b.phases); });
  return std::move(*middle);
}

/// @throws InternalError the bytes are not the same; says of what
void check_equal(const AnyConstView& found, const AnyConstView& expected, const std::string& what);

}  // namespace fathom::cli
