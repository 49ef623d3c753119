// z = f(d). Distances between pixels are roots of integers: f is evaluated once for each up to the bound, of the first
// 65,536 at most, and a pixel's value is looked up by its square. What is no such root is evaluated by itself, to the
// same value.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "fathom/core/error.h"
#include "fathom/stream/nodes.h"
#include "stream/expression.h"
#include "stream/operation.h"
#include "stream/pointwise.h"

namespace fathom::stream {

namespace {

class Profile final : public Pointwise<Profile> {
 public:
  static constexpr auto kRoles = roles::kData;

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
  std::size_t scratch_bytes(Size) const override { return kKnown * sizeof(Root); }
  std::size_t kept_bytes() const override {
    return children()[0].node->dtype() == DType::float32 ? root_count() * sizeof(Root) : 0;
  }
  std::shared_ptr<const Operation> operation() const override {
    return make_operation(
        operation::Function{[this](std::span<const double> d) { return saturated(Evaluation(*this)(d[0]), dtype()); }});
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
  static constexpr std::int64_t kChunk = 256;  ///< pixels of a row that are looked up at once
  static constexpr int kKnownBits = 12;
  static constexpr std::size_t kKnown = std::size_t{1} << kKnownBits;

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
    mutable std::optional<Expression::Use> use_;
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

  /// The last one is of +inf.
  std::size_t root_count() const {
    constexpr double kMost = 1 << 16;
    const double steps = bound_of_child() / children()[0].node->pixel().size;
    return static_cast<std::size_t>(std::clamp(steps * steps + 3, 3.0, kMost));
  }
  /// Not before they are needed: a document may have many such nodes.
  void make_roots() const {
    const Evaluation value_of(*this);
    const double unit = children()[0].node->pixel().size;
    roots_.resize(root_count());
    for (std::size_t square = 0; square + 1 < roots_.size(); ++square) {
      const auto distance = static_cast<float>(std::sqrt(static_cast<double>(square)) * unit);
      roots_[square] = root_of(distance, value_of(double{distance}));
    }
    roots_.back() = root_of(INFINITY, infinite_);
    per_unit_ = static_cast<float>(1 / unit);
  }

  template <class From, class To>
  void map(const AnyConstView& pixels, const Step& step) const {
    if constexpr (std::is_same_v<From, float>) {
      const Rows<const float> from(pixels);
      const Rows<To> out(step.out);
      Lookup<To> look_up(*this, step);
      for (std::int64_t y = 0; y < out.height; ++y)
        for (std::int64_t x = 0; x < out.width; x += kChunk)
          look_up(from[y] + x, std::min(kChunk, out.width - x), out[y] + x);
    } else {
      const Evaluation value_of(*this);
      map_rows<From, To>(pixels, step.out,
                         [&](From pixel, To& z) { z = saturated<To>(value_of(static_cast<double>(pixel))); });
    }
  }

  /// The bits of a distance, and of its z as float32, which holds all values of the types, or as an integer.
  struct Root {
    std::uint32_t distance, value;
    template <class To>
    static To of(std::uint32_t value) {
      if constexpr (std::is_same_v<To, float>) return std::bit_cast<float>(value);
      else return static_cast<To>(value);
    }
  };

  Root root_of(float distance, double z) const {
    const double value = saturated(z, dtype());
    return {std::bit_cast<std::uint32_t>(distance), dtype() == DType::float32
                                                        ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                                                        : static_cast<std::uint32_t>(value)};
  }

  /// For one thread. What is no root is kept by its bits: distances with a sign, and what follows from distances, have
  /// few values.
  template <class To>
  class Lookup {
   public:
    Lookup(const Profile& profile, const Step& step)
        : profile_(profile),
          value_of_(profile),
          roots_(profile.roots_.data()),
          per_unit_(profile.per_unit_),
          last_(std::bit_cast<std::uint32_t>(static_cast<float>(profile.roots_.size() - 1))),
          known_(reinterpret_cast<Root*>(step.children.scratch(kKnown * sizeof(Root)))) {
      std::fill_n(known_, kKnown, roots_[0]);
    }

    void operator()(const float* pixels, std::int64_t count, To* __restrict out) {
      std::array<std::int32_t, kChunk> at;
      const float per_unit = per_unit_;
      const std::uint32_t last = last_;
      for (std::int64_t k = 0; k < count; ++k) {
        const float steps = pixels[k] * per_unit, square = steps * steps;
        const auto bits = std::min(std::bit_cast<std::uint32_t>(square), last);  // also of inf and NaN
        at[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(std::bit_cast<float>(bits) + 0.5F);
      }
      std::uint32_t off = 0;
      for (std::int64_t k = 0; k < count; ++k) {
        const Root root = roots_[at[static_cast<std::size_t>(k)]];
        off |= root.distance ^ std::bit_cast<std::uint32_t>(pixels[k]);
        out[k] = Root::template of<To>(root.value);
      }
      if (off == 0) return;
      for (std::int64_t k = 0; k < count; ++k) {
        const auto bits = std::bit_cast<std::uint32_t>(pixels[k]);
        if (roots_[at[static_cast<std::size_t>(k)]].distance == bits) continue;
        Root& known = known_[bits * 0x9e3779b1u >> (32 - kKnownBits)];
        if (known.distance != bits) known = profile_.root_of(pixels[k], value_of_(double{pixels[k]}));
        out[k] = Root::template of<To>(known.value);
      }
    }

   private:
    const Profile& profile_;
    const Evaluation value_of_;
    const Root* const roots_;
    const float per_unit_;
    const std::uint32_t last_;  ///< the bits of its number
    Root* const known_;
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
