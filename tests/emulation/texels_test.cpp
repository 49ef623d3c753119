// What devices do with the texels of a texture once their nearest sites are known, on the emulated device: the CPU's bytes.
// The set of sites answers on the CPU here.
#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "apps/cuda/texels.h"
#include "apps/outline.h"
#include "cases.h"
#include "fathom/apps/sdf.h"
#include "fathom/points/site_set.h"

namespace fathom::test {
namespace {

TEST(EmulatedTexels, AreTheCpus) {
  using namespace apps;
  for (int k = 0; k < 40; ++k) {
    Random random(static_cast<std::uint64_t>(k));
    SCOPED_TRACE(k);
    const std::int64_t height = 2 + below(random, 30), width = 2 + below(random, 30), scale = 1 + below(random, 2);
    Array image(DType::float32, {height, width});
    for (std::int64_t i = 0; i < image.size(); ++i)
      store(image, i, chance(random, 0.6) ? 0 : chance(random, 0.5) ? 1 : static_cast<double>(below(random, 9)) / 8);
    const DType type = pick(random, std::vector{DType::uint8, DType::uint16, DType::float32, DType::float64});
    const Shape shape{scale * height, scale * width};
    Array expected(type, shape), found(type, shape);
    SdfOptions options;
    options.range = 5;
    sdf(std::as_const(image).view(), options, expected.view());

    const Coverage coverage(std::as_const(image).view());
    const auto segments = coverage.outline();
    std::vector<double> sites;
    for (const Segment& s : segments)
      sites.insert(sites.end(), {s.y0, s.x0, (s.y0 + s.y1) / 2, (s.x0 + s.x1) / 2, s.y1, s.x1});
    const points::SiteSet set(HostView<const double>(sites.data(), {static_cast<std::int64_t>(sites.size()) / 2, 2}));
    const Texels texels{coverage.shares(), segments.data(), static_cast<double>(scale), options.range};
    const Placing placing{static_cast<double>(scale), 0, 0};
    const std::int64_t first = below(random, 20), all = element_count(shape);
    for (const cuda::TexelRange& range : {cuda::TexelRange{0, std::min(first, all), shape[1]},
                                          cuda::TexelRange{std::min(first, all), all - std::min(first, all), shape[1]}}) {
      if (range.count == 0) continue;
      std::vector<double> places(static_cast<std::size_t>(2 * range.count));
      std::vector<std::int64_t> nearest(static_cast<std::size_t>(kNearestSites * range.count));
      cuda::place_texels(range, placing, places.data(), nullptr);
      points::QueryOptions query;
      query.k = kNearestSites;
      points::QueryOutputs outputs;
      outputs.site = HostView<std::int64_t>(nearest.data(), {range.count, kNearestSites});
      set.nearest(HostView<const double>(places.data(), {range.count, 2}), query, outputs);
      cuda::write_texels(range, texels, places.data(), nearest.data(), {found.data(), type, shape}, nullptr);
    }
    ASSERT_EQ(std::memcmp(expected.data(), found.data(), expected.bytes()), 0);
  }
}

}  // namespace
}  // namespace fathom::test
