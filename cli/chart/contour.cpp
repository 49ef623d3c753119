#include "chart/contour.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <unordered_map>

namespace fathom::cli {

namespace {

/// A side of a square between two samples, which a line crosses at most once; shared by two squares.
using Edge = std::int64_t;
constexpr Edge kNone = -1;

/// The crossings next to a crossing: one per square at its sides.
struct Links {
  Edge first = kNone;
  Edge second = kNone;

  void add(Edge other) { (first == kNone ? first : second) = other; }
};

class MarchingSquares {
 public:
  MarchingSquares(const std::vector<float>& values, int width, int height, double level)
      : values_(values), width_(width), level_(level) {
    for (int y = 0; y + 1 < height; ++y)
      for (int x = 0; x + 1 < width; ++x) cross(x, y);
  }

  std::vector<Polyline> lines() {
    std::vector<Polyline> result;
    // Ends first: what is left then are loops.
    for (const bool ends_only : {true, false})
      for (const Edge start : order_)
        if (const auto found = links_.find(start);
            found != links_.end() && (!ends_only || found->second.second == kNone))
          result.push_back(follow(start));
    return result;
  }

 private:
  double sample(int x, int y) const {
    return static_cast<double>(values_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                                       static_cast<std::size_t>(x)]);
  }
  bool above(int x, int y) const { return sample(x, y) >= level_; }

  // Even: from sample (x, y) to the right; odd: down.
  Edge edge(int x, int y, bool down) const { return 2 * (std::int64_t{y} * width_ + x) + (down ? 1 : 0); }

  Point point(Edge edge) const {
    const auto x = static_cast<int>(edge / 2 % width_);
    const auto y = static_cast<int>(edge / 2 / width_);
    const bool down = edge % 2 == 1;
    const double from = sample(x, y);
    const double to = down ? sample(x, y + 1) : sample(x + 1, y);
    const double t = (level_ - from) / (to - from);
    return {x + (down ? 0.0 : t), y + (down ? t : 0.0)};
  }

  void link(Edge a, Edge b) {
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
      const auto [place, is_new] = links_.try_emplace(from);
      if (is_new) order_.push_back(from);
      place->second.add(to);
    }
  }

  /// The lines through the square with the upper left corner (x, y).
  void cross(int x, int y) {
    const double mean = (sample(x, y) + sample(x + 1, y) + sample(x, y + 1) + sample(x + 1, y + 1)) / 4;
    if (std::isnan(mean)) return;
    const Edge top = edge(x, y, false);
    const Edge bottom = edge(x, y + 1, false);
    const Edge left = edge(x, y, true);
    const Edge right = edge(x + 1, y, true);
    std::array<Edge, 4> crossed;
    int count = 0;
    const bool nw = above(x, y);
    const bool ne = above(x + 1, y);
    const bool sw = above(x, y + 1);
    const bool se = above(x + 1, y + 1);
    if (nw != ne) crossed[static_cast<std::size_t>(count++)] = top;
    if (nw != sw) crossed[static_cast<std::size_t>(count++)] = left;
    if (sw != se) crossed[static_cast<std::size_t>(count++)] = bottom;
    if (ne != se) crossed[static_cast<std::size_t>(count++)] = right;
    if (count == 2) return link(crossed[0], crossed[1]);
    if (count != 4) return;
    // A saddle: the centre says which corners belong together.
    if ((mean >= level_) == nw) {
      link(top, right);
      link(left, bottom);
    } else {
      link(top, left);
      link(bottom, right);
    }
  }

  Polyline follow(Edge start) {
    Polyline line;
    Edge at = start;
    Edge from = kNone;
    while (true) {
      const auto found = links_.find(at);
      if (found == links_.end()) break;
      line.push_back(point(at));
      const Links links = found->second;
      links_.erase(found);
      const Edge next = links.first == from ? links.second : links.first;
      if (next == kNone) return line;
      from = at;
      at = next;
    }
    line.push_back(point(at));  // back at the start
    return line;
  }

  const std::vector<float>& values_;
  const int width_;
  const double level_;
  std::unordered_map<Edge, Links> links_;
  std::vector<Edge> order_;  // of the map's keys, so that results do not depend on hashing
};

}  // namespace

std::vector<Polyline> isolines(const std::vector<float>& values, int width, int height, double level) {
  return MarchingSquares(values, width, height, level).lines();
}

}  // namespace fathom::cli
