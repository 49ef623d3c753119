// Expressions as a list of steps on a stack of numbers. Shared by host and device: what devices compute, too, has the
// same bits everywhere.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/root.hd.h"

namespace fathom::stream {

struct Step {
  enum class Kind : std::uint8_t {
    number,
    variable,
    // Of the number on top of the stack.
    negate,
    power,  ///< to a small whole number
    root,
    absolute,
    // Of the two on top.
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
    both,
    either,
    choose,  ///< of three: the second where the first is not 0, else the third
    // For the CPU alone: functions of the C library.
    function,
    function_of_two,
  };
  Kind kind = Kind::number;
  std::uint8_t place = 0;  ///< of a variable; of power: the exponent; of functions: in the table of names
  double number = 0;
};

/// Of operations that make one: that of x86. Devices have another.
inline constexpr double kInvalid = -std::numeric_limits<double>::quiet_NaN();

/// NaN goes on as it is, the first one's of two.
FATHOM_HD inline double or_nan(double a, double b, double result) {
  return result == result ? result : a != a ? a : b != b ? b : kInvalid;
}

FATHOM_HD inline double of_one(const Step& step, double a) {
  switch (step.kind) {
    case Step::Kind::negate: return -a;
    case Step::Kind::root: return or_nan(a, a, std::sqrt(a));
    case Step::Kind::absolute: return a < 0 ? -a : a == 0 ? 0 : a;
    default: {
      double product = a;
      for (int k = 1; k < step.place; ++k) product = product * a;
      return product;
    }
  }
}

FATHOM_HD inline double of_two(Step::Kind kind, double a, double b) {
  switch (kind) {
    case Step::Kind::add: return or_nan(a, b, a + b);
    case Step::Kind::subtract: return or_nan(a, b, a - b);
    case Step::Kind::multiply: return or_nan(a, b, a * b);
    case Step::Kind::divide: return or_nan(a, b, a / b);
    case Step::Kind::min: return b < a ? b : a;
    case Step::Kind::max: return a < b ? b : a;
    case Step::Kind::less: return a < b;
    case Step::Kind::less_equal: return a <= b;
    case Step::Kind::greater: return a > b;
    case Step::Kind::greater_equal: return a >= b;
    case Step::Kind::equal: return a == b;
    case Step::Kind::not_equal: return a != b;
    case Step::Kind::both: return a != 0 && b != 0;
    default: return a != 0 || b != 0;
  }
}

/// An expression that devices compute, in fixed memory.
struct Arithmetic {
  static constexpr int kMostSteps = 64, kMostDeep = 8, kMostVariables = 8;

  Step steps[kMostSteps] = {};
  int count = 0;

  /// @param variables  their values
  FATHOM_HD double operator()(const double* variables) const {
    double stack[kMostDeep];
    int top = -1;
    for (int k = 0; k < count; ++k) {
      const Step& step = steps[k];
      if (step.kind == Step::Kind::number) {
        stack[++top] = step.number;
      } else if (step.kind == Step::Kind::variable) {
        stack[++top] = variables[step.place];
      } else if (step.kind < Step::Kind::add) {
        stack[top] = of_one(step, stack[top]);
      } else if (step.kind == Step::Kind::choose) {
        top -= 2;
        stack[top] = stack[top] != 0 ? stack[top + 1] : stack[top + 2];
      } else {
        --top;
        stack[top] = of_two(step.kind, stack[top], stack[top + 1]);
      }
    }
    return stack[0];
  }
};

}  // namespace fathom::stream
