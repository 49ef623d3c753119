// What `query` is going to do, from the command line, and how it fits the memory.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fathom/io/points.h"
#include "fathom/points/site_set.h"
#include "fathom/published/map_reduce.h"
#include "query.h"

namespace fathom::cli {

struct QueryPlan {
  points::SiteSetOptions set;
  points::QueryOptions query;
  std::optional<points::Storage> storage;  ///< nothing: the fastest that fits the memory
  std::vector<double> cone;                ///< direction, then the half-angle in degrees; empty: none
  io::TableFormat format = io::TableFormat::npy;
  DType dtype = DType::float32;
  std::optional<std::size_t> memory;
  std::optional<published::MapReduceOptions> algorithm;  ///< in place of the library's own
};

/// @throws InvalidArgument, IoError: what can be known to be wrong before a file is read
QueryPlan make_query_plan(const QueryArguments& arguments);

/// Sets the cone's direction, which lives in `direction`.
/// @throws InvalidArgument as many numbers as the points have axes, and one angle, are needed
void set_cone(QueryPlan& plan, int axes, Array& direction);

/// Chooses the storage: sorted, or what the memory holds.
/// @throws InvalidArgument the budget is too small; the message names the smallest that works
void fit_into_memory(QueryPlan& plan, const Array& sites, const Array& queries);

/// `auto`: a device, if there is one that holds the points, and they are many. Of a device the memory is a limit, too:
/// sites that are too many for it pass by in pieces.
void choose_backend(QueryPlan& plan, const Array& sites, const Array& queries);

/// Bytes that the work takes on the host, at most.
struct QueryNeeds {
  std::size_t arrays = 0;   ///< sites, queries and answers
  std::size_t set = 0;      ///< of sites, and sorting it
  std::size_t scratch = 0;  ///< of queries
};
QueryNeeds needs_of(const QueryPlan& plan, const Array& sites, const Array& queries);

std::string_view name_of(points::Storage storage);

}  // namespace fathom::cli
