// --algorithm of `query`: map and reduction as they were published, beside the library's own.
#pragma once

#include <span>
#include <string>

#include "algorithm.h"
#include "fathom/published/map_reduce.h"
#include "query.h"
#include "query_plan.h"

namespace fathom::cli {

/// map-reduce, or map-reduce:KEY=VALUE,…, with what else of the plan it has. A perforated one measures its error.
/// @throws InvalidArgument there is none of that name, or it has no such parameter or option
published::MapReduceOptions plan_map_reduce(const QueryArguments& arguments, const QueryPlan& plan);

std::span<const AlgorithmRow> query_algorithms();

/// Phases, what K and J make of the memory, and how devices share the sites.
Json map_reduce_json(const published::MapReduceOptions& options, const published::MapReduceReport& report);

/// One line: "map-reduce on cpu: 12.3 ms, exact".
std::string map_reduce_text(const published::MapReduceReport& report);

}  // namespace fathom::cli
