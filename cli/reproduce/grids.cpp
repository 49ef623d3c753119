#include "reproduce/grids.h"

#include "fathom/core/error.h"
#include "fathom/grid/distance.h"

namespace fathom::cli {

namespace {

/// SplitMix64 (Steele, Lea & Flood 2014) of a number, as a double in [0, 1).
double random_of(std::int64_t index) {
  std::uint64_t z = (static_cast<std::uint64_t>(index) + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

}  // namespace

Array make_mask(const Shape& shape, const std::function<bool(double random, std::int64_t index)>& is_site) {
  Array mask(DType::uint8, shape);
  auto* const elements = mask.as<std::uint8_t>().data();
  for (std::int64_t k = 0; k < mask.size(); ++k) elements[k] = is_site(random_of(k), k) ? 0 : 1;
  return mask;
}

Array random_mask(const Shape& shape, double density) {
  return make_mask(shape, [=](double random, std::int64_t) { return random < density; });
}

Array uniform_mask(std::int64_t n) {
  return make_mask(square(n), [=](double, std::int64_t index) { return (3 * (index / n) + index % n) % 10 == 0; });
}

Exact exact_of(const Machine& machine, const Array& mask) {
  Exact exact{Array(DType::float32, mask.shape()), 0, 0};
  grid::DistanceOptions options;
  options.execution.backend = Backend::cpu;
  const auto on_host = [&] { grid::distance_transform(mask.view(), options, {exact.distances.view(), {}, {}, {}}); };
  exact.copy = copy_seconds(machine, exact.distances.bytes());
  if (!machine.device) {
    exact.seconds = median_seconds(on_host);
    return exact;
  }
  on_host();
  options.execution = {};
  const DeviceArray there(mask.view()), distances(DType::float32, mask.shape());
  exact.seconds = median_device_seconds([&](Stream stream) {
    grid::distance_transform(AnyConstDeviceView(there.view()), options, {distances.view(), {}, {}, {}}, stream);
  });
  check_equal(distances.to_host().view(), exact.distances.view(), "Fathom on the device");
  return exact;
}

Published published_of(const Array& mask, const Exact& exact, const published::DistanceOptions& options,
                       const std::string& name) {
  Array distances(DType::float32, mask.shape());
  Published found;
  found.report = median_report([&] {
    return published::distance_transform(mask.view(), options, {distances.view(), {}});
  });
  found.seconds = sum_of(found.report.phases);
  if (found.report.exact) {
    check_equal(distances.view(), exact.distances.view(), name);
    return found;
  }
  const float *is = distances.as<float>().data(), *should = exact.distances.as<float>().data();
  for (std::int64_t k = 0; k < distances.size(); ++k) {
    if (is[k] < should[k]) throw InternalError(name + " gives a distance that is too small; nothing of it was timed");
    found.wrong += is[k] > should[k] ? 1 : 0;
    found.largest = std::max(found.largest, static_cast<double>(is[k] - should[k]));
  }
  found.wrong /= static_cast<double>(std::max<std::int64_t>(distances.size(), 1));
  return found;
}

}  // namespace fathom::cli
