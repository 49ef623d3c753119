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
using Values = Expression::Use::Values;

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

/// Calls function(i) for the places of a row, or for the only one. What it writes is none of what it reads.
template <class Function>
void each(std::int64_t count, const Function& function) {
  for (std::int64_t i = 0; i < count; ++i) function(i);
}

template <Kind kKind>
void combine(Values a, Values b, std::int64_t count, double* __restrict out) {
  const double* const __restrict first = a.first, * const __restrict second = b.first;
  if (a.is_row && b.is_row) each(count, [=](std::int64_t i) { out[i] = of_two(kKind, first[i], second[i]); });
  else if (a.is_row) each(count, [=, y = *second](std::int64_t i) { out[i] = of_two(kKind, first[i], y); });
  else if (b.is_row) each(count, [=, x = *first](std::int64_t i) { out[i] = of_two(kKind, x, second[i]); });
  else *out = of_two(kKind, *first, *second);
}

void combine(Kind kind, Values a, Values b, std::int64_t count, double* out) {
  switch (kind) {  // loops for each, so that each runs in vectors
    case Kind::add: return combine<Kind::add>(a, b, count, out);
    case Kind::subtract: return combine<Kind::subtract>(a, b, count, out);
    case Kind::multiply: return combine<Kind::multiply>(a, b, count, out);
    case Kind::divide: return combine<Kind::divide>(a, b, count, out);
    case Kind::min: return combine<Kind::min>(a, b, count, out);
    case Kind::max: return combine<Kind::max>(a, b, count, out);
    case Kind::less: return combine<Kind::less>(a, b, count, out);
    case Kind::less_equal: return combine<Kind::less_equal>(a, b, count, out);
    case Kind::greater: return combine<Kind::greater>(a, b, count, out);
    case Kind::greater_equal: return combine<Kind::greater_equal>(a, b, count, out);
    case Kind::equal: return combine<Kind::equal>(a, b, count, out);
    case Kind::not_equal: return combine<Kind::not_equal>(a, b, count, out);
    case Kind::both: return combine<Kind::both>(a, b, count, out);
    default: return combine<Kind::either>(a, b, count, out);
  }
}

void raise(const double* __restrict a, int exponent, std::int64_t count, double* __restrict out) {
  std::copy_n(a, count, out);
  for (int k = 1; k < exponent; ++k) each(count, [=](std::int64_t i) { out[i] = out[i] * a[i]; });
}

void choose(const double* __restrict a, const double* __restrict b, const double* __restrict c, std::int64_t count,
            double* __restrict out) {
  each(count, [=](std::int64_t i) { out[i] = a[i] != 0 ? b[i] : c[i]; });
}

/// A part of an expression: its steps, and whether it depends on the variable that is looked for, and on others.
struct Part {
  std::vector<Step> steps;
  bool has_it = false, has_others = false;
};

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

Expression::Expression(std::vector<Step> steps, std::size_t variable_count)
    : steps_(std::move(steps)), depth_(depth_of(steps_)), variable_count_(variable_count) {}

std::vector<Expression> Expression::take_parts_of(std::size_t variable) {
  std::vector<Expression> taken;
  const auto take = [&](Part& part) {
    if (!part.has_it || part.has_others || part.steps.size() < 2 || taken.size() == kMostParts) return;
    const std::size_t place = variable_count_ + taken.size();
    taken.push_back(Expression(std::exchange(part.steps, {}), variable_count_));
    part.steps.push_back({Kind::variable, static_cast<std::uint8_t>(place), 0});
  };
  std::vector<Part> stack;
  for (const Step& step : steps_) {
    Part whole;
    const auto operands = stack.end() - (1 - rise_of(step.kind));
    if (std::any_of(operands, stack.end(), [](const Part& part) { return part.has_others; }))
      std::for_each(operands, stack.end(), take);
    for (auto part = operands; part != stack.end(); ++part) {
      whole.has_it |= part->has_it;
      whole.has_others |= part->has_others;
      if (part == operands) whole.steps = std::move(part->steps);
      else whole.steps.insert(whole.steps.end(), part->steps.begin(), part->steps.end());
    }
    if (step.kind == Kind::variable) (step.place == variable ? whole.has_it : whole.has_others) = true;
    whole.steps.push_back(step);
    stack.erase(operands, stack.end());
    stack.push_back(std::move(whole));
  }
  take(stack.back());
  steps_ = std::move(stack.back().steps);
  depth_ = depth_of(steps_);
  variable_count_ += taken.size();
  return taken;
}

Expression::Use::Use(const Expression& expression)
    : expression_(expression), rows_(static_cast<std::size_t>(expression.depth_) + 1), next_(rows_.back().data()) {
  for (std::size_t k = 0; k + 1 < rows_.size(); ++k) stack_.push_back({{}, rows_[k].data()});
}

double Expression::Use::operator()(std::span<const double> values) {
  constexpr std::size_t kMostVariables = 26;
  std::array<Values, kMostVariables> rows{};
  for (std::size_t k = 0; k < values.size(); ++k) rows[k] = {&values[k], false};
  return *(*this)(std::span(rows).first(values.size()), 1);
}

const double* Expression::Use::operator()(std::span<const Values> values, std::int64_t count) {
  auto top = stack_.begin() - 1;
  const auto keep = [&](bool is_row) {  // what was written
    std::swap(top->own, next_);
    top->values = {top->own, is_row};
  };
  const auto map = [&](const auto& function) {
    const auto [first, is_row] = top->values;
    std::transform(first, first + (is_row ? count : 1), next_, function);
    keep(is_row);
  };
  const auto spread = [&](Place& place) {  // over a row
    if (place.values.is_row) return;
    std::fill_n(place.own, count, double{*place.values.first});
    place.values = {place.own, true};
  };
  for (const Step& step : expression_.steps_) {
    if (step.kind == Kind::number) {
      (++top)->values = {&step.number, false};
    } else if (step.kind == Kind::variable) {
      (++top)->values = values[step.place];
    } else if (step.kind == Kind::power) {
      const auto [first, is_row] = top->values;
      raise(first, step.place, is_row ? count : 1, next_);
      keep(is_row);
    } else if (step.kind < Kind::add) {
      map([&](double a) { return of_one(step, a); });
    } else if (step.kind == Kind::function) {
      map(kFunctions[step.place].of_one);
    } else if (step.kind == Kind::function_of_two) {
      --top;
      spread(*top);
      spread(*(top + 1));
      std::transform(top->values.first, top->values.first + count, (top + 1)->values.first, next_,
                     kFunctionsOfTwo[step.place].of_two);
      keep(true);
    } else if (step.kind == Kind::choose) {
      top -= 2;
      for (auto place = top; place != top + 3; ++place) spread(*place);
      choose(top->values.first, (top + 1)->values.first, (top + 2)->values.first, count, next_);
      keep(true);
    } else {
      --top;
      const Values a = top->values, b = (top + 1)->values;
      combine(step.kind, a, b, count, next_);
      keep(a.is_row || b.is_row);
    }
  }
  spread(*top);
  return top->values.first;
}

}  // namespace fathom::stream
