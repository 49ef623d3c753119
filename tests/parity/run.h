// Runs the transform into poisoned memory and compares what comes back.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "cases.h"
#include "fathom/core/array.h"
#include "fathom/core/error.h"
#include "fathom/grid/distance.h"
#include "oracle.h"

namespace fathom::test {

struct Results : grid::PerOutput<std::optional<Array>> {
  grid::DistanceReport report;

  grid::DistanceOutputs views();
};

/// Arrays of the results' shapes, every byte poisoned.
Results make_results(const Shape& input, const grid::DistanceOptions& options, const Wanted& wanted);

/// Fills `array` with a byte that no result consists of.
void poison(Array& array);
bool is_poisoned(const Array& array);

Results run(const AnyConstView& input, const grid::DistanceOptions& options, const Wanted& wanted);

/// Same bytes in item `item` of a batch with one leading axis as in the results of that item alone.
testing::AssertionResult equal_item(const Results& batch, const Results& alone, std::int64_t item);

/// Every element of every result against the oracle.
testing::AssertionResult matches(const Oracle& oracle, const Results& results);
/// The elements at these linear indices of the results only.
testing::AssertionResult matches_at(const Oracle& oracle, const Results& results,
                                    const std::vector<std::int64_t>& elements);
/// Squared distances and indices against the separable oracle.
testing::AssertionResult matches(const Separable& expected, const Results& results);

/// Same bytes.
testing::AssertionResult equal(const Array& a, const Array& b);
testing::AssertionResult equal(const Results& a, const Results& b);

/// What the call throws says; "not refused" if it throws nothing.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "not refused";
}

/// The value of an integer or floating-point element, for messages and tests that are exact in double.
double value_at(const Array& array, std::int64_t index);
std::int64_t integer_at(const Array& array, std::int64_t index);

}  // namespace fathom::test
