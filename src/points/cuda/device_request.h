// A call as kernels see it.
#pragma once

#include "points/cuda/carried.h"
#include "points/cuda/device_tree.h"
#include "points/nearest_list.h"
#include "points/request.h"

namespace fathom::points::cuda {

struct DeviceRequest {
  Cloud queries;
  const std::uint32_t* order = nullptr;  ///< in which the queries are taken; null: the caller's
  int k = 1;
  Metric metric = Metric::euclidean;
  bool simple = true;  ///< one Euclidean neighbour, and there are neither periods nor cones
  double limit = 0;    ///< squared distances beyond do not qualify …
  Wide wide_limit = 0;
  bool may_be_wide = false;  ///< … and between integers they may need more than 53 bits
  double period[3] = {};
  bool has_cone = false;
  ConeOfQuery cone;                    ///< of all queries, …
  const ConeOfQuery* cones = nullptr;  ///< … or of each
  bool exact = true;                   ///< else as in Request, of sets with boxes; others are looked through anyway
  double shrink = 1, absolute = 0;
  std::int64_t work_limit = 0;
  Naming naming;
  Answers answers;
  Carried carried;  ///< from piece to piece of a set that passes by
};

/// @throws InvalidArgument queries, cones or answers are not in the device's memory
void check_memory(const Request& request, int device);

/// @param cones  of each query, in the device's memory; null: one serves all
DeviceRequest device_request(const Request& request, const DeviceTree& tree, const ConeOfQuery* cones);

}  // namespace fathom::points::cuda
