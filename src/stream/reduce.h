// How a node class states which roles its children may have, and reduces each of them: a table kRoles, and a function
// reduce() for each role in it. What one of them lacks does not compile.
#pragma once

#include <array>
#include <string>

#include "fathom/core/error.h"
#include "fathom/stream/node.h"

namespace fathom::stream {

struct RoleRule {
  Role role;
  std::int64_t least = 1, most = 1;  ///< children of that role
};

/// What the types of nodes take: for their classes, and for documents.
namespace roles {
inline constexpr std::array<RoleRule, 0> kNone{};
inline constexpr std::array kData{RoleRule{Role::data}};
inline constexpr std::array kRepeat{RoleRule{Role::pattern}};
inline constexpr std::array kLattice{RoleRule{Role::mask, 0}, RoleRule{Role::weight, 0}, RoleRule{Role::pattern}};
inline constexpr std::array kPlace{RoleRule{Role::data, 1, 1 << 20}};
inline constexpr std::array kMask{RoleRule{Role::mask}, RoleRule{Role::data}};
inline constexpr std::array kMath{RoleRule{Role::data, 1, 26}};
inline constexpr std::array kDistance{RoleRule{Role::mask}};
inline constexpr std::array kFunction{RoleRule{Role::data, 0, 1 << 20}};
}  // namespace roles

/// A role as a type.
template <Role R>
struct As {
  static constexpr Role role = R;
};

/// @throws InvalidArgument a role that is not among the rules, too few or too many of one
void check_roles(std::string_view type, const RoleRule* rules, std::size_t count, const std::vector<Child>& children);

/// @throws InvalidArgument a child's pixels are of another size than the node's
void check_pixels(std::string_view type, const Node& node);

/// A node that reduces its children one after the other: role by role in the order of its table, within a role as the
/// children stand. N has
///   static constexpr std::array<RoleRule, n> kRoles;
///   struct Work { … };                                        what one computation keeps
///   Work begin(const Step&) const;
///   void reduce(As<role>, std::size_t child, Work&, const Step&) const;   for each of its roles
///   std::optional<double> end(Work&, const Step&) const;
template <class N, class Base = Node>
class Reduction : public Base {
 public:
  struct Step {
    const Rectangle& part;
    const AnyView& out;
    Children& children;
  };

  std::optional<double> compute(const Rectangle& part, const AnyView& out, Children& from) const final {
    const N& node = static_cast<const N&>(*this);
    const Step step{part, out, from};
    auto work = node.begin(step);
    reduce_from<0>(node, work, step);
    return node.end(work, step);
  }

 protected:
  Reduction(std::string_view type, Extent extent, std::vector<Child> children)
      : Base(std::move(extent), std::move(children)) {
    check_roles(type, N::kRoles.data(), N::kRoles.size(), this->children());
    if (type != "resample") check_pixels(type, *this);
  }

 private:
  template <std::size_t Rule, class Work>
  void reduce_from(const N& node, Work& work, const Step& step) const {
    if constexpr (Rule < N::kRoles.size()) {
      constexpr Role kRole = N::kRoles[Rule].role;
      for (std::size_t child = 0; child < this->children().size(); ++child)
        if (this->children()[child].role == kRole) node.reduce(As<kRole>{}, child, work, step);
      reduce_from<Rule + 1>(node, work, step);
    }
  }
};

}  // namespace fathom::stream
