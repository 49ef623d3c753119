// Nodes that place copies of their children: repeated, on a lattice, or anywhere.
#include <algorithm>
#include <bit>
#include <compare>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fathom/core/error.h"
#include "stream/blend.h"
#include "stream/operation.h"
#include "stream/period.h"
#include "stream/pixels.h"
#include "stream/reduce.h"

namespace fathom::stream {

namespace {

Extent extent_like(const Node& child, std::int64_t height, std::int64_t width) {
  return {height, width, child.dtype(), child.pixel()};
}

/// (y mod h, x mod w): whole copies are fetched to where they belong.
class Repeat final : public Reduction<Repeat> {
 public:
  static constexpr auto kRoles = roles::kRepeat;

  Repeat(NodeRef pattern, std::int64_t height, std::int64_t width)
      : Reduction("repeat", extent_like(*pattern, height, width), {{pattern, Role::pattern}}) {}
  std::string_view type() const override { return "repeat"; }
  void describe(Description& to) const override {
    to.whole("height", height());
    to.whole("width", width());
  }
  Rectangle need(std::size_t, const Rectangle& part) const override {
    const Node& pattern = *children()[0].node;
    const std::int64_t y = modulo(part.y0, pattern.height()), x = modulo(part.x0, pattern.width());
    const bool wraps_y = y + part.height() > pattern.height(), wraps_x = x + part.width() > pattern.width();
    return {wraps_y ? 0 : y, wraps_x ? 0 : x, wraps_y ? pattern.height() : y + part.height(),
            wraps_x ? pattern.width() : x + part.width()};
  }
  Size largest_need(std::size_t, Size part) const override {
    const Node& pattern = *children()[0].node;
    return {std::min(part.height, pattern.height()), std::min(part.width, pattern.width())};
  }
  bool needs_again(std::size_t) const override { return true; }
  double bound() const override { return children()[0].node->bound(); }
  std::optional<Period> period() const override {
    const Node& pattern = *children()[0].node;
    return Period{pattern.height(), pattern.width(), 0, whole()};
  }
  std::shared_ptr<const Operation> operation() const override {
    return make_operation(operation::Look{.repeats = true});
  }

  struct Work {};
  Work begin(const Step&) const { return {}; }
  void reduce(As<Role::pattern>, std::size_t child, Work&, const Step& step) const {
    const Node& pattern = *children()[child].node;
    for (std::int64_t y = step.part.y0; y < step.part.y1;) {
      const std::int64_t in_y = modulo(y, pattern.height()),
                         height = std::min(pattern.height() - in_y, step.part.y1 - y);
      for (std::int64_t x = step.part.x0; x < step.part.x1;) {
        const std::int64_t in_x = modulo(x, pattern.width()),
                           width = std::min(pattern.width() - in_x, step.part.x1 - x);
        fetch_all(step.children, pattern, {in_y, in_x, in_y + height, in_x + width},
                  part_of(step.out, y - step.part.y0, x - step.part.x0, {height, width}));
        x += width;
      }
      y += height;
    }
  }
  std::optional<double> end(Work&, const Step&) const { return std::nullopt; }
};

class Lattice final : public Reduction<Lattice> {
 public:
  static constexpr auto kRoles = roles::kLattice;

  Lattice(const NodeRef& pattern, const LatticeOptions& options)
      : Reduction("lattice", extent_like(*pattern, options.height, options.width), children_of(pattern, options)),
        options_(options),
        period_(period_of(options.u, options.v)) {
    options_.blending = stated(options.blending, options.mask ? std::nullopt : std::optional(0.0));
    check_blending(options_.blending, dtype());
    options_.mask = options_.weight = nullptr;  // they are children now
    period_.region = whole();
    constexpr double kMostRows = 1 << 24, kMostCopies = 1 << 20;  // that are looked at for a part
    const double rows = static_cast<double>(pattern->height()) / static_cast<double>(period_.height),
                 copies = rows * static_cast<double>(pattern->width()) / static_cast<double>(period_.width);
    if (rows > kMostRows || copies > kMostCopies)
      throw InvalidArgument("the copies of 'lattice' lie too close for a pattern of " +
                            to_string(pattern->whole().shape()) +
                            " pixels: more than 2²⁰ would cover one pixel, or more than 2²⁴ begin in different rows");
  }
  std::string_view type() const override { return "lattice"; }
  void describe(Description& to) const override {
    to.wholes("u", {options_.u[0], options_.u[1]});
    to.wholes("v", {options_.v[0], options_.v[1]});
    to.whole("height", height());
    to.whole("width", width());
    stream::describe(options_.blending, to);
  }
  Rectangle need(std::size_t child, const Rectangle&) const override { return children()[child].node->whole(); }
  Size largest_need(std::size_t, Size part) const override {
    const Node& pattern = *children()[0].node;
    return {std::min(part.height, pattern.height()), std::min(part.width, pattern.width())};
  }
  std::size_t scratch_bytes(Size part) const override { return aligned(blend_bytes(options_.blending, part)); }
  bool needs_again(std::size_t) const override { return true; }
  std::optional<Period> period() const override { return period_; }
  std::shared_ptr<const Operation> operation() const override {
    return make_operation(operation::Copies{options_.blending, [this](const Rectangle& part) {
                                              std::vector<Placement> copies;
                                              for (const Corner& copy : corners_into(part))
                                                copies.push_back({copy.y, copy.x, 0});
                                              return copies;
                                            }});
  }
  double bound() const override {
    return options_.blending.blend == Blend::sum ? Node::bound()
                                                 : std::max(children()[0].node->bound(), options_.blending.background);
  }

  struct Work {
    Blender blender;
    const Node* mask = nullptr;
    const Node* weight = nullptr;
  };
  Work begin(const Step& step) const {
    return {Blender(options_.blending, step.part, step.out,
                    step.children.scratch(blend_bytes(options_.blending, size_of(step.part))))};
  }
  void reduce(As<Role::mask>, std::size_t child, Work& work, const Step&) const {
    work.mask = children()[child].node.get();
  }
  void reduce(As<Role::weight>, std::size_t child, Work& work, const Step&) const {
    work.weight = children()[child].node.get();
  }
  void reduce(As<Role::pattern>, std::size_t child, Work& work, const Step& step) const {
    const Node& pattern = *children()[child].node;
    for (const Corner& copy : corners_into(step.part)) add(work, pattern, copy.y, copy.x, step);
  }
  std::optional<double> end(Work& work, const Step&) const {
    work.blender.end();
    return std::nullopt;
  }

 private:
  static std::vector<Child> children_of(const NodeRef& pattern, const LatticeOptions& options) {
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    const auto& [u, v] = std::tie(options.u, options.v);
    for (const std::int64_t step : {u[0], u[1], v[0], v[1]})
      if (is_beyond(step, kMost)) throw InvalidArgument("a step of 'lattice' is beyond 2³⁰ pixels");
    if (u[0] * v[1] == u[1] * v[0])
      throw InvalidArgument("u and v of 'lattice' are parallel, or 0: they must span the plane");
    std::vector<Child> children{{pattern, Role::pattern}};
    for (const auto& [node, role] : {std::pair{options.mask, Role::mask}, std::pair{options.weight, Role::weight}}) {
      if (!node) continue;
      if (node->height() != pattern->height() || node->width() != pattern->width())
        throw InvalidArgument("the " + std::string(name_of(role)) + " of 'lattice' is " +
                              to_string(node->whole().shape()) + ", its pattern " +
                              to_string(pattern->whole().shape()) + "; they must be of one size");
      children.push_back({node, role});
    }
    if (options.weight && options.blending.blend != Blend::mean)
      throw InvalidArgument("'lattice' has a weight, but its blend is not mean");
    return children;
  }

  /// Of the copy i·u + j·v.
  struct Corner {
    std::int64_t j, i, y, x;
  };
  /// Of copies that reach into a part: above and left of its end, and less than the pattern's size before its begin.
  std::vector<Corner> corners_into(const Rectangle& part) const {
    const Node& pattern = *children()[0].node;
    return corners_between(part.y0 - pattern.height(), part.x0 - pattern.width(), part.y1, part.x1);
  }
  /// Those with y0 < y < y1, x0 < x < x1, in the order of the blending. Found by the rows of the lattice's Hermite
  /// normal form: the steps themselves may be far longer than what lies between.
  std::vector<Corner> corners_between(std::int64_t y0, std::int64_t x0, std::int64_t y1, std::int64_t x1) const {
    __extension__ using Wide = __int128;
    const auto& [u, v] = std::tie(options_.u, options_.v);
    const Wide det = Wide{u[0]} * v[1] - Wide{u[1]} * v[0];
    std::vector<Corner> corners;
    for (std::int64_t row = floor_divide(y0, period_.height) + 1; row * period_.height < y1; ++row) {
      const std::int64_t y = row * period_.height,
                         first = static_cast<std::int64_t>(Wide{row} * period_.skew % period_.width);
      for (std::int64_t x = first + (floor_divide(x0 - first, period_.width) + 1) * period_.width; x < x1;
           x += period_.width)
        corners.push_back({static_cast<std::int64_t>((Wide{u[0]} * x - Wide{u[1]} * y) / det),
                           static_cast<std::int64_t>((Wide{v[1]} * y - Wide{v[0]} * x) / det), y, x});
    }
    std::sort(corners.begin(), corners.end(),
              [](const Corner& a, const Corner& b) { return std::tie(a.j, a.i) < std::tie(b.j, b.i); });
    return corners;
  }

  void add(const Work& work, const Node& pattern, std::int64_t y, std::int64_t x, const Step& step) const {
    const Rectangle where = intersection(pattern.whole().moved(y, x), step.part), part = where.moved(-y, -x);
    if (where.empty()) return;
    const Children::Mark mark(step.children);
    const auto pixels_of = [&](const Node* node) {
      return node ? std::optional(step.children.fetch(*node, part)) : std::nullopt;
    };
    work.blender.add({where, step.children.fetch(pattern, part), pixels_of(work.mask), pixels_of(work.weight)});
  }

  LatticeOptions options_;
  Period period_;
};

/// Copies anywhere, found by the part of the plane that they lie in.
class Place final : public Reduction<Place> {
 public:
  static constexpr auto kRoles = roles::kPlace;

  Place(const std::vector<NodeRef>& nodes, std::vector<Placement> placements, std::int64_t height, std::int64_t width,
        const Blending& blending)
      : Reduction("place", extent_like(*nodes.at(0), height, width), children_of(nodes)),
        placements_(std::move(placements)),
        blending_(stated(blending, std::nullopt)) {
    check_blending(blending_, dtype());
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    for (const Placement& placement : placements_) {
      if (placement.child < 0 || placement.child >= static_cast<std::int64_t>(nodes.size()))
        throw InvalidArgument("a placement is of child " + std::to_string(placement.child) + "; there are " +
                              std::to_string(nodes.size()) + ", counted from 0");
      if (is_beyond(placement.y, kMost) || is_beyond(placement.x, kMost))
        throw InvalidArgument("a placement lies beyond 2⁴⁰ pixels");
    }
    bound_ = blending.blend == Blend::sum ? Node::bound() : blending.background;
    for (const NodeRef& node : nodes) bound_ = std::max(bound_, node->bound());
    make_index();
  }
  std::string_view type() const override { return "place"; }
  double bound() const override { return bound_; }
  void describe(Description& to) const override {
    std::vector<std::int64_t> table;
    for (const Placement& placement : placements_)
      table.insert(table.end(), {placement.y, placement.x, placement.child});
    to.wholes("placements", table);
    to.whole("height", height());
    to.whole("width", width());
    stream::describe(blending_, to);
  }
  Rectangle need(std::size_t child, const Rectangle&) const override { return children()[child].node->whole(); }
  Size largest_need(std::size_t child, Size part) const override {
    const Node& node = *children()[child].node;
    return {std::min(part.height, node.height()), std::min(part.width, node.width())};
  }
  bool holds_all() const override { return false; }
  std::size_t scratch_bytes(Size part) const override { return aligned(blend_bytes(blending_, part)); }
  bool needs_again(std::size_t) const override { return placements_.size() > children().size(); }
  /// Of what is placed once and covers all.
  std::optional<Period> period() const override {
    if (placements_.size() != 1 || blending_.transparent) return std::nullopt;
    const Placement& only = placements_[0];
    return within(moved(children()[static_cast<std::size_t>(only.child)].node->period(), only.y, only.x), whole());
  }
  std::shared_ptr<const Operation> operation() const override {
    return make_operation(operation::Copies{blending_, [this](const Rectangle& part) {
                                              std::vector<Placement> copies;
                                              for (const std::size_t number : placed_in(part))
                                                copies.push_back(placements_[number]);
                                              return copies;
                                            }});
  }

  struct Work {};
  Work begin(const Step&) const { return {}; }
  void reduce(As<Role::data>, std::size_t, Work&, const Step&) const {}
  std::optional<double> end(Work&, const Step& step) const {
    const std::vector<std::size_t> found = placed_in(step.part);
    if (found.empty()) return blending_.background;
    const Blender blender(blending_, step.part, step.out,
                          step.children.scratch(blend_bytes(blending_, size_of(step.part))));
    for (const std::size_t number : found) {
      const auto& [y, x, child] = placements_[number];
      const Node& node = *children()[static_cast<std::size_t>(child)].node;
      const Rectangle where = intersection(node.whole().moved(y, x), step.part);
      const Children::Mark mark(step.children);
      blender.add({where, step.children.fetch(node, where.moved(-y, -x)), {}, {}});
    }
    blender.end();
    return std::nullopt;
  }

 private:
  static std::vector<Child> children_of(const std::vector<NodeRef>& nodes) {
    std::vector<Child> children;
    for (const NodeRef& node : nodes) {
      if (node->dtype() != nodes[0]->dtype())
        throw InvalidArgument("'place' takes children of one type; there are " +
                              std::string(name_of(nodes[0]->dtype())) + " and " + std::string(name_of(node->dtype())));
      children.push_back({node, Role::data});
    }
    return children;
  }

  /// Of copies of about one size, and of at least it: what reaches into a bucket begins in it or in one before.
  struct Bucket {
    std::int64_t height, width, row, column;
    friend auto operator<=>(const Bucket&, const Bucket&) = default;
  };
  Bucket bucket_of(std::size_t number) const {
    const auto& [y, x, child] = placements_[number];
    const Node& node = *children()[static_cast<std::size_t>(child)].node;
    const auto side = [](std::int64_t size) {
      constexpr std::uint64_t kLeast = 64;
      return static_cast<std::int64_t>(std::max(kLeast, std::bit_ceil(static_cast<std::uint64_t>(size))));
    };
    const Size size{side(node.height()), side(node.width())};
    return {size.height, size.width, floor_divide(y, size.height), floor_divide(x, size.width)};
  }
  void make_index() {
    order_.resize(placements_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return bucket_of(a) < bucket_of(b); });
    for (const std::size_t number : order_) {
      const Bucket bucket = bucket_of(number);
      const Size size{bucket.height, bucket.width};
      if (sizes_.empty() || !(sizes_.back() == size)) sizes_.push_back(size);
    }
  }

  /// Numbers of the placements that reach into a part, ascending.
  std::vector<std::size_t> placed_in(const Rectangle& part) const {
    std::vector<std::size_t> found;
    for (const auto& [height, width] : sizes_) {
      const std::int64_t last_row = floor_divide(part.y1 - 1, height), first_column = floor_divide(part.x0, width) - 1,
                         last_column = floor_divide(part.x1 - 1, width);
      for (std::int64_t row = floor_divide(part.y0, height) - 1; row <= last_row; ++row) {
        const Bucket first{height, width, row, first_column}, last{height, width, row, last_column};
        for (auto at =
                 std::lower_bound(order_.begin(), order_.end(), first,
                                  [&](std::size_t number, const Bucket&bucket) { return bucket_of(number) < bucket; });
             at != order_.end() && bucket_of(*at) <= last; ++at) {
          const auto& [y, x, child] = placements_[*at];
          const Node& node = *children()[static_cast<std::size_t>(child)].node;
          if (!intersection(node.whole().moved(y, x), part).empty()) found.push_back(*at);
        }
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  std::vector<Placement> placements_;
  Blending blending_;
  double bound_ = 0;
  std::vector<std::size_t> order_;  ///< placements by their bucket
  std::vector<Size> sizes_;         ///< of the buckets
};

}  // namespace

NodeRef repeat(NodeRef pattern, std::int64_t height, std::int64_t width) {
  if (!pattern) throw InvalidArgument("'repeat' has no child");
  return std::make_shared<Repeat>(std::move(pattern), height, width);
}

NodeRef lattice(NodeRef pattern, const LatticeOptions& options) {
  if (!pattern) throw InvalidArgument("'lattice' has no child");
  return std::make_shared<Lattice>(pattern, options);
}

NodeRef place(std::vector<NodeRef> nodes, std::vector<Placement> placements, std::int64_t height, std::int64_t width,
              const Blending& blending) {
  if (nodes.empty() || std::any_of(nodes.begin(), nodes.end(), [](const NodeRef& node) { return !node; }))
    throw InvalidArgument("'place' has no child, or one is missing");
  return std::make_shared<Place>(nodes, std::move(placements), height, width, blending);
}

}  // namespace fathom::stream
