// Sets of sites on a device, through the call for device arrays: what its tests share. Answers come out of memory that
// the host cannot reach, so that only the device can have computed them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "device_block.h"
#include "fathom/core/device.h"
#include "points/problem.h"
#include "run.h"

namespace fathom::test {

using points::DeviceCoordinates;
using points::SiteSet;
using points::Storage;

class DevicePoints : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
  }
};

/// Points on the device: as rows, as padded rows, as a structure of arrays.
class PointsOnDevice {
 public:
  PointsOnDevice(const Array& points, int layout) : layout_(layout), dtype_(points.dtype()) {
    const std::int64_t n = points.shape()[0];
    axes_ = points.shape()[1];
    pitch_ = layout == 2 ? n : axes_ + layout;
    Array moved(dtype_, layout == 2 ? Shape{axes_, n} : Shape{n, pitch_});
    const std::size_t size = size_of(dtype_);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = 0; k < axes_; ++k)
        std::copy_n(points.data() + static_cast<std::size_t>(i * axes_ + k) * size, size,
                    moved.data() + static_cast<std::size_t>(layout == 2 ? k * n + i : i * pitch_ + k) * size);
    count_ = n;
    block_.emplace(moved);
  }

  DeviceCoordinates coordinates() const {
    if (layout_ < 2) return AnyConstDeviceView(block_->data(), dtype_, {count_, axes_}, {pitch_, 1});
    std::vector<AnyConstDeviceView> columns;
    for (std::int64_t k = 0; k < axes_; ++k)
      columns.emplace_back(block_->data() + static_cast<std::size_t>(k * count_) * size_of(dtype_), dtype_,
                           Shape{count_});
    return DeviceCoordinates(columns);
  }

 private:
  int layout_;
  DType dtype_;
  std::int64_t axes_ = 0, count_ = 0, pitch_ = 0;
  std::optional<Block> block_;
};

/// Answers on the device.
struct AnswersOnDevice {
  AnswersOnDevice(std::int64_t queries, int k, DType dtype)
      : AnswersOnDevice(
            {Array(dtype, {queries, k}), Array(DType::float64, {queries, k}), Array(DType::int64, {queries, k})}) {}
  explicit AnswersOnDevice(PointAnswers answers)
      : host(std::move(answers)),
        distance(host.distance.bytes()),
        squared(host.squared.bytes()),
        site(host.site.bytes()) {}

  points::DeviceQueryOutputs views() const {
    const Shape& shape = host.site.shape();
    return {AnyDeviceView(distance.data(), host.distance.dtype(), shape),
            host.squared.size() > 0 ? AnyDeviceView(squared.data(), DType::float64, shape) : AnyDeviceView(),
            AnyDeviceView(site.data(), DType::int64, shape),
            {}};
  }
  const PointAnswers& download() {
    distance.download(host.distance);
    squared.download(host.squared);
    site.download(host.site);
    return host;
  }

  PointAnswers host;
  Block distance, squared, site;
};

}  // namespace fathom::test
