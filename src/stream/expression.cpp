#include "stream/expression.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "fathom/core/error.h"

namespace fathom::stream {

namespace {

using Kind = Step::Kind;

struct Function {
  const char* name;
  double (*of_one)(double);
};
constexpr Function kFunctions[] = {
    {"sin", std::sin},     {"cos", std::cos},        {"tan", std::tan},
    {"asin", std::asin},   {"acos", std::acos},      {"atan", std::atan},
    {"sinh", std::sinh},   {"cosh", std::cosh},      {"tanh", std::tanh},
    {"asinh", std::asinh}, {"acosh", std::acosh},    {"atanh", std::atanh},
    {"exp", std::exp},     {"ln", std::log},         {"log", std::log},
    {"log2", std::log2},   {"log10", std::log10},    {"floor", std::floor},
    {"ceil", std::ceil},   {"rint", std::nearbyint}, {"sign", [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }},
};
struct FunctionOfTwo {
  const char* name;
  double (*of_two)(double, double);
};
constexpr FunctionOfTwo kFunctionsOfTwo[] = {{"pow", std::pow}, {"atan2", std::atan2}, {"hypot", std::hypot}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_of_name(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// By recursive descent, a function for each precedence.
class Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& variables) : text_(text), variables_(variables) {}

  std::vector<Step> read() {
    choice();
    skip();
    if (at_ < text_.size()) fail("'" + std::string(1, text_[at_]) + "' was not expected");
    return std::move(steps_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    std::string known;
    for (const std::string& name : variables_) known += (known.empty() ? "" : ", ") + name;
    throw InvalidArgument("the expression '" + std::string(text_) + "' does not parse: " + why + " at position " +
                          std::to_string(at_) + " (it may name " + known + ")");
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }
  bool take(std::string_view sign) {
    skip();
    if (text_.substr(at_, sign.size()) != sign) return false;
    at_ += sign.size();
    return true;
  }
  void expect(std::string_view sign) {
    if (!take(sign)) fail("'" + std::string(sign) + "' was expected");
  }
  void add(Kind kind, std::size_t place = 0, double number = 0) {
    steps_.push_back({kind, static_cast<std::uint8_t>(place), number});
  }

  void enter() {
    constexpr int kDeepest = 200;
    if (++nested_ > kDeepest) fail("it is nested too deeply");
  }

  struct Sign {
    std::string_view text;
    Kind kind;
  };
  /// Operands of one precedence, from the left.
  template <std::size_t N>
  void chain(const Sign (&signs)[N], void (Parser::*operand)()) {
    (this->*operand)();
    for (const Sign* sign = signs; sign != signs + N;) {
      if (!take(sign->text)) {
        ++sign;
        continue;
      }
      (this->*operand)();
      add(sign->kind);
      sign = signs;
    }
  }
  void choice() {
    enter();
    any();
    if (take("?")) {
      choice();
      expect(":");
      choice();
      add(Kind::choose);
    }
    --nested_;
  }
  void any() { chain({{"||", Kind::either}}, &Parser::all); }
  void all() { chain({{"&&", Kind::both}}, &Parser::comparison); }
  void comparison() {
    chain({{"<=", Kind::less_equal},
           {">=", Kind::greater_equal},
           {"==", Kind::equal},
           {"!=", Kind::not_equal},
           {"<", Kind::less},
           {">", Kind::greater}},
          &Parser::sum);
  }
  void sum() { chain({{"+", Kind::add}, {"-", Kind::subtract}}, &Parser::product); }
  void product() { chain({{"*", Kind::multiply}, {"/", Kind::divide}}, &Parser::signed_power); }
  void signed_power() {
    bool is_negative = false;
    while (take("-") || take("+")) is_negative ^= text_[at_ - 1] == '-';
    power();
    if (is_negative) add(Kind::negate);
  }
  void power() {
    primary();
    if (!take("^")) return;
    const std::size_t before = steps_.size();
    enter();
    signed_power();
    --nested_;
    const Step exponent = steps_[before];
    constexpr double kMostFactors = 8;
    if (steps_.size() == before + 1 && exponent.kind == Kind::number && exponent.number >= 1 &&
        exponent.number <= kMostFactors && exponent.number == std::floor(exponent.number)) {
      steps_.pop_back();
      add(Kind::power, static_cast<std::size_t>(exponent.number));
    } else {
      add(Kind::function_of_two);  // pow
    }
  }
  void primary() {
    skip();
    if (take("(")) {
      choice();
      return expect(")");
    }
    if (at_ == text_.size()) fail("a number was expected");
    if (is_digit(text_[at_]) || text_[at_] == '.') return number();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_of_name(text_[at_])) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (name.empty()) fail("'" + std::string(1, text_[at_]) + "' was not expected");
    if (const auto found = std::find(variables_.begin(), variables_.end(), name); found != variables_.end())
      return add(Kind::variable, static_cast<std::size_t>(found - variables_.begin()));
    if (name == "_pi") return add(Kind::number, 0, 3.141592653589793);
    if (name == "_e") return add(Kind::number, 0, 2.718281828459045);
    if (!call(name)) {
      at_ = begin;
      fail("'" + std::string(name) + "' is not known");
    }
  }
  void number() {
    double value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) fail("a number was expected");
    at_ += static_cast<std::size_t>(end - begin);
    if (at_ < text_.size() && (is_of_name(text_[at_]) || text_[at_] == '.')) fail("a number ends with what is none");
    add(Kind::number, 0, value);
  }

  /// Arguments in brackets, at least one; calls between() behind each but the first.
  template <class Between>
  std::size_t arguments(const Between& between) {
    expect("(");
    std::size_t count = 0;
    do {
      choice();
      if (++count > 1) between();
    } while (take(","));
    expect(")");
    return count;
  }
  void exactly(std::string_view name, std::size_t wanted) {
    if (const std::size_t given = arguments([] {}); given != wanted)
      fail("'" + std::string(name) + "' takes " + (wanted == 1 ? "one number" : "two numbers") + ", not " +
           std::to_string(given) + ", which end");
  }
  /// @returns false: there is no such function
  bool call(std::string_view name) {
    for (const auto& [of, kind] : {std::pair{"sqrt", Kind::root}, std::pair{"abs", Kind::absolute}})
      if (name == of) {
        exactly(name, 1);
        return add(kind), true;
      }
    for (const auto& [of, kind] :
         {std::pair{"min", Kind::min}, std::pair{"max", Kind::max}, std::pair{"sum", Kind::add}})
      if (name == of) return arguments([&, kind = kind] { add(kind); }), true;
    if (name == "avg") {
      const std::size_t count = arguments([&] { add(Kind::add); });
      add(Kind::number, 0, static_cast<double>(count));
      return add(Kind::divide), true;
    }
    for (std::size_t k = 0; k < std::size(kFunctions); ++k)
      if (name == kFunctions[k].name) {
        exactly(name, 1);
        return add(Kind::function, k), true;
      }
    for (std::size_t k = 0; k < std::size(kFunctionsOfTwo); ++k)
      if (name == kFunctionsOfTwo[k].name) {
        exactly(name, 2);
        return add(Kind::function_of_two, k), true;
      }
    return false;
  }

  std::string_view text_;
  const std::vector<std::string>& variables_;
  std::size_t at_ = 0;
  int nested_ = 0;
  std::vector<Step> steps_;
};

/// What a step adds to the stack.
int rise_of(Kind kind) {
  if (kind <= Kind::variable) return 1;
  if (kind < Kind::add || kind == Kind::function) return 0;
  return kind == Kind::choose ? -2 : -1;
}

int depth_of(const std::vector<Step>& steps) {
  int depth = 0, most = 0;
  for (const Step& step : steps) most = std::max(most, depth += rise_of(step.kind));
  return most;
}

template <Kind kKind>
void combine(double* a, const double* b, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) a[i] = of_two(kKind, a[i], b[i]);
}

void combine(Kind kind, double* a, const double* b, std::int64_t count) {
  switch (kind) {  // a loop each, so that each runs in vectors
    case Kind::add: return combine<Kind::add>(a, b, count);
    case Kind::subtract: return combine<Kind::subtract>(a, b, count);
    case Kind::multiply: return combine<Kind::multiply>(a, b, count);
    case Kind::divide: return combine<Kind::divide>(a, b, count);
    case Kind::min: return combine<Kind::min>(a, b, count);
    case Kind::max: return combine<Kind::max>(a, b, count);
    case Kind::less: return combine<Kind::less>(a, b, count);
    case Kind::less_equal: return combine<Kind::less_equal>(a, b, count);
    case Kind::greater: return combine<Kind::greater>(a, b, count);
    case Kind::greater_equal: return combine<Kind::greater_equal>(a, b, count);
    case Kind::equal: return combine<Kind::equal>(a, b, count);
    case Kind::not_equal: return combine<Kind::not_equal>(a, b, count);
    case Kind::both: return combine<Kind::both>(a, b, count);
    default: return combine<Kind::either>(a, b, count);
  }
}

}  // namespace

Expression::Expression(std::string text, std::vector<std::string> variables)
    : text_(std::move(text)), variable_count_(variables.size()) {
  constexpr std::size_t kLongest = 10000;
  if (text_.size() > kLongest)
    throw InvalidArgument("the expression has " + std::to_string(text_.size()) +
                          " characters; at most 10000 are taken");
  steps_ = Parser(text_, variables).read();
  depth_ = depth_of(steps_);
}

std::optional<Arithmetic> Expression::arithmetic() const {
  const bool has_functions =
      std::any_of(steps_.begin(), steps_.end(), [](const Step& step) { return step.kind >= Kind::function; });
  if (has_functions || steps_.size() > Arithmetic::kMostSteps || depth_ > Arithmetic::kMostDeep ||
      variable_count_ > Arithmetic::kMostVariables)
    return std::nullopt;
  Arithmetic made;
  made.count = static_cast<int>(steps_.size());
  std::copy(steps_.begin(), steps_.end(), made.steps);
  return made;
}

Expression::Use::Use(const Expression& expression)
    : expression_(expression), stack_(static_cast<std::size_t>(expression.depth_)) {}

double Expression::Use::operator()(std::span<const double> values) {
  constexpr std::size_t kMostVariables = 26;
  std::array<const double*, kMostVariables> rows{};
  for (std::size_t k = 0; k < values.size(); ++k) rows[k] = &values[k];
  return *(*this)(std::span(rows).first(values.size()), 1);
}

const double* Expression::Use::operator()(std::span<const double* const> values, std::int64_t count) {
  auto top = stack_.begin() - 1;
  for (const Step& step : expression_.steps_) {
    if (step.kind == Kind::number) {
      std::fill_n((++top)->begin(), count, step.number);
    } else if (step.kind == Kind::variable) {
      std::copy_n(values[step.place], count, (++top)->begin());
    } else if (step.kind < Kind::add) {
      std::transform(top->begin(), top->begin() + count, top->begin(), [&](double a) { return of_one(step, a); });
    } else if (step.kind == Kind::function) {
      std::transform(top->begin(), top->begin() + count, top->begin(), kFunctions[step.place].of_one);
    } else if (step.kind == Kind::function_of_two) {
      --top;
      std::transform(top->begin(), top->begin() + count, (top + 1)->begin(), top->begin(),
                     kFunctionsOfTwo[step.place].of_two);
    } else if (step.kind == Kind::choose) {
      top -= 2;
      const Row &second = *(top + 1), &third = *(top + 2);
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
        (*top)[i] = (*top)[i] != 0 ? second[i] : third[i];
    } else {
      --top;
      combine(step.kind, top->data(), (top + 1)->data(), count);
    }
  }
  return stack_.front().data();
}

}  // namespace fathom::stream
