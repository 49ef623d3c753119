// The nearest sites found so far by one query, in ascending order of (squared distance, id).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "points/measure.hd.h"
#include "points/request.h"

namespace fathom::points {

inline constexpr std::int64_t kNobody = std::numeric_limits<std::int64_t>::max();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Value>
struct Candidate {
  Value squared{};
  std::int64_t id = kNobody;
  std::int64_t position = 0;  ///< among the tree's sites
};

template <class Value>
FATHOM_HD bool comes_before(Value squared, std::int64_t id, const Candidate<Value>& other) {
  return squared < other.squared || (squared == other.squared && id < other.id);
}

/// An empty list: nobody, at a distance that every site within it comes before.
template <class Value>
void clear(Candidate<Value>* list, int k, Value limit) {
  for (int j = 0; j < k; ++j) list[j] = {limit, kNobody, 0};
}

/// Takes the last place's candidate out and puts a better one in.
template <class Value>
void insert(Candidate<Value>* list, int k, const Candidate<Value>& candidate) {
  int j = k - 1;
  for (; j > 0 && comes_before(candidate.squared, candidate.id, list[j - 1]); --j) list[j] = list[j - 1];
  list[j] = candidate;
}

/// The distance: the correctly rounded root.
template <class Float, class Value>
FATHOM_HD Float root(Value squared, Metric metric) {
  if (metric != Metric::euclidean) return static_cast<Float>(squared);
  if constexpr (std::is_same_v<Value, double>) return static_cast<Float>(std::sqrt(squared));
  else return rounded_wide_sqrt<Float>(squared);
}

/// The largest squared distance whose root, in float64, is at most `radius`.
template <class Value>
Value squared_limit(double radius) {
  if constexpr (std::is_same_v<Value, double>) {
    double limit = radius * radius;
    while (std::sqrt(limit) > radius) limit = std::nextafter(limit, 0.0);
    for (double next; limit < kInfinity && std::sqrt(next = std::nextafter(limit, kInfinity)) <= radius;) limit = next;
    return limit;
  } else {
    Value limit = 0;  // bit by bit: no two coordinates are farther apart than √3 · 2³²
    for (int bit = 66; bit >= 0; --bit)
      if (const Value trial = limit | Value{1} << bit; rounded_wide_sqrt<double>(trial) <= radius) limit = trial;
    return limit;
  }
}

/// The same of what a request asks for.
template <class Value>
Value squared_limit(const Request& request) {
  if constexpr (std::is_same_v<Value, double>)
    if (request.metric != Metric::euclidean) return request.radius;
  return squared_limit<Value>(request.radius);
}

/// Squared distance beyond which nothing needs to be looked at when the worst of a list is at `worst`: up to the radius
/// everything, as long as it is nobody.
/// @tparam Asked  Request, or what a device makes of it
template <class Value, class Asked>
FATHOM_HD Value reach_of(const Asked& request, Value worst, std::int64_t id) {
  if (id == kNobody || (request.shrink == 1 && request.absolute == 0)) return worst;
  double reach = static_cast<double>(worst) * request.shrink;
  if (request.absolute > 0) {
    constexpr double kRounding = 1 - 0x1p-48;  // the root and its square round
    const double rest = larger(0.0, root<double>(static_cast<double>(worst), request.metric) - request.absolute);
    reach = smaller(reach, (request.metric == Metric::euclidean ? rest * rest : rest) * kRounding);
  }
  return static_cast<Value>(reach);
}

template <class T>
FATHOM_HD void put(const Column& column, std::int64_t row, int j, T value) {
  const std::int64_t at = row * column.row_step + j;
  switch (column.dtype) {
    case DType::float32: reinterpret_cast<float*>(column.data)[at] = static_cast<float>(value); break;
    case DType::float64: reinterpret_cast<double*>(column.data)[at] = static_cast<double>(value); break;
    case DType::int32: reinterpret_cast<std::int32_t*>(column.data)[at] = static_cast<std::int32_t>(value); break;
    default: reinterpret_cast<std::int64_t*>(column.data)[at] = static_cast<std::int64_t>(value);
  }
}

template <class Value>
FATHOM_HD void put_root(const Column& column, std::int64_t row, int j, bool found, Value squared,
                        Metric metric = Metric::euclidean) {
  if (!column.data) return;
  if (!found) return put(column, row, j, kInfinity);
  if (column.dtype == DType::float32) put(column, row, j, root<float>(squared, metric));
  else put(column, row, j, root<double>(squared, metric));
}

/// Writes a query's neighbour j; `id` kNobody: there is none.
template <class Value>
FATHOM_HD void put_neighbour(const Answers& answers, std::int64_t query, int j, Value squared, std::int64_t id,
                             Metric metric = Metric::euclidean) {
  const bool found = id != kNobody;
  put_root(answers.distance, query, j, found, squared, metric);
  if (answers.squared.data) put(answers.squared, query, j, found ? static_cast<double>(squared) : kInfinity);
  if (answers.site.data) put(answers.site, query, j, found ? id : std::int64_t{-1});
}

/// Writes a query's answer. @param lower  squared; looked at where it is wanted
template <class Value>
void answer(const Request& request, std::int64_t query, const Candidate<Value>* list, Value lower, bool lower_known) {
  for (int j = 0; j < request.k; ++j)
    put_neighbour(request.answers, query, j, list[j].squared, list[j].id, request.metric);
  put_root(request.answers.lower, query, 0, lower_known, lower, request.metric);
}

}  // namespace fathom::points
