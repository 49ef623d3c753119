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

  /// Takes out the largest parts, of more than a step, that depend on one variable alone: where it is the column or the
  /// row they need not be computed for each pixel. At most kMostParts; each becomes a variable behind those that there
  /// are.
  static constexpr std::size_t kMostParts = 16;
  std::vector<Expression> take_parts_of(std::size_t variable);

  /// Evaluates it, in memory of its own: for one thread.
  class Use {
   public:
    static constexpr std::int64_t kMost = 256;  ///< values at once
    using Row = std::array<double, kMost>;
    /// Of a variable: as many as there are places, or one for all.
    struct Values {
      const double* first = nullptr;
      bool is_row = true;
    };

    explicit Use(const Expression& expression);
    /// @param values  of the variables, in their order
    double operator()(std::span<const double> values);
    double operator()(double value) { return (*this)(std::span(&value, 1)); }
    /// @param count  of places, ≤ kMost
    /// @return as many results, valid until the next call
    const double* operator()(std::span<const Values> values, std::int64_t count);

   private:
    struct Place {
      Values values;
      double* own;  ///< a row, in which they may be
    };

    const Expression& expression_;
    std::vector<Row> rows_;
    std::vector<Place> stack_;
    double* next_;  ///< one more row, into which the next step writes
  };

 private:
  Expression(std::vector<Step> steps, std::size_t variable_count);

  std::string text_;
  std::vector<Step> steps_;
  int depth_ = 0;  ///< of the stack
  std::size_t variable_count_;
};

}  // namespace fathom::stream
