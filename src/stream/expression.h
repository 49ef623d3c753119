// Expressions in documents: numbers in double, operators in the order of their precedence, functions of the C library.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stream/expression.hd.h"

namespace fathom::stream {

/// Does not change once made: many threads may use it at once.
class Expression {
 public:
  /// @param variables  their names
  /// @throws InvalidArgument it does not parse, or names another variable; the message says where
  Expression(std::string text, std::vector<std::string> variables);

  const std::string& text() const { return text_; }
  /// The same for devices; nothing where there are functions, or more than they take.
  std::optional<Arithmetic> arithmetic() const;

  /// Evaluates it, in memory of its own: for one thread.
  class Use {
   public:
    static constexpr std::int64_t kMost = 256;  ///< values at once

    explicit Use(const Expression& expression);
    /// @param values  of the variables, in their order
    double operator()(std::span<const double> values);
    double operator()(double value) { return (*this)(std::span(&value, 1)); }
    /// @param values  of each variable `count` ones, count ≤ kMost
    /// @return as many results, valid until the next call
    const double* operator()(std::span<const double* const> values, std::int64_t count);

   private:
    using Row = std::array<double, kMost>;

    const Expression& expression_;
    std::vector<Row> stack_;
  };

 private:
  std::string text_;
  std::vector<Step> steps_;
  int depth_ = 0;  ///< of the stack
  std::size_t variable_count_;
};

}  // namespace fathom::stream
