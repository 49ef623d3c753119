// Expressions of + - * / min max and comparisons, as a list of steps on a stack of numbers: what the expression's parser
// computes, to the last bit. Shared by host and device.
#pragma once

#include <cstdint>

#include "core/root.hd.h"

namespace fathom::stream {

struct Arithmetic {
  static constexpr int kMostSteps = 48, kMostDeep = 8, kMostVariables = 8;

  enum class Step : std::uint8_t {
    number,
    variable,
    negate,
    add,
    subtract,
    multiply,
    divide,
    min,
    max,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
  };
  Step steps[kMostSteps] = {};
  double numbers[kMostSteps] = {};       ///< of steps that are a number
  std::uint8_t places[kMostSteps] = {};  ///< of steps that are a variable
  int count = 0;
  double invalid = 0;  ///< the NaN of this processor, for what is no number: devices have others

  /// @param variables  their values
  FATHOM_HD double operator()(const double* variables) const {
    double stack[kMostDeep];
    int top = -1;
    for (int k = 0; k < count; ++k) {
      const Step step = steps[k];
      if (step == Step::number) stack[++top] = numbers[k];
      else if (step == Step::variable) stack[++top] = variables[places[k]];
      else if (step == Step::negate) stack[top] = -stack[top];
      else {
        const double b = stack[top--];
        stack[top] = of_two(step, stack[top], b);
      }
    }
    return stack[0];
  }

 private:
  FATHOM_HD double of_two(Step step, double a, double b) const {
    switch (step) {
      case Step::add: return number_or_nan(a, b, a + b);
      case Step::subtract: return number_or_nan(a, b, a - b);
      case Step::multiply: return number_or_nan(a, b, a * b);
      case Step::divide: return number_or_nan(a, b, a / b);
      case Step::min: return b < a ? b : a;
      case Step::max: return a < b ? b : a;
      case Step::less: return a < b;
      case Step::less_equal: return a <= b;
      case Step::greater: return a > b;
      case Step::greater_equal: return a >= b;
      case Step::equal: return a == b;
      default: return a != b;
    }
  }
  /// NaN goes on as it is, the first one's where there are two.
  FATHOM_HD double number_or_nan(double a, double b, double result) const {
    if (result == result) return result;
    return a != a ? a : b != b ? b : invalid;
  }
};

}  // namespace fathom::stream
