// Random tile graphs, for tests.
#pragma once

#include <algorithm>
#include <vector>

#include "cases.h"
#include "fathom/stream/nodes.h"

namespace fathom::test {

/// Graphs by the builders: of uint8 and of bool, with many parents for some nodes.
class Graphs {
 public:
  /// @param largest  height and width of a raster
  explicit Graphs(Random& random, std::int64_t largest = 500) : random_(random), largest_(largest) {}

  stream::NodeRef graph(int depth) {
    std::vector<stream::NodeRef> made{stream::noise(1, {size(), size(), DType::uint8}),
                                      stream::constant(3, {size(), size(), DType::uint8})};
    for (int k = 0; k < depth; ++k) made.push_back(next(pick(made), pick(made), pick(made)));
    return made.back();
  }

 private:
  std::int64_t size() { return 1 + below(random_, largest_); }
  stream::NodeRef pick(const std::vector<stream::NodeRef>& made) {
    const auto last = static_cast<std::int64_t>(made.size()) - 1;
    return made[static_cast<std::size_t>(below(random_, 2) ? last : below(random_, last + 1))];
  }
  stream::NodeRef next(const stream::NodeRef& a, const stream::NodeRef& b, const stream::NodeRef& c) {
    const std::int64_t y = below(random_, 300) - 100, x = below(random_, 300) - 100;
    switch (below(random_, 13)) {
      case 0: return stream::repeat(a, size(), size());
      case 1: return stream::place({a, b, c}, {{y, x, 0}, {-y, x, 1}, {3, 4, 2}}, size(), size(), blending());
      case 2: return stream::rotate(a, static_cast<int>(below(random_, 4)));
      case 3: return stream::math("a + b / 2 + c", {{a}, {b, stream::Role::data, y, x}, {c}}, DType::uint8);
      case 4: return stream::mask(a, {b, stream::Role::mask, y, x}, 7);
      case 5: {
        stream::ProfileOptions profile{"255*exp(-d/9)", {}, {}, DType::uint8};
        return stream::profile(stream::distance(stream::threshold(a, 250), {20, below(random_, 2) == 0}), profile);
      }
      case 6: {
        const stream::NodeRef far = stream::exact_distance(stream::threshold(a, 254), below(random_, 3) == 0);
        return stream::math("a + b", {{far}, {b, stream::Role::data, y, x}}, DType::uint8);
      }
      case 7: {
        stream::LatticeOptions lattice{
            {3 + below(random_, 40), x % 30}, {y % 20, 50}, size(), size(), {}, nullptr, nullptr};
        const std::int64_t side = std::min<std::int64_t>({a->height(), a->width(), 60});
        const Rectangle part{0, 0, side, side};
        lattice.blending = blending();
        if (b->height() >= side && b->width() >= side) {
          const stream::NodeRef beside = stream::crop(b, part);
          if (lattice.blending.blend == stream::Blend::mean) lattice.weight = beside;
          else lattice.mask = beside;
        }
        return stream::lattice(stream::crop(a, part), lattice);
      }
      case 8: return stream::flip(a, below(random_, 2) == 0, true);
      case 9: return stream::crop(a, {a->height() / 3, a->width() / 4, a->height(), a->width()});
      case 10:
        return stream::crop(stream::math("max(a, 255 - b)", {{a}, {b, stream::Role::data, y, x}}, DType::uint8),
                            a->whole());
      case 11: {
        stream::DistanceOptions bounded{3 + static_cast<double>(below(random_, 12))};
        bounded.signed_distance = below(random_, 2) == 0;
        return stream::math("a", {{stream::threshold(stream::distance(a, bounded), 1.5, true)}}, DType::uint8);
      }
      default: return stream::math("a", {{stream::halftone(a)}}, DType::uint8);
    }
  }
  stream::Blending blending() {
    const auto blend = static_cast<stream::Blend>(below(random_, 6));
    return {blend, below(random_, 3) == 0 ? std::nullopt : std::optional(0.0), static_cast<double>(below(random_, 3))};
  }

  Random& random_;
  std::int64_t largest_;
};

}  // namespace fathom::test
