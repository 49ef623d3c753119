// What a set of sites holds.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "fathom/core/array.h"
#include "fathom/points/site_set.h"
#include "points/check.h"
#include "points/device_call.h"
#include "points/tree.h"

namespace fathom::points {

struct SiteSet::Sites {
  /// Of sites that are still to be taken in.
  Sites(const CoordinateLayout& sites, const SiteSetOptions& options);

  void keep(ResidentSets sets) {
    residents = std::move(sets);
    shares.emplace(residents.size());
  }
  void take_in(const std::vector<Cloud>& clouds, const std::vector<std::uint32_t>& ids, const SiteSetOptions& options);

  CallLimits limits(const Execution& execution) const { return {execution.scratch_limit, device_memory}; }

  SetFacts facts;
  DType dtype = DType::float32;
  std::optional<std::size_t> device_memory;
  std::vector<Tree> trees;               ///< one per cloud
  Array coordinates;                     ///< of a mask's sites, where the storage refers to them
  ResidentSets residents;                ///< on devices, instead of the trees
  mutable std::optional<Shares> shares;  ///< of the devices
};

}  // namespace fathom::points
