#include "fathom/stream/node.h"

#include <algorithm>
#include <limits>

#include "core/text.h"
#include "fathom/core/error.h"
#include "stream/pixels.h"
#include "stream/reduce.h"

namespace fathom::stream {

std::string_view name_of(Role role) {
  switch (role) {
    case Role::data: return "data";
    case Role::pattern: return "pattern";
    case Role::mask: return "mask";
    case Role::weight: return "weight";
  }
  throw InternalError("a role without a name");
}

Node::Node(Extent extent, std::vector<Child> children) : extent_(std::move(extent)), children_(std::move(children)) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  if (extent_.height < 1 || extent_.width < 1 || extent_.height > kMost || extent_.width > kMost)
    throw InvalidArgument("a raster of " + to_string(Shape{extent_.height, extent_.width}) +
                          " pixels; height and width must be 1 to 2⁴⁰");
  if (!is_element(extent_.dtype))
    throw InvalidArgument("rasters hold bool, uint8, uint16 or float32, not " + std::string(name_of(extent_.dtype)));
  if (!(extent_.pixel.size > 0) || !(extent_.pixel.size <= 1e100))
    throw InvalidArgument("the size of a pixel is not finite or not above 0");
  for (const Child& child : children_) {
    if (!child.node) throw InvalidArgument("a child is missing");
    if (is_beyond(child.y, kMost) || is_beyond(child.x, kMost))
      throw InvalidArgument("a child is placed beyond 2⁴⁰ pixels");
    depth_ = std::max(depth_, child.node->depth_ + 1);
  }
  constexpr int kDeepest = 1000;
  if (depth_ > kDeepest) throw InvalidArgument("the graph is more than 1000 nodes deep");
}

std::size_t Node::scratch_bytes(Size) const { return 0; }
bool Node::needs_again(std::size_t) const { return false; }
std::int64_t Node::halo() const { return 0; }
Size Node::piece() const { return {}; }
std::size_t Node::kept_bytes() const { return 0; }
double Node::bound() const { return std::numeric_limits<double>::infinity(); }

std::byte* Children::scratch(std::size_t bytes) {
  const std::size_t from = top_, taken = aligned(bytes);
  if (taken > memory_.bytes() - top_) throw InternalError("a node takes more memory than was planned");
  top_ += taken;
  return memory_.data() + from;
}

Pixels Children::fetch(const Node& child, const Rectangle& part) {
  std::byte* const memory = scratch(bytes_of(size_of(part), child.dtype()));
  const AnyView view(memory, child.dtype(), part.shape());
  if (const auto value = fetch_into(child, part, view)) return {value, {}};
  return {std::nullopt, view};
}

void check_roles(std::string_view type, const RoleRule* rules, std::size_t count, const std::vector<Child>& children) {
  const auto number_of = [&](Role role) {
    return std::count_if(children.begin(), children.end(), [&](const Child& child) { return child.role == role; });
  };
  std::string known;
  std::ptrdiff_t fitting = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const RoleRule& rule = rules[k];
    known += (k == 0 ? "" : k + 1 == count ? " and " : ", ") + std::string(name_of(rule.role));
    const auto number = number_of(rule.role);
    fitting += number;
    if (number < rule.least || number > rule.most)
      throw InvalidArgument("'" + std::string(type) + "' takes " +
                            (rule.least == rule.most ? std::to_string(rule.least)
                             : number < rule.least   ? "at least " + std::to_string(rule.least)
                                                     : "at most " + std::to_string(rule.most)) +
                            " of the role " + std::string(name_of(rule.role)) + ", not " + std::to_string(number));
  }
  if (fitting == static_cast<std::ptrdiff_t>(children.size())) return;
  for (const Child& child : children)
    if (std::none_of(rules, rules + count, [&](const RoleRule& rule) { return rule.role == child.role; }))
      throw InvalidArgument("'" + std::string(type) + "' takes no child of the role " +
                            std::string(name_of(child.role)) +
                            (count == 0 ? "; it has no children" : "; the roles that would do: " + known));
}

void check_pixels(std::string_view type, const Node& node) {
  const auto words = [](const PixelSize& pixel) {
    return text(pixel.size) + (pixel.unit.empty() ? " without a unit" : " " + pixel.unit);
  };
  for (const Child& child : node.children())
    if (!(child.node->pixel() == node.pixel()))
      throw InvalidArgument("a child of '" + std::string(type) + "' has pixels of " + words(child.node->pixel()) +
                            ", others have " + words(node.pixel()) + "; bring it to their size by 'resample'");
}

}  // namespace fathom::stream
