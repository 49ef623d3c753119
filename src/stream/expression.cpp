#include "stream/expression.h"

#include <muParser.h>

#include <algorithm>
#include <utility>

#include "fathom/core/error.h"

namespace fathom::stream {

/// A parser and the variables that it reads.
class Expression::Parser {
 public:
  mu::Parser parser;
  std::vector<double> values;
};

Expression::Expression(std::string text, std::vector<std::string> variables)
    : text_(std::move(text)), variables_(std::move(variables)) {
  constexpr std::size_t kLongest = 10000;
  if (text_.size() > kLongest)
    throw InvalidArgument("the expression has " + std::to_string(text_.size()) +
                          " characters; at most 10000 are taken");
  store_.push_back(make());
}
Expression::~Expression() = default;

std::unique_ptr<Expression::Parser> Expression::make() const {
  auto made = std::make_unique<Parser>();
  made->values.resize(variables_.size());
  try {
    made->parser.SetExpr(text_);
    for (std::size_t k = 0; k < variables_.size(); ++k) made->parser.DefineVar(variables_[k], &made->values[k]);
    const double value = made->parser.Eval();
    static_cast<void>(value);
    if (made->parser.GetNumResults() != 1) throw InvalidArgument("the expression '" + text_ + "' has several values");
  } catch (const mu::Parser::exception_type& error) {
    std::string known;
    for (const std::string& name : variables_) known += (known.empty() ? "" : ", ") + name;
    throw InvalidArgument("the expression '" + text_ + "' does not parse: " + error.GetMsg() + " (it may name " +
                          known + ")");
  }
  return made;
}

Expression::Use::Use(const Expression& expression) : expression_(expression) {
  {
    const std::lock_guard lock(expression.store_mutex_);
    if (!expression.store_.empty()) {
      parser_ = std::move(expression.store_.back());
      expression.store_.pop_back();
    }
  }
  if (!parser_) parser_ = expression.make();
}

Expression::Use::~Use() {
  const std::lock_guard lock(expression_.store_mutex_);
  expression_.store_.push_back(std::move(parser_));
}

double Expression::Use::operator()(std::span<const double> values) const {
  std::copy(values.begin(), values.end(), parser_->values.begin());
  return parser_->parser.Eval();
}

}  // namespace fathom::stream
