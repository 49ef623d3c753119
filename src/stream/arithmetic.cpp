#include "stream/arithmetic.h"

#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace fathom::stream {

namespace {

using Step = Arithmetic::Step;

/// What the parser's optimizer sees of an operand: it joins a variable's factors and the constants that are added.
struct Operand {
  enum class Kind { number, variable, scaled, joined, other } kind = Kind::other;
  int variable = -1;
};

/// Reads an expression by its grammar, and stops at what is not arithmetic.
class Reader {
 public:
  Reader(std::string_view text, int variables) : text_(text), variables_(variables) {}

  std::optional<Arithmetic> read() {
    comparison();
    skip();
    if (failed_ || at_ < text_.size()) return std::nullopt;
    return made_;
  }

 private:
  using Kind = Operand::Kind;

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(std::string_view word) {
    skip();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  Operand fail() {
    failed_ = true;
    return {};
  }

  void add(Step step, double number = 0, int place = 0) {
    const bool pushes = step == Step::number || step == Step::variable;
    depth_ += pushes ? 1 : step == Step::negate ? 0 : -1;
    if (made_.count == Arithmetic::kMostSteps || depth_ > Arithmetic::kMostDeep) {
      failed_ = true;
      return;
    }
    made_.steps[made_.count] = step;
    made_.numbers[made_.count] = number;
    made_.places[made_.count++] = static_cast<std::uint8_t>(place);
  }

  void comparison() {
    sum();
    constexpr std::pair<const char*, Step> kSigns[] = {{"<=", Step::less_equal}, {">=", Step::greater_equal},
                                                       {"==", Step::equal},      {"!=", Step::not_equal},
                                                       {"<", Step::less},        {">", Step::greater}};
    for (const auto& [sign, step] : kSigns)
      if (!failed_ && take(sign)) {
        sum();
        return add(step);
      }
  }

  Operand sum() {
    Operand left = product();
    while (!failed_) {
      const bool plus = take("+");
      if (!plus && !take("-")) break;
      const Operand right = product();
      add(plus ? Step::add : Step::subtract);
      left = of_sum(left, right);
    }
    return left;
  }
  Operand product() {
    Operand left = factor();
    while (!failed_) {
      const bool times = take("*");
      if (!times && !take("/")) break;
      const double before = made_.count > 0 ? made_.numbers[made_.count - 1] : 0;
      const Operand right = factor();
      const double number = right.kind == Kind::number ? made_.numbers[made_.count - 1] : before;
      add(times ? Step::multiply : Step::divide);
      left = times ? of_product(left, right, number) : of_quotient(left, right);
    }
    return left;
  }

  /// Of constants and variables alone; what the parser leaves as it stands is `other`.
  static bool are_plain(const Operand& a, const Operand& b) { return a.kind != Kind::other && b.kind != Kind::other; }

  Operand of_sum(const Operand& a, const Operand& b) {
    if (!are_plain(a, b)) return {};
    const bool first = a.kind == Kind::number, second = b.kind == Kind::number;
    if (first && second) return fail();
    if (!first && !second) return a.variable == b.variable ? fail() : Operand{};
    const Operand& of = first ? b : a;
    return of.kind == Kind::joined ? fail() : Operand{Kind::joined, of.variable};
  }
  /// The parser computes x · number + 0 · number.
  Operand of_product(const Operand& a, const Operand& b, double number) {
    if (!are_plain(a, b)) return {};
    const bool first = a.kind == Kind::number, second = b.kind == Kind::number;
    if (first && second) return fail();
    if (!first && !second) return a.variable == b.variable && a.kind != b.kind ? fail() : Operand{};
    const Operand& of = first ? b : a;
    if (of.kind != Kind::variable) return fail();
    add(Step::number, 0 * number);
    add(Step::add);
    return {Kind::scaled, of.variable};
  }
  Operand of_quotient(const Operand& a, const Operand& b) {
    if (!are_plain(a, b)) return {};
    const bool is_plain_variable = a.kind == Kind::variable && b.kind == Kind::number;
    return is_plain_variable || b.kind != Kind::number ? Operand{} : fail();
  }

  Operand factor() {
    if (take("-")) {
      factor();
      add(Step::negate);
      return {};
    }
    if (take("(")) {
      const Operand inside = sum();
      return take(")") ? inside : fail();
    }
    for (const auto& [name, step] : {std::pair{"min", Step::min}, std::pair{"max", Step::max}})
      if (take(name)) return of_list(step);
    skip();
    if (at_ < text_.size() && text_[at_] >= 'a' && text_[at_] < 'a' + variables_) {
      const int place = text_[at_++] - 'a';
      if (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
        return fail();
      add(Step::variable, 0, place);
      return {Kind::variable, place};
    }
    double number = 0;
    const char* const begin = text_.data() + at_;
    if (at_ == text_.size() || !(std::isdigit(static_cast<unsigned char>(*begin)) || *begin == '.')) return fail();
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    if (error != std::errc()) return fail();
    at_ += static_cast<std::size_t>(end - begin);
    add(Step::number, number);
    return {Kind::number};
  }
  Operand of_list(Step step) {
    if (!take("(")) return fail();
    sum();
    while (!failed_ && take(",")) {
      sum();
      add(step);
    }
    return take(")") ? Operand{} : fail();
  }

  std::string_view text_;
  const int variables_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
  Arithmetic made_;
};

bool is_same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

}  // namespace

std::optional<Arithmetic> arithmetic_of(std::string_view expression, int variables,
                                        const std::function<double(std::span<const double>)>& value) {
  if (variables > Arithmetic::kMostVariables) return std::nullopt;
  auto made = Reader(expression, variables).read();
  if (!made) return std::nullopt;
  const volatile double infinite = std::numeric_limits<double>::infinity();
  made->invalid = infinite - infinite;
  constexpr int kPoints = 500;
  constexpr double kSpecial[] = {0, -0.0, 1, 255, 0.5, -3, INFINITY, -INFINITY};
  std::mt19937 random(1);
  std::vector<double> at(static_cast<std::size_t>(variables));
  for (int k = 0; k < kPoints; ++k) {
    for (double& x : at)
      x = random() % 3 == 0 ? kSpecial[random() % std::size(kSpecial)]
                            : static_cast<double>(static_cast<float>(static_cast<double>(random()) / 0x1p20 - 1024));
    if (!is_same((*made)(at.data()), value(at))) return std::nullopt;
  }
  return made;
}

}  // namespace fathom::stream
