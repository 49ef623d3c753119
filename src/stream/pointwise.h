// Nodes whose pixels follow from the pixels of their children at the same place.
#pragma once

#include <string>

#include "stream/period.h"
#include "stream/pixels.h"
#include "stream/reduce.h"

namespace fathom::stream {

/// The extent is the first child's; outside of the others their pixels are 0.
template <class N>
class Pointwise : public Reduction<N> {
 public:
  Rectangle need(std::size_t k, const Rectangle& part) const override {
    const Child& child = this->children()[k];
    return intersection(part.moved(-child.y, -child.x), child.node->whole());
  }
  Size largest_need(std::size_t k, Size part) const override {
    const Node& node = *this->children()[k].node;
    return {std::min(part.height, node.height()), std::min(part.width, node.width())};
  }
  std::optional<Period> period() const override { return period_; }

 protected:
  using Step = typename Reduction<N>::Step;

  Pointwise(std::string_view type, DType dtype, const std::vector<Child>& children)
      : Reduction<N>(type, extent_of(type, dtype, children), children), period_(uniform(this->whole())) {
    for (const Child& child : children) period_ = common(period_, moved(child.node->period(), child.y, child.x));
  }

  /// Pixels of a child in the part's shape.
  Pixels fetch(std::size_t k, const Step& step) const {
    const Child& child = this->children()[k];
    const Rectangle part = need(k, step.part), there = part.moved(child.y, child.x);
    if (there == step.part) return step.children.fetch(*child.node, part);
    if (part.empty()) return {0.0, {}};
    const AnyView view(step.children.scratch(bytes_of(size_of(step.part), child.node->dtype())), child.node->dtype(),
                       step.part.shape());
    fill(view, 0);
    fetch_all(step.children, *child.node, part,
              part_of(view, there.y0 - step.part.y0, there.x0 - step.part.x0, size_of(part)));
    return {std::nullopt, view};
  }
  /// Bytes that fetch() takes where a child does not cover the part.
  std::size_t padding_bytes(Size part) const {
    std::size_t bytes = 0;
    for (const Child& child : this->children())
      if (!(child.node->whole().moved(child.y, child.x).contains(this->whole())))
        bytes += bytes_of(part, child.node->dtype());
    return bytes;
  }

 private:
  static Extent extent_of(std::string_view type, DType dtype, const std::vector<Child>& children) {
    if (children.empty() || !children[0].node) throw InvalidArgument("'" + std::string(type) + "' has no child");
    const Node& first = *children[0].node;
    return {first.height(), first.width(), dtype, first.pixel()};
  }

  std::optional<Period> period_;  ///< kept: by way of all children of all children it would take 2ⁿ steps
};

/// Calls function(in, out) of all pixels: a loop over rows that the compiler turns into vector instructions.
template <class From, class To, class Function>
void map_rows(const AnyConstView& in, const AnyView& out, const Function& function) {
  const Rows<const From> from(in);
  const Rows<To> to(out);
  for (std::int64_t y = 0; y < from.height; ++y) {
    const From* const __restrict pixels = from[y];
    To* const __restrict row = to[y];
    for (std::int64_t x = 0; x < from.width; ++x) function(pixels[x], row[x]);
  }
}

}  // namespace fathom::stream
