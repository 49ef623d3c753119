#include "stream_stripes.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "fathom/core/dtype.h"

namespace fathom::cli {

namespace {

class Stripes final : public stream::Node {
 public:
  Stripes(const stream::NodeRef& raster, const Rectangle& part, std::int64_t width)
      : Node({part.width() / width * part.height(), width, raster->dtype(), raster->pixel()}, {{raster}}),
        part_(part) {}
  std::string_view type() const override { return "stripes"; }
  void describe(stream::Description& to) const override {
    to.wholes("region", {part_.y0, part_.y1, part_.x0, part_.x1});
    to.whole("stripe", width());
  }
  Rectangle need(std::size_t, const Rectangle& part) const override {
    const std::int64_t first = part.y0 / part_.height(), last = (part.y1 - 1) / part_.height();
    if (first == last) return source_of(part);
    const std::int64_t x = part_.x0 + first * width();
    return {part_.y0, x, part_.y1, x + (last - first + 1) * width()};
  }
  stream::Size largest_need(std::size_t, stream::Size part) const override {
    return {std::min(part.height, part_.height()), part.width};
  }
  std::optional<double> compute(const Rectangle& part, const AnyView& out, stream::Children& children) const override {
    const auto size = static_cast<std::int64_t>(size_of(dtype()));
    for (std::int64_t y = part.y0, end = y; y < part.y1; y = end) {
      end = std::min(part.y1, (y / part_.height() + 1) * part_.height());
      const AnyView to(out.data() + (y - part.y0) * out.strides()[0] * size, dtype(), {end - y, part.width()},
                       out.strides());
      const auto value = children.fetch_into(*this->children()[0].node, source_of({y, part.x0, end, part.x1}), to);
      if (!value) continue;
      visit_dtype(dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (std::int64_t row = 0; row < end - y; ++row)
          std::fill_n(reinterpret_cast<T*>(to.data()) + row * to.strides()[0], part.width(), static_cast<T>(*value));
      });
    }
    return std::nullopt;
  }

 private:
  /// Of rows of one stripe.
  Rectangle source_of(const Rectangle& part) const {
    const std::int64_t stripe = part.y0 / part_.height();
    return part.moved(part_.y0 - stripe * part_.height(), part_.x0 + stripe * width());
  }

  Rectangle part_;
};

}  // namespace

stream::NodeRef stripes_of(const stream::NodeRef& raster, const Rectangle& part, std::int64_t width) {
  return std::make_shared<Stripes>(raster, part, width);
}

}  // namespace fathom::cli
