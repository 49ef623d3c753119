// Checks what the caller gives and turns it into requests. Every refusal says what was wrong and what would work.
#pragma once

#include <array>
#include <optional>

#include "points/request.h"

namespace fathom::points {

/// What the checks need to know of a set.
struct SetFacts {
  int axes = 3;
  bool batched = false;
  std::int64_t clouds = 1;
  std::int64_t largest_id = -1;  ///< −1: no site
  Storage storage = Storage::sorted;
  std::array<double, 3> period{};
  Naming naming;
  bool euclidean = false;  ///< no other metric is served

  /// Of a mask: ids are linear indices.
  void name_elements_of(const Shape& shape) {
    largest_id = element_count(shape) - 1;
    naming.linear = true;
    for (int k = 0; k < shape.rank(); ++k) naming.extents[k] = shape[k];
  }
};

/// @throws InvalidArgument a storage, step or period without a meaning
void check_set_options(const SiteSetOptions& options, const CoordinateLayout& sites);

/// One period per axis; 0: open.
std::array<double, 3> period_of(const SiteSetOptions& options, int axes);

/// @throws InvalidArgument a site lies outside of the periodic box
void check_inside(const Box& extent, const std::array<double, 3>& period, int axes);

/// @throws InvalidArgument the limit is less than what building takes
void check_build_scratch(const std::optional<std::size_t>& limit, std::size_t needed);

/// @throws InvalidArgument the limit is less than what a call takes
void check_scratch(const std::optional<std::size_t>& limit, std::size_t needed);

/// @throws InvalidArgument the limit of a device's memory is less than what is needed
void check_device_memory(const std::optional<std::size_t>& limit, std::size_t needed);

/// Refuses a point with a coordinate `x` that is no number to count with. @param noun  "site" or "query"
[[noreturn]] void refuse_coordinate(const char* noun, std::int64_t point, double x);

/// Refuses an element that a set of voxels does not have.
[[noreturn]] void refuse_element(std::int64_t element, const Shape& extents);

/// @throws InvalidArgument, DeviceError the set is elsewhere than where a call is to run
void check_backend(const Execution& execution, bool on_device);

/// @throws InvalidArgument the set of a call in a device's memory is not there
void check_on_device(const Execution& execution, bool on_device);

/// @throws InvalidArgument a number of threads without a meaning
int threads_of(const Execution& execution);

/// Everything that types, shapes and options can tell, before any query is read.
/// @param space  where the queries are
/// @throws InvalidArgument what was wrong and what would work
void check_query(const SetFacts& set, const CoordinateLayout& queries, const QueryOptions& options,
                 const QueryOutputs& outputs, MemorySpace space = MemorySpace::host);

/// The same addresses as views that the checks read; only the device looks behind them.
QueryOutputs unchecked(const DeviceQueryOutputs& outputs);

/// One cloud's part of a call that passed check_query().
Request request_of(const SetFacts& set, const CoordinateLayout& queries, const QueryOptions& options,
                   const QueryOutputs& outputs, std::int64_t cloud);

}  // namespace fathom::points
