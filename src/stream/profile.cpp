// z = f(d). Distances between pixels are roots of integers: f is evaluated once for each of the first 65,536, and a
// pixel's value is looked up by its square. What is no such root is evaluated by itself, to the same value.
#include <array>
#include <cmath>
#include <mutex>
#include <string>

#include "fathom/core/error.h"
#include "fathom/stream/nodes.h"
#include "stream/expression.h"
#include "stream/operation.h"
#include "stream/pointwise.h"

namespace fathom::stream {

namespace {

class Profile final : public Pointwise<Profile> {
 public:
  static constexpr std::array kRoles{RoleRule{Role::data}};

  Profile(NodeRef data, const ProfileOptions& options)
      : Pointwise("profile", options.dtype, {{std::move(data), Role::data}}), options_(options) {
    if (options.expression.empty() == options.table.empty())
      throw InvalidArgument("'profile' takes either an expression or a table");
    if (!options.expression.empty()) expression_.emplace(options.expression, std::vector<std::string>{"d"});
    for (const double z : options.table)
      if (!std::isfinite(z)) throw InvalidArgument("the table of 'profile' has an entry that is not finite");
    infinite_ = options.infinite ? *options.infinite : at_infinity();
  }
  std::string_view type() const override { return "profile"; }
  void describe(Description& to) const override {
    if (expression_) to.text("expression", expression_->text());
    else to.numbers("table", options_.table);
    if (options_.infinite) to.number("infinite", *options_.infinite);
    to.text("dtype", name_of(dtype()));
  }
  std::shared_ptr<const Operation> operation() const override {
    return make_operation(operation::Function{
        [this](std::span<const double> d) { return saturated(Evaluation(*this)(d[0]), dtype()); }});
  }

  struct Work {
    std::optional<double> constant;
  };
  Work begin(const Step&) const { return {}; }
  void reduce(As<Role::data>, std::size_t child, Work& work, const Step& step) const {
    const Pixels pixels = fetch(child, step);
    if (pixels.constant) {
      work.constant = saturated(Evaluation(*this)(*pixels.constant), dtype());
      return;
    }
    if (pixels.view.dtype() == DType::float32) std::call_once(once_, [this] { make_roots(); });
    visit_element(pixels.view.dtype(), [&](auto of) {
      visit_element(dtype(),
                    [&](auto to) { map<typename decltype(of)::type, typename decltype(to)::type>(pixels.view, step); });
    });
  }
  std::optional<double> end(Work& work, const Step&) const { return work.constant; }

 private:
  static constexpr std::int64_t kRoots = 1 << 16;

  /// f, for one thread.
  class Evaluation {
   public:
    explicit Evaluation(const Profile& profile) : profile_(profile) {
      if (profile.expression_) use_.emplace(*profile.expression_);
    }
    double operator()(double d) const {
      if (d == INFINITY) return profile_.infinite_;
      if (!use_) return profile_.in_table(d);
      return (*use_)((d == -INFINITY ? -profile_.bound_of_child() : d) + 0.0);  // of -0 that of 0, as among the roots
    }

   private:
    const Profile& profile_;
    std::optional<Expression::Use> use_;
  };

  /// What the expression takes for inf, and its negative for -inf, deep inside of a signed distance.
  double bound_of_child() const { return children()[0].node->bound(); }
  double in_table(double d) const {
    const std::vector<double>& table = options_.table;
    const double last = static_cast<double>(table.size() - 1);
    if (!(d > 0)) return table.front();
    if (d >= last) return table.back();
    const auto k = static_cast<std::size_t>(d);
    const double t = d - static_cast<double>(k);
    return table[k] + t * (table[k + 1] - table[k]);
  }

  double at_infinity() const {
    if (!expression_) return options_.table.back();
    const double z = Expression::Use(*expression_)(bound_of_child());
    if (!std::isfinite(z))
      throw InvalidArgument("'profile' has no value where there is no site within reach: '" + options_.expression +
                            "' is not finite there; give 'infinite'");
    return z;
  }

  /// Not before they are needed: a document may have many such nodes.
  void make_roots() const {
    const Evaluation value_of(*this);
    const double unit = children()[0].node->pixel().size;
    roots_.resize(kRoots);
    for (std::int64_t square = 0; square < kRoots; ++square) {
      Root& root = roots_[static_cast<std::size_t>(square)];
      root.distance = static_cast<float>(std::sqrt(static_cast<double>(square)) * unit);
      root.value = static_cast<float>(saturated(value_of(double{root.distance}), dtype()));
    }
    per_unit_ = static_cast<float>(1 / unit);
  }

  template <class From, class To>
  void map(const AnyConstView& pixels, const Step& step) const {
    const Evaluation value_of(*this);
    const Rows<To> out(step.out);
    for_pixels<From>(pixels, [&](std::int64_t y, std::int64_t x, From pixel) {
      if constexpr (std::is_same_v<From, float>) {
        const float steps = pixel * per_unit_, square = steps * steps;
        if (square < static_cast<float>(kRoots) - 1) {
          const Root& root = roots_[static_cast<std::size_t>(square + 0.5F)];
          if (root.distance == pixel) {
            out[y][x] = static_cast<To>(root.value);
            return;
          }
        } else if (pixel == INFINITY) {
          out[y][x] = saturated<To>(infinite_);
          return;
        }
      }
      out[y][x] = saturated<To>(value_of(static_cast<double>(pixel)));
    });
  }

  /// A distance and its z, as far as float32 holds it, which has all values of the types.
  struct Root {
    float distance, value;
  };

  ProfileOptions options_;
  std::optional<Expression> expression_;
  double infinite_ = 0;
  mutable std::once_flag once_;      ///< of what follows, for children of float32
  mutable std::vector<Root> roots_;  ///< of each square
  mutable float per_unit_ = 1;
};

}  // namespace

NodeRef profile(NodeRef data, const ProfileOptions& options) {
  return std::make_shared<Profile>(std::move(data), options);
}

}  // namespace fathom::stream
